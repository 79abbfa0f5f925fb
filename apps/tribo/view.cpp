// tribo view RECORDING: the viewer of the Python package.
#include <csignal>

#include "common.hpp"
#include "plot.hpp"

namespace tribo::app {

void add_view(CLI::App& command, Action& action) {
  struct Options {
    std::string recording, rerun;
    int port = 8080;
  };
  auto o = std::make_shared<Options>();
  command.add_option("RECORDING", o->recording, "recording.npz, or the folder that holds it")->required();
  command.add_option("--port", o->port, "of the page on this machine")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command.add_option("--rerun", o->rerun, "write this .rrd file for rerun instead");
  command.footer(
      "Examples:\n"
      "  tribo run solo --out out/solo && tribo view out/solo\n"
      "  tribo view out/solo --rerun solo.rrd");
  command.callback([o, &action] {
    action = [o] {
      if (!o->rerun.empty()) return hand_to_python({"rerun", o->recording, o->rerun});
      std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the viewer
      return hand_to_python({"view", o->recording, "--port", std::to_string(o->port)});
    };
  });
}

}  // namespace tribo::app
