// Hulls of many corners: trees find what a look at each corner and face finds, and what was found is found again.
#include "collision/narrowphase.hpp"
#include "collision/touching_features.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

namespace {

std::shared_ptr<const Hull> ball_hull(std::mt19937& rng, int corners) {
  std::normal_distribution<double> normal;
  std::vector<Vec3> points;
  for (int k = 0; k < corners; ++k) {
    const double x = normal(rng), y = normal(rng), z = normal(rng);
    points.push_back(0.1 * Vec3(x, y, 0.6 * z).normalized());
  }
  return make_hull(points, "ball");
}

// Two flat ends of many corners each: most directions along the axes have ties.
std::shared_ptr<const Hull> prism_hull(int sides) {
  std::vector<Vec3> points;
  for (int end = 0; end < 2; ++end)
    for (int k = 0; k < sides; ++k) {
      const double angle = 2 * M_PI * k / sides;
      points.emplace_back(0.1 * std::cos(angle), 0.1 * std::sin(angle), end ? 0.07 : -0.07);
    }
  return make_hull(points, "prism");
}

Geometry geometry_of(std::shared_ptr<const Hull> hull) {
  Geometry g;
  g.kind = ShapeKind::Convex;
  g.radius = hull->radius;
  g.hull = std::move(hull);
  return g;
}

// Every third direction along an axis of the solid.
Vec3 some_direction(std::mt19937& rng, int k) {
  if (k % 3 == 0) return (k % 2 ? 1 : -1) * Vec3::Unit(k / 3 % 3);
  return random_rotation(rng).col(0);
}

Solid without_tree(const Geometry& g) {
  Solid solid(g);
  REQUIRE(solid.polytope->tree.size() == 1);
  solid.polytope->tree.clear();
  return solid;
}

bool same(const Touches& a, const Touches& b) {
  if (a.count != b.count) return false;
  for (int i = 0; i < a.count; ++i) {
    const Touch &x = a.items[tribo::at(i)], &y = b.items[tribo::at(i)];
    if (x.p != y.p || x.n != y.n || x.gap != y.gap || x.feature != y.feature) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("many corners: trees find what a look at each finds") {
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> sym(-1, 1);
  for (int shape = 0; shape < 8; ++shape) {
    const Geometry g = geometry_of(shape % 2 ? prism_hull(20 + 12 * shape) : ball_hull(rng, 40 + 40 * shape));
    const Solid solid(g), plain = without_tree(g);
    const Polytope &tree = *solid.polytope, &each = *plain.polytope;
    std::vector<int> found, expected;
    for (int k = 0; k < 300; ++k) {
      const Vec3 n = some_direction(rng, k);
      int corner = -1, other = -1;
      CHECK(tree.highest(n, &corner) == each.highest(n, &other));
      CHECK(corner == other);
      CHECK(tree.face_along(n) == each.face_along(n));
      const Vec3& top = each.vertices[tribo::at(each.climb.highest(n).corner)];
      CHECK(each.highest(n) - n.dot(top) <= 1e-16);  // heights of 0.1: their rounding
      const double a = sym(rng), b = sym(rng), c = sym(rng), d = sym(rng);
      const Vec3 x = 0.12 * Vec3(a, b, c);
      double height = 0, same_height = 0;
      CHECK(tree.outermost_face(x, height) == each.outermost_face(x, same_height));
      CHECK(height == same_height);
      const Vec3 on = each.vertices[tribo::at(corner)];
      const double near = k % 2 ? 1e-5 : 0.02;
      tree.faces_through(on, near, n, k % 5 ? 0.8 : -2, found);
      each.faces_through(on, near, n, k % 5 ? 0.8 : -2, expected);
      CHECK(found == expected);
      tree.corners_below(n, 0.1 * d, found);
      each.corners_below(n, 0.1 * d, expected);
      CHECK(found == expected);
      Vec3 out, same_out;
      CHECK(depth_of(solid, x, out) == depth_of(plain, x, same_out));
      CHECK(out == same_out);
      const double slack = 0.01 * std::abs(a);
      CHECK(holds_within(solid, x, slack) == (depth_of(plain, x, out) <= slack));
      const Placement X{random_rotation(rng), x};
      CHECK(facing_face({&solid, X, Vec3::Zero(), Vec3::Zero()}, X.R * n) ==
            facing_face({&plain, X, Vec3::Zero(), Vec3::Zero()}, X.R * n));
    }
  }
}

TEST_CASE("many corners: pairs touch as they do without trees") {
  std::mt19937 rng(6);
  Scratch scratch;
  int touching = 0, flush = 0;
  for (int pair = 0; pair < 400; ++pair) {
    const Geometry g = geometry_of(pair % 2 ? prism_hull(24 + pair % 40) : ball_hull(rng, 80));
    const Geometry h = geometry_of(pair % 3 ? prism_hull(30) : ball_hull(rng, 120));
    const Solid a(g), b(h), plain_a = without_tree(g), plain_b = without_tree(h);
    const Mat3 R = random_rotation(rng);
    const bool stands = pair % 2 && pair % 3;  // one prism on the other
    const Vec3 way = stands ? Vec3(R.col(2)) : Vec3(random_rotation(rng).col(0));
    const double apart = stands ? 0.14 : 0.15 + 0.0001 * pair;
    const Placement X_a{R, Vec3(0.3, 0.2, 0.1)};
    const Placement X_b{stands ? Mat3(R * turned(Vec3::Zero(), Vec3::UnitZ(), 0.01 * pair).R) : random_rotation(rng),
                        X_a.p + apart * way};
    const auto found = [&](const Solid& one, const Solid& other) {
      const PlacedSolid at_a{&one, X_a, Vec3::Zero(), Vec3::Zero()}, at_b{&other, X_b, Vec3::Zero(), Vec3::Zero()};
      Touches touches;
      touch({at_a, at_b, 0.002, 0, 0.002, &scratch}, touches);
      return touches;
    };
    const Touches touches = found(a, b);
    CHECK(same(touches, found(plain_a, plain_b)));
    touching += touches.count > 0;
    flush += touches.count > 4;
  }
  CHECK(touching > 150);
  CHECK(flush > 100);
}

TEST_CASE("many corners: a second look at the same poses finds what a first look there finds") {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> sym(-1, 1);
  int more = 0, touching = 0;
  for (int k = 0; k < 300; ++k) {
    World w;
    w.add(ShapeKind::Box, Vec3(0.05, 0.06, 0.07), {});
    w.add(ShapeKind::Cylinder, Vec3(0.05, 0, 0.06), {});
    w.add(ShapeKind::Convex, Vec3(0.07, 0.05, 0.06), {});
    w.add(ShapeKind::Convex, Vec3(0.04, 0.06, 0.05), {});
    w.range = {0.001, 0.01};
    const auto random = [&] {
      const double a = sym(rng), b = sym(rng), c = sym(rng);
      return Vec3(a, b, c);
    };
    for (BodyMotion& b : w.bodies) {
      b.X_WB = {random_rotation(rng), 0.09 * random()};
      b.v = 0.2 * random();
      b.w = 0.5 * random();
    }
    w.detect();
    Collision fresh(*w.model);
    std::vector<BodyMotion> elsewhere = w.bodies, next = w.bodies;
    for (BodyMotion& b : elsewhere) b.X_WB.p += Vec3(1, 1, 1);
    for (BodyMotion& b : next) b.v = 4 * random(), b.w = 5 * random();
    fresh.detect(elsewhere, w.range, {});
    const auto list = w.collision->contacts();
    touching += !list.empty();
    fresh.resume(list);
    const bool again = w.collision->detect_more(next, w.range, {});
    CHECK(fresh.detect_more(next, w.range, {}) == again);
    more += again;
    const auto a = w.collision->contacts(), b = fresh.contacts();
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].id == b[i].id);
      CHECK(a[i].p_WC == b[i].p_WC);
      CHECK(a[i].R_WC == b[i].R_WC);
      CHECK(a[i].gap == b[i].gap);
    }
  }
  CHECK(more > 30);
  CHECK(touching > 100);
}
