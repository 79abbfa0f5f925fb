// Shapes that overlap by more than contact allows: what dt does not resolve, or a start that was wrong.
#pragma once

#include <vector>

#include "tribo/run.hpp"

namespace tribo {

/// Watches the contacts of a run. Allowed are 1 % of a robot's size and 10 % of an object's thickness, 1 mm at least.
class OverlapWatch final : public Observer {
 public:
  struct Overlap {
    double depth = 0, allowed = 0, t = 0;  ///< [m], [m], [s]
    int geometry_a = -1, geometry_b = -1;
    double share() const { return allowed > 0 ? depth / allowed : 0; }
  };

  void observe(Simulation& simulation, const StepReport& report) override;
  /// The deepest of all steps, as a share of what is allowed.
  const Overlap& worst() const { return worst_; }

 private:
  std::vector<double> allowed_;  ///< overlap of each geometry [m]
  Overlap worst_;
};

}  // namespace tribo
