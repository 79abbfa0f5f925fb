// What the subcommands share: exit codes, where scenes are found, how options become overrides, signals.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scene/find_scene.hpp"
#include "subcommands.hpp"

namespace tribo::app {

using Json = nlohmann::ordered_json;

constexpr int done = 0, failed = 1, bad_input = 2;

/// Options of the command line that change a scene, in the words of the scene file.
struct SceneOptions {
  std::string scene, stepper, contact_model, solver, controller, dt, duration;
  std::vector<std::string> set;       ///< path.key=value
  std::vector<std::string> packages;  ///< folders for the meshes of a robot file
  std::string unsupported;            ///< of an MJCF file: "", "warn" or "refuse"

  void add(CommandLine& command, bool required = true);
  std::vector<Override> overrides() const;
};

/// A path, the name of a known scene, or a robot (a known name or a .urdf), which then stands on the ground.
Scene find_scene(const SceneOptions& options);

/// Makes the folder of --out. InvalidInput where it cannot be made.
void prepare_out(const std::string& out);

/// On stderr. Many remarks about one file are one line, unless all are asked for.
void print_warnings(const std::vector<std::string>& warnings, bool all);

/// One JSON object on stdout; text that is not UTF-8 is replaced, numbers that are not finite become null.
void print_json(const Json& json);
std::string dumped(const Json& json);

std::string hex(std::uint64_t value);
/// The residual of a law; null where it is not judged.
Json judged(double law);

/// The signal that asked the program to stop, or 0. A second one ends it at once, but for the time in which signals are
/// held: what is being written then is written whole.
void catch_signals();
void hold_signals();
int signal_received();

/// A bar on stderr where that is a terminal.
class Progress {
 public:
  explicit Progress(double total, const char* unit = "s");
  ~Progress();
  void show(double value);

 private:
  double total_;
  const char* unit_;
  bool terminal_;
  std::int64_t next_ = 0;  ///< steady clock [ms]
};

}  // namespace tribo::app
