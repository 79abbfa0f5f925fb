// Which way is up in the meshes of a robot file.
#pragma once

#include <string>

#include "readers/mesh_file.hpp"

namespace urdf {
class ModelInterface;
}

namespace tribo {

enum class MeshesOf { Collision, Visual };

/// COLLADA files may say that y is up in them. Most tools of the field ignore it, and robots are made for the one or the
/// other. What a link carries tells: its joints lie on or near its mesh. True where the meshes that say so have to be
/// turned. Visuals are asked where no collision mesh says anything.
bool stands_on_y(const ::urdf::ModelInterface& robot, const MeshSearch& search, MeshesOf which);

/// The same of the visuals of a URDF file.
bool visuals_stand_on_y(const std::string& path, const MeshSearch& search);

/// A COLLADA file that says that y is up in it.
bool says_y_up(const std::string& path);

/// Turns y up to z up.
Mat3 upright();

}  // namespace tribo
