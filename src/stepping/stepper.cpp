// A step of any scheme: begin, solve, commit. See step.hpp for what goes in and out, crossing.cpp for what begin and commit
// do (judge, charge, remember), substeps.cpp for steps that are divided.
#include "stepping/crossing.hpp"
#include "stepping/substeps.hpp"

namespace tribo {

struct Stepper::Impl {
  Impl(const Model& model, std::unique_ptr<Scheme> s, const StepperOptions& options)
      : scheme(std::move(s)), rules(scheme->substeps()), crossing(model, *scheme, options), substeps(model, rules) {}

  // In one piece.
  bool whole(double dt) {
    crossing.begin();
    crossing.solve(dt);
    if (!crossing.commit()) return false;
    crossing.close();
    return true;
  }

  std::unique_ptr<Scheme> scheme;
  SubstepRules rules;
  Crossing crossing;
  Substeps substeps;
};

Stepper::Stepper(const Model& model, std::unique_ptr<Scheme> scheme, const StepperOptions& options)
    : impl_(std::make_unique<Impl>(model, std::move(scheme), options)) {}
Stepper::~Stepper() = default;

StepReport Stepper::advance(State& state, Workspace& work, double dt) {
  Impl& s = *impl_;
  StepReport report;
  s.crossing.open(state, work, dt, report);
  if (s.crossing.asks_sanely() && (s.rules.any() ? s.substeps.run(s.crossing) : s.whole(dt)))
    s.crossing.finish();
  else
    s.crossing.abandon();
  return report;
}

double Stepper::elastic(State& state, Workspace& work) { return impl_->crossing.elastic(state, work).sum(); }

const std::vector<ContactReport>& Stepper::contacts() const { return impl_->crossing.contacts(); }
const Outcome& Stepper::outcome() const { return impl_->crossing.outcome(); }
const Scheme& Stepper::scheme() const { return *impl_->scheme; }

}  // namespace tribo
