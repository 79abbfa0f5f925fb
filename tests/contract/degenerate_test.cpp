// Every contact solver at the ends of what a contact or a row may be: no friction or without end, pulled or pressed,
// rows without room.
#include <doctest/doctest.h>

#include <random>

#include "contact/solvers/interior_point.hpp"

using namespace tribo;

namespace {

template <class Body>
void for_each(Body body) {
  for (const SolverEntry& entry : contact_solvers())
    for (ContactModel model : entry.models) {
      SolverOptions options;
      options.model = model;
      const std::string name = entry.name + " " + to_string(model);
      CAPTURE(name);
      // The primal Newton methods solve with an R of their own; they are exact where the problem's R is as large.
      body(model, *entry.make(options), entry.name.starts_with("primal-newton") ? 0.2 : 0.0);
    }
}

constexpr double m = 0.2, weight = 9.81 * m;

// A ball on a plane; R is ratio times the diagonal of G.
ContactProblem ball(double mu, const Vec3& a, double ratio) {
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G() = Vec3(3.5 / m, 3.5 / m, 1 / m).asDiagonal();
  problem.R() = ratio * problem.G().diagonal();
  problem.g() = a;
  problem.mu()[0] = mu;
  problem.weight = weight;
  return problem;
}

// Contacts and rows coupled by a G of full rank; the rows at `known` have one force only.
struct Mixed {
  ContactProblem problem, without;
  std::vector<int> known = {1, 2, 4};
};

Mixed mixed(int nc, unsigned seed, double width, double ratio) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  const int nr = 5, n = 3 * nc + nr;
  MatX Y(n, 3 * n);
  for (int i = 0; i < Y.size(); ++i) Y.data()[i] = normal(rng);
  Mixed x;
  ContactProblem& p = x.problem;
  p.resize(nc, nr, true);
  p.G() = Y * Y.transpose() / (3.0 * n);
  p.R() = ratio * p.G().diagonal();
  for (int i = 0; i < nc; ++i) p.R().segment<2>(3 * i).setConstant(p.R().segment<2>(3 * i).maxCoeff());
  for (int i = 0; i < n; ++i) p.g()[i] = 3 * normal(rng) - (i < 3 * nc && i % 3 == 2 ? 5 : 0);
  p.mu().setConstant(0.4);
  const double inf = std::numeric_limits<double>::infinity();
  p.lower() << -1, 0, 7, -inf, -3;
  p.upper() << 2, width, 7 + width, inf, -3 + width;
  // The same without those rows: their forces are part of g.
  std::vector<int> kept;
  for (int i = 0; i < n; ++i)
    if (i < 3 * nc || std::find(x.known.begin(), x.known.end(), i - 3 * nc) == x.known.end()) kept.push_back(i);
  VecX f = VecX::Zero(n);
  for (int j : x.known) f[3 * nc + j] = p.lower()[j];
  const VecX g = p.G() * f + p.g();
  ContactProblem& w = x.without;
  w.resize(nc, 2, true);
  for (std::size_t a = 0; a < kept.size(); ++a) {
    const int i = static_cast<int>(a);
    w.g()[i] = g[kept[a]];
    w.R()[i] = p.R()[kept[a]];
    for (std::size_t b = 0; b < kept.size(); ++b) w.G()(i, static_cast<int>(b)) = p.G()(kept[a], kept[b]);
  }
  w.mu() = p.mu();
  w.lower() << -1, -inf;
  w.upper() << 2, inf;
  return x;
}

void check_known(const Mixed& x, const VecX& f, const VecX& reference, double tolerance) {
  const int first = 3 * x.problem.nc();
  for (int j : x.known) CHECK(f[first + j] == doctest::Approx(x.problem.lower()[j]).epsilon(1e-12));
  CHECK((f.head(first) - reference.head(first)).cwiseAbs().sum() <= tolerance);
  CHECK(std::abs(f[first] - reference[first]) <= tolerance);
  CHECK(std::abs(f[first + 3] - reference[first + 1]) <= tolerance);
}

}  // namespace

