// Shapes that collide, and where they are attached.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

enum class ShapeKind {
  HalfSpace,    ///< z <= 0 of its frame is solid
  Point,        ///< a point without size (a point foot)
  Sphere,       ///< size.x = radius
  Box,          ///< size = half extents
  Capsule,      ///< size.x = radius, size.z = half length of the axis (along z)
  Convex,       ///< the hull of vertices
  Cylinder,     ///< size.x = radius, size.z = half length of the axis (along z)
  Ellipsoid,    ///< size = half axes
  HeightField,  ///< terrain; solid below its surface; fixed to the world or to a kinematic body
  Mesh          ///< terrain of triangles; solid behind them; fixed to the world or to a kinematic body
};

/// A convex polyhedron. Faces are counter-clockwise seen from outside.
struct Hull {
  std::vector<Vec3> vertices;           ///< [m], in the geometry's frame
  std::vector<std::vector<int>> faces;  ///< vertex indices of each planar face
  double radius = 0;                    ///< largest distance of a vertex from the origin [m]
};

/// Heights over a rectangular grid about the origin of the geometry's frame: point (i, j) stands at
///   x = (i - (nx - 1) / 2) spacing_x,  y = (j - (ny - 1) / 2) spacing_y,  z = heights[j nx + i].
/// Each cell is two triangles that share the edge from (i, j + 1) to (i + 1, j). Nothing is beyond the grid.
struct HeightField {
  int nx = 0, ny = 0;                   ///< points along x and y, >= 2
  double spacing_x = 0, spacing_y = 0;  ///< [m], > 0
  std::vector<double> heights;          ///< (ny x nx), x first [m]
};

struct MeshTree;

/// A surface of triangles, in the frame of the geometry, as make_triangle_mesh makes it. Corners run counter-clockwise
/// seen from outside; behind the triangles it is solid. It need not be closed.
struct TriangleMesh {
  std::vector<Vec3> vertices;                 ///< [m], no two at one place
  std::vector<std::array<int, 3>> triangles;  ///< vertex indices; each has an area
  std::shared_ptr<const MeshTree> tree;       ///< which triangles are where, and which meet
};

/// Inertia of a body: mass, centre of mass and rotational inertia about it, in the axes of the body.
struct Inertia {
  double mass = 0;                ///< [kg]
  Vec3 com = Vec3::Zero();        ///< [m]
  Mat3 about_com = Mat3::Zero();  ///< [kg m^2]
};

struct Geometry {
  std::string name;
  int body = -1;    ///< index in Model::bodies; -1: fixed to the world; kinematic_body(k): to a kinematic body
  int member = -1;  ///< robot or object that it belongs to; -1: the surroundings
  ShapeKind kind = ShapeKind::Sphere;
  Placement X_BG;                              ///< frame of the shape in the frame of the body
  Vec3 size = Vec3::Zero();                    ///< see ShapeKind [m]
  std::shared_ptr<const Hull> hull;            ///< ShapeKind::Convex only
  std::shared_ptr<const HeightField> terrain;  ///< ShapeKind::HeightField only
  std::shared_ptr<const TriangleMesh> mesh;    ///< ShapeKind::Mesh only
  int material = 0;                            ///< index in Model::materials
  std::uint32_t group = 1;                     ///< groups that it belongs to, one bit each
  std::uint32_t collides_with = ~0u;           ///< groups that it meets; both sides must agree
  double radius = 0;  ///< of the bounding sphere about X_BG.p [m]; infinite for half-spaces and terrain
};

/// Inertia of a solid of uniform density, about the origin of its frame's centre of mass.
Inertia solid_inertia(ShapeKind kind, const Vec3& size, double mass);
Inertia hull_inertia(const Hull& hull, double mass);
/// [m^3]
double hull_volume(const Hull& hull);
/// The hull moved by d.
std::shared_ptr<const Hull> moved_hull(const Hull& hull, const Vec3& d);

/// The convex hull of a set of points. Throws InvalidInput where they do not span a volume.
std::shared_ptr<const Hull> make_hull(const std::vector<Vec3>& points, const std::string& owner);
/// The same from the triangles of a hull that is already known.
std::shared_ptr<const Hull> make_hull(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles,
                                      const std::string& owner);

/// A mesh of triangles (indices into points): points at one place become one, triangles without area are left out. Throws
/// InvalidInput where an index is out of range, nothing is left, or two neighbours face opposite ways.
std::shared_ptr<const TriangleMesh> make_triangle_mesh(const std::vector<Vec3>& points,
                                                       const std::vector<std::array<int, 3>>& triangles,
                                                       const std::string& owner);

}  // namespace tribo
