#include "runners.hpp"

namespace tribo::bench {
namespace {

Scene with_options(Scene scene, const StepperOptions& options) {
  scene.stepper = "rigid";
  scene.stepper_options = options;
  return scene;
}

}  // namespace

StepperOptions tribo_options(AuditLevel audit, bool recovery) {
  StepperOptions options;
  options.contact.tolerance = {.abs = 0, .rel = 1e-6};
  options.audit = audit;
  if (!recovery) options.contact.recovery_time = 0;
  return options;
}

TriboRunner::TriboRunner(const Scene& scene, const StepperOptions& options)
    : simulation_(make_simulation(with_options(scene, options))) {
  keep();
}

void TriboRunner::step(int steps) {
  for (int k = 0; k < steps; ++k) last_ = simulation_.step();
}

void TriboRunner::start(const State& state) {
  State next = simulation_.state();
  next.q = state.q;
  next.v = state.v;
  next.memory.contacts.clear();
  simulation_.set_state(next);
}

Vec3 TriboRunner::center_of_mass() {
  const Model& model = simulation_.model();
  Vec3 sum = Vec3::Zero();
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    sum += model.bodies[b].inertia.mass * (simulation_.body_pose(static_cast<int>(b)) * model.bodies[b].inertia.com);
  return sum / model.mass();
}

std::string TriboRunner::trouble() const {
  const Audit& a = simulation_.audit();
  if (a.status != StepStatus::Ok) return to_string(a.status);
  std::string all;
  auto count = [&](std::uint64_t n, const char* what) {
    if (n == 0) return;
    if (!all.empty()) all.append(", ");
    all.append(std::to_string(n)).append(" of ").append(std::to_string(a.steps)).append(" steps ").append(what);
  };
  count(a.unconverged, "unconverged");
  count(a.infeasible, "infeasible");
  count(a.wedged, "wedged");
  return all;
}

}  // namespace tribo::bench
