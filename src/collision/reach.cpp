// How fast shapes close, and so from which gap on their points can be contacts of a step.
#include <algorithm>

#include "collision/ahead.hpp"
#include "collision/narrowphase.hpp"

namespace tribo {

double fastest(const PlacedSolid& a, const PlacedSolid& b) {
  if (endless(b.solid->kind)) return fastest(b, a);
  if (endless(a.solid->kind))
    return (b.v - a.v - a.w.cross(b.X.p - a.X.p)).norm() + (b.w - a.w).norm() * b.solid->radius;
  return (b.v - a.v).norm() + a.spin + b.spin;
}

namespace {

/// No point that may be listed closes faster than this, seen from b: links that turn together close slowly [m/s].
double fastest_seen(const PlacedSolid& a, const PlacedSolid& b, double reach) {
  return (b.v - a.v - a.w.cross(b.X.p - a.X.p)).norm() + (b.w - a.w).norm() * (b.solid->radius + 0.5 * reach);
}

/// How much farther than by its velocity a shape may reach within dt, since it turns [m].
double bend(const PlacedSolid& x, double dt) {
  const double angle = dt * x.w.norm(), own = dt * turning(x);
  const double way = 0.5 * (angle * angle * x.arm.norm() + own * own * x.solid->radius);
  // The lowest point of a tilted cylinder runs along its rim, the faster the less it is tilted.
  return x.solid->kind == ShapeKind::Cylinder ? way + 2 * x.solid->size.x() * own : way;
}

}  // namespace

// Velocity of a kinematic body x at p, in the mean over the step. The origin of the other body, at r from that of x, goes
// straight within it: what x carries on moves by the chord, (exp(w dt) - 1) r/dt for w x r, and would else leave a
// turntable along its tangents. What moves over x, by u, is over another point of it in the middle of the step.
Vec3 carried(const PlacedSolid& x, const PlacedSolid& other, const Vec3& p, double dt) {
  Vec3 at_p = x.v + x.w.cross(p - x.X.p);
  const double angle = dt * x.w.norm();
  if (angle == 0 || endless(other.solid->kind)) return at_p;
  const Vec3 r = other.X.p - other.arm - (x.X.p - x.arm), along = x.w.cross(r);
  // exp(a) r - r = sin|a|/|a| a x r + 2 sin^2(|a|/2)/|a|^2 a x (a x r)
  const double half = std::sin(0.5 * angle) / (0.5 * angle);
  const Vec3 tangent = std::sin(angle) / angle * along, inward = 0.5 * half * half * dt * x.w.cross(along);
  const Vec3 last = tangent - inward;  // the chord of the step before
  const Vec3 u = other.v - other.w.cross(other.arm) - (x.v - x.w.cross(x.arm)) - last;
  return at_p - along + tangent + inward + 0.5 * dt * x.w.cross(u);  // (carried.1)
}

Query make_query(const PlacedSolid& a, const PlacedSolid& b, double near, double dt, Scratch& scratch) {
  Query query{a, b, near, dt, near, &scratch};
  if (dt > 0) {
    query.reach = std::max(near, dt * fastest(a, b) + astray * near);
    query.bend = (endless(a.solid->kind) ? 0 : bend(a, dt)) + (endless(b.solid->kind) ? 0 : bend(b, dt));
    if (query.reach > near && !endless(a.solid->kind) && !endless(b.solid->kind)) {
      const double seen = dt * std::min(fastest_seen(a, b, query.reach), fastest_seen(b, a, query.reach));
      query.reach = std::clamp(seen + query.bend + astray * near, near, query.reach);
    }
  }
  return query;
}

}  // namespace tribo
