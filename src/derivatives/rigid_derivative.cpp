#include "derivatives/rigid_derivative.hpp"

#include <cmath>
#include <utility>

#include "derivatives/edges.hpp"
#include "derivatives/rotations.hpp"
#include "dynamics/group.hpp"
#include "linalg/row_kernels.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

constexpr double stiff_motion = 1e-6;  // of the removal of overlap in a step [m], [rad]: below, its compliance may stay

StepperOptions unaudited(StepperOptions options) {
  options.audit = AuditLevel::Off;
  return options;
}

bool has_body_rows(const Model& model) {
  bool any = !model.ties.empty();
  for (const Tendon& tendon : model.tendons)
    for (const TendonSegment& s : tendon.path) any |= s.body_a < -1 || s.body_b < -1;
  for (const Body& b : model.bodies) {
    any |= b.joint == JointKind::Spherical && std::isfinite(model.joints.upper[b.iv]);
    any |= b.joint == JointKind::Free && !model.joints.friction.segment<3>(b.iv).isZero(0);
  }
  return any;
}

}  // namespace

RigidDerivative::RigidDerivative(const Model& model, const StepperOptions& options)
    : model_(model),
      body_rows_(has_body_rows(model)),
      fourth_order_(options.own.taken<RigidOptions>("stepper 'rigid'").smooth == SmoothScheme::RungeKutta),
      margin_(options.contact.margin),
      law_(contact_model_from(options.contact.model)),
      scheme_(make_rigid(model, unaudited(options))),
      view_(dynamic_cast<const RigidView*>(scheme_.get())),
      work_(model),
      state_(State::neutral(model)),
      crossing_(model, *scheme_, unaudited(options)),
      substeps_(model, scheme_->substeps()),
      inputs_(list_inputs(model)),
      inverse_(model),
      motion_(model),
      end_(model),
      closures_(model),
      trees_(model) {
  dynamic_cast<RigidView&>(*scheme_).keep_factors();
  const int nv = model.nv, columns = 2 * nv + static_cast<int>(inputs_.size());
  for (VecX* x : {&still_.q, &still_.v, &still_.u, &v_start_,    &v_turned_, &extra_, &zero_, &a_, &m_,     &y_,
                  &work_v_,  &E_,       &dE_,      &deflection_, &force_,    &w_,     &next_, &u_, &J_row_, &K_row_})
    x->setZero(nv);
  for (MatX* x : {&J3_, &K3_, &by_v_}) x->setZero(3, nv);
  listings_.resize(Crossing::most_listings);
  spare_.setZero(2 * nv);
  int widest = 0;
  for (const Tree& tree : model.trees) widest = std::max(widest, tree.nv);
  for (MatX* x : {&dm_fly_, &J1_fly_}) x->setZero(widest, columns);
  nonzero_.reserve(at(nv));
  entry_.resize(nv);
  for (MatX* x : {&kick_q_, &kick_m_, &kick_v_}) x->setZero(widest, widest);
  kept_.resize(model.trees.size());
  for (std::size_t t = 0; t < kept_.size(); ++t)
    for (MatX* x : {&kept_[t].dP, &kept_[t].dL}) x->setZero(3, 2 * model.trees[t].nv);
  bias_ = end_.make_motion();
  for (std::vector<int>* x : {&input_of_, &joint_end_, &joint_body_, &local_, &input_place_}) x->assign(at(nv), -1);
  row_driven_.assign(at(nv), 0);
  grouped_.assign(model.trees.size(), 0);
  touched_.assign(model.trees.size(), 0);
  for (std::size_t c = 0; c < inputs_.size(); ++c) input_of_[at(inputs_[c])] = static_cast<int>(c);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      joint_end_[at(k)] = body.iv + nv_of(body.joint);
      joint_body_[at(k)] = static_cast<int>(b);
    }
  }
}

const char* RigidDerivative::compute(const StepInput& step, Linearization& out) {
  smoothing_ = out.smoothing;
  if (smoothing_ > 0 && !closures_.empty()) return "equality constraints are not smoothed";
  if (fourth_order_) return "flights of order four are taken by stages";
  if (body_rows_)
    return "ties of tendons, limits of ball joints and friction of free joints are rows along many coordinates";
  if (!model_.medium.boxes.empty()) return "the forces of a fluid follow the velocities";
  if (law_ != ContactModel::Ncp && law_ != ContactModel::Ccp) return "the contact model has no cone of friction";
  known_listings_ = 0;
  wants_lists_ = false;
  lengths_.clear();
  open(step);
  if (scheme_->substeps().touch) {
    substeps_.run(crossing_);
    if (substeps_.lengths().size() > 1) return follow_touches(step, out);
    open(step);
  }
  crossing_.begin();
  note_open();
  crossing_.solve(step.dt);
  q_start_ = state_.q;
  v_start_ = state_.v;
  const char* why = differentiate(step, out);
  if (wants_lists_ && !scheme_->substeps().touch) why = through_lists(step, out);
  if (!why && out.finite) mark_late_touch(out);
  out.status = crossing_.outcome().status;
  return why;
}

