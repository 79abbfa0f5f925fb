// A cube of 1 kg, 0.2 m, mu 0.4, dragged by a force that grows from 0 to 20 N in 1 s (LeLidec2024, figs. 11, 12, 15).
// Errors are sum |q - q_ref| dt: against NCP at the smallest step (model and time step), and against the method's own
// (time step alone).
#include <cmath>
#include <memory>

#include "list.hpp"
#include "scenes.hpp"

namespace tribo::experiments {
namespace {

// CCP acts at a distance of dt mu |c_T|: 26 mm at 10 ms and the 6.5 m/s of the end.
constexpr double wide = 0.1;
const std::vector<Setup> setups = {{"ncp:newton", "rigid:ncp:newton"},
                                   {"ncp:pgs", "rigid:ncp:pgs"},
                                   {"raisim", "rigid:raisim:raisim"},
                                   {"ccp:admm, wide margin", "rigid:ccp:admm", wide},
                                   {"ccp:admm", "rigid:ccp:admm"}};
const std::vector<Setup> force_setups = {{"ncp:newton", "rigid:ncp:newton"},       {"ncp:pgs", "rigid:ncp:pgs"},
                                         {"raisim", "rigid:raisim:raisim"},        {"ncp:admm", "rigid:ncp:admm"},
                                         {"ncp:staggered", "rigid:ncp:staggered"}, {"ccp:admm", "rigid:ccp:admm", wide},
                                         {"ccp:pgs", "rigid:ccp:pgs", wide}};

Path drag(const ExperimentOptions& options, const Setup& setup, double dt) {
  Scene scene = scene_of(options, "cube-push");
  setup.apply(scene);
  scene.dt = dt;
  return follow(scene);
}

std::string ms(double dt) { return std::to_string(std::lround(dt * 1e6)) + "us"; }

std::vector<double> energy_error(const Path& path, const Path& reference) {
  const auto every = static_cast<std::size_t>(std::lround(path.dt / reference.dt));
  std::vector<double> error;
  for (std::size_t k = 0; k < path.energy.size() && (k + 1) * every <= reference.energy.size(); ++k)
    error.push_back(std::abs(path.energy[k] - reference.energy[(k + 1) * every - 1]));
  return error;
}

/// Errors over dt of every method.
void sweep_steps(const ExperimentOptions& options, const Progress& progress, Result& result) {
  const double finest = options.quick ? 1e-4 : 1e-5;
  const std::vector<double> steps =
      options.quick ? std::vector<double>{1e-3, 1e-2} : std::vector<double>{1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  result.settings["reference_dt"] = finest;
  Table table{"Integral error [m s] and energy at 1 s [J]",
              {"method", "dt [s]", "against ncp", "against itself", "energy", "energy at the finest dt"},
              {}};
  Panel model{"Against NCP at the finest step", "time step [s]", "sum |q - q_ref| dt [m s]", true, true};
  Panel own{"Against the method itself at the finest step", "time step [s]", "sum |q - q_ref| dt [m s]", true, true};
  Panel energy{"Energy at dt = 10 ms against NCP at the finest step", "time [s]", "|E - E_ref| [J]", false, true};
  Path reference;
  int run = 0;
  for (const Setup& setup : setups) {
    const Path fine = drag(options, setup, finest);
    if (run == 0) reference = fine;
    Series to_model{setup.label, {}, {}}, to_own{setup.label, {}, {}};
    for (double dt : steps) {
      const Path path = drag(options, setup, dt);
      const double e = integral_error(path, reference), s = integral_error(path, fine);
      to_model.x.push_back(dt), to_own.x.push_back(dt);
      to_model.y.push_back(e), to_own.y.push_back(s);
      table.rows.push_back({setup.label, dt, e, s, path.energy.back(), fine.energy.back()});
      const std::string key = setup.method.substr(6) + (setup.margin > 0.01 ? "_wide_" : "_") + ms(dt);
      result.measures[key + "_error"] = e;
      result.measures[key + "_own_error"] = s;
      result.measures[key + "_energy"] = largest(energy_error(path, reference)) / reference.energy.back();
      if (dt == 1e-2) energy.series.push_back(series_of(setup.label, path.t, energy_error(path, reference)));
      progress(0.8 * ++run / static_cast<double>(setups.size() * steps.size()));
    }
    model.series.push_back(to_model), own.series.push_back(to_own);
  }
  for (const char* key : {"ncp:newton", "ccp:admm_wide"}) {
    const std::string k(key);
    result.measures[k + "_growth"] = result.measures[k + "_10000us_error"] / result.measures[k + "_1000us_error"];
  }
  result.measures["ccp_over_ncp_1000us"] =
      result.measures["ccp:admm_wide_1000us_error"] / result.measures["ncp:newton_1000us_error"];
  result.tables.push_back(table);
  result.panels.insert(result.panels.end(), {model, own, energy});
}

/// Forces of the corners across the motion: they do nothing but stretch the cube.
void corner_forces(const ExperimentOptions& options, const Progress& progress, Result& result) {
  Table table{"Largest force of a corner across the motion, dt 1 ms [N]", {"method", "sticking", "sliding"}, {}};
  Panel panel{"Force of each corner across the motion", "time [s]", "f_y [N]"};
  int run = 0;
  for (const Setup& setup : force_setups) {
    const Path path = drag(options, setup, 1e-3);
    double stick = 0, slide = 0;
    std::vector<std::vector<double>> corner(4);
    std::vector<double> t;
    for (std::size_t k = 0; k < path.t.size(); ++k) {
      for (const Vec3& f : path.f[k]) {
        if (path.t[k] < 0.15) stick = std::max(stick, std::abs(f.y()));
        if (path.t[k] > 0.3) slide = std::max(slide, std::abs(f.y()));
      }
      if (path.f[k].size() != 4) continue;
      t.push_back(path.t[k]);
      for (std::size_t c = 0; c < 4; ++c) corner[c].push_back(path.f[k][c].y());
    }
    table.rows.push_back({setup.label, stick, slide});
    result.measures[setup.method.substr(6) + "_stick_internal"] = stick;
    result.measures[setup.method.substr(6) + "_slide_internal"] = slide;
    const bool drawn = setup.label == "ncp:newton" || setup.label == "ncp:pgs" || setup.label == "raisim";
    for (std::size_t c = 0; c < 4 && drawn; ++c)
      panel.series.push_back(series_of(setup.label + (c == 0 ? "" : "#"), t, corner[c]));
    progress(0.8 + 0.2 * ++run / static_cast<double>(force_setups.size()));
  }
  result.tables.push_back(table);
  result.panels.push_back(panel);
}

}  // namespace

Result cube_drag(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  result.settings = {{"mass", 1.0}, {"mu", 0.4}, {"force_end", 20.0}, {"scene", "cube-push"}, {"wide_margin", wide}};
  sweep_steps(options, progress, result);
  corner_forces(options, progress, result);
  return result;
}

}  // namespace tribo::experiments
