// A world of free bodies with one shape each, for the tests of collision.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>

#include "collision/collision.hpp"

namespace shapes_world {

using namespace tribo;

// Poses and sizes below are of order 1 m: 1e-12 allows for the rounding of some ten operations.
constexpr double rounding = 1e-12;

inline std::shared_ptr<const Hull> box_hull(const Vec3& h) {
  Hull hull;
  for (int k = 0; k < 8; ++k)
    hull.vertices.push_back(h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  hull.faces = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  hull.radius = h.norm();
  return std::make_shared<const Hull>(std::move(hull));
}

struct World {
  ModelBuilder builder;
  std::vector<BodyMotion> bodies;
  std::unique_ptr<Model> model;
  std::unique_ptr<Collision> collision;
  DetectionRange range;
  std::vector<ContactMemory> memory;

  int add(ShapeKind kind, const Vec3& size, const Placement& X, bool fixed = false) {
    const std::string name = std::to_string(builder.model().geometries.size());
    Geometry g;
    g.name = name;
    g.kind = kind;
    g.size = size;
    if (kind == ShapeKind::Convex) g.hull = box_hull(size);
    if (fixed) {
      g.X_BG = X;
    } else {
      builder.begin_member(name, false, "object");
      Body body;
      body.name = name;
      body.inertia.mass = 1;
      body.inertia.about_com.setIdentity();
      g.body = builder.add_body(body);
      BodyMotion motion;
      motion.X_WB = X;
      bodies.push_back(motion);
    }
    return builder.add_geometry(g);
  }
  std::span<const Contact> detect() {
    if (!model) {
      model = std::make_unique<Model>(builder.build());
      collision = std::make_unique<Collision>(*model);
    }
    collision->detect(bodies, range, memory);
    return collision->contacts();
  }
  void remember() {
    memory.clear();
    for (const Contact& c : collision->contacts()) {
      ContactMemory m;
      m.id = c.id;
      m.t1 = c.R_WC.col(0);
      memory.push_back(m);
    }
  }
};

inline Placement at(double x, double y, double z) { return {Mat3::Identity(), Vec3(x, y, z)}; }
inline Placement turned(const Vec3& p, const Vec3& axis, double angle) {
  return {Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(), p};
}
inline Placement floor_pose() { return {}; }

inline std::set<std::uint64_t> ids(std::span<const Contact> contacts) {
  std::set<std::uint64_t> out;
  for (const Contact& c : contacts) out.insert(c.id);
  return out;
}

/// What every list promises: sorted unique ids, right-handed frames, sides in order.
inline void check_list(std::span<const Contact> contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (i) CHECK(contacts[i - 1].id < c.id);
    CHECK((c.R_WC.transpose() * c.R_WC - Mat3::Identity()).cwiseAbs().maxCoeff() < rounding);
    CHECK(c.R_WC.determinant() > 0);
    CHECK((c.body_a < 0 || c.geometry_a < c.geometry_b));
    CHECK(c.body_b >= 0);
  }
}

inline void check_one(std::span<const Contact> contacts, double gap, const Vec3& n, const Vec3& p,
                      double tolerance = rounding) {
  REQUIRE(contacts.size() == 1);
  CHECK(contacts[0].gap == doctest::Approx(gap).epsilon(0).scale(1).epsilon(tolerance));
  CHECK((contacts[0].R_WC.col(2) - n).norm() < tolerance);
  CHECK((contacts[0].p_WC - p).norm() < tolerance);
  check_list(contacts);
}

inline Mat3 random_rotation(std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return Quat{normal(rng), normal(rng), normal(rng), normal(rng)}.normalized().toRotationMatrix();
}

}  // namespace shapes_world
