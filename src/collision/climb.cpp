#include "collision/climb.hpp"

#include <algorithm>
#include <cmath>

#include "collision/polytope_tree.hpp"

namespace tribo {

Climb::Climb(const std::vector<Vec3>& corners, const std::vector<PolytopeFace>& faces)
    : first_(corners.size() + 1, 0), face_(corners.size(), 0) {
  for (const PolytopeFace& face : faces)
    for (int i : face.loop) ++first_[at(i) + 1];
  for (std::size_t i = 0; i < corners.size(); ++i) first_[i + 1] += first_[i];
  next_.resize(at(first_.back()));
  std::vector<int> place(first_.begin(), first_.end() - 1);
  for (std::size_t f = 0; f < faces.size(); ++f) {  // each edge is in two faces, once in each direction
    const std::vector<int>& loop = faces[f].loop;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      next_[at(place[at(loop[k])]++)] = loop[(k + 1) % loop.size()];
      face_[at(loop[k])] = static_cast<int>(f);
    }
  }
  if (empty()) return;
  for (int c = 0; c < 6 * across * across; ++c) {
    const int axis = c / (2 * across * across), sign = c / (across * across) % 2 == 0 ? 1 : -1;
    Vec3 n;
    n[axis] = sign;
    n[(axis + 1) % 3] = (2 * (c / across % across) + 1.0) / across - 1;
    n[(axis + 2) % 3] = (2 * (c % across) + 1.0) / across - 1;
    corner_.push_back(uphill(corners, n, corner_.empty() ? 0 : corner_.back()));
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

int Climb::uphill(const std::vector<Vec3>& corners, const Vec3& n, int from) const {
  double height = n.dot(corners[at(from)]);
  for (int here = -1; here != from;) {
    here = from;
    for (int e = first_[at(here)]; e < first_[at(here) + 1]; ++e) {
      const double other = n.dot(corners[at(next_[at(e)])]);
      if (other > height) height = other, from = next_[at(e)];
    }
  }
  return from;
}

}  // namespace tribo
