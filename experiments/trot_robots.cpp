// Nine quadrupeds trot for ten seconds at steps of 1 to 100 ms: how far the foot that slips most does, over every contact
// that carries load, whether the plan has it stand or not.
#include <cmath>
#include <map>

#include "list.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {
namespace {

struct TrotRun {
  double slip = HUGE_VAL, way = 0, tilt = 0;  ///< of the worst foot [m]; forward [m]; largest, of the base [rad]
};

TrotRun trot_of(const std::string& robot, double dt, double duration) {
  const Scene scene =
      parse_scene("[robot]\nmodel = \"" + robot +
                      "\"\npose = \"standing\"\n[material.default]\nmu = 0.7\n[controller]\nname = \"trot\"\n"
                      "[controller.trot]\nperiod = 0.8\nswing = 0.2\nheight = 0.03\nspeed = 0.05\nramp = 0.8\n",
                  "trot", {{"stepper.dt", std::to_string(dt)}, {"stepper.duration", std::to_string(duration)}});
  constexpr double share = 1e-6;  // of the weight: what carries less does not count
  Simulation simulation = make_simulation(scene);
  const double load = share * 9.81 * scene.model->mass(), start = simulation.body_pose(0).p.x();
  const Mat3 R = simulation.body_pose(0).R;
  std::map<int, double> slips;  // by geometry
  TrotRun run;
  for (long k = 0; k < std::lround(duration / dt); ++k) {
    if (const StepStatus status = simulation.step().status;
        status == StepStatus::NotFinite || status == StepStatus::Stopped)
      return run;
    for (const ContactReport& c : simulation.contacts())
      if (c.f.z() > load) slips[std::max(c.geometry_a, c.geometry_b)] += dt * c.c.head<2>().norm();
    run.tilt = std::max(run.tilt, std::acos(std::min(1.0, R.col(2).dot(simulation.body_pose(0).R.col(2)))));
  }
  run.slip = 0;
  for (const auto& [geometry, way] : slips) run.slip = std::max(run.slip, way);
  run.way = simulation.body_pose(0).p.x() - start;
  return run;
}

}  // namespace

Result trot_robots(const ExperimentOptions& options, const Progress& progress) {
  const std::vector<std::string> robots =
      options.quick
          ? std::vector<std::string>{"solo12", "go2", "anymal_b"}
          : std::vector<std::string>{"solo12", "a1", "go1", "go2", "b1", "laikago", "anymal_b", "anymal_c", "hyq"};
  const std::vector<double> steps = options.quick ? std::vector<double>{1e-2, 0.064}
                                                  : std::vector<double>{1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.064, 0.1};
  const double duration = options.quick ? 4 : 10;
  Result result;
  result.settings = {{"duration", duration}, {"mu", 0.7}, {"speed", 0.05}};
  Table table{"Slip of the worst foot [mm] over the step [ms]", {"robot"}, {}};
  for (double dt : steps) table.columns.push_back(std::to_string(std::lround(1e3 * dt)) + " ms");
  table.columns.insert(table.columns.end(), {"shortest way [m]", "largest tilt [rad]"});
  double small = 0, large = 0, least_way = HUGE_VAL, most_tilt = 0;
  int done = 0;
  for (const std::string& robot : robots) {
    std::vector<Json> row = {robot};
    double way = HUGE_VAL, tilt = 0;
    for (double dt : steps) {
      const TrotRun run = trot_of(robot, dt, duration);
      row.push_back(1e3 * run.slip);
      double& worst = dt < 0.011 ? small : large;
      worst = std::max(worst, run.slip);
      way = std::min(way, run.way);
      tilt = std::max(tilt, run.tilt);
      progress(++done / static_cast<double>(robots.size() * steps.size()));
    }
    row.insert(row.end(), {way, tilt});
    table.rows.push_back(row);
    least_way = std::min(least_way, way);
    most_tilt = std::max(most_tilt, tilt);
  }
  result.measures = {{"worst_slip_to_10ms", small},
                     {"worst_slip_beyond", large},
                     {"shortest_way_over_plan", least_way / (0.05 * duration)},
                     {"largest_tilt", most_tilt}};
  result.tables.push_back(table);
  return result;
}

}  // namespace tribo::experiments
