// Problems of textbooks with contact: when wheels climb, cylinders tip, balls leave a sphere, and what turntables carry.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

template <class... Numbers>
std::string print(const char* format, Numbers... numbers) {
  std::array<char, 2000> text{};
  std::snprintf(text.data(), text.size(), format, numbers...);
  return text.data();
}

Simulation make(const std::string& text, double dt) {
  Scene scene = parse_scene(text, "mechanics.toml");
  scene.dt = dt;
  return make_simulation(scene);
}

constexpr double g = 9.81;

struct Wheel {
  const char* shape;
  double k;  // I / m R^2
};
const Wheel wheels[] = {{"shape = \"sphere\"\nradius = 0.1\n", 0.4},
                        {"shape = \"cylinder\"\nradius = 0.1\nlength = 0.3\nrpy = [1.5707963267948966, 0, 0]\n", 0.5}};

constexpr double R = 0.1, kerb = 0.03;

// A step of height h whose edge the wheel at x = 0 touches: a box or a hull.
std::string step(bool hull) {
  const double x = std::sqrt(R * R - (R - kerb) * (R - kerb));
  if (!hull)
    return print("[[wall]]\nshape = \"box\"\nsize = [1, 1, %.17g]\nposition = [%.17g, 0, %.17g]\n", kerb, 0.5 + x,
                 kerb / 2);
  std::string corners;
  for (double u : {-0.5, 0.5})
    for (double y : {-0.5, 0.5})
      for (double z : {-0.5, 0.5}) corners += print("[%.17g, %.17g, %.17g],", u, y, z * kerb);
  return print("[[wall]]\nshape = \"hull\"\nvertices = [%s]\nposition = [%.17g, 0, %.17g]\n", corners.c_str(), 0.5 + x,
               kerb / 2);
}

}  // namespace

// Moments about the edge of the step: F (R - h) = m g sqrt(h (2R - h)).
TEST_CASE("a wheel that is pulled at its axle climbs a step from the closed form's force on") {
  const double force = 2 * g * std::sqrt(kerb * (2 * R - kerb)) / (R - kerb);
  for (const Wheel& wheel : wheels)
    for (bool hull : {false, true})
      for (double share : {0.995, 1.005}) {
        const double dt = hull ? 1e-3 : 5e-3;
        const std::string text = "[material.default]\nmu = 3.0\n" + step(hull) +
                                 print(
                                     "[[object]]\nname = \"wheel\"\n%smass = 2.0\nposition = [0, 0, 0.1]\n"
                                     "[[push]]\nbody = \"wheel\"\nforce = [%.17g, 0, 0]\nduration = 9\n",
                                     wheel.shape, share * force);
        Simulation s = make(text, dt);
        run(s, 0.5);
        CAPTURE(wheel.k);
        CAPTURE(dt);
        if (share < 1)
          CHECK(std::abs(position(s).z() - R) < 1e-9);
        else
          CHECK(position(s).z() > R + 1e-3);
      }
}

// It sticks to the edge: the angular momentum about it stays, m v (R - h) + I w = (I + m R^2) w', whenever within the step
// it touches. Two points of the edge stop a cylinder, which would else turn about one.
TEST_CASE("a wheel that rolls against a step turns about its edge as its angular momentum says") {
  const double v = 3;
  for (const Wheel& wheel : wheels)
    for (double dt : {1e-3, 5e-3, 1e-2})
      for (double phase : {0.0, 0.3, 0.77}) {
        const std::string text =
            "gravity = [0, 0, -1e-6]\n[material.default]\nmu = 10.0\n" + step(false) +
            print(
                "[[object]]\nname = \"wheel\"\n%smass = 2.0\nposition = [%.17g, 0, 0.1]\nvelocity = [%.17g, 0, 0]\n"
                "angular_velocity = [0, %.17g, 0]\n",
                wheel.shape, -0.05 - phase * v * dt, v, v / R);
        Simulation s = make(text, dt);
        auto turning = [&] { return (s.body_pose(0).R * Vec3(s.state().v.segment<3>(3))).y(); };
        while (s.state().t < 0.1 && std::abs(turning() - v / R) < 1e-6) s.step();
        CAPTURE(wheel.k);
        CAPTURE(dt);
        CAPTURE(phase);
        CHECK(turning() == doctest::Approx(v / R * ((R - kerb) / R + wheel.k) / (1 + wheel.k)).epsilon(1e-5));
      }
}

