// Contacts without friction or with no end of it, boxes that touch exactly, drives without effort.
#include <doctest/doctest.h>

#include <random>

#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

Push force(int body, const Vec3& f, double start) {
  Push push;
  push.body = body;
  push.force = push.force_end = f;
  push.start = start;
  push.duration = 1e3;
  return push;
}

double kinetic(const Simulation& s, int objects, double mass) {
  double sum = 0;
  for (int k = 0; k < objects; ++k) sum += 0.5 * mass * velocity(s, k).squaredNorm();
  return sum;
}

// Steps that end with an approach or a pull of order 1 must not be called good.
void check_honest(const StepReport& report) {
  CHECK((report.status != StepStatus::Ok || report.laws.signorini < 1e-3));
}

}  // namespace

TEST_CASE("a ball pulled up with three times its weight rises at 2 g: every solver, every model, every mu") {
  const double g = 9.81, dt = 1e-3, radius = 0.02, mass = 0.2;
  for (const SolverEntry& entry : contact_solvers())
    for (const ContactModel model : entry.models)
      for (const double mu : {0.0, 1e-12, 1e-6, 1.0, 1e6}) {
        const std::string name = entry.name + " " + to_string(model);
        CAPTURE(name);
        CAPTURE(mu);
        StepperOptions options;
        options.contact.solver = entry.name;
        options.contact.model = to_string(model);
        auto s = World(friction(mu)).ground().sphere(radius, mass, {0, 0, radius}).simulate(dt, options);
        const int rest = 20;
        s.add_push(force(0, {0, 0, 3 * mass * g}, (rest - 0.5) * dt));
        for (int k = 0; k < rest; ++k) check_honest(s.step());
        const double v0 = velocity(s).z(), z0 = position(s).z();
        if (!entry.name.starts_with("primal-newton")) CHECK(std::abs(v0) < 1e-7);  // these sink by their own R
        const int n = 100;
        for (int k = 0; k < n; ++k) check_honest(s.step());
        const double v = velocity(s).z(), most = v0 + 2 * g * n * dt;
        CHECK(v == doctest::Approx(most).epsilon(1e-3));  // recovery of what sank may take part of a step
        if (entry.name.starts_with("primal-newton")) continue;
        CHECK(v == doctest::Approx(2 * g * n * dt).epsilon(1e-9));
        CHECK(position(s).z() - z0 == doctest::Approx(g * dt * dt * n * (n + 1)).epsilon(1e-6));
        CHECK(velocity(s).head<2>().norm() < 1e-9);
      }
}

TEST_CASE("a cradle without friction does not gain energy, and keeps its momentum") {
  const double radius = 0.02, mass = 0.1;
  for (const double gap : {0.0, 1e-3})
    for (const double restitution : {0.0, 0.5, 1.0}) {
      World world(friction(0, restitution));
      world.gravity(Vec3::Zero());
      for (int k = 0; k < 5; ++k)
        world.sphere(radius, mass, {k * (2 * radius + gap) - (k == 0 ? 0.01 : 0), 0, 0}, {k == 0 ? 1.0 : 0, 0, 0});
      auto s = world.simulate(1e-3);
      double energy = kinetic(s, 5, mass);
      for (int k = 0; k < 200; ++k) {
        check_honest(s.step());
        const double now = kinetic(s, 5, mass);
        CHECK(now <= energy * (1 + 1e-9));
        energy = now;
      }
      double momentum = 0;
      for (int k = 0; k < 5; ++k) momentum += mass * velocity(s, k).x();
      CAPTURE(gap);
      CAPTURE(restitution);
      CHECK(momentum == doctest::Approx(mass).epsilon(1e-9));
      CHECK(s.audit().unconverged == 0);
    }
}

TEST_CASE("balls in a box without friction: overlap is recovered, and no energy is gained") {
  // Recovery is a problem with mu = 0 of its own: it must push only.
  World world(friction(0));
  world.ground();
  for (int k = 0; k < 6; ++k) world.sphere(0.05, 0.3, {0.002 * k, 0.001 * k, 0.049 + 0.098 * k});
  auto s = world.simulate(1e-3);
  double deepest = 0;
  for (int k = 0; k < 500; ++k) {
    const StepReport report = s.step();
    check_honest(report);
    if (k > 300) deepest = std::max(deepest, report.penetration);
  }
  CHECK(deepest < 1e-3);
  CHECK(s.audit().ledger_error < 1e-9);
}

