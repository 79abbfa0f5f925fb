// A scene file (TOML), or a robot by name or file, made into a model, a state and what runs them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tribo/robot.hpp"
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

  /// Another stepper, with its default options; nothing where it is this one. InvalidInput for an unknown name.
  void set_stepper(const std::string& name);
  /// Another contact solver, likewise.
  void set_solver(const std::string& name);
};

/// `path.key=value` of the command line, applied before the scene is read.
struct Override {
  std::string path, value;
};

/// InvalidInput names file, line and key, and the nearest known key for an unknown one.
Scene load_scene(const std::string& path, const std::vector<Override>& overrides = {});
Scene parse_scene(const std::string& text, const std::string& name, const std::vector<Override>& overrides = {});
Simulation make_simulation(const Scene& scene);

}  // namespace tribo
