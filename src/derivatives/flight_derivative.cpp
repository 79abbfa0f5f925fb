// The derivative of a flight (flight.hpp): of its kicks as they were taken, pass by pass, of the turn of a single body, and
// of the momenta that a floating tree keeps.
//
//   (M + E) (w - v) = t (F - b(q, m)):  (M + E) dw = (M + E) dv + t (dF - b_m dm) - d_q[M (w - v) + t b] dq - dE (w - v)  (deriv.10)
//   (M+ v+)_1..6 = R+^T (P, L):  M+_66 dx = d[R+^T (P, L)] - (M+ dv)_1..6 - d_q[M+ v+]_1..6 dq+               (deriv.11)
// E has M_kk in it (flight.4); its slope is a row of d_q[M e_k]. The turn of a single body (gyroscope.3) is differentiated by
// differences of fourth order: it is smooth, and takes three numbers.
#include <cmath>
#include <utility>

#include "derivatives/rigid_derivative.hpp"
#include "derivatives/rotations.hpp"
#include "dynamics/group.hpp"
#include "stepping/rigid/springs.hpp"

namespace tribo {

// (flight.4) and its slope.
void RigidDerivative::share_at_end(double z, double& share, double& slope) {
  if (z < 1e-2) {
    share = 0.5 + z / 12;
    slope = 1.0 / 12;
    return;
  }
  const double gone = -std::expm1(-z);
  share = 1 / gone - 1 / z;
  slope = 1 / (z * z) - std::exp(-z) / (gone * gone);
}

namespace {

// d (w', turn) / dw of Gyroscope::fly (6 x 3).
Eigen::Matrix<double, 6, 3> turn_slope(const Gyroscope& body, const Vec3& w, double dt) {
  const double h = 1e-3 / dt;
  Eigen::Matrix<double, 6, 3> D = Eigen::Matrix<double, 6, 3>::Zero();
  for (int k = 0; k < 3; ++k)
    for (const auto& [share, weight] :
         {std::pair(1.0, 2.0 / 3), std::pair(-1.0, -2.0 / 3), std::pair(2.0, -1.0 / 12), std::pair(-2.0, 1.0 / 12)}) {
      const auto [after, turn] = body.fly(w + share * h * Vec3::Unit(k), dt);
      D.col(k).head<3>() += weight / h * after;
      D.col(k).tail<3>() += weight / h * turn;
    }
  return D;
}

}  // namespace

// M + E of a tree over a kick, its factor, and dE/dM_kk.
void RigidDerivative::factor_kick(const Start& start, Dynamics& dynamics, int t, double time) {
  const Tree& tree = model_.trees[at(t)];
  const JointProperties& p = model_.joints;
  kick_step_ = start.dt;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    const double M = dynamics.inertia(k);
    E_[k] = dE_[k] = 0;
    for (double slope : {time * p.damping[k], time * start.dt * p.stiffness[k]}) {
      if (!(slope > 0)) continue;
      double share = 0, by_z = 0;
      share_at_end(slope / M, share, by_z);
      E_[k] += share * slope;
      dE_[k] -= slope * by_z * slope / (M * M);
    }
    E_[k] -= Flight::relief(p, k, start.dt, time);
  }
  dynamics.factor(t, E_);
}

