// The forces of one island: its problem, the guess that may hold already, impacts and jams, and what contacts and rows then do.
// Islands share no tree: each writes what is its own, so several may be solved at once, by a solver each.
#pragma once

#include <memory>

#include "stepping/rigid/island_motion.hpp"
#include "stepping/rigid/island_setup.hpp"
#include "stepping/rigid/jams.hpp"
#include "stepping/rigid/rolling.hpp"

namespace tribo {

class Crew;

/// What all islands of a step share.
struct IslandTask {
  StepRows& rows;
  const VecX& v_free;      ///< velocity before contacts act (nv)
  const KeptForces& kept;  ///< of the list before
  bool again;              ///< contacts were listed again
};

/// Work of an island over the step [J].
struct IslandWork {
  double contacts = 0, constraints = 0, given = 0;
  bool jammed = false;
};

class IslandSolver {
 public:
  IslandSolver(const Model& model, const ContactOptions& contact, const RigidOptions& own, bool closures);
  /// From now on what falls into parts is solved on its threads.
  void share_parts(Crew& crew);
  bool need_dense() const { return need_dense_; }
  const IslandSetup& setup() const { return setup_; }
  /// From now on every problem has its factor of G, at rest too.
  void keep_factors() { keeps_factors_ = true; }

  /// s.island must stand. Fills s, its contacts in out and its part of out.v_end.
  IslandWork solve(const Start& start, const IslandTask& task, IslandSolution& s, Outcome& out);

 private:
  const Row& row_of(int j) const { return (*rows_)[j]; }
  bool looks_at_rest() const;
  bool holds(const Start& start, IslandSolution& s);
  bool set_up(const Start& start, IslandSolution& s);
  bool give_way(const Start& start, IslandSolution& s);
  void give_up_bounce(const Start& start, IslandSolution& s);
  void bound_bounce(const Start& start, IslandSolution& s);
  double bounce_by(double share, double dt, IslandSolution& s);
  double added(double dt, const IslandSolution& s) const;
  void find_forces(double dt, IslandSolution& s);
  bool stands(double dt, bool solved, IslandSolution& s);
  bool good_enough(double dt, bool solved, IslandSolution& s);
  void report_contacts(const Start& start, const IslandSolution& s, Outcome& out);
  void take_rows(const Start& start, const IslandSolution& s);

  ContactOptions contact_;
  std::function<void(ContactProblem& problem, const double* f)> on_problem_;
  bool own_solver_, need_dense_ = false, takes_discs_ = false, keeps_factors_ = false;
  ContactModel contact_model_ = ContactModel::Ncp;
  int facets_ = 4;
  std::unique_ptr<ContactSolver> solver_;
  IslandSetup setup_;
  IslandMotion motion_;
  RollingRounds rolling_;
  Jams jams_;
  VecX zero_;
  VectorBuffer bounce_;  // what (rigid.3) adds to g, by contact
  VectorBuffer w_;       // Y^T f

  StepRows* rows_ = nullptr;  // of the task
  const VecX* v_free_ = nullptr;
  const KeptForces* kept_ = nullptr;
  IslandWork work_;
};

}  // namespace tribo
