// Floors of tiles: what slides or rolls over their seams moves as on one plane, and kerbs, risers and ramps stop it.
#include <doctest/doctest.h>

#include <array>

#include "tribo/batch.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

constexpr double tile = 0.25;

std::shared_ptr<const Hull> box_hull(const Vec3& h) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k) corners.push_back(h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  return make_hull(corners, "tile");
}

Geometry tile_at(ShapeKind kind, const Vec3& half, const Placement& X, int material, int body = -1) {
  Geometry g;
  g.kind = kind;
  g.size = half;
  g.X_BG = X;
  g.material = material;
  g.body = body;
  if (kind == ShapeKind::Convex) g.hull = box_hull(half);
  return g;
}

// How tiles lie beside each other: exactly, apart or overlapping by rounding, overlapping by a tenth.
enum class Joint { Exact, Apart, Overlapping };

struct Floor {
  ShapeKind kind = ShapeKind::Box;
  Joint joint = Joint::Exact;
  double yaw = 0;  // of the whole floor
  double size = tile;
};

void lay(World& world, const Floor& floor) {
  const Mat3 R = Eigen::AngleAxisd(floor.yaw, Vec3::UnitZ()).toRotationMatrix();
  for (int i = -3; i < static_cast<int>(3 / floor.size); ++i)
    for (int j = 0; j < 2; ++j) {
      double half = 0.5 * floor.size;
      if (floor.joint == Joint::Apart) half -= 1e-12;
      if (floor.joint == Joint::Overlapping) half *= 1.1;
      const Vec3 p = R * Vec3((i + 0.5) * floor.size, (j - 0.4) * 1.0, -0.05);
      const std::string name = "tile" + std::to_string(i) + "_" + std::to_string(j);
      Geometry g = tile_at(floor.kind, Vec3(half, 0.5, 0.05), {R, p}, world.material);
      g.name = name;
      world.builder.add_geometry(g);
    }
}

struct Slider {
  const char* name;
  ShapeKind kind;
  Vec3 size;
  double height;  // of its centre
  bool lies;      // axis along y
};

const std::array<Slider, 6> sliders{{{"box", ShapeKind::Box, {0.1, 0.1, 0.05}, 0.05, false},
                                     {"hull", ShapeKind::Convex, {0.1, 0.1, 0.05}, 0.05, false},
                                     {"upright cylinder", ShapeKind::Cylinder, {0.1, 0, 0.05}, 0.05, false},
                                     {"lying cylinder", ShapeKind::Cylinder, {0.05, 0, 0.1}, 0.05, true},
                                     {"capsule", ShapeKind::Capsule, {0.05, 0, 0.1}, 0.05, true},
                                     {"ball", ShapeKind::Sphere, {0.05, 0, 0}, 0.05, false}}};

Simulation slide(World& world, const Slider& s, const Vec3& p, const Vec3& v, double dt) {
  if (s.kind == ShapeKind::Convex) {
    world.builder.begin_member("hull", false, "object");
    Body body;
    body.name = "hull";
    body.inertia = solid_inertia(ShapeKind::Box, s.size, 1);
    Geometry g = tile_at(s.kind, s.size, {}, world.material, world.builder.add_body(body));
    g.name = "hull";
    world.builder.add_geometry(g);
    world.starts.push_back({p, v, Vec3::Zero()});
  } else {
    world.object(s.kind, s.size, 1, p, v, Vec3::Zero());
  }
  Simulation simulation = world.simulate(dt);
  if (s.lies) {
    State state = simulation.state();
    const Mat3 R = Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitX()).toRotationMatrix();
    const Quat turn(R);
    state.q.segment<4>(3) = turn.coeffs();
    state.v.segment<3>(0) = R.transpose() * v;
    simulation.set_state(state);
  }
  return simulation;
}

