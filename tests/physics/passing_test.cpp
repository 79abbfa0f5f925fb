// What passes by is not touched, what meets is, and it meets with the normal of where it meets. Numbers are drawn in braces
// or one by one, in order: every compiler draws the same.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "collision/collision.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

struct Shape {
  ShapeKind kind;
  Vec3 size;
};

const std::array<Shape, 6> shapes{{{ShapeKind::Sphere, {0.05, 0, 0}},
                                   {ShapeKind::Box, {0.05, 0.08, 0.03}},
                                   {ShapeKind::Capsule, {0.03, 0, 0.06}},
                                   {ShapeKind::Cylinder, {0.05, 0, 0.04}},
                                   {ShapeKind::Ellipsoid, {0.05, 0.03, 0.07}},
                                   {ShapeKind::Convex, {0.05, 0.08, 0.03}}}};

std::shared_ptr<const Hull> wedge(const Vec3& h) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k)
    if (k != 7) corners.push_back(h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  return make_hull(corners, "wedge");
}

// A hill of 8 cm on a plain.
std::shared_ptr<const HeightField> hill() {
  auto field = std::make_shared<HeightField>();
  field->nx = field->ny = 9;
  field->spacing_x = field->spacing_y = 0.06;
  field->heights.assign(81, -0.1);
  field->heights[40] = -0.02;
  return field;
}

Geometry geometry(const Shape& shape, int material, const std::string& name) {
  Geometry g;
  if (shape.kind == ShapeKind::HeightField) g.terrain = hill();
  g.name = name;
  g.kind = shape.kind;
  g.size = shape.size;
  g.material = material;
  if (shape.kind == ShapeKind::Convex) g.hull = wedge(shape.size);
  return g;
}

// One shape flies, the other is fixed at the origin; a body whose inertia is a ball's, so that it turns steadily.
World flight(const Shape& flies, const Shape& stands, const Vec3& gravity) {
  World world(friction(0.5));
  world.gravity(gravity);
  world.builder.add_geometry(geometry(stands, world.material, "stands"));
  world.builder.begin_member("flies", false, "object");
  Body body;
  body.name = "flies";
  body.inertia.mass = 1;
  body.inertia.about_com = 1e-3 * Mat3::Identity();
  Geometry g = geometry(flies, world.material, "flies");
  g.body = world.builder.add_body(body);
  world.builder.add_geometry(g);
  return world;
}

// Smallest gap along the path that is swept, steps by straight lines, by looking at many places of it.
struct Path {
  Vec3 x, v, w, g;
  double dt;
  Mat3 R;
};

double clearance(Collision& collision, const Path& path, int steps, int samples) {
  double least = HUGE_VAL;
  Vec3 x = path.x, v = path.v;
  Mat3 R = path.R;
  for (int k = 0; k < steps; ++k) {
    v += path.dt * path.g;
    for (int i = 0; i <= samples; ++i) {  // the end of the path too
      const double t = path.dt * i / samples;
      BodyMotion m;
      m.X_WB.p = x + t * v;
      const double angle = t * path.w.norm();
      m.X_WB.R = angle > 0 ? Mat3(Eigen::AngleAxisd(angle, path.w.normalized()).toRotationMatrix() * R) : R;
      collision.detect({&m, 1}, {0.05, 0}, {});
      for (const Contact& c : collision.contacts()) least = std::min(least, c.gap);
    }
    x += path.dt * v;
    if (path.w.norm() > 0) R = Eigen::AngleAxisd(path.dt * path.w.norm(), path.w.normalized()).toRotationMatrix() * R;
  }
  return least;
}

}  // namespace

namespace {

// Returns how many of the paths were passes, nearer than 1 cm at some time.
template <class Stands>
int random_passes(int tries, unsigned seed, const Stands& standing) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1), sym(-1, 1);
  int passes = 0;
  for (const Shape& flies : shapes)
    for (const Shape& stands : standing)
      for (bool falls : {false, true}) {
        const Vec3 g = falls ? Vec3(0, 0, -9.81) : Vec3::Zero();
        const auto model = std::make_shared<const Model>(flight(flies, stands, g).builder.build());
        Collision collision(*model);
        for (int k = 0; k < tries; ++k) {
          Path path{Vec3::Zero(),    Vec3::Zero(), Vec3::Zero(), g, std::pow(10, -3.5 + 1.5 * unit(rng)),
                    Mat3::Identity()};
          const Quat turn = Quat{sym(rng), sym(rng), sym(rng), sym(rng)}.normalized();
          path.R = turn.toRotationMatrix();
          const Vec3 u = Vec3{sym(rng), sym(rng), sym(rng)}.normalized();
          const double speed = std::pow(10, -0.5 + 2.5 * unit(rng));
          const int steps = static_cast<int>(std::ceil(0.3 / (speed * path.dt))) + 1;
          if (steps > 100) continue;
          path.v = speed * u;
          const Vec3 aside = Vec3{sym(rng), sym(rng), sym(rng)}.cross(u).normalized();
          const double off = 0.06 + 0.08 * unit(rng), before = 0.1 + 0.1 * unit(rng), part = unit(rng);
          path.x = off * aside - (before + part * speed * path.dt) * u;
          if (k % 3 == 0) {
            const double rate = 0.3 * unit(rng) / path.dt;
            path.w = rate * Vec3{sym(rng), sym(rng), sym(rng)};
          }
          const int samples = std::clamp(static_cast<int>(speed * path.dt / 2e-3), 4, 200);
          // Between two samples no point moves farther than half of this.
          const double between = path.dt / samples * (speed + path.dt * 9.81 * steps + 0.1 * path.w.norm());
          const double least = clearance(collision, path, steps, samples);
          if (!(least > 0.5 * between + 2e-6) || least > 0.01) continue;
          ++passes;
          Simulation pass(model, "rigid", StepperOptions{}, path.dt);
          State state = State::neutral(*model);
          state.q.head<3>() = path.x;
          state.q.segment<4>(3) = turn.coeffs();
          state.v.head<3>() = path.R.transpose() * path.v;
          state.v.segment<3>(3) = path.R.transpose() * path.w;
          pass.set_state(state);
          for (int i = 0; i < steps; ++i) pass.step();
          const Vec3 expected = path.v + steps * path.dt * g;
          CAPTURE(static_cast<int>(flies.kind));
          CAPTURE(static_cast<int>(stands.kind));
          CAPTURE(speed);
          CAPTURE(path.dt);
          CAPTURE(least);
          CAPTURE(path.w.norm() * path.dt);
          CHECK((velocity(pass) - expected).norm() < 1e-12 * (speed + 1) * steps);
        }
      }
  return passes;
}

}  // namespace

