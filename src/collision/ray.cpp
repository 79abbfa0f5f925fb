// Rays against shapes, each in the frame of the shape: x(s) = p + s d, the first s >= 0 in the solid.
#include "collision/ray.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/limits.hpp"
#include "collision/narrowphase.hpp"
#include "model/mesh_tree.hpp"

namespace tribo {
namespace {

const RayEntry miss{inf};

// The part [in, out] of the ray that lies in an intersection of half-spaces, one after the other.
struct Clip {
  double in = 0, out = inf;
  Vec3 n = Vec3::Zero();
  /// n . x <= offset
  void half_space(const Vec3& normal, double offset, const Ray& ray) {
    const double speed = normal.dot(ray.d), gap = normal.dot(ray.p) - offset;
    if (speed == 0) {
      if (gap > 0) out = -1;
      return;
    }
    const double s = -gap / speed;
    if (speed < 0 && s > in) in = s, n = normal;
    if (speed > 0) out = std::min(out, s);
  }
  /// a s^2 + 2 b s + c <= 0, c the value at the start; false where it is met nowhere
  bool quadric(double a, double b, double c) {
    if (a < 1e-300) return c <= 0;
    const double root = b * b - a * c;
    if (root < 0) return false;
    const double r = std::sqrt(root);
    first = (-b - r) / a;
    in = std::max(in, first);
    out = std::min(out, (-b + r) / a);
    return true;
  }
  double first = -inf;  ///< where the quadric is entered
  RayEntry entry() const { return in <= out ? RayEntry{in, n} : miss; }
};

RayEntry cast_sphere(const Vec3& center, double radius, const Ray& ray) {
  const Vec3 p = ray.p - center;
  Clip clip;
  if (!clip.quadric(1, p.dot(ray.d), p.squaredNorm() - radius * radius)) return miss;
  if (clip.in > 0) clip.n = (p + clip.in * ray.d) / radius;
  return clip.entry();
}

RayEntry cast_box(const Vec3& half, const Ray& ray) {
  Clip clip;
  for (int k = 0; k < 3; ++k) {
    clip.half_space(Vec3::Unit(k), half[k], ray);
    clip.half_space(-Vec3::Unit(k), half[k], ray);
  }
  return clip.entry();
}

// Between the planes z = -half and z = half.
RayEntry cast_tube(double radius, double half, const Ray& ray) {
  const Vec3 p(ray.p.x(), ray.p.y(), 0), d(ray.d.x(), ray.d.y(), 0);
  Clip clip;
  if (!clip.quadric(d.squaredNorm(), p.dot(d), p.squaredNorm() - radius * radius)) return miss;
  if (clip.in > 0) clip.n = (p + clip.in * d) / radius;
  clip.half_space(Vec3::UnitZ(), half, ray);
  clip.half_space(-Vec3::UnitZ(), half, ray);
  return clip.entry();
}

RayEntry nearer(const RayEntry& a, const RayEntry& b) { return b.distance < a.distance ? b : a; }

RayEntry cast_capsule(double radius, double half, const Ray& ray) {
  return nearer(cast_tube(radius, half, ray), nearer(cast_sphere(half * Vec3::UnitZ(), radius, ray),
                                                     cast_sphere(-half * Vec3::UnitZ(), radius, ray)));
}

RayEntry cast_ellipsoid(const Vec3& half, const Ray& ray) {
  const Vec3 p = ray.p.cwiseQuotient(half), d = ray.d.cwiseQuotient(half);
  Clip clip;
  if (!clip.quadric(d.squaredNorm(), p.dot(d), p.squaredNorm() - 1)) return miss;
  if (clip.in > 0) clip.n = (p + clip.in * d).cwiseQuotient(half).normalized();
  return clip.entry();
}

RayEntry cast_hull(const Hull& hull, const Ray& ray) {
  Clip clip;
  for (const std::vector<int>& face : hull.faces) {
    const auto vertex = [&](std::size_t k) -> const Vec3& { return hull.vertices[static_cast<std::size_t>(face[k])]; };
    Vec3 n = Vec3::Zero();  // Newell's, over all corners: no three of them are singled out
    for (std::size_t k = 0; k < face.size(); ++k) n += vertex(k).cross(vertex((k + 1) % face.size()));
    if (n.norm() > 0) clip.half_space(n.normalized(), n.normalized().dot(vertex(0)), ray);
  }
  return clip.entry();
}

RayEntry cast_triangle(const std::array<Vec3, 3>& x, const Ray& ray) {
  const Vec3 a = x[1] - x[0], b = x[2] - x[0], n = a.cross(b);
  const double speed = n.dot(ray.d);
  if (speed >= 0) return miss;  // from below, or along it
  const double s = n.dot(x[0] - ray.p) / speed;
  const Vec3 r = ray.p + s * ray.d - x[0];
  const double u = r.cross(b).dot(n), v = a.cross(r).dot(n), all = n.squaredNorm(), slack = -1e-12 * all;
  if (s < 0 || u < slack || v < slack || u + v > all - slack) return miss;
  return {s, n.normalized()};
}

// Cells that the ray crosses, one after the other.
RayEntry cast_terrain(const HeightField& f, const Ray& ray, double most) {
  const Vec3 half(0.5 * (f.nx - 1) * f.spacing_x, 0.5 * (f.ny - 1) * f.spacing_y, 0);
  const auto [low, high] = std::minmax_element(f.heights.begin(), f.heights.end());
  Clip clip;
  for (int k = 0; k < 2; ++k) {
    clip.half_space(Vec3::Unit(k), half[k], ray);
    clip.half_space(-Vec3::Unit(k), half[k], ray);
  }
  clip.half_space(Vec3::UnitZ(), *high + 1e-9, ray);
  clip.half_space(-Vec3::UnitZ(), -*low + 1e-9, ray);
  const double end = std::min(clip.out, most);
  if (clip.in > end) return miss;
  const double spacing[2] = {f.spacing_x, f.spacing_y};
  const int cells[2] = {f.nx - 1, f.ny - 1};
  int cell[2];
  for (int k = 0; k < 2; ++k) {
    const double x = (ray.p[k] + clip.in * ray.d[k] + half[k]) / spacing[k];
    cell[k] = std::clamp(static_cast<int>(std::floor(x)), 0, cells[k] - 1);
  }
  const auto corner = [&](int i, int j) {
    return Vec3(i * f.spacing_x - half.x(), j * f.spacing_y - half.y(), f.heights[at(j) * at(f.nx) + at(i)]);
  };
  for (int guard = 0; guard <= cells[0] + cells[1] + 2; ++guard) {
    const int i = cell[0], j = cell[1];
    const Vec3 a = corner(i, j), b = corner(i + 1, j), c = corner(i, j + 1), d = corner(i + 1, j + 1);
    RayEntry found = nearer(cast_triangle({a, b, c}, ray), cast_triangle({b, d, c}, ray));
    if (found.distance <= end) return found;
    double next = inf;
    int along = -1;
    for (int k = 0; k < 2; ++k) {
      if (ray.d[k] == 0) continue;
      const double edge = (cell[k] + (ray.d[k] > 0)) * spacing[k] - half[k], s = (edge - ray.p[k]) / ray.d[k];
      if (s < next) next = s, along = k;
    }
    if (along < 0 || next > end) return miss;
    cell[along] += ray.d[along] > 0 ? 1 : -1;
    if (cell[along] < 0 || cell[along] >= cells[along]) return miss;
  }
  return miss;
}

// Boxes that the ray crosses. One that begins behind a closed mesh begins inside.
RayEntry cast_mesh(const MeshTree& tree, const Ray& ray, double most) {
  if (tree.closed && nearest_point(tree, ray.p, inf).inside) return {0};
  RayEntry best = miss;
  best.distance = most;
  bool found = false;
  std::array<int, MeshTree::most_depth> stack;
  int count = 0;
  stack[at(count++)] = 0;
  while (count > 0) {
    const int i = stack[at(--count)];
    const MeshTree::Node& node = tree.nodes[at(i)];
    Clip clip;
    for (int k = 0; k < 3; ++k) {
      clip.half_space(Vec3::Unit(k), node.hi[k], ray);
      clip.half_space(-Vec3::Unit(k), -node.lo[k], ray);
    }
    const double slack = 1e-12 * tree.size;  // a box may be flat
    if (clip.in > clip.out + slack || clip.in > best.distance) continue;
    if (node.right >= 0) {
      stack[at(count++)] = node.right;
      stack[at(count++)] = i + 1;
      continue;
    }
    for (int t = node.begin; t < node.end; ++t) {
      const MeshTriangle& x = tree.triangles[at(t)];
      const RayEntry entry = cast_triangle({tree.point(x, 0), tree.point(x, 1), tree.point(x, 2)}, ray);
      if (entry.distance <= best.distance) best = entry, found = true;
    }
  }
  return found ? best : miss;
}

}  // namespace

RayEntry cast(const Geometry& g, const Ray& ray, double most) {
  RayEntry entry = miss;
  switch (g.kind) {
    case ShapeKind::HalfSpace: {
      Clip clip;
      clip.half_space(Vec3::UnitZ(), 0, ray);
      entry = clip.entry();
      break;
    }
    case ShapeKind::Point:
      break;
    case ShapeKind::Sphere:
      entry = cast_sphere(Vec3::Zero(), g.size.x(), ray);
      break;
    case ShapeKind::Box:
      entry = cast_box(g.size, ray);
      break;
    case ShapeKind::Capsule:
      entry = cast_capsule(g.size.x(), g.size.z(), ray);
      break;
    case ShapeKind::Cylinder:
      entry = cast_tube(g.size.x(), g.size.z(), ray);
      break;
    case ShapeKind::Ellipsoid:
      entry = cast_ellipsoid(g.size, ray);
      break;
    case ShapeKind::Convex:
      entry = cast_hull(*g.hull, ray);
      break;
    case ShapeKind::HeightField:
      entry = cast_terrain(*g.terrain, ray, most);
      break;
    case ShapeKind::Mesh:
      entry = cast_mesh(*g.mesh->tree, ray, most);
      break;
  }
  return entry.distance <= most ? entry : miss;
}

double enters(const Solid& solid, const Ray& ray) {
  switch (solid.kind) {
    case ShapeKind::Capsule:
      return cast_capsule(solid.size.x(), solid.size.z(), ray).distance;
    case ShapeKind::Cylinder:
      return cast_tube(solid.size.x(), solid.size.z(), ray).distance;
    case ShapeKind::Ellipsoid:
      return cast_ellipsoid(solid.size, ray).distance;
    default:
      break;
  }
  if (!solid.polytope) return cast_sphere(Vec3::Zero(), solid.round, ray).distance;
  Clip clip;
  for (const PolytopeFace& face : solid.polytope->faces) clip.half_space(face.n, face.offset, ray);
  return clip.entry().distance;
}

}  // namespace tribo
