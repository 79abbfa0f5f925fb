// What of one shape lies over a face of another: polygons clipped by the sides of the face, in its plane.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// The plane of a face with two axes in it; the first along the first edge.
struct FacePlane {
  Vec3 origin, u, v, n;  // in W
};
FacePlane face_plane(const PlacedSolid& f, const PolytopeFace& face);
ClipVertex in_plane(const FacePlane& plane, const Vec3& p, std::uint32_t code, int edge);

/// Cuts scratch.polygon by the sides of the face; closed: else it is an open segment of two.
void clip_by_face(const Query& query, const PlacedSolid& f, const FacePlane& plane, const PolytopeFace& face,
                  bool closed);

/// What of the other shape faces the plane, in scratch.polygon; false: an open segment.
bool list_incident(const PlacedSolid& other, const FacePlane& plane, std::vector<ClipVertex>& polygon,
                   std::size_t& incident);

/// Codes of vertices from here on: edges that cross, not corners of the incident face.
constexpr std::uint32_t clipped_code = 1u << 30;

/// The two faces, in the names of contacts. Corners of a hull go by a name of their own, whichever of its faces is listed.
struct Faces {
  explicit Faces(std::uint64_t both) : pair(both), corners(both) {}
  Faces(std::uint64_t both, std::uint64_t of_corners) : pair(both), corners(of_corners) {}
  std::uint64_t pair, corners;
};
/// scratch.polygon into scratch.candidates; n: from a to b.
void list_polygon(const Query& query, const FacePlane& plane, double round, const Vec3& n, Faces faces);

/// A face of one solid and a hull over it.
struct FaceOver {
  const PlacedSolid &f, &other;
  const PolytopeFace& face;
  const FacePlane& plane;
  bool flip;             ///< the face is on b
  std::uint64_t code;    ///< of the face
  std::size_t incident;  ///< the face of the hull that was listed
  Faces faces(std::size_t k) const;
};
/// A hull with many small faces touches with more than the one that lies flattest: with all that have a corner near the plane,
/// or on its way there.
void list_other_faces(const Query& query, const FaceOver& x);

}  // namespace tribo
