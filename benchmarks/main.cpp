// Steps per second of Tribo beside MuJoCo's C loop on equal scenes, and where the time of a Tribo step goes.
//
//   tribo_bench [--seconds S] [CASE ...]           the tables, S of CPU time a case (10)
//   tribo_bench --count CASE SIDE STEPS            STEPS steps within bench_counted(), for callgrind;
//                                                  SIDE: tribo-off, tribo-full, mujoco, mujoco-elliptic,
//                                                  mujoco-discrete, mujoco-sleep
//   tribo_bench --menagerie DIR                    every MJCF file of a folder (menagerie.cpp)
//   tribo_bench --derivatives                      the derivative of a step (derivatives.cpp)
//   tribo_bench --mjcf SCENE                       the exported scene
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "breakdown.hpp"
#include "derivatives.hpp"
#include "menagerie.hpp"
#include "runners.hpp"
#include "timing.hpp"
#include "tribo/dynamics.hpp"

using namespace tribo;
using namespace tribo::bench;

/// The symbol that callgrind switches on at.
extern "C" __attribute__((noinline)) void bench_counted(Runner& runner, int steps) { runner.step(steps); }

namespace {

struct Case {
  const char* name;
  const char* scene;  ///< in scenes/
  int settle;         ///< steps before the timed ones
  int block;          ///< steps timed at once
  int fall;           ///< steps that MuJoCo takes first, to make the state that all sides begin with
  bool kd_in_joint;   ///< of MuJoCo: where the servo's damping, taken explicitly, would be unstable
  std::vector<Override> change{};
  bool usual = true;  ///< of a run without names
};

std::vector<Override> swing(const char* amplitude, const char* frequency) {
  return {{"controller.sinusoid.amplitude", amplitude}, {"controller.sinusoid.frequency", frequency}};
}

const std::vector<Case> cases{
    {"cube", "cube", 2000, 500, 0, false},
    {"stack-10", "stack-10", 2000, 100, 0, false},
    {"solo-standing", "solo-standing", 2000, 400, 0, false},
    {"solo-bobbing", "solo-standing", 1000, 500, 0, false, swing("0.15", "2")},
    {"talos-standing", "talos-standing", 2000, 200, 0, false},
    {"talos-squatting", "talos-standing", 1000, 250, 0, false,
     swing("{\"leg_*_3_joint\" = -0.1, \"leg_*_4_joint\" = 0.2, \"leg_*_5_joint\" = -0.1}", "1")},
    {"allegro-ball", "allegro-ball", 1000, 300, 0, true},
    {"allegro-moving", "allegro-ball", 1000, 500, 0, true, swing("0.03", "1")},
    {"allegro-torsional", "allegro-ball", 1000, 300, 0, true, {{"material.default.torsional", "0.001"}}},
    {"ur10", "ur10", 2000, 1000, 0, false},
    {"ur10-swinging", "ur10", 1000, 1000, 0, false, swing("0.2", "0.5")},
    {"g1-falling", "g1-standing", 100, 300, 0, true, {{"robot.rpy", "[0, 0.3, 0]"}}},
    {"heap-100-falling", "heap-100", 1, 10, 700, false},
    {"heap-100", "heap-100", 100, 10, 3000, false},
    {"heap-1000", "heap-1000", 10, 3, 1500, false, {}, false},
};

const std::vector<std::string> sides{"tribo-off",       "tribo-full",      "mujoco",
                                     "mujoco-elliptic", "mujoco-discrete", "mujoco-sleep"};

const Case& find_case(const std::string& name) {
  std::string known;
  for (const Case& c : cases) {
    if (name == c.name) return c;
    known.append(known.empty() ? "" : ", ").append(c.name);
  }
  throw InvalidInput("unknown case '" + name + "'; known: " + known);
}

Scene load(const Case& c) {
  Scene scene = load_scene(std::string(TRIBO_SCENES_DIR) + "/" + c.scene + ".toml", c.change);
  scene.dt = 1e-3;
  return scene;
}

// side: "", or what stands after "mujoco-".
MjcfOptions mujoco_options(const Case& c, const std::string& side = "") {
  MjcfOptions options;
  if (side == "elliptic") options.cone = "elliptic";
  if (side == "discrete") options.integrator = "discrete";
  options.sleep = side == "sleep";
  options.kd_in_joint = c.kd_in_joint;
  return options;
}

std::unique_ptr<Runner> make_runner(const Case& c, const Scene& scene, const std::string& side) {
  if (side == "tribo-off") return std::make_unique<TriboRunner>(scene, tribo_options(AuditLevel::Off));
  if (side == "tribo-full") return std::make_unique<TriboRunner>(scene, tribo_options(AuditLevel::Full));
  for (const std::string& known : sides)
    if (side == known)
      return std::make_unique<MujocoRunner>(scene, mujoco_options(c, side == "mujoco" ? "" : side.substr(7)));
  throw InvalidInput("unknown side '" + side +
                     "'; known: tribo-off, tribo-full, mujoco, mujoco-elliptic, mujoco-discrete, mujoco-sleep");
}

State begin_state(const Case& c, const Scene& scene) {
  State state = scene.start;
  if (c.fall == 0) return state;
  MujocoPeer peer(scene, mujoco_options(c));
  for (int k = 0; k < c.fall; ++k) peer.step();
  peer.get_state(state);
  return state;
}

// How far the two models are from being one; a comparison of unequal ones is refused.
void print_equality(const Case& c, const Scene& scene) {
  const MujocoPeer peer(scene, mujoco_options(c));
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  const MatX ours = dynamics.mass_matrix(), theirs = peer.mass_matrix();
  const double mass = std::abs(peer.mass() / scene.model->mass() - 1), matrix = (ours - theirs).norm() / ours.norm();
  std::printf("  equal: mass %.6g kg, differs by %.1e; mass matrix differs by %.1e (relative, Frobenius)\n",
              scene.model->mass(), mass, matrix);
  if (!(mass < 1e-9) || !(matrix < 1e-9)) throw std::runtime_error(std::string(c.name) + ": the scenes are not equal");
}

struct Line {
  std::string scene;
  std::vector<double> us;  ///< of each side
  std::vector<Part> parts{};
  double bare = 1e300;  ///< Tribo, audit off, without recovery [us]
};

// Mean over states of the timed block, one after the other: whether a solve iterates can have a period.
std::vector<Part> parts_of(const Case& c, const Scene& scene, TriboRunner& runner) {
  const int samples = std::min(c.block, 16);
  std::vector<Part> mean;
  runner.restore();
  for (int k = 0; k < samples; ++k) {
    runner.step(1);
    const std::vector<Part> parts = breakdown(scene, runner.state(), tribo_options(AuditLevel::Off));
    if (mean.empty()) mean = parts;
    for (std::size_t i = 0; i < parts.size() && k > 0; ++i) mean[i].us += parts[i].us;
  }
  for (Part& part : mean) part.us /= samples;
  return mean;
}

Line measure(const Case& c, double seconds) {
  const double begin_time = cpu_seconds();
  const Scene scene = load(c);
  std::printf("%s\n", c.name);
  print_equality(c, scene);
  const State begin = begin_state(c, scene);
  std::vector<std::unique_ptr<Runner>> runners;
  Line line{.scene = c.name, .us = std::vector<double>(sides.size(), 1e300)};
  std::vector<double> height(sides.size());
  for (std::size_t s = 0; s < sides.size(); ++s) {
    runners.push_back(make_runner(c, scene, sides[s]));
    runners[s]->start(begin);
    height[s] = runners[s]->center_of_mass().z();
    runners[s]->step(c.settle);
    runners[s]->keep();
  }
  auto& off = dynamic_cast<TriboRunner&>(*runners[0]);
  TriboRunner bare(scene, tribo_options(AuditLevel::Off, false));
  bare.keep(off.state());
  auto block = [&](Runner& runner, double& us) {
    runner.restore();
    runner.step(1);  // caches, and what restoring costs
    const double start = cpu_seconds();
    runner.step(c.block);
    us = std::min(us, 1e6 * (cpu_seconds() - start) / c.block);
  };
  for (int r = 0; r < 3 || (r < 150 && cpu_seconds() - begin_time < seconds); ++r) {
    for (std::size_t s = 0; s < sides.size(); ++s) block(*runners[s], line.us[s]);
    block(bare, line.bare);
  }
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const std::string trouble = runners[s]->trouble();
    std::printf("  %-16s %9.2f us a step, %3d contacts, %.4f mm deep, mass centre %+.4f mm since the start%s%s\n",
                sides[s].c_str(), line.us[s], runners[s]->contacts(), 1e3 * runners[s]->overlap(),
                1e3 * (runners[s]->center_of_mass().z() - height[s]), trouble.empty() ? "" : ", ", trouble.c_str());
  }
  std::fflush(stdout);
  line.parts = parts_of(c, scene, off);
  return line;
}

