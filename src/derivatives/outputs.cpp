#include "derivatives/outputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "derivatives/differences.hpp"
#include "derivatives/spatial.hpp"

namespace tribo {
namespace {

constexpr double output_spread = 1e-5;  // of a difference [m], [rad], [m/s]; times the mass for inputs

[[noreturn]] void refuse_sensor(const std::string& name, const std::string& why) {
  throw InvalidInput("sensor '" + name + "': " + why);
}

}  // namespace

Outputs::Sensor Outputs::parse(const Model& model, const std::string& name) {
  Sensor s;
  s.kind = Kind::Contacts;
  if (name == "contacts") return s;
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon), of = colon == std::string::npos ? "" : name.substr(colon + 1);
  constexpr std::array<std::pair<const char*, Kind>, 5> kinds{{{"accelerometer", Kind::Accelerometer},
                                                               {"gyroscope", Kind::Gyroscope},
                                                               {"position", Kind::Position},
                                                               {"velocity", Kind::Velocity},
                                                               {"force", Kind::Force}}};
  const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
  if (known == kinds.end() || of.empty())
    refuse_sensor(
        name,
        "must be 'contacts' or KIND:NAME, with one of the kinds accelerometer, gyroscope, position, velocity, force; "
        "others, rays and switches among them, have no slope");
  s.kind = known->second;
  if (s.kind == Kind::Force) {
    s.index = model.geometry(of);
    return s;
  }
  const Place place = model.place(of);
  s.index = place.body;
  s.X_BI = place.X_BP;
  if (place.body < 0) refuse_sensor(name, "'" + of + "' does not move by forces");
  if (s.kind == Kind::Accelerometer || s.kind == Kind::Gyroscope) return s;
  const Body& body = model.bodies[at(place.body)];
  if (body.joint != JointKind::Revolute && body.joint != JointKind::Prismatic)
    refuse_sensor(name, "joint '" + body.name + "' has not one coordinate");
  s.iq = body.iq;
  s.iv = body.iv;
  return s;
}

void Outputs::know(const std::vector<std::string>& names) {
  if (names == names_) return;
  names_.clear();
  sensors_.clear();
  forces_ = false;
  for (const std::string& name : names) {
    sensors_.push_back(parse(model_, name));
    forces_ |= sensors_.back().kind == Kind::Force || sensors_.back().kind == Kind::Contacts;
  }
  names_ = names;
}

void Outputs::list(std::span<const ContactForces::One> contacts) {
  rows_.clear();
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const Sensor& s = sensors_[i];
    if (s.kind == Kind::Contacts) {
      for (const ContactForces::One& c : contacts)
        for (int k = 0; k < 3; ++k) rows_.push_back({static_cast<int>(i), k, c.id, c.unique});
      continue;
    }
    const int components = s.kind == Kind::Accelerometer || s.kind == Kind::Gyroscope ? 3 : 1;
    bool unique = true;
    for (const ContactForces::One& c : contacts)
      if (s.kind == Kind::Force && (c.geometry_a == s.index || c.geometry_b == s.index)) unique &= c.unique_normal;
    for (int k = 0; k < components; ++k) rows_.push_back({static_cast<int>(i), k, 0, unique});
  }
}

void Outputs::list_reports(std::span<const ContactReport> reports) {
  seen_.clear();
  for (const ContactReport& r : reports)
    if (r.mode != ContactMode::Open)
      seen_.push_back({r.id, r.geometry_a, r.geometry_b, r.R_WC * r.f, r.R_WC.col(2), false, false});
  list(seen_);
}

