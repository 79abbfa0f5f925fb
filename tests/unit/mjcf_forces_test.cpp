// What MJCF files ask for beside bodies and shapes, against MuJoCo itself: gravity compensation, tendons, motors at sites and
// with activations, limits of ball joints, fluids, keyframes.
#ifdef TRIBO_MJCF
#include <doctest/doctest.h>

#include "mujoco_pair.hpp"
#include "scratch_folder.hpp"
#include "tribo/file_sensors.hpp"
#include "tribo/robot_file.hpp"
#include "tribo/simulation.hpp"

using namespace mujoco_pair;

namespace {

// A floating trunk with an arm; welded parts have gravity compensation of their own.
const char* const arm = R"(<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.003" density="900" viscosity="0.3" wind="0.2 -0.4 0.1"/>
  <worldbody>
    <site name="sky" pos="0.3 0.1 1.5" euler="0.3 0.2 0.1"/>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" density="300"/>
      <site name="rotor" pos="0.1 0.05 0.02" euler="0.2 0.4 -0.3"/>
      <body name="upper" pos="0.2 0 0" gravcomp="0.7">
        <joint name="shoulder" type="ball" range="0 0.9" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
        <site name="a" pos="0.1 0.02 0.03"/>
        <body name="fore" pos="0.3 0 0" gravcomp="1.2">
          <joint name="elbow" axis="0 1 0.2" ref="0.3" actuatorgravcomp="true" actuatorfrcrange="-2 3" damping="0.1"/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.02"/>
          <site name="b" pos="0.1 0 0.04" euler="0.5 0 0"/>
          <body name="tool" pos="0.2 0 0.1" euler="0 0.3 0" gravcomp="0.4"><geom type="box" size="0.03 0.02 0.05"/></body>
          <body name="finger" pos="0.2 0 0.1">
            <joint name="slide" type="slide" axis="1 0 0" actuatorgravcomp="true"/>
            <geom size="0.02"/>
            <site name="c" pos="0.01 0.02 0"/>
          </body>
        </body>
      </body>
    </body>
    <body name="weight" pos="0 1 0.5"><freejoint/><geom size="0.05"/><site name="hook" pos="0 0 0.05"/></body>
  </worldbody>
  <tendon>
    <fixed name="sum" range="-0.1 0.2" limited="true" stiffness="12" damping="0.8" springlength="0.1 0.3" frictionloss="0.3">
      <joint joint="elbow" coef="0.5"/><joint joint="slide" coef="-1.5"/></fixed>
    <fixed name="one" stiffness="4" springlength="0.2"><joint joint="slide" coef="2"/></fixed>
    <spatial name="cord" range="0 0.4" limited="true" stiffness="30" damping="2" springlength="0.05 0.1">
      <site site="sky"/><site site="a"/><site site="b"/><pulley divisor="2"/><site site="hook"/><site site="c"/></spatial>
    <spatial name="string"><site site="sky"/><site site="hook"/></spatial>
  </tendon>
  <equality>
    <tendon name="tied" tendon1="sum" tendon2="one" polycoef="0.02 0.7 -0.1 0.05 0.01"/>
    <tendon name="length" tendon1="string" polycoef="0.1 0 0 0 0"/>
  </equality>
  <actuator>
    <motor name="thrust" site="rotor" gear="0.1 0.2 1 0.03 -0.02 0.05" ctrlrange="0 2" ctrllimited="true"/>
    <position name="relative" site="c" refsite="a" gear="1 0.5 0.2 0.3 -0.2 0.4" kp="20" kv="2"/>
    <general name="from_sky" site="a" refsite="sky" gear="0.4 0 0.3 0 0 0.1" gainprm="3" biastype="affine" biasprm="1 -2 -0.3"/>
    <motor name="pull" tendon="cord" gear="2" forcerange="-1 1" forcelimited="true"/>
    <position name="bend" joint="elbow" kp="4" dampratio="0.5" gear="1.5" armature="0.03" damping="0.2"/>
    <general name="slow" joint="slide" dyntype="filter" dynprm="0.1" gainprm="3" armature="0.2"/>
    <general name="exact" joint="slide" dyntype="filterexact" dynprm="0.02" gainprm="2" biastype="affine" biasprm="0 -1 -0.1"/>
    <intvelocity name="creep" tendon="one" kp="5" actrange="-0.4 0.6" damping="0.3"/>
    <general name="early" joint="shoulder" gear="0.2 0.1 -0.3" armature="0.5" damping="2" dyntype="filterexact" dynprm="0.05" gainprm="2" actearly="true"/>
  </actuator>
  <keyframe>
    <key name="go" qpos="0 0 1 0.8 0 0.6 0 1 0 0 0 0.3 0.1 0 1 0.5 1 0 0 0" qvel="1 2 3 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0 0 1 0 0 0"
         act="0.1 0.2 0.3 0.4"/>
  </keyframe>
</mujoco>)";

