#include "tribo/run_warning.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "dynamics/clearance.hpp"

namespace tribo {

RunWarning::Kind RunWarning::look(const Simulation& simulation, const StepReport& report) const {
  constexpr double turn = 3.14, share = 0.05;  // [rad] or [m] a step; of the energy in motion
  const Audit& audit = simulation.audit();
  const VecX& v = simulation.state().v;
  if (report.unresolved > 0) return Kind::Turning;
  if (v.size() > 0 && simulation.dt() * v.cwiseAbs().maxCoeff() > turn) return Kind::Speed;
  // What is at rest has no energy that could grow: rounding is no gain.
  // Nor is a share of a hundred in what motors and pushes put in and take out: a slow arm that lifts moves little energy.
  const double bound = std::max(share * std::max({most_, most_before_, 1e-3 * audit.energy_scale}),
                                0.01 * std::max(through_, through_before_));
  // A force f on a mass at rest does f^2 dt^2 (n - 1/2)/m of work in step n, and the scheme adds n f^2 dt^2/(2 m) in n steps: no gain,
  // but its order, however little moves yet. And where positions go by the velocity of a step's end, m g is charged at v_end and
  // changes the energy in motion at (v + v_end)/2: lifting at v shows m g v dt/2 too much for as long as it lasts.
  if (audit.energy.integrator - integrator_ > bound + growth_ + lifted_ / 2) return Kind::SchemeGain;
  if (audit.energy.contacts - contacts_ > bound) return Kind::ContactGain;
  return Kind::None;
}

void RunWarning::observe(Simulation& simulation, const StepReport& report) {
  if ((kind_ != Kind::None && kind_ != Kind::Overlap) || ended(report)) return;
  const double t = simulation.state().t;
  const EnergyLines& sum = simulation.audit().energy;
  const double energy = sum.kinetic + sum.elastic;
  most_ = std::max(most_, energy);
  growth_ = std::max(growth_, energy - last_);
  last_ = energy;
  lifted_ = std::max(lifted_, std::abs(sum.potential - (began_ ? potential_ : simulation.audit().energy_start)));
  potential_ = sum.potential;
  through_ = std::max(through_, std::abs(sum.actuators + sum.external - given_));
  if (const Kind kind = look(simulation, report); kind != Kind::None) {
    kind_ = kind;
    time_ = t;
  }
  if (kind_ == Kind::None) look_for_overlap(simulation, report);
  if (began_ && t - second_ < 1 - 1e-9) return;
  if (began_) {
    most_before_ = most_;
    through_before_ = through_;
    most_ = energy;
    growth_ = lifted_ = through_ = 0;
    given_ = sum.actuators + sum.external;
    integrator_ = sum.integrator;
    contacts_ = sum.contacts;
  }
  second_ = t;
  began_ = true;
}

void RunWarning::look_for_overlap(Simulation& simulation, const StepReport& report) {
  if (!began_) first_overlap_ = report.penetration;
  if (report.penetration <= first_overlap_ + least_allowed_overlap) return;
  overlaps_.observe(simulation, report);
  const OverlapWatch::Overlap& worst = overlaps_.worst();
  if (worst.depth <= worst.allowed + first_overlap_) return;
  const auto name = [&](int geometry) { return "'" + simulation.model().geometries[at(geometry)].name + "'"; };
  kind_ = Kind::Overlap;
  time_ = worst.t;
  overlap_ = name(worst.geometry_a) + " and " + name(worst.geometry_b) + " overlap by " + shown(worst.depth) +
             " m, more than the " + shown(worst.allowed) + " m that contact allows";
}

std::string RunWarning::text() const {
  const std::string when = "at t = " + shown(time_) + " s ";
  switch (kind_) {
    case Kind::Turning:
      return when +
             "a mechanism turns too fast for dt, and what the scheme would add to its energy is taken off: take a "
             "smaller dt";
    case Kind::Speed:
      return when +
             "a joint or body moves by half a turn or by 3 m in a step, which dt does not resolve: take a smaller dt, "
             "or look for what drives it so fast";
    case Kind::SchemeGain:
      return when + "the scheme puts energy into the motion: take a smaller dt";
    case Kind::ContactGain:
      return when +
             "contacts put energy into the motion, as they do where they overlap deeply: take a stiffer material or a "
             "smaller dt";
    case Kind::Overlap:
      return when + overlap_ + ": take a smaller dt or a stiffer material";
    case Kind::None:
      break;
  }
  return "";
}

}  // namespace tribo