// The kick from v with the bias at m, and its slopes: by q, by m, and what multiplies dv (each nv x nv). Leaves the velocity
// in next_.
void RigidDerivative::kick(Dynamics& dynamics, int t, double time, const VecX& q, const VecX& v, const VecX& m) {
  const Tree& tree = model_.trees[at(t)];
  const JointProperties& p = model_.joints;
  const int iv = tree.iv, nv = tree.nv;
  const bool single = view_->flight().gyroscope(t);
  if (!single) dynamics.bias(t, m, bias_);
  const VecX& bias = single ? dynamics.gravity_force() : bias_.h;
  for (int k = iv; k < iv + nv; ++k)
    next_[k] = time * (force_[k] - p.damping[k] * v[k] - p.stiffness[k] * deflection_[k] - bias[k]);
  dynamics.solve_in_place(t, next_.data());
  auto by_q = kick_q_.topLeftCorner(nv, nv);
  by_q.setZero();
  kick_p_.setZero();
  for (int k = 0; k < nv; ++k) {
    if (dE_[iv + k] == 0) continue;
    a_.segment(iv, nv).setZero();
    a_[iv + k] = 1;
    inverse_.differentiate(t, dynamics, zero_, a_, false);
    by_q.row(k) -= dE_[iv + k] * next_[iv + k] * inverse_.dq().tree(t).row(k);
    kick_inertia(dynamics, t, iv + k, -dE_[iv + k] * next_[iv + k]);
  }
  a_.segment(iv, nv) = next_.segment(iv, nv) / time;
  inverse_.differentiate(t, dynamics, single ? zero_ : m, a_, true);
  by_q -= time * inverse_.dq().tree(t);
  kick_parameters(dynamics, t, time, v);
  add_springs(model_, q, tree, -time, {kick_q_.data(), 1, kick_q_.rows()});
  auto by_m = kick_m_.topLeftCorner(nv, nv);
  by_m.setZero();
  if (!single) by_m = -time * inverse_.dv().tree(t);
  auto by_v = kick_v_.topLeftCorner(nv, nv);
  by_v = inverse_.M().tree(t);
  by_v.diagonal() += (E_ - time * p.damping).segment(iv, nv);
  next_.segment(iv, nv) += v.segment(iv, nv);
}

void RigidDerivative::fly(const Start& start, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv, n = group_.n();
  const double time = view_->flight().late(t) ? 0.5 * start.dt : start.dt;
  for (int k = iv; k < iv + nv; ++k) force_[k] = view_->rows().drive(k).torque + start.actuation.external[k];
  spring_deflection(model_, q_start_, deflection_);
  factor_kick(start, start.dynamics, t, time);
  auto X = X_.map();
  auto by_q = X.block(first, first, nv, nv), by_v = X.block(first, n + first, nv, nv);
  auto by_u = X.block(first, 2 * n, nv, X.cols() - 2 * n);
  auto dm = dm_fly_.topLeftCorner(nv, 2 * nv);  // of the velocity that the bias is taken at
  dm.setZero();
  dm.rightCols(nv).setIdentity();
  auto dm_u = J1_fly_.topLeftCorner(nv, X.cols() - 2 * n);
  dm_u.setZero();
  w_.segment(iv, nv) = v_start_.segment(iv, nv);
  for (int pass = 0; pass <= view_->flight().passes(t); ++pass) {
    kick(start.dynamics, t, time, q_start_, v_start_, w_);
    by_q = kick_q_.topLeftCorner(nv, nv);
    by_v = kick_v_.topLeftCorner(nv, nv);
    by_q.noalias() += kick_m_.topLeftCorner(nv, nv) * dm.leftCols(nv);
    by_v.noalias() += kick_m_.topLeftCorner(nv, nv) * dm.rightCols(nv);
    by_u.noalias() = kick_m_.topLeftCorner(nv, nv) * dm_u;
    add_applied(start, t, time);
    for (int k = iv; k < iv + nv; ++k)
      if (input_column(k) >= 0) X(first + k - iv, input_column(k)) += time;
    for (const auto& [p, column] : group_.parameters) X.col(column).segment(first, nv) += kick_p_.col(p).head(nv);
    for (Eigen::Index c = 0; c < X.cols(); ++c) {  // (deriv.10)
      work_v_.segment(iv, nv) = X.col(c).segment(first, nv);
      start.dynamics.solve_in_place(t, work_v_.data());
      X.col(c).segment(first, nv) = work_v_.segment(iv, nv);
    }
    dm.leftCols(nv) = by_q;
    dm.rightCols(nv) = by_v;
    dm_u = by_u;
    w_.segment(iv, nv) = next_.segment(iv, nv);
  }
  if (view_->flight().gyroscope(t)) spin(start, t, first);
}

