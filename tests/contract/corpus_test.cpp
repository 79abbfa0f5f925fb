// The default solver on every problem of tests/corpus, cold and warm, against reference solutions made by another route
// (experiments/reference.cpp: equations by mode in long double; or the solution that the problem was built from).
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/problem_file.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/stepper.hpp"

using namespace tribo;
namespace fs = std::filesystem;

namespace {

struct Case {
  ProblemFile file;
  VecX f, c;  ///< reference
  bool unique = true;
};

VecX vector_of(const nlohmann::json& list) {
  const auto numbers = list.get<std::vector<double>>();
  return Eigen::Map<const VecX>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

std::vector<Case> corpus() {
  std::vector<Case> cases;
  for (const auto& item : fs::directory_iterator(TRIBO_CORPUS)) {
    if (item.path().extension() != ".npz") continue;
    std::ifstream in(fs::path(TRIBO_CORPUS) / "reference" / (item.path().stem().string() + ".json"));
    const nlohmann::json reference = nlohmann::json::parse(in);
    cases.push_back({read_problem(item.path().string()), vector_of(reference["lambda"]), vector_of(reference["c"]),
                     reference["unique"].get<bool>()});
  }
  return cases;
}

}  // namespace

TEST_CASE("the references of the corpus solve their problems to 1e-11") {
  const std::vector<Case> cases = corpus();
  CHECK(cases.size() >= 40);
  for (const Case& one : cases) {
    CAPTURE(one.file.name);
    // The judge works in double: c of a stack of 1 : 1e4 carries rounding of 1e-16 x |G| |f|, 1e-11 of gravity.
    CHECK(judge(one.file.problem, ContactModel::Ncp, one.f).relative() < 1e-10);
    VecX c(one.f.size());
    one.file.problem.velocity(one.f.data(), c.data());
    const double scale = judge(one.file.problem, ContactModel::Ncp, one.f).motion_scale;
    CHECK((c - one.c).cwiseAbs().maxCoeff() < 1e-10 * scale);
  }
}

TEST_CASE("the default solver solves every problem of the corpus to 1e-8, cold and warm, and finds its velocities") {
  const auto solver = make_contact_solver(ContactOptions{}.solver, SolverOptions{});
  for (const Case& one : corpus())
    for (bool warm : {false, true}) {
      CAPTURE(one.file.name);
      CAPTURE(warm);
      const ContactProblem& problem = one.file.problem;
      VecX f = warm ? one.file.lambda0 : VecX::Zero(problem.size());
      const SolveReport report = solver->solve(problem, Tolerance{}, f);
      const Residual residual = judge(problem, ContactModel::Ncp, f);
      CHECK(report.status == SolveStatus::Converged);
      CHECK(residual.relative() <= 1e-8);
      if (!one.unique) continue;
      VecX c(f.size());
      problem.velocity(f.data(), c.data());
      // Velocities are unique where forces are not. A residual of 1e-8 leaves them open by the condition of the
      // problem; 1e-5 tells another mode of any contact from the right one.
      CHECK((c - one.c).cwiseAbs().maxCoeff() < 1e-5 * residual.motion_scale);
    }
}

// Islands of the falling heap whose central path bends sharply at a small kappa: predictor and corrector end between
// 1e-8 and 2e-7 there (central_path.cpp).
TEST_CASE("problems on which predictor and corrector stall are solved along the central path") {
  const auto solver = make_contact_solver(ContactOptions{}.solver, SolverOptions{});
  int found = 0;
  for (const auto& item : fs::directory_iterator(fs::path(TRIBO_CORPUS).parent_path() / "data/problems"))
    for (bool warm : {false, true}) {
      const ProblemFile file = read_problem(item.path().string());
      CAPTURE(file.name);
      CAPTURE(warm);
      VecX f = warm ? file.lambda0 : VecX::Zero(file.problem.size());
      CHECK(solver->solve(file.problem, Tolerance{}, f).status == SolveStatus::Converged);
      CHECK(judge(file.problem, ContactModel::Ncp, f).relative() <= 1e-8);
      ++found;
    }
  CHECK(found == 6);
}
