#include <doctest/doctest.h>

#include <random>

#include "tribo/contact_problem.hpp"

using namespace tribo;

TEST_CASE("projection onto the friction cone: the variational inequality, at every mu, on its axes and edges too") {
  // p = P_K(x) iff p in K, x - p in the polar cone and <x - p, p> = 0: no other formula is needed to judge it.
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  for (double mu : {0.0, 1e-6, 0.3, 1.0, 10.0, 1e6}) {
    std::vector<Vec3> points = {Vec3::Zero(), {0, 0, 1}, {0, 0, -302}, {1, 0, 0}, {0, -1, 0}, {mu, 0, 1}, {1, 0, -mu}};
    for (int k = 0; k < 200; ++k) points.push_back({normal(rng), normal(rng), normal(rng)});
    for (const Vec3& x : points) {
      const Vec3 p = project_cone(x, mu), r = x - p;
      const double size = 1e-14 * (1 + mu) * (1 + x.norm());
      CAPTURE(mu);
      CAPTURE(x.transpose());
      CHECK(std::hypot(p.x(), p.y()) <= mu * p.z() + size);
      CHECK(p.z() >= 0);
      CHECK(r.z() <= -mu * std::hypot(r.x(), r.y()) + size);  // polar cone
      CHECK(std::abs(r.dot(p)) <= size * (1 + x.norm()));
      const Vec3 d = project_dual_cone(x, mu);
      CHECK(d.z() >= mu * std::hypot(d.x(), d.y()) - size);
      if (x.z() >= mu * std::hypot(x.x(), x.y())) CHECK((d - x).norm() <= size);  // feasible points stay
    }
  }
}
