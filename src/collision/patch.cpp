// Round faces: six points of the rim and six inside.
//
// A rigid face may bear its load anywhere, and its torsion depends on where: from 0 in the middle to mu N R at the rim.
// Friction at the rim alone turns 1.5 times as hard as that of even pressure,
//   T = mu N (1/A) int |x| dA,   2/3 mu N R of a disc                                                   (patch.1)
// The solver gives points that can share a load alike equal forces (newton.5), so T is right where the mean distance of
// the points from the centroid is that of the area: with rim points x_i, and points inside at the middles m_i between
// neighbours drawn to the centroid,
//   s = (n T/(mu N) - sum |x_i|) / sum |m_i|,   R/3 from the centroid of a disc                          (patch.2)
// The rim decides when the face tips. Up to eight corners, as those of boxes, are listed as they are, and so are up to 16 of
// what is not round: the common region of two hulls is covered, and turns harder than even pressure does.
#include <algorithm>
#include <array>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double flat = 3e-5, cap_flat = 1e-3;  // tilt up to which the whole face touches; of a cylinder
constexpr double sharp = 0.45;                  // cosine of the turn at a corner that always is a point of the rim
constexpr double same = 1e-6;                   // of the size of the region: corners no farther apart are one
constexpr double steep = 0.9;                   // cosine of an axis with the normal that says little about the face
constexpr std::size_t few = 8;                  // corners that are listed as they are
constexpr double round = 0.95;  // nearest over farthest corner from the centroid: a polygon that stands for a disc
constexpr std::size_t n_rim = patch_corners;

using Corners = std::vector<Touch>;

/// Area, its centroid (with the gap there) and the mean distance from it.
struct Region {
  Touch middle;
  double mean = 0, size = 0;
};

Region measure(const Corners& corners) {
  Region out;
  const Touch& o = corners[0];
  Vec3 moment = Vec3::Zero();
  double area = 0, gap = 0;
  for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
    const Vec3 p = corners[k].p - o.p, q = corners[k + 1].p - o.p;
    const double a = 0.5 * std::abs(o.n.dot(p.cross(q)));
    area += a;
    moment += a / 3 * (p + q);
    gap += a / 3 * (o.gap + corners[k].gap + corners[k + 1].gap);
  }
  out.middle = o;
  if (!(area > 0)) return out;
  out.middle.p = o.p + moment / area;
  out.middle.gap = gap / area;
  double sum = 0;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const Vec3 p = corners[k].p - out.middle.p, q = corners[(k + 1) % corners.size()].p - out.middle.p;
    const double length = (q - p).norm();
    out.size = std::max(out.size, p.norm());
    if (!(length > 0)) continue;
    // int |x| dA over the triangle of the centroid and a side at distance d, from u = a to b along it:
    // [d u rho + d^3 asinh(u/d)]/6, rho^2 = u^2 + d^2.
    const Vec3 t = (q - p) / length;
    const double d = p.cross(t).norm();
    if (!(d > 0)) continue;
    auto part = [&](double u) { return d * u * std::hypot(u, d) + d * d * d * std::asinh(u / d); };
    sum += (part(t.dot(q)) - part(t.dot(p))) / 6;
  }
  out.mean = sum / area;
  return out;
}

/// Drops corners that coincide with the one before.
void part_corners(Corners& corners, double tolerance) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < corners.size(); ++k)
    if (kept == 0 || (corners[k].p - corners[kept - 1].p).norm() > tolerance) corners[kept++] = corners[k];
  while (kept > 1 && (corners[0].p - corners[kept - 1].p).norm() <= tolerance) --kept;
  corners.resize(kept);
}

