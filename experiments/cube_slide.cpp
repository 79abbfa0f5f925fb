// A cube of 1 kg launched along the ground at 1 m/s, mu 0.4, dt 1 ms (LeLidec2024, figs. 6, 9 and 10).
// Coulomb's law fixes the answer: it stays on its line, on the ground, and its energy is m (v0 - mu g t)^2 / 2.
#include <cmath>
#include <numbers>

#include "list.hpp"
#include "scenes.hpp"
#include "tribo/solver_options.hpp"

namespace tribo::experiments {
namespace {

constexpr double v0 = 1, mu = 0.4, gravity = 9.81, mass = 1;

const std::vector<Setup> setups = {
    {"ncp:newton", "rigid:ncp:newton"}, {"ncp:newton, 1e-12", "rigid:ncp:newton", 1e-3, {0, 1e-12}},
    {"ncp:pgs", "rigid:ncp:pgs"},       {"raisim", "rigid:raisim:raisim"},
    {"ccp:admm", "rigid:ccp:admm"},     {"ccp:admm, wide margin", "rigid:ccp:admm", 0.05},
    {"lcp:pgs", "rigid:lcp:pgs"},       {"lcp:lemke", "rigid:lcp:lemke"}};

struct Slide {
  Path path;
  double drift = 0;         ///< sideways, at the end [m]
  double distance = 0;      ///< along the line, over that of the same steps under Coulomb's law, less 1 [-]
  double lift = 0;          ///< highest point of the centre over its rest [m]
  double energy_error = 0;  ///< largest, against Coulomb [J]
  std::vector<double> error = {};
};

Slide slide(const ExperimentOptions& options, const Setup& setup, double angle) {
  Scene scene = scene_of(options, "cube-slide");
  setup.apply(scene);
  scene.start.v.head<3>() = v0 * Vec3(std::cos(angle), std::sin(angle), 0);
  scene.duration = 0.4;
  Slide s{follow(scene)};
  const double x = s.path.x.back(), y = s.path.y.back();
  s.drift = std::abs(-std::sin(angle) * x + std::cos(angle) * y);
  double coulomb = 0;
  for (double t : s.path.t) coulomb += scene.dt * std::max(0.0, v0 - mu * gravity * t);
  s.distance = (std::cos(angle) * x + std::sin(angle) * y) / coulomb - 1;
  const double rest = mass * gravity * scene.start.q[2];
  for (std::size_t k = 0; k < s.path.t.size(); ++k) {
    s.lift = std::max(s.lift, s.path.z[k] - scene.start.q[2]);
    const double v = std::max(0.0, v0 - mu * gravity * s.path.t[k]);
    s.error.push_back(std::abs(s.path.energy[k] - rest - 0.5 * mass * v * v));
  }
  s.energy_error = largest(s.error);
  return s;
}

/// Friction on a point mass that slides at an angle to the facets, over mu N; and its angle off the line of slip.
struct Friction {
  double size = 0, turned = 0;
};
Friction friction(int facets, double angle) {
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G().setIdentity();
  problem.g() << 100 * std::cos(angle), 100 * std::sin(angle), -gravity;
  problem.mu().setConstant(mu);
  problem.weight = gravity;
  SolverOptions options;
  options.model = ContactModel::Lcp;
  options.own = LemkeOptions{facets};
  VecX f = VecX::Zero(3);
  make_contact_solver("lemke", options)->solve(problem, Tolerance{}, f);
  const double along = -(f[0] * std::cos(angle) + f[1] * std::sin(angle));
  const double across = f[0] * std::sin(angle) - f[1] * std::cos(angle);
  return {std::hypot(f[0], f[1]) / (mu * f[2]), std::atan2(across, along)};
}

void sweep_facets(Result& result) {
  Panel panel{"Friction of the pyramid over that of the cone", "direction of slip [deg]", "|f_T| / (mu f_N) [-]"};
  for (int facets : {4, 8, 16}) {
    Series series{std::to_string(facets) + " facets", {}, {}};
    double size = 0, turned = 0;
    for (double degrees = 0; degrees <= 90; degrees += 2.5) {
      const Friction f = friction(facets, degrees * std::numbers::pi / 180);
      series.x.push_back(degrees);
      series.y.push_back(f.size);
      size = std::max(size, f.size - 1);
      turned = std::max(turned, std::abs(f.turned));
    }
    result.measures["facets_" + std::to_string(facets) + "_excess"] = size;
    result.measures["facets_" + std::to_string(facets) + "_turned_deg"] = turned * 180 / std::numbers::pi;
    panel.series.push_back(series);
  }
  result.panels.push_back(panel);
}

std::string key_of(const std::string& label) {
  std::string key;
  for (char c : label)
    if (c != ',') key += c == ':' || c == ' ' ? '_' : c;
  return key;
}

}  // namespace

Result cube_slide(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  result.settings = {{"dt", 1e-3}, {"mu", mu}, {"speed", v0}, {"mass", mass}, {"scene", "cube-slide"}};
  Table table{"Cube launched at 1 m/s",
              {"method", "direction [deg]", "drift [m]", "distance over Coulomb's - 1", "lift [m]", "energy error [J]"},
              {}};
  Panel paths{"Paths, launched at 22.5 deg", "along [m]", "across [m]"};
  Panel heights{"Height of the centre over rest, launched at 0 deg", "time [s]", "height [m]"};
  Panel errors{"Energy against Coulomb's, launched at 0 deg", "time [s]", "|E - E_Coulomb| [J]", false, true};
  int run = 0;
  for (const Setup& setup : setups)
    for (double degrees : {0.0, 22.5, 45.0}) {
      const double angle = degrees * std::numbers::pi / 180;
      const Slide s = slide(options, setup, angle);
      table.rows.push_back({setup.label, degrees, s.drift, s.distance, s.lift, s.energy_error});
      const std::string key = key_of(setup.label) + "_" + std::to_string(static_cast<int>(degrees));
      result.measures[key + "_drift"] = s.drift;
      result.measures[key + "_distance"] = s.distance;
      result.measures[key + "_lift"] = s.lift;
      result.measures[key + "_energy"] = s.energy_error;
      if (degrees == 22.5) {
        std::vector<double> along, across;
        for (std::size_t k = 0; k < s.path.x.size(); ++k) {
          along.push_back(std::cos(angle) * s.path.x[k] + std::sin(angle) * s.path.y[k]);
          across.push_back(-std::sin(angle) * s.path.x[k] + std::cos(angle) * s.path.y[k]);
        }
        paths.series.push_back(series_of(setup.label, along, across));
      } else if (degrees == 0) {
        std::vector<double> height;
        for (double z : s.path.z) height.push_back(z - 0.1);
        heights.series.push_back(series_of(setup.label, s.path.t, height));
        errors.series.push_back(series_of(setup.label, s.path.t, s.error));
      }
      progress(++run / (3.0 * static_cast<double>(setups.size())));
    }
  result.tables.push_back(table);
  result.panels = {paths, heights, errors};
  sweep_facets(result);
  return result;
}

}  // namespace tribo::experiments
