// Derivatives of steps with equality constraints, and of steps that were once told exact and were not: beside central
// differences of the same step, relative to the largest entry of each block.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "slopes.hpp"
#include "tribo/linearization.hpp"

using namespace tribo;
using slopes::check_once, slopes::precise;

namespace {

/// Rods of 0.2 kg and more, each on a hinge about y at the end of the last; the first is free where `floats`.
struct Rods {
  ModelBuilder builder;
  int material;
  explicit Rods(bool floats) {
    material = builder.add_material({"surface", worlds::friction(0.6)});
    builder.add_ground({}, material);
    builder.begin_member("rods", true, "test");
    for (int i = 0; i < 3; ++i) {
      Body body;
      body.name = "rods/" + std::to_string(i);
      body.parent = i - 1;
      body.joint = i == 0 && floats ? JointKind::Free : JointKind::Revolute;
      body.axis = Vec3(0.1 * i, 1, 0.2 * i).normalized();
      body.X_PJ.p = i > 0 ? Vec3(0.3, 0.01, 0) : Vec3(0, 0, floats ? 0 : 1);
      body.inertia.mass = 0.2 + 0.1 * i;
      body.inertia.com = Vec3(0.15, 0.01, 0.02);
      body.inertia.about_com = Vec3(0.001, 0.004, 0.005).asDiagonal();
      slopes::add_ball_link(builder, body, material);
    }
  }
  Simulation simulate(double height) {
    auto model = std::make_shared<const Model>(builder.build());
    Simulation simulation(model, "rigid", precise(), 2e-3);
    State state = slopes::random_state(*model, 0.4, 2);
    if (model->bodies[0].joint == JointKind::Free) state.q[2] = height;
    simulation.set_state(state);
    if (const Equality& e = model->equalities.front(); model->bodies.size() > 3) {  // the brick, where it is joined
      const Placement X = simulation.body_pose(e.body_b);
      const Body& brick = model->bodies[at(e.body_a)];
      const Mat3 R = X.R * e.X_AB.R.transpose();
      state.q.segment<3>(brick.iq) = X * (e.kind == EqualityKind::Weld ? Vec3::Zero() : e.point_b) - R * e.point_a;
      state.q.segment<4>(brick.iq + 3) = Quat(R).coeffs();
      simulation.set_state(state);
    }
    for (int k = 0; k < 3; ++k) {  // onto the constraint
      const StepReport report = simulation.step();
      CHECK(report.status == StepStatus::Ok);
    }
    return simulation;
  }
};

}  // namespace

TEST_CASE("derivative: a joint that follows another by a polynomial") {
  for (bool floats : {false, true}) {
    CAPTURE(floats);
    Rods rods(floats);
    Equality e;
    e.name = "follow";
    e.kind = EqualityKind::Joint;
    e.body_a = 2;
    e.body_b = 1;
    e.polynomial = {0.1, 0.7, 0.4, -0.3, 0.2};
    e.center = 0.05;
    rods.builder.add_equality(e);
    CHECK(check_once(rods.simulate(1)).columns >= (floats ? 16 : 6));
  }
}

TEST_CASE("derivative: a pin or a weld to the world, or between free bodies") {
  for (const EqualityKind kind : {EqualityKind::Connect, EqualityKind::Weld})
    for (bool world : {false, true}) {
      CAPTURE(world);
      Rods rods(true);
      if (!world) rods.builder.add_object("brick", ShapeKind::Box, Vec3(0.05, 0.04, 0.03), 0.5, rods.material);
      Equality e;
      e.name = "closure";
      e.kind = kind;
      e.body_a = world ? -1 : 3;  // the brick comes after the rods
      e.body_b = 2;
      e.point_a = world ? Vec3(0.3, 0.2, 1) : Vec3(0.1, 0.1, 0.2);
      e.point_b = Vec3(0.2, 0.01, 0);
      e.X_AB.p = e.point_a;
      e.X_AB.R = rotation_exponential({0.1, 0.3, 0.2}).toRotationMatrix();
      rods.builder.add_equality(e);
      CHECK(check_once(rods.simulate(1)).columns >= (world ? 18 : 12));
    }
}

TEST_CASE("derivative: a single body that is pushed in the air") {
  auto simulation = worlds::World().box({0.1, 0.2, 0.3}, 2, {0, 0, 3}, {1, 2, 3}, {4, -5, 6}).simulate(1e-2, precise());
  PushRequest push;
  push.where = "object0";
  push.force = Vec3(30, -20, 10);
  push.torque = Vec3(1, 2, -1);
  push.duration = 1;
  simulation.add_push(make_push(simulation.model(), push));
  CHECK(check_once(std::move(simulation)).columns == 12);
}

TEST_CASE("derivative: overlap that many contacts share is removed") {  // its compliance moves with q
  auto simulation = worlds::World(worlds::friction(0.5))
                        .ground()
                        .box({0.1, 0.1, 0.1}, 1, {0, 0, 0.0987}, {1.5, 0.09, 0.2}, {0.1, -0.09, 0.06})
                        .simulate(1e-3, precise());
  CHECK(check_once(std::move(simulation)).columns == 12);
}
