#include "derivatives/parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/names.hpp"
#include "derivatives/differences.hpp"
#include "derivatives/outputs.hpp"
#include "tribo/model_numbers.hpp"

namespace tribo {
namespace {

using Kind = Parameter::Kind;

constexpr double relative_width = 1e-3;               // of a difference, of the scale of the parameter
constexpr double finer_above = 0.1;                   // on one side alone
constexpr double length = 0.1, friction_scale = 0.1;  // scales [m], [-]
constexpr std::array<std::pair<const char*, Kind>, 9> parameter_kinds{{{"mass", Kind::Mass},
                                                                       {"com", Kind::Com},
                                                                       {"inertia", Kind::Inertia},
                                                                       {"friction", Kind::Friction},
                                                                       {"kp", Kind::Kp},
                                                                       {"kd", Kind::Kd},
                                                                       {"damping", Kind::Damping},
                                                                       {"armature", Kind::Armature},
                                                                       {"dry_friction", Kind::DryFriction}}};

[[noreturn]] void refuse_parameter(const std::string& name, const std::string& why) {
  throw InvalidInput("parameter '" + name + "': " + why);
}

// An axis from the end of "BODY:x", or two of "BODY:xy".
void take_axes(const std::string& name, std::string& of, std::size_t count, Parameter& p) {
  const std::size_t colon = of.rfind(':');
  const std::string axes = colon == std::string::npos ? "" : of.substr(colon + 1);
  const auto axis = [](char c) { return c - 'x'; };
  if (axes.size() != count || axes.find_first_not_of("xyz") != std::string::npos)
    refuse_parameter(name, count == 1 ? "must end with an axis, as in 'com:BODY:x'"
                                      : "must end with two axes, as in 'inertia:BODY:xy'");
  p.row = axis(axes.front());
  p.column = axis(axes.back());
  of.resize(colon);
}

int find_material(const Model& model, const std::string& name, const std::string& of) {
  std::string list;
  for (std::size_t i = 0; i < model.materials.size(); ++i) {
    if (model.materials[i].name == of) return static_cast<int>(i);
    list += (i == 0 ? "" : ", ") + model.materials[i].name;
  }
  refuse_parameter(name, "there is no material '" + of + "'; there are: " + list);
}

struct Changed {
  Model model;
  Actuation actuation;
};

// The value that stands; of several coordinates that of the first.
double value_of(const Model& model, const Actuation& a, const Parameter& p) {
  const Inertia* inertia = p.of_body() ? &model.bodies[at(p.index)].inertia : nullptr;
  switch (p.kind) {
    case Kind::Mass:
      return inertia->mass;
    case Kind::Com:
      return inertia->com[p.row];
    case Kind::Inertia:
      return inertia->about_com(p.row, p.column);
    case Kind::Friction: {
      double least = HUGE_VAL;
      for (int s = 0; s < model.surfaces(); ++s)
        if (rubs_on(model, p, s)) least = std::min(least, model.surface(s).mu_dynamic);
      return least;
    }
    case Kind::Kp:
      return a.kp[p.first_dof];
    case Kind::Kd:
      return a.kd[p.first_dof];
    case Kind::Damping:
      return model.joints.damping[p.first_dof];
    case Kind::Armature:
      return model.joints.armature[p.first_dof];
    case Kind::DryFriction:
      break;
  }
  return model.joints.friction[p.first_dof];
}

// What changes the motion by as much as the value, or the inertia, does.
double scale_of(const Model& model, const Dynamics& dynamics, const Parameter& p, double value, double dt) {
  const Inertia* inertia = p.of_body() ? &model.bodies[at(p.index)].inertia : nullptr;
  const double moved = p.tree < 0 ? 0 : dynamics.inertia(p.first_dof);
  double other = 0;
  switch (p.kind) {
    case Kind::Mass:
      break;
    case Kind::Com:
      other = length;
      break;
    case Kind::Inertia:
      other = inertia->about_com.trace();
      if (model.bodies[at(p.index)].joint == JointKind::Revolute) other = std::max(other, moved);
      break;
    case Kind::Friction:
      other = friction_scale;
      break;
    case Kind::Kp:
      other = moved / (dt * dt);
      break;
    case Kind::Kd:
    case Kind::Damping:
      other = moved / dt;
      break;
    case Kind::Armature:
    case Kind::DryFriction:
      other = moved;
      break;
  }
  return p.kind == Kind::Kp && value > 0 ? value : std::max(std::abs(value), other);
}

// The model and the gains with a parameter that is larger by d.
Changed moved(const Model& model, const Actuation& actuation, const Parameter& p, double d) {
  OwnNumbers numbers(model);
  Changed out{model, actuation};
  const auto add = [&](auto& values) {
    for (int k = p.first_dof; k < p.end_dof; ++k) values[static_cast<std::size_t>(k)] += d;
  };
  switch (p.kind) {
    case Kind::Mass:
      numbers.mass[at(p.index)] += d;
      break;
    case Kind::Com:
      numbers.com[at(3 * p.index + p.row)] += d;
      break;
    case Kind::Friction:
      for (int s = 0; s < model.surfaces(); ++s) {
        if (!rubs_on(model, p, s)) continue;
        numbers.mu_static[at(s)] += d;
        numbers.mu_dynamic[at(s)] += d;
      }
      break;
    case Kind::Kp:
      out.actuation.kp.segment(p.first_dof, p.end_dof - p.first_dof).array() += d;
      break;
    case Kind::Kd:
      out.actuation.kd.segment(p.first_dof, p.end_dof - p.first_dof).array() += d;
      break;
    case Kind::Damping:
      add(numbers.damping);
      break;
    case Kind::Armature:
      add(numbers.armature);
      break;
    case Kind::DryFriction:
      add(numbers.dry_friction);
      break;
    case Kind::Inertia:
      break;
  }
  set_numbers(out.model, model, numbers.rows());
  if (p.kind == Kind::Inertia) {
    Mat3& I = out.model.bodies[at(p.index)].inertia.about_com;
    I(p.row, p.column) += d;
    if (p.row != p.column) {
      I(p.column, p.row) += d;
      out.model.trees[at(p.tree)].single = false;  // its axes are no longer the principal ones
    }
  }
  return out;
}

}  // namespace

Parameter parse_parameter(const Model& model, const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  std::string of = colon == std::string::npos ? "" : name.substr(colon + 1);
  const auto known =
      std::find_if(parameter_kinds.begin(), parameter_kinds.end(), [&](const auto& k) { return k.first == kind; });
  if (known == parameter_kinds.end() || of.empty()) {
    std::string list;
    for (const auto& k : parameter_kinds) list += std::string(list.empty() ? "" : ", ") + k.first;
    refuse_parameter(name, "must be KIND:NAME, with one of the parameter_kinds " + list);
  }
  Parameter p;
  p.kind = known->second;
  if (p.kind == Kind::Friction) {
    p.index = find_material(model, name, of);
    return p;
  }
  if (p.kind == Kind::Com) take_axes(name, of, 1, p);
  if (p.kind == Kind::Inertia) take_axes(name, of, 2, p);
  p.index = model.place(of).body;
  if (p.index < 0) refuse_parameter(name, "'" + of + "' does not move by forces");
  const Body& body = model.bodies[at(p.index)];
  p.tree = body.tree;
  p.first_dof = body.iv;
  p.end_dof = body.iv + nv_of(body.joint);
  return p;
}

InertiaSlope inertia_slope(const Model& model, const Parameter& p) {
  InertiaSlope slope;
  const Inertia& inertia = model.bodies[at(p.index)].inertia;
  if (p.kind == Kind::Mass) {
    slope.mass = 1;
    slope.about_com = inertia.about_com / inertia.mass;
  } else if (p.kind == Kind::Com) {
    slope.com[p.row] = 1;
  } else {
    slope.about_com(p.row, p.column) = slope.about_com(p.column, p.row) = 1;
  }
  return slope;
}

void add_moved_inertia(const Model& model, const Parameter& p, const Dynamics& dynamics, const InverseDynamics& inverse,
                       const VecX& a, double factor, double* column, int stride) {
  const int iv = model.trees[at(p.tree)].iv;
  if (!p.of_body()) {
    for (int k = p.first_dof; k < p.end_dof; ++k) column[(k - iv) * stride] += factor * a[k];
    return;
  }
  const Body& body = model.bodies[at(p.index)];
  const InertiaSlope slope = inertia_slope(model, p);
  const Placement& X = dynamics.X_WB(p.index);
  const double m = body.inertia.mass;
  const Vec3 c = X.R * body.inertia.com + (X.p - dynamics.origin(body.tree)), dc = X.R * slope.com;
  const Mat3 about = X.R * slope.about_com * X.R.transpose();
  // Momentum of what is added, of a motion V: d(m (v + w x c)), and about the origin.
  const auto momentum = [&](const Spatial& V) {
    const Vec3 at_c = V.lin + V.ang.cross(c), moved = V.ang.cross(dc);
    Spatial P;
    P.lin = slope.mass * at_c + m * moved;
    P.ang = c.cross(P.lin) + m * dc.cross(at_c) + about * V.ang;
    return P;
  };
  const Spatial V = inverse.velocity(p.index), A = inverse.acceleration(p.index), P = momentum(V);
  Spatial F = momentum(A);
  F.lin += V.ang.cross(P.lin);
  F.ang += V.ang.cross(P.ang) + V.lin.cross(P.lin);
  if (body.carried > 0 && slope.mass > 0) {  // as carried weight grows with the mass
    const Vec3 lifted = body.carried / m * slope.mass * inverse.base_acceleration();
    F.lin -= lifted;
    F.ang -= (X.R * body.carried_at + (X.p - dynamics.origin(body.tree))).cross(lifted);
  }
  for (int k : body.chain) {  // (param.1)
    const Spatial& S = dynamics.axis(k);
    column[(k - iv) * stride] += factor * (S.lin.dot(F.lin) + S.ang.dot(F.ang));
  }
}

bool rubs_on(const Model& model, const Parameter& p, int surface) {
  const int n = static_cast<int>(model.materials.size());
  return p.kind == Kind::Friction && surface < n * n && (surface / n == p.index || surface % n == p.index);
}

MatX parameter_slopes(const Model& model, const std::string& stepper, const StepperOptions& options,
                      const StepInput& step, const std::vector<std::string>& names, Outputs* outputs) {
  const int nv = model.nv;
  const StepperOptions exact = precise(options);
  const int ny = outputs == nullptr ? 0 : outputs->rows();
  MatX slopes = MatX::Zero(2 * nv + ny, static_cast<Eigen::Index>(names.size()));
  Shift still;
  for (VecX* x : {&still.q, &still.v, &still.u}) x->setZero(nv);
  StepMap nominal(model, stepper, exact);
  if (!nominal.step(step, still)) throw InvalidInput("the step cannot be taken, and has no derivative");
  Dynamics dynamics(model);
  dynamics.compute(step.state.q, step.state.v);
  VecX d(2 * nv + ny), y(nv), end(nv);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Parameter p = parse_parameter(model, names[c]);
    const double value = value_of(model, step.actuation, p);
    double h = relative_width * scale_of(model, dynamics, p, value, step.dt);
    const bool above = p.kind != Kind::Com && p.kind != Kind::Inertia && value < 2 * h;  // it cannot be less than 0
    if (above) h *= finer_above;
    using Point = std::pair<double, double>;
    const std::array<Point, 4> points =
        above ? std::array<Point, 4>{Point{1, -13.0 / 3}, {2, 19.0 / 2}, {3, -7}, {4, 11.0 / 6}}
              : std::array<Point, 4>{Point{1, -1.0 / 6}, {-1, 1.0 / 6}, {0.5, 4.0 / 3}, {-0.5, -4.0 / 3}};
    for (const auto& [share, weight] : points) {
      const Changed other = moved(model, step.actuation, p, share * h);
      StepMap map(other.model, stepper, exact);
      State state = step.state;
      state.model = other.model.hash();
      if (!map.step({state, other.actuation, step.forces, step.dt}, still))
        throw InvalidInput("the step cannot be taken with another " + names[c]);
      tangent(model, nominal.end().q, map.end().q, end);
      if (outputs != nullptr) outputs->measure(state, map.end(), step.dt, map.contacts(), y);
      d.head(nv) = end;
      d.segment(nv, nv) = map.end().v - nominal.end().v;
      if (ny > 0) d.tail(ny) = y;
      slopes.col(static_cast<Eigen::Index>(c)) += weight / h * d;  // (lin.2)
    }
  }
  return slopes;
}

}  // namespace tribo
