// Cylinders: where they stand and lie, and how far a point is from them.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double tilted = 1e-3;  // sine of the tilt from which on the lowest point of the rim is listed
constexpr double upright = 0.1;  // and up to which the points of the cap are
constexpr double pi = 3.14159265358979323846;

}  // namespace

Eigen::Vector2d cap_point(unsigned ring, unsigned k) {
  const bool inside = k > patch_corners;
  const double turn = static_cast<double>(ring) / cap_rings + (inside ? k - patch_corners - 0.5 : k);
  const double a = 2 * pi * turn / patch_corners;
  return (inside ? 1.0 / 3 : 1.0) * Eigen::Vector2d(std::cos(a), std::sin(a));  // (patch.2)
}

void CapLoad::add(std::uint64_t feature, double f) {
  if (feature < first_ || feature >= first_ + cap_feature(cap_rings, 0, 0)) return;
  const unsigned code = static_cast<unsigned>(feature) - first_, k = code % cap_points;
  if (k == patch_corners) {
    tilted_ |= f > 0;
    return;
  }
  ring_ = code / (2 * cap_points);
  sum_ += f;
  moment_ += f * cap_point(ring_, k);
}

unsigned CapLoad::ring() const {
  constexpr double sector = pi / 3, near_point = 0.5 / 60, near_rim = 0.9;
  if (tilted_ || !(moment_.norm() > 0.5 * sum_)) return ring_;
  const double angle = std::atan2(moment_.y(), moment_.x()) / sector, place = angle - std::floor(angle);
  const double from = angle - static_cast<double>(ring_) / cap_rings, between = from - std::floor(from);
  if (std::min(between, 1 - between) < near_point) return ring_;
  const double side = std::cos(0.5 * sector) / std::cos((between - 0.5) * sector);  // of the hexagon, that way
  if (moment_.norm() < near_rim * side * sum_) return ring_;
  return static_cast<unsigned>(std::lround(place * cap_rings)) % cap_rings;
}

// A standing cylinder: points of its lower cap, fixed in the body. Tilted: those of the rim, and the lowest point, which
// rolls along it. Lying: the lowest point of either rim.
RimPoints lowest_rim_points(const Vec3& up, const Vec3& size, unsigned ring) {
  RimPoints out;
  const double sine = std::hypot(up.x(), up.y()), r = size.x();
  auto add = [&](unsigned cap, const Eigen::Vector2d& x, unsigned feature) {
    out.p[static_cast<std::size_t>(out.count)] = Vec3(r * x.x(), r * x.y(), cap ? size.z() : -size.z());
    out.feature[static_cast<std::size_t>(out.count++)] = feature;
  };
  const unsigned lower = up.z() > 0 ? 0 : 1;
  for (unsigned k = 0; k < cap_points; ++k)
    if (k < patch_corners ? sine < upright : k > patch_corners && sine <= tilted)
      add(lower, cap_point(ring, k), cap_feature(ring, lower, k));
  if (sine > tilted)
    for (unsigned cap = 0; cap < 2; ++cap)
      if (cap == lower || sine >= upright) add(cap, -up.head<2>() / sine, cap_feature(0, cap, patch_corners));
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
