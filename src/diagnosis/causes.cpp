// The words for causes.
#include "base/names.hpp"
#include "tribo/explain.hpp"

namespace tribo {

std::string to_string(Cause cause) {
  switch (cause) {
    case Cause::Overlap:
      return "overlap";
    case Cause::Gains:
      return "gains too high for the step";
    case Cause::Stiffness:
      return "contact too stiff for the step";
    case Cause::Soft:
      return "contact too soft";
    case Cause::MassRatio:
      return "mass ratio";
    case Cause::Unconverged:
      return "unconverged solver";
    case Cause::Infeasible:
      return "infeasible contacts";
    case Cause::External:
      return "push";
    case Cause::Actuators:
      return "energy from the actuators";
    case Cause::Integrator:
      return "energy from the scheme";
    case Cause::Saturation:
      return "actuator at its limit";
    case Cause::Slip:
      return "slip";
    case Cause::Mass:
      return "mass or length in the wrong unit";
    case Cause::Inertia:
      return "inertia";
    case Cause::Axis:
      return "axis of a joint";
    case Cause::Range:
      return "pose outside its range";
    case Cause::Effort:
      return "motors without effort";
    case Cause::Gravity:
      return "gravity";
    case Cause::Loop:
      return "loop that is open at the start";
    case Cause::Drag:
      return "friction or damping of a joint";
    case Cause::Control:
      return "torque that is not finite";
    case Cause::Chatter:
      return "controller that chatters";
    case Cause::Uncontrolled:
      return "no controller";
    case Cause::Fall:
      return "fall";
  }
  return "unknown";
}

std::string Witness::text() const {
  const std::vector<Finding> list = explain();
  if (list.empty()) return "nothing was seen that would explain trouble\n";
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Finding& f = list[i];
    out += (i == 0 ? "likely first cause: " : "also: ") + to_string(f.cause) + " at t = " + shown(f.t) + " s\n  " +
           f.evidence + "\n  try: " + f.advice + "\n";
  }
  return out;
}

}  // namespace tribo
