#include "collision/collision.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "collision/broadphase.hpp"
#include "collision/narrowphase.hpp"

using namespace tribo;

namespace {

// Poses and sizes below are of order 1 m: 1e-12 allows for the rounding of some ten operations.
constexpr double rounding = 1e-12;

std::shared_ptr<const Hull> box_hull(const Vec3& h) {
  Hull hull;
  for (int k = 0; k < 8; ++k)
    hull.vertices.push_back(h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  hull.faces = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  hull.radius = h.norm();
  return std::make_shared<const Hull>(std::move(hull));
}

/// A world of free bodies with one shape each.
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

Placement at(double x, double y, double z) { return {Mat3::Identity(), Vec3(x, y, z)}; }
Placement turned(const Vec3& p, const Vec3& axis, double angle) {
  return {Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(), p};
}
Placement floor_pose() { return {}; }

std::set<std::uint64_t> ids(std::span<const Contact> contacts) {
  std::set<std::uint64_t> out;
  for (const Contact& c : contacts) out.insert(c.id);
  return out;
}

/// What every list promises: sorted unique ids, right-handed frames, sides in order.
void check_list(std::span<const Contact> contacts) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (i) CHECK(contacts[i - 1].id < c.id);
    CHECK((c.R_WC.transpose() * c.R_WC - Mat3::Identity()).cwiseAbs().maxCoeff() < rounding);
    CHECK(c.R_WC.determinant() > 0);
    CHECK((c.body_a < 0 || c.geometry_a < c.geometry_b));
    CHECK(c.body_b >= 0);
  }
}

void check_one(std::span<const Contact> contacts, double gap, const Vec3& n, const Vec3& p,
               double tolerance = rounding) {
  REQUIRE(contacts.size() == 1);
  CHECK(contacts[0].gap == doctest::Approx(gap).epsilon(0).scale(1).epsilon(tolerance));
  CHECK((contacts[0].R_WC.col(2) - n).norm() < tolerance);
  CHECK((contacts[0].p_WC - p).norm() < tolerance);
  check_list(contacts);
}

Mat3 random_rotation(std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return Quat(normal(rng), normal(rng), normal(rng), normal(rng)).normalized().toRotationMatrix();
}

}  // namespace

TEST_CASE("collision: sphere, point, capsule and box on a half-space") {
  // Closed forms: gap = height of the lowest points; the contact point is half the gap below them.
  World w;
  w.range.margin = 0.05;
  w.add(ShapeKind::HalfSpace, Vec3::Zero(), floor_pose(), true);
  SUBCASE("sphere") {
    w.add(ShapeKind::Sphere, Vec3(0.5, 0, 0), at(1, 2, 0.49));
    check_one(w.detect(), -0.01, Vec3::UnitZ(), Vec3(1, 2, -0.005));
  }
  SUBCASE("point") {
    w.add(ShapeKind::Point, Vec3::Zero(), at(1, 2, 0.02));
    check_one(w.detect(), 0.02, Vec3::UnitZ(), Vec3(1, 2, 0.01));
  }
  SUBCASE("standing capsule lists its near end alone") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 0.3), at(0, 0, 0.41));
    check_one(w.detect(), 0.01, Vec3::UnitZ(), Vec3(0, 0, 0.005));
  }
  SUBCASE("lying capsule lists both ends") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 0.3), turned(Vec3(0, 0, 0.1), Vec3::UnitY(), M_PI / 2));
    const auto c = w.detect();
    REQUIRE(c.size() == 2);
    CHECK(std::abs(c[0].p_WC.x() + 0.3) < rounding);
    CHECK(std::abs(c[1].p_WC.x() - 0.3) < rounding);
  }
  SUBCASE("box") {
    w.add(ShapeKind::Box, Vec3(0.3, 0.2, 0.1), turned(Vec3(0, 0, 0.1), Vec3::UnitY(), 0.02));
    const auto c = w.detect();
    REQUIRE(c.size() == 4);
    for (const Contact& k : c) {
      // The lower corners of a box turned by angle about y: z = 0.1 - 0.1 cos - x sin, x = +-0.3.
      const double z = 0.1 - 0.1 * std::cos(0.02) + (k.p_WC.x() > 0 ? -0.3 : 0.3) * std::sin(0.02);
      CHECK(std::abs(k.gap - z) < rounding);
      CHECK(std::abs(std::abs(k.p_WC.y()) - 0.2) < rounding);
      CHECK(std::abs(k.p_WC.z() - 0.5 * z) < rounding);
    }
    check_list(c);
  }
  SUBCASE("box with a margin above its height lists all eight corners") {
    w.range.margin = 0.3;
    w.add(ShapeKind::Box, Vec3(0.3, 0.2, 0.1), at(0, 0, 0.1));
    CHECK(w.detect().size() == 8);
  }
  SUBCASE("hull as box: the same four corners with the same gaps") {
    w.add(ShapeKind::Convex, Vec3(0.3, 0.2, 0.1), at(0, 0, 0.101));
    const auto c = w.detect();
    REQUIRE(c.size() == 4);
    for (const Contact& k : c) CHECK(std::abs(k.gap - 0.001) < rounding);
  }
  SUBCASE("nothing near") {
    w.add(ShapeKind::Box, Vec3(0.3, 0.2, 0.1), at(0, 0, 0.2));
    CHECK(w.detect().empty());
  }
}

