// Two shapes with one hinge between them turn about its axis and do nothing else to each other. Where all of one lies
// above all of the other along the axis they never overlap; what they would be listed with can neither open nor close.
// Where a point of the axis is inside of both they always overlap, and no rigid motion obeys the law of contact. The same
// holds of several hinges or ball joints whose axes go through one point, and of that point.
#include "collision/hinges.hpp"

#include <algorithm>
#include <optional>

#include "model/sizes.hpp"

namespace tribo {
namespace {

constexpr double inside = 1e-3;  // of the smaller shape: how deep a point must be in both
constexpr int samples = 16;      // of the axis, where it is in both bounding spheres

bool turns(JointKind joint) {
  return joint == JointKind::Revolute || joint == JointKind::Continuous || joint == JointKind::Spherical;
}

/// What keeps its place to two bodies, in the frame of the lower one: a point, and the direction of a single hinge.
struct Pivot {
  Placement upper;           ///< where the frame of the lower body is in the upper one, its joints at zero
  Vec3 axis = Vec3::Zero();  ///< zero where there are more joints than one
};

/// Of a body and the one that carries it, -1: the world; nothing where they are not so joined.
std::optional<Pivot> pivot(const Model& model, int upper, int lower) {
  Pivot out;
  for (int b = lower; b != upper; b = model.bodies[at(b)].parent) {
    if (b < 0 || !turns(model.bodies[at(b)].joint)) return {};
    const Body& body = model.bodies[at(b)];
    const bool last = body.parent == upper;
    if (!last && !body.X_PJ.p.isZero(0)) return {};  // the axes go through other points
    if (last && b == lower && body.joint != JointKind::Spherical) out.axis = body.axis;
    out.upper = body.X_PJ * out.upper;
  }
  return out;
}

/// By the user, on a surface of their own.
bool asked_for(const Model& model, int a, int b) {
  return std::any_of(model.pairs.begin(), model.pairs.end(), [&](const CollisionPair& pair) {
    return std::minmax(pair.geometry_a, pair.geometry_b) == std::minmax(a, b);
  });
}

/// Extent along a direction from the origin of the frame that the shape is placed in.
std::pair<double, double> extent(const Solid& solid, const Placement& X, const Vec3& n) {
  const Vec3 n_G = X.R.transpose() * n;
  const double middle = n.dot(X.p);
  return {middle - reach_along(solid, -n_G), middle + reach_along(solid, n_G)};
}

bool holds(const Solid& solid, const Placement& X, const Vec3& p, double depth) {
  Vec3 n;
  return depth_of(solid, X.R.transpose() * (p - X.p), n) < -depth;
}

}  // namespace

AcrossHinge across_hinge(const Model& model, std::span<const Solid> solids, int a, int b) {
  const auto body = [&](int g) { return model.geometries[at(g)].body; };
  if (body(a) > body(b)) std::swap(a, b);
  if (body(a) < -1 || body(b) < 0 || endless(solids[at(a)].kind) || asked_for(model, a, b)) return AcrossHinge::Meets;
  const std::optional<Pivot> found = pivot(model, body(a), body(b));
  if (!found) return AcrossHinge::Meets;
  const Solid &upper = solids[at(a)], &lower = solids[at(b)];
  const Placement X = found->upper.inverse() * model.geometries[at(a)].X_BG, &Y = model.geometries[at(b)].X_BG;
  const double size = std::min(upper.radius, lower.radius), deep = inside * size;
  if (found->axis.isZero(0)) {
    const bool both = holds(upper, X, Vec3::Zero(), deep) && holds(lower, Y, Vec3::Zero(), deep);
    return both ? AcrossHinge::Joined : AcrossHinge::Meets;
  }
  const auto [lo, hi] = extent(upper, X, found->axis);
  const auto [from, to] = extent(lower, Y, found->axis);
  const double begin = std::max(lo, from), end = std::min(hi, to);
  if (end - begin <= overlap_share * size) return AcrossHinge::Parted;
  for (int k = 0; k < samples; ++k) {
    const Vec3 p = (begin + (k + 0.5) / samples * (end - begin)) * found->axis;
    if (holds(upper, X, p, deep) && holds(lower, Y, p, deep)) return AcrossHinge::Joined;
  }
  return AcrossHinge::Meets;
}

std::vector<char> pair_table(const Model& model, std::span<const Solid> solids,
                             std::vector<std::pair<int, int>>& joined) {
  const std::size_t n = model.geometries.size();
  std::vector<char> table(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const int a = static_cast<int>(i), b = static_cast<int>(j);
      if (!model.may_collide(a, b)) continue;
      const AcrossHinge across = across_hinge(model, solids, a, b);
      if (across == AcrossHinge::Joined) joined.emplace_back(a, b);
      table[i * n + j] = table[j * n + i] = across == AcrossHinge::Meets;
    }
  return table;
}

}  // namespace tribo
