// tribo solve FILE|FOLDER: contact problems out of files, judged under every law.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include "base/names.hpp"
#include "common.hpp"
#include "io/problem_file.hpp"
#include "problems.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

constexpr int largest_spectrum = 600;  // unknowns: internal forces take the eigenvectors of G

struct SolveOptions {
  std::string path, contact_model = "ncp", solver;
  double tolerance = 1e-8;
  int max_iterations = 10000;
  int facets = 0;  ///< 0: as the file says, or 4
  std::string line_search = "exact";
  bool relative = false, warm = false, json = false;
};

struct Answer {
  std::string problem, solver, status;
  VecX lambda, c;
  bool refused = false, converged = false;
  int iterations = 0, contacts = 0, rows = 0;
  double time_us = 0;
  Residual residual;                 ///< under the asked law
  double ncp = 0, ccp = 0, lcp = 0;  ///< absolute residual under each law
  double internal = 0;               ///< size of the part of the forces that moves nothing [N]; NaN: not computed
};

bool takes_rows(const std::string& solver) {
  for (const SolverEntry& entry : contact_solvers()) {
    if (entry.name == solver) return entry.rows;
  }
  return false;
}

/// What the solver has of the options of the command line and of the file.
tribo::Options own_options(const std::string& solver, const ProblemFile& file, const SolveOptions& options) {
  const OptionTable& table = contact_solver_entry(solver).options;
  const std::string owner = "solver '" + solver + "'";
  tribo::Options own;
  const int facets = options.facets > 0 ? options.facets : file.facets;
  if (facets > 0 && table.find("facets")) table.set(own, "facets", facets, owner);
  if (table.find("line_search")) table.set(own, "line_search", options.line_search, owner);
  return own;
}

Answer solve_one(const ProblemFile& file, const std::string& solver, const SolveOptions& options) {
  const ContactProblem& problem = file.problem;
  Answer answer;
  answer.problem = file.name;
  answer.solver = solver;
  answer.contacts = problem.nc();
  answer.rows = problem.nr();
  SolverOptions solver_options;
  solver_options.model = contact_model_from(options.contact_model);
  solver_options.max_iterations = options.max_iterations;
  solver_options.own = own_options(solver, file, options);
  const auto method = make_contact_solver(solver, solver_options);
  if (problem.nr() > 0 && !takes_rows(solver)) {
    answer.refused = true;
    answer.status = "refused: the solver takes no rows beside contacts";
    return answer;
  }
  answer.lambda = VecX::Zero(problem.size());
  if (options.warm) {
    if (file.lambda0.size() == 0) throw InvalidInput(file.name + ": --warm needs 'lambda0', which is missing");
    answer.lambda = file.lambda0;
  }
  const Tolerance tolerance =
      options.relative ? Tolerance{.abs = 0, .rel = options.tolerance} : Tolerance{.abs = options.tolerance, .rel = 0};
  const auto start = std::chrono::steady_clock::now();
  const SolveReport report = method->solve(problem, tolerance, answer.lambda);
  answer.time_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  answer.iterations = report.iterations;
  answer.status = to_string(report.status);
  answer.c.resize(problem.size());
  problem.velocity(answer.lambda.data(), answer.c.data());
  // Judged here, whatever the solver says of itself.
  answer.residual = judge(problem, solver_options.model, answer.lambda.data(), answer.c.data(), method->facets());
  answer.ncp = judge(problem, ContactModel::Ncp, answer.lambda.data(), answer.c.data()).absolute();
  answer.ccp = judge(problem, ContactModel::Ccp, answer.lambda.data(), answer.c.data()).absolute();
  answer.lcp = judge(problem, ContactModel::Lcp, answer.lambda.data(), answer.c.data(), method->facets()).absolute();
  answer.internal = problem.size() <= largest_spectrum ? experiments::internal_force(problem, answer.lambda)
                                                       : std::numeric_limits<double>::quiet_NaN();
  answer.converged = report.status == SolveStatus::Converged && tolerance.met(answer.residual);
  return answer;
}

Json to_json(const Answer& a, const SolveOptions& options) {
  const auto list = [](const VecX& x) { return std::vector<double>(x.data(), x.data() + x.size()); };
  Json json;
  json["problem"] = a.problem;
  json["solver"] = a.solver;
  json["contact_model"] = options.contact_model;
  json["contacts"] = a.contacts;
  json["rows"] = a.rows;
  json["lambda"] = list(a.lambda);
  json["c"] = list(a.c);
  json["converged"] = a.converged;
  json["status"] = a.status;
  json["iterations"] = a.iterations;
  json["time_us"] = a.time_us;
  if (!a.refused) {
    json["residual"] = {{"primal", a.residual.primal},
                        {"dual", a.residual.dual},
                        {"complementarity", a.residual.complementarity},
                        {"relative", a.residual.relative()},
                        {"ncp", a.ncp},
                        {"ccp", a.ccp},
                        {"lcp", a.lcp}};
    json["internal_force"] = std::isfinite(a.internal) ? Json(a.internal) : Json();
  }
  return json;
}

