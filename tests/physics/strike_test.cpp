// What turns strikes with the corner, or the point of a rim, that is lowest where it meets the ground, not where the step began.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <cstdio>
#include <limits>
#include <string>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

constexpr double mass = 0.5, half = 0.04;
const Vec3 spin(6, -9, 5), speed(0.3, -0.2, -1.5);

// A cube, or a cylinder that is as hard to turn about any axis: free of torques its spin stays as it is.
struct Body {
  bool cube;
  double length() const { return half * std::sqrt(3.0); }
  double inertia() const { return cube ? mass / 3 * 2 * half * half : mass * half * half / 2; }
  std::string shape() const {
    char text[120];
    if (cube)
      std::snprintf(text, sizeof text, "shape = \"box\"\nsize = [%.17g, %.17g, %.17g]\n", 2 * half, 2 * half, 2 * half);
    else
      std::snprintf(text, sizeof text, "shape = \"cylinder\"\nradius = %.17g\nlength = %.17g\n", half, length());
    return text;
  }
  /// Its lowest point, seen from the middle.
  Vec3 lowest(const Mat3& R) const {
    const Vec3 up = R.transpose() * Vec3::UnitZ();
    if (cube) return R * (up.array() > 0).select(Vec3::Constant(-half), Vec3::Constant(half));
    const double sine = up.head<2>().norm();
    return R * Vec3(-half * up.x() / sine, -half * up.y() / sine, up.z() > 0 ? -length() / 2 : length() / 2);
  }
};

struct Case {
  Body body;
  bool wall, touch;
  double e, mu;
};

/// How far linear and angular velocity, in m/s at the size of the body, are from Newton's law at the point of the touch.
double error(const Case& c, double dt) {
  const Mat3 R = (Eigen::AngleAxisd(0.3, Vec3::UnitZ()) * Eigen::AngleAxisd(0.4, Vec3::UnitY()) *
                  Eigen::AngleAxisd(0.5, Vec3::UnitX()))
                     .toRotationMatrix();
  const Vec3 a = c.body.lowest(R), n = Vec3::UnitZ();
  const double before = 2.37 * dt;
  char text[500];
  std::snprintf(
      text, sizeof text,
      "gravity = [0, 0, 0]\n%s[[object]]\nname = \"b\"\n%smass = %.17g\nposition = [0, 0, 1]\n"
      "[material.default]\nmu = %g\nrestitution = %g\n[stepper]\ndt = %g\n%s",
      c.wall ? "[ground]\nnone = true\n[[wall]]\nshape = \"box\"\nsize = [2, 2, 0.2]\nposition = [0, 0, -0.1]\n" : "",
      c.body.shape().c_str(), mass, c.mu, c.e, dt, c.touch ? "touch = true\n" : "");
  Simulation s = make_simulation(parse_scene(text, "strike.toml"));
  const Eigen::Quaterniond start(Mat3(Eigen::AngleAxisd(-before * spin.norm(), spin.normalized()) * R));
  State state = s.state();
  state.q.head<3>() = -a - before * speed;
  state.q.segment<4>(3) = start.coeffs();
  state.v.head<3>() = start.conjugate() * speed;
  state.v.segment<3>(3) = start.conjugate() * spin;
  s.set_state(state);
  for (int k = 0; k < 5; ++k) s.step();

  const Mat3 cross = (Mat3() << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0).finished();
  const Mat3 G = Mat3::Identity() / mass - cross * cross / c.body.inertia();
  const Vec3 came = speed + spin.cross(a);
  const Vec3 P = c.mu == 0 ? Vec3(-(1 + c.e) * came.z() / G(2, 2) * n)
                           : Vec3(G.partialPivLu().solve(-c.e * came.z() * n - came));  // it sticks
  const Eigen::Quaterniond end(Eigen::Map<const Eigen::Vector4d>(s.state().q.data() + 3));
  const Vec3 v = end * Vec3(s.state().v.head<3>()), w = end * Vec3(s.state().v.segment<3>(3));
  return std::max((v - speed - P / mass).norm(), half * (w - spin - a.cross(P) / c.body.inertia()).norm());
}

}  // namespace

TEST_CASE("a spinning cube or cylinder strikes with the point, and at the place, of the touch") {
  for (bool cube : {true, false})
    for (bool wall : {false, true})
      for (double mu : {0.0, 10.0})
        for (double dt : {4e-3, 1e-3}) {
          CAPTURE(cube);
          CAPTURE(wall);
          CAPTURE(mu);
          CAPTURE(dt);
          // What bounces is moved on to the touch, corners as near as 1e-6 of the size; w dt is 0.05 here.
          for (double e : {0.5, 1.0}) CHECK(error({{cube}, wall, false, e, mu}, dt) < 1e-5);
          // With divided steps all strikes are at their own time.
          for (double e : {0.0, 0.5}) CHECK(error({{cube}, wall, true, e, mu}, dt) < 1e-6);
        }
}

TEST_CASE(
    "what does not bounce spreads its strike over two steps: off by w dt, of order one, unless steps are divided") {
  for (bool cube : {true, false})
    for (bool wall : {false, true}) {
      CAPTURE(cube);
      CAPTURE(wall);
      const Case c = {{cube}, wall, false, 0, 10};
      const double coarse = error(c, 2e-3), fine = error(c, 1e-3);
      CHECK(coarse / fine == doctest::Approx(2).epsilon(0.1));
      CHECK(fine < 0.005);
    }
}
