// Bounds that are none.
#pragma once

#include <limits>

namespace tribo {

inline constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace tribo
