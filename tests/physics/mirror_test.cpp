// What is mirrored moves as its image does. Orders and last bits are other ones in the image: where a solver chooses among
// several answers by them the two part at once, and where motion is chaotic in the time that rounding needs to grow.
#include <doctest/doctest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

const Mat3 mirror = Vec3(1, -1, 1).asDiagonal();

// One to three bodies of five shapes fall on the ground and over up to two walls that lean.
class Thrown {
 public:
  Thrown(int seed, bool image) : random_(static_cast<unsigned>(seed)), side_(image ? -1 : 1) {
    const int k = seed % 4;
    dt = k == 0 ? 1e-3 : k == 1 ? 5e-3 : k == 2 ? 1e-2 : 2e-3;
    const double mu = 0.4 * pick(3);
    text = "[material.default]\nmu = " + number(mu) + "\nrestitution = " + number(0.5 * pick(2)) + "\n";
    const int walls = pick(3);
    for (int i = 0; i < walls; ++i) {
      const Vec3 size = vector(0.1, 0.4);
      Vec3 p = vector(-0.3, 0.3);
      p.z() = 0;
      const Vec3 rpy = vector(-0.6, 0.6);
      text += "[[wall]]\nshape = \"box\"\nsize = " + list(size) + place(p, rpy);
    }
    const int bodies = 1 + pick(3);
    for (int i = 0; i < bodies; ++i) {
      Vec3 p = vector(-0.04, 0.04);
      p.z() = 0.3 + 0.14 * i;
      Vec3 rpy = vector(-3, 3);
      Vec3 w = vector(-8, 8);
      rpy.y() /= 2;
      const Vec3 v = vector(-0.6, 0.6);
      if (uniform(0, 1) < 0.3) rpy.setZero(), w.setZero();
      const double mass = uniform(0.1, 1);
      text += "[[object]]\nname = \"o" + std::to_string(i) + "\"\n" + shape() + "mass = " + number(mass) +
              place(p, rpy) + "velocity = " + list({v.x(), side_ * v.y(), v.z()}) +
              "angular_velocity = " + list({side_ * w.x(), w.y(), side_ * w.z()});
    }
  }

  /// tolerance: 0 for the default.
  Simulation simulate(double tolerance = 0) const {
    Scene scene = parse_scene(text, "thrown.toml");
    scene.dt = dt;
    if (tolerance > 0) scene.stepper_options.contact.tolerance.rel = tolerance;
    return make_simulation(scene);
  }

  double dt = 0;
  std::string text;

 private:
  double uniform(double a, double b) { return a + (b - a) * (static_cast<double>(random_()) / 4294967296.0); }
  int pick(int n) { return static_cast<int>(uniform(0, n)); }
  Vec3 vector(double a, double b) {
    const double x = uniform(a, b), y = uniform(a, b), z = uniform(a, b);
    return {x, y, z};
  }
  static std::string number(double x) {
    char out[40];
    std::snprintf(out, sizeof out, "%.17g", x);
    return out;
  }
  static std::string list(const Vec3& x) {
    return "[" + number(x.x()) + ", " + number(x.y()) + ", " + number(x.z()) + "]\n";
  }
  std::string place(const Vec3& p, const Vec3& rpy) const {
    return "\nposition = " + list({p.x(), side_ * p.y(), p.z()}) +
           "rpy = " + list({side_ * rpy.x(), rpy.y(), side_ * rpy.z()});
  }
  std::string shape() {
    const int kind = pick(5);
    const Vec3 x = vector(0.02, 0.06);
    switch (kind) {
      case 0:
        return "shape = \"sphere\"\nradius = " + number(x.x()) + "\n";
      case 1:
        return "shape = \"box\"\nsize = " + list(2 * x);
      case 2:
        return "shape = \"capsule\"\nradius = " + number(0.7 * x.x()) + "\nlength = " + number(2 * x.y()) + "\n";
      case 3:
        return "shape = \"cylinder\"\nradius = " + number(x.x()) + "\nlength = " + number(2 * x.y()) + "\n";
      default:
        return "shape = \"ellipsoid\"\nradii = " + list(x);
    }
  }

