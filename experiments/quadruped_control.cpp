// A trotting quadruped [Shepherd2017, table I, fig. 1a]: largest stable step, joint error, slip and torque of each way
// to control it, the share of steps on which pivoting solvers fail, and the skating of the two-stage solver.
#include <cmath>
#include <set>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "control_study.hpp"
#include "list.hpp"
#include "quadruped.hpp"
#include "scenes.hpp"
#include "two_stage.hpp"

namespace tribo::experiments {
namespace {

constexpr double motor_limit = 2.7;  // of Solo's motors as built [N m]; its file says 1000 [Grimminger2020]
constexpr double weak_limit = 1.0;   // less than the gait needs [N m]

std::string in_nm(double torque) { return shown(torque) + " N m"; }

Way hand_way(const std::string& label, const std::string& key, bool implicit) {
  return {label, key, [implicit](Scene& scene) {
            PdOptions pd = pd_of(scene);
            pd.implicit = implicit;
            set_effort_limits(scene, inf);
            pd.kp.tail(12).setConstant(20);
            pd.kd.tail(12).setConstant(0.3);
            scene.controllers = {pd_spec(pd)};
          }};
}

Way constraint_way(const std::string& label, const std::string& key, TargetLaw law, const Solving& solving) {
  return {label, key, [law, solving](Scene& scene) {
            const auto reference = pd_of(scene).reference;
            set_effort_limits(scene, inf);
            constrain(scene, reference, law, solving);
          }};
}

// The trot from the feet.
Way feet_way(const std::string& label, const std::string& key) {
  return {label, key, [](Scene& scene) {
            set_effort_limits(scene, inf);
            trot_from_feet(scene);
          }};
}

struct Limit {
  const char* key;
  double torque;  // [N m]
};

// One line of sweep_steps.
void report_step(const std::string& target, const Limit& limit, double dt, const Followed& run, Table& table,
                 Result& result) {
  const double worst = worst_law(run.audit);
  const bool finite = std::isfinite(limit.torque);
  table.rows.push_back({target, finite ? Json(limit.torque) : Json("none"), 1e3 * dt, run.mae, 1e3 * run.slip,
                        1e3 * run.drift, run.torque_rms, run.torque_max, finite ? Json(run.limit_excess) : Json("-"),
                        100.0 * static_cast<double>(run.audit.gave_way) / static_cast<double>(run.audit.steps),
                        run.audit.target_miss, worst, run.stable});
  const std::string key = target + limit.key + "_" + ms_key(dt);
  result.measures[key + "_slip"] = run.stable ? run.slip : 1e9;
  result.measures[key + "_drift"] = run.stable ? run.drift : 1e9;
  result.measures[key + "_mae"] = run.stable ? run.mae : 1e9;
  result.measures[key + "_law"] = worst;
  result.measures[key + "_unsolved"] = failed_share(run.audit);
  result.measures[key + "_excess"] = finite ? run.limit_excess : 0;
  result.measures[key + "_gave_way"] = static_cast<double>(run.audit.gave_way);
  if (target != "feet" || limit.torque == weak_limit) return;
  auto keep_worst = [&](const char* name, double value) {
    double& worst_yet = result.measures[name];
    worst_yet = std::max(worst_yet, run.stable ? value : 1e9);
  };
  keep_worst("feet_worst_slip", run.slip);
  keep_worst("feet_worst_drift_over_step", run.drift / dt);
}

// Ours over the step: slip, drift, error, torque and laws.
void sweep_steps(const Scene& scene, const Task& task, bool quick, Result& result) {
  Table table{
      "Our constraint over the step (consistent gait, mu 0.7)",
      {"target", "limit [N m]", "step [ms]", "mean abs error [rad]", "slip [mm]", "drift [mm]", "rms torque [N m]",
       "largest torque [N m]", "beyond limit [N m]", "gave way [%]", "largest miss [rad/s]", "worst law", "stable"},
      {}};
  Panel slip{"Slip at the contact and drift in the world of stance feet", "time step [s]", "length [m]", true, true};
  const std::vector<double> steps =
      quick ? std::vector<double>{2e-3, 2e-2, 0.1}
            : std::vector<double>{1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2, 6.4e-2, 0.07, 0.08, 0.09, 0.1};
  for (const char* target : {"feet", "position", "velocity"})
    for (const Limit& limit : {Limit{"", inf}, Limit{"_limited", motor_limit}, Limit{"_weak", weak_limit}}) {
      if (quick && std::string(target) != "feet" && std::isfinite(limit.torque)) continue;
      const std::string name =
          std::string(target) + ", " + (std::isfinite(limit.torque) ? in_nm(limit.torque) : "no limit");
      Series slips{"slip, " + name, {}, {}}, drifts{"drift, " + name, {}, {}};
      for (const double dt : steps) {
        Scene copy = scene;
        copy.dt = dt;
        set_effort_limits(copy, limit.torque);
        if (std::string(target) == "feet") {
          trot_from_feet(copy);
        } else {
          constrain(copy, pd_of(scene).reference,
                    std::string(target) == "position" ? TargetLaw::Position : TargetLaw::Velocity, {});
        }
        const Followed run = follow_task(copy, task);
        report_step(target, limit, dt, run, table, result);
        slips.x.push_back(dt), slips.y.push_back(run.slip), drifts.x.push_back(dt), drifts.y.push_back(run.drift);
      }
      slip.series.push_back(slips), slip.series.push_back(drifts);
    }
  result.tables.push_back(table);
  result.panels.push_back(slip);
}

// Solo stands with its gains of the file, implicit and explicit, over the step.
void standing(const ExperimentOptions& options, Result& result) {
  Table table{"Standing under PD, kp 20, kd 0.3, 5 s",
              {"gains", "step [ms]", "height [m]", "from 1 ms, implicit [mm]", "largest tilt [rad]", "stands"},
              {}};
  double height = 0, largest = 0;
  for (const bool implicit : {true, false})
    for (double dt = 1e-3; dt < 0.13; dt *= 2) {
      Scene scene = scene_of(options, "solo-standing");
      PdOptions pd = pd_of(scene);
      pd.implicit = implicit;
      scene.controllers = {pd_spec(pd)};
      scene.dt = dt;
      const Followed run = follow_task(
          scene,
          {0, make_constant(joint_positions(*scene.model, scene.model->members[0], scene.start.q)), std::nullopt});
      if (implicit && dt == 1e-3) height = run.height;
      const double off = std::abs(run.height - height);
      const bool stands = run.stable && off < 0.01 && run.tilt < 0.05;
      table.rows.push_back({implicit ? "implicit" : "explicit", 1e3 * dt, run.height, 1e3 * off, run.tilt, stands});
      if (!implicit && stands) largest = std::max(largest, dt);
      if (!implicit) continue;
      result.measures["standing_" + ms_key(dt) + "_off"] = run.stable ? off : 1e9;
      result.measures["standing_" + ms_key(dt) + "_tilt"] = run.stable ? run.tilt : 1e9;
    }
  result.measures["standing_explicit_largest_step"] = largest;
  result.tables.push_back(table);
}

// The raw sinusoid is kinematically inconsistent: with torque enough, feet must slip.
void raw_sinusoid(const ExperimentOptions& options, Result& result) {
  Table table{"The raw sinusoid, and the consistent gait on ice (our constraint)",
              {"gait", "mu", "limit [N m]", "step [ms]", "mean abs error [rad]", "slip [mm]", "rms torque [N m]",
               "largest torque [N m]", "worst law", "stable"},
              {}};
  for (const char* gait : {"raw", "consistent"})
    for (const double mu : {0.7, 0.1})
      for (const double limit : {inf, 1000.0, motor_limit})
        for (const double dt : options.quick ? std::vector<double>{1e-2} : std::vector<double>{2e-3, 1e-2, 0.1}) {
          const bool raw = std::string(gait) == "raw";
          Scene scene = scene_of(options, raw ? "solo-trot-raw" : "solo-trot-constraint",
                                 {{"material.default.mu", std::to_string(mu)}});
          Scene spec = scene_of(options, raw ? "solo-trot-raw" : "solo-trot-constraint", {{"controller.name", "pd"}});
          Task task{0, pd_of(spec).reference, std::nullopt};
          if (!raw) task.trot = Trot{};
          scene.dt = dt;
          set_effort_limits(scene, limit);
          const Followed run = follow_task(scene, task);
          const double worst = worst_law(run.audit);
          table.rows.push_back({gait, mu, std::isfinite(limit) ? Json(limit) : Json("none"), 1e3 * dt, run.mae,
                                1e3 * run.slip, run.torque_rms, run.torque_max, worst, run.stable});
          const std::string key = std::string(gait) + (mu < 0.5 ? "_ice" : "") +
                                  (!std::isfinite(limit) ? ""
                                   : limit > 100         ? "_file"
                                                         : "_motor") +
                                  "_" + ms_key(dt);
          result.measures[key + "_slip"] = run.slip;
          result.measures[key + "_mae"] = run.mae;
          result.measures[key + "_law"] = worst;
          result.measures[key + "_stable"] = run.stable;
        }
  result.tables.push_back(table);
}

}  // namespace

Result quadruped_control(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const Scene scene = scene_of(options, "solo-trot-pd");
  const Task task{0, pd_of(scene).reference, Trot{}};
  result.settings["robot"] = "solo12, trot of period 0.8 s, swing 0.2 s, 3 cm high, 0.05 m/s, 5 s, mu 0.7";
  result.settings["unstable"] =
      "not finite, joint error above 1 rad, joint speed above 100 rad/s, base tilted by more than 1 rad";
  auto two_stage = [](SecondStage stage) {
    Solving solving;
    solving.make = [stage] { return make_two_stage(stage); };
    return solving;
  };
  const TargetLaw document = TargetLaw::Velocity, ours = TargetLaw::Position;
  const std::vector<Way> ways = {
      feet_way("ID constraint, ours, from the feet", "feet"),
      pd_way("PD, tuned", "pd", false),
      pd_way("PD, tuned, implicit", "pd_implicit", true),
      hand_way("PD, kp 20, kd 0.3", "hand", false),
      hand_way("PD, kp 20, kd 0.3, implicit", "hand_implicit", true),
      inverse_way("ID control, q'ref(t+dt)", "id", document),
      inverse_way("ID control, ours", "id_ours", ours),
      constraint_way("ID constraint, Dantzig", "dantzig", document, {"lcp", "dantzig", 0, 4, nullptr}),
      constraint_way("ID constraint, Lemke, 4 facets", "lemke", document, {"lcp", "lemke", 0, 4, nullptr}),
      constraint_way("ID constraint, Lemke, 8 facets", "lemke8", document, {"lcp", "lemke", 0, 8, nullptr}),
      constraint_way("ID constraint, two stages, torque held", "two_stage_held", document,
                     two_stage(SecondStage::Held)),
      constraint_way("ID constraint, two stages, torque answers", "two_stage_answers", document,
                     two_stage(SecondStage::Answers)),
      constraint_way("ID constraint, ours, q'ref(t+dt)", "newton_document", document, {}),
      constraint_way("ID constraint, ours", "newton", ours, {}),
  };
  std::vector<Case> cases;
  const std::set<std::string> claimed = {"feet", "newton", "newton_document", "two_stage_held"};
  for (const Way& way : ways)
    if (!options.quick || claimed.count(way.key) > 0) cases.push_back({way, &scene});
  tabulate(
      "Table I: largest stable step, error, slip and time at it (5 s simulated, consistent gait, mu 0.7)", cases, task,
      options.quick, [&](double share) { progress(0.5 * share); }, result);
  standing(options, result);
  sweep_steps(scene, task, options.quick, result);
  progress(0.7);
  raw_sinusoid(options, result);
  progress(0.85);
  pivoting(options, scene, result);
  progress(1);
  return result;
}

}  // namespace tribo::experiments
