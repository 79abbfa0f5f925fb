#include "collision/broadphase.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {

void Broadphase::sweep(std::vector<std::pair<int, int>>& pairs) {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  items_.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Bounds& b = boxes[i];
    if (!b.lo.allFinite() || !b.hi.allFinite()) continue;
    const Vec3 c = 0.5 * (b.lo + b.hi);
    sum += c;
    squares += c.cwiseProduct(c);
    items_.push_back({0, 0, static_cast<int>(i)});
  }
  const double n = std::max<double>(1, static_cast<double>(items_.size()));
  int axis;
  (squares / n - (sum / n).cwiseAbs2()).maxCoeff(&axis);
  for (Item& item : items_) {
    const Bounds& b = boxes[static_cast<std::size_t>(item.box)];
    item.lo = b.lo[axis];
    item.hi = b.hi[axis];
  }
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.lo < b.lo; });

  // The two other axes stand in arrays of their own in sweep order: the inner loop reads straight ahead.
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const std::size_t m = items_.size();
  for (auto* x : {&lo1_, &hi1_, &lo2_, &hi2_}) x->resize(std::max(x->size(), m));
  for (std::size_t i = 0; i < m; ++i) {
    const Bounds& b = boxes[static_cast<std::size_t>(items_[i].box)];
    lo1_[i] = b.lo[u], hi1_[i] = b.hi[u], lo2_[i] = b.lo[v], hi2_[i] = b.hi[v];
  }
  for (std::size_t i = 0; i < m; ++i) {
    const double hi = items_[i].hi;
    for (std::size_t j = i + 1; j < m && items_[j].lo <= hi; ++j) {
      const bool apart = (lo1_[j] > hi1_[i]) | (hi1_[j] < lo1_[i]) | (lo2_[j] > hi2_[i]) | (hi2_[j] < lo2_[i]);
      if (apart) continue;
      const Bounds& a = boxes[static_cast<std::size_t>(items_[i].box)];
      const Bounds& b = boxes[static_cast<std::size_t>(items_[j].box)];
      if (!(a.fixed && b.fixed)) pairs.emplace_back(a.index, b.index);
    }
  }
}

}  // namespace tribo
