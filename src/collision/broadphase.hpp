// Which bounding boxes overlap: of few each pair is asked; of many of like size by a grid; else sort and sweep along one axis.
#pragma once

#include <cstdint>
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
  static constexpr std::size_t every = static_cast<std::size_t>(-1), few = 32;
  std::vector<Bounds> boxes;  ///< filled by the caller; boxes that are not finite meet nothing, and are removed

  /// Indices of overlapping boxes, each pair once, in no particular order; not all of them where they are more than most.
  void find(std::vector<std::pair<int, int>>& pairs, std::size_t most = every);
  /// The ways, for tests. ask_all() takes up to `few` boxes; grid() says no where sizes differ too much for it.
  void ask_all(std::vector<std::pair<int, int>>& pairs);
  void sweep(std::vector<std::pair<int, int>>& pairs, std::size_t most = every);
  bool grid(std::vector<std::pair<int, int>>& pairs, std::size_t most = every);

 private:
  struct Item {
    double lo, hi;
    int box;
  };
  struct Cell {
    int x, y, z;
    bool operator==(const Cell&) const = default;
  };
  struct Held {
    Cell cell;
    Bounds box;
  };
  std::uint32_t bucket(const Cell& c) const;
  void meet_neighbours(const Held& held, std::vector<std::pair<int, int>>& pairs) const;
  bool choose_cells();
  bool keep_near(std::vector<std::pair<int, int>>& pairs);

  std::vector<Item> items_;
  std::vector<double> lo1_, hi1_, lo2_, hi2_, extents_, sides_;
  std::vector<int> large_, small_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> start_;  // of each bucket in held_
  std::vector<Held> held_;
  double size_ = 1;  // of a cell [m]
  // Grown boxes, by place in boxes, and which of them overlap: while each box stays in its own, no others can.
  std::vector<Bounds> grown_;
  std::vector<std::pair<int, int>> near_;
  int uses_ = 0, pause_ = 0;  // of near_; calls for which it is not made, since what moves fast outgrows it at once
  std::uint32_t mask_ = 0;
};

}  // namespace tribo
