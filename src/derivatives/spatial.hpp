// How an axis turns what it carries.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

/// a x b of two motions.
inline Spatial turned_by(const Spatial& a, const Spatial& b) {
  return {a.ang.cross(b.lin) + a.lin.cross(b.ang), a.ang.cross(b.ang)};
}

}  // namespace tribo