// Largest distance between the paths over tiles and over a plane.
double strays(const Slider& slider, const Floor& floor, double mu, double speed, double dt) {
  const Mat3 R = Eigen::AngleAxisd(floor.yaw, Vec3::UnitZ()).toRotationMatrix();
  const double phase = 0.3 * speed * dt;  // no multiple of the step
  const Vec3 p = R * Vec3(tile - 0.11 - 0.02 * speed - phase, 0.03, 0) + slider.height * Vec3::UnitZ();
  const Vec3 v = R * Vec3(speed, 0, 0);
  World tiles(friction(mu)), plane(friction(mu));
  lay(tiles, floor);
  plane.ground();
  Simulation a = slide(tiles, slider, p, v, dt), b = slide(plane, slider, p, v, dt);
  const int steps = static_cast<int>(std::min(0.6 / speed, 1.2) / dt);
  double worst = 0;
  for (int k = 0; k < steps; ++k) {
    a.step();
    b.step();
    worst = std::max(worst, (position(a) - position(b)).norm());
  }
  return worst;
}

}  // namespace

TEST_CASE("what slides or rolls over tiles moves as on one plane") {
  for (const Slider& slider : sliders)
    for (ShapeKind kind : {ShapeKind::Box, ShapeKind::Convex})
      for (double mu : {1e-4, 0.3})
        for (double speed : {0.05, 0.5, 2.0, 10.0})
          for (double dt : {1e-3, 5e-3, 10e-3}) {
            CAPTURE(std::string(slider.name));
            CAPTURE(kind == ShapeKind::Box);
            CAPTURE(mu);
            CAPTURE(speed);
            CAPTURE(dt);
            CHECK(strays(slider, {.kind = kind}, mu, speed, dt) < 1e-6);
          }
}

TEST_CASE("tiles apart or overlapping by little, turned floors and small tiles") {
  for (const Slider& slider : sliders)
    for (const Floor& floor :
         {Floor{.joint = Joint::Apart}, Floor{.joint = Joint::Overlapping}, Floor{.yaw = 0.3},
          Floor{.kind = ShapeKind::Convex, .joint = Joint::Apart, .yaw = 0.3}, Floor{.size = 0.06}})
      for (double speed : {0.5, 5.0}) {
        CAPTURE(std::string(slider.name));
        CAPTURE(static_cast<int>(floor.kind));
        CAPTURE(static_cast<int>(floor.joint));
        CAPTURE(floor.yaw);
        CAPTURE(floor.size);
        CAPTURE(speed);
        CHECK(strays(slider, floor, 1e-4, speed, 5e-3) < 1e-6);
      }
}

// A box at 0.3 m/s has 45 mJ; to climb over its lower front edge it would need 0.6 J.
TEST_CASE("kerbs of 1 mm, risers and ramps stop what hits them") {
  for (ShapeKind kind : {ShapeKind::Box, ShapeKind::Convex})
    for (double dt : {1e-3, 5e-3})
      for (double rise : {1e-3, 0.2}) {
        CAPTURE(rise);
        CAPTURE(dt);
        World world(friction(1e-4));
        for (int i = -4; i < 4; ++i) {
          const double top = i < 1 ? 0 : rise;
          Geometry g = tile_at(kind, Vec3(0.5 * tile, 0.5, 0.05 + 0.5 * top),
                               {Mat3::Identity(), Vec3((i + 0.5) * tile, 0, 0.5 * top - 0.05)}, world.material);
          g.name = std::to_string(i);
          world.builder.add_geometry(g);
        }
        Simulation s = slide(world, sliders[0], {0, 0, 0.05}, {0.3, 0, 0}, dt);
        run(s, 1.5);
        CHECK(position(s).x() < tile - 0.1 + 1e-3);
        CHECK(velocity(s).x() < 1e-3);
      }
}

TEST_CASE("tiles of a moving body") {
  // A board of two tiles slides with a ball at rest on it: without friction the ball stays where it is.
  for (double dt : {1e-3, 1e-2}) {
    World world(friction(0));
    world.ground();
    world.builder.begin_member("board", false, "object");
    Body body;
    body.name = "board";
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.5, 0.5, 0.05), 1000);
    const int board = world.builder.add_body(body);
    for (int i = 0; i < 4; ++i) {
      Geometry g = tile_at(ShapeKind::Box, Vec3(0.125, 0.5, 0.05), {Mat3::Identity(), Vec3(0.25 * i - 0.375, 0, 0)},
                           world.material, board);
      g.name = "board" + std::to_string(i);
      world.builder.add_geometry(g);
    }
    world.starts.push_back({Vec3(0, 0, 0.05), Vec3(-1, 0, 0), Vec3::Zero()});
    world.sphere(0.05, 0.1, {-0.2, 0.01, 0.15});
    Simulation s = world.simulate(dt);
    run(s, 0.2);
    CAPTURE(dt);
    CHECK((position(s, 1) - Vec3(-0.2, 0.01, 0.15)).norm() < 1e-6);
  }
}

