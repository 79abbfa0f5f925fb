// Surfaces that stand only on paper: where solids of one body (or of the world) join, the side of one is covered by
// another, and a shape that slides over the seam must not be stopped by it.
#pragma once

#include <span>
#include <vector>

#include "collision/narrowphase.hpp"
#include "tribo/contact.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// Is i side a of a contact with j? Fixed geometry is, else the smaller index.
inline bool side_a_first(const Model& model, int i, int j) {
  const bool i_fixed = model.geometries[at(i)].body < 0, j_fixed = model.geometries[at(j)].body < 0;
  return i_fixed != j_fixed ? i_fixed : i < j;
}

class Seams {
 public:
  Seams(const Model& model, const std::vector<Solid>& solids);

  /// Takes out contacts with covered surfaces. contacts: sorted by id.
  void remove_covered(std::span<const PlacedSolid> placed, std::vector<Contact>& contacts);

 private:
  /// A contact as one of its solids sees it: point on the solid and outward normal, in W.
  struct Side {
    int solid, other;
    Vec3 p, n;
  };
  static Side side_a(const Contact& c);
  static Side side_b(const Contact& c);
  void find_neighbours(const Model& model, const std::vector<int>& geometries, const std::vector<Solid>& solids);
  bool covered(std::span<const PlacedSolid> placed, const std::vector<Contact>& contacts, const Side& side) const;
  bool covers(std::span<const PlacedSolid> placed, const std::vector<Contact>& contacts, const Side& side, int k) const;

  const Model* model_;
  std::vector<std::vector<int>> neighbours_;  // of each geometry: those of the same body that touch or overlap it
  bool any_ = false;
  std::vector<char> drop_;
};

}  // namespace tribo