void print_tables(const std::vector<Line>& lines) {
  std::printf(
      "\nsteps per second (dt 1 ms), MuJoCo %s; ratios are Tribo with audit full over each\n"
      "| case | Tribo, audit off | Tribo, audit full | MuJoCo | elliptic | discrete | sleep | ratio | elliptic | "
      "discrete "
      "| sleep |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      MujocoPeer::version().c_str());
  for (const Line& l : lines) {
    std::printf("| %s |", l.scene.c_str());
    for (double us : l.us) std::printf(" %.0f |", 1e6 / us);
    for (std::size_t s = 2; s < l.us.size(); ++s) std::printf(" %.2f |", l.us[s] / l.us[1]);
    std::printf("\n");
  }
  std::printf("\nparts of a step of Tribo (us)\n| scene |");
  for (const Part& part : lines.front().parts) std::printf(" %s |", part.name.c_str());
  std::printf(" recovery | rest | step | audit |\n|---|---|---|---|---|");
  for (std::size_t i = 0; i < lines.front().parts.size(); ++i) std::printf("---|");
  for (const Line& l : lines) {
    double sum = 0;
    std::printf("\n| %s |", l.scene.c_str());
    for (const Part& part : l.parts) {
      std::printf(" %.2f |", part.us);
      sum += part.us;
    }
    std::printf(" %.2f | %.2f | %.2f | %+.2f |", l.us[0] - l.bare, l.bare - sum, l.us[0], l.us[1] - l.us[0]);
  }
  std::printf("\n");
}

int count(const std::string& name, const std::string& side, int steps) {
  const Case& c = find_case(name);
  const Scene scene = load(c);
  const State begin = begin_state(c, scene);
  const auto runner = make_runner(c, scene, side);
  runner->start(begin);
  runner->step(c.settle);
  bench_counted(*runner, steps);
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "--count") return count(words[1], words[2], std::atoi(words[3].c_str()));
  if (words.size() == 2 && words[0] == "--mjcf") {
    const Case& c = find_case(words[1]);
    std::printf("%s\n", to_mjcf(load(c), mujoco_options(c)).c_str());
    return 0;
  }
  if (words.size() == 2 && words[0] == "--menagerie") return compare_folder(words[1]);
  if (words.size() == 1 && words[0] == "--derivatives") return bench_derivatives();
  double seconds = 10;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--seconds" && i + 1 < words.size())
      seconds = std::atof(words[++i].c_str());
    else
      names.push_back(words[i]);
  }
  if (names.empty())
    for (const Case& c : cases)
      if (c.usual) names.push_back(c.name);
  std::vector<Line> lines;
  for (const std::string& name : names) {
    const Case& c = find_case(name);
    lines.push_back(measure(c, seconds));
  }
  print_tables(lines);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tribo_bench: %s\n", error.what());
    return 2;
  }
}
