// How compliant contacts move with the start of a step: points, axes, displacements, velocities, accelerations and forces.
//
// A coordinate j turns what it carries: with psi_j = V_p x S_j and the psidd_j of (dyn.7),
//   dV = S_j x V + psi_j,  dA = S_j x A + psidd_j + psi_j x V;   by v_j:  dV = S_j,  dA = S_j x V + rate_j    (deriv.22)
// and the point of contact, under a core that off leads to it from, has the acceleration
//   A + A_w x r + w x (V + w x (r - off))                                                                     (deriv.23)
#include <cmath>

#include "derivatives/compliant_derivative.hpp"
#include "derivatives/rotations.hpp"
#include "derivatives/spatial.hpp"
#include "stepping/contact_points.hpp"

namespace tribo {
namespace {

constexpr double same_place = 1e-13;  // [m]

void put_column(RowMatrix& X, int row, int column, const Vec3& x) {
  for (int r = 0; r < 3; ++r) X(row + r, column) = x[r];
}

void add_column(RowMatrix& X, int row, int column, const Vec3& x) {
  for (int r = 0; r < 3; ++r) X(row + r, column) += x[r];
}

Vec3 column_at(const RowMatrix& X, int row, int column) {
  return {X(row, column), X(row + 1, column), X(row + 2, column)};
}

}  // namespace

void CompliantDerivative::set_twists(const Dynamics& dynamics, const VecX& v, Twists& out) const {
  out.V.resize(model_.bodies.size());
  out.psi.resize(at(model_.nv));
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    const Spatial parent = body.parent < 0 ? Spatial{} : out.V[at(body.parent)];
    Spatial V = parent;
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      out.psi[at(k)] = turned_by(parent, dynamics.axis(k));
      V.lin += v[k] * dynamics.axis(k).lin;
      V.ang += v[k] * dynamics.axis(k).ang;
    }
    out.V[i] = V;
  }
}

// Points, axes and gaps of the contacts that act, their Jacobians, x and c.
const char* CompliantDerivative::move_contacts(const Start& start) {
  const int nc = contacts(), nv = model_.nv;
  for (RowMatrix* x : {&dp_, &dw_, &J_}) x->set_zero(3 * nc, nv);
  dgap_.set_zero(nc, nv);
  for (RowMatrix* x : {&dx_, &dc_}) x->set_zero(3 * nc, columns_.all());
  drest_.set_zero(nc, columns_.all());
  given_.set_zero(model_.kinematic.empty() ? 0 : 3 * nc, 2 * nv);
  edge_ = HUGE_VAL;
  set_twists(start.dynamics, start.state.v, twists_);
  for (int i = 0; i < nc; ++i) {
    const Contact& c = acting(at(i));
    Contact listed = start.contacts[at(active(at(i)).listed)];
    listed.arm_a = listed.arm_b = Vec3::Zero();
    if (!motion_.compute(start, listed, margin_)) return "a contact changes its features within its query";
    if (!c.w_given.isZero(0) && !list_given(start, listed, at(i))) return "what carries a contact has no slope";
    const Vec3 n = c.R_WC.col(2);
    for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
      const int j = motion_.dofs()[k], m = static_cast<int>(k);
      const Vec3 turn = motion_.turns() ? motion_.turn(m) : Vec3::Zero();
      Vec3 p = motion_.point(m);
      if (c.body_a < 0) p += 0.5 * (motion_.gap(m) * n + c.gap * turn.cross(n));  // b's own point
      put_column(dp_, 3 * i, j, p);
      put_column(dw_, 3 * i, j, turn);
      dgap_(i, j) = motion_.gap(m);
      Vec3 moved = Vec3::Zero();
      for (double sign : {1.0, -1.0}) {
        const int body = sign > 0 ? c.body_b : c.body_a;
        const Spatial S = relative(start, body, j);
        if (body >= 0)
          moved += sign * (S.lin + S.ang.cross(c.p_WC - start.dynamics.origin(model_.bodies[at(body)].tree)));
      }
      put_column(J_, 3 * i, j, c.R_WC.transpose() * moved);
    }
    rate_slopes(start, at(i), twists_, true, dc_, 3 * i);
    for (int r = 0; r < 3; ++r)
      for (int j = 0; j < nv; ++j) dc_(3 * i + r, nv + j) = J_(3 * i + r, j);
    for (int r = 3 * i; r < 3 * i + 3 && given_.rows() > 0; ++r)
      for (int j = 0; j < 2 * nv; ++j) dc_(r, j) += given_(r, j);
    if (const char* why = displace(start, at(i))) return why;
  }
  return nullptr;
}