TEST_CASE("random passes: no change of velocity where the swept shapes do not meet") {
  CHECK(random_passes(150, 5, shapes) > 500);
}

TEST_CASE("random passes over a hill") {
  const std::array<Shape, 1> land{{{ShapeKind::HeightField, {0, 0, 0}}}};
  CHECK(random_passes(150, 8, land) > 20);
  CHECK(random_passes(150, 24, land) > 20);
}

TEST_SUITE("long") {
  TEST_CASE("many random passes") { CHECK(random_passes(2600, 6, shapes) > 10000); }
}

TEST_CASE("nothing of 1 cm tunnels through a plate of 1 mm at 100 m/s") {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> unit(0, 1), sym(-1, 1);
  const Shape plate{ShapeKind::Box, {0.0005, 0.2, 0.2}};
  for (const Shape& shot : {Shape{ShapeKind::Sphere, {0.005, 0, 0}}, Shape{ShapeKind::Box, {0.005, 0.005, 0.005}},
                            Shape{ShapeKind::Capsule, {0.005, 0, 0.005}}}) {
    const auto model = std::make_shared<const Model>(flight(shot, plate, Vec3::Zero()).builder.build());
    for (int k = 0; k < 60; ++k) {
      const double dt = k % 3 == 0 ? 1e-3 : k % 3 == 1 ? 1e-4 : 5e-3;
      const Vec3 v = 100 * Vec3{1, 0.5 * sym(rng), 0.5 * sym(rng)}.normalized();
      const Vec3 goal{0, 0.05 * sym(rng), 0.05 * sym(rng)};
      Simulation s(model, "rigid", StepperOptions{}, dt);
      State state = State::neutral(*model);
      state.q.head<3>() = goal - v * (0.11 + unit(rng) * 100 * dt) / v.x();
      state.v.head<3>() = v;
      if (k % 2) state.v.tail<3>() = 50 * Vec3{sym(rng), sym(rng), sym(rng)};
      s.set_state(state);
      for (int i = 0; i < 5 + static_cast<int>(0.5 / (100 * dt)); ++i) s.step();
      CAPTURE(static_cast<int>(shot.kind));
      CAPTURE(dt);
      CHECK(position(s).x() < 0);
    }
  }
}

// The closed form: along the line of centres at the instant of touch the velocities are exchanged (equal masses), across it
// they stay, and nothing turns.
TEST_CASE("oblique elastic balls leave along the normal of where they meet") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> unit(0, 1), sym(-1, 1);
  const double r = 0.05;
  for (double dt : {1e-4, 1e-3, 5e-3, 1e-2})
    for (int k = 0; k < 20; ++k) {
      const Vec3 va{1 + 3 * unit(rng), sym(rng), sym(rng)}, vb{-1 - 3 * unit(rng), sym(rng), sym(rng)};
      const Vec3 n = Vec3{1, sym(rng), sym(rng)}.normalized();
      if (n.dot(vb - va) > -0.5) continue;
      const double t = dt * (0.1 + 0.8 * unit(rng)) + 3 * dt;  // they touch within a step
      auto s = World(friction(0, 1))
                   .gravity(Vec3::Zero())
                   .sphere(r, 1, -r * n - t * va, va)
                   .sphere(r, 1, r * n - t * vb, vb)
                   .simulate(dt);
      for (int i = 0; i < 8; ++i) s.step();
      const double exchanged = n.dot(vb - va);
      CAPTURE(dt);
      CHECK((velocity(s, 0) - (va + exchanged * n)).norm() < 1e-9);
      CHECK((velocity(s, 1) - (vb - exchanged * n)).norm() < 1e-9);
      CHECK(s.state().v.segment<3>(3).norm() + s.state().v.segment<3>(9).norm() < 1e-9);
    }
}
