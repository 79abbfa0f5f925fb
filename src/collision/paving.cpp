// A plane carries a shape where, for each of its contacts with the half-space under the plane, of gap phi and velocity c,
//   x and x + t c, t = min(dt, phi / -c_N), lie in faces of the plane                                    (paving.1)
// and no solid is nearer than the plane to what is in front of it: it is convex and behind that plane. So these contacts are
// those of the shape with all solids of the plane, wherever the seams lie.
#include "collision/paving.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tribo {
namespace {

constexpr double one_plane = 1e-6;    // of the radius of a solid: how far corners of its face may lie off the plane
constexpr double beyond = 1e-5;       // the same across the plane: how far solids may miss each other
constexpr double least_cover = 0.25;  // of the thickness of what is under it: deeper, another way out may be nearer
constexpr double inset = 0.01, lift = 1e-4;  // shares of a face: where it is looked at, and how far off

Vec3 outward(const Placement& X, const PolytopeFace& face) { return X.R * face.n; }

double thickness_under(const Solid& solid, const PolytopeFace& face) {
  double lowest = face.offset;
  for (const Vec3& x : solid.polytope->vertices) lowest = std::min(lowest, face.n.dot(x));
  return face.offset - lowest;
}

bool same_motion(const Motion& a, const Motion& b) {
  return a.velocity == b.velocity && a.angular_velocity.isZero(0) && b.angular_velocity.isZero(0) &&
         a.amplitude == b.amplitude && a.swing.isZero(0) && b.swing.isZero(0) && a.frequency == b.frequency &&
         a.phase == b.phase;
}

/// Of fixed and kinematic bodies: do they go the same way, unless they are told otherwise?
bool move_alike(const Model& model, int a, int b) {
  if (a == b) return true;
  if (a == -1 || b == -1) return false;
  return same_motion(model.kinematic[at(kinematic_index(a))].motion, model.kinematic[at(kinematic_index(b))].motion);
}

Geometry plane_shape() {
  Geometry g;
  g.kind = ShapeKind::HalfSpace;
  g.radius = HUGE_VAL;
  return g;
}

}  // namespace

Paving::Paving(const Model& model, const std::vector<Solid>& solids) : model_(&model), half_space_(plane_shape()) {
  Offsets offsets;
  std::vector<Placement> X;
  for (const Geometry& g : model.geometries)
    X.push_back(g.body < -1 ? model.kinematic[at(kinematic_index(g.body))].X_WB * g.X_BG : g.X_BG);
  for (std::size_t i = 0; i < model.geometries.size(); ++i) {
    const Geometry& g = model.geometries[i];
    first_face_.push_back(static_cast<int>(faces_.size()));
    if (g.body >= 0 || (g.kind != ShapeKind::Box && g.kind != ShapeKind::Convex)) continue;
    for (const PolytopeFace& face : solids[i].polytope->faces)
      if (open_face(model, solids, X, i, face)) add_face(X[i], static_cast<int>(i), solids[i], face, offsets);
  }
  first_face_.push_back(static_cast<int>(faces_.size()));
  keep_shared();
}

/// A solid that has a plane for itself has no seams there, though several facets of it may lie in that plane.
void Paving::keep_shared() {
  std::vector<char> shared(planes_.size(), 0);
  for (const Face& f : faces_) shared[at(f.plane)] |= f.geometry != planes_[at(f.plane)].first;
  std::vector<Face> kept;
  for (std::size_t i = 0; i + 1 < first_face_.size(); ++i) {
    const int first = static_cast<int>(kept.size());
    for (int f = first_face_[i]; f < first_face_[i + 1]; ++f)
      if (shared[at(faces_[at(f)].plane)]) kept.push_back(faces_[at(f)]);
    first_face_[i] = first;
  }
  first_face_.back() = static_cast<int>(kept.size());
  faces_.swap(kept);
}