// What a kinematic body gives contact i follows the body that it carries (meet.4). False where it does not.
bool CompliantDerivative::list_given(const Start& start, const Contact& listed, std::size_t i) {
  carrying_.v = &start.state.v;
  carrying_.V = twists_.V;
  carrying_.psi = twists_.psi;
  if (!motion_.carry(start, listed, carrying_, start.dt, start.dt)) return false;
  const Mat3& R = acting(i).R_WC;
  for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
    const int j = motion_.dofs()[k], m = static_cast<int>(k);
    Vec3 way = motion_.way(m).given;
    if (listed.body_a < 0) {  // it was given at the point midway
      const Vec3 n = R.col(2), own = 0.5 * (motion_.gap(m) * n + listed.gap * motion_.turn(m).cross(n));
      way -= listed.w_given.cross(own);
    }
    put_column(given_, 3 * static_cast<int>(i), j, R.transpose() * way);
    put_column(given_, 3 * static_cast<int>(i), model_.nv + j, R.transpose() * motion_.rate(m).given);
  }
  return true;
}

// Axis of a coordinate where it carries the body, else zero.
Spatial CompliantDerivative::relative(const Start& start, int body, int dof) const {
  if (body < 0) return {};
  const std::vector<int>& chain = model_.bodies[at(body)].chain;
  return std::binary_search(chain.begin(), chain.end(), dof) ? start.dynamics.axis(dof) : Spatial{};
}

// (deriv.20)
const char* CompliantDerivative::displace(const Start& start, std::size_t i) {
  const CompliantContact& s = active(i);
  const Contact& c = acting(i);
  const int o = 3 * static_cast<int>(i), k = static_cast<int>(i), nv = model_.nv;
  const Memory& memory = start.state.memory;
  const AnchorMemory* anchor = nullptr;
  for (std::size_t m = 0; m < memory.anchors.size(); ++m) {
    const ContactMemory& known = memory.contacts[m];
    if (s.fresh && known.touched && known.id >> 16 == c.id >> 16 && c.gap < -substeps_.gap_of_touch(c))
      return "a contact goes over to another feature";
    if (!s.fresh && known.id == c.id) anchor = &memory.anchors[m];
  }
  for (int j = 0; j < nv; ++j) dx_(o + 2, j) = dgap_(k, j);
  if (!anchor) {
    if (s.rest == c.gap) {  // it rests where it is
      for (int j = 0; j < nv; ++j) {
        drest_(k, j) = dgap_(k, j);
        dx_(o + 2, j) = 0;
      }
    }
    return nullptr;
  }
  const Vec3 held = to_world(start, c.body_b, anchor->point), from = to_world(start, c.body_a, anchor->anchor);
  const Vec3 y = held - from;
  for (int j = 0; j < nv; ++j) {
    Vec3 moved = -column_at(dw_, o, j).cross(y);
    const Spatial S = relative(start, c.body_b, j), T = relative(start, c.body_a, j);
    if (c.body_b >= 0) moved += S.lin + S.ang.cross(held - start.dynamics.origin(model_.bodies[at(c.body_b)].tree));
    if (c.body_a >= 0) moved -= T.lin + T.ang.cross(from - start.dynamics.origin(model_.bodies[at(c.body_a)].tree));
    for (int r = 0; r < 2; ++r) dx_(o + r, j) = c.R_WC.col(r).dot(moved);
  }
  const int column = memory_column(c.id);
  const auto axes = [&](int body, int axis) {
    return Vec3(to_world(start, body, Vec3::Unit(axis)) - to_world(start, body, Vec3::Zero()));
  };
  for (int a = 0; a < 3 && column >= 0; ++a)
    for (int r = 0; r < 2; ++r) {
      dx_(o + r, column + a) = -c.R_WC.col(r).dot(axes(c.body_a, a));
      dx_(o + r, column + 3 + a) = c.R_WC.col(r).dot(axes(c.body_b, a));
    }
  if (column >= 0) {
    const double moved = s.rest - anchor->rest;  // (compliant.12)
    drest_(k, column + 6) = moved == 0 ? 1 : s.rest == 0 ? 0 : 1 + 0.5 * moved / anchor->rest;
    dx_(o + 2, column + 6) = -drest_(k, column + 6);
  }
  return limit_stretch(memory.contacts[at(static_cast<int>(anchor - memory.anchors.data()))].f.z(),
                       (c.R_WC.transpose() * y).head<2>(), i);
}

