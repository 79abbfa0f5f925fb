#include "derivatives/exponential_derivative.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"
#include "linalg/row_kernels.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

constexpr double largest_tensor = 4e6;  // entries of dG
constexpr int most_passes_of_slope = 12;

}  // namespace

ExponentialDerivative::ExponentialDerivative(const Model& model, const StepperOptions& options)
    : CompliantDerivative(model, make_exponential(model, options), options),
      stepper_(dynamic_cast<const Exponential&>(*scheme_)),
      own_(options.own.taken<ExponentialOptions>("stepper 'exponential'")) {
  for (VecX* x : {&vdot_, &w_, &extra_}) x->setZero(model.nv);
}

const char* ExponentialDerivative::unsupported() const {
  if (own_.events) return "steps that end at events";
  if (own_.midpoint) return "M, J and the bias are those of the middle of the step";
  if (own_.project_only) return "forces that are cut, and not solved again";
  if (own_.method == ExponentialMethod::Reduced) return "an approximant without scaling is not the flow";
  if (own_.slip != SlipAnchor::Drawn) return "an anchor that is set";
  return nullptr;
}

const char* ExponentialDerivative::cross(const Start& start, const Outcome& out) {
  list_rows(start);
  if (static_cast<double>(n_) * n_ * (model_.nv + parameters()) > largest_tensor)
    return "more contacts than a dense flow bears";
  if (const char* why = start_rows(start, out)) return why;
  fill_tensor(start);
  begin_passes();
  const char* none = "the flow has no slope";
  bool changed = true;
  for (int pass = 0; changed && pass < most_passes_of_slope; ++pass) {
    if (!integrate_slopes(start)) return none;
    changed = classify(start);
    if (changed || std::find(hold_.begin(), hold_.end(), Hold::Slip) == hold_.end()) continue;
    if (!settle(start)) return none;
    if ((changed = classify(start))) continue;
    turn_directions(start);
    if (!settle(start)) return none;
    changed = classify(start);
  }
  take_forces();
  if (changed || !agrees()) return "a contact changed its law more than once within the step";
  end(start);
  return nullptr;
}

// Contacts, limits and joint springs, one after the other.
void ExponentialDerivative::list_rows(const Start& start) {
  const int nc = contacts(), nv = model_.nv;
  row_.clear();
  for (std::size_t j = 0; j < compliant_.limits().size(); ++j) {
    const Coordinate& along = *compliant_.rows()[j].coordinate();
    row_.push_back({along.dof, along.sign});
  }
  for (const JointSpring& s : compliant_.joints().all()) row_.push_back({s.dof, 1});
  n_ = 3 * nc + static_cast<int>(row_.size());
  for (VectorBuffer* x : {&K_, &B_, &x_, &c_, &b_, &f1_, &f2_, &free_, &known_}) x->setZero(n_);
  for (RowMatrix* x : {&rows_x_, &rows_c_, &rows_b_, &F1_, &F2_, &known_slope_}) x->set_zero(n_, columns_.all());
  jacobian_.set_zero(n_, nv);
  for (int i = 0; i < 3 * nc; ++i) {
    std::copy_n(J_.row(i), J_.stride(), jacobian_.row(i));
    std::copy_n(dx_.row(i), dx_.stride(), rows_x_.row(i));
    std::copy_n(dc_.row(i), dc_.stride(), rows_c_.row(i));
    x_[i] = active(at(i / 3)).x[i % 3];
    c_[i] = active(at(i / 3)).c[i % 3];
  }
  for (int j = 0; j < static_cast<int>(row_.size()); ++j) {
    const auto [dof, sign] = row_[at(j)];
    const int o = 3 * nc + j;
    jacobian_(o, dof) = sign;
    rows_c_(o, nv + dof) = sign;
    c_[o] = sign * start.state.v[dof];
    if (j >= static_cast<int>(compliant_.limits().size())) continue;
    rows_x_(o, dof) = sign;
    x_[o] = compliant_.limits()[at(j)].gap;
  }
}

