// Equality constraints in the derivative of a rigid step: rows without bounds, and the projection of q+ onto them.
//
//   connect, weld:  dc = axis . (dV_b(p_b) + w_b x dp_b) - the same of a, the axis fixed in W, points fixed to bodies  (deriv.14)
//   joint:          J = e_a - P'(q_b - center) e_b,  dJ = -P'' dq_b e_b                                       (deriv.15)
// The projection (closures.4) is a smooth function of q+ alone: it is differentiated by central differences of itself.
#include <algorithm>

#include "derivatives/rigid_derivative.hpp"
#include "dynamics/group.hpp"

namespace tribo {
namespace {

constexpr double closure_probe = 1e-5;  // of the differences of the projection [m], [rad]

double second_slope(const std::array<double, 5>& polynomial, double x) {
  return 2 * polynomial[2] + 6 * polynomial[3] * x + 12 * polynomial[4] * x * x;
}

}  // namespace

// The row j of an island with its force, in the step or in the removal of overlap; its force slopes into X.
void RigidDerivative::add_equality(const Start& start, const IslandSolution& s, int j, double f, const Velocities& at_v,
                                   RowMatrix& X) {
  const Row& row = view_->rows()[s.island->rows[at(j)]];
  const int o = 3 * s.problem.nc() + j;
  const std::size_t before = support_.size();
  const auto list = [&](int k) {
    const int l = local_[at(k)];
    if (std::find(support_.begin() + static_cast<std::ptrdiff_t>(before), support_.end(), l) == support_.end())
      support_.push_back(l);
  };
  if (const BodyAxis* bodies = row.bodies()) {
    for (int b : {bodies->body_b, bodies->body_a})
      if (b >= 0)
        for (int k : model_.bodies[at(b)].chain) list(k);
  } else if (const auto* pair = std::get_if<CoordinatePair>(&row.along)) {
    list(pair->dof);
    list(pair->other);
  } else {
    list(row.coordinate()->dof);
  }
  const int a = open_row(s.problem.R()[o], false);
  if (row.bodies())
    add_joined(start, row, a, start.dt * f, at_v, X);
  else
    add_polynomial(start, row, a, start.dt * f, at_v, X);
  add_whitened(a, s.problem, o, 1, Side::Both);
}

// (deriv.15)
void RigidDerivative::add_polynomial(const Start& start, const Row& row, int a, double p, const Velocities& at_v,
                                     RowMatrix& X) {
  if (row.coordinate()) return;  // of one coordinate, whose axis stays
  const CoordinatePair& pair = *std::get_if<CoordinatePair>(&row.along);
  const int l = local_[at(pair.other)];
  const Equality& e = model_.equalities[at(row.as<EqualityPart>()->element)];
  const double q = start.state.q[model_.bodies[at(e.body_b)].iq];
  const double bend = -second_slope(e.polynomial, q - e.center);
  K_(a, l) += bend * (*at_v.v)[pair.other];
  X(l, l) += p * bend;
}

// (deriv.14)
void RigidDerivative::add_joined(const Start& start, const Row& row, int a, double p, const Velocities& at_v,
                                 RowMatrix& X) {
  const BodyAxis& bodies = *row.bodies();
  const auto* points = std::get_if<BodyPoints>(&row.along);
  const Vec3 axis = bodies.axis;
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? bodies.body_b : bodies.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Vec3 origin = start.dynamics.origin(body.tree);
    const Vec3 at_p = points ? Vec3(sign > 0 ? points->p_b : points->p_a) : origin, r = at_p - origin;
    const Spatial& V = at_v.V[at(b)];
    for (int j : body.chain) {
      const Spatial &S = start.dynamics.axis(j), &psi = at_v.psi[at(j)];
      const Vec3 ang = S.ang.cross(V.ang) + psi.ang, lin = S.ang.cross(V.lin) + S.lin.cross(V.ang) + psi.lin;
      const Vec3 move = S.lin + S.ang.cross(r);
      K_(a, local_[at(j)]) += sign * axis.dot(points ? Vec3(lin + ang.cross(r) + V.ang.cross(move)) : ang);
    }
    const Vec3 impulse = sign * p * axis;
    add_held_force(start, b, at_p, points ? Spatial{impulse, Vec3::Zero()} : Spatial{Vec3::Zero(), impulse}, X);
  }
}

// The projection of q+ (closures.4), and velocities turned with the bodies.
void RigidDerivative::close(const Start& start, Linearization& lin) {
  const int nv = model_.nv;
  const KinematicTime time = start.state.kinematic_time().later(start.dt);
  VecX q_end = q_start_, v_end = v_turned_, d(nv), q, v;
  integrate(model_, v_mean_, start.dt, q_end);
  const VecX q_open = q_end;
  closures_.project(model_, time, q_end, v_end);
  MatX by_q(2 * nv, nv), turn = MatX::Identity(nv, nv);
  for (int k = 0; k < nv; ++k) {
    VecX sides[2];
    for (double sign : {1.0, -1.0}) {
      q = q_open;
      v = v_turned_;
      d.setZero();
      d[k] = sign * closure_probe;
      integrate(model_, d, 1, q);
      closures_.project(model_, time, q, v);
      VecX& end = sides[sign > 0 ? 0 : 1];
      end.resize(2 * nv);
      tangent(model_, q_end, q, d);
      end << d, v;
    }
    by_q.col(k) = (sides[0] - sides[1]) / (2 * closure_probe);
  }
  tangent(model_, q_open, q_end, d);
  for (const Body& b : model_.bodies) {
    if (b.joint != JointKind::Free) continue;
    const Mat3 back = rotation_exponential(-d.segment<3>(b.iv + 3)).toRotationMatrix();
    turn.block<3, 3>(b.iv, b.iv) = turn.block<3, 3>(b.iv + 3, b.iv + 3) = back;
  }
  for (MatX* x : {&lin.A, &lin.B}) {
    const MatX dq = x->topRows(nv), dv = x->bottomRows(nv);
    x->topRows(nv) = by_q.topRows(nv) * dq;
    x->bottomRows(nv) = by_q.bottomRows(nv) * dq + turn * dv;
  }
  v_turned_ = v_end;
}

}  // namespace tribo