/// Are its middle and its corners outside of all other solids?
bool Paving::open_face(const Model& model, const std::vector<Solid>& solids, const std::vector<Placement>& X,
                       std::size_t i, const PolytopeFace& face) {
  const Solid& solid = solids[i];
  std::vector<Vec3> points(1, Vec3::Zero());
  for (int v : face.loop) points[0] += solid.polytope->vertices[at(v)] / static_cast<double>(face.loop.size());
  for (int v : face.loop) points.push_back(points[0] + (1 - inset) * (solid.polytope->vertices[at(v)] - points[0]));
  for (Vec3& p : points) p = X[i] * Vec3(p + lift * solid.radius * face.n);
  for (std::size_t k = 0; k < solids.size(); ++k) {
    if (k == i || model.geometries[k].body >= 0 || !solids[k].convex_or_flat()) continue;
    const bool plane = solids[k].kind == ShapeKind::HalfSpace;
    if (!plane && (X[i].p - X[k].p).norm() > 1.01 * (solid.radius + solids[k].radius)) continue;
    for (const Vec3& p : points) {
      const Vec3 x = X[k].R.transpose() * (p - X[k].p);
      Vec3 ignored;
      if (plane ? x.z() < 0 : depth_of(solids[k], x, ignored) < 0) return false;
    }
  }
  return true;
}

void Paving::add_face(const Placement& X_WG, int geometry, const Solid& solid, const PolytopeFace& face,
                      Offsets& offsets) {
  const int k = plane_of(X_WG, geometry, solid, face, offsets);
  const Placement X_PG = planes_[at(k)].X_WP.inverse() * X_WG;
  Face& f = faces_.emplace_back(Face{geometry, k, X_PG, {}, thickness_under(solid, face)});
  for (int v : face.loop) f.corners.push_back((X_PG * solid.polytope->vertices[at(v)]).head<2>());
}

/// The plane that the face lies in, a new one if need be.
int Paving::plane_of(const Placement& X_WG, int geometry, const Solid& solid, const PolytopeFace& face,
                     Offsets& offsets) {
  const Vec3 n = outward(X_WG, face);
  const double offset = face.offset + n.dot(X_WG.p), off = one_plane * solid.radius;
  const auto holds = [&](const Plane& plane) {
    const Vec3 m = plane.X_WP.R.col(2);
    return m.dot(n) > 0 &&
           move_alike(*model_, model_->geometries[at(plane.first)].body, model_->geometries[at(geometry)].body) &&
           std::all_of(face.loop.begin(), face.loop.end(), [&](int v) {
             return std::abs(m.dot(X_WG * solid.polytope->vertices[at(v)] - plane.X_WP.p)) <= off;
           });
  };
  const double wide = 1e3 * off;  // a small turn about the origin moves what is far from it
  for (auto it = offsets.lower_bound(offset - wide); it != offsets.end() && it->first <= offset + wide; ++it)
    if (holds(planes_[at(it->second)])) return it->second;
  Plane plane{geometry, {}, {}};
  plane.X_GP.R.col(2) = face.n;
  plane.X_GP.R.col(0) = across(face.n);
  plane.X_GP.R.col(1) = face.n.cross(plane.X_GP.R.col(0));
  plane.X_GP.p = face.offset * face.n;
  plane.X_WP = X_WG * plane.X_GP;
  offsets.emplace(offset, static_cast<int>(planes_.size()));
  planes_.push_back(plane);
  return static_cast<int>(planes_.size()) - 1;
}

PlacedSolid Paving::half_space(std::span<const PlacedSolid> placed, const Spot& spot) const {
  const Plane& plane = planes_[at(spot.plane)];
  const PlacedSolid& with = placed[at(plane.first)];
  PlacedSolid out{&half_space_, with.X * plane.X_GP, with.v, with.w};
  const Vec3 r = out.X.p - with.X.p;
  out.v += with.w.cross(r);
  out.arm = with.arm + r;
  return out;
}

/// Is the middle of the shape in front of the plane, and nearer than near or so fast that it may meet it within dt?
bool Paving::over(const PlacedSolid& plane, const PlacedSolid& shape, double near, double dt) const {
  const Solid& solid = *shape.solid;
  if (endless(solid.kind)) return false;
  const Vec3 n = plane.X.R.col(2), r = shape.X.p - plane.X.p;
  if (!(n.dot(r + shape.X.R * solid.box_center) > 0)) return false;
  const double way = dt * ((shape.v - plane.v - plane.w.cross(r)).norm() + shape.spin + plane.w.norm() * solid.radius);
  return n.dot(r) - solid.radius < near + 1.1 * way;
}

