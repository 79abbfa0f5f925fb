#include "collision/climb.hpp"

#include <algorithm>
#include <cmath>

#include "collision/polytope_tree.hpp"

namespace tribo {

Climb::Climb(const std::vector<Vec3>& corners, const std::vector<PolytopeFace>& faces)
    : first_(corners.size() + 1, 0), corners_(corners) {
  for (const PolytopeFace& face : faces)
    for (int i : face.loop) ++first_[at(i) + 1];
  for (std::size_t i = 0; i < corners.size(); ++i) first_[i + 1] += first_[i];
  for (std::vector<int>* x : {&next_, &face_}) x->resize(at(first_.back()));
  std::vector<int> place(first_.begin(), first_.end() - 1);
  for (std::size_t f = 0; f < faces.size(); ++f) {  // each edge is in two faces, once in each direction
    const std::vector<int>& loop = faces[f].loop;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const int e = place[at(loop[k])]++;
      next_[at(e)] = loop[(k + 1) % loop.size()];
      face_[at(e)] = static_cast<int>(f);
    }
  }
  for (int i : next_) near_.push_back(corners[at(i)]);
  for (const Vec3& x : corners) rounding_ = std::max(rounding_, 1e-14 * x.norm());
  for (int c = 0; c < 6 * across * across; ++c) {
    const int axis = c / (2 * across * across), sign = c / (across * across) % 2 == 0 ? 1 : -1;
    Vec3 n;
    n[axis] = sign;
    n[(axis + 1) % 3] = (2 * (c / across % across) + 1.0) / across - 1;
    n[(axis + 2) % 3] = (2 * (c % across) + 1.0) / across - 1;
    corner_.push_back(uphill(n, corner_.empty() ? 0 : corner_.back()).corner);
  }
}

int Climb::cell(const Vec3& n) {
  int axis = 0;
  const double longest = n.cwiseAbs().maxCoeff(&axis);
  if (!(longest > 0)) return 0;
  const auto part = [&](int k) {
    return std::clamp(static_cast<int>((n[k % 3] / longest + 1) * (0.5 * across)), 0, across - 1);
  };
  return ((2 * axis + (n[axis] < 0 ? 1 : 0)) * across + part(axis + 1)) * across + part(axis + 2);
}

Climb::Top Climb::uphill(const Vec3& n, int from) const {
  double height = n.dot(corners_[at(from)]), below = 0;
  for (int here = -1; here != from;) {
    here = from;
    below = -HUGE_VAL;
    for (int e = first_[at(here)]; e < first_[at(here) + 1]; ++e) {
      const double other = n.dot(near_[at(e)]);
      below = std::max(below, other);
      if (other > height) height = other, from = next_[at(e)];
    }
  }
  return {from, height, height - below > rounding_ * n.cwiseAbs().sum()};
}

}  // namespace tribo
