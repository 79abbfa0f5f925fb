// The pendulum's tables and pictures: figs. 6 to 14 and table I of Wakisaka2014, and what the paper does not tell.
#include <cmath>
#include <cstdio>
#include <map>

#include "list.hpp"
#include "pendulum.hpp"
#include "scenes.hpp"
#include "tribo/momentum.hpp"

namespace tribo::experiments {
namespace {

MomentumOptions friction_afterwards() {
  MomentumOptions options;
  options.friction_in_program = false;
  return options;
}

MacroscopicOptions macroscopic(SingularSolve singular) {
  MacroscopicOptions options;
  options.singular = singular;
  return options;
}

const std::vector<PendulumMethod> methods = {
    {"momentum", "momentum", "momentum"},
    {"pivoting", "macroscopic, pivoting", "macroscopic", 1e-3, macroscopic(SingularSolve::Pivoting)},
    {"minimum_norm", "macroscopic, minimum norm", "macroscopic", 1e-3, macroscopic(SingularSolve::MinimumNorm)},
    {"relaxed", "relaxed, soft springs", "relaxed"},
    {"afterwards", "momentum, friction cut afterwards", "momentum", 1e-3, friction_afterwards()},
    {"microscopic", "microscopic", "microscopic", 1e-5}};

constexpr double duration = 5;  // [s]

std::size_t index_at(const PendulumRun& run, double t) {
  std::size_t k = 0;
  while (k + 1 < run.t.size() && run.t[k] < t - 1e-9) ++k;
  return k;
}

Panel snapshots(const PendulumMethod& method, const PendulumRun& run) {
  Panel panel{"Snapshots, " + method.label, "x [m]", "z [m]"};
  panel.equal = true;
  for (double t : {0.001, 0.2, 0.4, 0.6, 0.792, 0.99, 5.0}) {
    if (run.shape.empty()) break;
    char label[16];
    std::snprintf(label, sizeof label, "%.2f s", t);
    Series line{label};
    for (const Vec3& p : run.shape[index_at(run, t)]) line.x.push_back(p.x()), line.y.push_back(p.z());
    panel.series.push_back(line);
  }
  return panel;
}

using Pick = double (*)(const VertexSample&);

Panel over_time(const std::string& title, const std::string& unit, const PendulumRun& run, Pick pick, double from,
                double to, std::size_t most) {
  Panel panel{title, "time [s]", unit};
  int number = 0;
  for (int vertex : run.chosen) {
    std::vector<double> t, y;
    for (std::size_t k = 0; k < run.t.size(); ++k) {
      if (run.t[k] < from || run.t[k] > to) continue;
      t.push_back(run.t[k]);
      y.push_back(pick(run.vertices[k][static_cast<std::size_t>(vertex)]));
    }
    panel.series.push_back(series_of("vertex " + std::to_string(++number), t, y, most));
  }
  return panel;
}

double normal_of(const VertexSample& v) { return v.normal; }
double friction_of(const VertexSample& v) { return v.friction; }
double state_of(const VertexSample& v) { return v.mode == ContactMode::Open ? 0 : v.mode == ContactMode::Slip ? 1 : 2; }

void add_panels(const std::map<std::string, PendulumRun>& runs, Result& result) {
  for (const PendulumMethod& m : methods) {
    if (m.key == "minimum_norm" || m.key == "relaxed" || m.key == "afterwards") continue;
    result.panels.push_back(snapshots(m, runs.at(m.key)));
  }
  result.panels.push_back(over_time("States, momentum (0 open, 1 sliding, 2 at rest)", "state", runs.at("momentum"),
                                    state_of, 0.5, duration, 1500));
  for (const PendulumMethod& m : methods) {
    if (m.key == "relaxed" || m.key == "afterwards") continue;
    const PendulumRun& run = runs.at(m.key);
    result.panels.push_back(
        over_time("Normal forces, " + m.label, "normal force [N]", run, normal_of, 2, duration, 3000));
    result.panels.push_back(
        over_time("Friction forces, " + m.label, "friction along x [N]", run, friction_of, 2, duration, 3000));
  }
}

/// Springs that bound the step to that of the paper, which does not give its own: stiffer, as well damped.
void stiffer_springs(const ExperimentOptions& options, Result& result) {
  Table table{"Microscopic method: largest stable step over its springs",
              {"K [N/m]", "B [N s/m]", "largest stable dt [s]"},
              {{1e5, 300, result.measures.at("microscopic_largest_dt")}}};
  const double factor = 1e3, K = 1e5 * factor, B = 300 * std::sqrt(factor);
  const PendulumMethod stiff = {
      "stiff",
      "",
      "microscopic",
      1e-5,
      {},
      {{"material.default.stiffness", std::to_string(K)}, {"material.default.damping", std::to_string(B)}}};
  double best = 0;
  for (double dt : {5e-6, 1e-5, 2e-5, 5e-5}) {
    if (!swing(options, stiff, dt, duration).stable()) break;
    best = dt;
  }
  table.rows.push_back({K, B, best});
  result.measures["microscopic_stiff_largest_dt"] = best;
  result.tables.push_back(table);
}

/// Largest step of a ladder up to which every smaller one is stable too.
double largest_stable(const ExperimentOptions& options, const PendulumMethod& method, bool quick) {
  std::vector<double> ladder = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 7e-3, 1e-2, 1.5e-2, 2e-2, 3e-2, 5e-2};
  if (method.key == "microscopic") ladder = {2e-5, 5e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3};
  if (quick) ladder = {method.key == "microscopic" ? 1e-4 : 1e-3};
  double best = 0;
  for (double dt : ladder) {
    if (!swing(options, method, dt, duration).stable()) break;
    best = dt;
  }
  return best;
}

/// A cube launched along the ground: where it stops, how far its centre rises, how far it turns.
void trip(const ExperimentOptions& options, Result& result) {
  Table table{"A cube of 0.2 m launched at 3 m/s, mu 0.4: 1.1468 m by Coulomb's law",
              {"sliding friction", "distance [m]", "rise of the centre [m]", "turned [rad]"}};
  for (const bool inside : {true, false}) {
    Scene scene = scene_of(options, "cube-slide");
    scene.set_stepper("momentum");
    scene.stepper_options.own.as<MomentumOptions>().friction_in_program = inside;
    const Path path = follow(scene);
    double rise = 0, turned = 0;
    for (Eigen::Index k = 0; k < path.q.cols(); ++k) {
      rise = std::max(rise, path.q(2, k) - 0.1);
      turned = std::max(turned, 2 * std::acos(std::min(1.0, std::abs(path.q(6, k)))));
    }
    const std::string key = inside ? "cube_inside" : "cube_afterwards";
    result.measures[key + "_distance"] = path.x.back();
    result.measures[key + "_rise"] = rise;
    result.measures[key + "_turned"] = turned;
    table.rows.push_back({inside ? "in the program" : "cut afterwards", path.x.back(), rise, turned});
  }
  result.tables.push_back(table);
}

}  // namespace

