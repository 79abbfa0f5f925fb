// C and D beside central differences of y, which is read from the end of steps from states beside; and forces in closed form.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

/// Largest error of C, of the largest entry of the row or of 1.
double error_of(Simulation& simulation, const Linearization& lin, double h) {
  const State kept = simulation.state();
  const Model& model = simulation.model();
  Linearization beside;
  static_cast<LinearizationRequest&>(beside) = lin;
  double worst = 0;
  MatX other = MatX::Zero(lin.C.rows(), 2 * model.nv);
  for (int j = 0; j < 2 * model.nv; ++j)
    for (const auto& [share, weight] :
         {std::pair(1.0, -1.0 / 6), std::pair(-1.0, 1.0 / 6), std::pair(0.5, 4.0 / 3), std::pair(-0.5, -4.0 / 3)}) {
      State state = kept;
      VecX d = VecX::Zero(model.nv);
      if (j < model.nv)
        d[j] = share * h;
      else
        state.v[j - model.nv] += share * h;
      integrate(model, d, 1, state.q);
      simulation.set_state(state);
      simulation.linearize(beside);
      REQUIRE(beside.y.size() == lin.y.size());
      other.col(j) += weight / h * beside.y;
    }
  simulation.set_state(kept);
  for (int i = 0; i < lin.C.rows(); ++i) {
    if (!lin.rows[at(i)].unique) continue;
    const double scale = std::max(1.0, other.row(i).cwiseAbs().maxCoeff());
    worst = std::max(worst, (lin.C - other).row(i).cwiseAbs().maxCoeff() / scale);
  }
  return worst;
}

Simulation standing(const std::string& name, const std::string& stepper, double down) {
  Scene scene = load_scene(TRIBO_SCENES "/" + name + ".toml");
  scene.set_stepper(stepper);
  scene.stepper_options.contact.tolerance.rel = 1e-12;
  Simulation simulation = make_simulation(scene);
  worlds::run(simulation, 0.3);
  State state = simulation.state();
  Random random;
  for (int k = 0; k < simulation.model().nv; ++k) state.v[k] += 2e-3 * (2 * random.uniform() - 1);
  for (const Body& b : simulation.model().bodies)
    if (b.joint == JointKind::Free) state.q[b.iq + 2] -= down;
  simulation.set_state(state);
  return simulation;
}

}  // namespace

TEST_CASE("sensors: inertial units, joints and contact forces of rigid and compliant steps") {
  for (const auto& [stepper, h] :
       {std::pair("rigid", 1e-5), std::pair("implicit-euler", 1e-7), std::pair("exponential", 1e-6)}) {
    CAPTURE(stepper);
    Simulation simulation = standing("solo-standing", stepper, 4e-5);
    const Model& model = simulation.model();
    Linearization lin;
    lin.sensors = {"accelerometer:" + model.bodies[0].name,  "gyroscope:" + model.bodies[0].name,
                   "accelerometer:" + model.bodies[12].name, "position:" + model.bodies[3].name,
                   "velocity:" + model.bodies[5].name,       "contacts"};
    simulation.linearize(lin);
    CHECK(std::string(lin.sensors_reason).empty());
    REQUIRE(lin.C.rows() == 9 + 2 + 12);
    CHECK(lin.D.rows() == lin.C.rows());
    CHECK(lin.D.cols() == 12);
    CHECK(lin.row_name(1) == "accelerometer:" + model.bodies[0].name + ".y");
    CHECK(lin.row_name(9) == "position:" + model.bodies[3].name);
    CHECK(error_of(simulation, lin, h) < 1e-6);
    // What the forces do beside the inputs: the accelerations have both in D.
    const VecX row = lin.D.row(10);
    CHECK((row - VecX(lin.B.row(model.nv + model.bodies[5].iv))).norm() == 0);
  }
}

TEST_CASE("sensors: forces that are not unique are flagged, and their sum is") {
  // A box at rest on four corners: 12 forces of rank 6. The whole normal force is m (g - v_z/dt).
  const double dt = 1e-3, m = 2;
  auto simulation = worlds::World(worlds::friction(0.8)).ground().box({0.1, 0.1, 0.1}, m, {0, 0, 0.1}).simulate(dt);
  simulation.step();
  Linearization lin;
  lin.sensors = {"contacts"};
  simulation.linearize(lin);
  REQUIRE(lin.C.rows() == 12);
  VecX sum = VecX::Zero(12);
  for (int i = 0; i < 12; ++i) {
    CHECK(!lin.rows[at(i)].unique);
    if (lin.rows[at(i)].component == 2) sum += lin.C.row(i);
  }
  CHECK(sum[8] == doctest::Approx(-m / dt).epsilon(1e-9));
  for (int k : {6, 7, 9, 10, 11}) CHECK(std::abs(sum[k]) < 1e-6 * m / dt);
  for (int i = 2; i < 12; i += 3)
    CHECK(lin.C(i, 8) == doctest::Approx(-m / dt / 4).epsilon(1e-6));  // least change: evenly
}

TEST_CASE("sensors: by parameters, and of a stepper without a derivative") {
  // A ball that slides under F = mu m g: the force of friction is -mu m g, so that d/d mu = -m g, d/d m = -mu g.
  const double dt = 1e-3, m = 2, mu = 0.3;
  auto simulation = worlds::World(worlds::friction(mu)).ground().sphere(0.1, m, {0, 0, 0.1}, {1, 0, 0}).simulate(dt);
  simulation.step();
  Linearization lin;
  lin.sensors = {"contacts"};
  lin.parameters = {"friction:surface", "mass:object0"};
  simulation.linearize(lin);
  REQUIRE(lin.E.rows() == 3);
  CHECK(lin.E(0, 0) == doctest::Approx(-m * 9.81).epsilon(1e-6));
  CHECK(lin.E(0, 1) == doctest::Approx(-mu * 9.81).epsilon(1e-6));
  CHECK(lin.E(2, 1) == doctest::Approx(9.81).epsilon(1e-6));
  auto explicitly =
      worlds::World(worlds::friction(mu)).ground().sphere(0.1, m, {0, 0, 1}).simulate(dt, {}, "explicit-euler");
  Linearization other;
  other.sensors = {"gyroscope:object0"};
  explicitly.linearize(other);
  CHECK(!std::string(other.sensors_reason).empty());
  CHECK(other.C.rows() == 3);
  CHECK(other.C(0, 9) == doctest::Approx(1).epsilon(1e-6));
  for (const char* wrong : {"rangefinder:object0", "touch:object0", "position:object0", "gyroscope", "force:cheese"}) {
    other.sensors = {wrong};
    CHECK_THROWS_AS(explicitly.linearize(other), InvalidInput);
  }
}
