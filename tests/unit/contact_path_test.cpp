// The path by itself, on problems built from a chosen solution: f and c by the laws, g = c - G f.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "contact/solvers/contact_path.hpp"

using namespace tribo;

namespace {

struct Size {
  int nc, nr, rank;
  double mu;
};

ContactProblem chosen(std::mt19937_64& random, const Size& size) {
  std::uniform_real_distribution<double> u(-1, 1);
  const int n = 3 * size.nc + size.nr;
  ContactProblem problem;
  problem.resize(size.nc, size.nr, true);
  MatX Y(n, size.rank);
  for (int i = 0; i < Y.size(); ++i) Y.data()[i] = u(random);
  VecX f = VecX::Zero(n), c = VecX::Zero(n);
  for (int i = 0; i < size.nc; ++i) {
    const double angle = std::numbers::pi * u(random), force = 3 + 2 * u(random), speed = 1.25 + 0.75 * u(random);
    const Vec3 d(std::cos(angle), std::sin(angle), 0), up = Vec3::UnitZ();
    if (i % 3 == 0) f.segment<3>(3 * i) = force * (0.8 * size.mu * d + up);
    if (i % 3 == 1) f.segment<3>(3 * i) = force * (size.mu * d + up);
    if (i % 3 == 1 || size.mu == 0) c.segment<3>(3 * i) = -speed * d;
    if (i % 3 == 2) c.segment<3>(3 * i) = speed * (d + up);
  }
  for (int j = 0; j < size.nr; ++j) {  // at its lower bound, within its bounds, at its upper one, an equality, a limit
    const int o = 3 * size.nc + j, kind = j % 5;
    problem.lower()[j] = kind == 3 ? -INFINITY : kind == 4 ? 0 : -2;
    problem.upper()[j] = kind > 2 ? INFINITY : 3;
    f[o] = kind == 0 ? -2 : kind == 2 ? 3 : 1;
    c[o] = kind == 0 ? 0.5 : kind == 2 ? -0.7 : 0;
  }
  problem.G() = Y * Y.transpose();
  problem.g() = c - problem.G() * f;
  problem.mu().setConstant(size.mu);
  problem.weight = 1;
  CHECK(judge(problem, ContactModel::Ncp, f).relative() < 1e-13);  // rounding
  return problem;
}

}  // namespace

TEST_CASE(
    "letting contacts go finds forces beside rows, without friction, with much of it, and with a G of half its rank") {
  std::mt19937_64 random(11);
  ContactPath path;
  for (const Size& size :
       {Size{1, 0, 3, 0.5}, Size{6, 0, 24, 0}, Size{6, 5, 30, 0}, Size{6, 5, 30, 0.7}, Size{6, 10, 40, 3},
        Size{0, 5, 8, 1}, Size{20, 0, 40, 10}, Size{20, 0, 40, 1e3}, Size{12, 5, 30, 2}})
    for (int k = 0; k < 3; ++k) {
      const ContactProblem problem = chosen(random, size);
      VecX f = VecX::Zero(problem.size());
      const SolveReport report = path.solve(problem, Tolerance{0, 1e-8}, f);
      CAPTURE(size.nc);
      CAPTURE(size.nr);
      CAPTURE(size.mu);
      CAPTURE(k);
      CHECK(report.status == SolveStatus::Converged);
      CHECK(judge(problem, ContactModel::Ncp, f).relative() <= 1e-8);
    }
}

TEST_CASE("letting contacts go: a contact that stands four times in the problem bears its load") {
  // A mass of 1 kg on four points at the same place, pressed by 10 N along the normal and by 2 N along t1: it sticks at 0.5.
  ContactProblem problem;
  problem.resize(4, 0, true);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) problem.G()(i, j) = i % 3 == j % 3 ? 1 : 0;
  for (int i = 0; i < 4; ++i) problem.g().segment<3>(3 * i) = Vec3(2, 0, -10);
  problem.mu().setConstant(0.5);
  problem.weight = 10;
  VecX f = VecX::Zero(12);
  CHECK(ContactPath().solve(problem, Tolerance{0, 1e-10}, f).status == SolveStatus::Converged);
  Vec3 sum = Vec3::Zero();
  for (int i = 0; i < 4; ++i) sum += f.segment<3>(3 * i);
  CHECK((sum - Vec3(-2, 0, 10)).norm() < 1e-7);  // tolerance times |g| + 9.81
}

TEST_CASE("letting contacts go: without a solution the guess is left alone") {
  // No force moves the contact along its normal, and it closes: c_N = -1 whatever f is.
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G().setZero();
  problem.G()(0, 0) = problem.G()(1, 1) = 1;
  problem.g() << 0, 0, -1;
  problem.mu().setConstant(0.5);
  VecX f = VecX::Constant(3, 0.25);
  CHECK(ContactPath().solve(problem, Tolerance{0, 1e-8}, f).status == SolveStatus::Stalled);
  CHECK(f == VecX::Constant(3, 0.25));
}