namespace {

std::string numbers(const Vec3& x) {
  char text[100];
  std::snprintf(text, sizeof text, "[%.17g, %.17g, %.17g]", x.x(), x.y(), x.z());
  return text;
}

// Floors of kinematic bodies of a velocity, or of the world: of hexagons, one beside the other, or of two boxes whose seam
// is far away.
std::string laid(bool tiles, const Vec3& velocity) {
  const std::string kind = velocity.isZero(0) ? "wall" : "kinematic",
                    moves = velocity.isZero(0) ? "" : "velocity = " + numbers(velocity) + "\n";
  if (!tiles) {
    std::string out;
    for (double y : {0.0, 9.0})
      out +=
          "[[" + kind + "]]\nshape = \"box\"\nsize = [9, 9, 0.1]\nposition = " + numbers({0, y, -0.05}) + "\n" + moves;
    return out;
  }
  const double r = 0.11, across = std::sqrt(3.0) * r;
  std::string corners, out;
  for (int k = 0; k < 6; ++k)
    for (double z : {-0.05, 0.05})
      corners += numbers({r * std::sin(k * M_PI / 3), r * std::cos(k * M_PI / 3), z}) + ", ";
  for (int i = -6; i < 12; ++i)
    for (int j = -5; j < 6; ++j)
      out += "[[" + kind + "]]\nshape = \"hull\"\nvertices = [" + corners +
             "]\nposition = " + numbers({(i + 0.5 * (j & 1)) * across, 1.5 * r * j, -0.05}) + "\n" + moves;
  return out;
}

}  // namespace

// The points of a face that lies on many tiles are its corners, as on one. The belts move under what lies on them.
TEST_CASE("hexagons, fixed or kinematic, carry what slides as one plane does") {
  const char* shapes[] = {
      "shape = \"box\"\nsize = [0.3, 0.2, 0.08]\nposition = [0, 0.02, 0.04]",
      "shape = \"cylinder\"\nradius = 0.12\nlength = 0.08\nposition = [0, 0.02, 0.04]",
      "shape = \"cylinder\"\nradius = 0.04\nlength = 0.3\nposition = [0, 0.02, 0.04]\n"
      "rpy = [1.5707963267948966, 0, 0.3]",
      "shape = \"hull\"\nvertices = [[0.17, 0, -0.03], [-0.11, 0.12, -0.03], [-0.05, -0.15, -0.03], "
      "[0, 0, 0.09]]\nposition = [0, 0.02, 0.03]",
      "shape = \"capsule\"\nradius = 0.04\nlength = 0.3\nposition = [0, 0.02, 0.04]\n"
      "rpy = [1.5707963267948966, 0, 0.3]",
      "shape = \"sphere\"\nradius = 0.05\nposition = [0, 0.02, 0.05]",
      "shape = \"ellipsoid\"\nradii = [0.09, 0.06, 0.05]\nposition = [0, 0.02, 0.05]"};
  for (const char* shape : shapes)
    for (const Vec3& belt : {Vec3(0, 0, 0), Vec3(0.3, -0.2, 0)})
      for (double mu : {0.0, 0.3})
        for (double speed : {0.3, 2.0})
          for (double dt : {1e-3, 1e-2}) {
            std::vector<Simulation> both;
            for (bool tiles : {true, false}) {
              Scene scene = parse_scene(
                  "[ground]\nnone = true\n" + laid(tiles, belt) + "[material.default]\nmu = " + std::to_string(mu) +
                      "\n[[object]]\nname = \"it\"\nmass = 1\n" + shape +
                      "\nvelocity = " + numbers({speed, 0.1 * speed, 0}) + "\nangular_velocity = [0, 0, 3]\n",
                  "tiles.toml");
              scene.dt = dt;
              both.push_back(make_simulation(scene));
            }
            double most = 0;
            while (both[0].state().t < 0.4) {
              for (Simulation& s : both) s.step();
              most = std::max(most, (position(both[0]) - position(both[1])).norm());
              most = std::max(most, (both[0].body_pose(0).R - both[1].body_pose(0).R).norm());
            }
            CAPTURE(shape);
            CAPTURE(belt.x());
            CAPTURE(mu);
            CAPTURE(speed);
            CAPTURE(dt);
            CHECK(most < 1e-6);
          }
}

