// Cylinders: where they stand and lie, and how far a point is from them.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double tilted = 1e-3;  // sine of the tilt from which on the lowest point of the rim is listed
constexpr double upright = 0.1;  // and up to which the points of the cap are
constexpr double pi = 3.14159265358979323846;

}  // namespace

// A standing cylinder: points of its lower cap, fixed in the body. Tilted: those of the rim, and the lowest point, which
// rolls along it. Lying: the lowest point of either rim.
RimPoints lowest_rim_points(const Vec3& up, const Vec3& size) {
  constexpr unsigned rim = patch_corners, lowest = rim, inner = rim + 1, features = 2 * rim + 1;
  RimPoints out;
  const double sine = std::hypot(up.x(), up.y());
  auto add = [&](int cap, double x, double y, unsigned feature) {
    out.p[static_cast<std::size_t>(out.count)] = Vec3(x, y, cap ? size.z() : -size.z());
    out.feature[static_cast<std::size_t>(out.count++)] = features * static_cast<unsigned>(cap) + feature;
  };
  const int lower = up.z() > 0 ? 0 : 1;
  const double r = size.x();
  auto add_ring = [&](double radius, double turn, unsigned first) {
    for (unsigned k = 0; k < rim; ++k) {
      const double a = 2 * pi * (k + turn) / rim;
      add(lower, radius * std::cos(a), radius * std::sin(a), first + k);
    }
  };
  if (sine < upright) add_ring(r, 0, 0);
  if (sine <= tilted) add_ring(r / 3, 0.5, inner);  // (patch.2)
  if (sine > tilted)
    for (int cap = 0; cap < 2; ++cap)
      if (cap == lower || sine >= upright) add(cap, -r * up.x() / sine, -r * up.y() / sine, lowest);
  return out;
}

double cylinder_distance(const Vec3& size, const Vec3& x, Vec3& n) {
  const double radial = std::hypot(x.x(), x.y());
  const Vec3 outward = radial > 1e-12 ? Vec3(x.x() / radial, x.y() / radial, 0) : Vec3::UnitX();
  const Vec3 along = x.z() < 0 ? Vec3(-Vec3::UnitZ()) : Vec3(Vec3::UnitZ());
  const double side = radial - size.x(), cap = std::abs(x.z()) - size.z();
  if (side > 0 && cap > 0) {
    n = (side * outward + cap * along).normalized();
    return std::hypot(side, cap);
  }
  n = side > cap ? outward : along;
  return std::max(side, cap);
}

void touch_sphere_cylinder(const Query& query, Touches& out) {
  const Placement& X = query.b.X;
  Vec3 n_B;
  const double r = query.a.solid->round;
  const double gap = cylinder_distance(query.b.solid->size, X.R.transpose() * (query.a.X.p - X.p), n_B) - r;
  const Vec3 n = -(X.R * n_B);
  out.add(query, query.a.X.p + (r + 0.5 * gap) * n, n, gap, 0);
}

Polytope cylinder_caps(const Vec3& size) {
  constexpr int sides = cap_corners;
  Polytope caps;
  for (int cap = 0; cap < 2; ++cap) {
    PolytopeFace face;
    face.n = cap ? Vec3::UnitZ() : Vec3(-Vec3::UnitZ());
    face.offset = size.z();
    for (int k = 0; k < sides; ++k) {
      const double a = 2 * pi * k / sides;
      caps.vertices.emplace_back(size.x() * std::cos(a), size.x() * std::sin(a), cap ? size.z() : -size.z());
      face.loop.push_back(cap * sides + k);
    }
    if (!cap) std::reverse(face.loop.begin(), face.loop.end());
    caps.faces.push_back(std::move(face));
  }
  return caps;
}

}  // namespace tribo