Result pendulum(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const double micro_dt = options.quick ? 1e-4 : 1e-5;
  result.settings = {{"scene", "six-link-pendulum"}, {"duration", duration}, {"microscopic_dt", micro_dt}};
  Table table{"Six-link pendulum, 5 s",
              {"method", "dt [s]", "largest stable dt [s]", "CPU [s]", "CPU over momentum", "chatter",
               "travel 4 to 5 s [m]", "depth at rest [m]", "share at rest", "friction at rest [N]", "ledger"}};
  std::map<std::string, PendulumRun> runs;
  std::size_t done = 0;
  for (const PendulumMethod& m : methods) {
    const double dt = m.key == "microscopic" ? micro_dt : m.dt;
    runs[m.key] = swing(options, m, dt, duration);
    progress(0.5 * static_cast<double>(++done) / static_cast<double>(methods.size()));
  }
  const double reference = runs["momentum"].cpu;
  for (const PendulumMethod& m : methods) {
    const PendulumRun& run = runs[m.key];
    const double dt = m.key == "microscopic" ? micro_dt : m.dt;
    const double largest_dt = largest_stable(options, m, options.quick);
    table.rows.push_back({m.label, dt, largest_dt, run.cpu, run.cpu / reference, run.chatter(), run.travel(),
                          run.depth_at_rest(), run.share_at_rest(), run.friction_at_rest(), run.audit.ledger_error});
    auto& measures = result.measures;
    measures[m.key + "_stable"] = run.stable();
    measures[m.key + "_largest_dt"] = largest_dt;
    measures[m.key + "_cost"] = run.cpu / reference;
    measures[m.key + "_chatter"] = run.chatter();
    measures[m.key + "_travel"] = run.travel();
    measures[m.key + "_depth"] = run.depth_at_rest();
    measures[m.key + "_at_rest"] = run.share_at_rest();
    measures[m.key + "_ledger"] = run.audit.ledger_error;
    measures[m.key + "_friction"] = std::abs(run.friction_at_rest());
    progress(0.5 + 0.5 * static_cast<double>(++done - methods.size()) / static_cast<double>(methods.size()));
  }
  // What the paper saw between 0.79 and 0.99 s: how far the shapes differ.
  auto apart = [&](const char* key, double t) {
    const auto &a = runs["momentum"].shape[index_at(runs["momentum"], t)], &b = runs[key].shape[index_at(runs[key], t)];
    double most = 0;
    for (std::size_t k = 0; k < a.size() && k < b.size(); ++k) most = std::max(most, (a[k] - b[k]).norm());
    return most;
  };
  result.measures["relaxed_over_momentum_travel"] = runs["relaxed"].travel() / runs["momentum"].travel();
  result.measures["apart_early_microscopic"] = apart("microscopic", 0.5);
  result.measures["apart_impact_microscopic"] = std::max(apart("microscopic", 0.79), apart("microscopic", 0.99));
  result.measures["apart_impact_pivoting"] = std::max(apart("pivoting", 0.79), apart("pivoting", 0.99));
  result.tables.push_back(table);
  if (!options.quick) stiffer_springs(options, result);
  trip(options, result);
  add_panels(runs, result);
  return result;
}

}  // namespace tribo::experiments
