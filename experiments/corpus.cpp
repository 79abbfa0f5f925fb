// The corpus of contact problems under tests/corpus: recorded from our scenes, or built from a chosen solution, each
// with a reference solution. `tribo experiment corpus --out tests/corpus` makes it anew.
#include <cmath>
#include <filesystem>
#include <random>

#include "base/file.hpp"
#include "io/problem_file.hpp"
#include "list.hpp"
#include "problems.hpp"
#include "reference.hpp"

namespace tribo::experiments {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  ContactProblem problem;
  VecX guess;
  VecX f, c;           ///< the solution, where it was chosen
  bool unique = true;  ///< of the velocities; large friction on arbitrary bodies allows several solutions
};

/// Problems of a scene at some of its times.
void add_scene(std::vector<Entry>& entries, const std::string& name, Scene scene, const std::vector<double>& times) {
  scene.duration = times.back() + scene.dt;
  scene.stepper_options.contact.tolerance = {0, 1e-10};
  const std::vector<Recorded> all = record(scene, 1);
  for (double t : times) {
    const Recorded* nearest = nullptr;
    for (const Recorded& r : all)
      if (!nearest || std::abs(r.t - t) < std::abs(nearest->t - t)) nearest = &r;
    if (!nearest) continue;
    const std::string at = std::to_string(std::lround(1e3 * t));
    entries.push_back({name + "-" + at + "ms", as_dense(nearest->problem), nearest->guess, {}, {}, true});
  }
}

/// Open, stick or slip by lot; f and c by the law; g = c - G f.
Entry chosen(unsigned seed, int nc, int dof, double mu) {
  std::mt19937 rng(seed);
  // Written out: the distributions of the standard library differ from one to the next.
  const auto uniform = [&](double a, double b) { return a + (b - a) * static_cast<double>(rng()) / 4294967296.0; };
  Entry e;
  e.name = "chosen-" + std::to_string(nc) + "x" + std::to_string(dof) + "-mu" + std::to_string(std::lround(100 * mu));
  e.problem.resize(nc, 0, true);
  MatX Y(3 * nc, dof);
  for (Eigen::Index k = 0; k < Y.size(); ++k) Y.data()[k] = uniform(-1, 1);
  e.problem.G() = Y * Y.transpose();
  e.problem.mu().setConstant(mu);
  e.problem.weight = 10;
  e.f.setZero(3 * nc), e.c.setZero(3 * nc);
  for (int i = 0; i < nc; ++i) {
    const double angle = uniform(-M_PI, M_PI), n = uniform(1, 5), speed = uniform(0.5, 2);
    const Vec3 d(std::cos(angle), std::sin(angle), 0);
    const int mode = i % 3;
    if (mode == 0) {
      e.f.segment<3>(3 * i) = n * (0.8 * mu * d + Vec3::UnitZ());
      if (mu == 0) e.c.segment<3>(3 * i) = speed * d;
    } else if (mode == 1) {
      e.f.segment<3>(3 * i) = n * (mu * d + Vec3::UnitZ());
      e.c.segment<3>(3 * i) = -speed * d;
    } else {
      e.c.segment<3>(3 * i) = speed * (d + Vec3::UnitZ());
    }
  }
  e.problem.g() = e.c - e.problem.G() * e.f;
  e.unique = mu < 1;
  e.guess = e.f + VecX::Constant(3 * nc, 0.01);
  return e;
}

std::vector<Entry> problems(const ExperimentOptions& options, const Progress& progress) {
  std::vector<Entry> e;
  add_scene(e, "solo-standing", scene_of(options, "solo-standing"), {0.001, 0.5});
  add_scene(e, "solo-pushed", solo_pushed(options), {0.101, 0.2, 0.3});
  add_scene(e, "talos-standing", scene_of(options, "talos-standing"), {0.1});
  add_scene(e, "talos-pushed", talos_pushed(options), {0.101, 0.2, 0.35});
  progress(0.2);
  add_scene(e, "allegro-grasp", scene_of(options, "allegro-ball"), {0.1, 0.5});
  add_scene(e, "allegro-drop", allegro_drop(options), {0.08, 0.2, 0.3});
  for (double ratio : {1e2, 1e3, 1e4}) {
    Scene scene = stack_of_two(options, ratio);
    add_scene(e, "stack-1e" + std::to_string(std::lround(std::log10(ratio))), scene, {0, 0.05});
  }
  progress(0.4);
  add_scene(e, "tower-equal", pushed_tower(std::vector<double>(8, 1.0)), {0, 0.02});
  add_scene(e, "tower-mixed", pushed_tower({1, 5, 0.2, 3, 10, 0.5, 2, 20}), {0, 0.02});
  for (double mu : {0.0, 0.1, 0.4, 1.0, 10.0}) {
    const Override friction{"material.default.mu", std::to_string(mu)};
    add_scene(e, "cube-mu" + std::to_string(std::lround(10 * mu)), scene_of(options, "cube-push", {friction}),
              {0.1, 0.6});
  }
  progress(0.8);
  unsigned seed = 0;
  for (double mu : {0.0, 0.3, 1.0, 10.0}) {
    e.push_back(chosen(++seed, 4, 24, mu));
    e.push_back(chosen(++seed, 8, 12, mu));
  }
  return e;
}

Json reference_json(const Reference& r, const Entry& e) {
  return {{"route", e.f.size() > 0 ? "chosen" : "modes"},
          {"unique", e.unique},
          {"modes", r.modes},
          {"residual", r.residual},
          {"lambda", std::vector<double>(r.f.begin(), r.f.end())},
          {"c", std::vector<double>(r.c.begin(), r.c.end())}};
}

Reference reference_of(const Entry& e) {
  if (e.f.size() > 0) return {e.f, e.c, "", exact_residual(e.problem, e.f, e.c)};
  Reference best;
  best.residual = std::numeric_limits<double>::infinity();
  for (const char* solver : {"admm", "newton"}) {
    const Solved near = solve(e.problem, {ContactModel::Ncp, solver}, {0, 1e-11}, e.guess);
    const Reference r = refine(e.problem, near.f);
    if (r.residual < best.residual) best = r;
    if (best.residual <= 1e-12) break;
  }
  return best;
}

}  // namespace

Result corpus(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  Table table{"Corpus of contact problems", {"problem", "contacts", "rows", "modes", "residual of the reference"}};
  double worst = 0;
  const std::vector<Entry> all = problems(options, progress);
  if (!options.out.empty()) fs::create_directories(fs::path(options.out) / "reference");
  for (const Entry& e : all) {
    const Reference r = reference_of(e);
    worst = std::max(worst, r.residual);
    table.rows.push_back({e.name, e.problem.nc(), e.problem.nr(), r.modes, r.residual});
    if (options.out.empty()) continue;
    ProblemFile file;
    file.name = e.name;
    file.problem = e.problem;
    file.lambda0 = e.guess;
    file.dt = 1e-3;
    write_problem(file, (fs::path(options.out) / (e.name + ".npz")).string());
    write_file((fs::path(options.out) / "reference" / (e.name + ".json")).string(), reference_json(r, e).dump() + "\n");
  }
  progress(1);
  result.settings = {{"problems", all.size()}};
  result.measures["worst_reference"] = worst;
  result.measures["problems"] = static_cast<double>(all.size());
  result.tables.push_back(table);
  return result;
}

}  // namespace tribo::experiments
