// A point foot stands for the end of a leg, which the shapes of the file round off: they reach beyond the point. Along
//   d: from the joint of the body to the foot, or the normal of a sole                                  (foot.1)
// the ground is taken to meet the feet with its inner normal n within 60 degrees of d. The shape is clear of them where
//   max over the shape of n . x  <=  max over the feet of n . p + r,  for every such n                  (foot.2)
// Otherwise it is cut across d, as little as makes it clear.
#include "readers/foot_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "linalg/decompositions.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

constexpr double widest = M_PI / 3;  // of n from d [rad]
constexpr double most_cut = 0.5;     // of the extent along d; beyond that the shape is the foot
constexpr double rounding = 1e-9;    // [m]
constexpr int cuts = 16, around = 16, rings = 3;

// A shape as the points that span it, in the frame of the body.
struct Span {
  std::vector<Vec3> points;
  std::vector<std::pair<int, int>> edges;
  double round = 0;  // of a ball about its point [m]
};

double reach(const std::vector<Vec3>& points, double round, const Vec3& n) {
  double far = -std::numeric_limits<double>::infinity();
  for (const Vec3& p : points) far = std::max(far, n.dot(p));
  return far + round;
}

std::vector<Vec3> corners_of(const Geometry& g) {
  std::vector<Vec3> points;
  if (g.kind == ShapeKind::Box)
    for (unsigned k = 0; k < 8; ++k)
      points.push_back(g.size.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  if (g.kind == ShapeKind::Cylinder)
    for (int k = 0; k < 2 * around; ++k) {
      const double a = M_PI * k / around;
      for (double z : {-g.size.z(), g.size.z()})
        points.emplace_back(g.size.x() * std::cos(a), g.size.x() * std::sin(a), z);
    }
  return points;
}

Span span_of(const Geometry& g) {
  if (g.kind == ShapeKind::Sphere) return {{g.X_BG.p}, {}, g.size.x()};
  const auto hull = g.kind == ShapeKind::Convex ? g.hull : make_hull(corners_of(g), "geometry '" + g.name + "'");
  Span span;
  for (const Vec3& p : hull->vertices) span.points.push_back(g.X_BG * p);
  std::set<std::pair<int, int>> edges;
  for (const std::vector<int>& face : hull->faces)
    for (std::size_t k = 0; k < face.size(); ++k) edges.insert(std::minmax(face[k], face[(k + 1) % face.size()]));
  span.edges.assign(edges.begin(), edges.end());
  return span;
}

Vec3 middle(const std::vector<Vec3>& points) {
  Vec3 sum = Vec3::Zero();
  for (const Vec3& p : points) sum += p;
  return sum / static_cast<double>(points.size());
}

// (foot.1); zero where there is none.
Vec3 direction(const Span& shape, const std::vector<Vec3>& feet) {
  const Vec3 foot = middle(feet);
  Mat3 spread = Mat3::Zero();
  for (const Vec3& p : feet) spread += (p - foot) * (p - foot).transpose();
  const PrincipalAxes axes = principal_axes(spread);
  const bool sole = axes.values[1] > 1e-2 * axes.values[2];
  if (!sole) return foot.norm() > rounding ? Vec3(foot.normalized()) : Vec3(Vec3::Zero());
  const Vec3 normal = axes.axes.col(0);
  return normal.dot(foot - middle(shape.points)) < 0 ? Vec3(-normal) : normal;  // away from the shape
}

std::vector<Vec3> normals_about(const Vec3& d) {
  std::vector<Vec3> normals{d};
  const Vec3 x = d.unitOrthogonal(), y = d.cross(x);
  for (int ring = 1; ring <= rings; ++ring)
    for (int k = 0; k < around; ++k) {
      const double tilt = widest * ring / rings, a = 2 * M_PI * k / around;
      normals.push_back(std::cos(tilt) * d + std::sin(tilt) * (std::cos(a) * x + std::sin(a) * y));
    }
  return normals;
}

// The points that span the part of a shape below `level` along d.
std::vector<Vec3> cut(const Span& shape, const Vec3& d, double level) {
  std::vector<Vec3> points;
  for (const Vec3& p : shape.points)
    if (d.dot(p) <= level) points.push_back(p);
  for (const auto& [i, j] : shape.edges) {
    const Vec3 &a = shape.points[static_cast<std::size_t>(i)], &b = shape.points[static_cast<std::size_t>(j)];
    const double above_a = d.dot(a) - level, above_b = d.dot(b) - level;
    if ((above_a > 0) != (above_b > 0)) points.push_back(a + above_a / (above_a - above_b) * (b - a));
  }
  return points;
}

void become_hull(Geometry& g, std::vector<Vec3> points) {
  g.kind = ShapeKind::Convex;
  g.X_BG = {Mat3::Identity(), middle(points)};
  for (Vec3& p : points) p -= g.X_BG.p;
  g.hull = make_hull(points, "geometry '" + g.name + "'");
}

}  // namespace

bool clear_feet(Geometry& shape, const std::vector<Geometry>& feet) {
  std::vector<Vec3> points;
  double r = 0;  // all feet of a robot have one radius
  for (const Geometry& foot : feet)
    if (foot.body == shape.body) {
      points.push_back(foot.X_BG.p);
      r = foot.size.x();
    }
  if (points.empty()) return true;
  const Span span = span_of(shape);
  const Vec3 d = direction(span, points);
  if (d.isZero()) return false;
  const std::vector<Vec3> normals = normals_about(d);
  auto is_clear = [&](const std::vector<Vec3>& part, double round) {  // (foot.2)
    return std::all_of(normals.begin(), normals.end(),
                       [&](const Vec3& n) { return reach(part, round, n) <= reach(points, r, n) + rounding; });
  };
  if (is_clear(span.points, span.round)) return true;
  if (span.round > 0) return false;
  const double top = reach(span.points, 0, d), extent = top + reach(span.points, 0, -d);
  for (int k = 1; k <= cuts; ++k) {
    const std::vector<Vec3> part = cut(span, d, top - most_cut * extent * k / cuts);
    if (!is_clear(part, 0)) continue;
    become_hull(shape, part);
    return true;
  }
  return false;
}

}  // namespace tribo
