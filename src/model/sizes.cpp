#include "model/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

bool endless(const Geometry& g) {
  return g.kind == ShapeKind::HalfSpace || g.kind == ShapeKind::HeightField || g.kind == ShapeKind::Mesh;
}

double gyration(const Model& model, int body) {
  if (body < 0) return 0;
  const Inertia& x = model.bodies[at(body)].inertia;
  return x.mass > 0 ? std::sqrt(x.about_com.trace() / (2 * x.mass)) : 0;
}

/// Of a hull about the middle of its bounding box: files put its origin at a joint, which may be far from it.
double radius(const Geometry& g) {
  if (!g.hull) return g.radius;
  Vec3 lo = Vec3::Constant(HUGE_VAL), hi = -lo;
  for (const Vec3& x : g.hull->vertices) lo = lo.cwiseMin(x), hi = hi.cwiseMax(x);
  double most = 0;
  for (const Vec3& x : g.hull->vertices) most = std::max(most, (x - 0.5 * (lo + hi)).norm());
  return most;
}

}  // namespace

Sizes::Sizes(const Model& model) {
  double smallest = HUGE_VAL;
  for (const Geometry& g : model.geometries) {
    double size = endless(g) ? HUGE_VAL : radius(g);
    if (!(size > 0)) size = gyration(model, g.body);
    if (!(size > 0)) size = g.body >= 0 ? model.bodies[at(g.body)].X_PJ.p.norm() : 0;
    if (!(size > 0)) size = 0.05;  // a point that has nothing to be compared with
    size_.push_back(size);
    smallest = std::min(smallest, size);
  }
  if (std::isfinite(smallest)) unit_ = std::exp2(std::round(std::log2(8 * smallest)));
}

}  // namespace tribo
