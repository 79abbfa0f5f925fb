// Questions about a world at an instant: where and how fast things are, how far from each other, what a ray meets.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

/// Linear velocity of a point and angular velocity, in W [m/s], [rad/s].
struct PointVelocity {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
};

/// What a ray meets first.
struct RayHit {
  double distance = std::numeric_limits<double>::infinity();  ///< [m]; infinite: nothing
  int geometry = -1;
  Vec3 p = Vec3::Zero(), n = Vec3::Zero();  ///< point and outward normal, in W
};

/// The nearest points of two sets of shapes.
struct Nearest {
  double distance =
      std::numeric_limits<double>::infinity();  ///< negative where they overlap [m]; infinite: farther than asked
  int geometry_a = -1, geometry_b = -1;
  Vec3 p = Vec3::Zero(), n = Vec3::Zero();  ///< midway between the surfaces; from a to b; in W
};

/// Allocates when it is made, and in what it returns. One thread at a time.
class Inquiry {
 public:
  explicit Inquiry(std::shared_ptr<const Model> model);
  ~Inquiry();

  /// The instant that the rest is about. InvalidInput for sizes and for what is not finite. Copies the commands.
  void look(const VecX& q, const VecX& v, const KinematicTime& time);

  const Model& model() const;
  Placement pose(const Place& place) const;          ///< in W
  PointVelocity velocity(const Place& place) const;  ///< of its origin
  MatX jacobian(const Place& place) const;           ///< d (linear, angular) / d v (6 x nv)
  MatX mass_matrix() const;                          ///< with rotor inertias (nv x nv)
  const VecX& bias() const;  ///< Coriolis, centrifugal and gravity forces: M vdot + bias = tau (nv)
  double kinetic() const;    ///< [J]
  double potential() const;  ///< [J]
  /// Of a robot or object; of all that moves where member is -1.
  Vec3 center_of_mass(int member) const;

  /// d need not have unit length. ignored: geometries that the ray passes, an entry for each; empty: none.
  RayHit ray(const Vec3& p, const Vec3& d, double most, std::span<const char> ignored = {}) const;
  /// Of any shape in a from any in b.
  Nearest distance(std::span<const int> a, std::span<const int> b, double most) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
