// What a controller has of the State.
#pragma once

#include "tribo/controller.hpp"

namespace tribo {

/// Numbers in State::control that belong to a controller: its own, and between ticks the number of the period and what is held.
inline std::size_t memory_in_state(const Model& model, const Controller& c) {
  const std::size_t own = static_cast<std::size_t>(c.memory()), nv = static_cast<std::size_t>(model.nv);
  return own + (c.period() > 0 ? 1 + Actuation::held * nv : 0);
}

}  // namespace tribo