// Of the velocity of a point that goes with the body, and of its turning, by q and v.
void Outputs::point_slopes(const Dynamics& dynamics, const VecX& v, int b, const Vec3& p_W) {
  for (MatX* x : {&by_q_, &by_v_, &turn_, &turn_rate_}) x->setZero(3, model_.nv);
  const Body& body = model_.bodies[at(b)];
  const Vec3 r = p_W - dynamics.origin(body.tree);
  const Spatial V = dynamics.body_velocity(b);
  Spatial parent;  // of the joint that comes next in the chain
  int end = 0;
  Spatial reached;
  for (int k : body.chain) {
    if (k >= end) {  // a new joint
      parent = reached;
      for (const Body& other : model_.bodies)
        if (k >= other.iv && k < other.iv + nv_of(other.joint)) end = other.iv + nv_of(other.joint);
    }
    const Spatial& S = dynamics.axis(k);
    const Spatial psi = turned_by(parent, S), SV = turned_by(S, V);
    const Vec3 move = S.lin + S.ang.cross(r), ang = SV.ang + psi.ang;
    by_v_.col(k) = move;
    turn_.col(k) = S.ang;
    turn_rate_.col(k) = ang;
    by_q_.col(k) = SV.lin + psi.lin + ang.cross(r) + V.ang.cross(move);
    reached.lin += v[k] * S.lin;
    reached.ang += v[k] * S.ang;
  }
}

Vec3 Outputs::specific_force(const Sensor& s, double dt) const {
  const Vec3 before = start_.point_velocity(s.index, start_.X_WB(s.index) * s.X_BI.p);
  return (end_.point_velocity(s.index, end_.X_WB(s.index) * s.X_BI.p) - before) / dt - model_.gravity;
}

void Outputs::measure(const State& start, const State& end, double dt, std::span<const ContactReport> contacts,
                      VecX& y) {
  start_.compute(start.q, start.v);
  end_.compute(end.q, end.v);
  y.setZero(rows());
  for (int i = 0; i < rows(); ++i) {
    const SensorRow& row = rows_[at(i)];
    const Sensor& s = sensors_[at(row.sensor)];
    const auto component = [&](const Vec3& x) {
      return Vec3((end_.X_WB(s.index) * s.X_BI).R.transpose() * x)[row.component];
    };
    switch (s.kind) {
      case Kind::Accelerometer:
        y[i] = component(specific_force(s, dt));
        break;
      case Kind::Gyroscope:
        y[i] = component(end_.body_velocity(s.index).ang);
        break;
      case Kind::Position:
        y[i] = end.q[s.iq];
        break;
      case Kind::Velocity:
        y[i] = end.v[s.iv];
        break;
      case Kind::Force:
        for (const ContactReport& r : contacts)
          if (r.geometry_a == s.index || r.geometry_b == s.index) y[i] += r.f.z();
        break;
      case Kind::Contacts:
        for (const ContactReport& r : contacts)
          if (r.id == row.contact) y[i] = Vec3(r.R_WC * r.f)[row.component];
    }
  }
}

// (output.2), (output.3)
void Outputs::add_inertial(const Sensor& s, const StepInput& step, const Linearization& lin, int row) {
  const int nv = model_.nv;
  const bool accelerates = s.kind == Kind::Accelerometer;
  const Placement X = end_.X_WB(s.index) * s.X_BI;
  const Mat3 back = X.R.transpose();
  point_slopes(end_, lin.v_next, s.index, X.p);
  const Vec3 seen = accelerates ? specific_force(s, step.dt) : end_.body_velocity(s.index).ang;
  MatX &by_q = accelerates ? by_q_ : turn_rate_, &by_v = accelerates ? by_v_ : turn_;
  if (accelerates) {
    by_q /= step.dt;
    by_v /= step.dt;
  }
  for (int k = 0; k < nv; ++k) {
    by_q.col(k) = back * Vec3(by_q.col(k) + seen.cross(Vec3(turn_.col(k))));
    by_v.col(k) = back * Vec3(by_v.col(k));
  }
  auto out = slopes_.middleRows<3>(row);
  out.leftCols(2 * nv).noalias() = by_q * lin.A.topRows(nv);
  out.leftCols(2 * nv).noalias() += by_v * lin.A.bottomRows(nv);
  out.rightCols(lin.B.cols()).noalias() = by_q * lin.B.topRows(nv);
  out.rightCols(lin.B.cols()).noalias() += by_v * lin.B.bottomRows(nv);
  if (!accelerates) return;
  point_slopes(start_, step.state.v, s.index, start_.X_WB(s.index) * s.X_BI.p);
  for (int k = 0; k < nv; ++k) {
    out.col(k) -= back * Vec3(by_q_.col(k)) / step.dt;
    out.col(nv + k) -= back * Vec3(by_v_.col(k)) / step.dt;
  }
}

