// The smooth part of a rigid step: -r_x of (deriv.1), without contacts.
//
// The bias of (rigid.12) was found by passes, each of which is differentiated:
//   y_i = Mt^-1 (h(q, m_i) - h(q, 0)),   m_0 = v,  m_i+1 = v - dt/2 y_i,   b = h(q, m_n)
//   Mt dy_i = d_q[h(q, m_i) - h(q, 0) - M y_i] dq + h_m dm_i                                                 (deriv.6)
// The bracket is one call of inverse dynamics without gravity, with the acceleration -y_i.
#include <cmath>

#include "derivatives/rigid_derivative.hpp"
#include "derivatives/rotations.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

// A^-1 B, by the rows of the adjugate.
Mat3 right_solve(const Mat3& A, const Mat3& B) {
  const Vec3 a = A.col(0), b = A.col(1), c = A.col(2), bc = b.cross(c);
  Mat3 adjugate;
  adjugate.row(0) = bc;
  adjugate.row(1) = c.cross(a);
  adjugate.row(2) = a.cross(b);
  return adjugate * B / a.dot(bc);
}

}  // namespace

void RigidDerivative::add_tree(const Start& start, int t, int first) {
  if (view_->flight().gyroscope(t))
    add_gyroscope(start, v_end_, t, first);
  else
    add_bias(start, v_end_, t, first);
  add_drives(start, t, first);
  add_parameter_drives(start, v_end_, t, first);
}

void RigidDerivative::add_bias(const Start& start, const VecX& v_end, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv, n = group_.n();
  const double dt = start.dt;
  const auto rows = [&](VecX& x) { return x.segment(iv, nv); };
  const int passes = view_->free_motion().passes(t), columns = 2 * nv + static_cast<int>(group_.parameters.size());
  const VecX& extra = view_->free_motion().extra_of_bias();
  rows(m_) = v_start_.segment(iv, nv);
  if (passes > 0) {
    start.dynamics.factor(t, extra);
    dm_.set_zero(nv, columns);
    for (int k = 0; k < nv; ++k) dm_(k, nv + k) = 1;
  }
  for (int pass = 0; pass < passes; ++pass) {  // (deriv.6)
    start.dynamics.bias(t, m_, bias_);
    rows(y_) = bias_.h.segment(iv, nv) - start.dynamics.gravity_force().segment(iv, nv);
    start.dynamics.solve_in_place(t, y_.data());
    rows(a_) = -rows(y_);
    inverse_.differentiate(t, start.dynamics, m_, a_, false);
    if (pass == 0) trees_.factor(t, inverse_.M(), extra);
    J1_.set_zero(nv, columns);
    J1_.map().leftCols(nv) = -0.5 * dt * inverse_.dq().tree(t);
    add_moved_bias(start, t);
    add_turned(tree, -0.5 * dt);
    trees_.solve(t, J1_, 0, columns);
    for (int k = 0; k < nv; ++k) J1_(k, nv + k) += 1;
    std::swap(dm_, J1_);
    rows(m_) = v_start_.segment(iv, nv) - 0.5 * dt * rows(y_);
  }
  rows(a_) = (v_end.segment(iv, nv) - v_start_.segment(iv, nv)) / dt;
  inverse_.differentiate(t, start.dynamics, m_, a_, true);
  const bool other = passes > 0 && rows(extra_) != extra.segment(iv, nv);
  if (other) start.dynamics.factor(t, extra_);
  if (other || passes == 0) trees_.factor(t, inverse_.M(), extra_);
  for (int i = 0; i < nv; ++i) {
    double *by_q = X_.row(first + i) + first, *by_v = X_.row(first + i) + n + first;
    rows::add(-dt, inverse_.dq().row(iv + i) + iv, by_q, nv);
    rows::add(1, inverse_.M().row(iv + i) + iv, by_v, nv);
    if (passes == 0) rows::add(-dt, inverse_.dv().row(iv + i) + iv, by_v, nv);
  }
  add_moved(start.dynamics, t, a_, -dt, X_, first);
  if (passes == 0) return;
  J1_.set_zero(nv, columns);
  add_turned(tree, -dt);
  for (int i = 0; i < nv; ++i) {
    double *by_q = X_.row(first + i) + first, *by_v = X_.row(first + i) + n + first;
    rows::add(1, J1_.row(i), by_q, nv);
    rows::add(1, J1_.row(i) + nv, by_v, nv);
    for (std::size_t j = 0; j < group_.parameters.size(); ++j)
      X_(first + i, group_.parameters[j].second) += J1_(i, 2 * nv + static_cast<int>(j));
  }
}