TEST_CASE("collision: a hull of many vertices keeps its deepest among at most eight spread ones") {
  // A prism of 64 sides, tilted about y: the deepest vertices lie at the largest x.
  Hull prism;
  std::vector<int> top, bottom;
  for (int k = 0; k < 64; ++k) {
    const double a = 2 * M_PI * k / 64;
    prism.vertices.emplace_back(std::cos(a), std::sin(a), -0.5);
    prism.vertices.emplace_back(std::cos(a), std::sin(a), 0.5);
    bottom.insert(bottom.begin(), 2 * k);
    top.push_back(2 * k + 1);
    const int next = 2 * ((k + 1) % 64);
    prism.faces.push_back({2 * k, next, next + 1, 2 * k + 1});
  }
  prism.faces.push_back(top);
  prism.faces.push_back(bottom);
  prism.radius = std::sqrt(1.25);
  World w;
  w.add(ShapeKind::HalfSpace, Vec3::Zero(), floor_pose(), true);
  const int g = w.add(ShapeKind::Sphere, Vec3::Ones(), turned(Vec3(0, 0, 0.5), Vec3::UnitY(), 1e-4));
  Model model = w.builder.build();
  model.geometries[static_cast<std::size_t>(g)].kind = ShapeKind::Convex;
  model.geometries[static_cast<std::size_t>(g)].hull = std::make_shared<const Hull>(prism);
  model.geometries[static_cast<std::size_t>(g)].radius = prism.radius;
  Collision collision(model);
  collision.detect(w.bodies, {.margin = 1e-3, .dt = 0}, {});
  const auto c = collision.contacts();
  REQUIRE(c.size() == 8);
  double least = 1, most_x = -1, least_x = 1;
  for (const Contact& k : c) {
    least = std::min(least, k.gap);
    most_x = std::max(most_x, k.p_WC.x());
    least_x = std::min(least_x, k.p_WC.x());
  }
  CHECK(std::abs(least - (0.5 - 0.5 * std::cos(1e-4) - std::sin(1e-4))) < rounding);
  CHECK(most_x > 0.99);
  CHECK(least_x < -0.9);  // spread: an edge of the octagon, at worst half a sector off
}

