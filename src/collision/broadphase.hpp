// Which bounding boxes overlap: sort and sweep along one axis.
#pragma once

#include <utility>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

struct Bounds {
  Vec3 lo, hi;
  int index = 0;       ///< of the geometry
  bool fixed = false;  ///< two fixed ones do not meet
};

class Broadphase {
 public:
  std::vector<Bounds> boxes;  ///< filled by the caller; boxes that are not finite meet nothing

  /// Indices of overlapping boxes, in no particular order. The axis is the one along which the boxes spread most.
  void sweep(std::vector<std::pair<int, int>>& pairs);

 private:
  struct Item {
    double lo, hi;
    int box;
  };

  std::vector<Item> items_;
  std::vector<double> lo1_, hi1_, lo2_, hi2_;
};

}  // namespace tribo
