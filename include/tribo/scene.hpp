// A scene file (TOML), or a robot by name or file, made into a model, a state and what runs them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tribo/simulation.hpp"

namespace tribo {

struct RecordOptions {
  double period = 0;  ///< time between records [s]; 0: every step
  bool contacts = true;
};

/// A controller as the scene describes it; every simulation of the scene makes its own.
struct ControllerSpec {
  std::string name;  ///< see controllers()
  int member = 0;    ///< the robot that it moves
  std::function<std::unique_ptr<Controller>(const Model&)> make;
  std::optional<PdOptions> pd;  ///< of 'pd'
};

/// What `[controller] name` may be.
struct ControllerEntry {
  std::string name, summary;
};
std::vector<ControllerEntry> controllers();

/// Everything that a scene says. Model and start are ready to run.
struct Scene {
  std::string name;
  std::string source;  ///< path of the file
  std::shared_ptr<const Model> model;
  State start;
  std::string stepper = "rigid";
  StepperOptions stepper_options;
  double dt = 1e-3;     ///< [s]
  double duration = 5;  ///< [s]
  std::vector<ControllerSpec> controllers;
  std::vector<Push> pushes;
  RecordOptions record;
  std::vector<std::string> warnings;  ///< what the user should know before a run
  std::vector<std::string> log;       ///< what was made of the files, a line each
};

/// `path.key=value` of the command line, applied before the scene is read.
struct Override {
  std::string path, value;
};

/// InvalidInput names file, line and key, and the nearest known key for an unknown one.
Scene load_scene(const std::string& path, const std::vector<Override>& overrides = {});
Scene parse_scene(const std::string& text, const std::string& name, const std::vector<Override>& overrides = {});
Simulation make_simulation(const Scene& scene);

/// A robot of example-robot-data that is known by name.
struct RobotEntry {
  std::string name, urdf, summary;
  bool floating = true;
};
const std::vector<RobotEntry>& robots();

/// Adds a robot to a model under construction: a known name, or a path to a URDF or MJCF file. Returns the member's
/// index.
struct RobotOptions {
  std::string name;      ///< of the member; empty: the name of the robot
  std::string model;     ///< known name, or path to a .urdf or .xml
  bool floating = true;  ///< free base, or fixed to the world; an MJCF file says itself
  Placement base;        ///< of a fixed base; of all that an MJCF file describes
  std::string contact =
      "default";                  ///< "default" (feet and shapes of the file), "feet", "collision" (the shapes), "none"
  std::vector<std::string> feet;  ///< frames that carry point feet, where the robot is not known by name
  int material = 0;
  bool self_collision = false;
  bool rotor_inertia = false;         ///< add the reflected rotor inertias that the robot's package knows
  bool refuse_unsupported = false;    ///< of MJCF: what has no meaning here is an error, not a warning
  std::vector<std::string> packages;  ///< folders in which packages and meshes are looked for before all others
};

/// What a file says beside its robot.
struct RobotNotes {
  std::vector<std::string> warnings;  ///< what was not taken over, by name
  std::vector<std::string> log;       ///< what was made of the file, a line each
  bool whole_world = false;           ///< the file is a world of its own (MJCF): the two below are its
  Vec3 gravity{0, 0, -9.81};          ///< [m/s^2]
  double timestep = 0;                ///< [s]
};
int add_robot(ModelBuilder& builder, const RobotOptions& options, RobotNotes* notes = nullptr);

}  // namespace tribo
