// The contact list: points, gaps, frames, ids and tangents.
#include <algorithm>

#include "collision/hinges.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

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

TEST_CASE("collision: the list depends on poses and memory alone") {
  // The same poses after others: bit-equal, whatever the solver saw in between.
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> u(0, 1);
  World w;
  const ShapeKind kinds[] = {ShapeKind::Convex, ShapeKind::Capsule, ShapeKind::Box};
  for (int i = 0; i < 30; ++i)
    w.add(kinds[i % 3], Vec3(0.1, 0.1, 0.2), {random_rotation(rng), 0.8 * Vec3{u(rng), u(rng), u(rng)}});
  const auto start = w.bodies;
  const auto c = w.detect();
  const std::vector<Contact> before(c.begin(), c.end());
  REQUIRE(before.size() > 20);
  for (BodyMotion& b : w.bodies) b.X_WB = {random_rotation(rng), 0.8 * Vec3{u(rng), u(rng), u(rng)}};
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

// What a hinge decides about two shapes, beside the same two placed freely at many of its angles.
namespace hinge_pairs {

struct Hinged {
  Placement X_PJ, X_upper, X_lower;
  Vec3 axis, upper_size, lower_size;
  ShapeKind upper, lower;
};

inline Geometry shape_of(ShapeKind kind, const Vec3& size, const Placement& X, int body, const char* name) {
  Geometry g;
  g.name = name;
  g.kind = kind;
  g.size = size;
  if (kind == ShapeKind::Convex) g.hull = box_hull(size);
  g.X_BG = X;
  g.body = body;
  return g;
}

// The upper shape is fixed to the world. links: with turns about other axes between the two, through points that far apart.
inline Model hinged(const Hinged& x, int links = 1, bool pair = false, double apart = 0) {
  ModelBuilder builder;
  builder.begin_member("arm", true, "test", true);
  int parent = -1;
  for (int k = 0; k < links; ++k) {
    Body body;
    body.name = "link" + std::to_string(k);
    body.parent = parent;
    body.joint = JointKind::Revolute;
    body.axis = k == 0 ? x.axis : Vec3::Unit(k % 3);
    body.X_PJ = k == 0 ? x.X_PJ : at(apart, 0, 0);
    body.inertia.mass = 1;
    body.inertia.about_com.setIdentity();
    parent = builder.add_body(body);
  }
  const int a = builder.add_geometry(shape_of(x.upper, x.upper_size, x.X_upper, -1, "upper"));
  const int b = builder.add_geometry(shape_of(x.lower, x.lower_size, x.X_lower, parent, "lower"));
  if (pair) builder.add_pair({a, b, {}});
  return builder.build();
}

inline AcrossHinge verdict(const Model& model) {
  std::vector<Solid> solids;
  for (const Geometry& g : model.geometries) solids.emplace_back(g);
  CHECK(across_hinge(model, solids, 0, 1) == across_hinge(model, solids, 1, 0));
  return across_hinge(model, solids, 0, 1);
}

// The least gap of the two, each on its own, with the lower one turned; infinite where they are apart.
inline double gap_at(const Hinged& x, double angle) {
  World w;
  w.range = {1e-6, 0};
  w.add(x.upper, x.upper_size, x.X_upper, true);
  const Placement turned{Eigen::AngleAxisd(angle, x.axis).toRotationMatrix(), Vec3::Zero()};
  w.add(x.lower, x.lower_size, x.X_PJ * turned * x.X_lower);
  double least = HUGE_VAL;
  for (const Contact& c : w.detect()) least = std::min(least, c.gap);
  return least;
}

}  // namespace hinge_pairs

using namespace hinge_pairs;

TEST_CASE("hinges: two shapes that are said to be parted never overlap, and joined ones always do") {
  std::mt19937 rng(11);
  std::uniform_real_distribution<double> u(-1, 1), size(0.05, 0.15);
  const ShapeKind kinds[] = {ShapeKind::Box,     ShapeKind::Convex,   ShapeKind::Sphere,
                             ShapeKind::Capsule, ShapeKind::Cylinder, ShapeKind::Ellipsoid};
  int parted = 0, joined = 0, meets = 0;
  for (int trial = 0; trial < 240; ++trial) {
    const auto place = [&](double far) {
      const double a = u(rng), b = u(rng), c = u(rng);
      return Placement{random_rotation(rng), far * Vec3(a, b, c)};
    };
    Hinged x{place(0.3), place(0.15), place(0.15), random_rotation(rng).col(0), {}, {}, {}, {}};
    for (Vec3* s : {&x.upper_size, &x.lower_size}) {
      const double a = size(rng), b = size(rng), c = size(rng);
      *s = Vec3(a, b, c);
    }
    x.upper = kinds[trial % 6], x.lower = kinds[trial / 6 % 6];
    x.X_upper = x.X_PJ * x.X_upper;  // near the hinge
    const AcrossHinge said = verdict(hinged(x));
    (said == AcrossHinge::Parted ? parted : said == AcrossHinge::Joined ? joined : meets) += 1;
    if (said == AcrossHinge::Meets) continue;
    CAPTURE(trial);
    for (int k = 0; k < 12; ++k) {
      const double gap = gap_at(x, k * M_PI / 6);
      if (said == AcrossHinge::Parted) CHECK(gap > -2e-7);
      if (said == AcrossHinge::Joined) CHECK(gap < 0);
    }
  }
  CHECK(parted > 10);
  CHECK(joined > 10);
  CHECK(meets > 10);
}

TEST_CASE(
    "hinges: faces that lie on each other across the axis are parted, and a tenth of a millimetre deeper they are "
    "not") {
  for (const double sunk : {0.0, 1e-4}) {
    Hinged x{at(0, 0, 0.1), at(0, 0, 0.05), at(0, 0, 0.1 - sunk), Vec3::UnitZ(), {}, {}, {}, {}};
    x.upper = ShapeKind::Box, x.upper_size = Vec3(0.1, 0.08, 0.05);
    x.lower = ShapeKind::Cylinder, x.lower_size = Vec3(0.07, 0, 0.1);
    const Model model = hinged(x);
    CHECK(verdict(model) == (sunk > 0 ? AcrossHinge::Meets : AcrossHinge::Parted));
    Collision collision(model);
    const std::vector<BodyMotion> bodies{{x.X_PJ}};
    collision.detect(bodies, {1e-3, 0}, {});
    CHECK(collision.contacts().empty() == (sunk == 0));
    CHECK(collision.joined().empty());
  }
}

TEST_CASE("hinges: several hinges through one point, and pairs that the user asks for") {
  Hinged x{at(0.1, 0, 0),    at(0, 0, 0),      at(0, 0.05, 0),    Vec3::UnitZ(),
           Vec3(0.15, 0, 0), Vec3(0.06, 0, 0), ShapeKind::Sphere, ShapeKind::Sphere};
  for (int links : {1, 2, 3}) {
    const Model model = hinged(x, links);
    CHECK(verdict(model) == AcrossHinge::Joined);
    const Collision collision(model);
    REQUIRE(collision.joined().size() == 1);
    CHECK(collision.joined()[0] == std::pair(0, 1));
  }
  CHECK(verdict(hinged(x, 1, true)) == AcrossHinge::Meets);
  CHECK(verdict(hinged(x, 2, false, 1e-3)) == AcrossHinge::Meets);
  x.X_lower = at(0, 0.07, 0);  // the point of the hinges is outside of the lower ball
  for (int links : {1, 2, 3}) CHECK(verdict(hinged(x, links)) == AcrossHinge::Meets);
}
