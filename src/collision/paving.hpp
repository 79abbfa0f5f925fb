// Floors made of many solids: flat faces in one plane, side by side. What stands on them with all of its points touches that
// plane, with the points that it has on a plane without seams, and under names that do not depend on where the seams lie.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "collision/narrowphase.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// Of boxes and hulls that are fixed to the world, or of kinematic bodies that move alike.
class Paving {
 public:
  Paving(const Model& model, const std::vector<Solid>& solids);
  bool empty() const { return faces_.empty(); }

  /// A shape over a plane, and the solids near it with a face in that plane.
  struct Spot {
    int plane, shape;
    std::span<const int> tiles;
  };
  /// Of the pairs (fixed geometry first) that may meet within dt, or are nearer than the margin of the shape.
  std::span<const Spot> find(std::span<const PlacedSolid> placed, std::span<const std::pair<int, int>> pairs,
                             std::span<const double> margins, double dt);
  /// The plane as a half-space that moves with its solids.
  PlacedSolid half_space(std::span<const PlacedSolid> placed, const Spot& spot) const;
  /// Is every point over the faces, where it is now and where it meets the plane? Then tiles[i] is what point i is over.
  bool carries(std::span<const PlacedSolid> placed, const Spot& spot, const Query& query, const Touches& touches,
               std::span<int> tiles) const;

 private:
  struct Face {
    int geometry, plane;
    Placement X_PG;                        ///< of the geometry in the plane's frame
    std::vector<Eigen::Vector2d> corners;  ///< counter-clockwise, in the plane's frame [m]
    double thickness;                      ///< of the solid under it [m]
  };
  struct Plane {
    int first;       ///< geometry that it goes with
    Placement X_GP;  ///< its axes, z outwards, in that one's frame
    Placement X_WP;  ///< at t = 0
  };
  struct Near {
    int plane, shape, tile;
  };
  using Offsets = std::multimap<double, int>;  // planes by their distance from the origin
  static bool open_face(const Model& model, const std::vector<Solid>& solids, const std::vector<Placement>& X,
                        std::size_t i, const PolytopeFace& face);
  void add_face(const Placement& X_WG, int geometry, const Solid& solid, const PolytopeFace& face, Offsets& offsets);
  void keep_shared();
  int plane_of(const Placement& X_WG, int geometry, const Solid& solid, const PolytopeFace& face, Offsets& offsets);
  bool over(const PlacedSolid& plane, const PlacedSolid& shape, double near, double dt) const;
  const Face& face_of(int geometry, int plane) const;
  bool in_place(std::span<const PlacedSolid> placed, const PlacedSolid& plane, const Face& face) const;
  int tile_at(std::span<const PlacedSolid> placed, const PlacedSolid& plane, const Spot& spot, const Vec3& x,
              double size) const;

  const Model* model_;
  Solid half_space_;
  std::vector<Plane> planes_;
  std::vector<Face> faces_;
  std::vector<int> first_face_;  // of each geometry, and an end
  std::vector<Near> near_;
  std::vector<int> tiles_;
  std::vector<Spot> spots_;
};

}  // namespace tribo