// The flight of a single body: d v_end in X, d(v_mean - v_end) in D.
void RigidDerivative::spin(const Start& start, int t, int first) {
  const Tree& tree = model_.trees[at(t)];
  const Gyroscope body = make_gyroscope(model_, tree);
  const int a = tree.nv - 3;
  const double dt = start.dt;
  const Vec3 w = w_.segment<3>(tree.iv + a);
  const auto [after, turn] = body.fly(w, dt);
  const Eigen::Matrix<double, 6, 3> slope = turn_slope(body, w, dt);
  const Mat3 R = rotation_exponential(turn).toRotationMatrix(), T = right_jacobian(turn);
  const bool off = tree.nv == 6 && !body.c.isZero(0);
  begin_recovery();
  for (Eigen::Index c = 0; c < X_.cols(); ++c) {
    auto end = X_.map().col(c).segment(first, tree.nv), more = D_.map().col(c).segment(first, tree.nv);
    const Vec3 dw = end.segment<3>(a), d_after = slope.topRows<3>() * dw, d_turn = slope.bottomRows<3>() * dw;
    end.segment<3>(a) = d_after;
    more.segment<3>(a) = d_turn / dt - d_after;
    if (!off) continue;
    const Vec3 d = T * d_turn, centre = end.segment<3>(0) + dw.cross(body.c);
    const Vec3 mean = centre - R * d.cross(body.c) / dt;
    const Vec3 last = centre - R * (d.cross(after.cross(body.c)) + d_after.cross(body.c));
    end.segment<3>(0) = last;
    more.segment<3>(0) = mean - last;
  }
  add_spin_parameters(t, first, body, dt);
}

// Momenta of the floating trees that keep theirs, and their slopes by dq and dv of the tree; before the step moves on.
void RigidDerivative::keep_before(const Start& start) {
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
    if (!keeps(t)) continue;
    const Tree& tree = model_.trees[at(t)];
    const int nv = tree.nv;
    Kept& kept = kept_[at(t)];
    inverse_.differentiate(t, start.dynamics, zero_, v_start_, false);
    const auto Mq = std::as_const(inverse_.dq()).tree(t), M = inverse_.M().tree(t);
    const Mat3& R = start.dynamics.X_WB(tree.first_body).R;
    const Spatial before = start.dynamics.momentum(t);
    const Vec3 arm = start.dynamics.center_of_mass(t) - start.dynamics.origin(t);
    kept.P = before.lin + start.dt * tree.mass * model_.gravity;
    kept.L = before.ang - arm.cross(before.lin);
    const Vec3 lin = R.transpose() * before.lin, ang = R.transpose() * before.ang;
    for (int j = 0; j < 2 * nv; ++j) {
      const bool by_q = j < nv;
      const Eigen::Matrix<double, 6, 1> d = (by_q ? Mq : M).col(j % nv).head<6>();
      const Vec3 turn = by_q && j >= 3 && j < 6 ? Vec3(Vec3::Unit(j - 3)) : Vec3::Zero();
      const Vec3 dP = R * (Vec3(d.head<3>()) + turn.cross(lin)), dL = R * (Vec3(d.tail<3>()) + turn.cross(ang));
      Vec3 d_arm = Vec3::Zero();
      if (by_q) d_arm = R * Vec3(M.col(j).head<3>()) / tree.mass;
      if (by_q && j < 3) d_arm -= R.col(j);
      kept.dP.col(j) = dP;
      kept.dL.col(j) = dL - d_arm.cross(before.lin) - arm.cross(dP);
    }
    keep_parameters(start, t, R);
  }
}

// What happens at the end of the step: second kicks and momenta.
void RigidDerivative::arrive(const Start& start, Linearization& lin) {
  bool any = false;
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t)
    any |= (flies(t) && view_->flight().late(t)) || keeps(t);
  if (!any) return;
  end_.compute(lin.q_next, v_turned_);
  spring_deflection(model_, lin.q_next, deflection_);
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
    if (flies(t) && view_->flight().late(t)) kick_at_end(start, t, lin);
    if (keeps(t)) keep_momentum(t, lin);
  }
}

