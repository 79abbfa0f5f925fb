// Contact impulses of the momentum family, from A and the velocities that they are to bring about.
//
//   v+ + k d = A p + w,  w = b + k d                                                               (program.1)
// p: impulses, three (t1, t2, n) a contact and one a row. Of the contacts and rows that are in, those at rest have all
// their components as unknowns; one that slides has its normal impulse alone, and its friction with it:
//   p_F = mu_d w(|v_F|) p_N heading                                                                (program.2)
// one that is held at its limit likewise, with mu_s for mu_d w, so that the columns of A become fewer, B = A E, and of
// the rows of A those of the unknowns stay. B p + w = 0 is solved as asked: relaxed, 1/2 |B p + w|^2 + 1/2 eps^2 |p|^2
// -> min, or exactly, by pivoting or by minimum norm. A is kept by its entries that are not zero; a relaxed program of
// many unknowns is solved by conjugate gradients on the least squares (CGLS), which needs products with A alone, from
// the impulses of the last step. One of many contacts is solved by bodies (bodies.1), and A is not kept.
//
// Passes. Each solves, then does the first of these that changes something, until none does:
//   1. a contact or limit with a negative impulse goes out                                         (program.3)
//   2. a contact that slid before, and whose point would be stopped by less than mu p_N with all else held,
//      rests; asked once a step                                                                    (program.4)
//   3. a contact at rest with |p_F| > mu_s p_N is held at its limit, p_F = mu_s p_N heading along p_F, so that
//      the others carry what it cannot; one that slid before and has come to rest just now slides on where
//      |p_F| > mu_d p_N; dry friction beyond its bound stays at it                                 (program.5)
//   4. a contact at its limit whose point moves along the surface after all begins to slide        (program.6)
//   5. a contact or limit that is out and would penetrate, A p + w < 0, comes in again, once a step; a contact
//      as one that slides where its point moves                                                    (program.7)
// By bodies, where there are many contacts, a pass does all of them: every contact that would pull goes out, and one that
// carried nothing in the last step begins outside.
// It ends: an item goes out at most twice, comes back once, rests once, meets its limit once and slides once, so there
// are at most six passes an item, and one.
#pragma once

#include <vector>

#include "linalg/least_squares.hpp"
#include "stepping/momentum/program_bodies.hpp"
#include "tribo/buffer.hpp"

namespace tribo {

struct ProgramItem {
  enum class Kind : char { Contact, Limit, Friction } kind = Kind::Contact;
  int first = 0;                                      ///< its first unknown
  double mu_rest = 0, mu_slide = 0;                   ///< of a contact [-]
  double ramp = 1;                                    ///< w(|v_F|) of a contact that slid [-]
  double bound = 0;                                   ///< of dry friction: largest impulse [N m s] or [N s]
  Eigen::Vector2d heading = Eigen::Vector2d::Zero();  ///< of friction while it slides, unit length
  bool slid = false;                                  ///< in the last step
  bool fresh = false;                                 ///< touches for the first time
  bool idle = false;                                  ///< touched in the last step, and carried nothing
  // Filled by the solve.
  bool out = false, limited = false, slides = false;
};

enum class ProgramSolve { Relaxed, Pivoting, MinimumNorm };

class ContactProgram {
 public:
  struct Rules {
    ProgramSolve solve = ProgramSolve::Relaxed;
    double relaxation = 0;            ///< eps over the mean diagonal of A, or relax_by() [-]
    bool friction_in_program = true;  ///< false: every contact is taken at rest, and its friction is cut afterwards
  };

  /// n unknowns; items, w, p (a guess) and the columns of A are filled by the caller, the columns in their order.
  void resize(int n);
  /// Contacts and rows are given to bodies() instead of columns. For relaxed programs.
  void solve_by_bodies(int nodes);
  ProgramBodies& bodies() { return bodies_; }
  void add(int row, double value) {
    row_.push_back(row);
    value_.push_back(value);
  }
  void end_column() { start_.push_back(static_cast<int>(row_.size())); }
  int size() const { return n_; }
  /// What the relaxation is relative to, where that is not the mean diagonal of A [1/kg].
  void relax_by(double scale) { relaxed_by_ = scale; }
  /// Fills p and the states of the items; returns the number of passes. False in converged: CGLS reached its limit.
  int solve(const Rules& rules);
  bool converged() const { return converged_; }
  /// Entry of A by its place; 0 where it is not stored. By bodies: of the block of one contact, or the diagonal of a row.
  double entry(int row, int column) const;
  /// A p + w after the solve, by unknown [m/s].
  double residual(int unknown) const { return c_[unknown]; }

  std::vector<ProgramItem> items;
  VectorBuffer w, p;  ///< (n) [m/s], [N s]

 private:
  struct Unknown {
    int item, row;
  };
  void predict(const Rules& rules);
  void list_unknowns();
  void known_impulses();
  void reduce();
  void conjugate_gradients(double eps);
  void solve_bodies(double eps);
  void multiply(const double* x, double* y);
  void multiply_reduced(const double* x, double* y);
  void multiply_transposed(const double* x, double* y);
  double share(const ProgramItem& item) const;
  void solve_reduced(const Rules& rules);
  bool drop();
  bool rest();
  bool slide();
  bool release();
  bool readmit();
  void cut_friction();
  /// The tangential impulse that would stop the point of a contact, all else held (local block of A).
  Eigen::Vector2d stopping(const ProgramItem& item) const;

  int n_ = 0;
  double scale_ = 0;       // mean diagonal of A
  double relaxed_by_ = 0;  // 0: scale_
  bool converged_ = true;
  bool by_bodies_ = false;
  ProgramBodies bodies_;
  std::vector<ProgramBodies::Part> parts_;
  std::vector<int> start_, row_;  // A by columns
  std::vector<double> value_;
  std::vector<int> place_;  // of each unknown among those of the pass, or -1
  LeastSquares least_squares_;
  std::vector<Unknown> unknowns_;
  std::vector<char> asked_, readmitted_;
  MatrixBuffer B_;
  VectorBuffer c_, y_, x_, full_, product_, wanted_, residual_, gradient_, direction_, image_;
};

}  // namespace tribo