TEST_CASE("a ball that is pulled away gets no force, one that is pressed its own: every solver, every mu, any guess") {
  const Vec3 guesses[] = {Vec3::Zero(), {0, 0, weight}, {0, 0, -weight}, {weight, 0, -3 * weight}, {0, 1e-9, -1e-9}};
  for (const double mu : {0.0, 1e-12, 1e-6, 1.0, 1e6})
    for (const Vec3& guess : guesses)
      for_each([&](ContactModel model, ContactSolver& solver, double ratio) {
        CAPTURE(mu);
        CAPTURE(guess.transpose());
        VecX f = guess;
        const ContactProblem pulled = ball(mu, {0, 0, 2 * 9.81}, ratio);
        CHECK(solver.solve(pulled, Tolerance{}, f).status == SolveStatus::Converged);
        CHECK(judge(pulled, model, f).relative() <= 1e-8);
        CHECK(f.norm() <= 1e-7 * weight);
        f = guess;
        const ContactProblem pressed = ball(mu, {0, 0, -9.81}, ratio);
        CHECK(solver.solve(pressed, Tolerance{}, f).status == SolveStatus::Converged);
        CHECK((f - Vec3(0, 0, weight / (1 + ratio))).norm() <= 1e-6 * weight);  // f = -g / (G + R)
      });
}

TEST_CASE("a row with one force only has that force, and the rest is as without the row: every solver") {
  for (const double width : {0.0, 1e-15})
    for (const int nc : {0, 2})
      for (unsigned seed = 0; seed < 10; ++seed)
        for_each([&](ContactModel model, ContactSolver& solver, double ratio) {
          const Mixed x = mixed(nc, seed, width, ratio);
          CAPTURE(width);
          CAPTURE(nc);
          CAPTURE(seed);
          VecX f = VecX::Zero(x.problem.size()), reference = VecX::Zero(x.without.size());
          CHECK(solver.solve(x.without, Tolerance{}, reference).status == SolveStatus::Converged);
          CHECK(solver.solve(x.problem, Tolerance{}, f).status == SolveStatus::Converged);
          CHECK(judge(x.problem, model, f).relative() <= 1e-8);
          // Residuals of 1e-8 of forces up to 30, conditions of some tens, two solves.
          check_known(x, f, reference, 1e-3);
        });
}

TEST_CASE("a row that no force moves has a force within its bounds: every solver") {
  for_each([](ContactModel model, ContactSolver& solver, double ratio) {
    Mixed x = mixed(1, 3, 0, ratio);
    ContactProblem& p = x.problem;
    for (int i : {3, 5}) {  // a row with room and one without
      p.G().row(i).setZero();
      p.G().col(i).setZero();
      p.R()[i] = 0;
    }
    p.g()[3] = 4;
    VecX f = VecX::Zero(p.size());
    CHECK(solver.solve(p, Tolerance{}, f).status == SolveStatus::Converged);
    CHECK(judge(p, model, f).relative() <= 1e-8);
    CHECK(f[3] == doctest::Approx(p.lower()[0]));
    CHECK(f[5] == doctest::Approx(7));
  });
}

TEST_CASE("the interior-point method, by itself, takes rows without room") {
  for (const double width : {0.0, 1e-15, 1e-13})
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Mixed x = mixed(2, seed, width, 0);
      InteriorPoint method;
      VecX f = VecX::Zero(x.problem.size()), reference = VecX::Zero(x.without.size());
      CAPTURE(seed);
      CHECK(method.solve(x.without, Tolerance{}, reference).status == SolveStatus::Converged);
      CHECK(method.solve(x.problem, Tolerance{}, f).status == SolveStatus::Converged);
      check_known(x, f, reference, 1e-3);
    }
}