void RigidDerivative::open(const StepInput& step) {
  StepMap::start(model_, step, still_, state_, work_);
  crossing_.open(state_, work_, step.dt, report_ = {});
}

const char* RigidDerivative::differentiate(const StepInput& step, Linearization& lin) {
  const Outcome& out = crossing_.outcome();
  const Start start = crossing_.start(step.dt);
  applied_ = step.forces;
  keep();
  v_end_ = out.v_end;
  v_mean_ = out.v_mean;
  if (smoothing_ > 0)
    if (const char* why = smooth(start, out)) return why;
  set_velocities(start, v_end_, true, at_end_);
  at_start_.v = nullptr;
  forces_out_.clear(2 * model_.nv + lin.B.cols());
  if (out.recovery.size() > 0) set_velocities(start, out.correction, false, at_move_);
  if (model_.trees.size() > 1) {  // one group writes all of them
    lin.A.setZero();
    lin.B.setZero();
  }
  if (const char* why =
          each_group(out, [&](const IslandSolution* island) { return solve_group(step, start, out, island, lin); }))
    return why;
  keep_before(start);
  turn_velocities(step.dt, out);
  if (!closures_.empty()) close(start, lin);
  if (!crossing_.commit()) {
    lin.A.setZero();
    lin.B.setZero();
    lin.finite = false;
    return nullptr;
  }
  if (out.sleeping > 0) return "a body sleeps";
  if (out.unresolved > 0) return "a tree turns too fast for dt";
  lin.q_next = state_.q;
  lin.v_next = state_.v;
  arrive(start, lin);
  lin.finite = rows::all_finite(lin.A.data(), static_cast<int>(lin.A.size())) &&
               rows::all_finite(lin.B.data(), static_cast<int>(lin.B.size()));
  if (lin.finite) return nullptr;
  lin.A.setZero();
  lin.B.setZero();
  return nullptr;
}

// What the factor of M was made with, and which drives are rows.
void RigidDerivative::keep() {
  const JointFriction& friction = view_->rows().friction();
  extra_ = view_->free_motion().extra();
  for (int k = 0; k < model_.nv; ++k)
    if (friction.held(k)) extra_[k] += friction.damping(k);
  std::fill(row_driven_.begin(), row_driven_.end(), 0);
  for (const Row& row : view_->rows().rows())
    if (row.drives()) row_driven_[at(row.coordinate()->dof)] = 1;
}

void RigidDerivative::set_group(std::span<const int> trees) {
  group_.trees.assign(trees.begin(), trees.end());
  group_.dofs.clear();
  group_.inputs.clear();
  for (int t : trees) {
    const Tree& tree = model_.trees[at(t)];
    grouped_[at(t)] = 1;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      local_[at(k)] = group_.n();
      group_.dofs.push_back(k);
      input_place_[at(k)] = input_of_[at(k)] < 0 ? -1 : static_cast<int>(group_.inputs.size());
      if (input_of_[at(k)] >= 0) group_.inputs.push_back(input_of_[at(k)]);
    }
  }
  list_parameters();
}

const char* RigidDerivative::solve_group(const StepInput& step, const Start& start, const Outcome& out,
                                         const IslandSolution* island, Linearization& lin) {
  if (const char* why = solve_velocities(step, start, island, lin)) return why;
  for (std::size_t i = 0; i < out.recovery.size(); ++i)
    if (island && out.recovery[i].island == island->island)
      if (const char* why = recover(start, out, out.recovery[i], lin)) return why;
  int first = 0;
  for (int t : group_.trees) {
    if (flies(t)) fly(start, t, first);
    first += model_.trees[at(t)].nv;
  }
  move_configuration(step.dt);
  store(lin);
  return nullptr;
}