// An anchor that was left behind lies as far away as friction could have stretched its spring (compliant.11).
const char* CompliantDerivative::limit_stretch(double last, const Eigen::Vector2d& x, std::size_t i) {
  const CompliantContact& s = active(i);
  const int o = 3 * static_cast<int>(i);
  const double length = x.norm();
  if (s.stretch < HUGE_VAL) edge_ = std::min(edge_, s.K.x() * std::abs(s.stretch - length));
  if (!(length > s.stretch)) return (x - s.x.head<2>()).norm() > same_place ? "an anchor that is set" : nullptr;
  const double pressed = -s.K.z() * s.x.z() - s.B.z() * s.c.z(), speed = s.c.head<2>().norm();
  const bool grows = pressed > std::max(last, 0.0);
  edge_ = std::min(edge_, std::abs(pressed - std::max(last, 0.0)));
  const Eigen::Vector2d d = x / length;
  for (int j = 0; j < columns_.all(); ++j) {
    double normal = 0, slides = 0;
    if (grows) normal = -s.K.z() * dx_(o + 2, j) - s.B.z() * dc_(o + 2, j);
    if (speed > 0) slides = (s.c.x() * dc_(o, j) + s.c.y() * dc_(o + 1, j)) / speed;
    const double most = 2 * (s.mu_stick * normal + s.B.x() * slides) / s.K.x();
    const Eigen::Vector2d moved(dx_(o, j), dx_(o + 1, j));
    const Eigen::Vector2d limited = s.stretch / length * (moved - d * d.dot(moved)) + most * d;  // (deriv.29)
    dx_(o, j) = limited[0];
    dx_(o + 1, j) = limited[1];
  }
  for (int r = 0; r < 2; ++r) add_rubbed(i, 2 * std::max({pressed, last, 0.0}) / s.K.x() * d[r], dx_.map().row(o + r));
  return nullptr;
}

void CompliantDerivative::rate_slopes(const Start& start, std::size_t i, const Twists& twists, bool given, RowMatrix& K,
                                      int row) const {
  const Contact& c = acting(i);
  const int o = 3 * static_cast<int>(i), nv = model_.nv;
  Vec3 u = given ? c.v_given : Vec3(Vec3::Zero()), w = given ? c.w_given : Vec3(Vec3::Zero());
  for (int j = 0; j < nv; ++j) put_column(K, row, j, Vec3::Zero());
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? c.body_b : c.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Vec3 r = c.p_WC - start.dynamics.origin(body.tree);
    const Spatial& V = twists.V[at(b)];
    u += sign * (V.lin + V.ang.cross(r));
    w += sign * V.ang;
    for (int j : body.chain) {
      const Spatial turned = turned_by(start.dynamics.axis(j), V), &psi = twists.psi[at(j)];
      add_column(K, row, j, sign * (turned.lin + psi.lin + (turned.ang + psi.ang).cross(r)));
    }
  }
  for (int j = 0; j < nv; ++j)
    put_column(K, row, j,
               c.R_WC.transpose() *
                   Vec3(column_at(K, row, j) + w.cross(column_at(dp_, o, j)) - column_at(dw_, o, j).cross(u)));
}

