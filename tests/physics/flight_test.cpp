#include <doctest/doctest.h>

#include "dynamics/dynamics.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

struct Momentum {
  Vec3 linear, angular;
};

Momentum momentum(const Simulation& s) {
  Dynamics d(s.model());
  d.compute(s.state().q, s.state().v);
  return {d.linear_momentum(0), d.angular_momentum(0)};
}

double angular_error(double dt) {
  auto s = World().gravity(Vec3::Zero()).box({0.1, 0.2, 0.4}, 2, {1, 2, 3}, {0.3, -0.2, 0.5}, {3, 1, -2}).simulate(dt);
  const Momentum before = momentum(s);
  run(s, 1);
  const Momentum after = momentum(s);
  CHECK((after.linear - before.linear).norm() < 1e-12);
  return (after.angular - before.angular).norm();
}

}  // namespace

TEST_CASE("tumbling box: linear momentum to rounding, angular momentum O(dt)") {
  const double coarse = angular_error(2e-3), fine = angular_error(1e-3);
  CHECK(coarse / fine == doctest::Approx(2).epsilon(0.1));  // first order: half the step, half the error
}