void print_answer(const Answer& a, const SolveOptions& options) {
  std::printf("problem     %s: %d contacts, %d rows\n", a.problem.c_str(), a.contacts, a.rows);
  std::printf("solver      %s under %s: %s, %d iterations, %.1f us\n", a.solver.c_str(), options.contact_model.c_str(),
              a.status.c_str(), a.iterations, a.time_us);
  if (a.refused) return;
  std::printf("residual    primal %s, dual %s, complementarity %s\n", shown(a.residual.primal).c_str(),
              shown(a.residual.dual).c_str(), shown(a.residual.complementarity).c_str());
  std::printf("judged as   ncp %s, ccp %s, lcp %s\n", shown(a.ncp).c_str(), shown(a.ccp).c_str(), shown(a.lcp).c_str());
  if (std::isfinite(a.internal))
    std::printf("internal    %s N of the forces move nothing\n", shown(a.internal).c_str());
  constexpr int most = 20;
  for (int i = 0; i < std::min(a.contacts, most); ++i) {
    std::printf("contact %-3d f = (%s, %s, %s)  c = (%s, %s, %s)\n", i, shown(a.lambda[3 * i]).c_str(),
                shown(a.lambda[3 * i + 1]).c_str(), shown(a.lambda[3 * i + 2]).c_str(), shown(a.c[3 * i]).c_str(),
                shown(a.c[3 * i + 1]).c_str(), shown(a.c[3 * i + 2]).c_str());
  }
  if (a.contacts > most) std::printf("… %d contacts in all; --json prints every one\n", a.contacts);
}

/// What one solver made of all problems.
struct Tally {
  std::string solver;
  int problems = 0, converged = 0, refused = 0, most_iterations = 0;
  double iterations = 0, time_us = 0, worst = 0;
};

std::vector<Tally> tally(const std::vector<Answer>& answers, const std::vector<std::string>& solvers) {
  std::vector<Tally> tallies;
  for (const std::string& solver : solvers) {
    Tally t{.solver = solver};
    for (const Answer& a : answers) {
      if (a.solver != solver) continue;
      ++t.problems;
      t.refused += a.refused;
      if (a.refused) continue;
      t.converged += a.converged;
      t.most_iterations = std::max(t.most_iterations, a.iterations);
      t.iterations += a.iterations;
      t.time_us += a.time_us;
      // A residual that is not finite is the worst there is.
      const double r = a.residual.absolute();
      t.worst = std::isfinite(r) ? std::max(t.worst, r) : std::numeric_limits<double>::infinity();
    }
    const int ran = std::max(1, t.problems - t.refused);
    t.iterations /= ran;
    t.time_us /= ran;
    tallies.push_back(t);
  }
  return tallies;
}

void print_many(const std::vector<Answer>& answers, const std::vector<Tally>& tallies) {
  int width = 7;
  for (const Answer& a : answers) width = std::max(width, static_cast<int>(a.problem.size()));
  std::printf("%-*s  %-10s  %8s  %10s  %12s  %12s  %s\n", width, "problem", "solver", "contacts", "iterations",
              "time [us]", "residual", "status");
  for (const Answer& a : answers) {
    std::printf("%-*s  %-10s  %8d  %10d  %12.1f  %12.3g  %s\n", width, a.problem.c_str(), a.solver.c_str(), a.contacts,
                a.iterations, a.time_us, a.residual.absolute(), a.status.c_str());
  }
  std::printf("\n%-10s  %9s  %7s  %16s  %14s  %14s\n", "solver", "converged", "refused", "iterations", "mean time [us]",
              "worst residual");
  for (const Tally& t : tallies) {
    const std::string count = std::to_string(t.converged) + "/" + std::to_string(t.problems - t.refused);
    const std::string iterations = shown(t.iterations) + " (max " + std::to_string(t.most_iterations) + ")";
    std::printf("%-10s  %9s  %7d  %16s  %14.1f  %14.3g\n", t.solver.c_str(), count.c_str(), t.refused,
                iterations.c_str(), t.time_us, t.worst);
  }
}

