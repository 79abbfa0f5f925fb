// Cylinders: where they stand and lie, and how far a point is from them.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double flat = 1e-3;    // sine of the tilt from which on the lowest point of the rim is listed
constexpr double upright = 0.1;  // and up to which four points of the rim are
constexpr double pi = 3.14159265358979323846;

}  // namespace

// A standing cylinder: four points of its lower rim, fixed in the body. Tilted: the lowest point as well, which rolls
// along the rim. Lying: the lowest point of either rim.
RimPoints lowest_rim_points(const Vec3& up, const Vec3& size) {
  RimPoints out;
  const double sine = std::hypot(up.x(), up.y());
  auto add = [&](int cap, double x, double y, unsigned feature) {
    out.p[static_cast<std::size_t>(out.count)] = Vec3(x, y, cap ? size.z() : -size.z());
    out.feature[static_cast<std::size_t>(out.count++)] = 5u * static_cast<unsigned>(cap) + feature;
  };
  const int lower = up.z() > 0 ? 0 : 1;
  const double r = size.x();
  if (sine < upright)
    for (unsigned k = 0; k < 4; ++k) {
      const double s = k & 1 ? -r : r;
      add(lower, k < 2 ? s : 0, k < 2 ? 0 : s, k);
    }
  if (sine > flat)
    for (int cap = 0; cap < 2; ++cap)
      if (cap == lower || sine >= upright) add(cap, -r * up.x() / sine, -r * up.y() / sine, 4);
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