// dv' of the group into X_.
const char* RigidDerivative::solve_velocities(const StepInput& step, const Start& start, const IslandSolution* island,
                                              Linearization& lin) {
  const int columns = group_.columns();
  X_.set_zero(group_.n(), columns);
  recovers_ = removes_ = by_velocity_ = false;
  int first = 0;
  for (int t : group_.trees) {
    if (!flies(t)) {
      add_tree(start, t, first);
      add_applied(start, t, step.dt);
    }
    first += model_.trees[at(t)].nv;
  }
  clear_active();
  if (island)
    if (const char* why = smoothing_ > 0 ? list_smoothed(start, *island, lin) : list_active(start, *island, lin))
      return why;
  const bool unique = std::exchange(lin.unique, true);
  if (!solve_active(X_, columns, lin)) return "the rows that hold have no factor";
  if (wants_forces_ && !listing_now_) store_forces(start, lin.unique);
  lin.unique = lin.unique && unique;
  return nullptr;
}

void RigidDerivative::clear_active() {
  active_ = 0;
  force_rows_.clear();
  blocks_.clear();
  smoothed_rows_ = false;
  seen_pairs_ = 0;
  seen_a_ = seen_b_ = -1;
  pull_.body_a = pull_.body_b = -1;
  support_.clear();
  support_first_.assign(1, 0);
}

void RigidDerivative::begin_recovery() {
  if (!recovers_) D_.set_zero(group_.n(), group_.columns());
  recovers_ = true;
}

// Does a row act in a removal of overlap? Those at the edge of it are weak.
bool RigidDerivative::removes(const IslandSolution& s, int row, Linearization& lin) const {
  const Residual& scale = s.solve.residual;
  const double strict = std::max(s.f[row] / scale.force_scale, s.c[row] / scale.motion_scale);
  lin.margin = std::min(lin.margin, std::max(strict, 0.0));
  lin.weak += strict < weak_share;
  return acts(s, row);
}

// The removal of overlap (rigid.6): M d = dt J_N^T f, J_N d + dt g_N + R dt f = 0 on the rows that act, with g_N a share of
// the gap at the end.
const char* RigidDerivative::recover(const Start& start, const Outcome& out, const IslandSolution& s,
                                     Linearization& lin) {
  if (view_->recovery().shortened()) return "a part of the removal of overlap alone is taken";
  begin_recovery();
  removes_ = true;
  soft_ = start.dt * out.correction.cwiseAbs().maxCoeff() > stiff_motion;
  const bool held = view_->rows().friction().any_held();
  if (held) extra_ = view_->free_motion().extra();
  int first = 0;
  for (int t : group_.trees) {
    const Tree& tree = model_.trees[at(t)];
    inverse_.differentiate(t, start.dynamics, zero_, out.correction, false);
    if (held && !flies(t)) trees_.factor(t, inverse_.M(), extra_);
    if (!flies(t)) D_.map().block(first, first, tree.nv, tree.nv) -= inverse_.dq().tree(t);
    if (!flies(t)) add_recovered_parameters(start, out.correction, t, first);
    first += tree.nv;
  }
  clear_active();
  make_room(s.problem.nc() + s.problem.nr());
  for (int i = 0; i < s.problem.nc(); ++i) {
    if (!removes(s, 3 * i + 2, lin)) continue;
    if (const char* why = follow(start, start.contacts[at(s.island->contacts[at(i)])])) return why;
    if (view_->recovery().turns_in(start, out, s.island->contacts[at(i)]))
      return "a contact turns in faster than its overlap is removed";
    add_recovered(start, out, s, i);
  }
  add_pulls(start, D_);
  const double share = view_->recovery().joint_share(start.dt);
  for (int j = 0; j < s.problem.nr(); ++j) {
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const int o = 3 * s.problem.nc() + j;
    if (row.is<EqualityPart>()) add_equality(start, s, j, s.f[o], at_move_, D_);
    const Coordinate* along = row.is<LimitLaw>() ? row.coordinate() : nullptr;
    const bool tendon = row.is<LimitLaw>() && std::holds_alternative<TendonLength>(row.along);
    if ((!along && !tendon) || !removes(s, o, lin)) continue;
    if (tendon) {
      add_recovered_tendon(start, s, j, share);
      continue;
    }
    const int k = local_[at(along->dof)], a = new_row(s.problem.R()[o], false, k);
    add_whitened(a, s.problem, o, 1, Side::Both);
    const double slope = s.problem.g()[o] < 0 ? share : 1;
    K_(a, k) += slope * along->sign / start.dt;
    rows::add(slope * along->sign, X_.row(k), K_.row(a), K_.stride());
    if (soft_) add_softness(start, nullptr, a, s.f[o], R_[a]);
  }
  return solve_active(D_, by_velocity_ || !group_.parameters.empty() ? group_.columns() : group_.n(), lin)
             ? nullptr
             : "the rows that hold have no factor";
}

