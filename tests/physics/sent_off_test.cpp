// What an impact sends off within a step meets what stands in its way, at large steps too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "slider.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// Four walls that slope down to a pit, and something that falls into it from half a metre: it is thrown from wall to wall.
std::string funnel(double slope, double restitution) {
  char text[300];
  std::snprintf(text, sizeof text, "[ground]\nnone = true\n[material.default]\nmu = 0.3\nrestitution = %.17g\n",
                restitution);
  std::string out = text;
  const Vec3 n(-std::sin(slope), 0, std::cos(slope));
  const Vec3 c = Vec3(0.012 + 0.12 * std::cos(slope), 0, 0.12 * std::sin(slope)) - 0.01 * n;
  for (int k = 0; k < 4; ++k) {
    const double yaw = k * M_PI / 2, x = std::cos(yaw) * c.x(), y = std::sin(yaw) * c.x();
    std::snprintf(text, sizeof text,
                  "[[wall]]\nshape = \"box\"\nsize = [0.24, 0.5, 0.02]\nposition = [%.17g, %.17g, %.17g]\n"
                  "rpy = [0, %.17g, %.17g]\n",
                  x, y, c.z(), -slope, yaw);
    out += text;
  }
  return out;
}

double deepest(const Simulation& s) {
  double most = 0;
  for (const ContactReport& c : s.contacts()) most = std::max(most, -c.gap);
  return most;
}

// A solid whose highest point is at 0: flat tops, tilted boxes' corners and round backs.
Geometry solid_below(ShapeKind kind, const Vec3& size, const Mat3& R = Mat3::Identity()) {
  Geometry it;
  it.name = "solid";
  it.kind = kind;
  it.size = size;
  it.X_BG.R = R;
  it.X_BG.p = Vec3(0.05, 0, -size.z());
  return it;
}

Geometry hull_below() {
  Geometry it = solid_below(ShapeKind::Convex, Vec3(0, 0, 0.1));
  std::vector<Vec3> corners;  // of a frustum
  for (double x : {-0.2, 0.3})
    for (double y : {-0.4, 0.1}) {
      corners.emplace_back(x, y, 0.1);
      corners.emplace_back(1.5 * x, 1.5 * y, -0.1);
    }
  it.hull = make_hull(corners, "hull");
  return it;
}

// A leg of 1 kg that slides up and down, with a point for a foot, over a solid whose top is at 0.
std::shared_ptr<const Model> leg_over(Geometry solid, double height) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", worlds::friction(0.8)});
  builder.set_gravity({0, 0, -9.81});
  const bool round = solid.kind == ShapeKind::Sphere || solid.kind == ShapeKind::Ellipsoid;
  const Vec3 over = round ? Vec3(0.05, 0, 0) : Vec3(0.01, 0.02, 0);
  solid.material = material;
  builder.add_geometry(solid);
  builder.begin_member("leg", true, "test");
  Body body;
  body.name = "leg/leg";
  body.joint = JointKind::Prismatic;
  body.axis = Vec3::UnitZ();
  body.X_PJ.p = over + height * Vec3::UnitZ();
  body.inertia.mass = 1;
  body.inertia.about_com = Mat3::Identity();
  builder.add_body(body);
  builder.add_geometry(worlds::point_foot(0, Vec3::Zero(), material));
  return std::make_shared<const Model>(builder.build());
}

}  // namespace

TEST_CASE("a ball of 20 mm thrown about in a funnel at 5 ms overlaps by less than 0.2 mm") {
  for (double slope : {30.0, 45.0, 60.0, 75.0})
    for (double restitution : {0.0, 0.6})
      for (double aside : {0.003, 0.02, 0.05}) {
        char ball[200];
        std::snprintf(ball, sizeof ball,
                      "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.02\nmass = 0.05\n"
                      "position = [%.17g, %.17g, 0.6]\n",
                      aside, 0.37 * aside);
        Scene scene = parse_scene(funnel(slope * M_PI / 180, restitution) + ball, "funnel.toml");
        scene.dt = 5e-3;
        Simulation s = make_simulation(scene);
        double most = 0;
        while (s.state().t < 1.5) {
          s.step();
          most = std::max(most, deepest(s));
        }
        CAPTURE(slope);
        CAPTURE(restitution);
        CAPTURE(aside);
        CHECK(most < 2e-4);
      }
}

