// Two placed shapes in, contact points out. Every result is a function of the poses and velocities alone.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collision/polytope_tree.hpp"
#include "tribo/shape.hpp"
#include "tribo/types.hpp"

namespace tribo {

/// A height field, and what is looked up in it often.
struct Terrain {
  explicit Terrain(std::shared_ptr<const HeightField> heights);

  std::shared_ptr<const HeightField> field;
  double lowest, highest;  ///< [m]
  double half_x, half_y;   ///< half extents of the grid [m]
  /// Of each grid point (i, j): does it stand above two opposite neighbours, and are the edges from it to (i + 1, j) and to
  /// (i, j + 1), and the diagonal of its cell, convex?
  enum : char { peak = 1, ridge_x = 2, ridge_y = 4, ridge_diagonal = 8 };
  std::vector<char> ridge;
};

/// The nearest point of one triangle of a terrain. part: 0 the face, else bits of the corners of the edge or vertex.
struct NearTriangle {
  Vec3 p, n;     ///< point and normal of the triangle, in the frame of the terrain
  double d2, s;  ///< squared distance, height over the plane
  int corner[3];
  unsigned part;
};

struct MeshTree;     // model/mesh_tree.hpp
struct ConvexShape;  // convex.cpp: the shape as GJK sees it

/// What the narrow phase keeps of a geometry; made once.
struct Solid {
  /// unit: of the lengths that GJK sees, the same for both solids of a pair; its tolerances are meant for 1 [m].
  explicit Solid(const Geometry& geometry, double unit = 1);
  ~Solid();
  Solid(Solid&&) noexcept;

  ShapeKind kind;
  Vec3 size;
  double radius;                         ///< of the bounding sphere [m]
  Vec3 box_center, box_half;             ///< bounding box in the geometry's frame [m]
  double round;                          ///< radius of a point, sphere or capsule, else 0 [m]
  double unit;                           ///< of convex [m]
  std::unique_ptr<Polytope> polytope;    ///< of a box or a hull; of a cylinder, its caps alone
  std::unique_ptr<ConvexShape> convex;   ///< of all but half-spaces, terrain and meshes
  std::unique_ptr<Terrain> terrain;      ///< of a height field
  std::shared_ptr<const MeshTree> mesh;  ///< of a triangle mesh

  bool convex_or_flat() const { return !terrain && !mesh; }
};

/// A point where two shapes touch or nearly do; n points from the first to the second.
struct Touch {
  Vec3 p, n;
  double gap;
  std::uint64_t feature;  ///< what touches what: stable while the same features meet
  /// From p to the points of a and b that touch, where they meet only within the step (ahead.cpp).
  Vec3 arm_a = Vec3::Zero(), arm_b = Vec3::Zero();
};

/// A vertex of a polygon that is being clipped, in the plane of the reference face.
struct ClipVertex {
  double x, y, z;      ///< z: height over the reference face [m]
  std::uint32_t code;  ///< which features made the vertex
  int edge;            ///< label of the edge that leaves it: >= 0 incident edge, < 0 reference side -1 - s
};

/// How far outside a side of the reference face a vertex may lie and still be moved onto it instead of cut, as a share of
/// the smaller radius: corners of stacked boxes keep their names, and no point leaves the common region by more.
constexpr double side_tolerance = 1e-9;

/// A pair of features is preferred to another unless that is better by this share, and this much of the smallest half extent: a
/// choice without memory that does not flicker between features which are equal but for rounding.
constexpr double relative_preference = 0.05, absolute_preference = 1e-3;

inline bool better(double candidate, double best, double tolerance) {
  return candidate > best + relative_preference * std::abs(best) + tolerance;
}

/// Shapes of the ground: they have no bounding box to speak of.
inline bool endless(ShapeKind kind) {
  return kind == ShapeKind::HalfSpace || kind == ShapeKind::HeightField || kind == ShapeKind::Mesh;
}

struct GjkSolver;  // convex.cpp

/// Buffers that only grow, and the GJK solver. Nothing in it outlives a query.
struct Scratch {
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::vector<Touch> candidates, corners;
  std::vector<double> spread;
  std::vector<ClipVertex> polygon, clipped, sides;
  std::vector<NearTriangle> triangles;
  std::vector<int> picked;  ///< faces or corners

