#include <doctest/doctest.h>

#include "worlds.hpp"

using namespace worlds;

TEST_CASE("bouncing sphere: apex k is e^(2k) h within O(dt), no gain at e = 1") {
  const double h = 1, r = 0.1, dt = 1e-3;
  for (double e : {0.0, 0.5, 1.0}) {
    auto s = World(friction(0.4, e)).ground().sphere(r, 1, {0, 0, h + r}).simulate(dt);
    std::vector<double> apex;
    bool rising = false;
    for (int k = 0; k < 4000 && apex.size() < 4; ++k) {
      s.step();
      const double v = velocity(s).z();
      if (v > 1e-3) rising = true;
      if (rising && v <= 0) {
        apex.push_back(position(s).z() - r);
        rising = false;
      }
    }
    CAPTURE(e);
    if (e == 0) {
      CHECK(apex.empty());
      continue;
    }
    REQUIRE(apex.size() >= 3);
    for (std::size_t k = 0; k < 3; ++k) {
      const double expected = std::pow(e, 2.0 * static_cast<double>(k + 1)) * h;
      // One step at the speed of impact is the resolution of each bounce: dt sqrt(2 g h), on each of k + 1 bounces.
      CHECK(std::abs(apex[k] - expected) < 2 * static_cast<double>(k + 1) * dt * std::sqrt(2 * 9.81 * h));
      if (e == 1) CHECK(apex[k] <= h + 1e-12);
    }
  }
}

TEST_CASE("two spheres in flight keep momentum, and energy at e = 1") {
  for (double e : {0.0, 0.5, 1.0}) {
    auto s = World(friction(0.3, e))
                 .gravity(Vec3::Zero())
                 .sphere(0.1, 1, {-0.5, 0.05, 0}, {2, 0, 0})
                 .sphere(0.1, 3, {0.5, 0, 0}, {-1, 0, 0})
                 .simulate(1e-3);
    const Vec3 before = 1 * velocity(s, 0) + 3 * velocity(s, 1);
    run(s, 1);
    const Vec3 after = 1 * velocity(s, 0) + 3 * velocity(s, 1);
    CAPTURE(e);
    CHECK((after - before).norm() < 1e-12);
    if (e > 0) CHECK(velocity(s, 0).x() < velocity(s, 1).x());  // they parted
  }
}
