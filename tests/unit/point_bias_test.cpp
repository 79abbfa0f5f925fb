// Jdot v in the convention of the free joint (axes frozen over the step), against central differences of velocities.
#include <doctest/doctest.h>

#include "dynamics/chart.hpp"
#include "dynamics/group.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

TEST_CASE("dynamics: acceleration of a point at vdot = 0") {
  Random random;
  auto draw = [&] { return 2 * random.uniform() - 1; };
  for (const char* name : {"solo12", "ur10", "box"}) {
    ModelBuilder builder;
    if (std::string(name) == "box") {
      builder.add_material({"surface", {}});
      builder.add_object("box", ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 2, 0);
    } else {
      RobotOptions options;
      options.model = name;
      options.contact = "none";
      options.floating = std::string(name) == "solo12";
      add_robot(builder, options);
    }
    const Model model = builder.build();
    VecX q = model.neutral(), v = VecX::NullaryExpr(model.nv, [&] { return draw(); });
    integrate(model, VecX::NullaryExpr(model.nv, [&] { return draw(); }), 1, q);
    Dynamics dynamics(model);
    const int body = static_cast<int>(model.bodies.size()) - 1;
    const Vec3 point(0.1, -0.2, 0.3);
    const double e = 1e-5;  // error of the difference: e^2 of the third derivative, and rounding over e: about 1e-10
    Vec3 velocity[2];
    for (int side = 0; side < 2; ++side) {
      const double dt = side ? e : -e;
      VecX q1 = q, v1 = v;
      integrate(model, v, dt, q1);
      Chart(model).turn(v, -dt, v1);
      dynamics.compute(q1, v1);
      velocity[side] = dynamics.point_velocity(body, dynamics.X_WB(body) * point);
    }
    dynamics.compute(q, v);
    const Vec3 bias = dynamics.point_bias(body, dynamics.X_WB(body) * point);
    CAPTURE(std::string(name));
    CHECK(bias.norm() > 0.1);
    CHECK((bias - (velocity[1] - velocity[0]) / (2 * e)).norm() < 1e-8 * (1 + bias.norm()));
  }
}