void print_many_json(const std::vector<Answer>& answers, const std::vector<Tally>& tallies,
                     const SolveOptions& options) {
  Json json;
  json["results"] = Json::array();
  for (const Answer& a : answers) json["results"].push_back(to_json(a, options));
  json["solvers"] = Json::array();
  for (const Tally& t : tallies) {
    json["solvers"].push_back({{"solver", t.solver},
                               {"problems", t.problems},
                               {"refused", t.refused},
                               {"converged", t.converged},
                               {"mean_iterations", t.iterations},
                               {"max_iterations", t.most_iterations},
                               {"mean_time_us", t.time_us},
                               {"worst_residual", t.worst}});
  }
  print_json(json);
}

std::vector<std::string> problem_paths(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw InvalidInput(path + ": no such file or folder");
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> paths;
  for (const auto& item : fs::directory_iterator(path)) {
    if (item.is_regular_file() && is_problem_file(item.path().string())) paths.push_back(item.path().string());
  }
  if (paths.empty()) throw InvalidInput(path + ": holds no contact problems (.json, .npz, .hdf5)");
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> solver_names(const SolveOptions& options) {
  const ContactModel model = contact_model_from(options.contact_model);
  std::vector<std::string> names;
  std::istringstream list(options.solver);
  for (std::string name; std::getline(list, name, ',');)
    if (!name.empty()) names.push_back(name);
  if (!names.empty()) return names;
  return {default_contact_solver(model).name};
}

int solve(const SolveOptions& options) {
  if (!(options.tolerance > 0) || !std::isfinite(options.tolerance)) {
    throw InvalidInput("--tolerance is " + shown(options.tolerance) + "; must be finite and > 0");
  }
  if (options.facets > 0 && options.solver.find("lemke") == std::string::npos)
    throw InvalidInput("--facets belongs to --solver lemke");
  if (options.line_search != "exact" && options.line_search != "armijo")
    throw InvalidInput(unknown_name("line search", options.line_search, {"exact", "armijo"}));
  if (options.max_iterations < 1) {
    throw InvalidInput("--max-iterations is " + std::to_string(options.max_iterations) + "; must be >= 1");
  }
  const std::vector<std::string> solvers = solver_names(options);
  const std::vector<std::string> paths = problem_paths(options.path);
  std::vector<Answer> answers;
  for (const std::string& path : paths) {
    const ProblemFile file = read_problem(path);
    for (const std::string& solver : solvers) answers.push_back(solve_one(file, solver, options));
  }
  if (answers.size() == 1 && answers[0].refused) {
    throw InvalidInput(options.path + ": the solver '" + solvers[0] + "' takes no rows beside contacts");
  }
  std::error_code error;
  if (answers.size() == 1 && !fs::is_directory(options.path, error)) {
    if (options.json) {
      print_json(to_json(answers[0], options));
    } else {
      print_answer(answers[0], options);
    }
  } else if (options.json) {
    print_many_json(answers, tally(answers, solvers), options);
  } else {
    print_many(answers, tally(answers, solvers));
  }
  const bool all =
      std::all_of(answers.begin(), answers.end(), [](const Answer& a) { return a.converged || a.refused; });
  return all ? done : failed;
}

}  // namespace

void add_solve(CommandLine& command, Action& action) {
  auto o = std::make_shared<SolveOptions>();
  command.add_option("PROBLEM", o->path, "a .json, .npz or .hdf5 (FCLIB) file, or a folder of them")->required();
  command.add_option("--contact-model", o->contact_model, "law that is solved: ncp, ccp, lcp, raisim")
      ->capture_default_str();
  command.add_option("--solver", o->solver,
                     "one or several, separated by commas; default: the first that knows the law");
  command.add_option("--tolerance", o->tolerance, "largest residual of a solution, absolute")->capture_default_str();
  command.add_flag("--relative", o->relative,
                   "take the tolerance relative to the forces and accelerations of the problem");
  command.add_option("--max-iterations", o->max_iterations, "iterations before a solver gives up")
      ->capture_default_str();
  command.add_option("--facets", o->facets, "of lemke's friction pyramid: 4, 8 or 16; default: as the file says, or 4");
  command.add_option("--line-search", o->line_search, "of the primal Newton methods: exact or armijo")
      ->capture_default_str();
  command.add_flag("--warm", o->warm, "begin from 'lambda0' of the file");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "A problem in JSON: {\"G\": [[…]], \"g\": […], \"mu\": […]}, contacts in the order (t1, t2, n); optional \"R\", "
      "\"lambda0\",\n"
      "\"rows\": {\"lower\": […], \"upper\": […]}, \"dt\", \"weight\", \"facets\". Exit code 1 where a solver did not "
      "converge.\n\n"
      "Examples:\n"
      "  tribo solve problem.json --json\n"
      "  tribo solve problems/ --solver newton,pgs --tolerance 1e-6");
  command.callback([o, &action] { action = [o] { return solve(*o); }; });
}

}  // namespace tribo::app
