// A way to advance a scene, as the command line writes it: STEPPER[:CONTACT_MODEL[:SOLVER]].
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo::experiments {

struct Method {
  std::string stepper = "rigid", model, solver;  ///< model and solver may be empty: those of the scene

  /// "rigid:ncp:newton"
  std::string label() const;
  /// InvalidInput for unknown names and for pairs that do not go together.
  void apply(Scene& scene) const;
};

/// InvalidInput names the part that is wrong.
Method parse_method(const std::string& text);
/// Separated by commas.
std::vector<Method> parse_methods(const std::string& text);

}  // namespace tribo::experiments
