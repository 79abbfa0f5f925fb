// Points of PLY files: text, or binary in either order of bytes.
#pragma once

#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// The vertices. InvalidInput says what is wrong with the file; counts are checked against its size.
std::vector<Vec3> ply_points(const std::string& bytes, const std::string& name);

/// The header alone, and whether the file has room for what it claims.
void check_ply(const std::string& bytes, const std::string& name);

}  // namespace tribo