  /// What the last look at a pair took: GJK, and velocities, which decide about points farther than the margin; or else, where
  /// the shapes are out of reach, no less than how far they are apart [m].
  struct Look {
    bool by_gjk = false, by_velocity = false;
    double apart = -HUGE_VAL;
  } look;
  std::unique_ptr<GjkSolver> gjk;
};

struct PlacedSolid {
  const Solid* solid;
  Placement X;              ///< in W
  Vec3 v, w;                ///< velocity of its origin and angular velocity, in W
  double spin = 0;          ///< |w| radius: no point moves faster about the origin [m/s]
  Vec3 arm = Vec3::Zero();  ///< from the origin of its body to its own, in W
  int body = -1;            ///< of the geometry: -1 fixed, below that kinematic
};

/// How fast a shape turns that is not the same about its axis: a ball never [rad/s].
inline double turning(const PlacedSolid& x) {
  switch (x.solid->kind) {
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      return 0;
    case ShapeKind::Capsule:
    case ShapeKind::Cylinder:
      return x.w.cross(x.X.R.col(2)).norm();
    default:
      return x.w.norm();
  }
}

/// How far from where its velocity leads a point may end a step unforeseen, as a share of the margin (sent_off.cpp).
constexpr double astray = 0.5;

/// One pair to look at.
struct Query {
  const PlacedSolid& a;
  const PlacedSolid& b;
  double margin, dt;
  double reach;  ///< no contact beyond this gap can be listed [m]
  Scratch* scratch;
  double bend = 0;     ///< how far turning alone may bend the way of a point within dt [m]
  unsigned ring = 0;   ///< of a cylinder's cap: where on the rim its points are (CapLoad)
  double left = 0.05;  ///< of the margin: overlap at the end of a step that is left to be removed

  /// Nearer than the margin, or closing within dt, or nearly so: weights on joints and forces are not foreseen.
  bool listed(const Vec3& p, const Vec3& n, double gap) const {
    if (gap < margin) return true;
    scratch->look.by_velocity = true;
    if (!(gap < reach)) return false;
    const Vec3 c = b.v + b.w.cross(p - b.X.p) - a.v - a.w.cross(p - a.X.p);
    return gap + dt * n.dot(c) < bend + astray * margin;
  }
  /// Can a point with this gap be listed? gap: no less than that of any.
  bool within_reach(double gap) const {
    if (gap < margin) return true;
    scratch->look.by_velocity = true;
    if (!(gap < reach)) scratch->look.apart = gap;
    return gap < reach;
  }
};

/// near: gaps from which on points are listed in any case.
Query make_query(const PlacedSolid& a, const PlacedSolid& b, double near, double dt, Scratch& scratch);
/// No point of the two shapes closes faster than this [m/s].
double fastest(const PlacedSolid& a, const PlacedSolid& b);

/// The points of one pair.
struct Touches {
  static constexpr int most = 16;
  std::array<Touch, most> items;
  int count = 0;

