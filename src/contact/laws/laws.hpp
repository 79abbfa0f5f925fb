// Factories of the laws and their options, for the table.
#pragma once

#include "tribo/contact_law.hpp"

namespace tribo {

std::unique_ptr<ContactLaw> make_spring_damper(const Options& options);
std::unique_ptr<ContactLaw> make_hunt_crossley(const Options& options);
OptionTable hunt_crossley_options();

/// Spring and damper of the surface, as every law has them along it; along the normal too where a law has no other.
LawSlope surface_slope(const SurfacePair& surface);

}  // namespace tribo