// (deriv.22), (deriv.23); accelerations are those of inverse_.
void CompliantDerivative::acceleration_slopes(const Start& start, std::size_t i, bool core, RowMatrix& K,
                                              int row) const {
  const CompliantContact& s = active(i);
  const Contact& c = acting(i);
  const int o = 3 * static_cast<int>(i), nv = model_.nv;
  for (int j = 0; j < 2 * nv; ++j) put_column(K, row, j, Vec3::Zero());
  Vec3 total = Vec3::Zero();
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? c.body_b : c.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Vec3 off = !core ? Vec3(Vec3::Zero()) : sign > 0 ? s.off_b : s.off_a;
    const Vec3 r = c.p_WC - start.dynamics.origin(body.tree), rho = r - off;
    const Spatial &V = twists_.V[at(b)], A = inverse_.acceleration(b);
    const Vec3& w = V.ang;
    const Vec3 flow = V.lin + w.cross(rho);
    total += sign * (A.lin + model_.gravity + A.ang.cross(r) + w.cross(flow));
    for (int j = 0; j < nv; ++j) {  // the point moves
      const Vec3 p = column_at(dp_, o, j);
      add_column(K, row, j, sign * (A.ang.cross(p) + w.cross(w.cross(p - column_at(dw_, o, j).cross(off)))));
    }
    for (int j : body.chain) {
      const Spatial &S = start.dynamics.axis(j), psi = twists_.psi[at(j)], psidd = inverse_.psidd(j),
                    rate = inverse_.rate(j);
      const Spatial SA = turned_by(S, A), SV = turned_by(S, V), pV = turned_by(psi, V);
      const Vec3 dw = SV.ang + psi.ang;
      const Vec3 by_q = SA.lin + psidd.lin + pV.lin + (SA.ang + psidd.ang + pV.ang).cross(r) + dw.cross(flow) +
                        w.cross(SV.lin + psi.lin + dw.cross(rho));
      const Vec3 by_v =
          SV.lin + rate.lin + (SV.ang + rate.ang).cross(r) + S.ang.cross(flow) + w.cross(S.lin + S.ang.cross(rho));
      add_column(K, row, j, sign * by_q);
      add_column(K, row, nv + j, sign * by_v);
    }
  }
  for (int j = 0; j < nv; ++j) {
    put_column(K, row, j, c.R_WC.transpose() * Vec3(column_at(K, row, j) - column_at(dw_, o, j).cross(total)));
    put_column(K, row, nv + j, c.R_WC.transpose() * column_at(K, row, nv + j));
  }
}

// As (deriv.8), at the point that both bodies share.
void CompliantDerivative::force_slopes(const Start& start, std::size_t i, const Vec3& f_W, RowMatrix& X) const {
  const Contact& c = acting(i);
  const int o = 3 * static_cast<int>(i), nv = model_.nv;
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? c.body_b : c.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Vec3 r = c.p_WC - start.dynamics.origin(body.tree), f = sign * f_W, moment = r.cross(f);
    for (int k : body.chain) {
      const Spatial& Sk = start.dynamics.axis(k);
      double* row = X.row(k);
      for (int j = 0; j < nv; ++j) {
        const Vec3 df = column_at(dw_, o, j).cross(f);
        row[j] += Sk.ang.dot(column_at(dp_, o, j).cross(f) + r.cross(df)) + Sk.lin.dot(df);
      }
      for (int j : body.chain) {
        if (j >= joint_end_[at(k)]) break;
        const Spatial turned = turned_by(start.dynamics.axis(j), Sk);
        row[j] += turned.lin.dot(f) + turned.ang.dot(moment);
      }
    }
  }
}

void CompliantDerivative::held_force_slopes(const Start& start, const AppliedForce& push, RowMatrix& X) const {
  const Body& body = model_.bodies[at(push.body)];
  const Vec3 r = start.dynamics.X_WB(push.body) * push.point - start.dynamics.origin(body.tree);
  const Vec3 moment = r.cross(push.force) + push.torque;
  for (int k : body.chain)
    for (int j : body.chain) {
      const Spatial &Sk = start.dynamics.axis(k), &Sj = start.dynamics.axis(j);
      double slope = Sk.ang.dot(Vec3(Sj.lin + Sj.ang.cross(r)).cross(push.force));
      if (j < joint_end_[at(k)]) {
        const Spatial turned = turned_by(Sj, Sk);
        slope += turned.lin.dot(push.force) + turned.ang.dot(moment);
      }
      X(k, j) += slope;
    }
}