TEST_CASE("collision: round shapes in closed form") {
  World w;
  w.range.margin = 0.2;
  const Vec3 r(0.5, 0, 0);
  SUBCASE("sphere, sphere") {
    w.add(ShapeKind::Sphere, r, at(0, 0, 0));
    w.add(ShapeKind::Sphere, r, at(0.6, 0.8, 0));
    check_one(w.detect(), 0.0, Vec3(0.6, 0.8, 0), Vec3(0.3, 0.4, 0));
  }
  SUBCASE("point in a sphere") {
    w.add(ShapeKind::Sphere, r, at(0, 0, 0));
    w.add(ShapeKind::Point, r, at(0, 0, 0.4));
    check_one(w.detect(), -0.1, Vec3::UnitZ(), Vec3(0, 0, 0.45));
  }
  SUBCASE("two points never meet") {
    w.add(ShapeKind::Point, r, at(0, 0, 0));
    w.add(ShapeKind::Point, r, at(0, 0, 0.01));
    CHECK(w.detect().empty());
  }
  SUBCASE("sphere on the face of a box") {
    w.add(ShapeKind::Box, Vec3(1, 1, 1), at(0, 0, 0));
    w.add(ShapeKind::Sphere, r, at(0.2, 0.3, 1.45));
    check_one(w.detect(), -0.05, Vec3::UnitZ(), Vec3(0.2, 0.3, 0.975));
  }
  SUBCASE("sphere at the corner of a box") {
    const Vec3 n = Vec3(1, 1, 1).normalized();
    w.add(ShapeKind::Box, Vec3(1, 1, 1), at(0, 0, 0));
    const Vec3 c = Vec3(1, 1, 1) + 0.6 * n;
    w.add(ShapeKind::Sphere, r, at(c.x(), c.y(), c.z()));
    check_one(w.detect(), 0.1, n, Vec3(1, 1, 1) + 0.05 * n);
  }
  SUBCASE("sphere with its centre inside a box leaves by the nearest face") {
    w.add(ShapeKind::Sphere, r, at(0, 0.7, 0));
    w.add(ShapeKind::Box, Vec3(1, 1, 1), at(0, 0, 0));
    check_one(w.detect(), -0.8, -Vec3::UnitY(), Vec3(0, 0.6, 0));
  }
  SUBCASE("sphere beside a capsule, and beyond its end") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 1), at(0, 0, 0));
    w.add(ShapeKind::Sphere, r, at(0.65, 0, 0.5));
    check_one(w.detect(), 0.05, Vec3::UnitX(), Vec3(0.125, 0, 0.5));
    w.bodies[1].X_WB = at(0, 0, 1.55);
    check_one(w.detect(), -0.05, Vec3::UnitZ(), Vec3(0, 0, 1.075));
  }
  SUBCASE("crossed capsules") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 1), at(0, 0, 0));
    w.add(ShapeKind::Capsule, Vec3(0.2, 0, 1), turned(Vec3(0.35, 0, 0.5), Vec3::UnitX(), M_PI / 2));
    check_one(w.detect(), 0.05, Vec3::UnitX(), Vec3(0.125, 0, 0.5));
  }
  SUBCASE("parallel capsules touch at both ends of the common stretch") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 1), at(0, 0, 0));
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 1), at(0.15, 0, 0.5));
    const auto c = w.detect();
    REQUIRE(c.size() == 2);
    CHECK((c[0].p_WC - Vec3(0.075, 0, -0.5)).norm() < rounding);
    CHECK((c[1].p_WC - Vec3(0.075, 0, 1)).norm() < rounding);
    for (const Contact& k : c) CHECK(std::abs(k.gap + 0.05) < rounding);
  }
}

