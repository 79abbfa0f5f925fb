// What a model that was read may still have wrong with it: numbers that no stepper can advance, inertias that no body has,
// overlaps at the start.
#pragma once

#include <string>
#include <vector>

#include "tribo/dynamics.hpp"
#include "tribo/state.hpp"

namespace tribo {

/// Limits that are reversed, numbers that are not finite, joints without inertia: what no stepper can advance.
std::vector<std::string> find_errors(const Model& model, const State& start);
/// Inertias that no rigid body has.
std::vector<std::string> find_doubts(const Model& model);
/// Pairs of geometries that overlap at the start, the deepest first.
std::vector<std::string> find_overlaps(const Model& model, const State& start);

/// An equality constraint that does not hold at the start.
struct OpenLoop {
  static constexpr double least = 5e-3;  ///< less is what files are rounded to [m] or [rad]
  double gap = 0;                        ///< [m] or [rad]
  const char* unit = "m";
  std::string text;
};
/// Of the whole of a model, in its order.
std::vector<OpenLoop> find_open_loops(const Model& model, const State& start);

/// Joints that start beyond their ranges, the farthest first.
std::vector<std::string> find_beyond_ranges(const Model& model, const State& start);

/// 1 / (M^-1)_kk: the inertia that a torque at coordinate k alone would feel (nv). M must be factored.
VecX effective_inertia(const Model& model, const Dynamics& dynamics);

}  // namespace tribo
