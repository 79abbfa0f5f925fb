// Which trees of a problem touch, in which order to eliminate them, and the fill that this makes.
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/contact_problem.hpp"

namespace tribo {

/// Nodes are trees. Positions are their places in the order of elimination, least degree first.
class BlockOrder {
 public:
  /// Costs little where the pattern is that of the last call; false then.
  bool analyse(const ContactProblem& problem);
  /// The same from pairs of nodes, two numbers each, and the first coordinate of each node and of the end. A node goes out
  /// after those whose parent it is, where parents are given (-1: none).
  bool analyse(const std::vector<int>& pairs, const std::vector<int>& node_start, const std::vector<int>& parents = {});

  int nodes() const { return nodes_; }
  int position(int node) const { return position_[static_cast<std::size_t>(node)]; }
  int size(int p) const { return size_[static_cast<std::size_t>(p)]; }    ///< coordinates of the node at p
  int start(int p) const { return start_[static_cast<std::size_t>(p)]; }  ///< its first coordinate
  /// Later positions that p is linked with, fill included, ascending: [first, last) of others.
  int first(int p) const { return link_start_[static_cast<std::size_t>(p)]; }
  int last(int p) const { return link_start_[static_cast<std::size_t>(p) + 1]; }
  int other(int link) const { return others_[static_cast<std::size_t>(link)]; }
  int links() const { return static_cast<int>(others_.size()); }
  /// The link of two positions, early < late; it must exist.
  int link(int early, int late) const;

 private:
  void eliminate();
  void take(int node);
  void queue(int node);

  int nodes_ = 0;
  std::vector<int> pairs_, seen_pairs_, seen_sizes_;  // two nodes a block, as met; of the last call
  std::vector<int> parents_, waiting_;                // of the last call; for how many children
  std::vector<int> size_, start_, position_, order_, link_start_, others_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<int> merged_;
  std::vector<std::vector<int>> by_degree_;  // nodes that had this degree when queued
};

}  // namespace tribo
