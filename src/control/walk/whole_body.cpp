#include "control/walk/whole_body.hpp"

#include <Eigen/LU>
#include <cmath>

namespace tribo::walk {
namespace {

// A stretched leg has no inverse, and one near it asks for rates that make themselves larger: damping sets in, from nothing,
// where a leg begins to stretch [Nakamura1986].
Mat3 damped_inverse(const Mat3& J) {
  constexpr double near = 0.05,
                   most = 1e-2;  // of the volume of J over its size cubed; of the damping over its size squared
  const Mat3 square = J * J.transpose();
  const double size = square.trace(), volume = std::abs(J.determinant()) / std::pow(size, 1.5);
  if (volume > near) return J.inverse();
  const double share = 1 - volume / near;
  return J.transpose() * (square + most * share * share * size * Mat3::Identity()).inverse();  // (walk.9)
}

}  // namespace

WholeBody::WholeBody(const Model& model, const Walker& walker, const WalkOptions& options)
    : walker_(&walker),
      mu_(options.mu),
      weight_(options.force_weight / (walker.mass * walker.mass)),
      iv_(model.bodies[at(walker.base)].iv),
      unit_(VecX::Zero(model.nv)),
      column_(VecX::Zero(model.nv)) {
  for (int n = 1; n <= 4; ++n) programs_[at(n)].resize(3 * n, 0, 5 * n);
}

// Jacobians of the feet, and (walk.6) with (walk.5) put in.
void WholeBody::read(const Dynamics& dynamics, const std::array<FootTask, 4>& feet) {
  composite_ = dynamics.base_inertia(walker_->tree);
  rest_ = dynamics.h().segment<6>(iv_);
  for (std::size_t i = 0; i < 4; ++i) {
    const Leg& leg = walker_->legs[i];
    sole_[i] = dynamics.X_WB(leg.body) * leg.point;
    if (feet[i].stands) sole_[i].z() -= walker_->radius[i];  // where a ball touches
    Eigen::Matrix<double, 3, 9> J;
    dynamics.point_jacobian(leg.body, sole_[i], Mat3::Identity(), J.data());
    base_J_[i] = J.leftCols<6>();
    leg_J_[i] = J.rightCols<3>();
    inverse_[i] = damped_inverse(leg_J_[i]);
    drift_[i] = feet[i].a - dynamics.point_bias(leg.body, sole_[i]);
    const Vec3 alone = inverse_[i] * drift_[i];
    Eigen::Matrix<double, 6, 3> M;
    for (int k = 0; k < 3; ++k) {
      unit_[leg.iv[at(k)]] = 1;
      dynamics.multiply(walker_->tree, unit_.data(), column_.data());
      unit_[leg.iv[at(k)]] = 0;
      M.col(k) = column_.segment<6>(iv_);
    }
    composite_.noalias() -= M * (inverse_[i] * base_J_[i]);
    rest_.noalias() += M * alone;
  }
}

// (walk.7)
bool WholeBody::find_forces(const BaseTask& base, const std::array<FootTask, 4>& feet, const Mat3& R) {
  const Eigen::Matrix<double, 6, 6> inverse = composite_.inverse();
  int n = 0;
  Eigen::Matrix<double, 12, 1> predicted;
  for (std::size_t i = 0; i < 4; ++i) {
    force_[i].setZero();
    if (!feet[i].stands) continue;
    A_.middleCols<3>(3 * n).noalias() = inverse * base_J_[i].transpose();
    predicted.segment<3>(3 * n++) = force_[i] = feet[i].force;
  }
  o_ = -(inverse * rest_);
  bool solved = n == 0;
  if (n > 0) {
    Vec6 wanted;
    wanted << R.transpose() * base.a, R.transpose() * base.alpha;
    wanted -= o_;
    // An angular acceleration counts as that of a point at the radius of gyration.
    Vec6 scale = Vec6::Ones();
    scale.tail<3>() = (walker_->inertia.diagonal() / walker_->mass).cwiseMax(1e-12);
    QuadraticProgram& p = programs_[at(n)];
    p.resize(3 * n, 0, 5 * n);
    for (int j = 0; j < 3 * n; ++j) {
      const Vec6 column = scale.cwiseProduct(A_.col(j));
      for (int i = 0; i < 3 * n; ++i) p.H(i, j) = A_.col(i).dot(column);
      p.H(j, j) += weight_;
      p.g[j] = -column.dot(wanted) - weight_ * predicted[j];
    }
    for (int f = 0; f < n; ++f) {
      for (int side = 0; side < 4; ++side) {
        p.C(3 * f + side / 2, 5 * f + side) = side % 2 == 0 ? 1 : -1;
        p.C(3 * f + 2, 5 * f + side) = mu_;
        p.d[5 * f + side] = 0;
      }
      p.C(3 * f + 2, 5 * f + 4) = 1;
      p.d[5 * f + 4] = 0;
    }
    solved = p.solve();
    n = 0;
    for (std::size_t i = 0; i < 4; ++i)
      if (feet[i].stands) {
        if (solved) force_[i] = p.x().segment<3>(3 * n);
        ++n;
      }
  }
  base_a_ = o_;
  for (std::size_t i = 0; i < 4; ++i)
    if (feet[i].stands) base_a_.noalias() += inverse * (base_J_[i].transpose() * force_[i]);
  return solved;
}

// (walk.8)
void WholeBody::pull(const Dynamics& dynamics, const BaseTask& base, const std::array<FootTask, 4>& feet,
                     const Gains& gains, const VecX& v, Actuation& a) const {
  const Vec3& origin = dynamics.X_WB(walker_->base).p;
  for (std::size_t i = 0; i < 4; ++i) {
    const Leg& leg = walker_->legs[i];
    const Vec3 r = sole_[i] - origin;
    Vec3 error = feet[i].error, speed = feet[i].v;
    if (feet[i].stands) {
      error -= base.error + base.turn.cross(r);
      speed -= base.v + base.w.cross(r);
    } else {
      speed.noalias() -= base_J_[i] * v.segment<6>(iv_);
    }
    const Vec3 e = inverse_[i] * error, rate = inverse_[i] * speed;
    for (int k = 0; k < 3; ++k) {
      const int j = leg.iv[at(k)];
      a.kp[j] += gains.kp;
      a.kd[j] += gains.kd;
      a.error[j] += e[k];
      a.v_ref[j] += rate[k];
    }
  }
}

bool WholeBody::control(const Dynamics& dynamics, const VecX& v, const BaseTask& base,
                        const std::array<FootTask, 4>& feet, const Gains& gains, Actuation& a) {
  read(dynamics, feet);
  const bool solved = find_forces(base, feet, dynamics.X_WB(walker_->base).R);
  unit_.segment<6>(iv_) = base_a_;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3 joints = inverse_[i] * (drift_[i] - base_J_[i] * base_a_);  // (walk.5)
    for (int k = 0; k < 3; ++k) unit_[walker_->legs[i].iv[at(k)]] = joints[k];
  }
  dynamics.multiply(walker_->tree, unit_.data(), column_.data());
  unit_.setZero();
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3 carried = leg_J_[i].transpose() * force_[i];
    for (int k = 0; k < 3; ++k) {
      const int j = walker_->legs[i].iv[at(k)];
      a.tau[j] += column_[j] + dynamics.h()[j] - carried[k];
    }
  }
  pull(dynamics, base, feet, gains, v, a);
  return solved;
}

}  // namespace tribo::walk
