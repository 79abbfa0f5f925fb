// tribo sweep SCENE and tribo train ROBOT: many runs, by the Python package.
#include "base/names.hpp"
#include "common.hpp"
#include "plot.hpp"

namespace tribo::app {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, const char* name, const std::string& value) {
  if (!value.empty()) words.insert(words.end(), {name, value});
}

}  // namespace

void add_sweep(CommandLine& command, Action& action) {
  struct Options {
    std::string scene, out, on = "threads", shard, address, duration, measure;
    Words vary, set;
    int seeds = 1, workers = 0, retries = 2;
    double jitter = 0.01;
  };
  auto o = std::make_shared<Options>();
  command.add_option("SCENE", o->scene, "a scene or a robot, by name or file")->required();
  command.add_list("--vary", o->vary, "KEY=VALUES", "KEY=a,b,c or KEY=lo:hi:n or KEY=lo:hi:n:log; may be repeated");
  command.add_list("--set", o->set, "KEY=VALUE", "for all points; may be repeated");
  command.add_option("--seeds", o->seeds, "runs of each setting; all but the first begin with noise")
      ->range(1, 1000000000)
      .capture_default_str();
  command.add_option("--jitter", o->jitter, "of the velocities that a seed draws [m/s] or [rad/s]")
      ->capture_default_str();
  command.add_option("--duration", o->duration, "of a run [s]; that of the scene where none is given")->number();
  command.add_option("--measure", o->measure, "FILE.py:FUNCTION of the simulation, which returns a dict");
  command.add_option("--on", o->on, "threads, ray, or shard: one after another in this process")->capture_default_str();
  command.add_option("--workers", o->workers, "threads or actors; 0: one a core")->range(0, 100000);
  command.add_option("--shard", o->shard, "K/N: the points K, K + N, ... (K from 0 to N - 1)");
  command.add_option("--address", o->address, "of a Ray cluster; auto: that of this machine");
  command.add_option("--retries", o->retries, "of points whose worker died")->range(0, 1000).capture_default_str();
  command.add_option("--out", o->out, "folder of the rows and the table")->required();
  command.footer(
      "A second call with the same folder goes on where the first one ended.\n\n"
      "Examples:\n"
      "  tribo sweep cube-slide --vary material.default.mu=0.1:1.0:10 --seeds 5 --out out/slide\n"
      "  tribo sweep solo --vary stepper.dt=1e-3,2e-3 --on shard --shard 3/16 --out out/dt");
  command.callback([o, &action] {
    action = [o] {
      Words words{"sweep", o->scene, "--out", o->out, "--on", o->on};
      for (const std::string& text : o->vary) add(words, "--vary", text);
      for (const std::string& text : o->set) add(words, "--set", text);
      add(words, "--seeds", std::to_string(o->seeds));
      add(words, "--jitter", shown(o->jitter));
      add(words, "--workers", std::to_string(o->workers));
      add(words, "--retries", std::to_string(o->retries));
      add(words, "--duration", o->duration);
      add(words, "--measure", o->measure);
      add(words, "--shard", o->shard);
      add(words, "--address", o->address);
      return hand_to_python(words);
    };
  });
}

void add_train(CommandLine& command, Action& action) {
  struct Options {
    std::string robot, out;
    int worlds = 256, iterations = 60, seed = 0, threads = 0, episodes = 500;
    bool lanes = false, no_film = false;
  };
  auto o = std::make_shared<Options>();
  command.add_option("ROBOT", o->robot, "solo, or a legged robot or scene by name or file")->required();
  command.add_option("--out", o->out, "folder of the policy, the checkpoint, the curves and the film")->required();
  command.add_option("--worlds", o->worlds, "that run at once")->range(1, 1000000).capture_default_str();
  command.add_option("--iterations", o->iterations, "of learning")->range(1, 1000000).capture_default_str();
  command.add_option("--seed", o->seed, "of the network and the worlds")->range(0, 1000000).capture_default_str();
  command.add_option("--threads", o->threads, "0: one a core")->range(0, 1000);
  command.add_option("--episodes", o->episodes, "of the test at the end")->range(1, 1000000).capture_default_str();
  command.add_flag("--lanes", o->lanes, "worlds side by side in SIMD lanes");
  command.add_flag("--no-film", o->no_film, "without a film of the result");
  command.footer(
      "A second call with the same folder goes on where the first one ended. Needs pip install "
      "'tribo[learn,render]'.\n\n"
      "Examples:\n"
      "  tribo train solo --out out/solo\n"
      "  tribo train go2-standing --iterations 300 --out out/go2");
  command.callback([o, &action] {
    action = [o] {
      Words words{"train", o->robot, "--out", o->out};
      add(words, "--worlds", std::to_string(o->worlds));
      add(words, "--iterations", std::to_string(o->iterations));
      add(words, "--seed", std::to_string(o->seed));
      add(words, "--threads", std::to_string(o->threads));
      add(words, "--episodes", std::to_string(o->episodes));
      if (o->lanes) words.emplace_back("--lanes");
      if (o->no_film) words.emplace_back("--no-film");
      return hand_to_python(words);
    };
  });
}

}  // namespace tribo::app
