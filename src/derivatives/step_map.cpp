#include "derivatives/step_map.hpp"

#include "dynamics/fluid.hpp"
#include "dynamics/group.hpp"

namespace tribo {
namespace {

/// Calls f on each number that a compliant memory has.
template <class M, class F>
void each_number(M& memory, F f) {
  if (memory.family != MemoryFamily::Compliant) return;
  for (std::size_t i = 0; i < memory.anchors.size(); ++i) {
    if (!memory.contacts[i].touched) continue;
    auto& a = memory.anchors[i];
    for (auto* p : {&a.anchor, &a.point})
      for (int k = 0; k < 3; ++k) f((*p)[k]);
    f(a.rest);
  }
  for (auto& row : memory.rows) f(row.f);
}

}  // namespace

void remembered(const Memory& memory, VecX& m) {
  Eigen::Index n = 0;
  each_number(memory, [&](const double&) { ++n; });
  m.resize(n);
  n = 0;
  each_number(memory, [&](const double& x) { m[n++] = x; });
}

StepMap::StepMap(const Model& model, const std::string& stepper, const StepperOptions& options)
    : model_(model),
      work_(model),
      state_(State::neutral(model)),
      scheme_(stepper_entry(stepper).make(model, options)),
      rules_(scheme_->substeps()),
      crossing_(model, *scheme_, options),
      substeps_(model, rules_) {}

void StepMap::start(const Model& model, const StepInput& input, const Shift& shift, State& state, Workspace& work) {
  state = input.state;
  integrate(model, shift.q, 1, state.q);
  state.v += shift.v;
  if (shift.m.size() > 0) {
    Eigen::Index n = 0;
    each_number(state.memory, [&](double& x) { x += shift.m[n++]; });
  }
  work.moved();
  Actuation& a = work.actuation;
  a = input.actuation;
  a.error -= shift.q;
  for (int k = 0; k < model.nv; ++k) (a.has_target(k) ? a.target[k] : a.tau[k]) += shift.u[k];
  if (input.forces.empty() && model.medium.boxes.empty()) return;
  work.update(state);
  add_forces(work.dynamics, input.forces, a.external);
  add_fluid_forces(model.medium, work.dynamics, a.external);
}

bool StepMap::step(const StepInput& input, const Shift& shift) {
  start(model_, input, shift, state_, work_);
  StepReport report;
  crossing_.open(state_, work_, input.dt, report);
  if (crossing_.asks_sanely() && (rules_.any() ? substeps_.run(crossing_) : whole(input.dt)))
    crossing_.finish();
  else
    crossing_.abandon();
  status_ = report.status;
  taken_ = report.substeps;
  return status_ != StepStatus::NotFinite && status_ != StepStatus::Stopped;
}

bool StepMap::whole(double dt) {
  crossing_.begin();
  crossing_.solve(dt);
  if (!crossing_.commit()) return false;
  crossing_.close();
  return true;
}

void tangent(const Model& model, const VecX& from, const VecX& to, VecX& d) {
  Member all;
  all.bodies = static_cast<int>(model.bodies.size());
  difference(model, all, from, to, d);
}

}  // namespace tribo