TEST_CASE("collision: box on box") {
  World w;
  w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0));
  w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0.9995));
  SUBCASE("aligned: the four corners") {
    const auto c = w.detect();
    REQUIRE(c.size() == 4);
    for (const Contact& k : c) {
      CHECK(std::abs(k.gap + 0.0005) < rounding);
      CHECK(std::abs(std::abs(k.p_WC.x()) - 0.5) < rounding);
      CHECK(std::abs(std::abs(k.p_WC.y()) - 0.5) < rounding);
      CHECK((k.R_WC.col(2) - Vec3::UnitZ()).norm() < rounding);
    }
    check_list(c);
  }
  SUBCASE("turned by 45 degrees: a regular octagon") {
    w.bodies[1].X_WB = turned(Vec3(0, 0, 1.0005), Vec3::UnitZ(), M_PI / 4);
    const auto c = w.detect();
    REQUIRE(c.size() == 8);
    // Two unit squares at 45 degrees cut each other at (0.5, 0.5 tan(pi / 8)) and its images.
    const double radius = 0.5 / std::cos(M_PI / 8);
    for (const Contact& k : c) {
      CHECK(std::abs(k.p_WC.head<2>().norm() - radius) < rounding);
      CHECK(std::abs(k.gap - 0.0005) < rounding);
    }
    check_list(c);
  }
  SUBCASE("shifted: half of each corner comes from either box") {
    w.bodies[1].X_WB.p = Vec3(0.3, 0.2, 1);
    const auto c = w.detect();
    REQUIRE(c.size() == 4);
    Vec3 lo = Vec3::Ones(), hi = -lo;
    for (const Contact& k : c) lo = lo.cwiseMin(k.p_WC), hi = hi.cwiseMax(k.p_WC);
    CHECK((lo - Vec3(-0.2, -0.3, 0.5)).norm() < rounding);
    CHECK((hi - Vec3(0.5, 0.5, 0.5)).norm() < rounding);
  }
  SUBCASE("crossed edges: one point") {
    // Each stands on an edge; the edges cross at right angles, sqrt(1/2) from either centre.
    w.bodies[0].X_WB = turned(Vec3::Zero(), Vec3::UnitX(), M_PI / 4);
    w.bodies[1].X_WB = turned(Vec3(0.1, 0.05, std::sqrt(2.0) - 0.001), Vec3::UnitY(), M_PI / 4);
    check_one(w.detect(), -0.001, Vec3::UnitZ(), Vec3(0.1, 0, std::sqrt(0.5) - 0.0005));
  }
  SUBCASE("corner beside a corner: the true distance, along the line between them") {
    w.range.margin = 0.05;
    w.bodies[1].X_WB.p = Vec3(1.01, 1.02, 1.02);
    check_one(w.detect(), 0.03, Vec3(1, 2, 2) / 3, Vec3(0.505, 0.51, 0.51));
  }
}

TEST_CASE("collision: ids survive sliding and small turns, and tangents are carried") {
  World w;
  w.add(ShapeKind::HalfSpace, Vec3::Zero(), floor_pose(), true);
  w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0.5));
  w.add(ShapeKind::Box, Vec3(0.3, 0.3, 0.3), at(0, 0, 1.3));
  const auto first = ids(w.detect());
  CHECK(first.size() == 8);
  w.remember();
  for (int step = 0; step < 80; ++step) {
    // As far as the corners stay over the lower box: sliding and turning about the vertical, with a tilt of the size
    // that rounding and solver noise make.
    const double s = 1e-3 * step;
    w.bodies[0].X_WB = turned(Vec3(s, 0.5 * s, 0.5), Vec3(1e-6, std::sin(step) * 1e-6, s), std::max(s, 1e-6));
    w.bodies[1].X_WB = turned(Vec3(s, -s, 1.3), Vec3(std::cos(step) * 1e-6, 1e-6, -s), std::max(s, 1e-6));
    const auto c = w.detect();
    CHECK(ids(c) == first);
    check_list(c);
    w.remember();
  }
}

TEST_CASE("collision: a tangent is bit-equal while its normal is, and turns with it otherwise") {
  World w;
  w.add(ShapeKind::HalfSpace, Vec3::Zero(), turned(Vec3::Zero(), Vec3(1, 2, 3), 0.4), true);
  w.add(ShapeKind::Sphere, Vec3(0.5, 0, 0), at(0, 0, 0.5));
  w.detect();
  const Vec3 n = w.collision->contacts()[0].R_WC.col(2);
  // A tangent that nothing but the memory can give.
  ContactMemory m;
  m.id = w.collision->contacts()[0].id;
  m.t1 = n.cross(Vec3(0.3, -0.7, 0.2)).normalized();
  w.memory = {m};
  w.detect();
  const Vec3 t1 = w.collision->contacts()[0].R_WC.col(0);
  CHECK((t1 - m.t1).norm() < 1e-15);
  w.memory[0].t1 = t1;
  w.bodies[0].X_WB.p += Vec3(0.01, 0.02, 0);
  w.detect();
  CHECK(w.collision->contacts()[0].R_WC.col(0) == t1);
  // A normal turned by an angle about t1 itself leaves t1 alone; about another axis, t1 turns no more than the normal.
  World v;
  v.add(ShapeKind::Sphere, Vec3(0.5, 0, 0), at(0, 0, 0));
  v.add(ShapeKind::Sphere, Vec3(0.5, 0, 0), at(0, 0, 1));
  v.detect();
  v.remember();
  const Vec3 before = v.memory[0].t1;
  v.bodies[1].X_WB.p = Vec3(std::sin(0.1), 0, std::cos(0.1));
  v.detect();
  CHECK(std::abs(std::acos(before.dot(v.collision->contacts()[0].R_WC.col(0))) - 0.1) < 1e-9);
  check_list(v.collision->contacts());
}

