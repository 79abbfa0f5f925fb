// Triangle meshes as ground: what slides over them moves as on a plane, nothing passes through, a cup holds a ball.
#include <doctest/doctest.h>

#include <array>
#include <random>

#include "worlds.hpp"

using namespace worlds;

namespace {

struct Surface {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;

  void quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const int n = static_cast<int>(points.size());
    for (const Vec3& x : {a, b, c, d}) points.push_back(x);
    triangles.push_back({n, n + 1, n + 2});
    triangles.push_back({n, n + 2, n + 3});
  }
  Geometry geometry(int material) const {
    Geometry g;
    g.name = "mesh";
    g.kind = ShapeKind::Mesh;
    g.mesh = make_triangle_mesh(points, triangles, "mesh");
    g.material = material;
    return g;
  }
};

// A floor of uneven triangles, some of them slivers, in one plane.
Surface plain(unsigned seed) {
  std::mt19937 random(seed);
  auto u = [&] { return static_cast<double>(random()) / 4294967296.0 - 0.5; };
  Surface floor;
  constexpr int n = 13, m = 7;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      const double dx = u(), dy = u();
      floor.points.emplace_back(-0.5 + 0.2 * (i + 0.8 * dx), -0.6 + 0.2 * (j + 0.8 * dy), 0);
    }
  for (int j = 0; j + 1 < m; ++j)
    for (int i = 0; i + 1 < n; ++i) {
      const int a = j * n + i;
      auto area = [&](int x, int y, int z) {
        const auto &p = floor.points[at(x)], &q = floor.points[at(y)], &r = floor.points[at(z)];
        return (q - p).cross(r - p).z();
      };
      if (area(a, a + 1, a + n + 1) > 0 && area(a, a + n + 1, a + n) > 0) {
        floor.triangles.push_back({a, a + 1, a + n + 1});
        floor.triangles.push_back({a, a + n + 1, a + n});
      } else {
        floor.triangles.push_back({a, a + 1, a + n});
        floor.triangles.push_back({a + 1, a + n + 1, a + n});
      }
    }
  return floor;
}

struct Slider {
  const char* name;
  ShapeKind kind;
  Vec3 size;
  bool lies;  // axis along y
};

const std::array<Slider, 7> sliders{{{"box", ShapeKind::Box, {0.1, 0.1, 0.05}, false},
                                     {"hull", ShapeKind::Convex, {0.1, 0.1, 0.05}, false},
                                     {"upright cylinder", ShapeKind::Cylinder, {0.1, 0, 0.05}, false},
                                     {"lying cylinder", ShapeKind::Cylinder, {0.05, 0, 0.1}, true},
                                     {"capsule", ShapeKind::Capsule, {0.05, 0, 0.1}, true},
                                     {"ellipsoid", ShapeKind::Ellipsoid, {0.08, 0.1, 0.05}, false},
                                     {"ball", ShapeKind::Sphere, {0.05, 0, 0}, false}}};

Simulation slide(World& world, const Slider& s, const Vec3& p, const Vec3& v, double dt) {
  if (s.kind == ShapeKind::Convex) {
    world.builder.begin_member("hull", false, "object");
    Body body;
    body.name = "hull";
    body.inertia = solid_inertia(ShapeKind::Box, s.size, 1);
    Geometry g;
    g.name = "hull";
    g.kind = s.kind;
    std::vector<Vec3> corners;
    for (int k = 0; k < 8; ++k)
      corners.push_back(s.size.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
    g.hull = make_hull(corners, "hull");
    g.body = world.builder.add_body(body);
    g.material = world.material;
    world.builder.add_geometry(g);
    world.starts.push_back({p, v, Vec3::Zero()});
  } else {
    world.object(s.kind, s.size, 1, p, v, Vec3::Zero());
  }
  Simulation simulation = world.simulate(dt);
  if (s.lies) {
    State state = simulation.state();
    const Mat3 R = Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitX()).toRotationMatrix();
    state.q.segment<4>(3) = Quat(R).coeffs();
    state.v.segment<3>(0) = R.transpose() * v;
    simulation.set_state(state);
  }
  return simulation;
}

Geometry level_field(int material) {
  HeightField field;
  field.nx = field.ny = 9;
  field.spacing_x = field.spacing_y = 0.5;
  field.heights.assign(81, 0.0);
  Geometry g;
  g.name = "level";
  g.kind = ShapeKind::HeightField;
  g.terrain = std::make_shared<const HeightField>(std::move(field));
  g.material = material;
  return g;
}

Surface plate(double thickness) {
  Surface s;
  const Vec3 lo(-0.5, -0.5, -thickness), hi(0.5, 0.5, 0);
  auto p = [&](int k) { return Vec3(k & 1 ? hi.x() : lo.x(), k & 2 ? hi.y() : lo.y(), k & 4 ? hi.z() : lo.z()); };
  for (const auto& f : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4}, std::array{2, 6, 7, 3},
                        std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}})
    s.quad(p(f[0]), p(f[1]), p(f[2]), p(f[3]));
  return s;
}

// A profile (r, z) turned about z, counter-clockwise in the half plane.
Surface turned(const std::vector<std::array<double, 2>>& profile, int sections) {
  Surface s;
  for (int k = 0; k < sections; ++k) {
    const double a = 2 * M_PI * k / sections, b = 2 * M_PI * (k + 1) / sections;
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const auto [r0, z0] = profile[i];
      const auto [r1, z1] = profile[(i + 1) % profile.size()];
      s.quad({r0 * std::cos(a), r0 * std::sin(a), z0}, {r0 * std::cos(b), r0 * std::sin(b), z0},
             {r1 * std::cos(b), r1 * std::sin(b), z1}, {r1 * std::cos(a), r1 * std::sin(a), z1});
    }
  }
  return s;
}

}  // namespace

