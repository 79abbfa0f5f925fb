// The relaxed program of many contacts between single free bodies, by bodies instead of contacts.
//
// A = Y Y^T, Y = J (M + extra)^-1/2, six columns a body. Of a contact that is in, R are the rows that are asked to vanish and
// E the directions of its impulse, p = E x: all three at rest, the normal row and (friction, 1) where it slides. The program
//   1/2 |R (A p + w)|^2 + 1/2 eps^2 |x|^2 -> min
// has r = -R (A p + w) and x = E^T A R^T r / eps^2. With a = Y^T R^T r and b = eps Y^T p this is, for each body,
//   (1/eps) Y^T R^T R Y b + a = -Y^T R^T R w,   b - (1/eps) Y^T E E^T Y a = 0                              (bodies.1)
//   p = E E^T Y a / eps^2                                                                                  (bodies.2)
// a symmetric matrix of twelve coordinates a body, with a block for each pair that touches: A is never squared, nor formed.
// While a body's a and b stay together every pivot is regular: for H_r, H_p >= 0 of any bodies, H_r b + a = 0 and
// b = H_p a give b.H_r b + a.H_p a = 0, so both vanish. So no rows are exchanged between bodies, and the order is that of
// least degree.
#pragma once

#include <span>
#include <vector>

#include "contact/block_order.hpp"
#include "tribo/buffer.hpp"

namespace tribo {

class FreeBodies {
 public:
  /// Velocity in the axes of a contact of the whitened motion of a body.
  using Rows = Eigen::Matrix<double, 3, 6>;
  struct Side {
    int node = -1;  ///< index of the body in the program; -1: nothing that moves
    Rows y = Rows::Zero();
  };
  /// What a contact does in a solve.
  struct Part {
    enum class Kind : char { Out, Rest, Tied } kind = Kind::Out;
    Vec3 along = Vec3::Zero();  ///< of a tied impulse, for a unit of its normal part
  };

  void resize(int nodes);
  void add(const Side& a, const Side& b);
  int contacts() const { return static_cast<int>(contacts_.size()); }

  /// y = A x; three numbers a contact.
  void multiply(const double* x, double* y);
  /// Of the block of A that belongs to one contact.
  double entry(int contact, int row, int column) const;
  /// The impulses p of the least squares (bodies.1), (bodies.2); false where the matrix is singular to rounding.
  bool solve(std::span<const Part> parts, const double* w, double eps, double* p);

 private:
  using Block = Eigen::Matrix<double, 12, 12>;
  using Vec6 = Eigen::Matrix<double, 6, 1>;
  using Vec12 = Eigen::Matrix<double, 12, 1>;
  struct Pair {
    Side side[2];
  };
  void assemble(std::span<const Part> parts, const double* w, double eps);
  bool eliminate(int k);
  void substitute();

  int nodes_ = 0;
  std::vector<Pair> contacts_;
  BlockOrder order_;
  std::vector<int> touching_, starts_;   // pairs of nodes; first coordinates
  std::vector<Block> diagonal_, later_;  // by position; by link: the block of the later position and this one
  std::vector<Block> divided_;           // of the links of one position
  std::vector<int> pivots_;              // (12 nodes)
  std::vector<Vec12> x_;                 // (b, a) by position
  std::vector<Vec6> moved_;              // Y^T x by node
};

}  // namespace tribo
