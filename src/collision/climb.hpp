// The corner of a convex body that lies farthest along a direction, found along its edges: from one that is so along a direction
// near by, uphill from neighbour to neighbour. There is no other top than the highest, but for rounding.
#pragma once

#include <span>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

struct PolytopeFace;

class Climb {
 public:
  Climb() = default;
  Climb(const std::vector<Vec3>& corners, const std::vector<PolytopeFace>& faces);

  struct Top {
    int corner;
    double height;  ///< n . x
    bool alone;     ///< every other corner is lower by more than rounding
  };
  /// n of any length.
  Top highest(const Vec3& n) const { return uphill(n, corner_[at(cell(n))]); }
  /// The faces that a corner is in.
  std::span<const int> faces_at(int corner) const {
    return {face_.data() + first_[at(corner)], face_.data() + first_[at(corner) + 1]};
  }

 private:
  static constexpr int across = 10;  // cells of the directions in which one axis is the longest, each way
  static int cell(const Vec3& n);
  Top uphill(const Vec3& n, int from) const;

  double rounding_ = 0;               // of heights, for n of length one
  std::vector<int> first_;            // of a corner in what follows
  std::vector<int> next_, face_;      // neighbours, and the face on the left of each edge there
  std::vector<Vec3> corners_, near_;  // near_: neighbours, in a row
  std::vector<int> corner_;           // farthest along the middle of a cell
};

}  // namespace tribo
