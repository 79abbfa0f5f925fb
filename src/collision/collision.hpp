// Which points touch: the contact list of a configuration.
//
// Pairs come from a broadphase over bounding boxes that are swept by the motion within the step; half-spaces meet every
// moving shape. The list is sorted by id, its ids survive steps, and it has no capacity limit.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tribo/contact_memory.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// How a body moves at the moment: what collision needs to know of dynamics.
struct BodyMotion {
  Placement X_WB;
  Vec3 v = Vec3::Zero();  ///< velocity of the body's origin, in W [m/s]
  Vec3 w = Vec3::Zero();  ///< angular velocity, in W [rad/s]
};

struct DetectionRange {
  double margin = 1e-3;  ///< contacts are listed from this gap on [m]; negative: a share of the smaller shape
  double dt = 0;         ///< and those that may close within this time [s]
};

class Collision {
 public:
  explicit Collision(const Model& model);
  ~Collision();
  Collision(Collision&&) noexcept;

  /// Fills contacts(). memory (sorted by id) gives the tangent axes of contacts seen before: they are carried over,
  /// turned only as far as the normal turned.
  /// bodies: of the model, then the kinematic bodies.
  void detect(std::span<const BodyMotion> bodies, const DetectionRange& range, std::span<const ContactMemory> memory);
  /// At the same poses, with velocities that became known since: adds what these lead together of pairs that have no
  /// contact yet, and of half-spaces. False where there is nothing to add. sent: by tree, of which a pair must have one; empty:
  /// all trees.
  bool detect_more(std::span<const BodyMotion> bodies, const DetectionRange& range,
                   std::span<const ContactMemory> memory, std::span<const char> sent = {});
  /// Do the boxes round more than `most` pairs of shapes overlap? Costs no more than these.
  bool crowded(std::span<const BodyMotion> bodies, std::size_t most);
  std::span<const Contact> contacts() const;
  /// Pairs that overlap whatever the joints between them do: they are not looked at.
  std::span<const std::pair<int, int>> joined() const;
  /// contacts() is a list that detect has made before: of one of many worlds in turn.
  void resume(std::span<const Contact> list);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
