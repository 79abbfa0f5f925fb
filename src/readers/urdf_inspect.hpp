// A URDF file looked through element by element before it is used, so that everything wrong with it is told at once.
#pragma once

#include <string>
#include <vector>

#include "readers/mesh_file.hpp"

namespace tinyxml2 {
class XMLDocument;
}

namespace tribo {

struct UrdfFindings {
  std::vector<std::string> errors, warnings;  ///< "FILE:LINE: …" each
  std::string root;                           ///< the link that hangs on no joint
  double root_mass = 0;                       ///< with all that is fixed to it [kg]
};

/// `meshes`: look for the mesh files too.
UrdfFindings inspect_urdf(const tinyxml2::XMLDocument& document, const std::string& file, const MeshSearch& search,
                          bool meshes);

}  // namespace tribo
