// Slopes by parameters beside differences of steps of changed models, which know nothing of their equations; and closed forms.
// Relative to the largest entry of all parameters of a kind; slopes of velocities below 1e-2, and of places below 0.1 dt, count as
// that large: below is the rounding of the differences.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>

#include "derivatives/parameters.hpp"
#include "slopes.hpp"
#include "tribo/batch.hpp"
#include "tribo/linearization.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

/// Those of a body and its joint.
std::vector<std::string> of_body(const Model& model, int b) {
  const std::string& name = model.bodies[at(b)].name;
  std::vector<std::string> names;
  for (const char* kind : {"mass:", "armature:", "damping:", "kp:", "kd:", "dry_friction:"}) {
    const bool joint = kind[0] != 'm';
    if (!joint || nv_of(model.bodies[at(b)].joint) == 1) names.push_back(kind + name);
  }
  for (const char* axis : {":x", ":y", ":z"}) names.push_back("com:" + name + axis);
  for (const char* axes : {":xx", ":yy", ":zz", ":xy", ":xz", ":yz"}) names.push_back("inertia:" + name + axes);
  return names;
}

struct Compared {
  int analytic = 0, slips = 0;
};

/// All analytic parameters of a step.
Compared compare(Simulation& simulation, const std::vector<std::string>& names, double tolerance = 1e-6) {
  Compared seen;
  Linearization lin;
  for (const std::string& name : names) {
    lin.parameters.push_back(name);
    simulation.linearize(lin);
    if (*lin.parameters_reason != 0) lin.parameters.pop_back();
  }
  simulation.linearize(lin);
  REQUIRE(lin.method == Linearization::Method::Analytic);
  REQUIRE(*lin.parameters_reason == 0);
  REQUIRE(lin.unique);
  for (const LinearizedContact& c : lin.contacts) seen.slips += c.mode == ContactMode::Slip;
  seen.analytic = static_cast<int>(lin.parameters.size());
  const MatX other = simulation.parameter_slopes(lin.parameters, true);
  const int nv = simulation.model().nv;
  std::map<std::string, std::array<double, 2>> largest;
  const auto kind = [&](int c) { return lin.parameters[at(c)].substr(0, lin.parameters[at(c)].find(':')); };
  for (int c = 0; c < seen.analytic; ++c)
    for (int r = 0; r < 2; ++r) {
      double& most = largest[kind(c)][at(r)];
      most = std::max(
          {most, other.col(c).segment(r * nv, nv).cwiseAbs().maxCoeff(), r == 0 ? 0.1 * simulation.dt() : 1e-2});
    }
  for (int c = 0; c < seen.analytic; ++c)
    for (int r = 0; r < 2; ++r) {
      CAPTURE(lin.parameters[at(c)]);
      CAPTURE(r);
      const int dof = parse_parameter(simulation.model(), lin.parameters[at(c)]).first_dof;
      // From next to 0 upwards: places are rounding, and velocities of order h^3.
      const bool one_sided = kind(c) == "armature" && simulation.model().joints.armature[dof] < 1e-3;
      if (one_sided && r == 0) continue;
      const double most = (one_sided ? 10 : 1) * tolerance;
      CHECK((lin.P - other).col(c).segment(r * nv, nv).cwiseAbs().maxCoeff() < most * largest[kind(c)][at(r)]);
    }
  return seen;
}

