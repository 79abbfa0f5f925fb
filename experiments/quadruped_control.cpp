// A trotting quadruped [Shepherd2017, table I, fig. 1a]: largest stable step, joint error, slip and torque of each way
// to control it, the share of steps on which pivoting solvers fail, and the skating of the two-stage solver.
#include <cmath>

#include "control_study.hpp"
#include "list.hpp"
#include "scenes.hpp"
#include "two_stage.hpp"

namespace tribo::experiments {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double motor_limit = 2.7;  // of Solo's motors as built [N m]; its file says 1000 [Grimminger2020]

PdOptions pd_of(const Scene& scene) { return scene.controllers.at(0).pd.value(); }

// What the constraint is solved by.
struct Solving {
  std::string model = "ncp", solver = "newton";
  double compliance = 1e-6;  // of the targets
  int facets = 4;
  std::function<std::unique_ptr<ContactSolver>()> make;
};

void constrain(Scene& scene, const std::shared_ptr<const Reference>& reference, TargetLaw law, const Solving& solving) {
  VelocityConstraintOptions options;
  options.reference = reference;
  options.target.law = law;
  scene.controllers = {constraint_spec(options)};
  StepperOptions& s = scene.stepper_options;
  s.contact_model = solving.model;
  s.solver = solving.solver;
  s.target_compliance = solving.compliance;
  s.facets = solving.facets;
  s.make_solver = solving.make;
}

Way pd_way(const std::string& label, const std::string& key, bool implicit) {
  return {label, key, [implicit](Scene& scene) {
            PdOptions pd = pd_of(scene);
            pd.implicit = implicit;
            set_effort_limits(scene, inf);
            scene.controllers = {pd_spec(pd)};
          }};
}

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

Way inverse_way(const std::string& label, const std::string& key, TargetLaw law) {
  return {label, key, [law](Scene& scene) {
            InverseDynamicsOptions options;
            options.reference = pd_of(scene).reference;
            options.target.law = law;
            set_effort_limits(scene, inf);
            scene.controllers = {inverse_spec(options)};
          }};
}

Way constraint_way(const std::string& label, const std::string& key, TargetLaw law, const Solving& solving) {
  return {label, key, [law, solving](Scene& scene) {
            const auto reference = pd_of(scene).reference;
            set_effort_limits(scene, inf);
            constrain(scene, reference, law, solving);
          }};
}

std::string ms_key(double dt) { return std::to_string(std::lround(1e3 * dt)) + "ms"; }

double failed_share(const Audit& audit) {
  return static_cast<double>(audit.unconverged + audit.infeasible) / std::max(1.0, static_cast<double>(audit.steps));
}

void tabulate(const std::vector<Way>& ways, const Scene& scene, const Task& task, bool quick, const Progress& progress,
              Result& result) {
  Table table{"Table I: largest stable step, error, slip and time at it (5 s simulated, consistent gait, mu 0.7)",
              {"control", "largest step [ms]", "mean abs error [rad]", "processor time [ms]", "a step [us]",
               "slip [mm]", "largest torque [N m]", "steps not solved [%]", "unstable by"},
              {}};
  Panel bars{"Joint error over the step, cut at 1e-6 and 1 rad; pale: unstable", "time step [ms]",
             "mean absolute joint error [rad]", false, true};
  bars.bars = true;
  for (double dt = 1e-3; dt < 0.1; dt *= 2) bars.categories.push_back(in_ms(dt));
  bars.categories.push_back("100 ms");
  int done = 0;
  for (const Way& way : ways) {
    const LargestStep found = largest_step(scene, way, task, quick);
    Series series{way.label, {}, {}, {}};
    std::string why = "-";
    for (std::size_t k = 0; k < found.runs.size(); ++k) {
      const Followed& run = found.runs[k];
      series.x.push_back(static_cast<double>(k));
      series.y.push_back(std::clamp(run.mae, 1e-6, 1.0));
      series.faded.push_back(!run.stable);
      if (!run.stable) why = run.why;
    }
    bars.series.push_back(series);
    Scene timed = scene;
    timed.dt = found.dt > 0 ? found.dt : 1e-3;
    way.apply(timed);
    const double cost = cost_of_step(timed, quick ? 1 : 5);
    const Followed& at = found.dt > 0 ? found.at_largest : found.runs.front();
    table.rows.push_back({way.label, 1e3 * found.dt, at.mae, 1e-3 * cost * std::ceil(5 / timed.dt), cost, 1e3 * at.slip,
                          at.torque_max, 100 * failed_share(at.audit), why});
    result.measures[way.key + "_largest_step"] = found.dt;
    result.measures[way.key + "_mae"] = at.mae;
    result.measures[way.key + "_slip"] = at.slip;
    result.measures[way.key + "_cost"] = cost;
    progress(0.5 * ++done / static_cast<double>(ways.size()));
  }
  result.tables.push_back(table);
  result.panels.push_back(bars);
}

// Ours over the step: slip, drift, error, torque and laws.
void sweep_steps(const Scene& scene, const Task& task, bool quick, Result& result) {
  Table table{
      "Our constraint over the step (consistent gait, mu 0.7)",
      {"target", "limit [N m]", "step [ms]", "mean abs error [rad]", "slip [mm]", "drift [mm]", "rms torque [N m]",
       "largest torque [N m]", "gave way [%]", "largest miss [rad/s]", "worst law", "stable"},
      {}};
  Panel slip{"Slip at the contact and drift in the world of stance feet", "time step [s]", "length [m]", true, true};
  const std::vector<double> steps =
      quick ? std::vector<double>{2e-3, 2e-2, 0.1}
            : std::vector<double>{1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2, 6.4e-2, 0.08, 0.1};
  for (const TargetLaw law : {TargetLaw::Position, TargetLaw::Velocity})
    for (const double limit : {inf, motor_limit}) {
      const std::string target = law == TargetLaw::Position ? "position" : "velocity";
      const std::string name = target + ", " + (std::isfinite(limit) ? "2.7 N m" : "no limit");
      Series slips{"slip, " + name, {}, {}}, drifts{"drift, " + name, {}, {}};
      for (const double dt : steps) {
        Scene copy = scene;
        copy.dt = dt;
        const auto reference = pd_of(scene).reference;
        set_effort_limits(copy, limit);
        constrain(copy, reference, law, {});
        const Followed run = follow_task(copy, task);
        const LawResiduals& laws = run.audit.laws;
        const double worst = std::max({laws.signorini, laws.coulomb, laws.dissipation});
        table.rows.push_back({target, std::isfinite(limit) ? Json(limit) : Json("none"), 1e3 * dt, run.mae,
                              1e3 * run.slip, 1e3 * run.drift, run.torque_rms, run.torque_max,
                              100.0 * static_cast<double>(run.audit.gave_way) / static_cast<double>(run.audit.steps),
                              run.audit.target_miss, worst, run.stable});
        const std::string key = target + (std::isfinite(limit) ? "_limited_" : "_") + ms_key(dt);
        result.measures[key + "_slip"] = run.stable ? run.slip : 1e9;
        result.measures[key + "_drift"] = run.stable ? run.drift : 1e9;
        result.measures[key + "_mae"] = run.stable ? run.mae : 1e9;
        result.measures[key + "_law"] = worst;
        result.measures[key + "_unsolved"] = failed_share(run.audit);
        result.measures[key + "_excess"] = std::isfinite(limit) ? run.limit_excess : 0;
        slips.x.push_back(dt), slips.y.push_back(run.slip), drifts.x.push_back(dt), drifts.y.push_back(run.drift);
      }
      slip.series.push_back(slips), slip.series.push_back(drifts);
    }
  result.tables.push_back(table);
  result.panels.push_back(slip);
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
          const LawResiduals& laws = run.audit.laws;
          const double worst = std::max({laws.signorini, laws.coulomb, laws.dissipation});
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

struct Judged {
  std::string label, solver;
  ContactModel model;
  int facets;
};

// Share of the problems of a run that a solver does not solve to 1e-6, with tikhonov added to the diagonal.
std::vector<double> failures(Scene scene, const std::vector<Judged>& solvers, double tikhonov, int every) {
  std::vector<std::unique_ptr<ContactSolver>> made;
  for (const Judged& s : solvers) {
    SolverOptions options;
    options.model = s.model;
    options.facets = s.facets;
    made.push_back(make_contact_solver(s.solver, options));
  }
  std::vector<double> failed(solvers.size(), 0);
  int seen = 0, count = 0;
  ContactProblem problem;
  scene.stepper_options.on_problem = [&](ContactProblem& given, const double*) {
    if (count++ % every != 0 || !given.dense()) return;
    ++seen;
    problem = given;
    problem.R().setConstant(tikhonov);
    for (std::size_t k = 0; k < solvers.size(); ++k) {
      VecX f = VecX::Zero(problem.size());
      failed[k] += made[k]->solve(problem, Tolerance{0, 1e-6}, f).status != SolveStatus::Converged;
    }
  };
  Simulation simulation = make_simulation(scene);
  for (long k = 0; k < std::lround(scene.duration / scene.dt); ++k) simulation.step();
  for (double& x : failed) x /= std::max(1, seen);
  return failed;
}

void pivoting(const ExperimentOptions& options, const Scene& scene, Result& result) {
  const std::vector<Judged> solvers = {{"dantzig", "dantzig", ContactModel::Lcp, 4},
                                       {"lemke, 4 facets", "lemke", ContactModel::Lcp, 4},
                                       {"lemke, 8 facets", "lemke", ContactModel::Lcp, 8},
                                       {"newton (ncp)", "newton", ContactModel::Ncp, 4}};
  Table table{"Problems not solved to 1e-6 along our own run [%]", {"problems", "step [ms]", "Tikhonov [1/kg]"}, {}};
  for (const Judged& s : solvers) table.columns.push_back(s.label);
  const auto reference = pd_of(scene).reference;
  const Scene raw = scene_of(options, "solo-trot-raw");
  struct Kind {
    const char* label;
    const char* key;
    std::function<Scene()> make;
  };
  const std::vector<Kind> kinds = {
      {"contact and inverse dynamics, consistent gait", "both",
       [&] {
         Scene s = scene;
         set_effort_limits(s, inf);
         constrain(s, reference, TargetLaw::Velocity, {});
         return s;
       }},
      {"contact and inverse dynamics, raw sinusoid", "raw",
       [&] {
         Scene s = raw;
         set_effort_limits(s, inf);
         return s;
       }},
      {"contact alone (PD)", "contact",
       [&] {
         Scene s = scene;
         pd_way("", "", true).apply(s);
         return s;
       }},
      {"inverse dynamics alone (in the air, no gravity)", "air",
       [&] {
         Scene s = scene;
         auto model = std::make_shared<Model>(*s.model);
         model->gravity.setZero();
         s.model = model;
         s.start.q[2] += 1;
         set_effort_limits(s, inf);
         constrain(s, reference, TargetLaw::Velocity, {});
         return s;
       }},
  };
  for (const Kind& kind : kinds)
    for (const double dt : options.quick ? std::vector<double>{1e-2} : std::vector<double>{1e-3, 1e-2, 0.1})
      for (const double tikhonov :
           options.quick ? std::vector<double>{0, 1} : std::vector<double>{0, 1e-6, 1e-4, 1e-2, 1}) {
        Scene s = kind.make();
        s.dt = dt;
        const std::vector<double> failed = failures(s, solvers, tikhonov, dt < 5e-3 ? 10 : 1);
        std::vector<Json> row = {kind.label, 1e3 * dt, tikhonov};
        for (std::size_t k = 0; k < solvers.size(); ++k) {
          row.push_back(100 * failed[k]);
          if (tikhonov == 0)
            result.measures[std::string(kind.key) + "_" + solvers[k].solver + std::to_string(solvers[k].facets) + "_" +
                            ms_key(dt) + "_failed"] = failed[k];
        }
        table.rows.push_back(row);
      }
  result.tables.push_back(table);
}

}  // namespace

Result quadruped_control(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const Scene scene = scene_of(options, "solo-trot-pd");
  const Task task{0, pd_of(scene).reference, Trot{}};
  result.settings["robot"] = "solo12, trot of period 0.8 s, swing 0.3 s, 4 cm high, 0.1 m/s, 5 s, mu 0.7";
  result.settings["unstable"] =
      "not finite, joint error above 1 rad, joint speed above 100 rad/s, base tilted by more than 1 rad";
  auto two_stage = [](SecondStage stage) {
    Solving solving;
    solving.make = [stage] { return make_two_stage(stage); };
    return solving;
  };
  const TargetLaw document = TargetLaw::Velocity, ours = TargetLaw::Position;
  const std::vector<Way> ways = {
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
  tabulate(ways, scene, task, options.quick, progress, result);
  sweep_steps(scene, task, options.quick, result);
  progress(0.7);
  raw_sinusoid(options, result);
  progress(0.85);
  pivoting(options, scene, result);
  progress(1);
  return result;
}

}  // namespace tribo::experiments
