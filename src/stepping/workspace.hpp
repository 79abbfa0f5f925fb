// What a simulation computes anew in every step, and shares with its controllers. Buffers grow between steps and never
// shrink.
#pragma once

#include <vector>

#include "collision/collision.hpp"
#include "dynamics/group.hpp"
#include "dynamics/motions.hpp"
#include "tribo/actuation.hpp"
#include "tribo/assembly.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/stage_times.hpp"
#include "tribo/state.hpp"

namespace tribo {

struct Workspace {
  explicit Workspace(const Model& model)
      : dynamics(model), collision(model), assembly(model), motions(model.bodies.size() + model.kinematic.size()) {
    actuation.resize(model.nv);
  }

  /// Poses, velocities and h at the state, and M where it is wanted; nothing where they stand already.
  void update(const State& state, bool mass_matrix = true) {
    if (poses_ && (mass_ || !mass_matrix)) return;
    const StageTimer timer(times, Stage::Dynamics);
    if (mass_matrix)
      dynamics.compute(state.q, state.v);
    else
      dynamics.compute_motion(state.q, state.v);
    poses_ = true;
    mass_ = mass_matrix;
  }
  /// The state is another now.
  void moved() { poses_ = mass_ = false; }
  /// The state is another now, and these are its dynamics, with M.
  void moved(Dynamics& there) {
    std::swap(dynamics, there);
    poses_ = mass_ = true;
  }
  /// Do poses stand for the present state?
  bool stands() const { return poses_; }

  Dynamics dynamics;
  Collision collision;
  Assembly assembly;
  Actuation actuation;
  std::vector<BodyMotion> motions;  ///< of bodies, then of kinematic bodies
  StageTimes* times = nullptr;      ///< null: stages are not timed

 private:
  bool poses_ = false, mass_ = false;
};

}  // namespace tribo