Compared compare_scene(const std::string& name, const std::string& stepper, double time, double size, double down,
                       double armature = 0) {
  CAPTURE(name);
  CAPTURE(stepper);
  Scene scene = load_scene(TRIBO_SCENES "/" + name + ".toml");
  scene.set_stepper(stepper);
  ModelChanges rotors;
  for (const Body& b : scene.model->bodies)
    if (armature > 0 && nv_of(b.joint) == 1) rotors.armature[b.iv] = armature;
  if (armature > 0) {
    scene.model = std::make_shared<const Model>(changed(*scene.model, rotors));
    scene.start.model = scene.model->hash();
  }
  scene.stepper_options.contact.tolerance.rel = 1e-12;
  Simulation simulation = make_simulation(scene);
  worlds::run(simulation, time);
  Random random;
  slopes::disturb(simulation, random, size, down);
  const int last = static_cast<int>(simulation.model().bodies.size()) - 1;
  std::vector<std::string> names = of_body(simulation.model(), 0);
  for (int b : {(last + 1) / 2 - 1, last - 1, last})
    if (b > 0)
      for (const std::string& other : of_body(simulation.model(), b))
        if (std::find(names.begin(), names.end(), other) == names.end()) names.push_back(other);
  for (const Material& m : simulation.model().materials) names.push_back("friction:" + m.name);
  if (stepper != "exponential") return compare(simulation, names);
  // Its polynomials end at 1e-9 of the forces, which differences of steps magnify; where there is no armature, those on one
  // side more: with rotors they are right.
  if (armature == 0) std::erase_if(names, [](const std::string& name) { return name.starts_with("armature"); });
  return compare(simulation, names, 2e-5);
}

}  // namespace

TEST_CASE("parameters: rigid scenes") {
  CHECK(compare_scene("ur10", "rigid", 0.1, 1e-3, 0).analytic > 30);
  CHECK(compare_scene("double-pendulum", "rigid", 0.2, 0, 0).analytic > 10);
  CHECK(compare_scene("free-fall", "rigid", 0.01, 1e-3, 0).analytic == 11);
  CHECK(compare_scene("solo-standing", "rigid", 0.3, 2e-5, 4e-5).slips > 0);
  CHECK(compare_scene("allegro-ball", "rigid", 0.2, 2e-5, 0).slips > 0);
  CHECK(compare_scene("talos-standing", "rigid", 0.1, 2e-5, 4e-5).analytic > 20);
  CHECK(compare_scene("ur10-geared", "rigid", 0.2, 1e-3, 0).analytic > 25);
}

// The bias of the step was found with the gains of drives that are rows in the end.
TEST_CASE("parameters: drives that reach their limits within the step, of an arm that turns") {
  const Scene scene = load_scene(TRIBO_SCENES "/ur10.toml");
  Simulation simulation = make_simulation(scene), beside = make_simulation(scene);
  for (Simulation* s : {&simulation, &beside}) {
    Random random;
    slopes::disturb(*s, random, 0.1, 0);
  }
  beside.step();
  std::vector<std::string> names;
  int limited = 0;
  for (int b = 0; b < beside.model().nv; ++b) {
    limited += std::abs(beside.torque()[b]) == beside.model().joints.effort_limit[b];
    for (const std::string& name : of_body(beside.model(), b))
      if (name.starts_with("k") || name.starts_with("mass") || name.starts_with("damping")) names.push_back(name);
  }
  CHECK((limited > 0 && limited < 6));
  CHECK(compare(simulation, names).analytic == 24);
}

TEST_CASE("parameters: compliant scenes") {
  CHECK(compare_scene("ur10", "implicit-euler", 0.1, 1e-3, 0).analytic > 25);
  CHECK(compare_scene("solo-standing", "implicit-euler", 0.3, 2e-5, 4e-5).slips > 0);
  CHECK(compare_scene("cube-slide", "implicit-euler", 0.05, 1e-5, 4e-5).slips == 4);
  CHECK(compare_scene("cube-slide", "exponential", 0.05, 1e-5, 4e-5).slips > 0);
  CHECK(compare_scene("solo-standing", "exponential", 0.3, 2e-5, 4e-5).slips > 0);
  CHECK(compare_scene("solo-standing", "exponential", 0.3, 2e-5, 4e-5, 1e-3).slips > 0);
}