// J1 += factor H_v dm.
void RigidDerivative::add_turned(const Tree& tree, double factor) {
  for (int i = 0; i < tree.nv; ++i) {
    int count = 0;
    nonzero_.resize(at(tree.nv));
    const double* const by_v = inverse_.dv().row(tree.iv + i) + tree.iv;
    for (int j = 0; j < tree.nv; ++j) {
      const double x = by_v[j];
      if (x == 0) continue;
      nonzero_[at(count)] = j;
      entry_[count++] = factor * x;
    }
    rows::combine(1, J1_.row(i), dm_.data(), dm_.stride(), nonzero_.data(), entry_.data(), count, dm_.stride());
  }
}

// One body: the gyroscopic moment of (gyroscope.1) over the step, and the weight.
void RigidDerivative::add_gyroscope(const Start& start, const VecX& v_end, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv, n = group_.n(), w = nv - 3;
  const double dt = start.dt;
  const Gyroscope body = make_gyroscope(model_, tree);
  const Vec3 before = v_start_.segment<3>(iv + w), x = body.mean(before, dt), turned = 2 * (x - before);
  Mat3 D = 2 * right_solve(body.M + 0.5 * dt * (skew(x) * body.I - skew(body.I * x)), body.M);
  D.diagonal().array() -= 2;
  a_.segment(iv, nv) = v_end.segment(iv, nv) - v_start_.segment(iv, nv);
  a_.segment<3>(iv + w) -= turned;
  if (nv == 6) a_.segment<3>(iv) += turned.cross(body.c);
  a_.segment(iv, nv) /= dt;
  inverse_.differentiate(t, start.dynamics, zero_, a_, true);
  trees_.factor(t, inverse_.M(), extra_);
  const auto M = inverse_.M().tree(t);
  auto X = X_.map();
  X.block(first, first, nv, nv) -= dt * inverse_.dq().tree(t);
  X.block(first, n + first, nv, nv) += M;
  const Mat3 arm = skew(body.c) * D;
  for (int i = 0; i < nv; ++i) {
    Vec3 row = D.transpose() * Vec3(M.row(i).segment<3>(w));
    if (nv == 6) row += arm.transpose() * Vec3(M.row(i).head<3>());
    X.row(first + i).segment<3>(n + first + w) += row;
  }
  add_gyroscope_parameters(start, body, x, turned, t, first);
}

// Gains on the error that moves, springs, and the inputs.
void RigidDerivative::add_drives(const Start& start, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const Actuation& a = view_->actuation();
  auto X = X_.map();
  for (int i = 0; i < tree.nv; ++i) {
    const int k = tree.iv + i;
    if (row_driven_[at(k)] || a.lower[k] == a.upper[k]) continue;
    const Drive& drive = view_->rows().drive(k);
    const double wanted = implicit_drive(a, k, start.dt).torque;
    const bool clamped = drive.gain == 0 && (wanted < a.lower[k] || wanted > a.upper[k]);
    if (clamped) continue;
    X(first + i, first + i) -= start.dt * a.kp[k];
    if (input_column(k) >= 0) X(first + i, input_column(k)) += start.dt;
  }
  add_springs(model_, start.state.q, tree, -start.dt, {X_.row(first) + first, X_.stride(), 1});
}

// Pushes: the force stays, the point goes with its body.
void RigidDerivative::add_applied(const Start& start, int t, double time) {
  for (const AppliedForce& f : applied_)
    if (model_.bodies[at(f.body)].tree == t)
      add_held_force(start, f.body, start.dynamics.X_WB(f.body) * f.point, {time * f.force, time * f.torque}, X_);
}

// X += d(J^T p)/dq of an impulse that stays in W, at a point of a body, with a turning impulse beside it.
void RigidDerivative::add_held_force(const Start& start, int b, const Vec3& p, const Spatial& impulse, RowMatrix& X) {
  const Body& body = model_.bodies[at(b)];
  const Vec3 r = p - start.dynamics.origin(body.tree), moment = r.cross(impulse.lin) + impulse.ang;
  for (int j : body.chain) {
    const Spatial& S = start.dynamics.axis(j);
    const Vec3 move = S.lin + S.ang.cross(r);
    for (int k : body.chain) {
      const Spatial& Sk = start.dynamics.axis(k);
      double slope = Sk.ang.dot(move.cross(impulse.lin));
      if (j < joint_end_[at(k)])
        slope += (S.ang.cross(Sk.lin) + S.lin.cross(Sk.ang)).dot(impulse.lin) + S.ang.cross(Sk.ang).dot(moment);
      X(local_[at(k)], local_[at(j)]) += slope;
    }
  }
}

}  // namespace tribo
