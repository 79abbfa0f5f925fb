// Pairs that are apart at the start of a step and may come together within it.
//
// The half-space of the nearest features at the start says nothing of features that have passed each other by the time
// the gap would close: taken as a contact it would stop what merely passes by. So the pair is moved on, with the
// velocities of the start and the fall of the step, to where it first touches. For any unit n, two convex shapes are no
// nearer than
//   s(n) = min n . y_b - max n . y_a                                                                     (ahead.1)
// so with n along the way between the nearest points they cannot touch before
//   t + s(n) / (n . (v_a - v_b) + |w_a x n| R_a + |w_b x n| R_b)                                         (ahead.2)
// with R the reach of a shape about the origin of its body. Repeated, this is Newton's method on the distance, from
// below. Terrain and meshes are not convex: there it is the gap over the speed of the fastest point, and of a ball over terrain
// the least over all triangles (terrain.9). Where they meet, at t, point and normal are those of that instant, and the gap is what
// closes by then:
//   phi = phi(t) - t n . c                                                                               (ahead.3)
// Where they do not meet within the step, those of its end are listed in the same way, if they are near: they forbid
// nothing of the motion that was foreseen, and hold where other contacts change it.
//
// A pair that touches is listed as it is. Where an impact turns it, other features of it may meet within the step: with the
// velocities that were found, those that overlap at its end are taken back in the same way.
#include "collision/ahead.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "collision/terrain.hpp"