struct Arm {
  ScratchFolder folder;
  Pair pair{folder.write("arm.xml", arm)};
};

}  // namespace

TEST_CASE("mjcf: carried weights, tendons and a fluid act as in MuJoCo") {
  Arm world;
  Pair& pair = world.pair;
  REQUIRE(pair.model->tendons.size() == 4);
  REQUIRE(pair.model->medium.boxes.size() == 6);
  for (const std::string& line : pair.notes.warnings) FAIL_CHECK(line);
  for (int trial = 0; trial < 20; ++trial) {
    pair.randomize();
    CHECK(pair.mass_matrix_error() < 1e-9);
    CHECK(pair.bias_error() < 1e-9);
    CHECK(pair.passive_error() < 1e-9);
    for (int t = 0; t < 4; ++t) {
      const Tendon& tendon = pair.model->tendons[at(t)];
      CHECK(std::abs(tendon_length(*pair.model, tendon, pair.q, *pair.dynamics) - pair.d->ten_length[t]) < 1e-9);
      CHECK(std::abs(tendon_rate(*pair.model, tendon, pair.v, *pair.dynamics) - pair.d->ten_velocity[t]) < 1e-9);
    }
  }
}

TEST_CASE("mjcf: motors at sites, on tendons and with activations give the forces of MuJoCo") {
  Arm world;
  REQUIRE(world.pair.model->members[0].actuators.size() == 9);
  for (int trial = 0; trial < 30; ++trial) {
    world.pair.randomize();
    CHECK(world.pair.actuator_error() < 1e-9);
  }
}

// MuJoCo's own step of its activations, over 50 steps at fixed controls.
TEST_CASE("mjcf: activations go on as MuJoCo's do, and live in the state") {
  Arm world;
  Pair& pair = world.pair;
  mjModel* m = pair.m.get();
  mjData* d = pair.d.get();
  ActuatorOptions options{0, VecX::Constant(m->nu, 0.8), VecX::Zero(m->nu)};
  const auto controller = make_actuators(*pair.model, options);
  REQUIRE(controller->memory() == m->na);
  std::vector<double> memory(at(controller->memory()));
  mj_resetData(m, d);
  std::fill_n(d->ctrl, m->nu, 0.8);
  pair.q = pair.model->members[0].poses.at("default");
  pair.v = VecX::Zero(m->nv);
  pair.dynamics->compute(pair.q, pair.v);
  State state = State::neutral(*pair.model);
  state.q = pair.q;
  state.v = pair.v;
  Actuation a;
  double largest = 0;
  for (int step = 0; step < 50; ++step) {
    mj_step(m, d);
    a.resize(m->nv);
    a.dt = m->opt.timestep;
    controller->control(*pair.model, state, *pair.dynamics, memory, a);
    for (int k = 0; k < m->na; ++k) {
      CHECK(std::abs(memory[at(k)] - d->act[k]) < 1e-12);
      largest = std::max(largest, d->act[k]);
    }
  }
  CHECK(largest > 0.5);  // they moved
}

TEST_CASE("mjcf: limits of ball joints and of tendons, and ties of tendons, are as far off as MuJoCo says") {
  Arm world;
  Pair& pair = world.pair;
  const Model& model = *pair.model;
  const Body& shoulder = model.bodies[at(model.body("r/shoulder"))];
  CHECK(model.joints.upper[shoulder.iv] == 0.9);
  REQUIRE(model.ties.size() == 2);
  int limits = 0;
  for (int trial = 0; trial < 20; ++trial) {
    pair.randomize();
    const mjData* d = pair.d.get();
    auto length = [&](int t) { return tendon_length(model, model.tendons[at(t)], pair.q, *pair.dynamics); };
    for (int r = 0; r < d->nefc; ++r) {
      const int id = d->efc_id[r];
      if (d->efc_type[r] == mjCNSTR_EQUALITY) {
        const TendonTie& tie = model.ties[at(id)];
        double value = tie.polynomial[0];
        for (int k = 1; k < 5 && tie.tendon_b >= 0; ++k)
          value += tie.polynomial[at(k)] * std::pow(length(tie.tendon_b) - tie.center, k);
        CHECK(std::abs(length(tie.tendon_a) - value - d->efc_pos[r]) < 1e-9);
      } else if (d->efc_type[r] == mjCNSTR_LIMIT_TENDON) {
        const Tendon& t = model.tendons[at(id)];
        const double off = std::min(length(id) - t.lower, t.upper - length(id));
        CHECK(std::abs(off - d->efc_pos[r]) < 1e-9);
        ++limits;
      }
    }
  }
  CHECK(limits > 10);
}

