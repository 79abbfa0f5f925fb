// Runs a scene file and says what it did: run SCENE.toml [SECONDS]
//
// The scene may name the entries that this program adds beside it: controller 'weightless', law 'stiffening', solver
// 'sor', stepper 'penalty'. Without a file a pendulum is carried by 'weightless'.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <tribo/run.hpp>
#include <tribo/scene.hpp>

namespace {

const char* const pendulum = R"(
[ground]
none = true
[robot]
name = "arm"
[[robot.link]]
joint = "revolute"
axis = [0, 1, 0]
mass = 1.0
com = [0, 0, -0.5]
angle = 1.0
effort_limit = 100.0
shape = "sphere"
radius = 0.05
[controller]
name = "weightless"
share = 0.9
)";

// Prints a line every tenth of a second.
class Printer final : public tribo::Observer {
 public:
  void observe(tribo::Simulation& simulation, const tribo::StepReport& report) override {
    const tribo::State& state = simulation.state();
    if (state.t + 1e-9 < next_) return;
    next_ += 0.1;
    std::printf("t %5.2f s  q[0] %9.6f  %zu contacts  %s\n", state.t, state.q[0], simulation.contacts().size(),
                tribo::to_string(report.status).c_str());
  }

 private:
  double next_ = 0.1;  // [s]
};

}  // namespace

int main(int argc, char** argv) try {
  const tribo::Scene scene = argc > 1 ? tribo::load_scene(argv[1]) : tribo::parse_scene(pendulum, "pendulum");
  tribo::Simulation simulation = tribo::make_simulation(scene);
  tribo::Run run(simulation, argc > 2 ? std::atof(argv[2]) : 1.0);
  Printer printer;
  run.watch(printer).finish();
  std::printf("energy balance: error %.1e\n", simulation.audit().ledger_error);
  return run.failed() ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "run: %s\n", error.what());
  return 2;
}
