// Every experiment: one line each.
#include "list.hpp"

namespace tribo::experiments {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> table = {
      {"cube-slide", "a cube launched along the ground: drift, lift and energy of each model", cube_slide},
      {"cube-drag", "a cube dragged by a growing force: error over dt, energy, forces of the corners", cube_drag},
  };
  return table;
}

}  // namespace tribo::experiments
