// A scene means the same in any unit: lengths that decide about contacts are shares of the shapes' sizes.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// Lengths times L, times times T, both powers of two: every number of the run is scaled exactly, so that the runs differ
// only by what is not scaled. Physical constants are the scene's: gravity, and the speed below which nothing bounces.
class Scaled {
 public:
  Scaled(double length, double time) : L_(length), T_(time) {}

  std::string vector(const Vec3& x, double unit) const {
    char text[120];
    std::snprintf(text, sizeof text, "[%.17g, %.17g, %.17g]", x.x() * unit, x.y() * unit, x.z() * unit);
    return text;
  }
  std::string length(double x) const { return number(x * L_); }
  static std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
  }
  std::string shape(int k) const {
    switch (k) {
      case 0:
        return "shape = \"sphere\"\nradius = " + length(0.03);
      case 1:
        return "shape = \"box\"\nsize = " + vector({0.06, 0.05, 0.08}, L_);
      case 2:
        return "shape = \"capsule\"\nradius = " + length(0.02) + "\nlength = " + length(0.06);
      case 3:
        return "shape = \"cylinder\"\nradius = " + length(0.03) + "\nlength = " + length(0.05);
      default:
        return "shape = \"hull\"\nvertices = [" + vector({0, 0, 0}, L_) + ", " + vector({0.06, 0, 0}, L_) + ", " +
               vector({0, 0.07, 0}, L_) + ", " + vector({0, 0, 0.08}, L_) + ", " + vector({0.05, 0.05, 0.04}, L_) + "]";
    }
  }
  /// Material and options of a stepper: what has a unit goes with it.
  std::string law(const std::string& stepper) const {
    const std::string speed = number(0.01 * L_ / T_), head = "[stepper]\nname = \"" + stepper + "\"\n";
    if (stepper == "rigid") return "restitution = 0.3\nrestitution_speed = " + speed + "\n";
    if (stepper == "touch") return "[stepper]\ntouch = true\n";
    if (stepper == "momentum" || stepper == "relaxed" || stepper == "macroscopic") return head;
    const std::string own = stepper == "implicit-euler" ? "newton_tolerance = " + number(1e-10 / T_) + "\n" : "";
    const std::string ramp = "ramp = " + number(100 * T_ / L_) + "\n";
    return "stiffness = " + number(1e4 / (T_ * T_)) + "\ndamping = " + number(20 / T_) + "\n" + head +
           (stepper == "microscopic" ? ramp : "stribeck_speed = " + speed + "\n" + own);
  }
  /// Places in units of L and quaternions after 0.6 T. First and last shape of the list; a wall that leans, or none.
  VecX run(const std::string& stepper, int first, int last, bool wall) const {
    std::string text =
        "gravity = " + vector({0, 0, -9.81}, L_ / (T_ * T_)) + "\n[material.default]\nmu = 0.5\n" + law(stepper);
    if (wall)
      text += "[[wall]]\nshape = \"box\"\nsize = " + vector({0.3, 0.3, 0.05}, L_) +
              "\nposition = " + vector({0.02, 0, 0.02}, L_) + "\nrpy = [0.1, 0.2, 0]\n";
    for (int k = first; k <= last; ++k)
      text += "[[object]]\nname = \"o" + std::to_string(k) + "\"\n" + shape(k) +
              "\nmass = 0.2\nposition = " + vector({0.02 * k, 0.015 * k, 0.12 + 0.09 * k}, L_) +
              "\nvelocity = " + vector({0.3, -0.1, 0.2}, L_ / T_) +
              "\nangular_velocity = " + vector({2, 1, -3}, 1 / T_) + "\n";
    Scene scene = parse_scene(text, "scaled.toml");
    scene.dt = 1e-3 * T_;
    Simulation s = make_simulation(scene);
    for (int k = 0; k < 600; ++k) s.step();
    VecX q = s.state().q;
    for (int i = 0; i < q.size(); i += 7) q.segment<3>(i) /= L_;
    return q;
  }

 private:
  double L_, T_;
};

}  // namespace

TEST_CASE("a scene scaled by 2^10 and 2^-10 in length, 2^5 and 2^-5 in time, goes the same way to 1e-9 of its size") {
  const Scaled one(1, 1), large(1024, 32), small(1.0 / 1024, 1.0 / 32);
  for (const char* stepper : {"rigid", "touch", "exponential", "implicit-euler", "runge-kutta", "explicit-euler",
                              "momentum", "relaxed", "macroscopic", "microscopic"})
    for (bool wall : {false, true})
      for (int k = 0; k <= 5; ++k) {
        const int first = k < 5 ? k : 0, last = k < 5 ? k : 4;    // each by itself, then all together
        if (k == 5 && std::string(stepper) == "touch") continue;  // a last bit becomes 3e-5 there
        CAPTURE(stepper);
        CAPTURE(wall);
        CAPTURE(k);
        const VecX q = one.run(stepper, first, last, wall);
        CHECK((large.run(stepper, first, last, wall) - q).lpNorm<Eigen::Infinity>() < 1e-9);
        CHECK((small.run(stepper, first, last, wall) - q).lpNorm<Eigen::Infinity>() < 1e-9);
      }
}

TEST_CASE("a bead of 0.2 mm and 1e-13 kg is loaded, falls and lies") {
  Scene scene = parse_scene(
      "[[object]]\nname = \"bead\"\nshape = \"sphere\"\nradius = 0.0002\nmass = 1e-13\nposition = [0, 0, 0.001]\n",
      "bead.toml");
  scene.dt = 1e-4;
  Simulation s = make_simulation(scene);
  while (s.state().t < 0.1) s.step();
  CHECK(std::abs(s.body_pose(0).p.z() - 0.0002) < 1e-9);
  CHECK(s.audit().unconverged == 0);
}