TEST_CASE("collision: random boxes against GJK and EPA") {
  // The gap of the list, its smallest, must be the signed distance: exact to the tolerance of GJK (1e-6 m) where the
  // nearest features are found as such; where a face is preferred to an axis that is better by less than 5 % and 1e-3
  // of the smallest half extent, twice over (face over face, then face over edge), it may be off by that much.
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> u(0, 1);
  Scratch scratch;
  int overlapping = 0, apart = 0, faces = 0;
  for (int k = 0; k < 4000; ++k) {
    Geometry g;
    g.kind = ShapeKind::Box;
    auto size = [&] { return Vec3(0.1 + 0.4 * u(rng), 0.1 + 0.4 * u(rng), 0.1 + 0.4 * u(rng)); };
    g.size = size();
    g.radius = g.size.norm();
    const Solid a(g);
    g.size = size();
    g.radius = g.size.norm();
    const Solid b(g);
    const Vec3 offset = Vec3(2 * u(rng) - 1, 2 * u(rng) - 1, 2 * u(rng) - 1) * (k % 2 ? 1.0 : 0.5);
    const PlacedSolid at_a{&a, {random_rotation(rng), Vec3(1, 2, 3)}, Vec3::Zero(), Vec3::Zero()};
    PlacedSolid at_b{&b, {random_rotation(rng), Vec3(1, 2, 3) + offset}, Vec3::Zero(), Vec3::Zero()};
    const Query query{at_a, at_b, 0.3, 0, 0.3, &scratch};
    Touches touches;
    touch_box_box(query, touches);
    const Separation truth = separation(query);
    const double smallest = std::min(a.size.minCoeff(), b.size.minCoeff());
    const double allowed = 0.11 * std::abs(truth.gap) + 2.2e-3 * smallest + 2e-6;
    if (truth.gap > 0.3) {
      CHECK(touches.count == 0);
      continue;
    }
    if (truth.gap > 0.3 - allowed && touches.count == 0) continue;
    REQUIRE(touches.count > 0);
    (truth.gap < 0 ? overlapping : apart)++;
    faces += touches.count > 1;
    const Touch* deepest = &touches.items[0];
    for (int i = 1; i < touches.count; ++i)
      if (touches.items[static_cast<std::size_t>(i)].gap < deepest->gap)
        deepest = &touches.items[static_cast<std::size_t>(i)];
    CHECK(std::abs(deepest->gap - truth.gap) < allowed);
    // The normal separates: moved apart along it by the overlap, the boxes no longer overlap.
    at_b.X.p += (allowed + std::max(0.0, -deepest->gap)) * deepest->n;
    CHECK(separation(query).gap > -1e-6);
  }
  CHECK(overlapping > 1000);
  CHECK(apart > 200);
  CHECK(faces > 500);
}