TEST_CASE("mesh: what slides or rolls over triangles of one plane moves as on the plane") {
  for (const Slider& slider : sliders)
    for (double mu : {0.0, 0.4})
      for (double dt : {1e-3, 5e-3}) {
        const double height = slider.kind == ShapeKind::Ellipsoid ? slider.size.z() : 0.05;
        const Vec3 p(-0.2, 0.03, height), v(1.1, 0.2, 0);
        World mesh(friction(mu)), plane(friction(mu));
        mesh.builder.add_geometry(plain(3).geometry(mesh.material));
        if (slider.kind == ShapeKind::Ellipsoid)
          plane.builder.add_geometry(level_field(plane.material));  // rocks: a plane is listed without looking ahead
        else
          plane.ground();
        Simulation a = slide(mesh, slider, p, v, dt), b = slide(plane, slider, p, v, dt);
        double worst = 0;
        for (int k = 0; k < std::lround(0.8 / dt); ++k) {
          a.step();
          b.step();
          worst = std::max(worst, (position(a) - position(b)).norm());
        }
        CAPTURE(std::string(slider.name));
        CAPTURE(mu);
        CAPTURE(dt);
        CHECK(worst < 1e-6);
        CHECK((position(a) - p).norm() > 0.03);
      }
}

TEST_CASE("mesh: nothing that is shot at a plate of 1 mm passes through it") {
  std::mt19937 random(17);
  auto u = [&] { return 2 * static_cast<double>(random()) / 4294967296.0 - 1; };
  for (const Slider& slider : sliders)
    for (int k = 0; k < 6; ++k) {
      World world(friction(0.3));
      world.gravity(Vec3::Zero());
      world.builder.add_geometry(plate(1e-3).geometry(world.material));
      const double x = 0.2 * u(), y = 0.2 * u(), speed = 60 + 40 * u(), aside = 10 * u();
      const double side = k % 2 ? -1 : 1;
      Simulation s = slide(world, slider, {x, y, side * 0.3}, {aside, 0, -side * speed}, k < 3 ? 1e-3 : 1e-2);
      run(s, 0.05);
      CAPTURE(std::string(slider.name));
      CAPTURE(k);
      CHECK(side * position(s).z() > 0);  // it may spin within the step, and be taken back over several
    }
}

TEST_CASE("mesh: a cup holds the ball that falls into it") {
  const Surface cup = turned({{0, 0}, {0.045, 0}, {0.045, 0.1}, {0.04, 0.1}, {0.04, 0.005}, {0, 0.005}}, 48);
  for (const std::string stepper : {"rigid", "exponential"}) {
    World world(friction(0.5));
    world.builder.add_geometry(cup.geometry(world.material));
    world.sphere(0.02, 0.05, {0.005, 0, 0.2});
    Simulation s = world.simulate(1e-3, {}, stepper);
    run(s, 2);
    CAPTURE(stepper);
    CHECK(std::abs(position(s).z() - 0.025) < (stepper == "rigid" ? 1e-6 : 1e-4));
    CHECK(position(s).head<2>().norm() < 0.021);
    CHECK(velocity(s).norm() < 1e-2);
  }
}

TEST_CASE("mesh: a box on stairs of triangles rests on their edges as on boxes") {
  // Steps of 0.1 m, closed below; a box laid over two edges of them, turned by their slope.
  Surface stairs;
  World boxes(friction(0.9)), mesh(friction(0.9));
  for (int k = 0; k < 5; ++k) {
    const double x = 0.2 * k, z = 0.1 * (k + 1);
    stairs.quad({x, -0.5, z - 0.1}, {x, -0.5, z}, {x, 0.5, z}, {x, 0.5, z - 0.1});
    stairs.quad({x, -0.5, z}, {x + 0.2, -0.5, z}, {x + 0.2, 0.5, z}, {x, 0.5, z});
    Geometry g;
    g.name = "step" + std::to_string(k);
    g.kind = ShapeKind::Box;
    g.size = Vec3(0.1, 0.5, 0.5 * z);
    g.X_BG.p = Vec3(x + 0.1, 0, 0.5 * z);
    g.material = boxes.material;
    boxes.builder.add_geometry(g);
  }
  mesh.builder.add_geometry(stairs.geometry(mesh.material));
  const double slope = std::atan2(0.1, 0.2);
  const Mat3 R = Eigen::AngleAxisd(-slope, Vec3::UnitY()).toRotationMatrix();
  const Vec3 p = Vec3(0.4, 0.05, 0.3) + R * Vec3(0.02, 0, 0.0501);
  Vec3 end[2];
  for (int k = 0; k < 2; ++k) {
    World& world = k ? mesh : boxes;
    world.box({0.3, 0.1, 0.05}, 1, p);
    Simulation s = world.simulate(1e-3);
    State state = s.state();
    state.q.segment<4>(3) = Quat(R).coeffs();
    s.set_state(state);
    run(s, 0.5);
    end[k] = position(s);
    CHECK(velocity(s).norm() < 1e-9);
  }
  CHECK((end[0] - end[1]).norm() < 1e-6);
}