  std::mt19937 random_;
  double side_;
};

/// How far bodies of b are from those of a, seen in S [m]; a turn counts with 5 cm.
double apart(Simulation& a, Simulation& b, const Mat3& S) {
  double most = 0;
  for (int i = 0; i < static_cast<int>(a.model().bodies.size()); ++i) {
    const Placement x = a.body_pose(i), y = b.body_pose(i);
    most = std::max(most, (x.p - S * y.p).lpNorm<Eigen::Infinity>());
    most = std::max(most, 0.05 * (x.R - S * y.R * S).cwiseAbs().maxCoeff());
  }
  return most;
}

double farthest_image(int seed, double time, double tolerance = 0) {
  const Thrown thrown(seed, false);
  Simulation a = thrown.simulate(tolerance), b = Thrown(seed, true).simulate(tolerance);
  double most = 0;
  for (int k = 0; k * thrown.dt < time; ++k) {
    a.step(), b.step();
    most = std::max(most, apart(a, b, mirror));
  }
  return most;
}

/// The same of copies whose places and velocities are off by a last bit of 0.1 to 1 after every step, as those of the image are.
double farthest_copy(int seed, double time, int copies) {
  const Thrown thrown(seed, false);
  std::mt19937 random(static_cast<unsigned>(seed));
  double most = 0;
  for (int n = 0; n < copies; ++n) {
    Simulation a = thrown.simulate(), b = thrown.simulate();
    for (int k = 0; k * thrown.dt < time; ++k) {
      State state = b.state();
      for (VecX* x : {&state.q, &state.v})
        for (double& y : *x) y += (random() & 1u ? 2e-16 : -2e-16) * std::max(std::abs(y), 0.1);
      b.set_state(state);
      a.step(), b.step();
      most = std::max(most, apart(a, b, Mat3::Identity()));
    }
  }
  return most;
}

/// Scenes whose image is off by more than 1e-9 m, and those of them whose image is farther off than last bits lead the scene itself.
struct Count {
  int chosen = 0, off = 0;
};
Count count(int first, int last) {
  constexpr double time = 1.2, bound = 1e-9, of_copies = 3;
  Count out;
  for (int seed = first; seed < last; ++seed) {
    const double image = farthest_image(seed, time);
    if (!(image > bound)) continue;
    const double copy = farthest_copy(seed, time, 12);
    ++out.off;
    out.chosen += image > of_copies * copy;
    MESSAGE("seed " << seed << ": image " << image << " m off, copies " << copy);
  }
  return out;
}

}  // namespace

// Where solves end within their tolerance the images may differ by it, and by less where less is asked for (docs/theory/rigid.md). These went
// otherwise whatever was asked for (12, 70, 1034, 1074, 1466), or ended elsewhere within the default tolerance, by up to 7e-6 m.
TEST_CASE("mirror images of scenes that went otherwise: to 1e-9 m with a tolerance of 1e-12") {
  for (int seed : {12, 70, 210, 291, 1034, 1074, 1141, 1308, 1466, 1593, 1651}) {
    CAPTURE(seed);
    CHECK(farthest_image(seed, 1.2, 1e-12) < 1e-9);
  }
}

// With boxes that are longer on one side by 1e-10, rim points by the order of corners, and touches by forces of rounding, 4 % of all scenes
// were off; 2 % are: chaos, and solves that end within their tolerance elsewhere in the image (a table of all in docs/theory/rigid.md).
TEST_CASE("mirror images go the same way to 1e-9 m, but where last bits alone lead as far") {
  const Count first = count(0, 60), second = count(1400, 1460);  // where four of 60 were off
  CHECK(first.chosen + second.chosen == 0);
  CHECK(first.off + second.off <= 6);  // which of them are chaos, rounding decides: three and five in two builds
}

TEST_SUITE("long") {
  TEST_CASE("mirror images of 400 scenes") {
    const Count out = count(60, 460);
    CHECK(out.chosen <= 2);
    CHECK(out.off <= 10);
  }
}
