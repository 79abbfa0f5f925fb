#include "collision/broadphase.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "linalg/clones.hpp"
#include "linalg/quad.hpp"

namespace tribo {

namespace {

bool overlap(const Bounds& a, const Bounds& b) {
  return (a.lo.x() <= b.hi.x()) & (b.lo.x() <= a.hi.x()) & (a.lo.y() <= b.hi.y()) & (b.lo.y() <= a.hi.y()) &
         (a.lo.z() <= b.hi.z()) & (b.lo.z() <= a.hi.z());
}

void meet(const Bounds& a, const Bounds& b, std::vector<std::pair<int, int>>& pairs) {
  if (overlap(a, b) && !(a.fixed && b.fixed)) pairs.emplace_back(a.index, b.index);
}

template <class T, class Before>
void insertion_sort(std::vector<T>& x, Before before) {
  for (std::size_t i = 1; i < x.size(); ++i) {
    const T item = x[i];
    std::size_t k = i;
    for (; k > 0 && before(item, x[k - 1]); --k) x[k] = x[k - 1];
    x[k] = item;
  }
}

// Of n boxes lo x, lo y, lo z, hi x, hi y, hi z, `few` numbers each. Bit j of meets[i] is set where box j > i overlaps box i;
// what its bits from n on say is nothing.
TRIBO_CLONES void meet_all(const double* sides, int n, std::uint32_t* meets) {
  using Bits = std::int64_t __attribute__((vector_size(32)));
  constexpr int few = static_cast<int>(Broadphase::few);
  for (int i = 0; i < n; ++i) {
    const double* a = sides + i;
    Bits found{}, bit{1, 2, 4, 8};
    const int first = (i + 1) / 4 * 4;
    bit <<= first;
    for (int j = first; j < n; j += 4, bit <<= 4) {
      const double* b = sides + j;
      found |= bit & (load(b) <= a[3 * few]) & (load(b + few) <= a[4 * few]) & (load(b + 2 * few) <= a[5 * few]) &
               (load(b + 3 * few) >= a[0]) & (load(b + 4 * few) >= a[few]) & (load(b + 5 * few) >= a[2 * few]);
    }
    const auto later = static_cast<std::uint32_t>(-2) << i;
    meets[i] = static_cast<std::uint32_t>(found[0] | found[1] | found[2] | found[3]) & later;
  }
}

constexpr std::size_t fewest_for_grid = 64;
constexpr double largest_cell_index = 1e9;
constexpr double grown_by = 0.03;                // of the extent of a box
constexpr int least_uses = 3, calls_apart = 32;  // a list of near boxes that served less often is not made for so long

}  // namespace

void Broadphase::find(std::vector<std::pair<int, int>>& pairs, std::size_t most) {
  std::erase_if(boxes, [](const Bounds& b) { return !b.lo.allFinite() || !b.hi.allFinite(); });
  if (boxes.size() <= few) return ask_all(pairs);
  const bool kept = most == every && boxes.size() >= fewest_for_grid && keep_near(pairs);
  if (!kept && (boxes.size() < fewest_for_grid || !grid(pairs, most))) sweep(pairs, most);
}

bool Broadphase::keep_near(std::vector<std::pair<int, int>>& pairs) {
  if (pause_ > 0) return --pause_, false;
  bool stay = grown_.size() == boxes.size();
  for (std::size_t i = 0; i < boxes.size() && stay; ++i)
    stay = boxes[i].fixed == grown_[i].fixed && (boxes[i].lo.array() >= grown_[i].lo.array()).all() &&
           (boxes[i].hi.array() <= grown_[i].hi.array()).all();
  if (!stay) {
    if (!grown_.empty() && uses_ < least_uses) {
      grown_.clear();
      pause_ = calls_apart;
      return false;
    }
    uses_ = 0;
    grown_ = boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      Bounds& b = grown_[i];
      const double slack = grown_by * (b.hi - b.lo).maxCoeff();
      b.lo.array() -= slack;
      b.hi.array() += slack;
      b.index = static_cast<int>(i);
    }
    near_.clear();
    boxes.swap(grown_);
    const bool found = grid(near_);
    boxes.swap(grown_);
    if (!found) {
      grown_.clear();
      return false;
    }
  }
  ++uses_;
  for (const auto& [i, j] : near_) meet(boxes[static_cast<std::size_t>(i)], boxes[static_cast<std::size_t>(j)], pairs);
  return true;
}

std::uint32_t Broadphase::bucket(const Cell& c) const {
  const std::uint32_t h = static_cast<std::uint32_t>(c.x) * 73856093u ^ static_cast<std::uint32_t>(c.y) * 19349663u ^
                          static_cast<std::uint32_t>(c.z) * 83492791u;
  return h & mask_;
}

/// Cells as wide as the widest box that is not many times the median; the few wider ones are kept apart.
bool Broadphase::choose_cells() {
  const std::size_t n = boxes.size();
  extents_.clear();
  for (const Bounds& b : boxes) extents_.push_back((b.hi - b.lo).maxCoeff());
  std::nth_element(extents_.begin(), extents_.begin() + static_cast<std::ptrdiff_t>(n / 2), extents_.end());
  const double limit = 3 * extents_[n / 2];
  size_ = 0;
  large_.clear();
  small_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const double extent = (boxes[i].hi - boxes[i].lo).maxCoeff();
    (extent > limit ? large_ : small_).push_back(static_cast<int>(i));
    if (extent <= limit) size_ = std::max(size_, extent);
  }
  if (!(size_ > 0) || large_.size() > 4 + n / 64) return false;
  cells_.clear();
  for (int i : small_) {
    const Bounds& b = boxes[static_cast<std::size_t>(i)];
    const Vec3 c = (0.5 * (b.lo + b.hi) / size_).array().floor();
    if (c.cwiseAbs().maxCoeff() > largest_cell_index) return false;
    cells_.push_back({static_cast<int>(c.x()), static_cast<int>(c.y()), static_cast<int>(c.z())});
  }
  return true;
}

