// Tendons in the derivative of a rigid step: limits, springs and dry friction are rows along many coordinates. A piece from p_a to
// p_b, of length L over a divisor n, has the direction u = (p_b - p_a)/(L n), and turns with both of its ends:
//   ldot = u . (v_b - v_a),   du = (I - n^2 u u^T)(dp_b - dp_a)/(L n)                                        (deriv.30)
//   d(J v) = sum of du . (v_b - v_a) + u . (dv_b - dv_a),   d(J^T f) = f J_p^T du + f dJ_p^T u
// with dv of a point that goes with its body, as (deriv.14). Over joints J stays. A limit has dl/dt in K as (rigid.4), a spring
// k dl/gain.
#include <algorithm>

#include "derivatives/rigid_derivative.hpp"
#include "dynamics/tendons.hpp"

namespace tribo {

// J of the row into J_row_, d(J v)/dq into K_row_, of its force into X. Lists its coordinates.
void RigidDerivative::tendon_slopes(const Start& start, const TendonLength& along, double impulse,
                                    const Velocities& at_v, RowMatrix& X) {
  const Tendon& tendon = model_.tendons[at(along.tendon)];
  tendon_dofs_.clear();
  const auto list = [&](int k) {
    if (std::find(tendon_dofs_.begin(), tendon_dofs_.end(), k) != tendon_dofs_.end()) return;
    tendon_dofs_.push_back(k);
    J_row_[k] = K_row_[k] = 0;
  };
  for (const TendonJoint& j : tendon.joints) {
    const int k = model_.bodies[at(j.body)].iv;
    list(k);
    J_row_[k] += along.sign * j.coefficient;
  }
  for (const TendonSegment& s : tendon.path) {
    const TendonLine line = line_of(s, start.dynamics);
    for (int b : {s.body_b, s.body_a})
      if (b >= 0)
        for (int k : model_.bodies[at(b)].chain) list(k);
    add_segment(start, s, line, along.sign, impulse, at_v, X);
  }
}

void RigidDerivative::add_segment(const Start& start, const TendonSegment& s, const TendonLine& line, double sign,
                                  double impulse, const Velocities& at_v, RowMatrix& X) {
  const auto point = [&](double side) {
    const int b = side > 0 ? s.body_b : s.body_a;
    return b < 0 ? Vec3(Vec3::Zero())
                 : Vec3((side > 0 ? line.p_b : line.p_a) - start.dynamics.origin(model_.bodies[at(b)].tree));
  };
  Vec3 opening = Vec3::Zero();  // v_b - v_a
  for (double side : {1.0, -1.0}) {
    const int b = side > 0 ? s.body_b : s.body_a;
    if (b < 0) continue;
    const Spatial& V = at_v.V[at(b)];
    opening += side * (V.lin + V.ang.cross(point(side)));
  }
  const Vec3 u = line.along;
  const double n = s.divisor, scale = line.length > 0 ? 1 / (line.length * n * n) : 0;  // 1/(L n)
  const Mat3 turn = scale * (Mat3::Identity() - n * n * u * u.transpose());
  for (double side : {1.0, -1.0}) {
    const int b = side > 0 ? s.body_b : s.body_a;
    if (b < 0) continue;
    const Vec3 r = point(side);
    const Spatial& V = at_v.V[at(b)];
    for (int j : model_.bodies[at(b)].chain) {
      const Spatial &S = start.dynamics.axis(j), &psi = at_v.psi[at(j)];
      const Vec3 ang = S.ang.cross(V.ang) + psi.ang, lin = S.ang.cross(V.lin) + S.lin.cross(V.ang) + psi.lin;
      const Vec3 move = S.lin + S.ang.cross(r), du = side * (turn * move);
      J_row_[j] += sign * side * u.dot(move);
      K_row_[j] += sign * (side * u.dot(lin + ang.cross(r) + V.ang.cross(move)) + du.dot(opening));
      for (double other : {1.0, -1.0}) {  // the force turns with the piece
        const int c = other > 0 ? s.body_b : s.body_a;
        if (c < 0) continue;
        const Vec3 arm = point(other);
        for (int k : model_.bodies[at(c)].chain) {
          const Spatial& Sk = start.dynamics.axis(k);
          X(local_[at(k)], local_[at(j)]) += sign * impulse * other * (Sk.lin + Sk.ang.cross(arm)).dot(du);
        }
      }
    }
    add_held_force(start, b, side > 0 ? line.p_b : line.p_a, {sign * impulse * side * u, Vec3::Zero()}, X);
  }
}

// A row of the step, with its force f: its constraint too where it holds.
void RigidDerivative::add_tendon(const Start& start, const IslandSolution& s, int j, double f, bool holds) {
  const Row& row = view_->rows()[s.island->rows[at(j)]];
  const TendonLength& along = *std::get_if<TendonLength>(&row.along);
  tendon_slopes(start, along, start.dt * f, at_end_, X_);
  if (!holds) return;
  const int a = new_tendon_row(s, j);
  double share = 0;  // of dl
  if (row.is<LimitLaw>() && row.bias > 0) share = 1 / start.dt;
  if (row.is<TendonSpring>() && row.bias != 0) {
    const Tendon& tendon = model_.tendons[at(along.tendon)];
    share = tendon.stiffness / (tendon.stiffness * start.dt + tendon.damping);
  }
  for (int k : tendon_dofs_) K_(a, local_[at(k)]) += K_row_[k] + share * J_row_[k];
}

// A limit in the removal of overlap (rigid.6).
void RigidDerivative::add_recovered_tendon(const Start& start, const IslandSolution& s, int j, double share) {
  const Row& row = view_->rows()[s.island->rows[at(j)]];
  const TendonLength& along = *std::get_if<TendonLength>(&row.along);
  const int o = 3 * s.problem.nc() + j;
  tendon_slopes(start, along, start.dt * s.f[o], at_move_, D_);
  const int a = new_tendon_row(s, j);
  for (int k : tendon_dofs_) K_(a, local_[at(k)]) += K_row_[k];
  const double slope = s.problem.g()[o] < 0 ? share : 1;
  tendon_slopes(start, along, 0, at_end_, D_);
  for (int k : tendon_dofs_) {
    K_(a, local_[at(k)]) += slope * (J_row_[k] / start.dt + K_row_[k]);
    rows::add(slope * J_row_[k], X_.row(local_[at(k)]), K_.row(a), K_.stride());
  }
  if (soft_) add_softness(start, nullptr, a, s.f[o], R_[a], &along);
}

int RigidDerivative::new_tendon_row(const IslandSolution& s, int j) {
  const int o = 3 * s.problem.nc() + j;
  for (int k : tendon_dofs_) support_.push_back(local_[at(k)]);
  const int a = open_row(s.problem.R()[o], false);
  add_whitened(a, s.problem, o, 1, Side::Both);
  return a;
}

}  // namespace tribo