namespace {

Scene robot_on(bool tiles, const std::string& robot, double speed, double dt) {
  std::string text = "[robot]\nmodel = \"" + robot + "\"\nvelocity = " + numbers({speed, 0.3 * speed, 0}) +
                     "\n[controller]\nkp = { \"*\" = 60.0 }\nkd = { \"*\" = 3.0 }\n[material.default]\nmu = 0.6\n";
  if (tiles) text += "[ground]\nnone = true\n";
  for (int i = -6; tiles && i < 6; ++i)
    for (int j = -6; j < 6; ++j)
      text += "[[wall]]\nshape = \"box\"\nsize = [0.25, 0.25, 0.1]\nposition = " +
              numbers({0.25 * i + 0.03, 0.25 * j + 0.01, -0.05}) + "\n";
  Scene scene = parse_scene(text, "robot.toml");
  scene.dt = dt;
  return scene;
}

}  // namespace

// Feet that are points (Solo12) or balls (Go2): standing, dropped from 0.1 m, sliding at 1.5 m/s. Point feet met the side
// faces of the tiles within rounding of their upper edges.
TEST_CASE("robots on tiles move as on one plane") {
  for (const char* robot : {"solo12", "go2"})
    for (double drop : {0.0, 0.1})
      for (double speed : {0.0, 1.5})
        for (double dt : {1e-3, 5e-3}) {
          Simulation tiles = make_simulation(robot_on(true, robot, speed, dt)),
                     plane = make_simulation(robot_on(false, robot, speed, dt));
          State start = plane.state();  // without a ground the robot starts elsewhere
          start.q[2] += drop;
          plane.set_state(start);
          State state = tiles.state();
          state.q = start.q;
          state.v = start.v;
          tiles.set_state(state);
          double most = 0;
          while (plane.state().t < 0.4) {
            tiles.step();
            plane.step();
            most = std::max(most, (tiles.state().q - plane.state().q).cwiseAbs().maxCoeff());
          }
          CAPTURE(robot);
          CAPTURE(drop);
          CAPTURE(speed);
          CAPTURE(dt);
          CHECK(most < 1e-9);
        }
}

// A batch on tiles, with lanes asked for and not, beside one world on the ground: it stands, is dropped and slides. Lanes do not know tiles
// and say so, or are as exact.
TEST_CASE("batches go over tiles as on one plane") {
  const double dt = 1e-3;
  for (const char* robot : {"solo12", "go2"})
    for (bool lanes : {false, true}) {
      const Scene tiled = robot_on(true, robot, 0, dt);
      Batch batch(tiled, 4, 2, {}, {}, lanes);
      std::vector<Simulation> alone;
      for (int world = 0; world < 4; ++world) {
        alone.push_back(make_simulation(robot_on(false, robot, 0, dt)));
        State start = alone.back().state();
        start.q[2] += 0.03 * world;
        start.v[0] = 0.4 * world;
        alone.back().set_state(start);
        batch.set(std::array{world}, start.q.data(), start.v.data());
      }
      batch.step(400);
      for (int world = 0; world < 4; ++world) {
        Simulation& s = alone[static_cast<std::size_t>(world)];
        for (int k = 0; k < 400; ++k) s.step();
        CAPTURE(robot);
        CAPTURE(world);
        CAPTURE(batch.lanes());
        CHECK((batch.state(world).q - s.state().q).cwiseAbs().maxCoeff() < 1e-9);
      }
    }
}

