#include "control/walk/ground.hpp"

#include <algorithm>
#include <cmath>

#include "collision/ray.hpp"

namespace tribo::walk {
namespace {

// Height of a field that stands upright, in the column of x (in its frame); -inf beyond its edge. A ray would go through
// all of its cells.
double field_height(const HeightField& h, const Vec3& x) {
  const double u = x.x() / h.spacing_x + 0.5 * (h.nx - 1), v = x.y() / h.spacing_y + 0.5 * (h.ny - 1);
  if (!(u >= 0 && v >= 0 && u <= h.nx - 1 && v <= h.ny - 1)) return -HUGE_VAL;
  const int i = std::min(static_cast<int>(u), h.nx - 2), j = std::min(static_cast<int>(v), h.ny - 2);
  const double a = u - i, b = v - j;
  auto z = [&](int di, int dj) { return h.heights[at((j + dj) * h.nx + i + di)]; };
  if (a + b <= 1) return z(0, 0) + a * (z(1, 0) - z(0, 0)) + b * (z(0, 1) - z(0, 0));
  return z(1, 1) + (1 - a) * (z(0, 1) - z(1, 1)) + (1 - b) * (z(1, 0) - z(1, 1));
}

}  // namespace

Ground::Ground(const Model& model) {
  for (int g = 0; g < static_cast<int>(model.geometries.size()); ++g)
    if (model.geometries[at(g)].body < 0) geometries_.push_back(g);
}

double Ground::below(const Model& model, const Vec3& p, const KinematicTime& time, double fallback) const {
  constexpr double far = 100;  // [m]
  double nearest = far;
  for (const int g : geometries_) {
    const Geometry& shape = model.geometries[at(g)];
    Placement X = shape.X_BG;
    if (const int k = kinematic_index(shape.body); k >= 0) X = kinematic_pose(model, k, time) * X;
    const Vec3 r = X.p - p;
    if (std::isfinite(shape.radius) && r.head<2>().squaredNorm() > shape.radius * shape.radius) continue;
    if (shape.kind == ShapeKind::HeightField && X.R(2, 2) > 1 - 1e-12) {
      const double depth = field_height(*shape.terrain, X.R.transpose() * -r) - (p.z() - X.p.z());
      nearest = std::min(nearest, std::max(-depth, 0.0));  // 0: it begins inside
      continue;
    }
    const RayEntry entry = cast(shape, {X.R.transpose() * -r, X.R.transpose() * -Vec3::UnitZ()}, nearest);
    nearest = std::min(nearest, entry.distance);
  }
  return nearest < far ? p.z() - nearest : fallback;
}

double Ground::highest(const Model& model, const Vec3& a, const Vec3& b, const KinematicTime& time, double fallback,
                       int steps) const {
  double top = -HUGE_VAL;
  for (int k = 0; k <= steps + 1; ++k) {
    const Vec3 p = a + (b - a) * (static_cast<double>(k) / (steps + 1));
    top = std::max(top, below(model, p, time, fallback));
  }
  return top;
}

Vec3 Ground::level_place(const Model& model, const Vec3& p, const KinematicTime& time, double fallback,
                         double spacing) const {
  constexpr int places[13][2] = {{0, 0},  {1, 0},   {-1, 0}, {0, 1},  {0, -1}, {1, 1}, {1, -1},
                                 {-1, 1}, {-1, -1}, {2, 0},  {-2, 0}, {0, 2},  {0, -2}};
  constexpr int sides[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  Vec3 best = p;
  double least = HUGE_VAL;
  for (const auto& place : places) {
    const Vec3 x = p + spacing * Vec3(place[0], place[1], 0);
    const double z = below(model, x, time, fallback);
    double cost = 0.3 * (x - p).norm();  // going there costs as much as a slope of this over the four sides
    if (cost >= least) continue;
    for (const auto& side : sides)
      cost += std::abs(below(model, x + spacing * Vec3(side[0], side[1], 0), time, fallback) - z);
    if (cost >= least) continue;
    least = cost;
    best = {x.x(), x.y(), z};
    if (least < 1e-3 * spacing) break;
  }
  return best;
}

}  // namespace tribo::walk
