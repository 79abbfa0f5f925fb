// The contact problem of one step, or of one island of it, and its judge.
//
//   c = (G + R) f + g                                                            (problem.1)
//   contact i:  K_mu ∋ f_i ⟂ c_i + Gamma(c_i) ∈ K_mu*,  Gamma(c) = (0, 0, mu |c_T|)     (problem.2)
//   row j:      f_j in [lower, upper];  c_j = 0 inside, >= 0 at lower, <= 0 at upper     (problem.3)
//   disc:       |f_D| <= r f_N,  f_D = -r f_N c_D / |c_D| where c_D != 0                 (problem.4)
//
// In force scaling: f is a force [N] (impulse over dt), g and c are accelerations [m/s^2] (velocity over dt), so that a
// tolerance means the same at every dt. Unknowns: contacts first, three each in the order (t1, t2, n), then the rows.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "tribo/buffer.hpp"
#include "tribo/types.hpp"

namespace tribo {

enum class ContactModel { Ncp, Ccp, Lcp, Raisim };

/// One contact, or one row, seen from one tree: Y maps whitened velocities of that tree to the contact's velocity.
struct FactorBlock {
  int first = 0;  ///< position of Y in ContactFactor::y: column-major (rows of the unknown x depth)
  int index = 0;  ///< position of its depth whitened indices in ContactFactor::index
  int depth = 0;  ///< number of whitened coordinates that it touches
  int tree = -1;  ///< blocks of different trees do not couple
  int body = -1;
  int node = 0;  ///< the tree's place in ContactFactor::node_start
};

/// G = Y Y^T, as sparse rows: each unknown block has one or two FactorBlocks. Primal methods need no M and no J.
struct ContactFactor {
  int nw = 0;  ///< whitened coordinates in this problem
  std::vector<double> y;
  std::vector<int> index;
  std::vector<FactorBlock> blocks;  ///< blocks of unknown block i: [start[i], start[i+1])
  std::vector<int> start;           ///< (nc + nr + 1)
  std::vector<int> node_start;      ///< whitened coordinates of tree k: [node_start[k], node_start[k+1])

  bool empty() const { return start.empty(); }
};

/// Torsional or rolling friction of a contact: the torques of one or two rows, bounded by its normal force (problem.4).
struct FrictionDisc {
  int contact = 0;
  int row = 0;        ///< its first row
  int size = 1;       ///< rows: 1 torsional, 2 rolling
  double length = 0;  ///< r [m]
};

class ContactProblem {
 public:
  /// Sizes the problem; nothing is allocated once it has been as large before.
  void resize(int contacts, int rows, bool dense);

  int nc() const { return nc_; }
  int nr() const { return nr_; }
  int size() const { return 3 * nc_ + nr_; }
  bool dense() const { return dense_; }
  int offset(int block) const { return block < nc_ ? 3 * block : 2 * nc_ + block; }
  int block_size(int block) const { return block < nc_ ? 3 : 1; }
  int blocks() const { return nc_ + nr_; }

  MatrixBuffer::Map G() {  ///< (n x n), only where dense() [1/kg]
    if (pending_) fill();
    return G_.map();
  }
  MatrixBuffer::ConstMap G() const {
    if (pending_) fill();
    return std::as_const(G_).map();
  }
  VectorBuffer::Map g() { return g_.map(); }  ///< free contact acceleration (n) [m/s^2]
  VectorBuffer::ConstMap g() const { return g_.map(); }
  VectorBuffer::Map R() { return R_.map(); }  ///< diagonal compliance (n) [1/kg], >= 0
  VectorBuffer::ConstMap R() const { return R_.map(); }
  VectorBuffer::Map mu() { return mu_.map(); }  ///< friction coefficients (nc), >= 0
  VectorBuffer::ConstMap mu() const { return mu_.map(); }
  VectorBuffer::Map lower() { return lower_.map(); }  ///< bounds of the rows (nr) [N], -inf allowed
  VectorBuffer::ConstMap lower() const { return lower_.map(); }
  VectorBuffer::Map upper() { return upper_.map(); }  ///< (nr) [N], inf allowed
  VectorBuffer::ConstMap upper() const { return upper_.map(); }

  std::vector<FrictionDisc> discs;  ///< ascending by row; they stand in place of the bounds of their rows

  ContactFactor factor;  ///< filled by the assembly; empty for problems given as a dense G
  double weight = 0;     ///< m g of what is in the problem, for relative residuals [N]

  /// c = (G + R) f + g, by the dense matrix or by the factor.
  void velocity(const double* f, double* c) const;
  /// y = G f.
  void multiply(const double* f, double* y) const;
  /// Diagonal of G (n).
  void diagonal(double* d) const;
  /// G is to be made from the factor, where somebody looks at it: a guess that holds is judged without it.
  void densify() {
    pending_ = true;
    Y_.resize(static_cast<Eigen::Index>(size()) * factor.nw);  // here, so that a late look allocates nothing
  }
  /// First thing that makes the problem unusable (not finite, negative mu, asymmetric or empty G …), or "".
  std::string defect() const;

 private:
  int nc_ = 0, nr_ = 0;
  void fill() const;

  bool dense_ = true;
  mutable bool pending_ = false;  ///< G_ is not made yet
  mutable MatrixBuffer G_;
  VectorBuffer g_, R_, mu_, lower_, upper_;
  mutable VectorBuffer Y_, w_;
};

/// Distances to the laws, largest over all contacts and rows, absolute. [N], [m/s^2], [N m/s^2]
struct Residual {
  double primal = 0;           ///< dist(f, K)
  double dual = 0;             ///< dist(c + Gamma(c), K*)
  double complementarity = 0;  ///< |<f, c + Gamma(c)>|
  double force_scale = 1;      ///< F = max(|f|_inf, m g)  [N]
  double motion_scale = 1;     ///< a = |g|_inf + 9.81    [m/s^2]

  double absolute() const;  ///< the largest of the three
  double relative() const;  ///< the largest of primal/F, dual/a, complementarity/(F a)
};

/// The one judge of every solver: residual of (problem.2), (problem.3) under a contact model, at a given f and c.
/// Ncp: as written. Ccp: without Gamma. Lcp: f_T in the polygon of `facets` sides around the disc of radius mu f_N, for
/// four of them |f_T|_inf <= mu f_N. Raisim: Gamma turned by the block's coupling, see (residuals.2).
Residual judge(const ContactProblem& problem, ContactModel model, const double* f, const double* c, int facets = 4);
/// The same with c computed afresh.
Residual judge(const ContactProblem& problem, ContactModel model, const VecX& f);

/// Projections that are right at mu = 0 and at mu = 1e6.
Vec3 project_cone(const Vec3& f, double mu);       ///< onto K_mu = {|f_T| <= mu f_N}
Vec3 project_dual_cone(const Vec3& c, double mu);  ///< onto K_mu* = {mu |c_T| <= c_N}

}  // namespace tribo