TEST_CASE("collision: hulls shaped as boxes give what boxes give") {
  // Same solids, other code: the deepest gap agrees within the preferences of both (see above).
  std::mt19937 rng(11);
  std::uniform_real_distribution<double> u(0, 1);
  Scratch scratch;
  int seen = 0;
  for (int k = 0; k < 1000; ++k) {
    Geometry g;
    auto size = [&] { return Vec3(0.1 + 0.4 * u(rng), 0.1 + 0.4 * u(rng), 0.1 + 0.4 * u(rng)); };
    auto solid = [&](ShapeKind kind) {
      g.kind = kind;
      g.hull = box_hull(g.size);
      g.radius = g.size.norm();
      return Solid(g);
    };
    g.size = size();
    const Solid box_a = solid(ShapeKind::Box), hull_a = solid(ShapeKind::Convex);
    g.size = size();
    const Solid box_b = solid(ShapeKind::Box), hull_b = solid(ShapeKind::Convex);
    PlacedSolid at_a{&box_a, {random_rotation(rng), Vec3::Zero()}, Vec3::Zero(), Vec3::Zero()};
    PlacedSolid at_b{&box_b, {random_rotation(rng), Vec3(u(rng), u(rng), u(rng))}, Vec3::Zero(), Vec3::Zero()};
    const Query query{at_a, at_b, 0.05, 0, 0.05, &scratch};
    auto deepest = [&](const Solid& a, const Solid& b) {
      at_a.solid = &a;
      at_b.solid = &b;
      Touches touches;
      touch(query, touches);
      double least = HUGE_VAL;
      for (int i = 0; i < touches.count; ++i) least = std::min(least, touches.items[static_cast<std::size_t>(i)].gap);
      return least;
    };
    const double expected = deepest(box_a, box_b);
    if (!(expected < 0.03)) continue;
    ++seen;
    const double allowed = 0.22 * std::abs(expected) + 2e-3 * 0.5 * 2;
    CHECK(std::abs(deepest(hull_a, hull_b) - expected) < allowed);
    CHECK(std::abs(deepest(box_a, hull_b) - expected) < allowed);
    CHECK(std::abs(deepest(hull_a, box_b) - expected) < allowed);
  }
  CHECK(seen > 200);
}

TEST_CASE("collision: hulls, capsules and spheres on flat faces") {
  World w;
  w.range.margin = 0.01;
  SUBCASE("hull on hull, aligned: four corners, exact") {
    w.add(ShapeKind::Convex, Vec3(0.5, 0.5, 0.5), at(0, 0, 0));
    w.add(ShapeKind::Convex, Vec3(0.3, 0.3, 0.3), at(0, 0, 0.799));
    const auto c = w.detect();
    REQUIRE(c.size() == 4);
    for (const Contact& k : c) CHECK(std::abs(k.gap + 0.001) < rounding);
    const auto first = ids(c);
    for (int step = 0; step < 50; ++step) {
      w.bodies[1].X_WB =
          turned(Vec3(1e-3 * step, 0, 0.7995 + 1e-4 * std::sin(step)), Vec3(0, 1e-6, 1), 1e-3 * (step + 1));
      CHECK(ids(w.detect()) == first);
    }
  }
  SUBCASE("hull on box, turned: eight") {
    w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0));
    w.add(ShapeKind::Convex, Vec3(0.5, 0.5, 0.5), turned(Vec3(0, 0, 1.005), Vec3::UnitZ(), M_PI / 4));
    const auto c = w.detect();
    REQUIRE(c.size() == 8);
    for (const Contact& k : c) CHECK(std::abs(k.gap - 0.005) < rounding);
    check_list(c);
  }
  SUBCASE("lying capsule on a box: the ends of what lies over it") {
    w.add(ShapeKind::Capsule, Vec3(0.1, 0, 0.4), turned(Vec3(0.3, 0, 0.599), Vec3::UnitY(), M_PI / 2));
    w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0), true);
    const auto c = w.detect();
    REQUIRE(c.size() == 2);
    CHECK((c[0].p_WC - Vec3(-0.1, 0, 0.4995)).norm() < rounding);
    CHECK((c[1].p_WC - Vec3(0.5, 0, 0.4995)).norm() < 1e-9);
    for (const Contact& k : c) {
      CHECK(std::abs(k.gap + 0.001) < rounding);
      CHECK(k.body_a == -1);
      CHECK((k.R_WC.col(2) - Vec3::UnitZ()).norm() < rounding);
    }
  }
  SUBCASE("sphere on the face, at the edge and inside a hull") {
    w.add(ShapeKind::Convex, Vec3(0.5, 0.5, 0.5), at(0, 0, 0));
    w.add(ShapeKind::Sphere, Vec3(0.1, 0, 0), at(0.2, 0.1, 0.599));
    check_one(w.detect(), -0.001, Vec3::UnitZ(), Vec3(0.2, 0.1, 0.4995));
    const double s = std::sqrt(0.5);
    w.bodies[1].X_WB = at(0.5 + 0.105 * s, 0, 0.5 + 0.105 * s);
    check_one(w.detect(), 0.005, Vec3(s, 0, s), Vec3(0.5 + 0.0025 * s, 0, 0.5 + 0.0025 * s), 1e-5);  // by GJK
    w.bodies[1].X_WB = at(0, 0.4, 0);
    check_one(w.detect(), -0.2, Vec3::UnitY(), Vec3(0, 0.4, 0));
  }
}

