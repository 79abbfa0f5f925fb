// A contact of shape b with solid a, at a's point p with normal n, is covered by a neighbour k of a, fixed to the same
// body, where
//   k holds p, and reaches beyond p along n:  max_k n . y > n . p                                         (seams.1)
//   a does not reach beyond the plane of a contact of b with k, of normal m at x:  max_a m . y <= m . x   (seams.2)
// By (seams.1) p is not a nearest point of the two solids together: n is outside the normal cone of their union. By
// (seams.2) b cannot meet a while k holds it up. Of coplanar tiles the side faces and the edges between them are
// covered; a kerb, a riser or a ramp reaches beyond the plane of the floor before it and is not. Two solids cannot cover
// each other's contact at one point, since (seams.1) of one denies (seams.2) of the other.
#include "collision/seams.hpp"

#include <algorithm>
#include <map>

#include "collision/broadphase.hpp"

namespace tribo {
namespace {

constexpr double tolerance = 1e-5;  // of the smallest of the three radii: how far joined solids may miss each other
constexpr double found = 1e-4;      // the same of a point on the edge of a solid, as GJK finds it
constexpr double level = 1e-6;      // of the smaller radius: out of one plane, of the surface and of gaps
constexpr double one_normal = 1e-5, half_turn = M_PI + 1e-7;

Bounds bounds_of(const Geometry& g, const Solid& solid, int index) {
  const Vec3 center = g.X_BG * solid.box_center;
  const Vec3 half = g.X_BG.R.cwiseAbs() * solid.box_half + Vec3::Constant(tolerance * solid.radius);
  return {center - half, center + half, index, false};
}

}  // namespace

Seams::Seams(const Model& model, const std::vector<Solid>& solids)
    : model_(&model), neighbours_(model.geometries.size()) {
  std::map<int, std::vector<int>> of_body;
  for (std::size_t i = 0; i < model.geometries.size(); ++i)
    of_body[model.geometries[i].body].push_back(static_cast<int>(i));
  for (const auto& [body, geometries] : of_body)
    if (geometries.size() > 1) find_neighbours(model, geometries, solids);
  for (std::size_t i = 0; i < model.geometries.size(); ++i) {
    const Geometry& g = model.geometries[i];
    if (g.body < 0 && !endless(g.kind)) (g.body == -1 ? fixed_ : kinematic_).push_back(static_cast<int>(i));
  }
  any_ |= !kinematic_.empty() && kinematic_.size() + fixed_.size() > 1;
  if (!any_) return;
  beside_.reserve(64);
  angles_.reserve(64);
}

void Seams::find_neighbours(const Model& model, const std::vector<int>& geometries, const std::vector<Solid>& solids) {
  Broadphase broadphase;
  for (int i : geometries)
    if (!endless(solids[at(i)].kind)) broadphase.boxes.push_back(bounds_of(model.geometries[at(i)], solids[at(i)], i));
  std::vector<std::pair<int, int>> pairs;
  broadphase.find(pairs);
  for (const auto& [i, j] : pairs) {
    neighbours_[at(i)].push_back(j);
    neighbours_[at(j)].push_back(i);
    any_ = true;
  }
  for (int k : geometries) {
    if (solids[at(k)].kind != ShapeKind::HalfSpace) continue;
    const Placement& X = model.geometries[at(k)].X_BG;
    for (int i : geometries) {
      if (endless(solids[at(i)].kind)) continue;
      const Placement& Y = model.geometries[at(i)].X_BG;
      const Vec3 down = -X.R.col(2);
      const double lowest = -down.dot(Y.p - X.p) - reach_along(solids[at(i)], Y.R.transpose() * down);
      if (lowest > tolerance * solids[at(i)].radius) continue;
      neighbours_[at(i)].push_back(k);
      any_ = true;
    }
  }
  for (int i : geometries) std::sort(neighbours_[at(i)].begin(), neighbours_[at(i)].end());
}

Seams::Side Seams::side_a(const Contact& c) {
  const Vec3 n = c.R_WC.col(2);
  const Vec3 arm = c.arm_a.isZero(0) ? Vec3(-0.5 * c.gap * n) : c.arm_a;
  return {c.geometry_a, c.geometry_b, c.p_WC + arm, n};
}

Seams::Side Seams::side_b(const Contact& c) {
  const Vec3 n = c.R_WC.col(2);
  const Vec3 arm = c.arm_b.isZero(0) ? Vec3(0.5 * c.gap * n) : c.arm_b;
  return {c.geometry_b, c.geometry_a, c.p_WC + arm, -n};
}

bool Seams::covers(std::span<const PlacedSolid> placed, const std::vector<Contact>& contacts, const Side& side,
                   int k) const {
  const PlacedSolid &a = placed[at(side.solid)], &b = placed[at(side.other)], &cover = placed[at(k)];
  const double size = std::min({a.solid->radius, b.solid->radius, cover.solid->radius}), slack = found * size;
  const Vec3 r = side.p - cover.X.p;
  if (const double far = cover.solid->radius + slack; r.squaredNorm() > far * far) return false;
  const Vec3 x = cover.X.R.transpose() * r, n = cover.X.R.transpose() * side.n;
  if (!holds_within(*cover.solid, x, slack) || !(reach_along(*cover.solid, n) - n.dot(x) > 2 * slack))  // (seams.1)
    return false;

  const auto holds = [&](const Contact& c, int solid) {
    const Side held = c.geometry_a == solid ? side_a(c) : side_b(c);
    const double beyond = reach_along(*a.solid, a.X.R.transpose() * held.n) + held.n.dot(a.X.p - held.p);
    return beyond <= tolerance * size;  // (seams.2)
  };
  const auto [from, to] = of_pair(contacts, k, side.other);
  if (std::any_of(from, to, [&](const Contact& c) { return holds(c, k); })) return true;
  // What is fast meets a tile after some others: those that are not near yet hold nothing, the first one does.
  return model_->geometries[at(side.solid)].body < 0 &&
         std::any_of(contacts.begin(), contacts.end(), [&](const Contact& c) {
           const bool another = c.geometry_a != side.solid || (of_plane(c) && c.R_WC.col(2).dot(side.n) < 1 - level);
           return c.geometry_b == side.other && another && as_one(placed, side, c.geometry_a) && holds(c, c.geometry_a);
         });
}

Seams::Range Seams::of_pair(const Contacts& contacts, int solid, int other) const {
  const auto [a, b] = side_a_first(*model_, solid, other) ? std::pair(solid, other) : std::pair(other, solid);
  const auto pair = static_cast<std::uint64_t>(a) << 24 | static_cast<std::uint64_t>(b);
  const auto before = [](const Contact& y, std::uint64_t id) { return y.id >> 16 < id; };
  const auto from = std::lower_bound(contacts.begin(), contacts.end(), pair, before);
  auto to = from;
  while (to != contacts.end() && to->id >> 16 == pair) ++to;
  return {from, to};
}

// Of one body, or fixed and kinematic ones that move together where the contact is.
bool Seams::as_one(std::span<const PlacedSolid> placed, const Side& side, int k) const {
  const int body = model_->geometries[at(side.solid)].body, other = model_->geometries[at(k)].body;
  if (body == other) return true;
  if (body >= 0 || other >= 0) return false;
  const PlacedSolid &a = placed[at(side.solid)], &b = placed[at(k)];
  const Vec3 v = a.v + a.w.cross(side.p - a.X.p), u = b.v + b.w.cross(side.p - b.X.p);
  return (u - v).norm() <= 1e-9 * (u.norm() + v.norm());
}

template <class F>
bool Seams::any_neighbour(std::span<const PlacedSolid> placed, const Side& side, F f) const {
  for (int k : neighbours_[at(side.solid)])
    if (f(k)) return true;
  const int body = model_->geometries[at(side.solid)].body;
  if (kinematic_.empty() || body >= 0) return false;
  const auto joins = [&](int k) {
    const PlacedSolid& x = placed[at(k)];
    const double far = (1 + found) * x.solid->radius;
    return model_->geometries[at(k)].body != body && (side.p - x.X.p).squaredNorm() <= far * far &&
           as_one(placed, side, k) && f(k);
  };
  return std::any_of(kinematic_.begin(), kinematic_.end(), joins) ||
         (body < -1 && std::any_of(fixed_.begin(), fixed_.end(), joins));
}

bool Seams::covered(std::span<const PlacedSolid> placed, const Contacts& contacts, const Side& side) const {
  if (endless(placed[at(side.solid)].solid->kind)) return false;
  return any_neighbour(placed, side, [&](int k) { return covers(placed, contacts, side, k); });
}

// Contacts with the plane of a paving (collision.cpp) have no seams.
bool Seams::of_plane(const Contact& c) const { return c.id >> 40 >= model_->geometries.size(); }

// The contacts of side.other that lie in the plane of the side, on solids that are as one with its own.
void Seams::gather(std::span<const PlacedSolid> placed, const Contacts& contacts, std::size_t i, const Side& side) {
  const double size = std::min(placed[at(side.solid)].solid->radius, placed[at(side.other)].solid->radius);
  const Vec3 x = across(side.n), y = side.n.cross(x);
  beside_.clear();
  for (std::size_t j = 0; j < contacts.size(); ++j) {
    const Contact& c = contacts[j];
    const bool first = c.geometry_b == side.other;
    if (j == i || drop_[j] || !(first || c.geometry_a == side.other)) continue;
    const Side held = first ? side_a(c) : side_b(c);
    const Vec3 d = held.p - side.p;
    const double apart = std::min(std::abs(side.n.dot(d)), std::abs(held.n.dot(d)));  // one may be GJK's
    if ((held.n - side.n).norm() > one_normal || apart > level * size || !as_one(placed, side, held.solid)) continue;
    beside_.push_back({x.dot(d), y.dot(d), c.gap - contacts[i].gap});
  }
}

// (seams.3) of beside_.
bool Seams::surrounded(double size) {
  angles_.clear();
  Mat3 M = Mat3::Zero();
  Vec3 b = Vec3::Zero();
  for (const Beside& p : beside_) {
    const Vec3 row(1, p.x / size, p.y / size);
    M += row * row.transpose();
    b += p.gap * row;
    if (std::hypot(p.x, p.y) > tolerance * size) angles_.push_back(std::atan2(p.y, p.x));
  }
  if (angles_.size() < 2) return false;
  std::sort(angles_.begin(), angles_.end());
  double widest = 2 * M_PI - (angles_.back() - angles_.front());
  for (std::size_t k = 1; k < angles_.size(); ++k) widest = std::max(widest, angles_[k] - angles_[k - 1]);
  if (widest > half_turn) return false;
  M.diagonal().array() += 1e-14 * M(0, 0);  // of a line: any plane through it
  const Vec3 plane = M.ldlt().solve(b);
  return std::abs(plane[0]) <= level * size && std::all_of(beside_.begin(), beside_.end(), [&](const Beside& p) {
           return std::abs(plane.dot(Vec3(1, p.x / size, p.y / size)) - p.gap) <= level * size;
         });
}

bool Seams::between(std::span<const PlacedSolid> placed, const Contacts& contacts, std::size_t i, const Side& side) {
  const PlacedSolid &a = placed[at(side.solid)], &b = placed[at(side.other)];
  if (endless(a.solid->kind) || !b.solid->convex_or_flat()) return false;
  const double size = std::min(a.solid->radius, b.solid->radius), still = level * size;
  const Contact& c = contacts[i];
  if ((!c.arm_a.isZero(0) || !c.arm_b.isZero(0)) && std::abs(c.gap) <= still) {  // (seams.4)
    gather(placed, contacts, i, side);
    if (std::any_of(beside_.begin(), beside_.end(), [&](const Beside& p) { return std::abs(p.gap) <= still; }))
      return true;
  }
  const bool seam = any_neighbour(placed, side, [&](int k) {
    const PlacedSolid& next = placed[at(k)];
    if (endless(next.solid->kind)) return false;
    const double slack = tolerance * std::min({a.solid->radius, b.solid->radius, next.solid->radius});
    const Vec3 r = side.p - next.X.p;
    if (const double far = next.solid->radius + slack; r.squaredNorm() > far * far) return false;
    return holds_within(*next.solid, next.X.R.transpose() * r, slack);
  });
  if (!seam) return false;
  gather(placed, contacts, i, side);
  return surrounded(size);
}

void Seams::remove_covered(std::span<const PlacedSolid> placed, std::vector<Contact>& contacts) {
  if (!any_) return;
  drop_.assign(contacts.size(), 0);
  bool found = false;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (endless(placed[at(c.geometry_a)].solid->kind)) continue;  // its normal is the same everywhere
    drop_[i] = covered(placed, contacts, side_a(c)) || covered(placed, contacts, side_b(c));
    found |= drop_[i] != 0;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (drop_[i] || of_plane(c) || endless(placed[at(c.geometry_a)].solid->kind)) continue;
    drop_[i] = between(placed, contacts, i, side_a(c)) || between(placed, contacts, i, side_b(c));
    found |= drop_[i] != 0;
  }
  if (!found) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i)
    if (!drop_[i]) contacts[kept++] = contacts[i];
  contacts.resize(kept);
}

}  // namespace tribo
