// What GJK found of pairs, as long as they stay where they are: with other velocities it would find the same.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "collision/narrowphase.hpp"

namespace tribo {

class Recall {
 public:
  void clear() {
    looks_.clear();
    touches_.clear();
  }
  /// After touch; pairs in ascending order.
  void keep(std::pair<int, int> pair, const Query& query, const Touches& found) {
    const Scratch::Look& look = query.scratch->look;
    if (!look.by_gjk || (look.by_velocity && look.apart < 0)) return;
    const auto first = static_cast<int>(touches_.size());
    touches_.insert(touches_.end(), found.items.begin(), found.items.begin() + found.count);
    looks_.push_back({pair, query.ring, query.margin, look.apart, first, found.count, !look.by_velocity});
  }
  /// In place of touch; false where it has to look.
  bool find(std::pair<int, int> pair, const Query& query, Touches& found) const {
    const auto before = [](const Kept& x, const std::pair<int, int>& p) { return x.pair < p; };
    const auto x = std::lower_bound(looks_.begin(), looks_.end(), pair, before);
    if (x == looks_.end() || x->pair != pair || x->ring != query.ring || x->margin != query.margin) return false;
    if (query.reach <= x->apart) return true;
    if (!x->steady) return false;
    found.count = x->count;
    std::copy_n(touches_.begin() + x->first, x->count, found.items.begin());
    return true;
  }

 private:
  struct Kept {
    std::pair<int, int> pair;
    unsigned ring;
    double margin, apart;  ///< apart: they are no nearer, or of no account
    int first, count;      ///< in touches_
    bool steady;           ///< the touches are the same with any velocities
  };
  std::vector<Kept> looks_;
  std::vector<Touch> touches_;
};

}  // namespace tribo
