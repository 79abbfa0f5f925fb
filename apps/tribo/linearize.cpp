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
  } else {
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
  command.add_option("--out", o->out, "file for A, B, inputs, q, v, q_next, v_next (.npz)");
  command.add_option("--at", o->at, "time of the run at which the step begins [s]");
  command.add_flag("--check", o->check, "compare with central differences of the step");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo linearize solo --at 0.5 --out solo.npz\n"
      "  tribo linearize scenes/ur10.toml --check --json\n\n"
      "Exit codes: 0 done; 1 the run ended before, or the derivative is not finite; 2 bad input.");
  command.callback([o, &action] { action = [o] { return linearize(*o); }; });
}

}  // namespace tribo::app