TEST_CASE("mjcf: velocities and activations of keyframes") {
  Arm world;
  const Model& model = *world.pair.model;
  const RobotFile& file = *model.members[0].file;
  const VecX& v = file.velocities.at("go");
  // MuJoCo's linear velocity of a free joint is in W; ours in the axes of the body, which is turned about y.
  const Mat3 R = Quat(0.8, 0, 0.6, 0).toRotationMatrix();
  CHECK((v.head<3>() - R.transpose() * Vec3(1, 2, 3)).norm() < 1e-15);
  CHECK((v.segment<3>(3) - Vec3(0.1, 0.2, 0.3)).norm() == 0);
  CHECK(v[10] == 0.8);
  const VecX& act = file.activations.at("go");
  CHECK(act[5] == 0.1);
  CHECK(act[8] == 0.4);
}

// What these say does not hang on the forces of MuJoCo's solver.
TEST_CASE("mjcf: sensors of limits, energies, pulls and zones") {
  ScratchFolder folder;
  std::string text = arm;
  text.insert(text.find("  <keyframe>"), R"(<sensor>
    <jointlimitpos joint="elbow"/><jointlimitvel joint="elbow"/><jointlimitpos joint="shoulder"/><jointlimitvel joint="shoulder"/>
    <tendonlimitpos tendon="sum"/><tendonlimitvel tendon="sum"/><tendonlimitpos tendon="cord"/><tendonlimitvel tendon="cord"/>
    <tendonactuatorfrc tendon="cord"/><tendonactuatorfrc tendon="one"/><e_potential/><e_kinetic/>
    <insidesite objtype="site" objname="c" site="ball"/><insidesite objtype="body" objname="tool" site="can"/>
  </sensor>
)");
  text.replace(text.find("axis=\"0 1 0.2\""), 14,
               "axis=\"0 1 0.2\" limited=\"true\" range=\"-0.5 0.4\" armature=\"0.02\" stiffness=\"3\"");
  text.insert(
      text.find("<body name=\"weight\""),
      R"(<site name="ball" size="1.5"/><site name="can" type="cylinder" size="0.8 2" pos="0 0 0.5" euler="0.4 0 0"/>
    <body name="stone" pos="0 0 3"><geom size="0.1" mass="4"/></body>)");
  Pair pair(folder.write("arm.xml", text));
  for (const std::string& line : pair.notes.warnings) FAIL_CHECK(line);
  mjModel* m = pair.m.get();
  const Member& member = pair.model->members[0];
  REQUIRE(member.file->sensors.size() == at(static_cast<int>(m->nsensor)));
  VecX most = VecX::Zero(m->nsensor), least = VecX::Zero(m->nsensor);
  for (int trial = 0; trial < 30; ++trial) {
    pair.randomize();
    for (int u = 0; u < m->nu; ++u) pair.d->ctrl[u] = pair.draw(1);
    mj_forward(m, pair.d.get());
    const VecX zero = VecX::Zero(m->nv), force = Eigen::Map<VecX>(pair.d->actuator_force, m->nactuator);
    const SensorInstant now{*pair.model, *pair.dynamics, pair.q, pair.v, {}, zero, {}, force, zero};
    for (int s = 0; s < m->nsensor; ++s) {
      CAPTURE(s);
      double value = 0;
      read_sensor(member.file->sensors[at(s)], member, now, &value);
      const double theirs = pair.d->sensordata[m->sensor_adr[s]];
      CHECK(value == doctest::Approx(theirs).epsilon(1e-9));
      most[s] = std::max(most[s], theirs);
      least[s] = std::min(least[s], theirs);
    }
  }
  CHECK((most - least).minCoeff() > 0.01);  // each had something to say
}

