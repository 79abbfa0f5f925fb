// What a scene that loads may still have wrong with it: errors of the model, overlaps at the start, a dt that is too
// large for its own time scales.
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo {

/// Limits that are reversed, numbers that are not finite, joints without inertia: what no stepper can advance.
std::vector<std::string> find_errors(const Model& model, const State& start);
/// Inertias that no rigid body has.
std::vector<std::string> find_doubts(const Model& model);
/// Pairs of geometries that overlap at the start, the deepest first.
std::vector<std::string> find_overlaps(const Model& model, const State& start);
/// By how much dt is above the time scales of gains that act explicitly, of stiff contact, and of speeds.
std::vector<std::string> dt_advice(const Scene& scene);

}  // namespace tribo
