// Convex hulls of mesh files, each made once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/robot.hpp"

namespace tribo {

struct MeshHulls {
  std::vector<std::shared_ptr<const Hull>> hulls;
  std::size_t points = 0;  ///< of the meshes
  std::size_t meshes = 0;

  void add(const MeshHulls& other);
  /// For the log: "24 meshes of 85021 points made into 24 hulls of 4310 corners"
  std::string summary() const;
};

/// One hull around the whole mesh, one around each of its parts (objects of an OBJ, solids of an STL text), or one around each
/// part of its convex decomposition. Kept for as long as the program runs, by path, time of change, scale and parts.
MeshHulls mesh_hulls(const std::string& path, const Vec3& scale, const MeshParts& parts);

}  // namespace tribo