std::span<const Paving::Spot> Paving::find(std::span<const PlacedSolid> placed,
                                           std::span<const std::pair<int, int>> pairs, std::span<const double> margins,
                                           double dt) {
  near_.clear();
  tiles_.clear();
  spots_.clear();
  for (const auto& [a, b] : pairs)
    for (int f = first_face_[at(a)]; f < first_face_[at(a) + 1]; ++f) {
      const int k = faces_[at(f)].plane;
      const PlacedSolid plane = half_space(placed, {k, b, {}});
      if (over(plane, placed[at(b)], margins[at(b)], dt) && in_place(placed, plane, faces_[at(f)]))
        near_.push_back({k, b, a});
    }
  std::sort(near_.begin(), near_.end(), [](const Near& x, const Near& y) {
    return std::tie(x.plane, x.shape, x.tile) < std::tie(y.plane, y.shape, y.tile);
  });
  for (const Near& x : near_) tiles_.push_back(x.tile);
  for (std::size_t i = 0, end = 0; i < near_.size(); i = end) {
    while (end < near_.size() && near_[end].plane == near_[i].plane && near_[end].shape == near_[i].shape) ++end;
    spots_.push_back({near_[i].plane, near_[i].shape, {tiles_.data() + i, end - i}});
  }
  return spots_;
}

const Paving::Face& Paving::face_of(int geometry, int plane) const {
  int f = first_face_[at(geometry)];
  while (faces_[at(f)].plane != plane) ++f;
  return faces_[at(f)];
}

/// Kinematic bodies may have been told to part. A plane that tilts is met by other points than those of now.
bool Paving::in_place(std::span<const PlacedSolid> placed, const PlacedSolid& plane, const Face& face) const {
  const PlacedSolid& tile = placed[at(face.geometry)];
  if (model_->geometries[at(face.geometry)].body == -1) return true;
  if (plane.w.cross(plane.X.R.col(2)).norm() > 1e-12 * plane.w.norm()) return false;
  const Vec3 p = plane.X * face.X_PG.p, v = plane.v + plane.w.cross(tile.X.p - plane.X.p);
  return (p - tile.X.p).norm() <= one_plane * tile.solid->radius &&
         (plane.X.R * face.X_PG.R - tile.X.R).norm() <= one_plane &&
         (tile.v - v).norm() <= 1e-9 * (v.norm() + tile.v.norm()) && (tile.w - plane.w).norm() <= 1e-9 * plane.w.norm();
}

/// Which solid of the spot has x, in W, in its face; -1: none.
int Paving::tile_at(std::span<const PlacedSolid> placed, const PlacedSolid& plane, const Spot& spot, const Vec3& x,
                    double size) const {
  const Eigen::Vector2d p = (plane.X.R.transpose() * (x - plane.X.p)).head<2>();
  int beside = -1;  // within rounding of its edge
  for (int tile : spot.tiles) {
    const std::vector<Eigen::Vector2d>& loop = face_of(tile, spot.plane).corners;
    double least = HUGE_VAL;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const Eigen::Vector2d from = loop[k], side = (loop[(k + 1) % loop.size()] - from).normalized(), to = p - from;
      least = std::min(least, side.x() * to.y() - side.y() * to.x());
    }
    if (least >= 0) return tile;
    if (least < -beyond * std::min(placed[at(tile)].solid->radius, size)) continue;
    if (beside >= 0) return tile;  // on a seam
    beside = tile;
  }
  return -1;
}

bool Paving::carries(std::span<const PlacedSolid> placed, const Spot& spot, const Query& query, const Touches& touches,
                     std::span<int> tiles) const {
  const PlacedSolid &plane = query.a, &shape = query.b;
  const double size =
      shape.solid->radius > 0 ? shape.solid->radius : HUGE_VAL;  // of a point: that of the solid under it
  for (int i = 0; i < touches.count; ++i) {
    const Touch& t = touches.items[at(i)];
    const int now = tile_at(placed, plane, spot, t.p, size);
    if (now < 0) return false;
    const double cover = least_cover * face_of(now, spot.plane).thickness;
    if (t.gap < -std::min(cover, query.margin)) return false;
    tiles[at(i)] = now;
    if (!(t.gap > 0)) continue;
    const Vec3 c = shape.v + shape.w.cross(t.p - shape.X.p) - plane.v - plane.w.cross(t.p - plane.X.p);
    const double closing = -t.n.dot(c), time = closing * query.dt > t.gap ? t.gap / closing : query.dt;
    tiles[at(i)] = tile_at(placed, plane, spot, t.p + time * c, size);  // (paving.1)
    if (tiles[at(i)] < 0) return false;
  }
  return touches.count > 0;
}

}  // namespace tribo