/// Begins with the corner that lies farthest along an axis of the shape, and goes on with the one of its neighbours that does:
/// what is chosen by the order, where ways or corners are equally good, is then the same in a mirror and goes with the shape.
void order_corners(const PlacedSolid& x, Corners& corners) {
  const Vec3 n = corners[0].n;
  const bool across = std::abs(n.dot(x.X.R.col(0))) > steep;
  const Vec3 axis = x.X.R.col(across ? 2 : 0);
  const auto lower = [&](const Touch& p, const Touch& q) { return axis.dot(p.p) < axis.dot(q.p); };
  std::rotate(corners.begin(), std::max_element(corners.begin(), corners.end(), lower), corners.end());
  if (lower(corners[1], corners.back())) std::reverse(corners.begin() + 1, corners.end());
}

bool is_sharp(const Corners& corners, std::size_t k) {
  const std::size_t n = corners.size();
  const Vec3 in = corners[k].p - corners[(k + n - 1) % n].p, out = corners[(k + 1) % n].p - corners[k].p;
  return in.dot(out) < sharp * in.norm() * out.norm();
}

/// Points of the rim, in order: the sharp corners, then what halves the longest way between two of them; without sharp
/// ones, equal parts of the way around, so that the points lie about the centroid on all sides alike. Ties go to the first.
class Rim {
 public:
  Rim(const Corners& corners, std::vector<double>& way) : corners_(corners), way_(way), n_(corners.size()) {
    way_.assign(n_ + 1, 0);
    for (std::size_t k = 0; k < n_; ++k) way_[k + 1] = way_[k] + (corners[(k + 1) % n_].p - corners[k].p).norm();
    std::size_t sharp_ones = 0;
    for (std::size_t k = 0; k < n_ && sharp_ones < n_rim; ++k)
      if (is_sharp(corners, k)) chosen_[sharp_ones++] = k;
    if (sharp_ones == 0) {
      divide();
      return;
    }
    for (std::size_t count = sharp_ones; count < n_rim; ++count) halve(count);
    for (std::size_t k = 0; k < n_rim; ++k) points_[k] = corners[chosen_[k]];
  }
  const Touch& operator[](std::size_t k) const { return points_[k % n_rim]; }

 private:
  void divide() {
    for (std::size_t part = 0, k = 0; part < n_rim; ++part) {
      const double s = static_cast<double>(part) / n_rim * way_[n_];
      while (k + 1 < n_ && way_[k + 1] <= s + same * way_[n_]) ++k;
      const Touch &from = corners_[k], &to = corners_[(k + 1) % n_];
      const double beyond = s - way_[k], share = beyond > same * way_[n_] ? beyond / (way_[k + 1] - way_[k]) : 0;
      points_[part] = from;
      points_[part].p += share * (to.p - from.p);
      points_[part].gap += share * (to.gap - from.gap);
    }
  }
  void halve(std::size_t count) {
    std::size_t after = 0, best = 0;
    double longest = -1;
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t from = chosen_[c], to = c + 1 < count ? chosen_[c + 1] : chosen_[0] + n_;
      if (to - from < 2 || along(to) - along(from) <= longest + same * way_[n_]) continue;
      longest = along(to) - along(from);
      after = c;
      best = from + 1;
      const double middle = 0.5 * (along(from) + along(to));
      for (std::size_t k = from + 2; k < to; ++k)
        if (std::abs(along(k) - middle) < std::abs(along(best) - middle) - same * way_[n_]) best = k;
    }
    std::size_t place = after + 1;
    if (best >= n_) {  // past the first corner of the list
      best -= n_;
      for (place = 0; chosen_[place] < best;) ++place;
    }
    for (std::size_t c = count; c > place; --c) chosen_[c] = chosen_[c - 1];
    chosen_[place] = best;
  }
  double along(std::size_t k) const { return k <= n_ ? way_[k] : way_[k - n_] + way_[n_]; }

  const Corners& corners_;
  std::vector<double>& way_;  // from the first corner to each
  std::size_t n_;
  std::array<std::size_t, n_rim> chosen_{};
  std::array<Touch, n_rim> points_;
};

bool has_cap(const Query& query) {
  return query.a.solid->kind == ShapeKind::Cylinder || query.b.solid->kind == ShapeKind::Cylinder;
}

