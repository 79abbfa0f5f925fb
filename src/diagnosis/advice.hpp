// A dt that is too large for the time scales of its scene.
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo {

/// By how much dt is above the time scales of gains that act explicitly, of stiff contact, and of speeds.
std::vector<std::string> dt_advice(const Scene& scene);
/// The largest dt that none of those time scales has anything against, or inf [s].
double advised_step(const Scene& scene);

}  // namespace tribo