// The forces of MuJoCo's own constraint solver stay out: nothing touches, no limit is near.
TEST_CASE("mjcf: accelerations of a flying arm are MuJoCo's to the order of the step") {
  Arm world;
  Pair& pair = world.pair;
  mjModel* m = pair.m.get();
  m->opt.disableflags |= mjDSBL_EQUALITY | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_CONTACT | mjDSBL_ACTUATION;
  std::fill_n(m->jnt_actgravcomp, m->njnt, 0);  // else no actuation would mean no compensation
  auto model = std::make_shared<Model>(*pair.model);
  model->ties.clear();
  for (Tendon& t : model->tendons) {
    t.lower = -1e9;
    t.upper = 1e9;
    t.friction = 0;
  }
  model->joints.upper.setConstant(1e9);
  for (int trial = 0; trial < 5; ++trial) {
    pair.randomize();
    mj_forward(m, pair.d.get());
    const double dt = 1e-6;
    Simulation sim(model, "rigid", {}, dt);
    State state = sim.state();
    state.q = pair.q;
    state.v = pair.v;
    sim.set_state(state);
    sim.step();
    const MatX T = pair.velocity_map();
    VecX a = (sim.state().v - pair.v) / dt;  // of the free joints: v' is in the axes at the end
    for (const Body& b : model->bodies)
      if (b.joint == JointKind::Free)
        a.segment<3>(b.iv) += Vec3(pair.v.segment<3>(b.iv + 3)).cross(Vec3(pair.v.segment<3>(b.iv)));
    const VecX theirs = Eigen::Map<VecX>(pair.d->qacc, m->nv);
    CHECK((T * a - theirs).norm() < 1e-3 * theirs.norm());
  }
}

// Every kind that is read, in flight: MuJoCo's accelerations go in, its sensordata must come out.
TEST_CASE("mjcf: sensors say what MuJoCo's say where nothing touches") {
  ScratchFolder folder;
  std::string text = arm;
  text.insert(text.find("  <keyframe>"), R"(<sensor>
    <jointpos name="s1" joint="elbow" cutoff="0.8"/><jointvel joint="slide"/><jointactuatorfrc joint="elbow"/>
    <ballquat joint="shoulder"/><ballangvel joint="shoulder"/>
    <tendonpos tendon="sum"/><tendonvel tendon="cord"/>
    <actuatorpos actuator="relative"/><actuatorvel actuator="relative"/><actuatorpos actuator="early"/><actuatorfrc actuator="bend"/>
    <velocimeter site="b"/><gyro site="b"/><accelerometer site="b"/><accelerometer site="rotor" cutoff="3"/><magnetometer site="b"/>
    <force site="b"/><torque site="b"/><force site="rotor"/><torque site="c"/>
    <framepos objtype="body" objname="tool"/><framepos objtype="site" objname="c" reftype="xbody" refname="upper"/>
    <framequat objtype="xbody" objname="tool"/><framequat objtype="body" objname="fore" reftype="site" refname="rotor"/>
    <framexaxis objtype="site" objname="b"/><frameyaxis objtype="site" objname="b" reftype="body" refname="weight"/><framezaxis objtype="xbody" objname="fore"/>
    <framelinvel objtype="body" objname="tool"/><framelinvel objtype="site" objname="c" reftype="site" refname="a"/>
    <frameangvel objtype="body" objname="tool"/><frameangvel objtype="site" objname="c" reftype="site" refname="a"/>
    <framelinacc objtype="body" objname="tool"/><frameangacc objtype="body" objname="tool"/>
    <subtreecom body="upper"/><subtreelinvel body="upper"/><subtreeangmom body="upper"/><subtreecom body="tool"/>
    <clock/><touch site="b"/><framepos objtype="site" objname="sky"/>
  </sensor>
)");
  Pair pair(folder.write("arm.xml", text));
  mjModel* m = pair.m.get();
  m->opt.disableflags |= mjDSBL_EQUALITY | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_CONTACT;
  const Member& member = pair.model->members[0];
  REQUIRE(member.file->sensors.size() == at(static_cast<int>(m->nsensor)));
  for (int trial = 0; trial < 10; ++trial) {
    pair.randomize();
    for (int u = 0; u < m->nu; ++u) pair.d->ctrl[u] = pair.draw(1);
    mj_forward(m, pair.d.get());
    const MatX T = pair.velocity_map();
    const VecX vdot = T.transpose() * Eigen::Map<VecX>(pair.d->qacc, m->nv);
    const VecX force = Eigen::Map<VecX>(pair.d->actuator_force, m->nactuator);
    const VecX torque = T.transpose() * Eigen::Map<VecX>(pair.d->qfrc_actuator, m->nv);
    const SensorInstant now{*pair.model, *pair.dynamics, pair.q, pair.v, {pair.d->time, {}}, vdot, {}, force, torque};
    for (int s = 0; s < m->nsensor; ++s) {
      const FileSensor& sensor = member.file->sensors[at(s)];
      INFO("sensor " << s << " of type " << m->sensor_type[s]);
      REQUIRE(sensor.size == m->sensor_dim[s]);
      VecX value(sensor.size);
      read_sensor(sensor, member, now, value.data());
      VecX theirs = Eigen::Map<VecX>(pair.d->sensordata + m->sensor_adr[s], sensor.size);
      if (sensor.size == 4 && theirs.dot(value) < 0) theirs = -theirs;  // the same turn
      CHECK((value - theirs).norm() < 1e-9 * (1 + theirs.norm()));
    }
  }
}
#endif