/// The half of the 26 neighbours that comes later in the order of cells.
void Broadphase::meet_neighbours(const Held& held, std::vector<std::pair<int, int>>& pairs) const {
  for (int k = 14; k < 27; ++k) {
    const Cell c{held.cell.x + k / 9 - 1, held.cell.y + k / 3 % 3 - 1, held.cell.z + k % 3 - 1};
    const std::uint32_t b = bucket(c);
    for (std::uint32_t j = start_[b]; j < start_[b + 1]; ++j)
      if (held_[j].cell == c) meet(held.box, held_[j].box, pairs);
  }
}

bool Broadphase::grid(std::vector<std::pair<int, int>>& pairs, std::size_t most) {
  if (boxes.empty() || !choose_cells()) return false;
  std::uint32_t buckets = 64;
  while (buckets < 2 * small_.size()) buckets *= 2;
  mask_ = buckets - 1;
  start_.assign(buckets + 2, 0);
  for (const Cell& c : cells_) ++start_[bucket(c) + 2];
  for (std::size_t i = 2; i < start_.size(); ++i) start_[i] += start_[i - 1];
  held_.resize(std::max(held_.size(), small_.size()));
  for (std::size_t i = 0; i < small_.size(); ++i)  // start_[b + 1] runs from the start of b to its end
    held_[start_[bucket(cells_[i]) + 1]++] = {cells_[i], boxes[static_cast<std::size_t>(small_[i])]};

  for (std::size_t i = 0; i < small_.size() && pairs.size() <= most; ++i) {
    const Held& held = held_[i];
    const std::uint32_t end = start_[bucket(held.cell) + 1];
    for (std::size_t j = i + 1; j < end; ++j)
      if (held_[j].cell == held.cell) meet(held.box, held_[j].box, pairs);
    meet_neighbours(held, pairs);
  }
  for (std::size_t i = 0; i < large_.size() && pairs.size() <= most; ++i) {
    const Bounds& a = boxes[static_cast<std::size_t>(large_[i])];
    for (int j : small_) meet(a, boxes[static_cast<std::size_t>(j)], pairs);
    for (std::size_t j = i + 1; j < large_.size(); ++j) meet(a, boxes[static_cast<std::size_t>(large_[j])], pairs);
  }
  return true;
}

void Broadphase::ask_all(std::vector<std::pair<int, int>>& pairs) {
  const std::size_t n = boxes.size();
  sides_.resize(6 * few, HUGE_VAL);
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) sides_[at(k) * few + i] = boxes[i].lo[k], sides_[at(k + 3) * few + i] = boxes[i].hi[k];
  std::uint32_t meets[few];
  meet_all(sides_.data(), static_cast<int>(n), meets);
  const std::uint32_t all = n == few ? ~0u : (1u << n) - 1;
  for (std::size_t i = 0; i < n; ++i)
    for (std::uint32_t left = meets[i] & all; left != 0; left &= left - 1) {
      const Bounds &a = boxes[i], &b = boxes[static_cast<std::size_t>(std::countr_zero(left))];
      if (!(a.fixed && b.fixed)) pairs.emplace_back(a.index, b.index);
    }
}

void Broadphase::sweep(std::vector<std::pair<int, int>>& pairs, std::size_t most) {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  for (const Bounds& box : boxes) {
    const Vec3 c = 0.5 * (box.lo + box.hi);
    sum += c;
    squares += c.cwiseProduct(c);
  }
  if (items_.size() != boxes.size()) {  // else in the order of the last call, which is nearly that of this one
    items_.clear();
    for (std::size_t i = 0; i < boxes.size(); ++i) items_.push_back({0, 0, static_cast<int>(i)});
  }
  const double n = std::max<double>(1, static_cast<double>(items_.size()));
  int axis;  // the one along which the boxes spread most
  (squares / n - (sum / n).cwiseAbs2()).maxCoeff(&axis);
  for (Item& item : items_) {
    const Bounds& b = boxes[static_cast<std::size_t>(item.box)];
    item.lo = b.lo[axis];
    item.hi = b.hi[axis];
  }
  const auto before = [](const Item& a, const Item& b) { return a.lo < b.lo; };
  if (items_.size() < fewest_for_grid)
    insertion_sort(items_, before);
  else
    std::sort(items_.begin(), items_.end(), before);

  // The two other axes stand in arrays of their own in sweep order: the inner loop reads straight ahead.
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const std::size_t m = items_.size();
  for (auto* x : {&lo1_, &hi1_, &lo2_, &hi2_}) x->resize(std::max(x->size(), m));
  for (std::size_t i = 0; i < m; ++i) {
    const Bounds& b = boxes[static_cast<std::size_t>(items_[i].box)];
    lo1_[i] = b.lo[u], hi1_[i] = b.hi[u], lo2_[i] = b.lo[v], hi2_[i] = b.hi[v];
  }
  for (std::size_t i = 0; i < m && pairs.size() <= most; ++i) {
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
