// Solids over the faces, ridges and peaks of terrain and triangle meshes: what the two have in common. All points are in the frame
// of the ground.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// Heights that differ by less are equally low; of the radius of the solid.
constexpr double equally_low = 1e-6;

/// Faces that a point has sunk into by no more than this stay listed [m].
constexpr double sunk_slop = 1e-6;

/// The lowest points of a solid along n, those of a face or an edge by their corners.
struct LowestPoints {
  static constexpr int most = 64;

  std::array<Vec3, most> x;
  int count = 0;

  void add(const Vec3& p) {
    if (count < most) x[at(count++)] = p;
  }
};

/// X: the solid over the ground; rim: points that stand for a cap.
LowestPoints lowest_points(const Solid& solid, const Placement& X, const Vec3& n, int rim);

/// n . y of the lowest point y.
inline double lowest_height(const Solid& solid, const Placement& X, const Vec3& n) {
  return n.dot(X.p) - reach_along(solid, -(X.R.transpose() * n));
}

/// Where points pass an edge e + s t, seen along n: the range of s. Empty where they do not.
struct Passing {
  double from = HUGE_VAL, to = -HUGE_VAL;
  void take(double s) { from = std::min(from, s), to = std::max(to, s); }
};

struct Edge {
  Vec3 e, t;
};

/// aside: points no farther from the edge are on it [m].
Passing passing(const LowestPoints& points, const Edge& edge, const Vec3& n, double aside);

/// Is x over the triangle, seen along its normal?
bool over_triangle(const Vec3& x, const Vec3 (&corners)[3], const Vec3& n);

/// A contact into scratch.candidates, where it is to be listed and is not there yet. p, n: in the frame of the ground.
void add_candidate(const Query& query, const Vec3& p, const Vec3& n, double gap, std::uint64_t feature);

/// Golden section between lo and hi for the largest of a function with one maximum there.
struct Largest {
  double at, value;
};
template <class Function>
Largest largest(const Function& f, double lo, double hi, int rounds) {
  constexpr double golden = 0.6180339887498949;
  double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo), fa = f(a), fb = f(b);
  for (int round = 0; round < rounds; ++round) {
    if (fa < fb)
      lo = a, a = b, fa = fb, b = lo + golden * (hi - lo), fb = f(b);
    else
      hi = b, b = a, fb = fa, a = hi - golden * (hi - lo), fa = f(a);
  }
  return fa > fb ? Largest{a, fa} : Largest{b, fb};
}

/// The corners or ends of a solid, or its centre, as balls: each(centre in W, number). Cylinders and ellipsoids have none.
template <class Each>
void for_each_ball(const PlacedSolid& placed, const Each& each) {
  const Solid& solid = *placed.solid;
  const Placement& X = placed.X;
  switch (solid.kind) {
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      each(X.p, 0u);
      break;
    case ShapeKind::Capsule:
      for (unsigned k = 0; k < 2; ++k) each(X.p + (k ? 1 : -1) * solid.size.z() * X.R.col(2), k);
      break;
    case ShapeKind::Box:
    case ShapeKind::Convex:
      for (unsigned k = 0; k < solid.polytope->vertices.size(); ++k) each(X * solid.polytope->vertices[k], k);
      break;
    default:
      break;
  }
}

}  // namespace tribo
