// The slope of a rigid step by parameters: further columns behind those of the inputs. With r of (deriv.1),
//   -dr/dp = -dt d(M a + b)/dp,  a = (v' - v)/dt, b at the velocity of (rigid.12)       mass, com, inertia, armature  (param.2)
//   dt (e - dt v'),  dt (v_ref - v'),  -dt v',  -+dt          kp, kd, damping, dry friction that rubs                 (param.3)
//   -dt f_N J_T^T d                                           friction of a contact that slips along d                (param.4)
// A drive at its limits holds v' gain = torque - f on its row, so that K has (v' dgain - dtorque)/gain.
// Each pass of (deriv.6) and each kick of (deriv.10) has the same force at its own a and velocity. What the momenta of a floating
// tree were and shall be, (deriv.11), moves by dI v at both ends, and by the mass centre.
#include <cmath>

#include "derivatives/rigid_derivative.hpp"
#include "derivatives/rotations.hpp"
#include "dynamics/drive.hpp"
#include "dynamics/group.hpp"

namespace tribo {
namespace {

using Kind = Parameter::Kind;

constexpr double small_share = 1e-3;  // of the inertia: the differences of a free turn

// Of I of a body that turns freely; of M, armature too.
Mat3 gyroscope_slope(const Model& model, const Parameter& p, bool pivot, bool rotor) {
  if (!p.of_body()) {
    Mat3 M = Mat3::Zero();
    if (rotor && pivot) M.setIdentity();
    return M;
  }
  const InertiaSlope slope = inertia_slope(model, p);
  const Inertia& inertia = model.bodies[at(p.index)].inertia;
  Mat3 I = slope.about_com;
  if (!pivot) return I;
  const Vec3 &c = inertia.com, &dc = slope.com;
  I += slope.mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
  I += inertia.mass * (2 * c.dot(dc) * Mat3::Identity() - dc * c.transpose() - c * dc.transpose());
  return I;
}

// Of the mass centre, where its speed goes on straight.
Vec3 centre_slope(const Model& model, const Parameter& p, bool pivot) {
  return p.of_body() && !pivot ? inertia_slope(model, p).com : Vec3::Zero();
}

}  // namespace

void RigidDerivative::set_parameters(std::span<const Parameter> parameters) {
  if (parameters.empty() && parameters_.empty()) return;
  parameters_.assign(parameters.begin(), parameters.end());
  const int count = static_cast<int>(parameters_.size()), widest = static_cast<int>(kick_q_.rows());
  const int columns = 2 * model_.nv + inputs_and_parameters();
  kick_p_.setZero(widest, count);
  for (MatX* x : {&dm_fly_, &J1_fly_}) x->setZero(widest, columns);
  for (Kept& kept : kept_) kept.by_parameter.setZero(6, count);
}

const char* RigidDerivative::why_differences(const StepInput& step, std::span<const Parameter> parameters) const {
  const Actuation& a = step.actuation;
  for (const Parameter& p : parameters) {
    if (!closures_.empty() && p.moves_inertia())
      return "the projection onto equality constraints weighs with the inertia";
    for (int k = p.first_dof; k < p.end_dof; ++k) {
      const bool gain = p.kind == Kind::Kp || p.kind == Kind::Kd;
      if (gain && a.kp[k] == 0 && a.kd[k] == 0 && !a.has_target(k)) return "a gain of a drive that has none";
      if (p.kind == Kind::DryFriction && model_.joints.friction[k] == 0) return "dry friction of a joint that has none";
      if (p.kind == Kind::Armature && model_.trees[at(p.tree)].bodies == 1 && model_.joints.armature[k] == 0)
        return "armature of a body that turns freely";
    }
  }
  return nullptr;
}

// Those that move what is in the group.
void RigidDerivative::list_parameters() {
  group_.parameters.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const int t = parameters_[i].tree;
    if (t >= 0 && std::find(group_.trees.begin(), group_.trees.end(), t) == group_.trees.end()) continue;
    group_.parameters.push_back({static_cast<int>(i), group_.columns()});
    group_.inputs.push_back(static_cast<int>(inputs_.size() + i));
  }
}

