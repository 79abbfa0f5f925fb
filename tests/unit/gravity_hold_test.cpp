// What joints bear against gravity, beside the bias of the dynamics at rest.
#include "control/gravity_hold.hpp"

#include <doctest/doctest.h>

#include <random>

#include "control/joints.hpp"
#include "tribo/dynamics.hpp"

using namespace tribo;

namespace {

// A fixed base with joints of all kinds along axes of the frame and others; every second body is carried in part.
Model tree_of(std::mt19937& rng, int bodies) {
  std::uniform_real_distribution<double> sym(-1, 1);
  const auto random = [&] {
    const double a = sym(rng), b = sym(rng), c = sym(rng);
    return Vec3(a, b, c);
  };
  const JointKind kinds[] = {JointKind::Revolute, JointKind::Prismatic, JointKind::Continuous, JointKind::Spherical};
  ModelBuilder builder;
  builder.begin_member("arm", true, "test");
  for (int i = 0; i < bodies; ++i) {
    Body body;
    body.name = "joint_" + std::to_string(i);
    body.parent = i == 0 ? -1 : i - 1 - i % 3 / 2;
    body.joint = kinds[i % 4];
    const Vec3 turn = random();
    body.X_PJ = {Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix(), random()};
    body.axis = i % 3 ? Vec3(Vec3::Unit(i % 3)) : random().normalized();
    body.inertia.mass = 1 + 0.5 * sym(rng);
    body.inertia.com = random();
    body.inertia.about_com.setIdentity();
    if (i % 2) body.carried = 0.4, body.carried_at = random();
    builder.add_body(body);
  }
  return builder.build();
}

}  // namespace

TEST_CASE("gravity hold: joints of a fixed base bear the bias at rest (ff.2)") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> sym(-1, 1);
  for (int k = 0; k < 40; ++k) {
    const auto model = std::make_shared<const Model>(tree_of(rng, 1 + k % 11));
    VecX q = model->neutral();
    for (const Body& body : model->bodies)
      if (body.joint == JointKind::Spherical)
        q.segment<4>(body.iq) = VecX::NullaryExpr(4, [&] { return sym(rng); }).normalized();
    GravityHold hold(model, 0, q);
    for (int pose = 0; pose < 3; ++pose) {
      const VecX joints = VecX::NullaryExpr(model->nv, [&] { return 2 * sym(rng); });
      set_joints(*model, model->members[0], joints, q);
      Dynamics dynamics(*model);
      dynamics.compute(q, VecX::Zero(model->nv));
      const VecX torque = hold.torque(joints);
      CHECK((torque - dynamics.h()).cwiseAbs().maxCoeff() < 1e-12 * (1 + dynamics.h().cwiseAbs().maxCoeff()));
      CHECK(hold.torque(joints) == torque);
    }
  }
}
