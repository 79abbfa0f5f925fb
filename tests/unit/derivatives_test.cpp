// Analytic derivatives of inverse dynamics against central differences of M a + h.
#include "dynamics/derivatives.hpp"

#include <doctest/doctest.h>

#include "stepping/workspace.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

VecX inverse_dynamics(Dynamics& dynamics, const VecX& q, const VecX& v, const VecX& a) {
  dynamics.compute(q, v);
  return dynamics.mass_matrix() * a + dynamics.h();
}

// A free body, a ball joint and a turning slide, with masses off every axis.
Model odd_tree() {
  ModelBuilder builder;
  builder.begin_member("odd", true, "test");
  const JointKind kinds[] = {JointKind::Free, JointKind::Spherical, JointKind::Prismatic, JointKind::Continuous};
  for (int i = 0; i < 4; ++i) {
    Body body;
    body.name = "odd/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = kinds[i];
    body.X_PJ.p = i ? Vec3(0.1, 0.2, -0.3) : Vec3(0, 0, 0);
    if (i) body.X_PJ.R = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
    body.axis = Vec3(1, -1, 2).normalized();
    body.inertia.mass = 1 + i;
    body.inertia.com = Vec3(0.1, -0.05, 0.2);
    body.inertia.about_com = Vec3(0.1, 0.2, 0.25).asDiagonal();
    builder.add_body(body);
  }
  return builder.build();
}

}  // namespace

TEST_CASE("inverse dynamics: analytic derivatives") {
  Random random;
  auto draw = [&] { return 2 * random.uniform() - 1; };
  for (const char* name : {"solo12", "ur10", "odd", "box"}) {
    ModelBuilder builder;
    Model model;
    if (std::string(name) == "odd") {
      model = odd_tree();
    } else if (std::string(name) == "box") {
      builder.add_material({"surface", {}});
      builder.add_object("box", ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 2, 0);
      builder.add_object("other", ShapeKind::Sphere, Vec3(0.1, 0, 0), 1, 0);
      model = builder.build();
    } else {
      RobotOptions options;
      options.model = name;
      options.contact = "none";
      options.floating = std::string(name) == "solo12";
      add_robot(builder, options);
      model = builder.build();
    }
    const int nv = model.nv;
    VecX q = model.neutral(), v = VecX::NullaryExpr(nv, [&] { return draw(); });
    const VecX a = VecX::NullaryExpr(nv, [&] { return draw(); });
    integrate(model, VecX::NullaryExpr(nv, [&] { return draw(); }), 1, q);
    Dynamics dynamics(model);
    InverseDynamics analytic(model);
    dynamics.compute(q, v);
    analytic.differentiate(dynamics, v, a);
    const VecX tau = inverse_dynamics(dynamics, q, v, a);
    const double scale = 1 + tau.cwiseAbs().maxCoeff();
    CAPTURE(std::string(name));
    CHECK((analytic.tau() - tau).cwiseAbs().maxCoeff() < 1e-12 * scale);
    CHECK((analytic.M().dense() - dynamics.mass_matrix()).cwiseAbs().maxCoeff() < 1e-12 * scale);
    // Central differences: e^2 of the third derivative, and rounding over e: about 1e-9 of the torques.
    const double e = 1e-5;
    for (int j = 0; j < nv; ++j) {
      VecX d = VecX::Zero(nv), up = q, down = q;
      d[j] = 1;
      integrate(model, d, e, up);
      integrate(model, d, -e, down);
      const VecX by_q = (inverse_dynamics(dynamics, up, v, a) - inverse_dynamics(dynamics, down, v, a)) / (2 * e);
      const VecX by_v =
          (inverse_dynamics(dynamics, q, v + e * d, a) - inverse_dynamics(dynamics, q, v - e * d, a)) / (2 * e);
      CAPTURE(j);
      CHECK((analytic.dq().dense().col(j) - by_q).cwiseAbs().maxCoeff() < 3e-8 * scale);
      CHECK((analytic.dv().dense().col(j) - by_v).cwiseAbs().maxCoeff() < 3e-8 * scale);
    }
  }
}
