#include "tribo/overlap_watch.hpp"

#include <algorithm>

#include "dynamics/clearance.hpp"

namespace tribo {

void OverlapWatch::observe(Simulation& simulation, const StepReport&) {
  if (allowed_.empty()) allowed_ = allowed_overlaps(simulation.model(), simulation.state().q);
  for (const ContactReport& c : simulation.contacts()) {
    const Overlap found{-c.gap, std::min(allowed_[at(c.geometry_a)], allowed_[at(c.geometry_b)]),
                        simulation.state().t - simulation.dt(), c.geometry_a, c.geometry_b};
    if (found.share() > worst_.share()) worst_ = found;
  }
}

}  // namespace tribo
