// Points of mesh files: STL, OBJ and PLY read here, with every count checked against the size of the file; DAE by
// Assimp, after a look through it. A hull needs nothing else of a mesh.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// InvalidInput where it is no file, is larger than 500 MB, or would unfold to that or without end.
void check_mesh(const std::string& path);
/// Points of each part: objects and groups of an OBJ, solids of an STL text; one part otherwise. InvalidInput says what
/// is wrong with the file, and where.
std::vector<std::vector<Vec3>> mesh_parts(const std::string& path);
/// The same from the bytes of a file whose extension is ".stl", ".ply" or ".obj".
std::vector<std::vector<Vec3>> parse_mesh(const std::string& bytes, const std::string& extension,
                                          const std::string& name);

/// All points of a file, and what else it says of its surface: of DAE and PLY the triangles, else the bytes that name them.
struct MeshSurface {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
  std::string extension, bytes;
};
MeshSurface mesh_surface(const std::string& path);

/// Where a mesh of a robot file is: `package://NAME/rest`, `model://…`, `file://…` or a path.
struct MeshSearch {
  std::string folder;                 ///< of the robot file
  std::vector<std::string> packages;  ///< folders given, then those of the environment, then those above the file
  std::vector<std::string> roots;     ///< nothing outside of them is opened
};
/// Explicit folders, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, the folders above the file, then `last`.
MeshSearch mesh_search(const std::string& file, const std::vector<std::string>& given,
                       const std::vector<std::string>& last);
/// InvalidInput lists every path that was tried, or says that the name climbs out of the folders that may be read.
std::string find_mesh(const std::string& name, const MeshSearch& search);

}  // namespace tribo
