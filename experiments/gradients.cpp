// What a contact model does to gradients: a cube of 1 kg is launched along the ground at v0 and stops by friction.
// Coulomb's law has the answer: the way is v0^2 / (2 mu g), its slope by v0 is v0 / (mu g), and no launch along the ground changes
// the height. What a contact remembers (the anchors of compliant contacts) is no part of x and is held. Each slope is the product of the derivatives of all steps; beside it stands the secant of the same run over 2 %.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/simulation.hpp"

namespace tribo::experiments {
namespace {

constexpr double v0 = 1, mu = 0.4, gravity = 9.81, dt = 1e-3, half = 0.1;
const double stops = v0 / (mu * gravity);  // [s], and the slope of the way by v0

struct Law {
  std::string label, stepper = "rigid", model = "ncp", solver = "newton";
  double compliance = 0;  ///< of the normal [m/N]
  double stiffness = 1e5, damping = 300;
};

const std::vector<Law> laws = {{"ncp"},
                               {"ccp", "rigid", "ccp", "admm"},
                               {"ncp, R 1e-7", "rigid", "ncp", "newton", 1e-7},
                               {"ncp, R 1e-6", "rigid", "ncp", "newton", 1e-6},
                               {"ncp, R 1e-5", "rigid", "ncp", "newton", 1e-5},
                               {"exponential", "exponential"}};

Simulation launched(const Law& law, double speed) {
  ModelBuilder builder;
  SurfacePair surface;
  surface.mu_static = surface.mu_dynamic = mu;
  surface.compliance = law.compliance;
  surface.stiffness = law.stiffness;
  surface.damping = law.damping;
  const int material = builder.add_material({"surface", surface});
  builder.add_ground({}, material);
  builder.add_object("cube", ShapeKind::Box, Vec3::Constant(half), 1, material);
  auto model = std::make_shared<const Model>(builder.build());
  StepperOptions options;
  options.audit = AuditLevel::Off;
  if (law.stepper == "rigid") {
    options.contact.model = law.model;
    options.contact.solver = law.solver;
    options.contact.tolerance.rel = 1e-12;
    options.contact.max_iterations = 100'000;
  }
  Simulation simulation(model, law.stepper, options, dt);
  State state = State::neutral(*model);
  const double sunk = law.stepper == "rigid" ? 0.25 * gravity * law.compliance : 0.25 * gravity / law.stiffness;
  state.q[2] = half - sunk;  // at rest on four corners
  state.v[0] = speed;
  simulation.set_state(state);
  return simulation;
}

struct Slopes {
  double way = 0, lift = 0;          ///< at the end, and the largest [m]
  double by_speed = 0, lift_by = 0;  ///< of both by v0 [s]
  double analytic = 0, unique = 0;   ///< shares of the steps
};

Slopes differentiated(const Law& law, int steps) {
  Simulation simulation = launched(law, v0);
  VecX dx = VecX::Unit(12, 6);
  Linearization lin;
  Slopes s;
  for (int k = 0; k < steps; ++k) {
    simulation.linearize(lin);
    dx = lin.A * dx;
    s.analytic += lin.method == Linearization::Method::Analytic;
    s.unique += lin.unique;
    simulation.step();
    const double lift = simulation.state().q[2] - half;
    if (lift > s.lift) {
      s.lift = lift;
      s.lift_by = dx[2];
    }
  }
  s.way = simulation.state().q[0];
  s.by_speed = dx[0];
  s.analytic /= steps;
  s.unique /= steps;
  return s;
}

double way(const Law& law, double speed, int steps) {
  Simulation simulation = launched(law, speed);
  for (int k = 0; k < steps; ++k) simulation.step();
  return simulation.state().q[0];
}

std::string key_of(const std::string& label) {
  std::string key;
  for (char c : label)
    if (c != ',') key += c == ' ' ? '_' : c;
  return key;
}

}  // namespace

Result gradients(const ExperimentOptions& options, const Progress& progress) {
  const std::vector<double> times =
      options.quick ? std::vector<double>{0.05, 0.3} : std::vector<double>{0.05, 0.1, 0.2, 0.3, 0.4};
  Result result;
  result.settings = {{"dt", dt}, {"mu", mu}, {"speed", v0}, {"mass", 1}};
  Table table{"Slope of the way by the speed of the launch",
              {"law", "time [s]", "slope [s]", "over Coulomb's - 1", "over its own secant - 1", "lift [m]",
               "slope of the lift [s]", "steps analytic", "steps unique"},
              {}};
  Panel panel{"Slope of the way over Coulomb's", "time [s]", "|slope / Coulomb's - 1| [-]", false, true};
  int run = 0;
  for (const Law& law : laws) {
    Series series{law.label, {}, {}};
    for (double time : times) {
      const int steps = static_cast<int>(std::lround(time / dt));
      const Slopes s = differentiated(law, steps);
      const double coulomb = std::min(time, stops), h = 0.01 * v0;
      const double secant = (way(law, v0 + h, steps) - way(law, v0 - h, steps)) / (2 * h);
      const double error = s.by_speed / coulomb - 1, own = s.by_speed / secant - 1;
      table.rows.push_back({law.label, time, s.by_speed, error, own, s.lift, s.lift_by, s.analytic, s.unique});
      series.x.push_back(time);
      series.y.push_back(std::max(std::abs(error), 1e-12));
      const std::string key = key_of(law.label) + "_" + std::to_string(static_cast<int>(std::lround(1e3 * time)));
      result.measures[key + "_error"] = std::abs(error);
      result.measures[key + "_secant"] = std::abs(own);
      result.measures[key + "_lift_slope"] = std::abs(s.lift_by);
      result.measures[key + "_analytic"] = s.analytic;
      progress(++run / static_cast<double>(laws.size() * times.size()));
    }
    panel.series.push_back(series);
  }
  result.tables.push_back(table);
  result.panels.push_back(panel);
  return result;
}

}  // namespace tribo::experiments
