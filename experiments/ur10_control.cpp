// An arm that follows a sinusoid at every joint [Shepherd2017, table II, figs. 1b and 3]: largest stable step, joint
// error and cost of feedback, geared feedback, inverse-dynamics control and the inverse-dynamics constraint.
#include <cmath>

#include "base/limits.hpp"
#include "control_study.hpp"
#include "list.hpp"
#include "scenes.hpp"

namespace tribo::experiments {
namespace {

constexpr double hand_frequency = 30;  // [rad/s]

// Gains by hand, of the arm as it is in the given scene.
Way hand_way(const std::string& label, const std::string& key, const Scene& gains, bool implicit) {
  return {label, key, [&gains, implicit](Scene& scene) {
            PdOptions pd = pd_of(scene);
            pd.implicit = implicit;
            set_effort_limits(scene, inf);
            set_hand_gains(gains, hand_frequency, pd);
            scene.controllers = {pd_spec(pd)};
          }};
}

Way constraint_way(const std::string& label, const std::string& key, TargetLaw law, bool limited) {
  return {label, key, [law, limited](Scene& scene) {
            VelocityConstraintOptions options;
            options.reference = pd_of(scene).reference;
            options.target.law = law;
            if (!limited) set_effort_limits(scene, inf);
            scene.controllers = {constraint_spec(options)};
          }};
}

// The arm falls, without damping or friction. What is stiff without gains are the Coriolis forces, which grow with the
// square of the speeds: the rigid stepper takes them at the start of the step, the momentum stepper in four stages.
void without_control(const Scene& scene, Result& result) {
  Table table{"Without control, 5 s",
              {"stepper", "step [ms]", "largest joint speed [rad/s]", "work of the scheme [J]", "stable"},
              {}};
  for (const char* stepper : {"rigid", "momentum"})
    for (const double dt : {1e-3, 1e-2, 2e-2, 5e-2, 0.1}) {
      Scene falling = scene;
      falling.controllers.clear();
      falling.dt = dt;
      falling.set_stepper(stepper);
      falling.stepper_options.audit = AuditLevel::Full;
      Simulation simulation = make_simulation(falling);
      double fastest = 0;
      for (long k = 0; k < std::lround(falling.duration / dt); ++k) {
        simulation.step();
        fastest = std::max(fastest, simulation.state().v.cwiseAbs().maxCoeff());
      }
      table.rows.push_back(
          {stepper, 1e3 * dt, fastest, simulation.audit().energy.integrator, fastest <= Instability{}.speed});
      result.measures["uncontrolled_fastest_" + std::string(stepper) + "_" + ms_key(dt)] = fastest;
    }
  result.tables.push_back(table);
}

// Cost of a step, in turns so that what else the machine does falls on all alike.
void speed_up(const Scene& scene, bool quick, Result& result) {
  Table table{
      "Speed-up of the constraint over feedback at 1 ms, same run",
      {"control", "limits", "step [ms]", "a step [us]", "over feedback [x]", "ratio of steps [x]", "share of it"},
      {}};
  struct Timed {
    bool limited;
    double dt;
    Scene scene;
    double cost = inf;
  };
  Scene pd = scene;
  pd_way("", "", false).apply(pd);
  std::vector<Timed> timed;
  for (const bool limited : {false, true})
    for (const double dt : {1e-2, 1e-1}) {
      timed.push_back({limited, dt, scene});
      constraint_way("", "", TargetLaw::Position, limited).apply(timed.back().scene);
      timed.back().scene.dt = dt;
    }
  double cost = inf;
  for (int k = 0; k < (quick ? 5 : 40); ++k) {
    cost = std::min(cost, cost_of_step(pd, 1));
    for (Timed& t : timed) t.cost = std::min(t.cost, cost_of_step(t.scene, 1));
  }
  table.rows.push_back({"feedback, explicit", "none", 1.0, cost, 1.0, 1.0, 1.0});
  for (const Timed& t : timed) {
    const double ratio = t.dt / pd.dt, gain = ratio * cost / t.cost;
    table.rows.push_back({"constraint", t.limited ? "file" : "none", 1e3 * t.dt, t.cost, gain, ratio, gain / ratio});
    result.measures[std::string("speed_up_") + (t.limited ? "limited_" : "") + ms_key(t.dt)] = gain;
  }
  result.measures["cost_ratio"] = timed.front().cost / cost;
  result.tables.push_back(table);
}

// Fig. 3: error of every joint.
void joints(const Scene& scene, const Task& task, bool quick, Result& result) {
  Panel panel{"Error of every joint", "joint", "mean absolute error [rad]", false, true};
  panel.bars = true;
  for (const Body& body : scene.model->bodies) panel.categories.push_back(body.name.substr(body.name.find('/') + 1));
  struct Line {
    Way way;
    double dt;
  };
  std::vector<Line> lines = {{hand_way("PD by hand, 1 ms", "", scene, false), 1e-3}};
  for (const double dt : quick ? std::vector<double>{1e-2, 0.1} : std::vector<double>{1e-3, 1e-2, 5e-2, 0.1})
    lines.push_back({constraint_way("constraint, q'ref(t+dt), " + in_ms(dt), "", TargetLaw::Velocity, false), dt});
  lines.push_back({constraint_way("constraint, ours, 10 ms", "", TargetLaw::Position, false), 1e-2});
  lines.push_back({constraint_way("constraint, ours, 100 ms", "", TargetLaw::Position, false), 0.1});
  for (const Line& line : lines) {
    Scene copy = scene;
    copy.dt = line.dt;
    line.way.apply(copy);
    const Followed run = follow_task(copy, task);
    Series series{line.way.label, {}, {}, {}};
    for (Eigen::Index j = 0; j < run.mae_joint.size(); ++j) {
      series.x.push_back(static_cast<double>(j));
      series.y.push_back(run.mae_joint[j]);
    }
    panel.series.push_back(series);
  }
  result.panels.push_back(panel);
}

// Error and torque of the constraint over the step, for both targets and for limits down to less than gravity needs.
void targets_and_limits(const Scene& scene, const Task& task, bool quick, Result& result) {
  Table table{"The constraint: targets and limits of torque",
              {"target", "limits", "step [ms]", "mean abs error [rad]", "largest torque [N m]", "beyond limit [N m]",
               "steps that gave way", "largest miss [rad/s]", "stable"},
              {}};
  const std::vector<double> steps =
      quick ? std::vector<double>{1e-2, 0.1} : std::vector<double>{1e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1};
  for (const TargetLaw law : {TargetLaw::Velocity, TargetLaw::Position})
    for (const char* limits : {"none", "file", "a fifth of the file's"})
      for (const double dt : steps) {
        Scene copy = scene;
        copy.dt = dt;
        const std::string which = limits;
        constraint_way("", "", law, which != "none").apply(copy);
        if (which == "a fifth of the file's") {
          auto model = std::make_shared<Model>(*copy.model);
          model->joints.effort_limit *= 0.2;
          copy.model = model;
        }
        const Followed run = follow_task(copy, task);
        const std::string target = law == TargetLaw::Velocity ? "velocity" : "position";
        table.rows.push_back({target, which, 1e3 * dt, run.mae, run.torque_max,
                              std::isfinite(run.limit_excess) ? Json(std::max(run.limit_excess, 0.0)) : Json(),
                              run.audit.gave_way, run.audit.target_miss, run.stable});
        const std::string key =
            target + "_" + (which[0] == 'a' ? "fifth" : which) + "_" + std::to_string(std::lround(1e3 * dt)) + "ms";
        result.measures[key + "_mae"] = run.stable ? run.mae : 1e9;
        if (which != "none") result.measures[key + "_excess"] = run.limit_excess;
        result.measures[key + "_gave_way"] = static_cast<double>(run.audit.gave_way);
      }
  result.tables.push_back(table);
}

}  // namespace

Result ur10_control(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const Scene scene = scene_of(options, "ur10-sinusoid"), geared = scene_of(options, "ur10-geared");
  const Task task{0, pd_of(scene).reference, std::nullopt};
  const std::vector<Case> cases = {
      {pd_way("PD, tuned", "pd", false), &scene},
      {pd_way("PD, tuned, implicit", "pd_implicit", true), &scene},
      {hand_way("PD, by hand", "hand", scene, false), &scene},
      {hand_way("PD, by hand, implicit", "hand_implicit", scene, true), &scene},
      {pd_way("PD, geared, tuned", "geared", false), &geared},
      {hand_way("PD, geared, hand gains of the bare arm", "geared_same", scene, false), &geared},
      {inverse_way("ID control, q'ref(t+dt)", "id", TargetLaw::Velocity), &scene},
      {inverse_way("ID control, ours", "id_ours", TargetLaw::Position), &scene},
      {constraint_way("ID constraint, q'ref(t+dt)", "constraint_document", TargetLaw::Velocity, false), &scene},
      {constraint_way("ID constraint, ours", "constraint", TargetLaw::Position, false), &scene},
  };
  result.settings["robot"] = "ur10, six joints, sinusoid of 0.5 rad at 0.5 Hz, 5 s";
  result.settings["unstable"] = "not finite, joint error above 1 rad, joint speed above 100 rad/s";
  tabulate(
      "Table II: largest stable step, error and time at it (5 s simulated)", cases, task, options.quick,
      [&](double share) { progress(0.7 * share); }, result);
  without_control(scene, result);
  speed_up(scene, options.quick, result);
  joints(scene, task, options.quick, result);
  targets_and_limits(scene, task, options.quick, result);
  std::map<std::string, double>& m = result.measures;
  m["position_10ms_over_hand_1ms"] = m["position_none_10ms_mae"] / m["hand_mae_1000us"];
  m["velocity_10ms_over_hand_1ms"] = m["velocity_none_10ms_mae"] / m["hand_mae_1000us"];
  m["position_10ms_over_tuned_1ms"] = m["position_none_10ms_mae"] / m["pd_mae_1000us"];
  m["geared_over_bare_step"] = m["geared_same_largest_step"] / m["hand_largest_step"];
  progress(1);
  return result;
}

}  // namespace tribo::experiments