// f(parameter, its column) for those of the group that belong to the tree.
template <class F>
void RigidDerivative::each_parameter(int tree, F f) {
  for (const auto& [i, column] : group_.parameters)
    if (parameters_[at(i)].tree == tree) f(parameters_[at(i)], column);
}

// (param.1) of a tree into X, whose rows begin at `first`. column: where the parameters of the group begin; -1: behind its inputs.
void RigidDerivative::add_moved(const Dynamics& dynamics, int t, const VecX& a, double factor, RowMatrix& X, int first,
                                int column) {
  for (std::size_t i = 0; i < group_.parameters.size(); ++i) {
    const Parameter& p = parameters_[at(group_.parameters[i].first)];
    if (p.tree != t || !p.moves_inertia()) continue;
    const int c = column < 0 ? group_.parameters[i].second : column + static_cast<int>(i);
    add_moved_inertia(model_, p, dynamics, inverse_, a, factor, X.row(first) + c, X.stride());
  }
}

// Of what stands beside M_kk in (rigid.1), but for armature.
double RigidDerivative::extra_slope(const Parameter& p, int k, double dt) const {
  return extra_slope(p, k, dt, view_->rows().drive(k).gain != 0);
}

double RigidDerivative::extra_slope(const Parameter& p, int k, double dt, bool gain) const {
  if (!p.acts_on(k)) return 0;
  if (p.kind == Kind::Damping) return dt;
  if (!gain) return 0;
  return p.kind == Kind::Kd ? dt : p.kind == Kind::Kp ? dt * dt : 0;
}

// Of a pass of (deriv.6), with -y in a_. Drives that have become rows since were gains when the bias was found.
void RigidDerivative::add_moved_bias(const Start& start, int t) {
  const Tree& tree = model_.trees[at(t)];
  const double dt = start.dt;
  const VecX &extra = view_->free_motion().extra_of_bias(), &damping = model_.joints.damping;
  add_moved(start.dynamics, t, a_, -0.5 * dt, J1_, 0, 2 * tree.nv);
  for (std::size_t i = 0; i < group_.parameters.size(); ++i) {
    const Parameter& p = parameters_[at(group_.parameters[i].first)];
    if (p.tree != t || p.of_body()) continue;
    for (int k = p.first_dof; k < p.end_dof; ++k) {
      const bool gain = extra[k] > dt * (damping[k] + dt * model_.joints.stiffness[k]);
      J1_(k - tree.iv, 2 * tree.nv + static_cast<int>(i)) += 0.5 * dt * extra_slope(p, k, dt, gain) * y_[k];
    }
  }
}

// (param.3)
void RigidDerivative::add_parameter_drives(const Start& start, const VecX& v_end, int t, int first) {
  const int iv = model_.trees[at(t)].iv;
  const Actuation& a = view_->actuation();
  const double dt = start.dt;
  each_parameter(t, [&](const Parameter& p, int column) {
    if (p.of_body()) return;
    for (int k = p.first_dof; k < p.end_dof; ++k) {
      double& x = X_(first + k - iv, column);
      if (p.kind == Kind::Damping) x -= dt * v_end[k];
      if (p.kind == Kind::DryFriction) x += dt * view_->rows().friction().torque(k) / model_.joints.friction[k];
      if (row_driven_[at(k)] || a.lower[k] == a.upper[k]) continue;
      if (p.kind == Kind::Kp) x += dt * (a.error[k] - dt * v_end[k]);
      if (p.kind == Kind::Kd) x += dt * (a.v_ref[k] - v_end[k]);
    }
  });
}

