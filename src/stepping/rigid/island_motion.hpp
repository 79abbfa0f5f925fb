// What given forces do to an island, body by body: no Jacobian is made, and no factor of G.
//   F_b = sum of (f, r x f) over the contacts of body b, r from the origin of its tree
//   a = (M + extra)^-1 J^T f,   J^T f = sum over bodies of S . F_b, and rows                              (rest.1)
//   c = J a + R f + g,   J a: what A_b = sum S a of two bodies differ by at their contact                 (rest.2)
#pragma once

#include <vector>

#include "tribo/step.hpp"

namespace tribo {

class IslandMotion {
 public:
  explicit IslandMotion(const Model& model);

  /// Lists the bodies of an island, whose forces in the last step may hold. False where something moves visibly, where a row acts
  /// along more than a coordinate or the turns of two bodies, or where a contact might be fixed along its normal.
  bool begin(const Start& start, std::span<const Row> rows, const Island& island);
  /// Fills before, free and the weight of s, and sizes the rest; its factor is empty.
  void velocities(const Start& start, std::span<const Row> rows, const VecX& v_free, IslandSolution& s);
  /// s.c of s.f, g and R. (rest.1), (rest.2)
  void act(const Start& start, std::span<const Row> rows, IslandSolution& s);
  /// v += dt a of the last act().
  void add(const Start& start, const Island& island, VecX& v) const;

 private:
  /// A body that contacts or turns act on. The one in front is the world.
  struct Moved {
    Spatial start, free;        ///< velocities about the origin of its tree
    Spatial force, a;           ///< that act, and what they give
    double origin[4] = {};      ///< of the tree [m]
    const int* path = nullptr;  ///< coordinates of its chain
    int depth = 0;
  };
  /// Some of the contacts of a step.
  struct Listed {
    const Contact* contacts;
    const int* list;
    int count;
  };
  /// The tree of a body, and is its base free?
  struct Root {
    int tree;
    bool floats;
  };

  void list(const Start& start, int body);
  bool might_be_fixed(const Start& start, const Contact& contact) const;
  void sum_axes(const Start& start, const VecX& x, Spatial Moved::*part);
  void meet(const Listed& x, double* before, double* free) const;
  void part(const Listed& x, double* out) const;
  void gather(const Listed& x, const double* f);
  void pull(const Start& start);
  double along(const Row& row, const VecX& x, Spatial Moved::*part) const;
  int place(int body) const { return body < 0 ? 0 : place_[static_cast<std::size_t>(body)]; }

  const Model& model_;
  double gravity_;  // [m/s^2]
  std::vector<Moved> moved_;
  std::vector<int> place_;   // by body, in moved_; 0: not listed
  std::vector<Root> roots_;  // by body
  int count_ = 1;            // of moved_
  VecX a_;                   // (nv)
};

}  // namespace tribo
