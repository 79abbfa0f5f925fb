// Parts of a large problem: what is kept, what belongs together, and that a part is the whole where nothing else presses.
#include "contact/solvers/problem_parts.hpp"

#include <doctest/doctest.h>

#include "contact/solvers/contact_sweeps.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }

// Bodies of six coordinates in a row, as whitened velocities see them: each in contact with the ground, then with the next.
void fill(int bodies, Random& random, ContactProblem& problem) {
  problem.resize(2 * bodies - 1, 0, false);
  ContactFactor& factor = problem.factor;
  factor = {};
  factor.nw = 6 * bodies;
  for (int k = 0; k <= bodies; ++k) factor.node_start.push_back(6 * k);
  const auto add = [&](int body) {
    factor.blocks.push_back(
        {static_cast<int>(factor.y.size()), static_cast<int>(factor.index.size()), 6, body, body, body});
    for (int k = 0; k < 6; ++k) {
      factor.index.push_back(6 * body + k);
      for (int r = 0; r < 3; ++r) factor.y.push_back(draw(random));
    }
  };
  const auto open = [&] { factor.start.push_back(static_cast<int>(factor.blocks.size())); };
  for (int b = 0; b < bodies; ++b) open(), add(b);
  for (int b = 0; b + 1 < bodies; ++b) open(), add(b), add(b + 1);
  open();
  for (int i = 0; i < problem.nc(); ++i) problem.mu()[i] = 0.3 + 0.4 * random.uniform();
  for (int i = 0; i < problem.size(); ++i) {
    problem.g()[i] = draw(random);
    problem.R()[i] = 0.05;
  }
  problem.weight = 1;
}

// Which link is cut: contact bodies + k, between body k and the next.
void leave_out(int contact, VecX& f, VecX& c) {
  f.segment<3>(3 * contact).setZero();
  c.segment<3>(3 * contact) = Vec3(0, 0, 10);
}

}  // namespace

TEST_CASE("parts are what touches, and each has the velocities of the whole") {
  Random random;
  const int bodies = 30;
  ContactProblem problem;
  fill(bodies, random, problem);
  VecX f(problem.size()), c = VecX::Constant(problem.size(), -1);
  for (double& x : f) x = draw(random);
  for (int i = 0; i < problem.nc(); ++i) f[3 * i + 2] = 1;
  const std::vector<int> cut{9, 19};  // bodies 0 to 9, 10 to 19, 20 to 29
  for (int k : cut) leave_out(bodies + k, f, c);
  ProblemParts parts;
  ProblemParts::Numbers numbers;
  parts.choose(problem, f.data(), c.data(), 1);
  parts.split(problem);
  REQUIRE(parts.size() == 3);
  VecX whole(problem.size());
  problem.velocity(f.data(), whole.data());
  for (int k = 0; k < 3; ++k) {
    CHECK(parts.fresh(k));
    ContactProblem part;
    VectorBuffer part_f;
    parts.extract(problem, k, f.data(), numbers, part, part_f);
    CHECK(part.defect() == "");
    CHECK(part.nc() == 19);  // ten on the ground, nine between
    CHECK(part.factor.nw == 60);
    VecX part_c(part.size()), back = VecX::Zero(problem.size()), back_f = back;
    part.velocity(part_f.data(), part_c.data());
    VectorBuffer velocities;
    velocities.resize(part.size());
    velocities.map() = part_c;
    parts.put_back(problem, k, velocities, back.data());
    parts.put_back(problem, k, part_f, back_f.data());
    for (int i = 0; i < problem.nc(); ++i) {
      const int body = i < bodies ? i : i - bodies;
      const bool cut_here = i >= bodies && (body == cut[0] || body == cut[1]), here = body / 10 == k && !cut_here;
      CAPTURE(i);
      CHECK((back.segment<3>(3 * i) - (here ? Vec3(whole.segment<3>(3 * i)) : Vec3::Zero().eval())).norm() < 1e-13);
      CHECK(back_f.segment<3>(3 * i) == (here ? Vec3(f.segment<3>(3 * i)) : Vec3::Zero().eval()));
    }
  }
}

TEST_CASE("what comes nearer after all joins the parts that it ties together, and those alone are fresh") {
  Random random;
  const int bodies = 30;
  ContactProblem problem;
  fill(bodies, random, problem);
  VecX f = VecX::Ones(problem.size()), c = VecX::Constant(problem.size(), -1);
  for (int k : {9, 19}) leave_out(bodies + k, f, c);
  ProblemParts parts;
  parts.choose(problem, f.data(), c.data(), 1);
  parts.split(problem);
  CHECK_FALSE(parts.choose_more(problem, c.data(), 0));
  c[3 * (bodies + 9) + 2] = -1e-3;
  REQUIRE(parts.choose_more(problem, c.data(), 0));
  parts.split(problem);
  REQUIRE(parts.size() == 2);
  CHECK(parts.fresh(0));
  CHECK_FALSE(parts.fresh(1));
  f.setOnes();
  parts.clear_others(problem, f.data());
  for (int i = 0; i < problem.nc(); ++i) CHECK(f[3 * i] == (i == bodies + 19 ? 0 : 1));
}

// A guess of nothing is poor: the default solver goes by parts. Its answer is judged on the whole problem.
TEST_CASE("a large problem with a poor guess is solved to its tolerance on all contacts") {
  Random random;
  const auto newton = make_contact_solver("newton", {});
  for (int bodies : {20, 40, 80}) {
    ContactProblem problem;
    fill(bodies, random, problem);
    VecX f = VecX::Zero(problem.size()), c(problem.size());
    const SolveReport report = newton->solve(problem, {0, 1e-8}, f);
    problem.velocity(f.data(), c.data());
    CAPTURE(bodies);
    CHECK(report.status == SolveStatus::Converged);
    CHECK(judge(problem, ContactModel::Ncp, f.data(), c.data()).relative() < 1e-8);
  }
}

TEST_CASE("sweeps over contacts end where the default solver ends") {
  Random random;
  ContactSweeps sweeps;
  const auto newton = make_contact_solver("newton", {});
  ContactProblem problem;
  fill(8, random, problem);
  problem.R().setConstant(1);  // one answer, and quick sweeps
  VecX f = VecX::Zero(problem.size()), exact = f;
  sweeps.run(problem, 2000, f);
  REQUIRE(newton->solve(problem, {0, 1e-12}, exact).status == SolveStatus::Converged);
  CHECK((f - exact).cwiseAbs().maxCoeff() < 1e-9);
}
