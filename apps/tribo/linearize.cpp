// tribo linearize SCENE --out FILE.npz: the derivative of the step that begins at a time of a run.
#include <cstdio>

#include "common.hpp"
#include "io/npy.hpp"
#include "tribo/linearization.hpp"

namespace tribo::app {
namespace {

struct LinearizeOptions {
  SceneOptions scene;
  std::string out;
  double at = 0;
  bool check = false, json = false;
  std::vector<std::string> parameters, sensors;
};

void write(const LinearizeOptions& options, const Linearization& lin, const State& state) {
  NpzWriter file(options.out);
  const auto add = [&](const char* name, const MatX& x) {
    const MatX rows = x.transpose();
    const std::uint64_t shape[2] = {static_cast<std::uint64_t>(x.rows()), static_cast<std::uint64_t>(x.cols())};
    file.add(name, NpyType::F64, shape, rows.data());
  };
  const auto add_vector = [&](const char* name, const VecX& x) {
    const std::uint64_t shape[1] = {static_cast<std::uint64_t>(x.size())};
    file.add(name, NpyType::F64, shape, x.data());
  };
  add("A", lin.A);
  add("B", lin.B);
  if (!lin.parameters.empty()) add("P", lin.P);
  if (!lin.sensors.empty()) {
    add("C", lin.C);
    add("D", lin.D);
    if (!lin.parameters.empty()) add("E", lin.E);
    add_vector("y", lin.y);
  }
  VecX inputs(static_cast<Eigen::Index>(lin.inputs.size()));
  for (std::size_t i = 0; i < lin.inputs.size(); ++i) inputs[static_cast<Eigen::Index>(i)] = lin.inputs[i];
  add_vector("inputs", inputs);
  add_vector("q", state.q);
  add_vector("v", state.v);
  add_vector("q_next", lin.q_next);
  add_vector("v_next", lin.v_next);
  file.finish();
}

int linearize(const LinearizeOptions& options) {
  const Scene scene = find_scene(options.scene);
  print_warnings(scene.warnings, false);
  Simulation simulation = make_simulation(scene);
  while (simulation.state().t < options.at - 0.5 * simulation.dt()) {
    const StepStatus status = simulation.step().status;
    if (status == StepStatus::NotFinite || status == StepStatus::Stopped) {
      std::fprintf(stderr, "tribo: the run ended at %g s: %s\n", simulation.state().t, to_string(status).c_str());
      return failed;
    }
  }
  Linearization lin;
  DerivativeCheck check;
  if (options.check) {
    check = simulation.check_derivatives();
    lin = check.linearization;
  }
  if (!options.check || !options.parameters.empty() || !options.sensors.empty()) {
    lin.parameters = options.parameters;
    lin.sensors = options.sensors;
    simulation.linearize(lin);
  }
  if (!options.out.empty()) write(options, lin, simulation.state());
  Json json = {{"scene", options.scene.scene},
               {"t", simulation.state().t},
               {"nv", lin.A.rows() / 2},
               {"nu", lin.B.cols()},
               {"method", to_string(lin.method)},
               {"reason", lin.reason},
               {"contacts", lin.contacts.size()},
               {"weak", lin.weak},
               {"margin", lin.margin},
               {"unique", lin.unique},
               {"finite", lin.finite}};
  if (!options.parameters.empty())
    json["parameters"] = *lin.parameters_reason == 0 ? "analytic" : lin.parameters_reason;
  if (!options.sensors.empty()) {
    json["sensors"] = Json::array();
    for (std::size_t i = 0; i < lin.rows.size(); ++i) {
      const std::string name = lin.row_name(static_cast<int>(i));
      json["sensors"].push_back(lin.rows[i].unique ? name : name + " (not unique)");
    }
  }
  if (options.check)
    json["check"] = {{"error", check.error}, {"columns", check.columns}, {"disturbed", check.disturbed}};
  if (options.json) {
    print_json(json);
  } else {
    for (const auto& [key, value] : json.items()) std::printf("%-9s %s\n", key.c_str(), value.dump().c_str());
  }
  return lin.finite ? done : failed;
}

}  // namespace

void add_linearize(CommandLine& command, Action& action) {
  auto o = std::make_shared<LinearizeOptions>();
  o->scene.add(command);
  command.add_option("--out", o->out, "file for A, B, P, C, D, E, y, inputs, q, v, q_next, v_next (.npz)");
  command.add_option("--at", o->at, "time of the run at which the step begins [s]");
  command.add_list("--parameter", o->parameters, "NAME",
                   "by which P is wanted; may be repeated: mass:BODY, friction:MATERIAL, kp:JOINT, ...");
  command.add_list("--sensor", o->sensors, "NAME",
                   "of which C and D are wanted; may be repeated: gyroscope:BODY, contacts, ...");
  command.add_flag("--check", o->check, "compare with central differences of the step");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo linearize solo --at 0.5 --out solo.npz\n"
      "  tribo linearize scenes/ur10.toml --check --json\n"
      "  tribo linearize solo-standing --parameter friction:default --sensor contacts --out "
      "solo.npz\n\n"
      "Exit codes: 0 done; 1 the run ended before, or the derivative is not finite; 2 bad input.");
  command.callback([o, &action] { action = [o] { return linearize(*o); }; });
}

}  // namespace tribo::app
