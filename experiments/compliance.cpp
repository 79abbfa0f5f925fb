// What a diagonal compliance R does to rigid contact (LeLidec2024, fig. 14): Solo standing and pushed, R as a share of
// the mean diagonal of G. Normal forces on one problem; slip of the feet in a run with R on the tangents; internal
// forces of PGS on a cube that sticks, where G is rank-deficient.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "problems.hpp"
#include "tribo/rigid.hpp"

namespace tribo::experiments {
namespace {

double mean_diagonal(const ContactProblem& problem) {
  VecX d(problem.size());
  problem.diagonal(d.data());
  return d.head(3 * problem.nc()).mean();
}

void set_compliance(ContactProblem& problem, double normal, double tangent) {
  const double mean = mean_diagonal(problem);
  for (int i = 0; i < problem.nc(); ++i) {
    problem.R()[3 * i] = problem.R()[3 * i + 1] = tangent * mean;
    problem.R()[3 * i + 2] = normal * mean;
  }
}

/// Change of the normal forces over R.
void normal_forces(const ExperimentOptions& options, const std::vector<double>& shares, Result& result) {
  Scene scene = solo_pushed(options, 0.9);
  scene.duration = 0.301;
  const Recorded last = record(scene, 1).back();
  const Pair newton{ContactModel::Ncp, "newton"};
  const VecX zero = VecX::Zero(last.problem.size());
  const VecX rigid = solve(last.problem, newton, {0, 1e-13}, zero).f;
  Panel panel{"Normal forces of Solo's feet on one problem", "R over the mean diagonal of G [-]",
              "|f_N - f_N(R = 0)| [N]", true, true};
  for (int i = 0; i < last.problem.nc(); ++i) panel.series.push_back({"foot " + std::to_string(i + 1)});
  Table table{"One problem of Solo", {"R / mean diag G", "largest change of a normal force [N]", "change / R"}};
  double first = 0, last_ratio = 0;
  for (double share : shares) {
    ContactProblem problem = last.problem;
    set_compliance(problem, share, 0);
    const VecX change = solve(problem, newton, {0, 1e-13}, zero).f - rigid;
    double most = 0;
    for (int i = 0; i < problem.nc(); ++i) {
      most = std::max(most, std::abs(change[3 * i + 2]));
      panel.series[static_cast<std::size_t>(i)].x.push_back(share);
      panel.series[static_cast<std::size_t>(i)].y.push_back(std::abs(change[3 * i + 2]));
    }
    table.rows.push_back({share, most, most / share});
    last_ratio = share <= 1e-2 ? most / share : last_ratio;
    if (first == 0) first = most / share;
  }
  result.measures["normal_force_slope_change"] = last_ratio / first;
  result.tables.push_back(table);
  result.panels.push_back(panel);
}

/// Largest speed of a foot along the ground while it is pushed.
void tangential(const ExperimentOptions& options, const std::vector<double>& shares, Result& result) {
  Table table{"Solo pushed with 10 N, R on the tangents", {"R / mean diag G", "largest speed of a foot [m/s]"}};
  Panel panel{"Solo's feet while it is pushed, R on the tangents",
              "R over the mean diagonal of G [-]",
              "largest speed along the ground [m/s]",
              true,
              true,
              {{"feet of Solo"}}};
  std::vector<double> all{0};
  all.insert(all.end(), shares.begin(), shares.end());
  for (double share : all) {
    Scene scene = solo_pushed(options, 0.9);
    scene.duration = 0.35;
    if (share > 0)
      scene.stepper_options.own.as<RigidOptions>().on_problem = [share](ContactProblem& p, const double*) {
        set_compliance(p, 0, share);
      };
    Simulation simulation = make_simulation(scene);
    double speed = 0;
    while (simulation.state().t < scene.duration - 1e-9) {
      simulation.step();
      if (simulation.state().t < 0.3) continue;
      for (const ContactReport& c : simulation.contacts())
        if (c.f.z() > 0) speed = std::max(speed, std::hypot(c.c.x(), c.c.y()));
    }
    table.rows.push_back({share, speed});
    result.measures["slip_" + (share > 0 ? "1e" + std::to_string(std::lround(std::log10(share))) : "rigid")] = speed;
    if (share == 0) continue;
    panel.series[0].x.push_back(share);
    panel.series[0].y.push_back(speed);
  }
  result.tables.push_back(table);
  result.panels.push_back(panel);
}

/// PGS on a cube that sticks.
void internal(const ExperimentOptions& options, const std::vector<double>& shares, Result& result) {
  Scene scene = scene_of(options, "cube-push");
  scene.duration = 0.101;
  const Recorded last = record(scene, 1).back();
  Table table{"PGS on a cube that sticks under 2 N", {"R / mean diag G", "internal force [N]", "status"}};
  Panel panel{"Internal force of PGS on a cube that sticks",
              "R over the mean diagonal of G [-]",
              "|f_internal| [N]",
              true,
              true,
              {{"ncp:pgs"}}};
  const VecX zero = VecX::Zero(last.problem.size());
  std::vector<double> all{0};
  all.insert(all.end(), shares.begin(), shares.end());
  for (double share : all) {
    ContactProblem problem = last.problem;
    set_compliance(problem, share, share);
    const Solved s = solve(problem, {ContactModel::Ncp, "pgs"}, {0, 1e-10}, zero);
    const double force = internal_force(last.problem, s.f);
    table.rows.push_back({share, force, to_string(s.report.status)});
    result.measures["internal_" + (share > 0 ? "1e" + std::to_string(std::lround(std::log10(share))) : "rigid")] =
        force;
    if (share == 0) continue;
    panel.series[0].x.push_back(share);
    panel.series[0].y.push_back(force);
  }
  result.tables.push_back(table);
  result.panels.push_back(panel);
}

/// Overlap of the feet at rest where the material itself is compliant, over the compliance.
void material(const ExperimentOptions& options, Result& result) {
  Table table{"Solo at rest on a compliant ground",
              {"compliance [m/N]", "deepest overlap [m]", "largest f_N x compliance [m]"}};
  for (double compliance : {1e-6, 1e-5, 1e-4}) {
    Scene scene = scene_of(options, "solo-standing", {{"material.default.compliance", std::to_string(compliance)}});
    Simulation simulation = make_simulation(scene);
    double deepest = 0, force = 0;
    while (simulation.state().t < 1) simulation.step();
    for (const ContactReport& c : simulation.contacts()) {
      deepest = std::max(deepest, -c.gap);
      force = std::max(force, c.f.z());
    }
    table.rows.push_back({compliance, deepest, force * compliance});
    result.measures["overlap_over_law_1e" + std::to_string(std::lround(std::log10(compliance)))] =
        deepest / (force * compliance);
  }
  result.tables.push_back(table);
}

}  // namespace

Result compliance(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  result.settings = {{"robot", "solo"}, {"push", 10.0}, {"dt", 1e-3}};
  const std::vector<double> shares = options.quick ? std::vector<double>{1e-4, 1e-3, 1e-2, 1e-1}
                                                   : std::vector<double>{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
  normal_forces(options, shares, result);
  progress(0.1);
  tangential(options, shares, result);
  progress(0.6);
  internal(options, shares, result);
  progress(0.7);
  material(options, result);
  progress(1);
  return result;
}

}  // namespace tribo::experiments