// What has corners and turns may meet a wall with another feature within the step than at its start. A point that turns
// leaves its tangent by w^2 r dt^2 in the step; that much stays, until it is removed.
TEST_CASE(
    "boxes, capsules and cylinders thrown about in a funnel at 5 ms overlap by no more than turning bends their way") {
  struct Thrown {
    const char* shape;
    double radius;
  };
  const Thrown thrown[] = {{"shape = \"box\"\nsize = [0.04, 0.03, 0.05]", 0.036},
                           {"shape = \"capsule\"\nradius = 0.012\nlength = 0.05", 0.037},
                           {"shape = \"cylinder\"\nradius = 0.02\nlength = 0.04", 0.029},
                           {"shape = \"cylinder\"\nradius = 0.012\nlength = 0.06", 0.033},
                           {"shape = \"ellipsoid\"\nradii = [0.02, 0.03, 0.012]", 0.03}};
  const double dt = 5e-3;
  for (const Thrown& it : thrown)
    for (double slope : {30.0, 45.0, 60.0, 75.0})
      for (double restitution : {0.0, 0.6})
        for (double aside : {0.003, 0.02, 0.05}) {
          char object[300];
          std::snprintf(object, sizeof object,
                        "[[object]]\nname = \"it\"\n%s\nmass = 0.05\nposition = [%.17g, %.17g, 0.6]\n"
                        "rpy = [0.3, 0.2, 0.1]\n",
                        it.shape, aside, 0.37 * aside);
          Scene scene = parse_scene(funnel(slope * M_PI / 180, restitution) + object, "funnel.toml");
          scene.dt = dt;
          Simulation s = make_simulation(scene);
          std::vector<double> turned;  // w of the steps before
          double share = 0;
          while (s.state().t < 1.5) {
            turned.push_back(s.state().v.tail<3>().norm());
            s.step();
            const auto recent = turned.end() - std::min<std::ptrdiff_t>(12, std::ssize(turned));
            const double w = *std::max_element(recent, turned.end());
            share = std::max(share, deepest(s) / std::max(2e-4, w * w * it.radius * dt * dt));
          }
          CAPTURE(it.shape);
          CAPTURE(slope);
          CAPTURE(restitution);
          CAPTURE(aside);
          CHECK(share < 1);
        }
}

// A box in flight, whose nearest point goes past a wall out of reach while another corner, 0.5 mm farther, turns into it: 0.48 mm deep in one
// step, where only what the nearest features list was looked ahead of.
TEST_CASE("a corner that turns in is met though the nearest features pass by") {
  Scene scene = parse_scene(funnel(38.40905966539867 * M_PI / 180, 0.6) +
                                "[[object]]\nname = \"it\"\nshape = \"box\"\nsize = [0.04, 0.03, 0.05]\nmass = 0.05\n",
                            "funnel.toml");
  scene.dt = 5e-3;
  Simulation s = make_simulation(scene);
  State state = s.state();
  state.q << 0.010543377933052572, 0.010545963974022202, 0.030312866317868455, 0.066128821850226713,
      -0.4671599968940468, -0.64629450267569755, -0.59974322174896499;
  state.v << 0.23366236014315331, 0.088159925267138062, -0.10906439449026287, -0.29102928180811438, 6.7749948339619497,
      -6.2829959398460886;
  s.set_state(state);
  for (int k = 0; k < 3; ++k) {
    s.step();
    CHECK(deepest(s) < 2e-5);
  }
}

