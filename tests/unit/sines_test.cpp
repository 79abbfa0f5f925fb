// Sines of four angles at once against the maths library.
#include "linalg/sines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tribo/state.hpp"

using namespace tribo;

TEST_CASE("sines: to rounding over every quadrant, near its ends, and beyond the largest angle") {
  Random random;
  std::vector<double> angle;
  for (int k = -40; k <= 40; ++k)
    for (double off : {0.0, 1e-16, 1e-9, -1e-9, 1e-3, -1e-3, 0.7, -0.7}) angle.push_back(k * M_PI / 4 + off);
  for (double size : {1e-300, 1e-8, 1.0, 100.0, 9e3, 2e4, 1e9})
    for (int k = 0; k < 1000; ++k) angle.push_back(size * (2 * random.uniform() - 1));
  const int n = static_cast<int>(angle.size());
  angle.resize(angle.size() + 3);
  std::vector<double> s(angle.size()), c(angle.size());
  sines(angle.data(), n, s.data(), c.data());
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max({worst, std::abs(s[at(i)] - std::sin(angle[at(i)])), std::abs(c[at(i)] - std::cos(angle[at(i)]))});
  CHECK(worst < 2.3e-16);  // an ulp of 1
  for (int i = 0; i < n; ++i)
    if (std::abs(angle[at(i)]) < 1e-8) CHECK(s[at(i)] == doctest::Approx(angle[at(i)]).epsilon(1e-15));
}

TEST_CASE("sines: what is no number stays none") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const double angle[4] = {nan, 0, infinite, 1};
  double s[4], c[4];
  sines(angle, 4, s, c);
  CHECK(std::isnan(s[0]));
  CHECK(std::isnan(c[2]));
  CHECK(c[1] == 1);
  CHECK(s[3] == doctest::Approx(std::sin(1.0)).epsilon(1e-15));
}
