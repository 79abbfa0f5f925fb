// What a rigid step did beside its Outcome, for its derivative. It stands until the next solve.
#pragma once

#include "stepping/rigid/flight.hpp"
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
  /// What stands beside M in (rigid.1), dt included (nv).
  virtual const VecX& extra() const = 0;
  /// The same when the bias of (rigid.12) was found, with what holds joints (nv).
  virtual const VecX& extra_of_bias() const = 0;
  /// Passes of (rigid.12) that the bias of a tree took.
  virtual int bias_passes(int tree) const = 0;

 protected:
  ~RigidView() = default;
};

}  // namespace tribo
