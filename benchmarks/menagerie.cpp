// Tribo and MuJoCo read the same file, each with its own reader, take the file's timestep and the pose and controls
// that MuJoCo begins with, settle half a second and are timed in turn. What is told of each: CPU time a step, the
// deepest overlap, how far the mass centre fell, and whether the state stayed finite.
#include "menagerie.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/cpu_time.hpp"
#include "base/names.hpp"
#include "runners.hpp"

namespace tribo::bench {
namespace {

namespace fs = std::filesystem;

constexpr double settle = 0.5, longest = 2;  // [s] of the simulation, and of CPU time to settle in
constexpr int rounds = 5, block = 40;

struct MujocoFile {
  std::unique_ptr<mjModel, void (*)(mjModel*)> m{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> d{nullptr, mj_deleteData};

  explicit MujocoFile(const std::string& path) {
    char error[500] = "";
    m.reset(mj_loadXML(path.c_str(), nullptr, error, sizeof error));
    if (!m) throw InvalidInput(error);
    d.reset(mj_makeData(m.get()));
    mj_forward(m.get(), d.get());
  }
  void step() { mj_step(m.get(), d.get()); }
  double overlap() const {
    double deepest = 0;
    for (int k = 0; k < d->ncon; ++k) deepest = std::max(deepest, -d->contact[k].dist);
    return deepest;
  }
  double height() const { return d->subtree_com[2]; }
  bool fine() const {
    int bad = 0;
    for (int w = 0; w < mjNWARNING; ++w) bad += w != mjWARN_CNSTRFULL && d->warning[w].number > 0;
    return bad == 0;
  }
};

// The file as a robot of its own, under the controls that MuJoCo has, without a ground beside the file's.
Simulation load(const std::string& path, const MujocoFile& peer) {
  std::string text = "[ground]\nnone = true\n[robot]\nmodel = \"" + path + "\"\n";
  if (peer.m->nu > 0) {
    text += "[controller]\nname = \"actuators\"\ncontrol = [";
    for (int k = 0; k < peer.m->nu; ++k) text += (k > 0 ? ", " : "") + shown(peer.d->ctrl[k]);
    text += "]\n";
  }
  Scene scene = parse_scene(text, path);
  scene.dt = peer.m->opt.timestep;
  scene.stepper = "rigid";
  scene.stepper_options = tribo_options(AuditLevel::Full);
  return make_simulation(scene);
}

// Until the time, or until the CPU time is spent.
template <class Step>
void settle_by(Step&& step, int steps) {
  const double begin = cpu_seconds();
  for (int k = 0; k < steps && cpu_seconds() - begin < longest; ++k) step();
}

double ratio_of(const std::string& path, const std::string& name) {
  MujocoFile peer(path);
  const double dt = peer.m->opt.timestep, before = peer.height();
  Simulation ours = load(path, peer);
  const int steps = static_cast<int>(settle / dt);
  settle_by([&] { peer.step(); }, steps);
  StepReport last;
  settle_by([&] { last = ours.step(); }, steps);
  double us[2] = {1e300, 1e300};
  for (int r = 0; r < rounds; ++r) {
    double start = cpu_seconds();
    for (int k = 0; k < block; ++k) last = ours.step();
    us[0] = std::min(us[0], 1e6 * (cpu_seconds() - start) / block);
    start = cpu_seconds();
    for (int k = 0; k < block; ++k) peer.step();
    us[1] = std::min(us[1], 1e6 * (cpu_seconds() - start) / block);
    if (us[0] > 1e5) break;
  }
  const Audit& audit = ours.audit();
  std::printf("| %s | %.1f | %.1f | %.2f | %.3f | %.3f | %.3f | %llu | %s | %s |\n", name.c_str(), us[0], us[1],
              us[1] / us[0], 1e3 * last.penetration, 1e3 * peer.overlap(), before - peer.height(),
              static_cast<unsigned long long>(audit.unconverged), to_string(audit.status).c_str(),
              peer.fine() ? "ok" : "warned");
  std::fflush(stdout);
  return us[1] / us[0];
}

}  // namespace

int compare_folder(const std::string& folder) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(folder)) {
    files.emplace_back(folder);
  } else {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(folder))
      if (e.is_regular_file() && e.path().extension() == ".xml") files.push_back(e.path());
  }
  std::sort(files.begin(), files.end());
  std::printf(
      "| file | Tribo us | MuJoCo us | ratio | Tribo deep mm | MuJoCo deep mm | MuJoCo fell m | unconverged | Tribo | "
      "MuJoCo |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<double> ratios;
  for (const fs::path& file : files) {
    const std::string name = files.size() > 1 ? fs::relative(file, folder).string() : file.filename().string();
    try {
      ratios.push_back(ratio_of(fs::absolute(file).string(), name));
    } catch (const std::exception& error) {
      std::printf("| %s | not compared: %.120s |\n", name.c_str(), error.what());
    }
  }
  std::sort(ratios.begin(), ratios.end());
  if (ratios.empty()) {
    std::printf("no file of %zu was read by both\n", files.size());
    return 1;
  }
  const auto below = std::lower_bound(ratios.begin(), ratios.end(), 0.5) - ratios.begin();
  std::printf("%zu files of %zu: median ratio %.2f, least %.2f, %td below 0.5\n", ratios.size(), files.size(),
              ratios[ratios.size() / 2], ratios.front(), below);
  return 0;
}

}  // namespace tribo::bench