// A drive at its limits whose row holds.
void RigidDerivative::add_parameter_rows(const Start& start, const Row& row, int active) {
  if (!row.is<LimitedDrive>()) return;
  const Actuation& a = view_->actuation();
  const int k = row.coordinate()->dof;
  const double gain = implicit_drive(a, k, start.dt).gain, v = v_end_[k];
  each_parameter(model_.bodies[at(joint_body_[at(k)])].tree, [&](const Parameter& p, int column) {
    if (!p.acts_on(k)) return;
    if (p.kind == Kind::Kp) K_(active, column) += (start.dt * v - a.error[k]) / gain;
    if (p.kind == Kind::Kd) K_(active, column) += (v - a.v_ref[k]) / gain;
  });
}

// Dry friction at its bound.
void RigidDerivative::add_bounds(const Start& start, const Row& row, double f) {
  if (!row.is<DryFriction>() || !row.coordinate()) return;
  const int k = row.coordinate()->dof;
  each_parameter(model_.bodies[at(joint_body_[at(k)])].tree, [&](const Parameter& p, int column) {
    if (p.kind == Kind::DryFriction && p.acts_on(k))
      X_(local_[at(k)], column) += start.dt * std::copysign(row.coordinate()->sign, f);
  });
}

// A contact that slips, whose motion stands (param.4); under ccp its normal row follows too (deriv.4).
void RigidDerivative::add_friction(const Start& start, const IslandSolution& s, int i, int normal) {
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const double cx = c_[3 * i], cy = c_[3 * i + 1], sliding = std::hypot(cx, cy), pressed = f_[3 * i + 2];
  if (!(sliding > 0)) return;
  for (const auto& [index, column] : group_.parameters) {
    if (!rubs_on(model_, parameters_[at(index)], contact.surface)) continue;
    for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
      const int c = static_cast<int>(k);
      const double along = (cx * J3_(0, c) + cy * J3_(1, c)) / sliding;
      X_(local_[at(motion_.dofs()[k])], column) -= start.dt * pressed * along;
    }
    if (law_ == ContactModel::Ccp) K_(normal, column) -= start.dt * sliding;
  }
}

// (M + E) d of (rigid.6).
void RigidDerivative::add_recovered_parameters(const Start& start, const VecX& d, int t, int first) {
  const int iv = model_.trees[at(t)].iv;
  add_moved(start.dynamics, t, d, -1, D_, first);
  each_parameter(t, [&](const Parameter& p, int column) {
    for (int k = p.first_dof; k < p.end_dof && !p.of_body(); ++k)
      D_(first + k - iv, column) -= extra_slope(p, k, start.dt) * d[k];
  });
}

// What is taken off the overlap of a point, which is as large as its body (param.6).
void RigidDerivative::add_recovered_size(const Start& start, int listed, double gap, double* K) {
  for (const auto& [i, column] : group_.parameters) {
    const Parameter& p = parameters_[at(i)];
    if (p.kind == Kind::Inertia && p.row == p.column)
      K[column] += view_->recovery().by_inertia(start, listed, p.index, gap) / start.dt;
  }
}

// (deriv.13), with u in u_.
void RigidDerivative::add_softness_parameters(const Start& start, int t, double share, double* K) {
  const Tree& tree = model_.trees[at(t)];
  each_parameter(t, [&](const Parameter& p, int column) {
    work_v_.segment(tree.iv, tree.nv).setZero();
    if (p.moves_inertia()) add_moved_inertia(model_, p, start.dynamics, inverse_, u_, 1, work_v_.data() + tree.iv, 1);
    for (int k = p.first_dof; k < p.end_dof && !p.of_body(); ++k) work_v_[k] += extra_slope(p, k, start.dt) * u_[k];
    K[column] -= share * u_.segment(tree.iv, tree.nv).dot(work_v_.segment(tree.iv, tree.nv));
  });
}

