// Which features of polytopes meet, for the sources of the narrow phase.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// The face of a polytope that faces a plane of normal n from above: of those with the two lowest corners, the one most
/// along -n. Lowest first: a face that is more along -n may hold neither end of the edge that the solid stands on.
std::size_t facing_face(const PlacedSolid& solid, const Vec3& n);

/// Among the edges of two polytopes that pass within `near` of p, those two whose common normal parts the shapes best.
/// Where they touch, GJK has points but no direction. gap: minus infinity where there are none.
Separation part_by_edges(const Query& query, const Vec3& p, double near);

}  // namespace tribo
