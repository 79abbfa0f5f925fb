// The relaxed program of many contacts by bodies instead of contacts: linear in the bodies where few of them touch each
// other.
//
// Of a contact that is in, R are the rows that are asked to vanish and E the directions of its impulse, p = E x: all three
// at rest, the normal row and (friction, 1) where it slides. With A = J M^-1 J^T, M with `extra`, the program
//   1/2 |R (A p + w)|^2 + 1/2 eps^2 |x|^2 -> min
// has r = -R (A p + w) and x = E^T A R^T r / eps^2. With a = M^-1 J^T R^T r and b = eps M^-1 J^T p this is
//   (1/eps) J^T R^T R J b + M a = -J^T R^T R w,   M b - (1/eps) J^T E E^T J a = 0                          (bodies.1)
//   p = E E^T J a / eps^2                                                                                  (bodies.2)
// a symmetric matrix of twelve velocities a body, with a block for each pair that touches: A is never squared, nor formed.
// While a body's a and b stay together every pivot is regular: for H_r, H_p >= 0 of any bodies, H_r b + M a = 0 and
// M b = H_p a give b.H_r b + a.H_p a = 0, so both vanish. So no rows are exchanged between bodies, and the order is that of
// least degree.
//
// In a tree M is not formed either. A body has its velocities (b_i, a_i) in world axes about the origin of the tree, and
//   (b_i, a_i) = (b, a) of the parent + S_i z_i,  z_i two numbers a degree of its joint                    (bodies.3)
// so that a body's own inertia is all that stands in its block. It goes out after its children: with K its row, j what it
// is linked with, U_j = K_ji S_i, U_parent with K_ii S_i besides, and D = S_i^T K_ii S_i + its joint's rows and rotors,
//   K_pp += K_ii + K_pi + K_ip,  K_pj += K_ij,  then K_jk -= U_j D^-1 U_k^T                                (bodies.4)
// the elimination (aba.1) with blocks of twelve, and with links between bodies that touch. A single free body has whitened
// coordinates: M is the identity there, and there is no parent.
#pragma once

#include <span>
#include <vector>

#include "contact/block_order.hpp"
#include "dynamics/articulated.hpp"

namespace tribo {

class ProgramBodies {
 public:
  /// Velocity in the axes of a contact of the motion of a body: whitened, or spatial about the origin of its tree.
  using Rows = Eigen::Matrix<double, 3, 6>;
  struct Side {
    int node = -1;  ///< index of the body in the program; -1: nothing that moves
    Rows y = Rows::Zero();
  };
  /// What a contact or a row does in a solve.
  struct Part {
    enum class Kind : char { Out, Rest, Tied } kind = Kind::Out;
    Vec3 along = Vec3::Zero();  ///< of a tied impulse, for a unit of its normal part
  };

  /// All of them single free bodies, until they are linked.
  void resize(int nodes);
  /// Makes a node a body of a tree that is not single. Children have higher numbers than their parents (-1: none).
  void link(int node, int parent, int body, const RigidInertia& inertia);
  /// The next degree of freedom of its joint; `inertia` is what stands on the diagonal of M besides the bodies.
  void add_axis(int node, int dof, const Spatial& axis, double inertia);
  void add(const Side& a, const Side& b);
  /// A row on one of the degrees that a node has.
  void add_row(int node, int dof, double sign);
  /// Once all is there. `response` holds the factor of M and is asked for products; null where nothing is linked.
  void prepare(ArticulatedBody* response);

  /// y = A x; three numbers a contact, then one a row.
  void multiply(const double* x, double* y);
  /// Of the block of A that belongs to one contact, and on its diagonal for a row.
  double entry(int unknown, int column) const;
  /// What one side of a contact adds to the diagonal of its block, summed.
  double side_entry(int contact, int side) const { return contacts_[static_cast<std::size_t>(contact)].trace[side]; }
  /// The impulses p of the least squares (bodies.1), (bodies.2); false where the matrix is singular to rounding. Parts: the
  /// contacts, then the rows.
  bool solve(std::span<const Part> parts, const double* w, double eps, double* p);

 private:
  using Block = Eigen::Matrix<double, 12, 12>;
  using Vec6 = Eigen::Matrix<double, 6, 1>;
  using Vec12 = Eigen::Matrix<double, 12, 1>;
  struct Node {
    int parent = -1, body = -1;  ///< body -1: single and free
    int degrees = 0;             ///< of its joint
    int dof = 0;                 ///< the first
    RigidInertia inertia;
    Eigen::Matrix<double, 6, 6> S;  ///< axes, `degrees` columns
    Vec6 rotors;                    ///< on the diagonal of M besides
  };
  struct Pair {
    Side side[2];
    Mat3 A = Mat3::Zero();     ///< block of the matrix
    double trace[2] = {0, 0};  ///< of what each side adds to it
  };
  struct JointRow {
    int node = 0, axis = 0;
    double sign = 1, A = 0;
  };
  void assemble(std::span<const Part> parts, const double* w, double eps);
  void add_contact(const Pair& contact, const Part& part, const Eigen::Map<const Vec3>& w, double eps);
  bool eliminate(int k);
  bool eliminate_single(int k);
  bool eliminate_linked(int k);
  void contract(int k, int parent);
  void add_joint(const Node& node, int k, double* D) const;
  void substitute();
  void forward(int k);
  void backward(int k);
  Mat3 cross_response(const Pair& contact);

  int nodes_ = 0;
  bool linked_ = false;
  std::vector<Node> node_;
  std::vector<Pair> contacts_;
  std::vector<JointRow> rows_;
  ArticulatedBody* response_ = nullptr;
  BlockOrder order_;
  std::vector<int> touching_, starts_, parents_, watched_;
  std::vector<int> node_at_;             // by position
  std::vector<Block> diagonal_, later_;  // by position; by link: the block of the later position and this one
  std::vector<Block> divided_;           // of the links of one position
  std::vector<int> pivots_;              // (12 nodes)
  std::vector<Vec12> x_, z_;             // (b, a) by position; of its joint
  std::vector<Vec12> row_rigidity_;      // of rows on the degrees of a joint, by position
  std::vector<Vec6> moved_;              // by node
};

}  // namespace tribo