  void add(const Query& query, const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) {
    if (count < most && query.listed(p, n, gap)) items[static_cast<std::size_t>(count++)] = {p, n, gap, feature};
  }
};

/// Any pair. Points from a to b.
void touch(const Query& query, Touches& out);

/// Pairs that are apart: takes the points of where they meet within the step instead of those of its start.
void look_ahead(const Query& query, Touches& touches);
/// Adds points of a pair that turns which overlap at the end of the step, by more than turning bends their way.
void look_at_end(const Query& query, Touches& touches);

/// A point or ball inside a box or hull leaves by the nearest face behind which nothing stands that is joined to it or fixed.
void leave_by_free_face(const Query& query, std::span<const PlacedSolid> all, Touch& touch);

/// How far a solid reaches along n: the largest n . x of its points, all in its frame. Infinite for terrain and meshes.
double reach_along(const Solid& solid, const Vec3& n);
/// Signed distance of a point from a solid in its frame, and the outward normal there. Not for those.
double depth_of(const Solid& solid, const Vec3& x, Vec3& n);
/// Is that at most slack?
bool holds_within(const Solid& solid, const Vec3& x, double slack);

// By kind; a is the shape that the name says first. A point is a sphere of radius zero.
void touch_half_space(const Query& query, Touches& out);
void touch_sphere_sphere(const Query& query, Touches& out);
void touch_sphere_box(const Query& query, Touches& out);
void touch_sphere_solid(const Query& query, Touches& out);
void touch_sphere_capsule(const Query& query, Touches& out);
/// Two capsules or cylinders that are nearly parallel and side by side. False, and nothing added, where they are not.
bool touch_parallel(const Query& query, Touches& out);
void touch_capsule_capsule(const Query& query, Touches& out);
void touch_box_box(const Query& query, Touches& out);
void touch_capsule_polytope(const Query& query, Touches& out);
void touch_polytope_polytope(const Query& query, Touches& out);
void touch_ellipsoid_polytope(const Query& query, Touches& out);
void touch_smooth(const Query& query, Touches& out);
void touch_terrain(const Query& query, Touches& out);
void touch_mesh(const Query& query, Touches& out);

/// A round face has this many points on its rim, and as many inside (patch.cpp).
constexpr unsigned patch_corners = 6;

/// Points of a cylinder that may be its lowest, in its frame; up is the normal that they are seen along.
struct RimPoints {
  std::array<Vec3, 2 * patch_corners> p;
  std::array<unsigned, 2 * patch_corners> feature;
  int count = 0;
};
RimPoints lowest_rim_points(const Vec3& up, const Vec3& size, unsigned ring = 0);

/// Points of a cap stand at equal angles, from one of so many places between two of them on: its ring.
constexpr unsigned cap_rings = 240;
constexpr unsigned cap_points = 2 * patch_corners + 1;  ///< of one cap: rim, lowest, inside
constexpr unsigned cap_feature(unsigned ring, unsigned cap, unsigned k) { return cap_points * (2 * ring + cap) + k; }
/// Features of caps on faces begin here; those of other points of such pairs are less.
constexpr unsigned first_on_face = 64;
/// A point of the rim (k < 6) or inside (k > 6), over the radius.
Eigen::Vector2d cap_point(unsigned ring, unsigned k);

/// Where the load of a cap lay, from the features of its points and their forces.
class CapLoad {
 public:
  explicit CapLoad(unsigned first) : first_(first) {}
  void add(std::uint64_t feature, double f);
  /// The ring, turned where the load is near the rim between two points: then one comes to lie there.
  unsigned ring() const;

 private:
  unsigned first_, ring_ = 0;
  bool tilted_ = false;  // on its lowest point, which is on the rim wherever it leans
  double sum_ = 0;
  Eigen::Vector2d moment_ = Eigen::Vector2d::Zero();
};
/// The same of a cylinder.
double cylinder_distance(const Vec3& size, const Vec3& x, Vec3& n);
/// The two caps as polygons that touch the circle from inside; corners of each are consecutive.
constexpr int cap_corners = 3 * patch_corners;
Polytope cylinder_caps(const Vec3& size);

/// At most 8 (or as many as asked for) of scratch.candidates: the deepest, then whichever is farthest from those
/// chosen. All when there are fewer. turn: points of other normals are apart as well, by this for each radian [m].
void add_spread(const Query& query, Touches& out, std::size_t most = 8, double turn = 0);
/// scratch.candidates are the corners of a flat region, in order around it: where it is round, points that turn as hard
/// as even pressure does, whatever its corners (patch.cpp). False, and nothing added, where it is not.
bool add_patch(const Query& query, Touches& out);

/// Signed distance by GJK and EPA, to about 1e-6 m. Beyond reach it is a lower bound and the rest is unset.
struct Separation {
  double gap;
  Vec3 p, n;  ///< midway between the surfaces; from a to b. NaN where EPA failed
};
Separation separation(const Query& query);
/// The round side of a capsule (a) or cylinder (b) along the edge of a box or hull that x says they touch at. False: not so.
bool touch_along_edge(const Query& query, const Separation& x, Touches& out);

/// A unit vector along x, or along fallback where x has no direction.
inline Vec3 direction(const Vec3& x, const Vec3& fallback) {
  const double length = x.norm();
  return length > 1e-12 ? Vec3(x / length) : fallback;
}

/// A unit vector across the axis.
inline Vec3 across(const Vec3& axis) {
  int least = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(axis[k]) < std::abs(axis[least])) least = k;
  return axis.cross(Vec3::Unit(least)).normalized();
}

}  // namespace tribo