void RigidDerivative::add_recovered(const Start& start, const Outcome& out, const IslandSolution& s, int i) {
  const int listed = s.island->contacts[at(i)];
  const Contact& contact = start.contacts[at(listed)];
  const int a = new_row(s.problem.R()[3 * i + 2], false);
  force_slopes(start, contact, s.f[3 * i + 2] * contact.R_WC.col(2), Vec3::Zero(), start.dt, D_);
  contact_slopes(start, contact, at_move_, J3_, K3_);
  add_share(a, s.problem, i, 2, 1, Side::Both);
  if (model_.surface(contact.surface).compliance > 0) return;
  const double end = contact.gap + start.dt * out.contacts[at(listed)].c.z();
  const double slope = end >= 0 ? 1 : s.problem.g()[3 * i + 2] < 0 ? view_->recovery().contact_share(start, listed) : 0;
  contact_slopes(start, contact, at_end_, J3_, K3_);
  double* K = K_.row(a);
  for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
    const int l = local_[at(motion_.dofs()[k])], c = static_cast<int>(k);
    K[l] += slope * (motion_.gap(c) / start.dt + K3_(2, c));
    rows::add(slope * J3_(2, c), X_.row(l), K, K_.stride());
    if (motion_.meets()) add_by_velocity(K, motion_.dofs()[k], slope * (motion_.rate(c).gap / start.dt + by_v_(2, c)));
  }
  if (end < 0 && slope > 0) add_recovered_size(start, listed, end, K);
  if (soft_) add_softness(start, &contact, a, s.f[3 * i + 2], R_[a]);
}

// The compliance of a row of (rigid.6), and of a velocity target, is a share of its diagonal of G, which moves with q: with
// u = Mt^-1 J^T,
//   dG = 2 d(J u) - u . d_q[M u]                                                                             (deriv.13)
void RigidDerivative::add_softness(const Start& start, const Contact* contact, int row, double force, double compliance,
                                   const TendonLength* tendon) {
  const int n = group_.n();
  const double* y = Yc_.row(row);
  double* K = K_.row(row);
  U_.set_zero(n, 1);
  for (int k = 0; k < n; ++k) U_(k, 0) = y[k];
  smooth_solve(U_, 1, Half::Second);
  const double G = rows::dot(y, y, n);
  u_.setZero();
  for (int k = 0; k < n; ++k) u_[group_.dofs[at(k)]] = U_(k, 0);
  if (!(G > 0)) return;
  const double share = start.dt * force * compliance / G;
  if (contact) {
    set_velocities(start, u_, false, at_row_);
    contact_slopes(start, *contact, at_row_, J3_, K3_);
    for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
      K[local_[at(motion_.dofs()[k])]] += 2 * share * K3_(2, static_cast<int>(k));
      if (motion_.meets()) add_by_velocity(K, motion_.dofs()[k], 2 * share * by_v_(2, static_cast<int>(k)));
    }
  }
  if (tendon) {
    set_velocities(start, u_, false, at_row_);
    tendon_slopes(start, *tendon, 0, at_row_, D_);
    for (int k : tendon_dofs_) K[local_[at(k)]] += 2 * share * K_row_[k];
  }
  for (int t : group_.trees) {
    const Tree& tree = model_.trees[at(t)];
    if (flies(t) || u_.segment(tree.iv, tree.nv).isZero(0)) continue;
    inverse_.differentiate(t, start.dynamics, zero_, u_, false);
    const int first = local_[at(tree.iv)];
    for (int j = 0; j < tree.nv; ++j)
      K[first + j] -= share * u_.segment(tree.iv, tree.nv).dot(inverse_.dq().tree(t).col(j));
    add_softness_parameters(start, t, share, K);
  }
}

// q+ = q moved along v_mean, and velocities of free joints turned into the axes of the end. With E = exp(dt w), T its right
// Jacobian and d its turn, dt T dw:
//   dp = E^T (dp + dr x dt u + dt du),  dr = E^T dr + d,  dv = E^T dv' + v x d                                (deriv.9)
void RigidDerivative::move_configuration(double dt) {
  const int n = group_.n(), stride = X_.stride();
  P_.resize(n, group_.columns());
  for (int i = 0; i < n; ++i) {
    double* p = P_.row(i);
    const double* x = X_.row(i);
    for (int c = 0; c < stride; ++c) p[c] = dt * x[c];
    if (recovers_) rows::add(dt, D_.row(i), p, stride);
  }
  for (int t : group_.trees) {
    const Tree& tree = model_.trees[at(t)];
    for (int b = tree.first_body; b < tree.first_body + tree.bodies; ++b) {
      const Body& body = model_.bodies[at(b)];
      if (body.joint == JointKind::Free || body.joint == JointKind::Spherical)
        move_free(body, dt);
      else
        for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) P_(local_[at(k)], local_[at(k)]) += 1;
    }
  }
}

