// A row: a scalar constraint beside the contacts of a problem. What it acts along says J, what it is of says its law:
//   c = J v / dt + bias + compliance f,  f in [lower, upper];  the generalised force is J^T f
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "tribo/types.hpp"

namespace tribo {

/// A vector that is copied as plain memory, which Vec3 is not. Each becomes the other unasked, hence NOLINT.
struct PlainVector {
  double x = 0, y = 0, z = 0;
  PlainVector() = default;
  PlainVector(const Vec3& a) : x(a.x()), y(a.y()), z(a.z()) {}  // NOLINT(google-explicit-constructor)
  template <class Derived>
  PlainVector(const Eigen::MatrixBase<Derived>& a) : PlainVector(Vec3(a)) {}  // NOLINT(google-explicit-constructor)
  operator Vec3() const { return {x, y, z}; }                                 // NOLINT(google-explicit-constructor)
};

/// J v = sign v_dof
struct Coordinate {
  int dof = 0;
  double sign = 1;
};

/// J v = v_dof + slope v_other
struct CoordinatePair {
  int dof = 0, other = 0;
  double slope = 0;
};

/// J v = sign ldot of a tendon
struct TendonLength {
  int tendon = 0;
  double sign = 1;
};

/// J v = ldot of a tendon + slope ldot of the other
struct TendonPair {
  int tendon = 0, other = 0;
  double slope = 0;
};

/// Of two bodies, along an axis; neither is moved by forces where < 0.
struct BodyAxis {
  int body_a = -1, body_b = -1;
  PlainVector axis;  ///< in W
  double given = 0;  ///< by kinematic bodies [m/s] or [rad/s]
};

/// J v = axis . (velocity of b at p_b - velocity of a at p_a) + given
struct BodyPoints : BodyAxis {
  PlainVector p_a, p_b;  ///< in W [m]
};

/// J v = axis . (turning of b - turning of a) + given
struct BodyTurns : BodyAxis {};

/// Of a coordinate, a tendon, or the angle of a spherical joint.
struct LimitLaw {
  double end = 0;  ///< J v at the end of the step, once that is solved [m/s] or [rad/s]
};

/// Of a joint or a tendon.
struct DryFriction {};

/// The velocity that a drive shall have at the end of the step.
struct VelocityTarget {};

/// A drive with gains whose torque is at its limits.
struct LimitedDrive {};

/// Spring and damper of a tendon.
struct TendonSpring {};

/// One of the rows of an equality constraint.
struct EqualityPart {
  int element = 0;  ///< ties of tendons are counted after the equalities of the model
};

/// Torsional or rolling friction of a contact: bounded by `length` times its normal force.
struct TurnFriction {
  int contact = 0;    ///< in the list of contacts
  int component = 0;  ///< 0: about the normal; 1, 2: about the tangents
  double length = 0;  ///< [m]
};

struct Row {
  std::variant<Coordinate, CoordinatePair, TendonLength, TendonPair, BodyPoints, BodyTurns> along{};
  std::variant<LimitLaw, DryFriction, VelocityTarget, LimitedDrive, TendonSpring, EqualityPart, TurnFriction> law{};
  double bias = 0;        ///< [m/s^2] or [rad/s^2]
  double compliance = 0;  ///< R [1/kg]
  double lower = 0, upper = 0;
  double error = 0;      ///< of an equality: what is wrong with q; of a limit: the distance to it [m] or [rad]
  std::uint64_t id = 0;  ///< its name from step to step; 0: none

  template <class Law>
  bool is() const {
    return std::holds_alternative<Law>(law);
  }
  template <class Law>
  const Law* as() const {
    return std::get_if<Law>(&law);
  }
  /// Is its force the torque of a drive?
  bool drives() const { return is<VelocityTarget>() || is<LimitedDrive>(); }

  /// Null where it acts along something else.
  const Coordinate* coordinate() const { return std::get_if<Coordinate>(&along); }
  const BodyAxis* bodies() const {
    if (const auto* points = std::get_if<BodyPoints>(&along)) return points;
    return std::get_if<BodyTurns>(&along);
  }
  /// Of J v, what kinematic bodies give [m/s] or [rad/s].
  double given() const { return bodies() ? bodies()->given : 0; }
  void set_given(double speed) {
    if (auto* points = std::get_if<BodyPoints>(&along)) points->given = speed;
    if (auto* turns = std::get_if<BodyTurns>(&along)) turns->given = speed;
  }
};

static_assert(std::is_trivially_copyable_v<Row>);

}  // namespace tribo