// Of the mean turning x of (gyroscope.1), and of the body; with the accelerations in a_.
void RigidDerivative::add_gyroscope_parameters(const Start& start, const Gyroscope& body, const Vec3& x,
                                               const Vec3& turned, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const double h = 0.5 * start.dt;
  const int w = tree.nv - 3;
  const bool pivot = tree.nv == 3;
  add_moved(start.dynamics, t, a_, -start.dt, X_, first);
  const auto M = inverse_.M().tree(t);
  const Mat3 slope = body.M + h * (skew(x) * body.I - skew(body.I * x));
  each_parameter(t, [&](const Parameter& p, int column) {
    if (!p.moves_inertia()) return;
    const Vec3 dF = gyroscope_slope(model_, p, pivot, true) * (0.5 * turned) +
                    h * x.cross(gyroscope_slope(model_, p, pivot, false) * x);
    const Vec3 d_turned = -2 * slope.inverse() * dF;
    Vec3 lin = Vec3::Zero();
    if (!pivot) lin = body.c.cross(d_turned) - turned.cross(centre_slope(model_, p, pivot));
    for (int i = 0; i < tree.nv; ++i) {
      X_(first + i, column) += M.row(i).segment<3>(w).dot(d_turned);
      if (!pivot) X_(first + i, column) += M.row(i).head<3>().dot(lin);
    }
  });
}

// Of a kick by an entry of M on its diagonal, which says how much of springs and dampers is at its end (flight.4).
void RigidDerivative::kick_inertia(const Dynamics& dynamics, int t, int k, double slope) {
  const int iv = model_.trees[at(t)].iv;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].tree != t || !parameters_[i].moves_inertia()) continue;
    work_v_.segment(iv, model_.trees[at(t)].nv).setZero();
    add_moved_inertia(model_, parameters_[i], dynamics, inverse_, a_, slope, work_v_.data() + iv, 1);
    kick_p_(k - iv, static_cast<Eigen::Index>(i)) += work_v_[k];
  }
}

// Of a kick (deriv.10), with its change of velocity in next_ and its accelerations in a_.
void RigidDerivative::kick_parameters(const Dynamics& dynamics, int t, double time, const VecX& v) {
  const int iv = model_.trees[at(t)].iv;
  const JointProperties& joints = model_.joints;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    if (p.tree != t) continue;
    double* column = kick_p_.col(static_cast<Eigen::Index>(i)).data();
    if (p.moves_inertia()) add_moved_inertia(model_, p, dynamics, inverse_, a_, -time, column, 1);
    for (int k = p.first_dof; k < p.end_dof; ++k) {
      if (p.kind == Kind::Damping) {
        const double z = time * joints.damping[k] / dynamics.inertia(k);
        double share = 0, slope = 0;
        share_at_end(z, share, slope);
        column[k - iv] -= time * ((share + z * slope) * next_[k] + v[k]);
      }
      const double relief = Flight::relief(joints, k, kick_step_, time);
      if (p.kind == Kind::Armature && relief > 0 && relief == 0.5 * joints.armature[k])
        column[k - iv] += 0.5 * next_[k];
    }
  }
}

