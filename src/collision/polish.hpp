// What GJK finds of curved shapes to about 1e-6 m, and its normal to 1e-2 rad, is found to rounding.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// Pairs with an ellipsoid or a cylinder. Left as it is where the features near it are not those that touch.
void polish(const Query& query, Separation& x);
/// As a contact, where it is finite.
void add_polished(const Query& query, Separation x, std::uint64_t feature, Touches& out);

}  // namespace tribo
