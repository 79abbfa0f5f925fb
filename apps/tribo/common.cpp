#include "common.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/legible.hpp"
#include "base/names.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t stop_signal = 0;

void on_signal(int signal) { stop_signal = signal; }

void listen(int flags) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void SceneOptions::add(CommandLine& command, bool required) {
  command
      .add_option("SCENE", scene, "a scene file, the name of a scene, or a robot: see 'tribo list scenes', 'robots'")
      ->required(required);
  command.add_option("--stepper", stepper, "time-stepping method: see 'tribo list steppers'");
  command.add_option("--contact-model", contact_model,
                     "contact law of the rigid stepper: see 'tribo list contact-models'");
  command.add_option("--solver", solver, "contact solver: see 'tribo list solvers'");
  command.add_option("--controller", controller, "'none', or a controller: see 'tribo list controllers'");
  command.add_option("--dt", dt, "time step [s]");
  command.add_option("--duration", duration, "simulated time [s]");
  command.add_list("--set", set, "KEY=VALUE", "a value of the scene file, as path.key=value; may be repeated");
  command.add_list("--package", packages, "DIR",
                   "a folder for the packages and meshes of a robot file; may be repeated");
  command.add_option("--unsupported", unsupported,
                     "elements of an MJCF file that are not supported: 'warn' (the default) or 'refuse'");
}

std::vector<Override> SceneOptions::overrides() const {
  std::vector<Override> list;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw InvalidInput("--set '" + text + "': must have the form path.key=value");
    }
    list.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  const std::pair<const char*, const std::string*> named[] = {
      {"stepper.name", &stepper},  {"contact.model", &contact_model},
      {"contact.solver", &solver}, {"controller.name", &controller},
      {"stepper.dt", &dt},         {"stepper.duration", &duration}};
  if (!unsupported.empty()) list.push_back({"robot.unsupported", unsupported});
  if (!packages.empty()) {
    std::string folders;
    for (const std::string& folder : packages) folders += (folders.empty() ? "[" : ", ") + quoted(folder);
    list.push_back({"robot.packages", folders + "]"});
  }
  for (const auto& [path, value] : named) {
    if (!value->empty() && *value != "none") list.push_back({path, *value});
  }
  return list;
}

Scene find_scene(const SceneOptions& options) {
  return tribo::find_scene({options.scene, options.controller, options.overrides()});
}

void prepare_out(const std::string& out) {
  std::error_code error;
  fs::create_directories(out, error);
  if (!fs::is_directory(out)) {
    throw InvalidInput("--out " + out + ": cannot be made (" +
                       (error ? error.message() : "something else has that name") + ")");
  }
}

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void print_warnings(const std::vector<std::string>& warnings, bool all) {
  constexpr std::size_t few = 3;
  const auto file = [](const std::string& text) { return text.substr(0, text.find(':')); };
  std::vector<std::string> told;
  for (const std::string& text : warnings) {
    const auto count = static_cast<std::size_t>(
        std::count_if(warnings.begin(), warnings.end(), [&](auto& other) { return file(other) == file(text); }));
    if (all || count <= few) {
      std::fprintf(stderr, "tribo: warning: %s\n", legible(text).c_str());
    } else if (std::find(told.begin(), told.end(), file(text)) == told.end()) {
      told.push_back(file(text));
      std::fprintf(stderr, "tribo: warning: %s (and %zu more about this file: --verbose shows all)\n",
                   legible(text).c_str(), count - 1);
    }
  }
}

void print_json(const Json& json) { std::fputs(dumped(json).c_str(), stdout); }

Json judged(double law) { return std::isnan(law) ? Json(nullptr) : Json(law); }

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void catch_signals() { listen(SA_RESETHAND); }
void hold_signals() { listen(0); }

int signal_received() { return stop_signal; }

Progress::Progress(double total, const char* unit)
    : total_(total), unit_(unit), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && next_ > 0) std::fputs("\r\033[K", stderr);
}

void Progress::show(double value) {
  if (!terminal_) return;
  using namespace std::chrono;
  const std::int64_t now = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  if (now < next_) return;
  next_ = now + 100;
  constexpr int width = 30;
  const double part = total_ > 0 ? std::clamp(value / total_, 0.0, 1.0) : 1.0;
  const int full = static_cast<int>(part * width);
  std::fprintf(stderr, "\r[%s%s] %3.0f %%  %.2f of %.2f %s ", std::string(static_cast<std::size_t>(full), '#').c_str(),
               std::string(static_cast<std::size_t>(width - full), '.').c_str(), 100 * part, value, total_, unit_);
  std::fflush(stderr);
}

}  // namespace tribo::app