// Motors move a leg within a step from where its velocity takes it: G1, let fall onto stairs under joint control, met the
// first one 9.5 mm deep.
TEST_CASE("G1 dropped on stairs at 5 ms") {
  std::string text =
      "[robot]\nmodel = \"g1\"\n[ground]\nnone = true\n[material.default]\nmu = 0.6\n[controller]\n"
      "kp = { \"*\" = 100.0, \"*_hip_*\" = 800.0, \"*_knee_*\" = 800.0, \"*_ankle_*\" = 400.0, \"waist_*\" = 800.0 }\n"
      "kd = { \"*\" = 3.0, \"*_hip_*\" = 15.0, \"*_knee_*\" = 15.0, \"*_ankle_*\" = 8.0, \"waist_*\" = 15.0 }\n"
      "feedforward = \"gravity\"\n";
  for (int k = -3; k < 6; ++k) {
    char step[200];
    std::snprintf(step, sizeof step, "[[wall]]\nshape = \"box\"\nsize = [0.3, 2, 0.15]\nposition = [%g, 0, %g]\n",
                  0.05 + 0.3 * k, -0.075 - 0.15 * std::max(0, k));
    text += step;
  }
  Scene scene = parse_scene(text, "stairs.toml");
  scene.dt = 5e-3;
  Simulation s = make_simulation(scene);
  State state = s.state();
  state.q[2] += 1;
  state.v[0] = 0.8;
  s.set_state(state);
  double most = 0;
  while (s.state().t < 0.6) {
    s.step();
    most = std::max(most, deepest(s));
  }
  CHECK(most < 2e-4);
}

// Without friction and restitution the ball leaves the first wall along it, at v cos(slope): 30 mm in the step. The second
// wall is 8 mm off that way, out of reach of what falls straight down.
TEST_CASE("a ball that a ramp sends against a wall within one step stops at the wall") {
  const char* text =
      "gravity = [0, 0, 0]\n[ground]\nnone = true\n[material.default]\nmu = 0.0\n"
      "[[wall]]\nshape = \"box\"\nsize = [0.4, 0.4, 0.02]\nrpy = [0, 0.78539816339744828, 0]\nposition = [0, 0, 0]\n"
      "[[wall]]\nshape = \"box\"\nsize = [0.02, 0.4, 0.4]\nposition = [%.17g, 0, 0]\n"
      "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.01\nmass = 0.1\nposition = [0, 0, %.17g]\n"
      "velocity = [0, 0, -8.0]\n";
  const double height = 0.02 * std::sqrt(2.0);  // it touches the ramp
  char scene_text[1000];
  std::snprintf(scene_text, sizeof scene_text, text, 0.01 + 0.01 + 0.008, height);
  for (double dt : {1e-3, 5e-3}) {
    Scene scene = parse_scene(scene_text, "ramp.toml");
    scene.dt = dt;
    Simulation s = make_simulation(scene);
    for (int k = 0; k < std::lround(0.01 / dt); ++k) {
      CHECK(s.step().status == StepStatus::Ok);
      CHECK(s.body_pose(0).p.x() <= 0.008 + 1e-9);
    }
    CHECK(s.body_pose(0).p.x() == doctest::Approx(0.008).epsilon(1e-6));
  }
}

// A push of 50 N moves 1 kg by 125 mm within a step of 50 ms: over the wall, which stands 30 mm off, and beyond it.
TEST_CASE("what is pushed against a wall within one step stops at the wall") {
  for (const char* shape :
       {"shape = \"box\"\nsize = 0.1", "shape = \"sphere\"\nradius = 0.05",
        "shape = \"cylinder\"\nradius = 0.05\nlength = 0.1", "shape = \"ellipsoid\"\nradii = [0.05, 0.06, 0.04]",
        "shape = \"capsule\"\nradius = 0.05\nlength = 0.05"})
    for (double dt : {1e-3, 5e-3, 2e-2, 5e-2}) {
      Scene scene = parse_scene(
          "gravity = [0, 0, 0]\n[ground]\nnone = true\n[[wall]]\nshape = \"box\"\nsize = [0.02, 1, 1]\n"
          "position = [0.09, 0, 0]\n[[object]]\nname = \"it\"\nmass = 1\nposition = [0, 0, 0]\n" +
              std::string(shape) + "\n[[push]]\nbody = \"it\"\nforce = [50, 0, 0]\nduration = 1\n",
          "push.toml");
      scene.dt = dt;
      Simulation s = make_simulation(scene);
      CAPTURE(shape);
      CAPTURE(dt);
      while (s.state().t < 0.5) {
        s.step();
        CHECK(s.body_pose(0).p.x() < 0.03 + 1e-9);
      }
      CHECK(s.body_pose(0).p.x() == doctest::Approx(0.03).epsilon(1e-6));
    }
}

