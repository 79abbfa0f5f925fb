// Small worlds for tests, made by hand so that every number in them is in view.
#pragma once

#include <cmath>
#include <memory>

#include "tribo/simulation.hpp"

namespace worlds {

using namespace tribo;

struct World {
  explicit World(SurfacePair surface = {}) { material = builder.add_material({"surface", surface}); }

  World& ground(const Placement& X_WG = {}) {
    builder.add_ground(X_WG, material);
    return *this;
  }
  World& box(const Vec3& half, double mass, const Vec3& p, const Vec3& v = Vec3::Zero(), const Vec3& w = Vec3::Zero()) {
    return object(ShapeKind::Box, half, mass, p, v, w);
  }
  World& sphere(double radius, double mass, const Vec3& p, const Vec3& v = Vec3::Zero(), const Vec3& w = Vec3::Zero()) {
    return object(ShapeKind::Sphere, Vec3(radius, 0, 0), mass, p, v, w);
  }
  World& object(ShapeKind kind, const Vec3& size, double mass, const Vec3& p, const Vec3& v, const Vec3& w) {
    builder.add_object("object" + std::to_string(starts.size()), kind, size, mass, material);
    starts.push_back({p, v, w});
    return *this;
  }
  World& gravity(const Vec3& g) {
    builder.set_gravity(g);
    return *this;
  }

  Simulation simulate(double dt, StepperOptions options = {}, const std::string& stepper = "rigid") {
    auto model = std::make_shared<const Model>(builder.build());
    Simulation simulation(model, stepper, options, dt);
    State state = State::neutral(*model);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const Body& body = model->bodies[i];
      state.q.segment<3>(body.iq) = starts[i].p;
      state.v.segment<3>(body.iv) = starts[i].v;
      state.v.segment<3>(body.iv + 3) = starts[i].w;
    }
    simulation.set_state(state);
    return simulation;
  }

  struct Start {
    Vec3 p, v, w;
  };
  ModelBuilder builder;
  int material = 0;
  std::vector<Start> starts;
};

inline SurfacePair friction(double mu, double restitution = 0) {
  SurfacePair s;
  s.mu_static = s.mu_dynamic = mu;
  s.restitution = restitution;
  return s;
}

inline void run(Simulation& simulation, double duration) {
  const long steps = std::lround(duration / simulation.dt());
  for (long k = 0; k < steps; ++k) simulation.step();
}

inline Vec3 position(const Simulation& s, int object = 0) { return s.state().q.segment<3>(7 * object); }
/// Velocity of the centre in the world.
inline Vec3 velocity(const Simulation& s, int object = 0) {
  const VecX& q = s.state().q;
  const int i = 7 * object;
  return Quat(q[i + 6], q[i + 3], q[i + 4], q[i + 5]) * Vec3(s.state().v.segment<3>(6 * object));
}

}  // namespace worlds
