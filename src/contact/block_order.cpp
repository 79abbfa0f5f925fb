#include "contact/block_order.hpp"

#include <algorithm>
#include <iterator>

namespace tribo {
bool BlockOrder::analyse(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  pairs_.clear();
  for (int i = 0; i < problem.blocks(); ++i) {
    const int end = factor.start[at(i + 1)];
    for (int s = factor.start[at(i)]; s < end; ++s)
      for (int t = s + 1; t < end; ++t) {
        const int a = factor.blocks[at(s)].node, b = factor.blocks[at(t)].node;
        if (a == b) continue;
        const std::size_t n = pairs_.size();
        if (n >= 2 && pairs_[n - 2] == a && pairs_[n - 1] == b) continue;  // contacts of one pair follow each other
        pairs_.push_back(a);
        pairs_.push_back(b);
      }
  }
  return analyse(pairs_, factor.node_start);
}

bool BlockOrder::analyse(const std::vector<int>& pairs, const std::vector<int>& node_start,
                         const std::vector<int>& parents) {
  if (pairs == seen_pairs_ && node_start == seen_sizes_ && parents == parents_) return false;
  parents_ = parents;
  seen_pairs_ = pairs;
  seen_sizes_ = node_start;
  nodes_ = static_cast<int>(node_start.size()) - 1;
  if (neighbours_.size() < at(nodes_)) neighbours_.resize(at(nodes_));
  for (int k = 0; k < nodes_; ++k) neighbours_[at(k)].clear();
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    neighbours_[at(pairs[i])].push_back(pairs[i + 1]);
    neighbours_[at(pairs[i + 1])].push_back(pairs[i]);
  }
  for (int k = 0; k < nodes_; ++k) {
    std::vector<int>& list = neighbours_[at(k)];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  eliminate();
  size_.resize(at(nodes_));
  start_.resize(at(nodes_));
  link_start_.resize(at(nodes_) + 1);
  others_.clear();
  for (int p = 0; p < nodes_; ++p) {
    const int k = order_[at(p)];
    start_[at(p)] = node_start[at(k)];
    size_[at(p)] = node_start[at(k + 1)] - node_start[at(k)];
    link_start_[at(p)] = static_cast<int>(others_.size());
    for (int j : neighbours_[at(k)]) others_.push_back(position_[at(j)]);
    std::sort(others_.begin() + link_start_[at(p)], others_.end());
  }
  link_start_[at(nodes_)] = static_cast<int>(others_.size());
  return true;
}

void BlockOrder::queue(int node) {
  if (waiting_[at(node)] > 0) return;
  const std::size_t degree = neighbours_[at(node)].size();
  if (by_degree_.size() <= degree) by_degree_.resize(degree + 1);
  by_degree_[degree].push_back(node);
}

// Least degree first. Entries of the queues whose degree has changed since are passed over.
void BlockOrder::eliminate() {
  position_.assign(at(nodes_), -1);
  waiting_.assign(at(nodes_), 0);
  for (int parent : parents_)
    if (parent >= 0) ++waiting_[at(parent)];
  order_.clear();
  for (std::vector<int>& list : by_degree_) list.clear();
  for (int k = nodes_ - 1; k >= 0; --k) queue(k);
  for (std::size_t degree = 0; static_cast<int>(order_.size()) < nodes_;) {
    if (by_degree_[degree].empty()) {
      ++degree;
      continue;
    }
    const int node = by_degree_[degree].back();
    by_degree_[degree].pop_back();
    if (position_[at(node)] >= 0 || neighbours_[at(node)].size() != degree) continue;
    take(node);
    degree = degree > 0 && parents_.empty() ? degree - 1 : 0;  // a parent comes in with any degree
  }
}

// Eliminating a node joins its neighbours: the fill. Their degree falls by one at most.
void BlockOrder::take(int node) {
  position_[at(node)] = static_cast<int>(order_.size());
  order_.push_back(node);
  const std::vector<int>& list = neighbours_[at(node)];
  const int parent = parents_.empty() ? -1 : parents_[at(node)];
  if (parent >= 0) --waiting_[at(parent)];  // it is a neighbour, and is queued below
  for (int j : list) {
    std::vector<int>& theirs = neighbours_[at(j)];
    merged_.clear();
    std::set_union(theirs.begin(), theirs.end(), list.begin(), list.end(), std::back_inserter(merged_));
    merged_.erase(std::remove_if(merged_.begin(), merged_.end(), [&](int x) { return x == j || x == node; }),
                  merged_.end());
    theirs.assign(merged_.begin(), merged_.end());
    queue(j);
  }
}

int BlockOrder::link(int early, int late) const {
  const auto from = others_.begin() + first(early), to = others_.begin() + last(early);
  return static_cast<int>(std::lower_bound(from, to, late) - others_.begin());
}

}  // namespace tribo
