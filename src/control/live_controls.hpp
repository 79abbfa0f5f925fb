// Controls that may change between steps.
#pragma once

#include <span>

#include "tribo/types.hpp"

namespace tribo {

class LiveControls {
 public:
  virtual ~LiveControls() = default;
  /// Those that it was made with.
  virtual const VecX& controls() const = 0;
  /// From now on it reads these instead; they belong to the caller. forces: where it writes what each control led to at the
  /// start of a step, or null.
  virtual void follow(const double* row, double* forces) = 0;
  /// Its memory where its activations, one an actuator, are these.
  virtual void remember(const VecX& activation, std::span<double> memory) const = 0;
};

/// A walk whose velocity may be commanded between steps.
class LiveVelocity {
 public:
  virtual ~LiveVelocity() = default;
  /// Forward, to the left [m/s], turning [rad/s]; they belong to the caller. NaN: as the scene says.
  virtual void follow_velocity(const double* row) = 0;
};

}  // namespace tribo