// A free or a ball joint (deriv.9).
void RigidDerivative::move_free(const Body& body, double dt) {
  const bool free = body.joint == JointKind::Free;
  const int w = free ? body.iv + 3 : body.iv, lw = local_[at(w)], l = local_[at(body.iv)], stride = X_.stride();
  const Vec3 turn = dt * v_mean_.segment<3>(w);
  const Mat3 back = rotation_exponential(-turn).toRotationMatrix(), T = right_jacobian(turn);
  turned_.resize(3, X_.cols());
  const auto multiply = [&](const Mat3& R, double* rows) {  // three rows by R, in place
    std::copy_n(rows, 3 * stride, turned_.data());
    for (int k = 0; k < 3; ++k) {
      const Vec3 x = R.row(k);
      rows::combine(0, rows + k * stride, turned_.data(), stride, x.data(), 3, stride);
    }
  };
  const auto add_cross = [&](const Vec3& v, double* rows) {  // v x d
    for (int k = 0; k < 3; ++k) {
      const Vec3 x = skew(v).row(k);
      rows::combine(1, rows + k * stride, P_.row(lw), stride, x.data(), 3, stride);
    }
  };
  multiply(T, P_.row(lw));  // d
  if (free) {
    const Vec3 u = dt * v_mean_.segment<3>(body.iv), v = back * v_end_.segment<3>(body.iv);
    multiply(back, P_.row(l));
    multiply(back, X_.row(l));
    add_cross(v, X_.row(l));
    for (int j = 0; j < 3; ++j) {
      const Vec3 by_turn = back * Vec3(Vec3::Unit(j)).cross(u);
      for (int k = 0; k < 3; ++k) {
        P_(l + k, l + j) += back(k, j);
        P_(l + k, lw + j) += by_turn[k];
      }
    }
    if (removes_ && !flies(body.tree)) {  // its turning may begin with dx
      multiply(back, X_.row(lw));
      add_cross(back * v_end_.segment<3>(w), X_.row(lw));
    }
  }
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k) P_(lw + k, lw + j) += back(k, j);
}

// Velocities at the end, before what happens there.
void RigidDerivative::turn_velocities(double dt, const Outcome& out) {
  v_turned_ = out.v_end;
  for (const Body& body : model_.bodies) {
    if (body.joint != JointKind::Free) continue;
    const Quat back = rotation_exponential(-dt * out.v_mean.segment<3>(body.iv + 3));
    v_turned_.segment<3>(body.iv) = back * Vec3(out.v_end.segment<3>(body.iv));
    if (!out.correction.segment<3>(body.iv + 3).isZero(0))
      v_turned_.segment<3>(body.iv + 3) = back * Vec3(out.v_end.segment<3>(body.iv + 3));
  }
}

// The rows of the group into A and B, tree by tree, four columns at a time: rows are as long as whole packs.
void RigidDerivative::store(Linearization& lin) {
  const int n = group_.n(), nv = model_.nv, columns = group_.columns();
  const auto column = [&](int c) {
    return c < n         ? lin.A.col(group_.dofs[at(c)]).data()
           : c < 2 * n   ? lin.A.col(nv + group_.dofs[at(c - n)]).data()
           : c < columns ? lin.B.col(group_.inputs[at(c - 2 * n)]).data()
                         : spare_.data();
  };
  for (int c = 0; c < columns; c += 4) {
    double* const to[4] = {column(c), column(c + 1), column(c + 2), column(c + 3)};
    const double *p = P_.data() + c, *x = X_.data() + c;
    for (int t : group_.trees) {
      const Tree& tree = model_.trees[at(t)];
      double *q[4], *v[4];
      for (int k = 0; k < 4; ++k) {
        q[k] = to[k] + tree.iv;
        v[k] = q[k] + nv;
      }
      rows::to_columns(p, P_.stride(), tree.nv, q);
      rows::to_columns(x, X_.stride(), tree.nv, v);
      p += tree.nv * P_.stride();
      x += tree.nv * X_.stride();
    }
  }
}

}  // namespace tribo