// (flight.3), (deriv.10) at the end.
void RigidDerivative::kick_at_end(const Start& start, int t, Linearization& lin) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv;
  const double time = 0.5 * start.dt;
  for (int k = iv; k < iv + nv; ++k) force_[k] = view_->rows().drive(k).torque + start.actuation.external[k];
  factor_kick(start, end_, t, time);
  kick(end_, t, time, lin.q_next, v_turned_, v_turned_);
  kick_v_.topLeftCorner(nv, nv) += kick_m_.topLeftCorner(nv, nv);
  const auto each = [&](MatX& x, int first) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const auto dq = x.col(c).segment(iv, nv);
      auto dv = x.col(c).segment(model_.nv + iv, nv);
      work_v_.segment(iv, nv).noalias() = kick_q_.topLeftCorner(nv, nv) * dq;
      work_v_.segment(iv, nv).noalias() += kick_v_.topLeftCorner(nv, nv) * dv;
      const Eigen::Index parameter = c - static_cast<Eigen::Index>(inputs_.size());
      if (first > 0 && parameter >= 0) {
        work_v_.segment(iv, nv) += kick_p_.col(parameter).head(nv);
      } else if (first > 0) {
        const int k = inputs_[at(static_cast<int>(c))];
        if (k >= iv && k < iv + nv) work_v_[k] += time;
      }
      end_.solve_in_place(t, work_v_.data());
      dv = work_v_.segment(iv, nv);
    }
  };
  each(lin.A, 0);
  each(lin.B, 1);
  v_turned_.segment(iv, nv) = next_.segment(iv, nv);
}

// (rigid.9), (deriv.11)
void RigidDerivative::keep_momentum(int t, Linearization& lin) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv;
  const Kept& kept = kept_[at(t)];
  const Mat3& R = end_.X_WB(tree.first_body).R;
  const Vec3 arm = end_.center_of_mass(t) - end_.origin(t), L = kept.L + arm.cross(kept.P);
  const Vec3 lin_B = R.transpose() * kept.P, ang_B = R.transpose() * L;
  inverse_.differentiate(t, end_, zero_, lin.v_next, false);
  const auto Mq = inverse_.dq().tree(t).topRows(6);
  const auto M = inverse_.M().tree(t).topRows(6);
  const Eigen::LLT<Eigen::Matrix<double, 6, 6>> inertia(Eigen::Matrix<double, 6, 6>(M.leftCols(6)));
  const auto each = [&](MatX& x, bool state) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const auto dq = x.col(c).segment(iv, nv);
      auto dv = x.col(c).segment(model_.nv + iv, nv);
      Vec3 dP = Vec3::Zero(), dL = Vec3::Zero();
      const int j = static_cast<int>(c) % model_.nv - iv;
      if (state && j >= 0 && j < nv) {
        const int place = c < model_.nv ? j : nv + j;
        dP = kept.dP.col(place);
        dL = kept.dL.col(place);
      }
      const Vec3 turn = dq.segment<3>(3);
      Vec3 d_arm = R * (Vec3(M.topRows(3) * dq) / tree.mass - Vec3(dq.head<3>()));
      const Eigen::Index parameter = state ? -1 : c - static_cast<Eigen::Index>(inputs_.size());
      Eigen::Matrix<double, 6, 1> more = Eigen::Matrix<double, 6, 1>::Zero();
      if (parameter >= 0) {
        dP = kept.by_parameter.col(parameter).head<3>();
        dL = kept.by_parameter.col(parameter).tail<3>();
        d_arm += move_kept(end_, t, parameter, lin.v_next, more);
      }
      dL += d_arm.cross(kept.P) + arm.cross(dP);
      Eigen::Matrix<double, 6, 1> d;
      d << R.transpose() * dP + lin_B.cross(turn), R.transpose() * dL + ang_B.cross(turn);
      d -= M * dv + Mq * dq + more;
      dv.head<6>() += inertia.solve(d);
    }
  };
  each(lin.A, true);
  each(lin.B, false);
}

}  // namespace tribo