void Outputs::differentiate(const StepInput& step, const Linearization& lin, int inputs, const ContactForces& forces,
                            Linearization& out) {
  const int nv = model_.nv;
  list(forces.all);
  start_.compute(step.state.q, step.state.v);
  end_.compute(lin.q_next, lin.v_next);
  slopes_.setZero(rows(), 2 * nv + lin.B.cols());
  out.y.setZero(rows());
  for (int i = 0; i < rows(); ++i) {
    const SensorRow& row = rows_[at(i)];
    const Sensor& s = sensors_[at(row.sensor)];
    const auto component = [&](const Vec3& x) {
      return Vec3((end_.X_WB(s.index) * s.X_BI).R.transpose() * x)[row.component];
    };
    switch (s.kind) {
      case Kind::Accelerometer:
      case Kind::Gyroscope:
        if (row.component == 0) add_inertial(s, step, lin, i);
        out.y[i] = component(s.kind == Kind::Gyroscope ? end_.body_velocity(s.index).ang : specific_force(s, step.dt));
        break;
      case Kind::Position:
      case Kind::Velocity: {
        const int k = s.kind == Kind::Position ? s.iv : nv + s.iv;
        slopes_.row(i).head(2 * nv) = lin.A.row(k);
        slopes_.row(i).tail(lin.B.cols()) = lin.B.row(k);
        out.y[i] = s.kind == Kind::Position ? lin.q_next[s.iq] : lin.v_next[s.iv];
        break;
      }
      case Kind::Force:
      case Kind::Contacts:
        for (std::size_t k = 0; k < forces.all.size(); ++k) {
          const ContactForces::One& c = forces.all[k];
          const auto column = static_cast<Eigen::Index>(4 * k);
          const bool own =
              s.kind == Kind::Contacts ? c.id == row.contact : c.geometry_a == s.index || c.geometry_b == s.index;
          if (!own) continue;
          out.y[i] += s.kind == Kind::Contacts ? c.f_W[row.component] : c.f_W.dot(c.n_W);
          slopes_.row(i) += forces.slopes.col(column + (s.kind == Kind::Contacts ? row.component : 3)).transpose();
        }
    }
  }
  out.rows = rows_;
  out.C = slopes_.leftCols(2 * nv);
  out.D = slopes_.middleCols(2 * nv, inputs);
  out.E = slopes_.rightCols(lin.B.cols() - inputs);
}

void Outputs::difference(const std::string& stepper, const StepperOptions& options, const StepInput& step,
                         const std::vector<int>& inputs, Linearization& out) {
  const int nv = model_.nv, nu = static_cast<int>(inputs.size());
  StepMap map(model_, stepper, precise(options));
  Shift shift;
  for (VecX* x : {&shift.q, &shift.v, &shift.u}) x->setZero(nv);
  out.finite = out.finite && map.step(step, shift);
  list_reports(map.contacts());
  out.rows = rows_;
  slopes_.setZero(rows(), 2 * nv + nu);
  measure(step.state, map.end(), step.dt, map.contacts(), out.y);
  State beside = step.state;
  VecX y;
  for (int j = 0; j < 2 * nv + nu && out.finite; ++j) {
    double& x = j < nv ? shift.q[j] : j < 2 * nv ? shift.v[j - nv] : shift.u[inputs[at(j - 2 * nv)]];
    const double h = j < 2 * nv ? output_spread : output_spread * std::max(1.0, model_.mass());
    for (const auto& [share, weight] :
         {std::pair(1.0, -1.0 / 6), std::pair(-1.0, 1.0 / 6), std::pair(0.5, 4.0 / 3), std::pair(-0.5, -4.0 / 3)}) {
      x = share * h;
      beside.q = step.state.q;
      integrate(model_, shift.q, 1, beside.q);
      beside.v = step.state.v + shift.v;
      out.finite = out.finite && map.step(step, shift);
      x = 0;
      measure(beside, map.end(), step.dt, map.contacts(), y);
      slopes_.col(j) += weight / h * y;  // (lin.2)
    }
  }
  out.C = slopes_.leftCols(2 * nv);
  out.D = slopes_.rightCols(nu);
}

}  // namespace tribo