TEST_CASE("a flush box gripped with 100 N between two pads does not turn") {
  // Pads of 3 cm on either side of a longer box, at random places along it: the common faces are known, the pressure's
  // centre is the middle of both, so nothing turns. Frictionless and sticking alike.
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const double mu : {0.0, 0.5})
    for (int trial = 0; trial < 40; ++trial) {
      const double y = 0.02 * u(rng), z = 0.004 * u(rng), half = 0.015 + 0.001 * u(rng), pad = 0.005 + 0.001 * u(rng);
      World world(friction(mu));
      world.gravity(Vec3::Zero());
      world.box({half, 0.04, 0.02}, 0.045, {0, 0, 0.3});
      world.box({pad, 0.015, 0.012}, 0.1, {half + pad, y, 0.3 + z});
      world.box({pad, 0.015, 0.012}, 0.1, {-half - pad, y, 0.3 + z});
      auto s = world.simulate(1e-3);
      s.add_push(force(1, {-100, 0, 0}, -1));
      s.add_push(force(2, {100, 0, 0}, -1));
      double penetration = 0;
      for (int k = 0; k < 20; ++k) penetration = std::max(penetration, s.step().penetration);
      CAPTURE(mu);
      CAPTURE(trial);
      const VecX& q = s.state().q;
      CHECK(q.segment<3>(3).norm() < 1e-7);  // half the angle of the box
      CHECK((q.head<3>() - Vec3(0, 0, 0.3)).norm() < 1e-7);
      CHECK(penetration < 1e-7);
    }
}

namespace {

const std::string links = R"(
[ground]
none = true
[robot]
name = "arm"
[[robot.link]]
name = "upper"
axis = [0.0, 1.0, 0.0]
shape = "box"
size = [0.05, 0.05, 0.5]
com = [0.0, 0.0, -0.25]
mass = 1.0
angle = 1.2
effort_limit = EFFORT
RANGE
collide = false
[[robot.link]]
name = "lower"
axis = [0.0, 1.0, 0.0]
position = [0.0, 0.0, -0.5]
shape = "box"
size = [0.05, 0.05, 0.5]
com = [0.0, 0.0, -0.25]
mass = 1.0
effort_limit = EFFORT
collide = false
)";
void replace_all(std::string& text, const std::string& word, const std::string& with) {
  for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), with);
}

Simulation arm(const std::string& effort, const std::string& rest, const std::string& range = "range = [-2.0, 2.0]") {
  std::string text = links;
  replace_all(text, "EFFORT", effort);
  replace_all(text, "RANGE", range);
  return make_simulation(parse_scene(text + rest, "arm.toml"));
}

}  // namespace

TEST_CASE("joints without motors: a drive of no effort is a known torque of zero") {
  const std::string pd = "[controller]\nname = \"pd\"\nkp = 50.0\nkd = 2.0\n";
  const std::string target = "[controller]\nname = \"velocity-constraint\"\njoints = {upper = 0.5, lower = -0.2}\n";
  Simulation free = arm("0.0", "");
  std::vector<Simulation> driven;
  driven.push_back(arm("0.0", pd));
  driven.push_back(arm("10.0", target + "effort = 0.0\n"));
  for (int k = 0; k < 1000; ++k) {
    free.step();
    for (Simulation& s : driven) s.step();
  }
  CHECK(free.audit().unconverged == 0);
  for (std::size_t k = 0; k < driven.size(); ++k) {
    CAPTURE(k);
    CHECK(driven[k].audit().unconverged == 0);
    CHECK((driven[k].state().q - free.state().q).norm() < 1e-9);
    CHECK(driven[k].torque().isZero(0));
  }
}

TEST_CASE("a joint whose limits coincide stands still, whatever hangs on it") {
  Simulation s = arm("0.0", "", "range = [1.2, 1.2]");
  for (int k = 0; k < 1000; ++k) {
    check_honest(s.step());
    CHECK(std::abs(s.state().q[0] - 1.2) < 1e-6);
  }
  CHECK(s.audit().unconverged + s.audit().infeasible == 0);
  CHECK(std::abs(s.state().v[1]) > 1e-3);  // the lower one swings
}

TEST_CASE("joints without motors beside contacts: every step is solved, and goes as without a drive") {
  const std::string rod = R"(
[robot]
name = "rod"
[[robot.link]]
name = "foot"
joint = "free"
position = [0.0, 0.0, 0.011]
shape = "box"
size = [0.1, 0.1, 0.02]
mass = 0.1
[[robot.link]]
name = "stick"
axis = [0.0, 1.0, 0.0]
position = [0.0, 0.0, 0.02]
shape = "box"
size = [0.02, 0.02, 0.2]
com = [0.0, 0.0, 0.1]
mass = 0.3
angle = 0.5
range = [-3.0, 3.0]
effort_limit = 0.0
)";
  for (const std::string gains : {"kp = 100.0\nkd = 1.0\n", "kp = 1000.0\nkd = 10.0\n"}) {
    Simulation free = make_simulation(parse_scene(rod, "rod.toml"));
    Simulation driven = make_simulation(parse_scene(rod + "[controller]\nname = \"pd\"\n" + gains, "rod.toml"));
    for (int k = 0; k < 1000; ++k) {
      free.step();
      driven.step();
    }
    CAPTURE(gains);
    CHECK(driven.audit().unconverged + driven.audit().infeasible == 0);
    CHECK((driven.state().q.array() == free.state().q.array()).all());
    CHECK(driven.torque().isZero(0));
  }
}

TEST_CASE("double_pendulum of the example robots, whose URDF says effort = 0: every step is solved") {
  Simulation s = make_simulation(parse_scene("[robot]\nmodel = \"double_pendulum\"\n", "pendulum.toml"));
  for (int k = 0; k < 1000; ++k) s.step();
  CHECK(s.audit().unconverged == 0);
  CHECK(s.audit().infeasible == 0);
}
