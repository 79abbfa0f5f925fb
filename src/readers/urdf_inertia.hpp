// Inertias of links from their collision shapes, for URDF files whose own are made up.
#pragma once

#include <tinyxml2.h>

#include <string>
#include <vector>

#include "readers/mesh_file.hpp"

namespace tribo {

/// Writes centre of mass and moments of every link that has mass and shapes anew: those of its shapes at one density, meshes
/// as their hulls; what two shapes share counts twice. Links that have mass and no shape keep what they have: one warning
/// names them.
void take_inertias_from_shapes(tinyxml2::XMLDocument& document, const std::string& path, const MeshSearch& search,
                               std::vector<std::string>& warnings);

}  // namespace tribo