/// Do the corners stand for the cap of a cylinder?
bool is_cap(const Query& query, const Corners& corners, const Region& region) {
  if (!has_cap(query)) return false;
  return std::all_of(corners.begin(), corners.end(), [&](const Touch& t) {
    return std::abs((t.p - region.middle.p).norm() - region.size) < same * region.size;
  });
}

/// The cap of a cylinder on a face: a circle, whose points stand where the ring of the query says.
void add_cap(const Query& query, const Corners& corners, const Region& region, Touches& out) {
  const bool on_b = query.b.solid->kind == ShapeKind::Cylinder &&
                    std::abs(query.b.solid->size.x() - region.size) < 10 * same * region.size;
  const Placement& X = (on_b ? query.b : query.a).X;
  const Touch& middle = region.middle;
  Vec3 slope = Vec3::Zero();  // of the gap: the face may be tilted a little
  for (const Touch& t : corners) slope += t.gap * (t.p - middle.p);
  slope *= 2 / (static_cast<double>(corners.size()) * region.size * region.size);
  const unsigned cap = X.R.col(2).dot(middle.p - X.p) > 0;
  for (unsigned k = 0; k < cap_points; ++k) {
    if (k == patch_corners) continue;
    const Eigen::Vector2d x = region.size * cap_point(query.ring, k);
    const Vec3 d = x.x() * X.R.col(0) + x.y() * X.R.col(1);
    out.add(query, middle.p + d, middle.n, middle.gap + slope.dot(d), first_on_face + cap_feature(query.ring, cap, k));
  }
}

bool is_round(const Corners& corners, const Region& region) {
  return std::all_of(corners.begin(), corners.end(),
                     [&](const Touch& t) { return (t.p - region.middle.p).norm() > round * region.size; });
}

}  // namespace

bool add_patch(const Query& query, Touches& out) {
  constexpr std::uint64_t inside = 1ull << 63;
  Corners& corners = query.scratch->corners;
  if (query.scratch->candidates.size() <= few) return false;
  corners = query.scratch->candidates;
  const Region region = measure(corners);
  const auto [low, high] =
      std::minmax_element(corners.begin(), corners.end(), [](const Touch& a, const Touch& b) { return a.gap < b.gap; });
  if (!(region.mean > 0) || high->gap - low->gap > 2 * (has_cap(query) ? cap_flat : flat) * region.size) return false;
  part_corners(corners, same * region.size);
  if (corners.size() <= few) return false;
  if (corners.size() <= Touches::most && !has_cap(query) && !is_round(corners, region)) {
    for (const Touch& t : corners) out.add(query, t.p, t.n, t.gap, t.feature);
    return true;
  }
  if (is_cap(query, corners, region)) {
    add_cap(query, corners, region, out);
    return true;
  }

  order_corners(query.a.solid->kind == ShapeKind::Cylinder ? query.a : query.b, corners);
  const Rim rim(corners, query.scratch->spread);
  const Vec3& middle = region.middle.p;
  double sum_rim = 0, sum_between = 0;
  for (std::size_t k = 0; k < n_rim; ++k) {
    out.add(query, rim[k].p, rim[k].n, rim[k].gap, rim[k].feature);
    sum_rim += (rim[k].p - middle).norm();
    sum_between += (0.5 * (rim[k].p + rim[k + 1].p) - middle).norm();
  }
  const double s = std::clamp((2 * n_rim * region.mean - sum_rim) / sum_between, 0.0, 1.0);  // (patch.2)
  for (std::size_t k = 0; k < n_rim; ++k) {
    const Touch &t = rim[k], &next = rim[k + 1];
    const double gap = (1 - s) * region.middle.gap + 0.5 * s * (t.gap + next.gap);
    out.add(query, middle + s * (0.5 * (t.p + next.p) - middle), t.n, gap, t.feature | inside);
  }
  return true;
}

}  // namespace tribo
