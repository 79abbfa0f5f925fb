// Which joints that friction holds are stopped, by what that would take from the rest of their tree (dry.3).
#include <doctest/doctest.h>

#include <memory>

#include "stepping/rigid/rows.hpp"
#include "stepping/workspace.hpp"
#include "tribo/model.hpp"
#include "tribo/step.hpp"

using namespace tribo;

namespace {

// A carriage that dry friction holds, and on it a load that slides along.
Model carriage_and_load(double carriage, double load) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.begin_member("rail", true, "test");
  for (int k = 0; k < 2; ++k) {
    Body body;
    body.name = k == 0 ? "rail/carriage" : "rail/load";
    body.parent = k - 1;
    body.joint = JointKind::Prismatic;
    body.axis = Vec3::UnitX();
    body.inertia.mass = k == 0 ? carriage : load;
    body.inertia.about_com = body.inertia.mass * Mat3::Identity();
    builder.add_body(body);
    if (k == 0) builder.joint_properties().friction[0] = 5;
  }
  return builder.build();
}

// What is left of the velocity of the carriage, where a solve has left `rest` of it and the load goes with `speed`.
double left(const Model& model, double rest, double speed, double force, double smallest) {
  Workspace work(model);
  State state = State::neutral(model);
  work.update(state);
  const Start start{.model = model,
                    .state = state,
                    .dynamics = work.dynamics,
                    .contacts = {},
                    .assembly = work.assembly,
                    .actuation = work.actuation,
                    .q_control = state.q,
                    .v_control = state.v,
                    .dt = 1e-3,
                    .step = 1e-3,
                    .audited = true};
  StepRows rows(model);
  rows.begin(start);
  VecX v_end = VecX::Zero(2);
  rows.friction().wrong(start.dt, true, v_end);  // the guess failed: a row
  rows.list(start, 1e-3);
  REQUIRE(rows.size() == 1);
  rows.forces()[0] = force;
  v_end << rest, speed;
  rows.hold_joints(start, smallest, v_end);
  CHECK(v_end[1] == speed);
  return v_end[0];
}

}  // namespace

TEST_CASE("a joint that friction holds is stopped unless that takes energy from what it carries") {
  // It may take 1e-9 of twice the kinetic energy, 10 J, and 5 N of friction over the way of rounding. With the momentum
  // of 10 N s behind it the carriage takes 10 J a m/s.
  const Model light = carriage_and_load(1e-9, 10);
  CHECK(left(light, 1e-10, 1, 1, 1e-4) == 0);              // 1e-9 J
  CHECK(left(light, 1e-6, 1, 1, 1e-4) == 1e-6);            // 1e-5 J, beyond the 5e-7 J of friction
  CHECK(left(light, 1e-6, 0, 1, 1e-4) == 0);               // nothing moves behind it: its own momentum is 1e-5 N s
  CHECK(left(light, 1e-6, 0, 4.999999999999, 1e-4) != 0);  // friction at its bound does not hold
  CHECK(left(light, 2e-4, 0, 1, 1e-4) == 2e-4);            // and nothing is stopped that moves
  CHECK(left(carriage_and_load(10, 1e-9), 1e-6, 1, 1, 1e-4) == 0);  // behind a heavy one the load is nothing
}