// Go2 falls over stairs without a controller. At 5 ms its shanks of 0.21 m turn at up to 50 rad/s while their feet are
// pressed, and bring in up to w^2 r dt^2/2 = 7 mm in a step: that is opened as fast as it comes (rigid.16). It was 8.3 mm,
// gathered over ten steps.
TEST_CASE("a robot that falls over stairs at 5 ms does not turn into them step after step") {
  std::string text =
      "[robot]\nmodel = \"go2\"\nposition = [0, 0, 1]\nrpy = [0.36600351, 0.36952895, 0.01839067]\n"
      "velocity = [0.28580138, -0.26764157, 0]\n[ground]\nnone = true\n[material.default]\nmu = 0.6\n";
  for (int k = -4; k < 7; ++k) {
    char step[200];
    std::snprintf(step, sizeof step, "[[wall]]\nshape = \"box\"\nsize = [0.3, 3, 0.15]\nposition = [%g, 0, %g]\n",
                  0.05 + 0.3 * k, -0.075 - 0.15 * std::max(0, k));
    text += step;
  }
  Scene scene = parse_scene(text, "stairs.toml");
  scene.dt = 5e-3;
  Simulation s = make_simulation(scene);
  double most = 0;
  while (s.state().t < 1) {
    s.step();
    most = std::max(most, deepest(s));
  }
  CHECK(most < 2e-3);
}

// A point, as robots have them for feet, falls onto a solid: it comes to rest on it, whatever rounding leaves of the gap
// that the step of the landing closes. Soles of Talos went 12 mm deep on stairs.
TEST_CASE("point feet that land on solids stop at their faces") {
  const Geometry solids[] = {solid_below(ShapeKind::Box, Vec3(0.15, 1, 0.075)),
                             solid_below(ShapeKind::Cylinder, Vec3(0.3, 0, 0.1)),
                             solid_below(ShapeKind::Sphere, Vec3(0.3, 0.3, 0.3)),
                             solid_below(ShapeKind::Ellipsoid, Vec3(0.3, 0.2, 0.1)), hull_below()};
  for (const Geometry& solid : solids)
    for (double dt : {1e-3, 5e-3, 1e-2})
      for (int k = 0; k < 40; ++k) {
        Simulation s(leg_over(solid, 0.2 + 0.0137 * k), "rigid", {}, dt);
        double most = 0;
        while (s.state().t < 0.5) {
          s.step();
          most = std::max(most, -s.body_pose(0).p.z());
        }
        CAPTURE(static_cast<int>(solid.kind));
        CAPTURE(dt);
        CAPTURE(k);
        CHECK(most < 1e-9);
        CHECK(std::abs(s.body_pose(0).p.z()) < 1e-9);
      }
}

// Frictionless between wall and floor, a ladder of length L at the angle a has the potential energy of its centre alone to
// turn: (I + m L^2/4) a'^2 = m g L (sin a0 - sin a), and leaves the wall at sin a = 2/3 sin a0, whatever its inertia.
// Until then both ends are pressed in every step, with forces that change as slowly as the angle does.
TEST_CASE("a ladder slides down a wall without jolts and leaves it at two thirds of its height") {
  const double L = 1, r = 0.01, a0 = 70 * M_PI / 180;
  for (double dt : {1e-4, 1e-3}) {
    char text[600];
    std::snprintf(
        text, sizeof text,
        "[material.default]\nmu = 0.0\n[[wall]]\nshape = \"box\"\nsize = [0.2, 2, 4]\nposition = [-0.1, 0, 1]\n"
        "[[object]]\nname = \"ladder\"\nshape = \"capsule\"\nradius = %.17g\nlength = %.17g\nmass = 1.0\n"
        "position = [%.17g, 0, %.17g]\nrpy = [0, %.17g, 0]\n",
        r, L, r + L / 2 * std::cos(a0), r + L / 2 * std::sin(a0), a0 - M_PI / 2);
    Scene scene = parse_scene(text, "ladder.toml");
    scene.dt = dt;
    Simulation s = make_simulation(scene);
    std::vector<double> floor, wall;
    double height = 0;
    while (s.state().t < 1.5) {
      s.step();
      double n = 0, f = 0;
      for (const ContactReport& c : s.contacts()) (std::abs(c.R_WC(0, 2)) > 0.5 ? f : n) += c.f.z();
      if (s.state().t > 0.05 && f == 0) break;
      height = s.body_pose(0).p.z() - r;
      floor.push_back(n);
      wall.push_back(f);
    }
    CAPTURE(dt);
    CHECK(height == doctest::Approx(2.0 / 3 * L / 2 * std::sin(a0)).epsilon(0.01));
    for (std::size_t k = 50; k + 1 < floor.size(); ++k) {
      CHECK(std::abs(floor[k + 1] - floor[k]) < 0.3 * (dt / 1e-3));  // [N]; it weighs 9.81 N
      CHECK(std::abs(wall[k + 1] - wall[k]) < 0.3 * (dt / 1e-3));
    }
  }
}

