// From contacts and rows to contact problems: islands, whitened Jacobians, free velocities.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tribo/contact.hpp"
#include "tribo/contact_problem.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/row.hpp"

namespace tribo {

/// Contacts and rows that touch common trees; independent of every other island.
struct Island {
  std::vector<int> contacts, rows, trees;
};

/// Forces that act for a time, and the velocities that they change.
struct Impulse {
  const double* f;  ///< (n) of the problem [N]
  double time;      ///< [s]
  VecX* v;          ///< (nv)
};

class Assembly {
 public:
  explicit Assembly(const Model& model);

  /// Groups contacts and rows into islands, in the order of their first contact.
  void group(std::span<const Contact> contacts, std::span<const Row> rows);
  int islands() const { return islands_; }
  const Island& island(int i) const { return groups_[static_cast<std::size_t>(i)]; }

  /// Does any contact or row of the last group() act on this tree?
  bool touched(int tree) const { return touched_[static_cast<std::size_t>(tree)]; }

  /// Fills the problem's factor (and G where dense), and velocities of the contacts and rows at v and at v_free, over
  /// dt. before and free: (problem.size()), in velocity [m/s]. G is made dense where the solver needs it, or where the
  /// island is so small, or so much one tree, that a dense matrix is the faster way.
  void build(const Island& island, std::span<const Contact> contacts, std::span<const Row> rows,
             const Dynamics& dynamics, const VecX& v, const VecX& v_free, bool need_dense, ContactProblem& problem,
             VectorBuffer& before, VectorBuffer& free);

  /// Adds M^-1 J^T f time of one island's forces to v, for one or two sets of forces; work is (Columns nv) of zeros and
  /// is left so.
  template <int Columns>
  void apply(const Island& island, const Dynamics& dynamics, const ContactProblem& problem,
             const std::array<Impulse, Columns>& impulses, VecX& work) const;

 private:
  int root(int tree);
  void join(int a, int b);
  void join_tendon(int tree, int tendon);
  void join_row(const Row& row);
  int body_of(const Row& row) const;
  void add_row(const Row& row, const Dynamics& dynamics, const VecX& v, const VecX& v_free, ContactFactor& factor,
               double& before, double& free);
  FactorBlock next_block(int body, const ContactFactor& factor) const;
  void add_side(int body, const Vec3& p_W, const Mat3& R_WC, double sign, const Dynamics& dynamics, const VecX& v,
                const VecX& v_free, ContactFactor& factor, double* before, double* free);

  const Model* model_;
  std::vector<int> parent_, base_, node_, island_of_, dof_body_;
  std::vector<char> touched_;
  std::vector<Island> groups_;
  int islands_ = 0;
};

}  // namespace tribo
