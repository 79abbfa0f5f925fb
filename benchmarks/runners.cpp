#include "runners.hpp"

namespace tribo::bench {
namespace {

Scene with_options(Scene scene, AuditLevel audit) {
  scene.stepper = "rigid";
  scene.stepper_options = tribo_options(audit);
  return scene;
}

}  // namespace

StepperOptions tribo_options(AuditLevel audit) {
  StepperOptions options;
  options.tolerance = {.abs = 0, .rel = 1e-6};
  options.audit = audit;
  return options;
}

TriboRunner::TriboRunner(const Scene& scene, AuditLevel audit)
    : simulation_(make_simulation(with_options(scene, audit))) {
  keep();
}

void TriboRunner::step(int steps) {
  for (int k = 0; k < steps; ++k) last_ = simulation_.step();
}

void TriboRunner::start(const State& state) {
  State next = simulation_.state();
  next.q = state.q;
  next.v = state.v;
  next.contacts.clear();
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
    if (n > 0)
      all += (all.empty() ? "" : ", ") + std::to_string(n) + " of " + std::to_string(a.steps) + " steps " + what;
  };
  count(a.unconverged, "unconverged");
  count(a.infeasible, "infeasible");
  count(a.wedged, "wedged");
  return all;
}

}  // namespace tribo::bench