TEST_CASE("parameters: a floating tree in the air keeps its momenta, whatever its masses are") {
  const auto model = slopes::chain(worlds::friction(0.6), [](JointProperties& p) {
    for (int k = 6; k < 11; ++k) {
      p.damping[k] = 2;
      p.stiffness[k] = 30;
      p.armature[k] = k % 2 != 0 ? 0.02 : 1e-5;  // the whole of (flight.9), and half of a rotor
    }
  });
  auto simulation = Simulation(model, "rigid", {}, 1e-2);
  State state = simulation.state();
  for (int k = 0; k < simulation.model().nv; ++k) state.v[k] = 0.7 * std::sin(1.0 + 2 * k);
  integrate(simulation.model(), 0.3 * state.v, 1, state.q);
  state.q[2] += 5;
  simulation.set_state(state);
  std::vector<std::string> names;
  for (int b = 0; b < 4; ++b)
    for (const std::string& name : of_body(simulation.model(), b)) names.push_back(name);
  CHECK(compare(simulation, names).analytic > 40);
}

TEST_CASE("parameters: a body that turns freely, about no principal axis") {
  auto simulation = worlds::World().box({0.1, 0.2, 0.3}, 2, {0, 0, 3}, {1, 2, 3}, {4, -5, 6}).simulate(1e-2);
  CHECK(compare(simulation, of_body(simulation.model(), 0)).analytic == 10);
}

TEST_CASE("parameters: what has no analytic slope says so") {
  Scene scene = load_scene(TRIBO_SCENES "/ur10.toml");
  Simulation simulation = make_simulation(scene);
  worlds::run(simulation, 0.1);
  const std::string joint = simulation.model().bodies[2].name;
  Linearization lin;
  lin.parameters = {"dry_friction:" + joint};
  simulation.linearize(lin);
  CHECK(std::string(lin.parameters_reason) == "dry friction of a joint that has none");
  CHECK(lin.method == Linearization::Method::Analytic);
  CHECK(lin.P.cols() == 1);
  for (const char* wrong : {"colour:x", "com:wrist", "inertia:x", "friction:cheese", "mass"}) {
    lin.parameters = {wrong};
    CHECK_THROWS_AS(simulation.linearize(lin), InvalidInput);
  }
}

TEST_CASE("parameters: closed forms of a sliding box") {
  // dv_x/d mu = -g dt, in axes that turn with the ball by 1e-3; of a push F, dv/dm = -F dt/m^2.
  const double dt = 1e-3, m = 2;
  auto simulation = worlds::World(worlds::friction(0.3)).ground().sphere(0.1, m, {0, 0, 0.1}, {1, 0, 0}).simulate(dt);
  simulation.step();
  CHECK(simulation.parameter_slopes({"friction:surface"})(6, 0) == doctest::Approx(-9.81 * dt).epsilon(1e-5));
  auto pushed = worlds::World().box({0.1, 0.1, 0.1}, m, {0, 0, 1}).simulate(dt);
  PushRequest push;
  push.where = "object0";
  push.force = Vec3(3, 0, 0);
  push.duration = 1;
  pushed.add_push(make_push(pushed.model(), push));
  CHECK(pushed.parameter_slopes({"mass:object0"})(6, 0) == doctest::Approx(-3 * dt / (m * m)).epsilon(1e-12));
}

TEST_CASE("parameters: a batch has those of each world, and the state's own slopes stay") {
  const Scene scene = load_scene(TRIBO_SCENES "/solo-standing.toml");
  Batch batch(scene, 2, 2);
  batch.step(5);
  LinearizationRequest request;
  request.parameters = {"friction:default", "mass:" + scene.model->bodies[0].name};
  const auto with = batch.linearize(request);
  Simulation alone = make_simulation(scene);
  for (int k = 0; k < 5; ++k) alone.step();
  Linearization lin, plain;
  lin.parameters = request.parameters;
  alone.linearize(lin);
  alone.linearize(plain);
  CHECK(with[0].P == lin.P);
  CHECK(with[1].P == lin.P);
  CHECK(lin.P.cwiseAbs().maxCoeff() > 0);
  CHECK((lin.A - plain.A).cwiseAbs().maxCoeff() < 1e-12 * plain.A.cwiseAbs().maxCoeff());
  const VecX w = VecX::Ones(lin.A.rows());
  CHECK((lin.vjp(w).tail(2) - lin.P.transpose() * w).norm() == 0);
}
