// A small dense convex quadratic program, by the dual active-set method [Goldfarb1983].
//
//   min 1/2 x^T H x + g^T x   with  A x = b,  C x >= d;  H positive definite                            (qp.1)
// x begins at the minimum without constraints and moves along those that are violated, the dual feasible throughout.
// With H = L L^T, y = L^-1 n the normal of a constraint and Y those of the active ones:
//   z = L^-T (y - Y r),  Y^T Y r = Y^T y;  x <- x + t z,  u <- u - t r                                  (qp.2)
// Equalities that follow from others are left out; those that contradict them make the program infeasible, or are left out
// too, as it is told.
#pragma once

#include <vector>

#include "tribo/types.hpp"

namespace tribo {

class QuadraticProgram {
 public:
  /// Nothing is allocated after the first call with these sizes.
  void resize(int n, int equalities, int inequalities);
  /// False: H is not positive definite, or no x satisfies the constraints.
  bool solve();
  const VecX& x() const { return x_; }
  int iterations() const { return iterations_; }

  MatX H;  ///< (n x n); the lower triangle is read, and overwritten by its factor
  VecX g;  ///< (n)
  MatX A;  ///< (n x equalities): one normal a column
  VecX b;  ///< (equalities)
  MatX C;  ///< (n x inequalities): one normal a column
  VecX d;  ///< (inequalities), -inf: none
  bool leaves_contradictions_out = false;

 private:
  struct Direction {
    double slope = 0;      ///< z . n
    bool blocked = false;  ///< the normal lies in those of the active ones
  };
  Direction direct(const double* normal);
  void move(double t);
  void add(int index, double multiplier);
  void drop(int place);
  bool meet_equalities();
  bool meet_inequalities();

  int n_ = 0, active_ = 0, equalities_ = 0, iterations_ = 0;
  VecX x_, y_, z_, r_, s_, u_;
  MatX Y_;                    // whitened normals of the active constraints
  std::vector<double> gram_;  // (active x active)
  std::vector<int> index_;    // of the active inequalities; -1: an equality
  std::vector<char> is_active_;
};

}  // namespace tribo
