#include "diagnosis/energy_watch.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

constexpr double lift = 0.1;         // [m]; energy that lifts everything so high is worth a word
constexpr double tip = 0.02;         // [m]; a push that lifts all so high may tip a robot over
constexpr double wild_height = 1.0;  // [m]; motion with the energy of a fall from there is wild
constexpr double runaway = 100;      // times that: by then every part of the step puts energy in

}  // namespace

EnergyWatch::EnergyWatch(const Scene& scene) : model_(*scene.model) {
  for (const Push& push : scene.pushes)
    for (const Member& member : model_.members)
      if (push.body >= member.first_body && push.body < member.first_body + member.bodies) meant_ |= !member.robot;
}

void EnergyWatch::observe(const Simulation& simulation, bool fallen) {
  audit_ = simulation.audit();
  const double energy = audit_.energy.kinetic + audit_.energy.potential + audit_.energy.elastic;
  if (!now_.valid) now_.most = audit_.energy_start;
  now_.valid = true;
  now_.work = audit_.energy;
  now_.start = audit_.energy_start;
  if (!pushed_at_ && audit_.energy.external != 0) pushed_at_ = simulation.state().t;
  if (std::isfinite(energy) && energy > now_.most) now_.most = energy, now_.t = simulation.state().t;
  if (std::isfinite(audit_.energy.kinetic)) now_.kinetic = std::max(now_.kinetic, audit_.energy.kinetic);
  if (fallen && !at_fall_.valid) at_fall_ = now_;
  if (wild() && !at_wild_.valid) at_wild_ = now_;
}

bool EnergyWatch::wild(double times) const { return now_.kinetic > times * model_.mass() * 9.81 * wild_height; }

std::optional<Finding> EnergyWatch::judge(const Gain& gain, bool wild) const {
  const double gained = gain.most - gain.start;
  if (!(gained > model_.mass() * 9.81 * lift)) return {};
  const EnergyLines& e = gain.work;
  struct Part {
    Cause cause;
    double work;
    const char* name;
    const char* advice;
  };
  const Part parts[] = {
      {Cause::External, e.external, "pushes", "a smaller or shorter push"},
      {Cause::Actuators, e.actuators, "actuators", "lower gains, or a reference that the robot can follow"},
      {Cause::Integrator, e.integrator, "the scheme itself", "a smaller dt, or another stepper"},
      {Cause::Overlap, e.recovery, "the removal of overlap",
       "a start without overlap, or a longer contact.recovery_time"},
      {Cause::Stiffness, e.contacts, "contact springs", "a smaller dt, or a stepper for stiff contact"}};
  const Part& most =
      *std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) { return a.work < b.work; });
  if (!(most.work > 0.3 * gained)) return {};
  // Work that lifts something is what actuators and pushes are for; what ends in wild motion is not.
  if ((most.cause == Cause::Actuators || most.cause == Cause::External) && !wild) return {};
  return Finding{most.cause,
                 most.cause == Cause::External ? pushed_at_.value_or(gain.t) : gain.t,
                 most.work,
                 gained,
                 "J",
                 "the energy rose from " + shown(gain.start) + " to " + shown(gain.most) + " J; " + most.name +
                     " put in " + shown(most.work) + " J",
                 most.advice};
}

std::optional<Finding> EnergyWatch::gain(bool failed, bool fallen) const {
  if (meant_ && !failed && !fallen) return {};
  if (at_fall_.valid) {
    if (std::optional<Finding> found = judge(at_fall_, true)) return found;
    const double pushed = at_fall_.work.external, enough = model_.mass() * 9.81 * tip;
    if (pushed > enough)
      return Finding{Cause::External,
                     pushed_at_.value_or(at_fall_.t),
                     pushed,
                     enough,
                     "J",
                     "pushes put in " + shown(pushed) + " J before the robot fell",
                     "a smaller or shorter push"};
  }
  if (wild(runaway))
    if (std::optional<Finding> found = judge(at_wild_, true)) return found;
  return judge(now_, failed || fallen || wild());
}

}  // namespace tribo