// vdot and b, and their slopes (deriv.26).
const char* ExponentialDerivative::start_rows(const Start& start, const Outcome& out) {
  const int nc = contacts(), nv = model_.nv, all = columns_.all();
  const JointSprings& joints = compliant_.joints();
  const Actuation& a = start.actuation;
  const VecX& damping = model_.joints.damping;
  for (const LimitSpring& l : compliant_.limits())
    if (l.B != compliant_.rules().limit_damping) return "a joint that returns from beyond its range";
  for (int k = 0; k < nv; ++k) {
    const bool driven = a.kp[k] != 0 || a.kd[k] != 0 || a.has_target(k);
    vdot_[k] = (driven ? 0 : out.torque[k]) + a.external[k] - start.dynamics.h()[k];
    if (joints.empty()) vdot_[k] -= damping[k] * start.state.v[k];
    extra_[k] = joints.empty() ? start.dt * damping[k] : 0;
  }
  for (const JointSpring& s : joints.all()) vdot_[s.dof] += s.a;
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) start.dynamics.solve_in_place(t, vdot_.data());
  inverse_.differentiate(start.dynamics, start.state.v, vdot_);
  vdot_slope_.set_zero(nv, all);
  drive_slopes(start, vdot_slope_);
  auto X = vdot_slope_.map();
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
    const Tree& tree = model_.trees[at(t)];
    X.block(tree.iv, tree.iv, tree.nv, tree.nv) -= inverse_.dq().tree(t);
    X.block(tree.iv, nv + tree.iv, tree.nv, tree.nv) -= inverse_.dv().tree(t);
  }
  if (joints.empty()) X.middleCols(nv, nv) -= damping.asDiagonal();
  each_parameter([&](const Parameter& p, int, int column) {
    if (p.moves_inertia())
      add_moved_inertia(model_, p, start.dynamics, inverse_, vdot_, -1,
                        vdot_slope_.row(model_.trees[at(p.tree)].iv) + column, vdot_slope_.stride());
    for (int k = p.first_dof; k < p.end_dof && joints.empty() && p.kind == Parameter::Kind::Damping; ++k)
      X(k, column) -= start.state.v[k] + start.dt * vdot_[k];
  });
  for (std::size_t j = 0; j < joints.all().size(); ++j)
    X.row(joints.all()[j].dof) += drives_.map().row(static_cast<int>(j));
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) trees_.factor(t, inverse_.M(), extra_);
  solve(vdot_slope_);
  rows_b_.map().noalias() = jacobian_.map() * X;
  bias_slope_.set_zero(3, 2 * nv);
  for (int i = 0; i < nc; ++i) {
    const Contact& c = acting(at(i));
    const CompliantContact& s = active(at(i));
    acceleration_slopes(start, at(i), true, bias_slope_, 0);
    rows_b_.map().block(3 * i, 0, 3, 2 * nv) += bias_slope_.map();
    Vec3 bias = Vec3::Zero();
    for (double sign : {1.0, -1.0}) {
      const int body = sign > 0 ? c.body_b : c.body_a;
      if (body < 0) continue;
      const Vec3& w = start.dynamics.body_velocity(body).ang;
      bias += sign * (start.dynamics.point_bias(body, c.p_WC) - w.cross(w.cross(sign > 0 ? s.off_b : s.off_a)));
    }
    b_.map().segment<3>(3 * i) = c.R_WC.transpose() * bias;
  }
  for (int r = 0; r < n_; ++r)
    for (int k = 0; k < nv; ++k) b_[r] += jacobian_(r, k) * vdot_[k];
  return nullptr;
}

void ExponentialDerivative::solve(RowMatrix& X) {
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) trees_.solve(t, X, model_.trees[at(t)].iv, X.cols());
}

