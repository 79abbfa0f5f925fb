// How large shapes are: lengths that decide about contacts are shares of it, so that a model means the same in any unit.
#pragma once

#include <vector>

#include "tribo/model.hpp"

namespace tribo {

class Sizes {
 public:
  explicit Sizes(const Model& model);
  /// Radius of the bounding sphere of a geometry; of a point, the radius of gyration of its body; infinite for half-spaces
  /// and terrain [m].
  double operator[](int geometry) const { return size_[static_cast<std::size_t>(geometry)]; }
  /// Of the smaller of two.
  double of(int a, int b) const { return std::min((*this)[a], (*this)[b]); }
  /// Of a contact. One with the plane of many solids (paving.hpp) has a name beyond their places: these have no size there.
  template <class AnyContact>
  double of(const AnyContact& c) const {
    const bool plane = c.id >> 40 >= size_.size();
    return plane ? (*this)[c.geometry_b] : of(c.geometry_a, c.geometry_b);
  }
  /// A power of two about the smallest [m].
  double unit() const { return unit_; }

 private:
  std::vector<double> size_;
  double unit_ = 1;
};

/// Shares of the size of the smaller shape.
constexpr double default_margin = 0.02;  ///< contacts are listed from this gap on
constexpr double overlap_share = 1e-6;   ///< overlap that is left alone
constexpr double touching_share = 2e-6;  ///< a gap that counts as closed, where the pair carried in the last step
constexpr double wedged_share = 2e-3;    ///< overlap that recovery cannot undo is flagged from here on

/// Of joints, which have no size: [rad] or [m].
constexpr double joint_margin = 1e-3;

}  // namespace tribo
