// A project of its own that uses the installed library, with a controller, a law of contact, a solver and a stepper of
// its own: each is one file of examples/cpp, and registers itself. They are run from the text of scenes.
#include <cmath>
#include <cstdio>
#include <string>
#include <tribo/contact_law.hpp>
#include <tribo/scene.hpp>

namespace {

using namespace tribo;

int failures = 0;

void check(bool good, const char* what, double value) {
  std::printf("%s %s: %.9g\n", good ? "ok  " : "FAIL", what, value);
  failures += !good;
}

template <class Table>
bool lists(const Table& table, const std::string& name) {
  for (const auto& entry : table)
    if (entry.name == name) return true;
  return false;
}

Simulation run(const std::string& text, double duration) {
  Simulation simulation = make_simulation(parse_scene(text, "consumer.toml"));
  while (simulation.state().t < duration - 1e-9) simulation.step();
  return simulation;
}

const std::string box = "[[object]]\nname = 'box'\nmass = 2.0\nsize = 0.2\nposition = [0, 0, 0.1]\n";
const std::string pendulum =
    "[ground]\nnone = true\n[robot]\nname = 'arm'\n[[robot.link]]\njoint = 'revolute'\naxis = [0, 1, "
    "0]\n"
    "mass = 1.0\ncom = [0, 0, -0.5]\nangle = 1.0\neffort_limit = 100.0\nshape = 'sphere'\nradius = 0.05\n";

}  // namespace

int main() {
  check(lists(controllers(), "weightless") && lists(contact_laws(), "stiffening") && lists(contact_solvers(), "sor") &&
            lists(steppers(), "penalty"),
        "all four are listed", 4);
  const std::string page = option_page();
  for (const char* key : {"stiffening_depth", "omega", "penalty_stiffness", "weightless"})
    check(page.find(key) != std::string::npos, "the page of options names it", 1);

  // A ball falls for a second: g t, exact for a constant force.
  ModelBuilder builder;
  builder.add_object("ball", ShapeKind::Sphere, {0.1, 0, 0}, 1.0, builder.add_material({}));
  Simulation ball(std::make_shared<const Model>(builder.build()), "penalty", {}, 1e-3);
  for (int i = 0; i < 1000; ++i) ball.step();
  check(std::abs(ball.state().v[2] + 9.81) < 1e-9, "stepper: speed of a fall [m/s]", ball.state().v[2]);

  // Four corners carry the box: 4 K d = m g.
  const Simulation sunk = run(box + "[stepper]\nname = 'penalty'\npenalty_stiffness = 2e4\n", 3);
  const double depth = 0.1 - sunk.state().q[2];
  check(std::abs(depth / (2 * 9.81 / 8e4) - 1) < 1e-6, "stepper: depth of a box at rest [m]", depth);
  check(sunk.audit().ledger_error < 1e-9, "stepper: error of the energy balance", sunk.audit().ledger_error);

  // 4 K d (1 + d / d0) = m g.
  const Simulation pressed = run(box +
                                     "[stepper]\nname = 'implicit-euler'\nlaw = 'stiffening'\nstiffening_depth = 1e-4\n"
                                     "[material.default]\nstiffness = 2e4\ndamping = 100.0\n",
                                 3);
  const double wanted = 0.5e-4 * (std::sqrt(1 + 4 * 2 * 9.81 / (8e4 * 1e-4)) - 1), is = 0.1 - pressed.state().q[2];
  check(std::abs(is / wanted - 1) < 1e-6, "law: depth of a box at rest [m]", is);

  // A box that rests, by sweeps: forces are its weight.
  const Simulation rests = run(box + "[contact]\nmodel = 'ccp'\nsolver = 'sor'\nomega = 0.8\ntolerance = 1e-6\n", 0.5);
  double weight = 0;
  for (const ContactReport& c : rests.contacts()) weight += c.f.z();
  check(std::abs(weight - 2 * 9.81) < 1e-3, "solver: sum of the normal forces [N]", weight);
  check(rests.audit().unconverged == 0, "solver: steps that did not converge",
        static_cast<double>(rests.audit().unconverged));

  // The pendulum stays where it is let go.
  const Simulation held = run(pendulum + "[controller]\nname = 'weightless'\n", 1);
  check(std::abs(held.state().q[0] - 1) < 1e-9, "controller: angle of a pendulum that is carried [rad]",
        held.state().q[0]);
  const Simulation falls = run(pendulum + "[controller]\nname = 'weightless'\nshare = 0.5\n", 1);
  check(falls.state().q[0] < 0.9, "controller: and that is carried by half [rad]", falls.state().q[0]);

  try {
    parse_scene(box + "[contact]\nomega = 1.2\n", "consumer.toml");
    check(false, "a key of another solver is refused", 0);
  } catch (const InvalidInput& error) {
    check(std::string(error.what()).find("omega belongs to solver 'sor'") != std::string::npos, error.what(), 1);
  }
  return failures;
}