// A ball that slides down a sphere without friction is pressed by m g (3 cos a - 2) and leaves it at cos a = 2/3; one that
// rolls leaves it at 10/17. The force is as smooth as the way: no step is without it, and none has twice of it.
TEST_CASE("a ball leaves a sphere at two thirds of its height, or at 10/17 where it rolls, without jolts") {
  const double D = 1.05, r = 0.05, a0 = 0.05;
  for (bool rolls : {false, true})
    for (double dt : {2e-4, 1e-3}) {
      const double c = rolls ? 5.0 / 7 : 1, v = std::sqrt(2 * c * g * D * (1 - std::cos(a0)));
      Simulation s = make(
          print(
              "[ground]\nnone = true\n[material.default]\nmu = %g\n[[wall]]\nshape = \"sphere\"\nradius = 1\n"
              "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.05\nmass = 1\nposition = [%.17g, 0, %.17g]\n"
              "velocity = [%.17g, 0, %.17g]\nangular_velocity = [0, %.17g, 0]\n",
              rolls ? 5.0 : 0.0, D * std::sin(a0), D * std::cos(a0), v * std::cos(a0), -v * std::sin(a0),
              rolls ? v / r : 0),
          dt);
      double cosine = 1, worst = 0;
      for (bool pressed = true; pressed && s.state().t < 3;) {
        s.step();
        cosine = position(s).z() / D;
        double f = 0;
        for (const ContactReport& contact : s.contacts()) f += contact.f.z();
        pressed = f > 0;
        if (pressed && !rolls) worst = std::max(worst, std::abs(f - g * (3 * cosine - 2)));
      }
      CAPTURE(rolls);
      CAPTURE(dt);
      CHECK(cosine == doctest::Approx(rolls ? 10.0 / 17 : 2.0 / 3).epsilon(0.01));
      CHECK(worst < 100 * dt * g);
    }
}

// A turntable carries what friction holds, m w^2 r <= mu m g, round and round: not outwards along its tangents.
TEST_CASE("a turntable carries a load along its circle, and throws it off beyond mu g") {
  const double mu = 0.4, r = 0.3;
  for (const char* shape : {"shape = \"cylinder\"\nradius = 0.01\nlength = 0.01\n", "shape = \"box\"\nsize = 0.01\n"})
    for (double dt : {1e-3, 5e-3, 2e-2})
      for (double share : {0.98, 1.02}) {
        const double w = share * std::sqrt(mu * g / r);
        Simulation s = make(
            print(
                "[ground]\nnone = true\n[material.default]\nmu = %g\n[[kinematic]]\nname = \"table\"\nshape = \"box\"\n"
                "size = [2, 2, 0.2]\nposition = [0, 0, -0.1]\nangular_velocity = [0, 0, %.17g]\n"
                "[[object]]\nname = \"load\"\n%smass = 0.1\nposition = [%.17g, 0, 0.005]\nvelocity = [0, %.17g, 0]\n"
                "angular_velocity = [0, 0, %.17g]\n",
                mu, w, shape, r, w * r, w),
            dt);
        run(s, 1);
        CAPTURE(shape);
        CAPTURE(dt);
        const double now = position(s).head<2>().norm();
        if (share < 1)  // it begins along the tangent, and the chord is slower
          CHECK(std::abs(now - r) < std::max(1e-9, r * std::pow(w * dt, 4)));
        else
          CHECK(now > r + 1e-3);
      }
}

// A ball that rolls on a turntable moves on a circle at 2/7 of its rate, wherever that is.
TEST_CASE("a ball on a turntable runs in a circle at two sevenths of its rate") {
  const double w = 3, r = 0.05, k = 2.0 / 7 * w;
  const Eigen::Vector2d x(0.2, 0), v(0.05, 0.1), u(-w * x.y(), w * x.x());
  for (double dt : {1e-3, 5e-3}) {
    Simulation s = make(
        print(
            "[ground]\nnone = true\n[material.default]\nmu = 2\n[[kinematic]]\nname = \"table\"\nshape = \"cylinder\"\n"
            "radius = 2\nlength = 0.2\nposition = [0, 0, -0.1]\nangular_velocity = [0, 0, %.17g]\n"
            "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.05\nmass = 1\nposition = [0.2, 0, 0.05]\n"
            "velocity = [%.17g, %.17g, 0]\nangular_velocity = [%.17g, %.17g, 0]\n",
            w, v.x(), v.y(), (u.y() - v.y()) / r, (v.x() - u.x()) / r),
        dt);
    run(s, 2);
    const Eigen::Vector2d centre = x + Eigen::Vector2d(-v.y(), v.x()) / k, from = x - centre;
    const double c = std::cos(2 * k), d = std::sin(2 * k);
    const Eigen::Vector2d end = centre + Eigen::Vector2d(c * from.x() - d * from.y(), d * from.x() + c * from.y());
    CAPTURE(dt);
    CHECK((position(s).head<2>() - end).norm() < 1.5 * k * dt * from.norm());
  }
}