// The flight of a single body: by I and M as they turn it, and by its mass centre.
void RigidDerivative::add_spin_parameters(int t, int first, const Gyroscope& body, double dt) {
  const Tree& tree = model_.trees[at(t)];
  const int a = tree.nv - 3;
  const bool pivot = tree.nv == 3;
  const Vec3 w = w_.segment<3>(tree.iv + a);
  const Gyroscope::Flown flown = body.fly(w, dt);
  const Mat3 R = rotation_exponential(flown.turn).toRotationMatrix(), T = right_jacobian(flown.turn);
  each_parameter(t, [&](const Parameter& p, int column) {
    if (!p.moves_inertia()) return;
    const Mat3 dI = gyroscope_slope(model_, p, pivot, false), dM = gyroscope_slope(model_, p, pivot, true);
    const Vec3 dc = centre_slope(model_, p, pivot);
    const double size = std::max(dI.norm(), dM.norm()), h = size > 0 ? small_share * body.I.norm() / size : 0;
    Vec3 d_after = Vec3::Zero(), d_turn = Vec3::Zero();
    for (const auto& [share, weight] :
         {std::pair(1.0, 2.0 / 3), std::pair(-1.0, -2.0 / 3), std::pair(2.0, -1.0 / 12), std::pair(-2.0, 1.0 / 12)}) {
      if (h == 0) break;
      Gyroscope other = body;
      other.I += share * h * dI;
      other.M += share * h * dM;
      const auto [moved_after, moved_turn] = other.fly(w, dt);
      d_after += weight / h * moved_after;
      d_turn += weight / h * moved_turn;
    }
    auto end = X_.map().col(column).segment(first, tree.nv), more = D_.map().col(column).segment(first, tree.nv);
    end.segment<3>(a) += d_after;
    more.segment<3>(a) += d_turn / dt - d_after;
    if (pivot) return;
    const Vec3 d = T * d_turn, centre = w.cross(dc);
    const Vec3 mean = centre - (R * Vec3(d.cross(body.c) + dc) - dc) / dt;
    const Vec3 last = centre - R * Vec3(d.cross(flown.w.cross(body.c)) + d_after.cross(body.c) + flown.w.cross(dc));
    end.segment<3>(0) += last;
    more.segment<3>(0) += mean - last;
  });
}

// Of the mass centre of its tree, from the origin of the tree, in W.
Vec3 RigidDerivative::arm_slope(const Dynamics& dynamics, const Parameter& p) const {
  const InertiaSlope slope = inertia_slope(model_, p);
  const Body& body = model_.bodies[at(p.index)];
  const Placement& X = dynamics.X_WB(p.index);
  const Vec3 away = X * body.inertia.com - dynamics.center_of_mass(p.tree);
  return (slope.mass * away + body.inertia.mass * (X.R * slope.com)) / model_.trees[at(p.tree)].mass;
}

// Momenta at the start, with those of v_start_ in inverse_.
void RigidDerivative::keep_parameters(const Start& start, int t, const Mat3& R) {
  Kept& kept = kept_[at(t)];
  const Spatial before = start.dynamics.momentum(t);
  const Vec3 arm = start.dynamics.center_of_mass(t) - start.dynamics.origin(t);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    auto column = kept.by_parameter.col(static_cast<Eigen::Index>(i));
    column.setZero();
    if (p.tree != t || !p.moves_inertia()) continue;
    work_v_.segment(model_.trees[at(t)].iv, model_.trees[at(t)].nv).setZero();
    double* d = work_v_.data() + model_.trees[at(t)].iv;
    add_moved_inertia(model_, p, start.dynamics, inverse_, v_start_, 1, d, 1);
    const Vec3 dP = R * Vec3(d[0], d[1], d[2]), dL = R * Vec3(d[3], d[4], d[5]);
    column.head<3>() = dP;
    column.tail<3>() = dL - arm.cross(dP);
    if (!p.of_body()) continue;
    column.head<3>() += start.dt * inertia_slope(model_, p).mass * model_.gravity;
    column.tail<3>() -= arm_slope(start.dynamics, p).cross(before.lin);
  }
}

// The same at the end, with those of v in inverse_: momentum of the same motion, and the way of the mass centre.
Vec3 RigidDerivative::move_kept(const Dynamics& dynamics, int t, Eigen::Index parameter, const VecX& v,
                                Vec6& momentum) {
  const Parameter& p = parameters_[static_cast<std::size_t>(parameter)];
  momentum.setZero();
  if (p.tree != t || !p.moves_inertia()) return Vec3::Zero();
  const Tree& tree = model_.trees[at(t)];
  work_v_.segment(tree.iv, tree.nv).setZero();
  add_moved_inertia(model_, p, dynamics, inverse_, v, 1, work_v_.data() + tree.iv, 1);
  momentum = work_v_.segment<6>(tree.iv);
  return p.of_body() ? arm_slope(dynamics, p) : Vec3::Zero();
}

}  // namespace tribo
