// A URDF as urdfdom reads it, which drops what it does not understand: none of that may be lost in silence.
#pragma once

#include <tinyxml2.h>
#include <urdf_model/model.h>

#include <string>

namespace tribo {

/// Null where it is not a URDF. Capsules are read whatever version the file states: urdfdom would drop those of 1.0.
::urdf::ModelInterfaceSharedPtr urdf_tree(tinyxml2::XMLDocument& document);
/// InvalidInput where a collision shape or an inertia of the file is not in the tree.
void check_complete(const tinyxml2::XMLDocument& document, const ::urdf::ModelInterface& tree, const std::string& path);

}  // namespace tribo
