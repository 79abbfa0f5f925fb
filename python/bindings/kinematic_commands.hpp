// What kinematic bodies of one world are told, as Python holds it, and their numbers by name.
#pragma once

#include "tribo/model.hpp"

namespace tribo::python {

struct KinematicCommands {
  std::vector<KinematicCommand> list;
};

/// InvalidInput where the name is of something else.
inline int kinematic_body_index(const Model& model, const std::string& name) {
  const int k = kinematic_index(model.body(name));
  if (k < 0) throw InvalidInput("'" + name + "' is not a kinematic body: forces move it");
  return k;
}

}  // namespace tribo::python
