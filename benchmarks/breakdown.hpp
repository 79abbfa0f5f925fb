// Where the time of a Tribo step goes: the parts of the rigid step called one by one at a given state.
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo::bench {

struct Part {
  std::string name;
  double us = 0;
};

/// state must come from a running simulation of the scene (its contact memory is the warm start).
std::vector<Part> breakdown(const Scene& scene, const State& state, const StepperOptions& options);

}  // namespace tribo::bench
