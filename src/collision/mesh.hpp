// Triangle meshes, for the sources of the narrow phase.
#pragma once

#include "collision/narrowphase.hpp"
#include "model/mesh_tree.hpp"

namespace tribo {

/// Does the mesh fall away from its point p along n, up to a slope?
bool falls_away(const MeshTree& tree, const Vec3& p, const Vec3& n, double slope);

/// Does the mesh end at the side or corner that the bits name?
bool ends_mesh(const MeshTriangle& triangle, unsigned part);

/// How the balls of a solid are looked for.
struct BallSearch {
  double r;        ///< radius [m]
  double deepest;  ///< how far behind the mesh a centre is looked for [m]
  Vec3 middle;     ///< a point in the solid, in W: what the way from there enters has been gone through
};

/// Contacts of a ball with faces, sides and corners, into scratch.candidates. x_W: its centre; first: number of the ball. A point of
/// a solid that has gone through a thin wall is held by the triangle that the way to it from the middle enters.
void add_mesh_ball(const Query& query, const Vec3& x_W, const BallSearch& search, std::uint64_t first);

/// Contacts of a solid that is no ball with ridges and peaks, and of round ones with faces.
void add_mesh_solid(const Query& query);

}  // namespace tribo
