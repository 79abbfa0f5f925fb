// Robots that fall over stairs at 5 ms, without a controller: their links roll and turn over edges and faces, on hulls of many small
// faces, with another feature in every step.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

constexpr double dt = 5e-3;

std::string stairs() {
  std::string out;
  for (int k = -4; k < 7; ++k) {
    char step[200];
    std::snprintf(step, sizeof step, "[[wall]]\nshape = \"box\"\nsize = [0.3, 3, 0.15]\nposition = [%g, 0, %g]\n",
                  0.05 + 0.3 * k, -0.075 - 0.15 * std::max(0, k));
    out += step;
  }
  return out;
}

Simulation falling(const char* robot, double height, std::mt19937& random) {
  std::uniform_real_distribution<double> turn(-0.5, 0.5), speed(-1, 1);
  double x[5];
  for (int k = 0; k < 5; ++k) x[k] = k < 3 ? turn(random) : speed(random);
  char start[400];
  std::snprintf(start, sizeof start,
                "[robot]\nmodel = \"%s\"\nposition = [0, 0, %g]\nrpy = [%.17g, %.17g, %.17g]\n"
                "velocity = [%.17g, %.17g, 0]\n[ground]\nnone = true\n[material.default]\nmu = 0.6\n",
                robot, height, x[0], x[1], x[2], x[3], x[4]);
  Scene scene = parse_scene(start + stairs(), "stairs.toml");
  scene.dt = dt;
  return make_simulation(scene);
}

double reach(const Geometry& g) {
  if (!g.hull) return g.X_BG.p.norm() + g.radius;
  double most = 0;
  for (const Vec3& x : g.hull->vertices) most = std::max(most, (g.X_BG * x).norm());
  return most;
}

// The deepest overlap of a fall of 1 s, over max(0.2 mm, w^2 r dt^2) of the links that touch and those that carry them: a point at r that
// turns at w leaves its tangent by half of that in a step. w is the fastest of the last 12 steps, since it takes some to be removed.
double deepest_share(Simulation s) {
  constexpr std::size_t recent = 12;
  const Model& model = s.model();
  const std::size_t n = model.bodies.size();
  std::vector<double> size(n, 0);
  for (const Geometry& g : model.geometries)
    if (g.body >= 0)
      size[static_cast<std::size_t>(g.body)] = std::max(size[static_cast<std::size_t>(g.body)], reach(g));
  std::vector<std::vector<double>> speed(n);
  std::vector<Placement> pose(n);
  const auto look = [&] {
    for (std::size_t i = 0; i < n; ++i) pose[i] = s.body_pose(static_cast<int>(i));
  };
  double share = 0;
  look();
  while (s.state().t < 1) {
    const std::vector<Placement> before = pose;
    s.step();
    look();
    for (std::size_t i = 0; i < n; ++i) {
      const double chord = (pose[i].R - before[i].R).norm() / std::sqrt(8.0);  // sin of half the angle
      speed[i].push_back(2 * std::asin(std::min(1.0, chord)) / dt);
    }
    for (const ContactReport& c : s.contacts()) {
      double bound = 2e-4;
      for (int geometry : {c.geometry_a, c.geometry_b}) {
        const int body = model.geometries[static_cast<std::size_t>(geometry)].body;
        for (int i = body; i >= 0; i = model.bodies[static_cast<std::size_t>(i)].parent) {
          const auto k = static_cast<std::size_t>(i);
          const auto last = speed[k].end();
          const double w =
              *std::max_element(last - static_cast<std::ptrdiff_t>(std::min(recent, speed[k].size())), last);
          const double r = std::max(i == body ? size[k] : 0, (c.p_WC - pose[k].p).norm());
          bound = std::max(bound, w * w * r * dt * dt);
        }
      }
      share = std::max(share, -c.gap / bound);
    }
  }
  return share;
}

}  // namespace

TEST_CASE("robots that fall over stairs at 5 ms overlap by no more than turning bends their way") {
  std::mt19937 random(5);
  for (int fall = 0; fall < 10; ++fall) {
    CAPTURE(fall);
    CHECK(deepest_share(falling("go2", 1, random)) < 1);
    CHECK(deepest_share(falling("g1", 1.4, random)) < 1);
  }
}

TEST_CASE("robots that fall over stairs at 5 ms, many" * doctest::test_suite("long")) {
  std::mt19937 random(6);
  for (int fall = 0; fall < 100; ++fall) {
    CAPTURE(fall);
    CHECK(deepest_share(falling("go2", 1, random)) < 1);
    CHECK(deepest_share(falling("g1", 1.4, random)) < 1);
  }
}