TEST_CASE("collision: what closes within the step is listed, what leaves is not") {
  World w;
  w.range = {.margin = 1e-3, .dt = 1e-2};
  w.add(ShapeKind::HalfSpace, Vec3::Zero(), floor_pose(), true);
  w.add(ShapeKind::Sphere, Vec3(0.1, 0, 0), at(0, 0, 0.3));
  w.add(ShapeKind::Box, Vec3(0.1, 0.1, 0.1), at(5, 0, 1));
  w.add(ShapeKind::Box, Vec3(0.1, 0.1, 0.1), at(5, 0, 1.4));
  CHECK(w.detect().empty());
  // The sphere is 0.2 m up: 21 m/s reach the floor in 0.01 s, 19 m/s do not. The boxes are 0.2 m apart.
  w.bodies[0].v = Vec3(3, 0, -21);
  w.bodies[1].v = Vec3(0, 0, 10.5);
  w.bodies[2].v = Vec3(0, 0, -10.5);
  CHECK(w.detect().size() == 5);
  w.bodies[0].v = Vec3(3, 0, -19);
  w.bodies[2].v = Vec3(0, 0, -9);
  CHECK(w.detect().empty());
  w.bodies[0].v = Vec3(0, 0, 21);
  CHECK(w.detect().empty());
  // Turning closes a gap as well: the end of a box 0.1 m long at 2.2 rad/ms falls 0.22 mm a step of 0.1 ms ...
  w.range = {.margin = 1e-5, .dt = 1e-2};
  w.bodies[1] = {};
  w.bodies[1].X_WB = at(5, 0, 0.2);
  w.bodies[1].w = Vec3(0, 110, 0);  // ... here 0.1 m x 110 rad/s x 0.01 s = 0.11 m for corners that are 0.1 m up
  CHECK(w.detect().size() == 2);
}

TEST_CASE("collision: the sweep finds the pairs that trying all of them finds") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> u(0, 1);
  for (int scene = 0; scene < 20; ++scene) {
    World all;
    all.range = {.margin = 0.02, .dt = 1e-2};
    const ShapeKind kinds[] = {ShapeKind::Box, ShapeKind::Sphere, ShapeKind::Capsule, ShapeKind::Convex,
                               ShapeKind::Point};
    for (int i = 0; i < 40; ++i) {
      const Vec3 size(0.05 + 0.2 * u(rng), 0.05 + 0.2 * u(rng), 0.05 + 0.2 * u(rng));
      all.add(kinds[i % 5], size, {random_rotation(rng), 1.2 * Vec3(u(rng), u(rng), u(rng))}, i % 7 == 6);
    }
    for (BodyMotion& b : all.bodies) {
      b.v = 10 * Vec3(u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5);
      b.w = 10 * Vec3(u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5);
    }
    const auto found = ids(all.detect());
    check_list(all.detect());
    // Each pair alone in a model of two, where the filter of the whole model allows it.
    std::size_t expected = 0;
    Scratch scratch;
    std::vector<Solid> solids;
    std::vector<PlacedSolid> placed;
    for (const Geometry& g : all.model->geometries) solids.emplace_back(g);
    for (std::size_t i = 0; i < solids.size(); ++i) {
      const Geometry& g = all.model->geometries[i];
      const BodyMotion fixed;
      const BodyMotion& b = g.body < 0 ? fixed : all.bodies[static_cast<std::size_t>(g.body)];
      placed.push_back({&solids[i], b.X_WB * g.X_BG, b.v, b.w});
    }
    for (std::size_t i = 0; i < solids.size(); ++i)
      for (std::size_t j = i + 1; j < solids.size(); ++j) {
        if (!all.model->may_collide(static_cast<int>(i), static_cast<int>(j))) continue;
        const bool swap = all.model->geometries[j].body < 0;
        Query query{placed[swap ? j : i], placed[swap ? i : j], all.range.margin, all.range.dt, 0, &scratch};
        query.reach = std::max(query.margin,
                               query.dt * ((query.b.v - query.a.v).norm() + query.a.w.norm() * query.a.solid->radius +
                                           query.b.w.norm() * query.b.solid->radius));
        Touches touches;
        touch(query, touches);
        expected += static_cast<std::size_t>(touches.count);
      }
    CHECK(found.size() == expected);
    CHECK(expected > 20);
  }
}

