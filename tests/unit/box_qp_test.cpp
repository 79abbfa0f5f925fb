// Box programs built from a chosen solution: x and w are drawn so that they satisfy (box.1), and b follows.
#include "contact/solvers/box_qp.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

struct Program {
  MatX A;
  VecX b, lower, upper, x, w;  ///< x and w: of the solution
};

struct Shape {
  int n = 1, rank = 1;
  double fixed = 0;       ///< share of variables with lower = upper
  double degenerate = 0;  ///< share of those at a bound whose w is zero
  double open = 0;        ///< share of bounds that are infinite
};

Program draw(const Shape& shape, Random& random) {
  const int n = shape.n;
  MatX B(n, shape.rank);
  for (int j = 0; j < shape.rank; ++j)
    for (int i = 0; i < n; ++i) B(i, j) = 2 * random.uniform() - 1;
  Program p{B * B.transpose(), VecX(n), VecX(n), VecX(n), VecX(n), VecX(n)};
  for (int i = 0; i < n; ++i) {
    p.lower[i] = -1 - random.uniform();
    p.upper[i] = 1 + random.uniform();
    p.w[i] = 0;
    p.x[i] = 0.9 * (2 * random.uniform() - 1);
    const double side = random.uniform();
    if (side < 0.3) {
      p.x[i] = p.lower[i];
      p.w[i] = random.uniform() < shape.degenerate ? 0 : random.uniform() + 0.01;
      if (random.uniform() < shape.open) p.upper[i] = inf;
    } else if (side < 0.6) {
      p.x[i] = p.upper[i];
      p.w[i] = random.uniform() < shape.degenerate ? 0 : -random.uniform() - 0.01;
      if (random.uniform() < shape.open) p.lower[i] = -inf;
    } else if (random.uniform() < shape.open) {
      p.lower[i] = -inf;
      p.upper[i] = inf;
    }
    if (random.uniform() < shape.fixed) {  // w may be anything
      p.lower[i] = p.upper[i] = p.x[i] = 2 * random.uniform() - 1;
      p.w[i] = 2 * random.uniform() - 1;
    }
  }
  p.b = p.w - p.A * p.x;
  return p;
}

/// Largest violation of (box.1), by the natural map x - clamp(x - w).
double violation(const Program& p, const VecX& x) {
  const VecX w = p.A * x + p.b;
  double worst = 0;
  for (int i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(x[i] - std::clamp(x[i] - w[i], p.lower[i], p.upper[i])));
  return worst;
}

BoxQp::Outcome solve(BoxQp& qp, const Program& p, VecX& x) {
  return qp.solve(p.A.data(), static_cast<int>(p.b.size()), p.b.data(), p.lower.data(), p.upper.data(), x.data());
}

}  // namespace

TEST_CASE("box program: the chosen solution is found, from any guess, and from itself without a pivot") {
  Random random;
  BoxQp qp;  // one for all: what one problem leaves behind must not show in the next
  for (int n = 1; n <= 40; ++n)
    for (int trial = 0; trial < 5; ++trial) {
      CAPTURE(n);
      CAPTURE(trial);
      const Program p = draw({n, n + 2, 0.1 * trial, 0, 0.2 * trial}, random);
      VecX x(n);
      for (int i = 0; i < n; ++i) x[i] = 4 * random.uniform() - 2;
      REQUIRE(solve(qp, p, x) == BoxQp::Outcome::Solved);
      CHECK(violation(p, x) < 1e-10);
      // A is positive definite: there is one solution. Its condition is what a random matrix of this size has.
      CHECK((x - p.x).cwiseAbs().maxCoeff() < 1e-6);
      VecX again = x;
      REQUIRE(solve(qp, p, again) == BoxQp::Outcome::Solved);
      CHECK(qp.pivots() == 0);
      CHECK((again - x).cwiseAbs().maxCoeff() < 1e-9);
    }
}

TEST_CASE("box program: degenerate sides, where x is at a bound and w is zero too") {
  Random random;
  BoxQp qp;
  for (int n = 1; n <= 24; ++n)
    for (double degenerate : {0.5, 1.0}) {
      CAPTURE(n);
      CAPTURE(degenerate);
      const Program p = draw({n, n + 2, 0.2, degenerate, 0.3}, random);
      VecX x = VecX::Zero(n);
      REQUIRE(solve(qp, p, x) == BoxQp::Outcome::Solved);
      CHECK(violation(p, x) < 1e-10);
      CHECK((x - p.x).cwiseAbs().maxCoeff() < 1e-6);
    }
}

TEST_CASE("box program: singular matrices have many solutions, and one of them is found") {
  Random random;
  BoxQp qp;
  for (int n = 2; n <= 24; ++n)
    for (int rank : {0, 1, n / 2, n - 1}) {
      CAPTURE(n);
      CAPTURE(rank);
      const Program p = draw({n, rank, 0.1, 0.2, 0}, random);  // all bounds finite: it is bounded
      VecX x = VecX::Zero(n);
      REQUIRE(solve(qp, p, x) == BoxQp::Outcome::Solved);
      CHECK(violation(p, x) < 1e-9);
      // w is the same at every solution of a convex program.
      CHECK((p.A * x + p.b - p.w).cwiseAbs().maxCoeff() < 1e-8);
    }
}

TEST_CASE("box program: one without a lowest point says so") {
  Program p;
  p.A = MatX::Zero(2, 2);
  p.A(0, 0) = 1;
  p.b = Eigen::Vector2d(-1, -1);  // x_1 falls for ever
  p.lower = Eigen::Vector2d(-inf, 0);
  p.upper = Eigen::Vector2d(inf, inf);
  BoxQp qp;
  VecX x = VecX::Zero(2);
  CHECK(solve(qp, p, x) == BoxQp::Outcome::Unbounded);
  p.upper[1] = 3;
  REQUIRE(solve(qp, p, x) == BoxQp::Outcome::Solved);
  CHECK(x[0] == doctest::Approx(1));
  CHECK(x[1] == 3);
}