// W, G, N_k and dG (deriv.25).
void ExponentialDerivative::fill_tensor(const Start& start) {
  const int nv = model_.nv, nc = contacts(), n = n_, along = nv + parameters();
  W_.set_zero(nv, n);
  W_.map() = jacobian_.map().transpose();
  solve(W_);
  G_.resize(n, n);
  G_.map().noalias() = jacobian_.map() * W_.map();
  tensor_.resize(n * n, along);
  if (N_.size() < at(n)) N_.resize(at(n));
  for (int k = 0; k < n; ++k) {
    w_ = W_.map().col(k);
    RowMatrix& N = N_[at(k)];
    N.set_zero(nv, along);
    if (k < 3 * nc) force_slopes(start, at(k / 3), -acting(at(k / 3)).R_WC.col(k % 3), N);
    for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
      const Tree& tree = model_.trees[at(t)];
      if (w_.segment(tree.iv, tree.nv).isZero(0)) continue;
      inverse_.differentiate(t, start.dynamics, zero_, w_, false);
      N.map().block(tree.iv, tree.iv, tree.nv, tree.nv) += inverse_.dq().tree(t);
      each_parameter(
          [&](const Parameter& p, int i, int) { move_parameter(start, p, t, N.row(tree.iv) + nv + i, N.stride()); });
    }
    turned_.resize(n, along);
    turned_.map().noalias() = -W_.map().transpose() * N.map();
    set_twists(start.dynamics, w_, row_twists_);
    for (int i = 0; i < nc; ++i) {
      rate_slopes(start, at(i), row_twists_, false, bias_slope_, 0);
      for (int r = 0; r < 3; ++r) turned_.map().row(3 * i + r).head(nv) += bias_slope_.map().row(r).head(nv);
    }
    for (int l = 0; l < n; ++l) std::copy_n(turned_.row(l), tensor_.stride(), tensor_.row(l * n + k));
  }
}

// (param.1) of M W_k, with W_k in w_; extra_ is part of M.
void ExponentialDerivative::move_parameter(const Start& start, const Parameter& p, int t, double* column,
                                           int stride) const {
  if (p.tree != t) return;
  if (p.moves_inertia()) add_moved_inertia(model_, p, start.dynamics, inverse_, w_, 1, column, stride);
  if (p.kind != Parameter::Kind::Damping || !compliant_.joints().empty()) return;
  for (int k = p.first_dof; k < p.end_dof; ++k) column[(k - model_.trees[at(t)].iv) * stride] += start.dt * w_[k];
}

// The springs that hold.
void ExponentialDerivative::set_springs() {
  const int nc = contacts(), nl = static_cast<int>(compliant_.limits().size());
  for (int i = 0; i < nc; ++i) {
    const CompliantContact& s = active(at(i));
    for (int r = 0; r < 3; ++r) {
      const bool none = hold_[at(i)] == Hold::Open || (hold_[at(i)] == Hold::Slip && r < 2);
      K_[3 * i + r] = none ? 0 : s.K[r];
      B_[3 * i + r] = none ? 0 : s.B[r];
    }
  }
  for (int j = 0; j < nl; ++j) {
    K_[3 * nc + j] = compliant_.rules().limit_stiffness;
    B_[3 * nc + j] = compliant_.limits()[at(j)].B;
  }
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const int o = 3 * nc + nl + static_cast<int>(j);
    K_[o] = bound_[j] ? 0 : springs[j].K;
    B_[o] = bound_[j] ? 0 : springs[j].B;
  }
}

// f1, f2 and their slopes, with the known forces that stand.
bool ExponentialDerivative::integrate_slopes(const Start& start) {
  set_springs();
  if (!flow_.prepare(G_.data(), K_.data(), B_.data(), n_, start.dt, stepper_.rational_steps())) return false;
  integrate_along();
  add_slopes();
  return true;
}

// f1 and f2 with friction as the directions have it and of the size that f1 gives, and their slopes (deriv.28).
bool ExponentialDerivative::settle(const Start& start) {
  set_springs();
  if (!flow_.prepare(G_.data(), K_.data(), B_.data(), n_, start.dt, stepper_.rational_steps())) return false;
  slipping_.clear();
  for (int i = 0; i < contacts(); ++i) {
    if (hold_[at(i)] != Hold::Slip) continue;
    slipping_.push_back(i);
    known_.map().segment<2>(3 * i).setZero();
  }
  const int m = static_cast<int>(slipping_.size());
  integrate();
  if (!normal_matrix()) return false;
  for (int i = 0; i < m; ++i) normal_[i] = f1_[3 * slipping_[at(i)] + 2];
  dense::lu_solve(share_.data(), m, pivot_.data(), normal_.data());
  for (int i = 0; i < m; ++i) {
    const int k = slipping_[at(i)];
    const double size = active(at(k)).mu() * normal_[i];
    for (int r = 0; r < 2; ++r) {
      known_[3 * k + r] = size * directions_[2 * k + r];
      known_slope_.map().row(3 * k + r) = size * direction_slope_.map().row(2 * k + r);
      add_rubbed(at(k), normal_[i] * directions_[2 * k + r], known_slope_.map().row(3 * k + r));
    }
  }
  integrate_along();
  add_slopes();
  for (int c = 0; c < columns_.all(); ++c) {  // normal forces move, and friction with them
    for (int i = 0; i < m; ++i) normal_[i] = F1_(3 * slipping_[at(i)] + 2, c);
    dense::lu_solve(share_.data(), m, pivot_.data(), normal_.data());
    for (int i = 0; i < m; ++i) {
      const int k = slipping_[at(i)];
      for (int r = 0; r < 2; ++r)
        known_slope_(3 * k + r, c) += active(at(k)).mu() * normal_[i] * directions_[2 * k + r];
    }
  }
  add_slopes();
  return true;
}