// Dampers of dry friction follow the inertia of their joint: B^2 = 4 K M_kk (joint.2).
void CompliantDerivative::damper_slopes(const Start& start) {
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  for (RowMatrix* x : {&dampers_, &stiffeners_})
    x->set_zero(static_cast<int>(springs.size()), model_.nv + parameters());
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const JointSpring& s = springs[j];
    if (s.kind != JointSpring::Kind::Friction || s.B == 0) continue;
    const Tree* tree = nullptr;
    int t = -1;
    while (!tree || s.dof >= tree->iv + tree->nv) tree = &model_.trees[at(++t)];
    moved_.setZero(model_.nv);
    moved_[s.dof] = 1;
    inverse_.differentiate(t, start.dynamics, zero_, moved_, false);
    for (int k = tree->iv; k < tree->iv + tree->nv; ++k)
      dampers_(static_cast<int>(j), k) = 2 * s.K / s.B * inverse_.dq()(s.dof, k);
    each_parameter([&](const Parameter& p, int i, int) {
      if (p.tree != t || !p.moves_inertia()) return;
      scratch_.setZero(model_.nv);
      add_moved_inertia(model_, p, start.dynamics, inverse_, moved_, 2 * s.K / s.B, scratch_.data() + tree->iv, 1);
      dampers_(static_cast<int>(j), model_.nv + i) = scratch_[s.dof];
    });
  }
}

// Torques that are held, pushes, and the part a of (joint.1).
void CompliantDerivative::drive_slopes(const Start& start, RowMatrix& X) {
  const Actuation& a = start.actuation;
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  drives_.set_zero(static_cast<int>(springs.size()), columns_.all());
  for (int k = 0; k < model_.nv; ++k) {
    const bool driven = a.kp[k] != 0 || a.kd[k] != 0 || a.has_target(k);
    if (!driven && input_column(k) >= 0 && a.tau[k] >= a.lower[k] && a.tau[k] <= a.upper[k]) X(k, input_column(k)) += 1;
  }
  for (const AppliedForce& push : applied_) held_force_slopes(start, push, X);
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const JointSpring& s = springs[j];
    double* row = drives_.row(static_cast<int>(j));
    if (s.kind == JointSpring::Kind::Friction) {
      const int column = memory_column(friction_id(s.dof));
      if (column >= 0 && std::abs(s.a) < s.upper) row[column] = 1;
      continue;
    }
    if (s.kind == JointSpring::Kind::Damping) continue;
    if (s.kind == JointSpring::Kind::Drive) {
      if (input_column(s.dof) >= 0) row[input_column(s.dof)] = s.target ? s.B : 1;
      each_parameter([&](const Parameter& p, int, int column) {
        if (s.target || !p.acts_on(s.dof)) return;
        if (p.kind == Parameter::Kind::Kd) row[column] = a.v_ref[s.dof];
        if (p.kind == Parameter::Kind::Kp) row[column] = (s.a - a.tau[s.dof] - a.kd[s.dof] * a.v_ref[s.dof]) / s.K;
      });
      if (!s.target) row[s.dof] = -s.K;
    }
  }
  for (const Tree& tree : model_.trees) {  // joint springs, one after the other
    bool any = false;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) any |= model_.joints.stiffness[k] > 0;
    if (!any) continue;
    K_.set_zero(tree.nv, tree.nv);
    add_springs(model_, start.state.q, tree, -1, {K_.data(), K_.stride(), 1});
    for (std::size_t j = 0; j < springs.size(); ++j) {
      const int k = springs[j].dof - tree.iv;
      if (springs[j].kind != JointSpring::Kind::Spring || k < 0 || k >= tree.nv) continue;
      for (int i = 0; i < tree.nv; ++i) drives_(static_cast<int>(j), tree.iv + i) = K_(k, i);
    }
  }
}

}  // namespace tribo
