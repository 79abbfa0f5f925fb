// A point mass on visco-elastic ground, for closed forms.
#pragma once

#include "worlds.hpp"

namespace worlds {

inline SurfacePair spring(double K, double B, double mu = 1) {
  SurfacePair s = friction(mu);
  s.stiffness = K;
  s.damping = B;
  return s;
}

inline Geometry point_foot(int body, const Vec3& p, int material) {
  Geometry foot;
  foot.name = "foot";
  foot.kind = ShapeKind::Point;
  foot.body = body;
  foot.X_BG.p = p;
  foot.material = material;
  return foot;
}

// A point mass that cannot turn: three prismatic joints, and a contact point on the last body.
struct Slider {
  explicit Slider(double mass, const SurfacePair& surface, const Vec3& gravity = {0, 0, -9.81}) {
    ModelBuilder builder;
    const int material = builder.add_material({"surface", surface});
    builder.set_gravity(gravity);
    builder.begin_member("slider", true, "test");
    for (int k = 0; k < 3; ++k) {
      Body body;
      body.name = "slider/" + std::string(1, "xyz"[k]);
      body.parent = k - 1;
      body.joint = JointKind::Prismatic;
      body.axis = Vec3::Unit(k);
      if (k == 2) {
        body.inertia.mass = mass;
        body.inertia.about_com = mass * Mat3::Identity();
      }
      builder.add_body(body);
    }
    builder.add_geometry(point_foot(2, Vec3::Zero(), material));
    builder.add_ground({}, material);
    model = std::make_shared<const Model>(builder.build());
  }
  Simulation simulate(const std::string& stepper, const StepperOptions& options, double dt, const Vec3& p,
                      const Vec3& v) const {
    Simulation simulation(model, stepper, options, dt);
    State state = State::neutral(*model);
    state.q = p;
    state.v = v;
    simulation.set_state(state);
    return simulation;
  }
  std::shared_ptr<const Model> model;
};

}  // namespace worlds