// f1 and f2 with the known forces that stand.
void ExponentialDerivative::integrate() {
  free_.map() = b_.map();
  free_.map().noalias() += G_.map() * known_.map();
  flow_.values(flow_input(), f1_.data(), f2_.data());
}

// The same, and what comes of the change of G.
void ExponentialDerivative::integrate_along() {
  integrate();
  const int first = n_ - static_cast<int>(compliant_.joints().all().size());
  damper_rows_.clear();
  for (int j = 0; j < dampers_.rows(); ++j) {
    const bool friction = compliant_.joints().all()[at(j)].kind == JointSpring::Kind::Friction;
    if (!bound_[at(j)] && (friction || parameters() > 0))
      damper_rows_.push_back({first + j, dampers_.row(j), friction ? nullptr : stiffeners_.row(j)});
  }
  for (RowMatrix* x : {&along1_, &along2_}) x->set_zero(n_, tensor_.cols());
  flow_.add_along(flow_input(), tensor_, damper_rows_, along1_, along2_);
}

// 1 - d f_N / d (f_N that friction follows), factored.
bool ExponentialDerivative::normal_matrix() {
  const int m = static_cast<int>(slipping_.size()), n = n_;
  share_.resize(m, m);
  normal_.resize(m);
  pivot_.resize(at(m));
  auto share = share_.map();
  for (int j = 0; j < m; ++j) {
    const int o = 3 * slipping_[at(j)];
    const double mu = active(at(slipping_[at(j)])).mu();
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < n; ++l)
        for (int r = 0; r < 2; ++r)
          sum += flow_.by_b(3 * slipping_[at(i)] + 2, l) * G_.map()(l, o + r) * directions_[2 * slipping_[at(j)] + r];
      share(i, j) = (i == j ? 1 : 0) - mu * sum;
    }
  }
  return dense::lu(share_.data(), m, pivot_.data());
}

// F1 and F2 by all columns, at the slopes of the known forces that stand.
void ExponentialDerivative::add_slopes() {
  pushed_.resize(n_, columns_.all());
  pushed_.map() = rows_b_.map();
  pushed_.map().noalias() += G_.map() * known_slope_.map();
  flow_.slopes(rows_x_, rows_c_, pushed_, F1_, F2_);
  const int nv = model_.nv;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < tensor_.cols(); ++j) {
      const int column = j < nv ? j : parameter_column(j - nv);
      F1_(i, column) += along1_(i, j);
      F2_(i, column) += along2_(i, j);
    }
  }
}

// (deriv.27)
void ExponentialDerivative::end(const Start& start) {
  const int nv = model_.nv, n = n_;
  for (const auto& [f, F, slope, time] :
       {std::tuple(&f1_, &F1_, &end_, start.dt), std::tuple(&f2_, &F2_, &mean_, 0.5 * start.dt)}) {
    slope->set_zero(nv, columns_.all());
    auto X = slope->map();
    for (int k = 0; k < n; ++k)
      if ((*f)[k] != 0) X.leftCols(nv) -= (*f)[k] * N_[at(k)].map().leftCols(nv);
    for (int k = 0; k < n && parameters() > 0; ++k)
      if ((*f)[k] != 0) X.rightCols(parameters()) -= (*f)[k] * N_[at(k)].map().rightCols(parameters());
    const int columns = parameters() > 0 ? columns_.all() : nv;
    for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t)
      trees_.solve(t, *slope, model_.trees[at(t)].iv, columns);
    X += vdot_slope_.map();
    X.noalias() += W_.map() * F->map();
    X *= time;
    for (int k = 0; k < nv; ++k) X(k, nv + k) += 1;
  }
}

}  // namespace tribo