namespace tribo {
namespace {

constexpr int most_rounds = 120, most_over_terrain = 400;  // low over a plain, or spinning fast, every round is short
// Shares of the smaller shape's radius: pairs no farther apart touch already, and how near polytopes are brought (where
// they touch exactly the way from one to the other is no direction).
constexpr double meets = 1e-8, near_enough = 1e-6;

/// No point of the shape goes along n faster than this, however it turns [m/s].
double fastest_along(const PlacedSolid& x, const Vec3& n) {
  const bool ball = x.solid->kind == ShapeKind::Sphere || x.solid->kind == ShapeKind::Point;
  const double about = x.arm.norm() + (ball ? 0 : x.solid->radius);
  const double turn = x.w.cross(n).norm();
  return n.dot(x.v - x.w.cross(x.arm)) + (turn > 0 ? turn * about : 0);
}

/// (ahead.1)
double between_planes(const PlacedSolid& a, const PlacedSolid& b, const Vec3& n) {
  const double up_to = reach_along(*a.solid, a.X.R.transpose() * n);
  return n.dot(b.X.p - a.X.p) - up_to - reach_along(*b.solid, b.X.R.transpose() * -n);
}

int nearest(const Touches& touches) {
  int least = 0;
  for (int i = 1; i < touches.count; ++i)
    if (touches.items[at(i)].gap < touches.items[at(least)].gap) least = i;
  return least;
}

/// Of the smaller shape; a point has no size of its own.
double smaller_radius(const Query& query) {
  const double a = query.a.solid->radius, b = query.b.solid->radius;
  return std::min(a, b) > 0 ? std::min(a, b) : std::max(a, b);
}

/// A ball over terrain that does not move?
bool over_terrain(const Query& query) {
  const ShapeKind b = query.b.solid->kind;
  return query.a.solid->terrain && (b == ShapeKind::Sphere || b == ShapeKind::Point) && query.a.v.isZero(0) &&
         query.a.w.isZero(0);
}

/// The same as first_touch, by free_time: it ends after a few rounds, where what comes in flat takes some hundred others.
double first_touch_of_ball(const Query& query, double reached) {
  double t = 0;
  for (int i = 0; i < most_rounds; ++i) {
    const PlacedSolid b = moved_on(query.b, t);
    Touches found;
    touch({query.a, b, query.reach, 0, query.reach, query.scratch}, found);
    if (found.count > 0 && found.items[at(nearest(found))].gap <= reached) return t;
    const double beyond = query.reach / closing_speed(query.a, b, Vec3::UnitZ());  // triangles out of reach
    const double free = std::min(beyond, free_time({query.a, b, query.reach, 0, query.reach, query.scratch}));
    if (!(t + free < query.dt)) return HUGE_VAL;
    if (!(t + free > t)) return t;
    t += free;
  }
  return t;
}

/// Where the lever that a body has at p, when it has moved from x to y, ends at the start: it does not turn back, so that
/// velocities and moments are those of the touch.
Vec3 brought_back(const PlacedSolid& x, const PlacedSolid& y, const Vec3& p) {
  return p - ((y.X.p - y.arm) - (x.X.p - x.arm));
}

/// Over terrain and meshes: the point of the body itself, where out is its normal. What is round about its core touches with
/// whichever point faces out.
Vec3 turned_back(const PlacedSolid& x, const PlacedSolid& y, const Vec3& p, const Vec3& out) {
  const Vec3 core = p - y.solid->round * out;
  return x.X.p + x.X.R * (y.X.R.transpose() * (core - y.X.p)) + y.solid->round * out;
}

Vec3 velocity(const PlacedSolid& x, const Vec3& p) { return x.v + x.w.cross(p - x.X.p); }

/// Do points go farther by turning than what is nearest is looked at? Then others may meet though that does not.
bool turns_others_in(const Query& query) {
  const auto way = [&](const PlacedSolid& x) { return turning(x) * (x.arm.norm() + x.solid->radius); };
  return query.a.solid->convex_or_flat() && query.dt * (way(query.a) + way(query.b)) > astray * query.margin;
}

/// Apart, and closing: the points of the start may not be those that meet.
bool may_meet(const Query& query, const Touches& touches) {
  if (touches.count == 0) return turns_others_in(query);
  const Touch& near = touches.items[at(nearest(touches))];
  if (near.gap <= meets * smaller_radius(query)) return false;
  if (query.a.solid->convex_or_flat()) return query.dt * closing_speed(query.a, query.b, near.n) >= 0.9 * near.gap;
  for (int i = 0; i < touches.count; ++i) {
    const Touch& x = touches.items[at(i)];
    if (x.gap + query.dt * x.n.dot(velocity(query.b, x.p) - velocity(query.a, x.p)) < 0) return true;
  }
  return false;
}

/// How far p of the shape, in W, leaves its tangent within dt at most, since it turns about the origin of its body [m].
double bent(const PlacedSolid& x, const Vec3& p, double dt) {
  return 0.5 * dt * dt * x.w.squaredNorm() * (p - (x.X.p - x.arm)).norm();
}

}  // namespace

// Terrain or a mesh has other slopes beyond the nearest one, so there in any direction.
double closing_speed(const PlacedSolid& a, const PlacedSolid& b, const Vec3& n) {
  if (!a.solid->convex_or_flat())
    return (b.v - a.v - a.w.cross(b.X.p - a.X.p)).norm() + (b.w - a.w).norm() * (b.arm.norm() + b.solid->radius);
  return fastest_along(a, n) + fastest_along(b, -n);
}

PlacedSolid moved_on(const PlacedSolid& x, double t) {
  PlacedSolid y = x;
  if (t == 0) return y;
  const double rate = x.w.norm();
  if (rate == 0) {
    y.X.p += t * x.v;
    return y;
  }
  const Mat3 turn = Eigen::AngleAxisd(t * rate, x.w / rate).toRotationMatrix();
  y.arm = turn * x.arm;
  y.X.p += t * (x.v - x.w.cross(x.arm)) + (y.arm - x.arm);
  y.X.R = turn * x.X.R;
  y.v += x.w.cross(y.arm - x.arm);
  return y;
}

bool touch_is_exact(const Query& query) {
  return query.a.solid->round > 0 || query.b.solid->round > 0 || over_terrain(query);
}

double first_touch(const Query& query, std::vector<Round>* rounds, const Touch* now) {
  const bool exact = touch_is_exact(query);
  const double size = smaller_radius(query);
  const double target = exact ? 0 : near_enough * size, reached = exact ? 1e-12 * size : 2 * target;
  const bool faces = !query.a.solid->convex_or_flat();  // terrain or a mesh
  if (over_terrain(query)) return first_touch_of_ball(query, reached);
  double t = 0, reach = query.reach;
  for (int i = 0; i < (faces ? most_over_terrain : most_rounds); ++i) {
    const PlacedSolid a = moved_on(query.a, t), b = moved_on(query.b, t);
    Touches found;
    const bool seen = t == 0 && now;
    if (!seen) touch({a, b, reach, 0, reach, query.scratch}, found);
    if (!seen && found.count == 0) {
      if (reach == query.reach) return HUGE_VAL;
      reach = query.reach;
      continue;
    }
    const Touch& near = seen ? *now : found.items[at(nearest(found))];
    if (near.gap <= reached) return t;
    const double planes = faces ? near.gap : between_planes(a, b, near.n);
    const double s = (planes > 0 ? planes : 0.5 * near.gap) - target;
    const double speed = closing_speed(a, b, near.n);
    if (speed * (query.dt - t) <= s) return HUGE_VAL;
    if (s <= 1e-15 * size) return t;
    if (rounds) rounds->push_back({t, s, speed, !(planes > 0), near});
    t += s / speed;                                                                 // (ahead.2)
    if (faces) reach = std::min(reach, (1 + 1e-6) * (near.gap + s) + 1e-6 * size);  // no point moves by more than s
  }
  return t;
}

double take_back(const Query& query, const PlacedSolid& a, const PlacedSolid& b, double t, Touch& x) {
  const Vec3 on_a = brought_back(query.a, a, x.p - 0.5 * x.gap * x.n);
  const Vec3 end = x.p + 0.5 * x.gap * x.n;
  const bool solid = query.a.solid->convex_or_flat();
  const Vec3 on_b = solid ? brought_back(query.b, b, end) : turned_back(query.b, b, end, -x.n);
  const double opens = x.n.dot(velocity(query.b, on_b) - velocity(query.a, on_a));
  x.gap -= t * opens;
  x.p = on_b - 0.5 * x.gap * x.n;
  x.arm_a = on_a - x.p;
  x.arm_b = on_b - x.p;
  return opens;
}

void look_ahead(const Query& query, Touches& touches) {
  if (!may_meet(query, touches)) return;

  const Touch* near = touches.count > 0 ? &touches.items[at(nearest(touches))] : nullptr;
  const bool solid = query.a.solid->convex_or_flat();
  if (near && !(solid && near->gap < query.margin)) near = nullptr;  // one that is nearer may not be listed
  const double touch_time = first_touch(query, nullptr, near), t = std::min(touch_time, query.dt);
  if (touches.count == 0 && touch_time > query.dt) return;
  const PlacedSolid a = moved_on(query.a, t), b = moved_on(query.b, t);
  touches.count = 0;
  touch({a, b, query.margin, query.dt - t, query.reach, query.scratch, 0, query.ring}, touches);
  int kept = 0;
  for (int i = 0; i < touches.count; ++i) {
    Touch x = touches.items[at(i)];
    const double opens = take_back(query, a, b, t, x);
    if (x.gap > 0 || opens < 0) touches.items[at(kept++)] = x;  // else on its way out
  }
  touches.count = kept;
}

void look_at_end(const Query& query, Touches& touches) {
  const double dt = query.dt, most = query.left * query.margin;
  const double turn = (!query.a.solid->convex_or_flat() ? 0 : turning(query.a)) + turning(query.b);
  if (dt * turn * smaller_radius(query) < most) return;
  const PlacedSolid a = moved_on(query.a, dt), b = moved_on(query.b, dt);
  Touches found;
  touch({a, b, 0, 0, 0, query.scratch, 0, query.ring}, found);
  // Along the normal of the end the pair may overlap at the start though it is apart: that is not to be removed.
  const double least = touches.count > 0 ? std::min(0.0, touches.items[at(nearest(touches))].gap) : 0;
  for (int i = 0; i < found.count && touches.count < Touches::most; ++i) {
    Touch x = found.items[at(i)];
    const double gap = x.gap, allowed = most + bent(a, x.p, dt) + bent(b, x.p, dt);
    take_back(query, a, b, dt, x);
    if (!(gap < -allowed && gap < x.gap)) continue;  // deep, and closing
    x.gap = std::max(x.gap, least);
    touches.items[at(touches.count++)] = x;
  }
}

}  // namespace tribo