// Moments about the rim: F h = m g R, whichever way it is pushed, on a plane and on a box. The push grows from nothing: what
// is struck at once rocks before it stands.
TEST_CASE("a standing cylinder tips at the moment of its weight about the rim, in every direction") {
  const double radius = 0.05, height = 0.2;
  for (const char* floor :
       {"", "[ground]\nnone = true\n[[wall]]\nshape = \"box\"\nsize = [2, 2, 1]\nposition = [0.1, 0.05, -0.5]\n"})
    for (int k = 0; k < 16; ++k)
      for (double share : {0.999, 1.001}) {
        const double a = 0.13 + k * 2 * M_PI / 16, force = share * 1.5 * g * radius / (0.9 * height);
        Simulation s = make(
            print("%s[material.default]\nmu = 2\n[[object]]\nname = \"can\"\nshape = \"cylinder\"\nradius = %.17g\n"
                  "length = %.17g\nmass = 1.5\nposition = [0, 0, %.17g]\n",
                  floor, radius, height, height / 2) +
                print("[[push]]\nbody = \"can\"\npoint = [0, 0, %.17g]\nforce = [0, 0, 0]\nforce_end = [%.17g, %.17g, "
                      "0]\n"
                      "duration = 0.4\n",
                      0.4 * height, force * std::cos(a), force * std::sin(a)) +
                print("[[push]]\nbody = \"can\"\npoint = [0, 0, %.17g]\nforce = [%.17g, %.17g, 0]\nstart = 0.4\n"
                      "duration = 9\n",
                      0.4 * height, force * std::cos(a), force * std::sin(a)),
            1e-3);
        run(s, 1);
        CAPTURE(floor);
        CAPTURE(a);
        const double tilt = std::acos(std::min(1.0, s.body_pose(0).R(2, 2)));
        if (share < 1)
          CHECK(tilt < 1e-4);
        else
          CHECK(tilt > 1e-2);
      }
}

namespace {

struct Thrown {
  const char* kind;
  double a, b;  // half extents along x and z; of a capsule: radius, and half its length without caps
  std::string shape() const {
    const std::string name = kind;
    if (name == "box") return print("shape = \"box\"\nsize = [%.17g, 0.1, %.17g]\n", 2 * a, 2 * b);
    if (name == "ellipsoid") return print("shape = \"ellipsoid\"\nradii = [%.17g, 0.1, %.17g]\n", a, b);
    return print("shape = \"%s\"\nradius = %.17g\nlength = %.17g\n", kind, a, 2 * b);
  }
  /// The lowest point from the centre (x, z), turned by an angle about y.
  Eigen::Vector2d lowest(double angle) const {
    const std::string name = kind;
    const double c = std::cos(angle), s = std::sin(angle);
    auto turned = [&](double x, double z) { return Eigen::Vector2d(c * x + s * z, c * z - s * x); };
    if (name == "ellipsoid") {
      const double length = std::hypot(a * s, b * c);
      return turned(a * a * s / length, -b * b * c / length);
    }
    if (name == "capsule") return turned(0, c > 0 ? -b : b) - Eigen::Vector2d(0, a);
    return turned(s > 0 ? a : -a, c > 0 ? -b : b);
  }
};

}  // namespace

// Without friction the impulse acts along the normal at the lowest point of the instant of the touch, r from the centre:
//   J = -(1 + e) (v + w x r)_z / (1/m + r_x^2/I_y)
TEST_CASE(
    "what spins strikes with the lever of the touch: boxes, cylinders, capsules, ellipsoids on planes and boxes") {
  const double v = -2, T = 0.0443, angle = 0.6, m = 0.7;
  const Thrown thrown[] = {
      {"box", 0.2, 0.1}, {"cylinder", 0.05, 0.2}, {"capsule", 0.05, 0.15}, {"ellipsoid", 0.2, 0.1}};
  for (const char* floor :
       {"", "[ground]\nnone = true\n[[wall]]\nshape = \"box\"\nsize = [4, 4, 1]\nposition = [0.1, 0.05, -0.5]\n"})
    for (const Thrown& it : thrown)
      for (double e : {0.5, 1.0})
        for (double dt : {1e-3, 1e-2})
          for (double w : {0.0, 10.0}) {
            const Eigen::Vector2d r = it.lowest(angle + w * T);
            Simulation s = make(print("gravity = [0, 0, 0]\n%s[material.default]\nmu = 0\nrestitution = %g\n"
                                      "[[object]]\nname = \"it\"\n%smass = %g\nposition = [0, 0, %.17g]\n"
                                      "rpy = [0, %g, 0]\nvelocity = [0, 0, %g]\nangular_velocity = [0, %g, 0]\n",
                                      floor, e, it.shape().c_str(), m, -r.y() - v * T, angle, v, w),
                                dt);
            while (s.state().t < T) s.step();
            const double I = s.model().bodies[0].inertia.about_com(1, 1);
            const double J = -(1 + e) * (v - w * r.x()) / (1 / m + r.x() * r.x() / I);
            CAPTURE(it.kind);
            CAPTURE(e);
            CAPTURE(dt);
            CAPTURE(w);
            CHECK(velocity(s).z() == doctest::Approx(v + J / m).epsilon(1e-4));
            CHECK(s.state().v[4] == doctest::Approx(w - r.x() * J / I).epsilon(1e-4));
          }
}
