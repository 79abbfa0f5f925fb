// Steps per second of Tribo beside MuJoCo's C loop on equal scenes.
//
//   tribo_bench [--seconds S] [CASE ...]           the table, about S of CPU time a case (2), told case by case;
//                                                  --sides A,B: only these; mujoco-firm-N: contacts as firm as it
//                                                  takes them, N steps a millisecond
//                                                  --state FILE: a saved state instead of the scene's start
//                                                  --settle N: steps before the timed ones
//                                                  --from-ours: MuJoCo begins where the first side, Tribo, has settled
//   tribo_bench --count CASE SIDE STEPS            STEPS steps within bench_counted(), for callgrind;
//                                                  SIDE: tribo-off, tribo-full, tribo-sleep, mujoco, mujoco-elliptic,
//                                                  mujoco-discrete, mujoco-sleep
//   tribo_bench --menagerie DIR|FILE.xml           every MJCF file of a folder, or one (menagerie.cpp)
//   tribo_bench --derivatives                      the derivative of a step (derivatives.cpp)
//   tribo_bench --mjcf CASE|FILE.toml              the exported scene; of a file with kd in the joints
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "base/cpu_time.hpp"
#include "derivatives.hpp"
#include "menagerie.hpp"
#include "runners.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/rigid.hpp"

using namespace tribo;
using namespace tribo::bench;

/// The symbol that callgrind switches on at.
extern "C" __attribute__((noinline)) void bench_counted(Runner& runner, int steps) { runner.step(steps); }

