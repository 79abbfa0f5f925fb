// The corner of a convex body that lies farthest along a direction, found along its edges: from one that is so along a direction
// near by, uphill from neighbour to neighbour. There is no other top than the highest, but for rounding.
#pragma once

#include <vector>

#include "tribo/types.hpp"

namespace tribo {

struct PolytopeFace;

class Climb {
 public:
  Climb() = default;
  Climb(const std::vector<Vec3>& corners, const std::vector<PolytopeFace>& faces);

  bool empty() const { return next_.empty(); }
  /// Of the corners that it was made with; n of any length.
  int highest(const std::vector<Vec3>& corners, const Vec3& n) const {
    return uphill(corners, n, corner_[at(cell(n))]);
  }
  /// A face at a corner that lies farthest along a direction near n.
  int face_near(const Vec3& n) const { return face_[at(corner_[at(cell(n))])]; }

 private:
  static constexpr int across = 10;  // cells of the directions in which one axis is the longest, each way
  static int cell(const Vec3& n);
  int uphill(const std::vector<Vec3>& corners, const Vec3& n, int from) const;

  std::vector<int> first_, next_;  // neighbours of a corner
  std::vector<int> face_;          // one that a corner is in
  std::vector<int> corner_;        // farthest along the middle of a cell
};

}  // namespace tribo
