// Removal of overlap, on positions: see (rigid.6).
#pragma once

#include "contact/solvers/normal_newton.hpp"
#include "contact/solvers/normal_sweeps.hpp"
#include "model/sizes.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// Of the largest entry of a contact's block of G: with less along the normal, nothing moves it along that.
constexpr double held_fast = 1e-12;
constexpr double closure_compliance = 1e-10;  ///< of the largest diagonal entry of G among the rows of an equality

class Recovery {
 public:
  /// waits: contacts that do not touch at the start have no part in the step (rigid.17).
  Recovery(const Model& model, const ContactOptions& options, bool waits);
  /// Fills correction and recovery of the outcome; Wedged where overlap cannot be undone. same_mass: the matrix that stands
  /// factored is the one that the islands of the outcome were made with.
  /// asleep: islands that are left alone; empty: none.
  void solve(const Start& start, std::span<const Row> rows, bool same_mass, std::span<const char> asleep, Outcome& out);
  /// Is there overlap that it would remove?
  bool needed(const Start& start, std::span<const Row> rows, const Outcome& out) const;
  /// What a step takes off the overlap of a listed contact, and off a joint beyond its limit; 0 to 1.
  double contact_share(const Start& start, int listed) const { return share(start.dt, size_of(start, listed)); }
  double joint_share(double dt) const;
  /// The slope of that share of the overlap by an entry on the diagonal of the inertia of a body: a point is as large as this
  /// has it. gap: at the end of the step.
  double by_inertia(const Start& start, int listed, int body, double gap) const;
  /// Is the contact opened faster than by its share, since it turns in?
  bool turns_in(const Start& start, const Outcome& out, int listed) const;
  /// Of the last solve: was a part of the removal alone taken (rigid.18)?
  bool shortened() const { return shortened_; }

 private:
  double gap_at_end(const Start& start, int listed, const Outcome& out) const;
  bool overlaps(const Start& start, const Island& island, std::span<const Row> rows, const Outcome& out) const;
  static bool take_over(const Outcome& out, IslandSolution& s);
  void solve_island(const Start& start, std::span<const Row> rows, Outcome& out, IslandSolution& s);
  void remove(const Tolerance& tolerance, double asked, IslandSolution& s);
  void set_row(const Row& row, int j, double dt, const VecX& v_end, IslandSolution& s) const;
  /// In the units of the problem; of an island with overlap.
  struct Way {
    double asked = 0;  ///< the largest opening that is asked for
    double led = 0;    ///< sideways, or by the turn of a joint
    int opened = 0;    ///< contacts that press
  };
  Way way(const Start& start, const IslandSolution& s, const VecX& correction) const;
  void move(const Start& start, IslandSolution& s, VecX& correction);
  bool soften(const Way& x, IslandSolution& s);
  static void shorten(const Start& start, const Way& x, IslandSolution& s, VecX& correction);
  bool wedged(const Start& start, const IslandSolution& s) const;
  double removed(const Start& start, int listed, double gap) const;
  double size_of(const Start& start, int listed) const;
  double share(double dt, double size) const;

  double time_, tolerance_, gravity_;
  bool waits_, shortened_ = false;
  Sizes sizes_;
  std::unique_ptr<ContactSolver> solver_;
  NormalNewton newton_;
  NormalSweeps sweeps_;
  VecX zero_, work_;
};

}  // namespace tribo
