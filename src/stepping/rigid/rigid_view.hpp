// What a rigid step did beside its Outcome, for its derivative. It stands until the next solve.
#pragma once

#include "stepping/rigid/flight.hpp"
#include "stepping/rigid/free_motion.hpp"
#include "stepping/rigid/recovery.hpp"
#include "stepping/rigid/rows.hpp"

namespace tribo {

class RigidView {
 public:
  virtual const StepRows& rows() const = 0;
  virtual const Flight& flight() const = 0;
  virtual const Recovery& recovery() const = 0;
  /// Of the last solve: its errors are those at the start of the substep.
  virtual const Actuation& actuation() const = 0;
  virtual const FreeMotion& free_motion() const = 0;
  /// From now on every island has its factor of G, at rest too.
  virtual void keep_factors() = 0;

 protected:
  ~RigidView() = default;
};

}  // namespace tribo
