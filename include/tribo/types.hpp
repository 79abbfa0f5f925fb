// Names for the linear algebra that every header uses, and the one exception that bad input throws.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace tribo {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;
using VecRef = Eigen::Ref<VecX>;
using ConstVecRef = Eigen::Ref<const VecX>;

/// Places of standard containers from the int that everything is counted in.
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A frame B seen from a frame A: p_A = R p_B + p.
struct Placement {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();  ///< [m]

  Vec3 operator*(const Vec3& x) const { return R * x + p; }
  Placement operator*(const Placement& b) const { return {R * b.R, R * b.p + p}; }
  Placement inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
};

/// The matrix of the cross product: skew(a) b = a x b.
inline Mat3 skew(const Vec3& a) {
  Mat3 s;
  s << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return s;
}

/// Input that cannot be used: a file, a parameter, a size. The message names the place, the value and what is allowed.
class InvalidInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tribo