// What slips keeps the lesser friction when it comes to the next tile: v^2 / (2 mu_dynamic g), as on one plane, whose
// sum over steps is exact.
TEST_CASE("what slips over seams goes on slipping") {
  const double dt = 1e-3, mu = 0.2, speed = 1;
  std::string text = "[ground]\nnone = true\n[material.default]\nmu_static = 0.8\nmu_dynamic = 0.2\n";
  for (int i = -4; i < 40; ++i)
    text += "[[wall]]\nshape = \"box\"\nsize = [0.05, 1, 0.1]\nposition = " + numbers({0.05 * i, 0, -0.05}) + "\n";
  text +=
      "[[object]]\nname = \"it\"\nshape = \"box\"\nsize = [0.13, 0.1, 0.02]\nmass = 1\nposition = [0, 0, 0.01]\n"
      "velocity = [1, 0, 0]\n";
  Scene scene = parse_scene(text, "slip.toml");
  scene.dt = dt;
  Simulation s = make_simulation(scene);
  double x = 0, v = speed;
  bool first = true;
  while (s.state().t < 0.4) {
    s.step();
    v -= (first ? 0.8 : mu) * 9.81 * dt;  // it is found to slip at the end of the first step
    x += v * dt;
    first = false;
    CHECK(position(s).x() == doctest::Approx(x).epsilon(1e-9));
  }
}

// A floor of square tiles, crossed at an angle, under every family; what carries a second box too, whose own friction (1e-3 of its
// weight) is far from what it takes to follow (1e-4).
TEST_CASE("tiles crossed at 10, 30 and 45 degrees, by stacks and under other steppers, are as one plane") {
  const auto run_over = [](bool tiled, const char* shape, double angle, bool stack, const std::string& stepper) {
    std::string text = tiled ? "[ground]\nnone = true\n" : "";
    for (int i = -1; i < 5 && tiled; ++i)
      for (int j = -1; j < 5; ++j)
        text += "[[wall]]\nshape = \"box\"\nsize = [0.25, 0.25, 0.1]\nposition = " +
                numbers({0.25 * i + 0.125, 0.25 * j + 0.125, -0.05}) + "\n";
    const Vec3 v(2 * std::cos(angle), 2 * std::sin(angle), 0);
    text += "[material.default]\nmu = 1e-3\n[material.slick]\nmu = 1e-4\n[stepper]\nname = \"" + stepper + "\"\n";
    text += std::string("[[object]]\nname = \"it\"\n") + shape +
            "\nmass = 1\nposition = [0.03, 0.04, 0.05]\nmaterial = \"slick\"\nvelocity = " + numbers(v) + "\n";
    if (stack)
      text +=
          "[[object]]\nname = \"load\"\nshape = \"box\"\nsize = [0.1, 0.08, 0.06]\nmass = 0.5\nposition = [0.03, 0.04, "
          "0.13]\nvelocity = " +
          numbers(v) + "\n";
    Scene scene = parse_scene(text, "tiles.toml");
    scene.dt = 2e-3;
    Simulation s = make_simulation(scene);
    run(s, 0.4);
    return VecX(s.state().q);
  };
  for (const char* shape :
       {"shape = \"box\"\nsize = [0.2, 0.2, 0.1]", "shape = \"cylinder\"\nradius = 0.1\nlength = 0.1"})
    for (double degrees : {10.0, 30.0, 45.0})
      for (bool stack : {false, true})
        for (const char* stepper : {"rigid", "exponential", "implicit-euler", "momentum"}) {
          if (stack && std::string(stepper) != "rigid") continue;
          CAPTURE(std::string(shape));
          CAPTURE(degrees);
          CAPTURE(stack);
          CAPTURE(std::string(stepper));
          const double angle = degrees * M_PI / 180;
          const VecX q = run_over(true, shape, angle, stack, stepper),
                     plane = run_over(false, shape, angle, stack, stepper);
          CHECK((q - plane).cwiseAbs().maxCoeff() < 1e-6);
          CHECK(q[0] > 0.5 * std::cos(angle));  // it got there
        }
}
