// Polynomials in S against its modes: two exact ways to the same integrals.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "linalg/modal.hpp"
#include "linalg/polynomial.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

struct Case {
  MatX G;
  VecX K, p, c, b;
};

// A G of the given rank, with numbers of the size of a quadruped's feet.
Case make_case(int n, int rank, unsigned seed) {
  std::srand(seed);
  Case x;
  const MatX Y = 1.5 * MatX::Random(n, rank);
  x.G = Y * Y.transpose();
  x.K = VecX::Constant(n, 1e5);
  x.p = 1e-4 * VecX::Random(n);
  x.c = 0.1 * VecX::Random(n);
  x.b = 10 * VecX::Random(n);
  return x;
}

struct Integrals {
  VecX first, second;
};

Integrals by_modes(const Case& x, double beta, double h) {
  const int n = static_cast<int>(x.K.size());
  Integrals i{VecX(n), VecX(n)};
  Modal modal;
  REQUIRE(modal.decompose(x.G.data(), x.K.data(), n));
  modal.integrate(beta, h, x.p.data(), x.c.data(), x.b.data(), i.first.data(), i.second.data());
  return i;
}

bool by_polynomial(Polynomial& polynomial, const Case& x, double beta, double h, Integrals& i) {
  const int n = static_cast<int>(x.K.size());
  i = {VecX(n), VecX(n)};
  if (!polynomial.prepare(x.G.data(), x.K.data(), n, beta, h)) return false;
  polynomial.integrate(x.p.data(), x.c.data(), x.b.data(), i.first.data(), i.second.data());
  return true;
}

}  // namespace

TEST_CASE("polynomial: the same integrals as the modes, whatever the rank, damping and step") {
  Polynomial polynomial;
  int used = 0;
  for (int n : {3, 6, 9, 12, 24})
    for (int rank : {1, n / 2 + 1, n})
      for (double beta : {0.0, 3e-4, 3e-3, 3e-2})
        for (double h : {1e-6, 1e-4, 1e-3, 2e-3}) {
          const Case x = make_case(n, rank, 7);
          Integrals i;
          if (!by_polynomial(polynomial, x, beta, h, i)) continue;
          ++used;
          const Integrals m = by_modes(x, beta, h);
          CAPTURE(n);
          CAPTURE(rank);
          CAPTURE(beta);
          CAPTURE(h);
          // Coefficients are cut at 1e-14 of the largest, and add up over at most 64 terms and n coordinates.
          CHECK((i.first - m.first).norm() <= 1e-11 * m.first.norm());
          CHECK((i.second - m.second).norm() <= 1e-11 * m.second.norm());
        }
  CHECK(used > 150);
}

TEST_CASE("polynomial: repeated and zero eigenvalues, and springs that are left out") {
  Polynomial polynomial;
  Case x = make_case(6, 6, 1);
  x.G = 4 * MatX::Identity(6, 6);
  x.K[1] = x.K[4] = 0;  // contacts that slip
  Integrals i;
  REQUIRE(by_polynomial(polynomial, x, 3e-3, 1e-3, i));
  const Integrals m = by_modes(x, 3e-3, 1e-3);
  CHECK((i.first - m.first).norm() <= 1e-12 * m.first.norm());
  CHECK(i.first[1] == 0);
  x.G.setZero();  // nothing moves the points: f follows p + b t^2 / 2 alone
  REQUIRE(by_polynomial(polynomial, x, 3e-3, 1e-3, i));
  const double h = 1e-3, beta = 3e-3;
  const double closed =
      -x.K[0] * (h * x.p[0] + h * h / 2 * x.c[0] + h * h * h / 6 * x.b[0] + beta * (h * x.c[0] + h * h / 2 * x.b[0]));
  CHECK(i.first[0] == doctest::Approx(closed).epsilon(1e-12));
}

TEST_CASE("polynomial: what was computed before does not change a bit") {
  const Case x = make_case(12, 12, 3), other = make_case(6, 6, 4);
  Polynomial fresh, used;
  Integrals a, b, ignored;
  for (double h = 1e-4; h < 2e-3; h *= 1.1) by_polynomial(used, other, 1e-3, h, ignored);
  REQUIRE(by_polynomial(fresh, x, 3e-3, 1e-3, a));
  REQUIRE(by_polynomial(used, x, 3e-3, 1e-3, b));
  CHECK(a.first == b.first);
  CHECK(a.second == b.second);
}

TEST_CASE("polynomial: too many terms, an odd size and numbers that are not finite are left to the modes") {
  Polynomial polynomial;
  Integrals i;
  CHECK_FALSE(by_polynomial(polynomial, make_case(12, 12, 3), 3e-3, 0.1, i));
  CHECK_FALSE(by_polynomial(polynomial, make_case(7, 7, 3), 3e-3, 1e-3, i));
  Case x = make_case(6, 6, 3);
  x.G(2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(by_polynomial(polynomial, x, 3e-3, 1e-3, i));
}

TEST_CASE("polynomial: sums by products with Z^T Z are those of the modes of Z Z^T, for any number of rows") {
  Random random;
  for (const int n : {12, 24, 60}) {
    MatX Y(n, 9);
    for (double& y : Y.reshaped()) y = 2 * random.uniform() - 1;
    const MatX G = Y * Y.transpose();
    const VecX K = VecX::Constant(n, 1e4);
    const double beta = 3e-3, h = 2e-3, norm = 1e4 * G.norm();
    VecX p(n), v(n), b(n), one(n), two(n), first(n), second(n);
    for (VecX* x : {&p, &v, &b})
      for (double& e : *x) e = 2 * random.uniform() - 1;
    Modal modal;
    REQUIRE(modal.decompose(G.data(), K.data(), n));
    modal.integrate(beta, h, p.data(), v.data(), b.data(), one.data(), two.data());
    Polynomial polynomial;
    REQUIRE(polynomial.prepare(norm, beta, h, Polynomial::Length::Long));
    const MatX Z = K.cwiseSqrt().asDiagonal() * Y, S = Z.transpose() * Z;
    const VecX root = K.cwiseSqrt(), y = root.cwiseProduct(p), dy = root.cwiseProduct(v), g = root.cwiseProduct(b);
    const VecX y_w = Z.transpose() * y, dy_w = Z.transpose() * dy, g_w = Z.transpose() * g;
    VectorBuffer sums, work;
    const auto times = [&](const double* x, double* Sx) {
      Eigen::Map<Eigen::Matrix<double, 2, Eigen::Dynamic>>(Sx, 2, 9) =
          Eigen::Map<const Eigen::Matrix<double, 2, Eigen::Dynamic>>(x, 2, 9) * S;
    };
    polynomial.sum(times, 9, y_w.data(), dy_w.data(), g_w.data(), sums, work);
    first = Z * Eigen::Map<VecX, 0, Eigen::InnerStride<2>>(sums.data(), 9);
    second = Z * Eigen::Map<VecX, 0, Eigen::InnerStride<2>>(sums.data() + 1, 9);
    polynomial.add_free(n, y.data(), dy.data(), g.data(), first.data(), second.data());
    // Coefficients below 1e-14 of the largest are left out, and u(0) and the rest cancel down to the force that is left.
    CHECK((one + root.cwiseProduct(first)).norm() < 1e-11 * one.norm());
    CHECK((two + root.cwiseProduct(second)).norm() < 1e-11 * two.norm());
  }
}
