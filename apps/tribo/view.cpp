// tribo view RECORDING and tribo video RECORDING: the viewer and the renderer of the Python package.
#include "base/names.hpp"
#include "common.hpp"
#include "plot.hpp"

namespace tribo::app {

void add_view(CommandLine& command, Action& action) {
  struct ViewOptions {
    std::string recording, rerun, host = "127.0.0.1";
    int port = 8080;
  };
  auto o = std::make_shared<ViewOptions>();
  command.add_option("RECORDING", o->recording, "recording.npz, or the folder that holds it")->required();
  command.add_option("--port", o->port, "of the page on this machine")->range(0, 65535).capture_default_str();
  command.add_option("--host", o->host, "address to listen at; beyond loopback the page has a token")
      ->capture_default_str();
  command.add_option("--rerun", o->rerun, "write this .rrd file for rerun instead");
  command.footer(
      "Examples:\n"
      "  tribo run solo --out out/solo && tribo view out/solo\n"
      "  tribo view out/solo --rerun solo.rrd");
  command.callback([o, &action] {
    action = [o] {
      if (!o->rerun.empty()) return hand_to_python({"rerun", o->recording, o->rerun});
      return hand_to_python({"view", o->recording, "--host", o->host, "--port", std::to_string(o->port)});
    };
  });
}

void add_video(CommandLine& command, Action& action) {
  struct ViewOptions {
    std::string recording, out, camera, start, end;
    double fps = 30, speed = 1;
    int width = 640, height = 480;
    bool no_shadows = false, no_forces = false, cones = false, collision = false;
  };
  auto o = std::make_shared<ViewOptions>();
  command.add_option("RECORDING", o->recording, "recording.npz, or the folder that holds it")->required();
  command
      .add_option("--out", o->out,
                  "film .mp4 or .gif, .png for a picture of the last moment, .html for a page to look around in")
      ->required();
  command.add_option("--camera", o->camera,
                     "corner, front, back, left, right, top; or the robot, object, body or frame to follow");
  command.add_option("--fps", o->fps, "pictures a second")->capture_default_str();
  command.add_option("--speed", o->speed, "2 shows the run twice as fast")->capture_default_str();
  command.add_option("--start", o->start, "from this time of the run on [s]")->number();
  command.add_option("--end", o->end, "up to this time of the run [s]")->number();
  command.add_option("--width", o->width, "[pixels]")->range(16, 8192).capture_default_str();
  command.add_option("--height", o->height, "[pixels]")->range(16, 8192).capture_default_str();
  command.add_flag("--no-shadows", o->no_shadows, "faster");
  command.add_flag("--no-forces", o->no_forces, "without arrows of the contact forces");
  command.add_flag("--cones", o->cones, "with cones of friction");
  command.add_flag("--collision", o->collision, "shapes that collide instead of what the robot looks like");
  command.footer(
      "Examples:\n"
      "  tribo run solo --out out/solo && tribo video out/solo --out solo.mp4\n"
      "  tribo video out/solo --out solo.png --camera front --end 1.5");
  command.callback([o, &action] {
    action = [o] {
      std::vector<std::string> words{"video", o->recording, "--out", o->out};
      const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
      for (const auto& [name, text] :
           {std::pair{"--camera", o->camera}, std::pair{"--start", o->start}, std::pair{"--end", o->end}})
        if (!text.empty()) add(name, text);
      add("--fps", shown(o->fps));
      add("--speed", shown(o->speed));
      add("--width", std::to_string(o->width));
      add("--height", std::to_string(o->height));
      for (const auto& [name, on] : {std::pair{"--no-shadows", o->no_shadows}, std::pair{"--no-forces", o->no_forces},
                                     std::pair{"--cones", o->cones}, std::pair{"--collision", o->collision}})
        if (on) words.emplace_back(name);
      return hand_to_python(words);
    };
  });
}

}  // namespace tribo::app
