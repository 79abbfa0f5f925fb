// How models and scenes can be made again in another process: by source and settings, never out of what was pickled.
#pragma once

#include <vector>

#include "tribo/scene.hpp"

namespace tribo::python {

/// A name or file, or the text of one, with the controller and the settings that it was loaded with.
struct SceneOrigin {
  std::string scene, text, controller;
  std::vector<Override> settings;
  std::string chosen;  ///< stepper, contact model, solver, dt and duration of then
};

void remember_origin(const Scene& scene, SceneOrigin origin);
/// Those that it may have come from; one in all but odd cases, none where it was not loaded.
std::vector<SceneOrigin> origins_of(const Scene& scene);
std::vector<SceneOrigin> origins_of(const Model& model);

}  // namespace tribo::python
