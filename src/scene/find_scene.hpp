// From a word to a scene: a file, the name of a known scene, or a robot that then stands on the ground.
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo {

/// A scene of the scenes folders.
struct SceneEntry {
  std::string name, path, summary;
};
/// Folders: TRIBO_SCENES of the environment, those of the package, of the source tree, and beside the program.
std::vector<SceneEntry> known_scenes();

struct SceneRequest {
  std::string scene;  ///< a path, the name of a known scene, a known robot, or a .urdf
  std::string
      controller;  ///< "none" takes away those of the scene, a name stands in where it has none; empty: as it is
  std::vector<Override> overrides;
};

/// A text as a scene file writes it.
std::string quoted(const std::string& text);

/// InvalidInput lists what is known.
Scene find_scene(const SceneRequest& request);

}  // namespace tribo
