// Surfaces that stand only on paper: where solids of one body (or of the world, or of kinematic bodies that move together)
// join, the side of one is covered by another, and a shape that slides over the seam must not be stopped by it. What lies
// on coplanar solids touches with the corners that it would have on one.
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

  /// Takes out contacts with covered surfaces, and points on seams between others. contacts: sorted by id.
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
  /// A point of the plane of a side, about the point of that side, with its gap less that one's.
  struct Beside {
    double x, y, gap;
  };
  using Contacts = std::vector<Contact>;
  using Range = std::pair<Contacts::const_iterator, Contacts::const_iterator>;
  bool of_plane(const Contact& c) const;
  Range of_pair(const Contacts& contacts, int solid, int other) const;
  bool as_one(std::span<const PlacedSolid> placed, const Side& side, int k) const;
  /// Calls f(k) for what may join side.solid, until f says true.
  template <class F>
  bool any_neighbour(std::span<const PlacedSolid> placed, const Side& side, F f) const;
  bool covered(std::span<const PlacedSolid> placed, const Contacts& contacts, const Side& side) const;
  bool covers(std::span<const PlacedSolid> placed, const Contacts& contacts, const Side& side, int k) const;
  bool between(std::span<const PlacedSolid> placed, const Contacts& contacts, std::size_t i, const Side& side);
  void gather(std::span<const PlacedSolid> placed, const Contacts& contacts, std::size_t i, const Side& side);
  bool surrounded(double size);

  const Model* model_;
  std::vector<std::vector<int>> neighbours_;  // of each geometry: those of the same body that touch or overlap it
  bool any_ = false;
  std::vector<int> kinematic_, fixed_;  // solids of kinematic bodies; and, beside such, of the world
  std::vector<char> drop_;
  std::vector<Beside> beside_;
  std::vector<double> angles_;
};

}  // namespace tribo
