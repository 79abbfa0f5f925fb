// Where a ray meets a shape.
#pragma once

#include "tribo/shape.hpp"

namespace tribo {

struct Solid;

/// A half-line from p along d (unit length), in the frame of the shape.
struct Ray {
  Vec3 p, d;
};

/// Distance along the ray to where it enters the shape, 0 where it begins inside, and the outward normal there; infinite
/// where it misses or has farther to go than `most` [m]. A point has no surface.
struct RayEntry {
  double distance;
  Vec3 n = Vec3::Zero();
};
RayEntry cast(const Geometry& geometry, const Ray& ray, double most);
/// The distance alone, of a convex solid that is no half-space.
double enters(const Solid& solid, const Ray& ray);

}  // namespace tribo