TEST_CASE("collision: grid and sweep agree with trying all pairs of boxes") {
  std::mt19937 rng(13);
  std::uniform_real_distribution<double> u(0, 1);
  for (int scene = 0; scene < 20; ++scene) {
    Broadphase broadphase;
    const double spread = scene % 2 ? 3 : 50;  // dense, and with many empty cells
    for (int i = 0; i < 300; ++i) {
      const Vec3 c = spread * Vec3(u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5);
      const double big = i % 100 == 7 ? 10 : 1;
      const Vec3 h = big * Vec3(0.1 + 0.2 * u(rng), 0.1 + 0.2 * u(rng), 0.1 + 0.2 * u(rng));
      broadphase.boxes.push_back({c - h, c + h, i, i % 5 == 0});
    }
    std::vector<std::pair<int, int>> expected, swept, gridded;
    for (const Bounds& a : broadphase.boxes)
      for (const Bounds& b : broadphase.boxes)
        if (a.index < b.index && !(a.fixed && b.fixed) && (a.lo.array() <= b.hi.array()).all() &&
            (b.lo.array() <= a.hi.array()).all())
          expected.emplace_back(a.index, b.index);
    broadphase.sweep(swept);
    REQUIRE(broadphase.grid(gridded));
    for (auto* pairs : {&swept, &gridded}) {
      for (auto& p : *pairs)
        if (p.first > p.second) std::swap(p.first, p.second);
      std::sort(pairs->begin(), pairs->end());
      CHECK(*pairs == expected);
    }
  }
}

TEST_CASE("collision: the list depends on poses and memory alone") {
  // The same poses after others: bit-equal, whatever the solver saw in between.
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> u(0, 1);
  World w;
  const ShapeKind kinds[] = {ShapeKind::Convex, ShapeKind::Capsule, ShapeKind::Box};
  for (int i = 0; i < 30; ++i)
    w.add(kinds[i % 3], Vec3(0.1, 0.1, 0.2), {random_rotation(rng), 0.8 * Vec3(u(rng), u(rng), u(rng))});
  const auto start = w.bodies;
  const auto c = w.detect();
  const std::vector<Contact> before(c.begin(), c.end());
  REQUIRE(before.size() > 20);
  for (BodyMotion& b : w.bodies) b.X_WB = {random_rotation(rng), 0.8 * Vec3(u(rng), u(rng), u(rng))};
  w.detect();
  w.bodies = start;
  const auto after = w.detect();
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].id == before[i].id);
    CHECK(after[i].gap == before[i].gap);
    CHECK(after[i].p_WC == before[i].p_WC);
    CHECK(after[i].R_WC == before[i].R_WC);
  }
}

TEST_CASE("collision: sides and indices") {
  // A fixed box of larger index is side a all the same.
  World w;
  w.add(ShapeKind::Box, Vec3(0.1, 0.1, 0.1), at(0, 0, 0.6));
  const int table = w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), at(0, 0, 0), true);
  const auto c = w.detect();
  REQUIRE(c.size() == 4);
  for (const Contact& k : c) {
    CHECK(k.geometry_a == table);
    CHECK(k.body_a == -1);
    CHECK(k.body_b == 0);
    CHECK((k.R_WC.col(2) - Vec3::UnitZ()).norm() < rounding);
  }
}
