// Triangles of mesh files.
#pragma once

#include <memory>
#include <string>

#include "tribo/shape.hpp"

namespace tribo {

/// STL, OBJ, PLY or DAE; faces of more corners are taken as fans. A scale that mirrors turns the triangles over. InvalidInput says
/// what is wrong with the file.
std::shared_ptr<const TriangleMesh> mesh_triangles(const std::string& path, const Vec3& scale);

/// The same as its file has it: points of neighbours not joined, nothing refused.
struct RawTriangles {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
};
RawTriangles raw_triangles(const std::string& path);

/// For the log: "12 triangles, closed", "… open", or "… closed, hollow: they face inwards".
std::string mesh_summary(const TriangleMesh& mesh);

}  // namespace tribo
