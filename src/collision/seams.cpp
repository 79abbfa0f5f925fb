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
  const double slack = tolerance * std::min({a.solid->radius, b.solid->radius, cover.solid->radius});
  const Vec3 r = side.p - cover.X.p;
  if (const double far = cover.solid->radius + slack; r.squaredNorm() > far * far) return false;
  const Vec3 x = cover.X.R.transpose() * r, n = cover.X.R.transpose() * side.n;
  if (!(reach_along(*cover.solid, n) - n.dot(x) > 2 * slack)) return false;
  Vec3 ignored;
  if (!(depth_of(*cover.solid, x, ignored) <= slack)) return false;  // (seams.1)

  const bool k_first = side_a_first(*model_, k, side.other);
  const auto pair =
      static_cast<std::uint64_t>(k_first ? k : side.other) << 24 | static_cast<std::uint64_t>(k_first ? side.other : k);
  auto c = std::lower_bound(contacts.begin(), contacts.end(), pair,
                            [](const Contact& y, std::uint64_t id) { return y.id >> 16 < id; });
  for (; c != contacts.end() && c->id >> 16 == pair; ++c) {
    const Side held = k_first ? side_a(*c) : side_b(*c);
    const double beyond = reach_along(*a.solid, a.X.R.transpose() * held.n) + held.n.dot(a.X.p - held.p);
    if (beyond <= slack) return true;  // (seams.2)
  }
  return false;
}

bool Seams::covered(std::span<const PlacedSolid> placed, const std::vector<Contact>& contacts, const Side& side) const {
  if (endless(placed[at(side.solid)].solid->kind)) return false;
  return std::any_of(neighbours_[at(side.solid)].begin(), neighbours_[at(side.solid)].end(),
                     [&](int k) { return covers(placed, contacts, side, k); });
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
  if (!found) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i)
    if (!drop_[i]) contacts[kept++] = contacts[i];
  contacts.resize(kept);
}

}  // namespace tribo
