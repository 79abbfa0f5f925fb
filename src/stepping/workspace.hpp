// Buffers and intermediate results of a step, shared by every stepper. They grow between steps and never shrink.
#pragma once

#include <vector>

#include "collision/collision.hpp"
#include "contact/assembly.hpp"
#include "dynamics/dynamics.hpp"
#include "dynamics/group.hpp"
#include "dynamics/motions.hpp"
#include "tribo/actuation.hpp"
#include "tribo/contact.hpp"
#include "tribo/stepper.hpp"

namespace tribo {

struct Workspace {
  explicit Workspace(const Model& model)
      : dynamics(model), collision(model), assembly(model), motions(model.bodies.size() + model.moved.size()) {
    actuation.resize(model.nv);
    torque.setZero(model.nv);
    target_miss.setZero(model.nv);
  }

  /// Poses, M and h at the state; nothing where they stand already.
  void update(const State& state) {
    if (current) return;
    dynamics.compute(state.q, state.v);
    current = true;
  }

  Dynamics dynamics;
  Collision collision;
  Assembly assembly;
  Actuation actuation;
  std::vector<BodyMotion> motions;      ///< of bodies, then of moved bodies
  std::vector<ContactReport> contacts;  ///< of the last step
  VecX torque;                          ///< of the actuators in the last step (nv) [N m] or [N]
  VecX target_miss;                     ///< velocity less its target at the end of the last step, 0: none (nv)
  bool current = false;                 ///< dynamics stands for the present state
};

/// Rate of a rotation vector r under the angular velocity w in body axes (rk.1).
Vec3 rotation_rate(const Vec3& r, const Vec3& w);

/// The free joints' linear velocity turned from the axes at the start of the step to those at its end.
void turn_velocity(const Model& model, const VecX& v_rotation, double dt, VecX& v);

}  // namespace tribo
