// What a hinge decides about two shapes, beside the same two placed freely at many of its angles.
#include "collision/hinges.hpp"

#include "shapes_world.hpp"

using namespace shapes_world;

namespace {

struct Hinged {
  Placement X_PJ, X_upper, X_lower;
  Vec3 axis, upper_size, lower_size;
  ShapeKind upper, lower;
};

Geometry shape_of(ShapeKind kind, const Vec3& size, const Placement& X, int body, const char* name) {
  Geometry g;
  g.name = name;
  g.kind = kind;
  g.size = size;
  if (kind == ShapeKind::Convex) g.hull = box_hull(size);
  g.X_BG = X;
  g.body = body;
  return g;
}

// The upper shape is fixed to the world. links: with turns about other axes through the same point between the two.
Model hinged(const Hinged& x, int links = 1, bool pair = false) {
  ModelBuilder builder;
  builder.begin_member("arm", true, "test", true);
  int parent = -1;
  for (int k = 0; k < links; ++k) {
    Body body;
    body.name = "link" + std::to_string(k);
    body.parent = parent;
    body.joint = JointKind::Revolute;
    body.axis = k == 0 ? x.axis : Vec3::Unit(k % 3);
    if (k == 0) body.X_PJ = x.X_PJ;
    body.inertia.mass = 1;
    body.inertia.about_com.setIdentity();
    parent = builder.add_body(body);
  }
  const int a = builder.add_geometry(shape_of(x.upper, x.upper_size, x.X_upper, -1, "upper"));
  const int b = builder.add_geometry(shape_of(x.lower, x.lower_size, x.X_lower, parent, "lower"));
  if (pair) builder.add_pair({a, b, {}});
  return builder.build();
}

AcrossHinge verdict(const Model& model) {
  std::vector<Solid> solids;
  for (const Geometry& g : model.geometries) solids.emplace_back(g);
  CHECK(across_hinge(model, solids, 0, 1) == across_hinge(model, solids, 1, 0));
  return across_hinge(model, solids, 0, 1);
}

// The least gap of the two, each on its own, with the lower one turned; infinite where they are apart.
double gap_at(const Hinged& x, double angle) {
  World w;
  w.range = {1e-6, 0};
  w.add(x.upper, x.upper_size, x.X_upper, true);
  const Placement turned{Eigen::AngleAxisd(angle, x.axis).toRotationMatrix(), Vec3::Zero()};
  w.add(x.lower, x.lower_size, x.X_PJ * turned * x.X_lower);
  double least = HUGE_VAL;
  for (const Contact& c : w.detect()) least = std::min(least, c.gap);
  return least;
}

}  // namespace

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

TEST_CASE("hinges: faces that lie on each other across the axis are parted, and by a micrometre more they are not") {
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
  Hinged x{at(0.1, 0, 0), at(0, 0, 0), at(0, 0.05, 0), Vec3::UnitZ(), Vec3(0.15, 0, 0), Vec3(0.06, 0, 0),
           ShapeKind::Sphere, ShapeKind::Sphere};
  for (int links : {1, 2, 3}) {
    const Model model = hinged(x, links);
    CHECK(verdict(model) == AcrossHinge::Joined);
    const Collision collision(model);
    REQUIRE(collision.joined().size() == 1);
    CHECK(collision.joined()[0] == std::pair(0, 1));
  }
  CHECK(verdict(hinged(x, 1, true)) == AcrossHinge::Meets);
  x.X_lower = at(0, 0.07, 0);  // the point of the hinges is outside of the lower ball
  for (int links : {1, 2, 3}) CHECK(verdict(hinged(x, links)) == AcrossHinge::Meets);
}
