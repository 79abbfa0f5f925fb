// What is mirrored at a plane moves as its image does, to the bit: neither the names of contacts nor their order may decide.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// Of what is thrown on the ground; y and x: signs of the image.
std::string thrown(unsigned seed, double y, double x) {
  std::mt19937 random(seed);
  const auto between = [&](double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random); };
  const double a = between(0.03, 0.12), b = between(0.03, 0.12), c = between(0.03, 0.12);
  char shape[200], out[800];
  switch (seed % 5) {
    case 0:
      std::snprintf(shape, sizeof shape, "shape = \"box\"\nsize = [%g, %g, %g]\n", a, b, c);
      break;
    case 1:
      std::snprintf(shape, sizeof shape, "shape = \"cylinder\"\nradius = %g\nlength = %g\n", a / 2, b);
      break;
    case 2:
      std::snprintf(shape, sizeof shape, "shape = \"ellipsoid\"\nradii = [%g, %g, %g]\n", a / 2, b / 2, c / 2);
      break;
    case 3:
      std::snprintf(shape, sizeof shape, "shape = \"capsule\"\nradius = %g\nlength = %g\n", a / 4, b);
      break;
    default:
      std::snprintf(shape, sizeof shape, "shape = \"cylinder\"\nradius = %g\nlength = %g\n", a, b / 2);
  }
  double turn[3], v[3], w[3];
  for (double& angle : turn) angle = between(-1.5, 1.5);
  for (double& u : v) u = between(-0.6, 0.6);
  for (double& u : w) u = between(-8, 8);
  const double mu = seed % 3 * 0.4, e = seed % 2 * 0.5, turned = x * y;
  std::snprintf(out, sizeof out,
                "[material.default]\nmu = %g\nrestitution = %g\n[[object]]\nname = \"it\"\nmass = 0.4\n%s"
                "position = [0, 0, 0.3]\nrpy = [%.17g, %.17g, %.17g]\nvelocity = [%.17g, %.17g, %.17g]\n"
                "angular_velocity = [%.17g, %.17g, %.17g]\n",
                mu, e, shape, y * turn[0], x * turn[1], turned * turn[2], x * v[0], y * v[1], v[2], y * w[0], x * w[1],
                turned * w[2]);
  return out;
}

}  // namespace

TEST_CASE("what is mirrored moves as its image does") {
  const double steps[] = {1e-3, 2e-3, 5e-3, 1e-2};
  for (unsigned seed = 0; seed < 40; ++seed)
    for (int image = 0; image < 2; ++image) {
      const Vec3 sign = image ? Vec3(-1, 1, 1) : Vec3(1, -1, 1);
      Scene scenes[2] = {parse_scene(thrown(seed, 1, 1), "it.toml"),
                         parse_scene(thrown(seed, sign.y(), sign.x()), "image.toml")};
      for (Scene& scene : scenes) scene.dt = steps[seed / 5 % 4];
      Simulation it = make_simulation(scenes[0]), other = make_simulation(scenes[1]);
      double off = 0;
      while (it.state().t < 1.2) {
        it.step();
        other.step();
        off = std::max(off, (it.body_pose(0).p - sign.cwiseProduct(other.body_pose(0).p)).cwiseAbs().maxCoeff());
      }
      CAPTURE(seed);
      CAPTURE(image);
      CHECK(off < 1e-9);
    }
}
