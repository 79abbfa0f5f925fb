// The document's mixed LCP: does pivoting solve it? Every problem of our own run is given to each solver.
#include <cmath>

#include "base/limits.hpp"
#include "quadruped.hpp"
#include "scenes.hpp"
#include "tribo/rigid.hpp"
#include "tribo/solver_options.hpp"

namespace tribo::experiments {
namespace {

// "1e-6", "1"
std::string number_key(double x) { return x == 1 ? "1" : "1e" + std::to_string(std::lround(std::log10(x))); }

struct Judged {
  std::string label, solver;
  ContactModel model;
  int facets;
};

// What a solver made of the problems of a run.
struct Answers {
  double failed = 0;  // share that it did not solve to 1e-6
  double off = 0;     // relative residual of its answer in the problem without regularisation, mean
};

// Every n-th problem of a run, with tikhonov added to the diagonal of G.
std::vector<Answers> answers_along(Scene scene, const std::vector<Judged>& solvers, double tikhonov, int every) {
  std::vector<std::unique_ptr<ContactSolver>> made;
  for (const Judged& s : solvers) {
    SolverOptions options;
    options.model = s.model;
    if (s.solver == "lemke") options.own = LemkeOptions{s.facets};
    if (s.solver == "dantzig") options.own = DantzigOptions{SubproblemSolve::Pivoting};  // the document's method
    made.push_back(make_contact_solver(s.solver, options));
  }
  std::vector<Answers> answers(solvers.size());
  int seen = 0, count = 0;
  ContactProblem problem;
  VecX f, c;
  scene.stepper_options.own.as<RigidOptions>().on_problem = [&](ContactProblem& given, const double*) {
    if (count++ % every != 0 || !given.dense()) return;
    ++seen;
    problem = given;
    for (std::size_t k = 0; k < solvers.size(); ++k) {
      problem.R().setConstant(tikhonov);
      f.setZero(problem.size());
      answers[k].failed += made[k]->solve(problem, Tolerance{0, 1e-6}, f).status != SolveStatus::Converged;
      problem.R().setZero();
      c.resize(problem.size());
      problem.velocity(f.data(), c.data());
      answers[k].off += judge(problem, solvers[k].model, f.data(), c.data(), solvers[k].facets).relative();
    }
  };
  Simulation simulation = make_simulation(scene);
  for (long k = 0; k < std::lround(scene.duration / scene.dt); ++k) simulation.step();
  for (Answers& a : answers) {
    a.failed /= std::max(1, seen);
    a.off /= std::max(1, seen);
  }
  return answers;
}

// Runs whose problems are given to the solvers.
struct Kind {
  const char* label;
  const char* key;
  std::function<Scene()> make;
};

std::vector<Kind> kinds_of(const Scene& raw, const Scene& scene) {
  const auto reference = pd_of(scene).reference;
  return {
      {"contact and inverse dynamics, consistent at the step", "feet",
       [=] {
         Scene s = scene;
         set_effort_limits(s, inf);
         trot_from_feet(s);
         return s;
       }},
      {"contact and inverse dynamics, consistent gait, q'ref(t+dt)", "both",
       [=] {
         Scene s = scene;
         set_effort_limits(s, inf);
         constrain(s, reference, TargetLaw::Velocity, {});
         return s;
       }},
      {"contact and inverse dynamics, raw sinusoid", "raw",
       [=] {
         Scene s = raw;
         set_effort_limits(s, inf);
         return s;
       }},
      {"contact alone (PD)", "contact",
       [=] {
         Scene s = scene;
         pd_way("", "", true).apply(s);
         return s;
       }},
      {"inverse dynamics alone (in the air, no gravity)", "air",
       [=] {
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
}

}  // namespace

void constrain(Scene& scene, const std::shared_ptr<const Reference>& reference, TargetLaw law, const Solving& solving) {
  VelocityConstraintOptions options;
  options.reference = reference;
  options.target.law = law;
  scene.controllers = {constraint_spec(options)};
  StepperOptions& s = scene.stepper_options;
  s.contact.model = solving.model;
  scene.set_solver(solving.solver);
  if (solving.solver == "lemke") s.contact.solver_options = LemkeOptions{solving.facets};
  auto& own = s.own.as<RigidOptions>();
  own.target_compliance = solving.compliance;
  own.make_solver = solving.make;
}

void trot_from_feet(Scene& scene) {
  TrotConstraintOptions options;
  options.q_stand = scene.start.q;
  scene.controllers = {
      {"trot", 0, [options](const Model& m) { return make_trot_constraint(m, options); }, std::nullopt}};
}

void pivoting(const ExperimentOptions& options, const Scene& scene, Result& result) {
  const std::vector<Judged> solvers = {{"dantzig", "dantzig", ContactModel::Lcp, 4},
                                       {"lemke, 4 facets", "lemke", ContactModel::Lcp, 4},
                                       {"lemke, 8 facets", "lemke", ContactModel::Lcp, 8},
                                       {"newton (ncp)", "newton", ContactModel::Ncp, 4}};
  Table table{"Problems not solved to 1e-6 along our own run [%]", {"problems", "step [ms]", "Tikhonov [1/kg]"}, {}};
  for (const Judged& s : solvers) table.columns.push_back(s.label);
  for (const Judged& s : solvers) table.columns.push_back(s.label + ": residual without Tikhonov");
  for (const Kind& kind : kinds_of(scene_of(options, "solo-trot-raw"), scene))
    for (const double dt : options.quick ? std::vector<double>{1e-2} : std::vector<double>{1e-3, 1e-2, 0.1})
      for (const double tikhonov :
           options.quick ? std::vector<double>{0, 1e-6, 1} : std::vector<double>{0, 1e-6, 1e-4, 1e-2, 1}) {
        Scene s = kind.make();
        s.dt = dt;
        const std::vector<Answers> answers = answers_along(s, solvers, tikhonov, dt < 5e-3 ? 10 : 1);
        std::vector<Json> row = {kind.label, 1e3 * dt, tikhonov};
        for (const Answers& a : answers) row.push_back(100 * a.failed);
        for (const Answers& a : answers) row.push_back(a.off);
        for (std::size_t k = 0; k < solvers.size(); ++k) {
          const std::string key = std::string(kind.key) + "_" + solvers[k].solver + std::to_string(solvers[k].facets) +
                                  "_" + ms_key(dt) + (tikhonov > 0 ? "_tikhonov" + number_key(tikhonov) : "");
          result.measures[key + "_failed"] = answers[k].failed;
          result.measures[key + "_off"] = answers[k].off;
        }
        table.rows.push_back(row);
      }
  result.tables.push_back(table);
}

}  // namespace tribo::experiments