namespace {

struct Case {
  const char* name;
  const char* scene;  ///< in scenes/, or beside this file
  int settle;         ///< steps that each side takes by itself before the timed ones
  int block;          ///< steps timed at once
  bool kd_in_joint;   ///< of MuJoCo: where the servo's damping, taken explicitly, would be unstable
  std::vector<Override> change{};
  bool usual = true;    ///< of a run without names
  bool sleeps = false;  ///< has bodies that may sleep
};

std::vector<Override> swing(const char* amplitude, const char* frequency) {
  return {{"controller.sinusoid.amplitude", amplitude}, {"controller.sinusoid.frequency", frequency}};
}

const std::vector<Case> cases{
    {"cube", "cube", 2000, 500, false, {}, true, true},
    {"stack-10", "stack-10", 2000, 100, false, {}, true, true},
    {"solo-standing", "solo-standing", 2000, 400, false},
    {"solo-bobbing", "solo-standing", 1000, 500, false, swing("0.15", "2")},
    {"talos-standing", "talos-standing", 2000, 200, false},
    {"talos-squatting", "talos-standing", 1000, 250, false,
     swing("{\"leg_*_3_joint\" = -0.1, \"leg_*_4_joint\" = 0.2, \"leg_*_5_joint\" = -0.1}", "1")},
    {"allegro-ball", "allegro-ball", 1000, 300, true},
    {"allegro-moving", "allegro-ball", 1000, 500, true, swing("0.03", "1")},
    {"allegro-torsional", "allegro-ball", 1000, 300, true, {{"material.default.torsional", "0.001"}}},
    {"ur10", "ur10", 2000, 1000, false},
    {"ur10-swinging", "ur10", 1000, 1000, false, swing("0.2", "0.5")},
    {"g1-falling", "g1-standing", 100, 300, true, {{"robot.rpy", "[0, 0.3, 0]"}}},
    {"heap-100-falling", "heap-100", 700, 20, false},
    {"heap-100", "heap-100", 6000, 20, false, {}, true, true},
    {"spheres-300", "../benchmarks/scenes/spheres-300", 220, 5, false},
    {"heap-1000-falling", "heap-1000", 600, 3, false, {}, false},
    {"heap-1000", "heap-1000", 3500, 3, false, {}, false, true},
};

const std::vector<std::string> sides{"tribo",           "tribo-sleep",     "mujoco",
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

// N of "firm-N"; 0: another side.
int firm_steps(const std::string& side) { return side.starts_with("firm-") ? std::atoi(side.c_str() + 5) : 0; }

// side: "", or what stands after "mujoco-".
MjcfOptions mujoco_options(const Case& c, const std::string& side = "") {
  MjcfOptions options;
  if (side == "elliptic") options.cone = "elliptic";
  if (side == "discrete") options.integrator = "discrete";
  options.sleep = side == "sleep";
  options.firm = firm_steps(side) > 0;
  if (options.firm) options.dt /= firm_steps(side);
  options.kd_in_joint = c.kd_in_joint;
  return options;
}

// Bodies that rest sleep after 0.3 s.
StepperOptions asleep(StepperOptions options) {
  RigidOptions own;
  own.sleep = 0.3;
  options.own = own;
  return options;
}

std::unique_ptr<Runner> make_runner(const Case& c, const Scene& scene, const std::string& side) {
  if (side == "tribo" || side == "tribo-full")
    return std::make_unique<TriboRunner>(scene, tribo_options(AuditLevel::Full));
  if (side == "tribo-sleep") return std::make_unique<TriboRunner>(scene, asleep(tribo_options(AuditLevel::Full)));
  if (side == "tribo-off") return std::make_unique<TriboRunner>(scene, tribo_options(AuditLevel::Off));
  const std::string kind = side.starts_with("mujoco-") ? side.substr(7) : "";
  const bool listed = std::find(sides.begin(), sides.end(), side) != sides.end();
  if (listed || firm_steps(kind) > 0)
    return std::make_unique<MujocoRunner>(scene, mujoco_options(c, kind), std::max(1, firm_steps(kind)));
  throw InvalidInput("unknown side '" + side +
                     "'; known: tribo (or tribo-full), tribo-off, tribo-sleep, mujoco, mujoco-elliptic, "
                     "mujoco-discrete, mujoco-sleep, mujoco-firm-N");
}

// How far the two models are from being one; a comparison of unequal ones is refused.
void check_equality(const Case& c, const Scene& scene) {
  const MujocoPeer peer(scene, mujoco_options(c));
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  const MatX ours = dynamics.mass_matrix(), theirs = peer.mass_matrix();
  const double mass = std::abs(peer.mass() / scene.model->mass() - 1), matrix = (ours - theirs).norm() / ours.norm();
  if (!(mass < 1e-9) || !(matrix < 1e-9)) throw std::runtime_error(std::string(c.name) + ": the scenes are not equal");
}

// One side of a case.
struct Timed {
  std::unique_ptr<Runner> runner;
  double us = 1e300;  ///< least CPU time of a step
  double deep = 0;    ///< deepest overlap in a block [m]
  double creep = 0;   ///< mean speed of the mass centre over a block [m/s]
};

void time_block(const Case& c, const Scene& scene, Timed& t) {
  t.runner->restore();
  t.runner->step(1);  // caches, and what restoring costs
  const Vec3 before = t.runner->center_of_mass();
  const double start = cpu_seconds();
  t.runner->step(c.block);
  t.us = std::min(t.us, 1e6 * (cpu_seconds() - start) / c.block);
  t.creep = (t.runner->center_of_mass() - before).norm() / (c.block * scene.dt);
}

// A block step by step.
void find_deepest(const Case& c, Timed& t) {
  t.runner->restore();
  t.runner->step(1);
  for (int k = 0; k < c.block; ++k) {
    t.runner->step(1);
    t.deep = std::max(t.deep, t.runner->overlap());
  }
}

struct Choice {
  std::string sides;       ///< with commas between; empty: all
  bool from_ours = false;  ///< MuJoCo begins where Tribo has settled
  std::string state;       ///< file with the start; empty: that of the scene
  int settle = -1;         ///< steps before the timed ones; negative: those of the case
};

std::vector<std::string> sides_of(const Case& c, const std::string& chosen) {
  std::vector<std::string> names;
  if (chosen.empty()) {
    for (const std::string& side : sides)
      if (side != "tribo-sleep" || c.sleeps) names.push_back(side);
    return names;
  }
  std::istringstream words(chosen);
  for (std::string side; std::getline(words, side, ',');) names.push_back(side);
  return names;
}

// A row of the table for each side, as soon as the case is timed.
void measure(const Case& c, double seconds, const Choice& choice) {
  const Scene scene = load(c);
  check_equality(c, scene);
  const State first = choice.state.empty() ? scene.start : load_state(*scene.model, choice.state);
  std::vector<Timed> timed;
  const std::vector<std::string> names = sides_of(c, choice.sides);
  for (const std::string& side : names) {
    timed.push_back({.runner = make_runner(c, scene, side)});
    Runner& runner = *timed.back().runner;
    const auto* ours = choice.from_ours ? dynamic_cast<const TriboRunner*>(timed.front().runner.get()) : nullptr;
    const bool begins_there = ours && side.starts_with("mujoco");
    runner.start(begins_there ? ours->state() : first);
    if (!begins_there) runner.step(choice.settle < 0 ? c.settle : choice.settle);
    runner.keep();
  }
  const double begin = cpu_seconds();
  for (int r = 0; r < 3 || (r < 150 && cpu_seconds() - begin < seconds); ++r)
    for (Timed& t : timed) time_block(c, scene, t);
  for (Timed& t : timed) find_deepest(c, t);
  for (std::size_t s = 0; s < timed.size(); ++s) {
    const Timed& t = timed[s];
    std::printf("| %s | %s | %.1f | %.0f | %.2f | %d | %.5f | %.3g | %s |\n", c.name, names[s].c_str(), t.us,
                1e6 / t.us, t.us / timed[0].us, t.runner->contacts(), 1e3 * t.deep, 1e6 * t.creep,
                t.runner->trouble().c_str());
  }
  std::fflush(stdout);
}

int count(const std::string& name, const std::string& side, int steps) {
  const Case& c = find_case(name);
  const Scene scene = load(c);
  const auto runner = make_runner(c, scene, side);
  runner->start(scene.start);
  runner->step(c.settle);
  bench_counted(*runner, steps);
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "--count") return count(words[1], words[2], std::atoi(words[3].c_str()));
  if (words.size() == 2 && words[0] == "--mjcf") {
    if (words[1].ends_with(".toml")) {
      const Scene scene = load_scene(words[1]);
      MjcfOptions options;
      options.dt = scene.dt;
      options.kd_in_joint = true;
      std::printf("%s\n", to_mjcf(scene, options).c_str());
      return 0;
    }
    const Case& c = find_case(words[1]);
    std::printf("%s\n", to_mjcf(load(c), mujoco_options(c)).c_str());
    return 0;
  }
  if (words.size() == 2 && words[0] == "--menagerie") return compare_folder(words[1]);
  if (words.size() == 1 && words[0] == "--derivatives") return bench_derivatives();
  double seconds = 2;
  Choice choice;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--seconds" && i + 1 < words.size())
      seconds = std::atof(words[++i].c_str());
    else if (words[i] == "--sides" && i + 1 < words.size())
      choice.sides = words[++i];
    else if (words[i] == "--state" && i + 1 < words.size())
      choice.state = words[++i];
    else if (words[i] == "--settle" && i + 1 < words.size())
      choice.settle = std::atoi(words[++i].c_str());
    else if (words[i] == "--from-ours")
      choice.from_ours = true;
    else
      names.push_back(words[i]);
  }
  if (names.empty())
    for (const Case& c : cases)
      if (c.usual) names.push_back(c.name);
  std::printf(
      "MuJoCo %s, dt 1 ms, one thread, least CPU time; ratio: time over Tribo's (audit full)\n"
      "| case | side | us a step | steps/s | ratio | contacts | mm deep | mass centre um/s | trouble |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      MujocoPeer::version().c_str());
  for (const std::string& name : names) measure(find_case(name), seconds, choice);
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