// A rod of 1 kg on a slide stands 3 mm over its lower end, and a hammer drives it there within the step. Both stop: nothing
// bounces. The limit was not near when the step began, and the rod did not move.
TEST_CASE("a joint that an impact drives against its limit within a step stops at the limit") {
  for (double dt : {1e-3, 5e-3})
    for (double mass : {0.1, 10.0}) {
      ModelBuilder builder;
      const int material = builder.add_material({"surface", worlds::friction(0)});
      builder.set_gravity({0, 0, 0});
      for (const char* name : {"rod", "hammer"}) {
        const bool rod = std::string(name) == "rod";
        builder.begin_member(name, true, "test");
        Body body;
        body.name = std::string(name) + "/slide";
        body.joint = JointKind::Prismatic;
        body.axis = Vec3::UnitZ();
        body.X_PJ.p = rod ? Vec3::Zero() : Vec3(0, 0, 0.2);
        body.inertia.mass = rod ? 1 : mass;
        body.inertia.about_com = Mat3::Identity();
        const int b = builder.add_body(body);
        if (rod) builder.joint_properties().lower[0] = -0.003;
        Geometry ball;
        ball.name = std::string(name) + "/ball";
        ball.kind = ShapeKind::Sphere;
        ball.size = Vec3(0.05, 0, 0);
        ball.body = b;
        ball.material = material;
        builder.add_geometry(ball);
      }
      Simulation s(std::make_shared<const Model>(builder.build()), "rigid", {}, dt);
      State state = s.state();
      state.q[1] = -0.1 + 0.5 * 5 * dt;  // they meet within the first step
      state.v[1] = -5;
      s.set_state(state);
      for (int k = 0; k < 20; ++k) {
        s.step();
        CAPTURE(dt);
        CAPTURE(mass);
        CAPTURE(k);
        CHECK(s.state().q[0] > -0.003 - 1e-6);
        CHECK(s.state().q[1] + 0.1 > s.state().q[0] - 1e-6);
      }
      CHECK(s.state().v.cwiseAbs().maxCoeff() < 1e-9);
      CHECK(s.state().q[0] == doctest::Approx(-0.003).epsilon(1e-3));
    }
}

// A leg starts with its foot inside a step of 0.1 m that stands on the ground: where the bottom is nearest too, that is no way out.
TEST_CASE("a foot inside a box that stands on the ground leaves through its top or a side") {
  for (double radius : {0.0, 0.01})
    for (double height : {0.005, 0.02, 0.04, 0.06, 0.09})
      for (double aside : {0.0, 0.17})
        for (bool wall : {true, false}) {
          char text[700];
          std::snprintf(
              text, sizeof text,
              "[[%s]]\nname = \"step\"\nshape = \"box\"\nsize = [0.4, 0.4, 0.1]\nposition = [0, 0, 0.05]\n%s"
              "[[object]]\nname = \"foot\"\nshape = \"sphere\"\nradius = %g\nmass = 1\nposition = [%g, 0, %g]\n",
              wall ? "wall" : "object", wall ? "" : "mass = 50\n", radius + 1e-4, aside, height);
          Simulation s = make_simulation(parse_scene(text, "inside.toml"));
          const int foot = wall ? 0 : 1;
          while (s.state().t < 1.5) s.step();
          const Vec3 p = s.body_pose(foot).p;
          CAPTURE(radius);
          CAPTURE(height);
          CAPTURE(aside);
          CAPTURE(wall);
          const double box = wall ? 0 : s.body_pose(0).p.x();  // it gives way a little
          CHECK((p.z() > 0.1 || p.x() - box > 0.2));
          CHECK(p.z() > 0);
        }
}
