// A step as a value: what is known goes in, what was found comes out and stays until the next one.
//
// A scheme says how to cross a time with the contacts of its start. All else is the same for every scheme: begin, judge,
// charge, remember and commit stand in crossing.cpp, and Stepper::advance calls them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/assembly.hpp"
#include "tribo/contact.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/pool.hpp"
#include "tribo/stage_times.hpp"
#include "tribo/state.hpp"
#include "tribo/stepper.hpp"

namespace tribo {

/// What is known when a step, or a substep, begins.
struct Start {
  const Model& model;
  const State& state;
  Dynamics& dynamics;                 ///< poses, M and h at the state; its factor is the scheme's to make
  std::span<const Contact> contacts;  ///< that touch, or may within the step
  Assembly& assembly;                 ///< what groups contacts into islands, for schemes that need it
  const Actuation& actuation;
  const VecX& q_control;        ///< where control measured its errors: q at the start of the whole step (nq)
  const VecX& v_control;        ///< and v (nv)
  double dt;                    ///< to cross [s]
  double step;                  ///< the whole step that it is part of [s]
  bool audited;                 ///< work is asked for
  StageTimes* times = nullptr;  ///< null: not asked for
};

/// One island of a step as it was solved. See contact_problem.hpp for units.
struct IslandSolution {
  const Island* island = nullptr;  ///< which contacts, rows and trees; in Start::assembly, until it groups again
  ContactProblem problem;          ///< without a factor where the forces of the last step held
  VectorBuffer f;                  ///< forces (n) [N]
  VectorBuffer c;                  ///< (G + R) f + g (n) [m/s^2]
  VectorBuffer before, free;       ///< velocities at the start, and at the end without these forces (n) [m/s]
  VectorBuffer impact;             ///< not 0 where a contact bounces (nc)
  SolveReport solve;
};

/// Work over a step, line by line [J].
struct Work {
  double actuators = 0, damping = 0, contacts = 0, constraints = 0, external = 0, recovery = 0;
  double motion = 0;  ///< of the force that the motion needs, sum t v . (M a + h) (ledger.1)
};

/// Energy in springs [J].
struct Elastic {
  double contacts = 0;  ///< of compliant contacts and joint limits: the line of contacts has its change
  double joints = 0;    ///< of springs in joints
  double sum() const { return contacts + joints; }
};

/// What a step found.
struct Outcome {
  VecX v_end;                           ///< velocity at the end, free joints in the axes of the start (nv)
  VecX v_mean;                          ///< q moves along it over dt, free joints in the axes of the start (nv)
  VecX correction;                      ///< the part of it that only removes overlap, and belongs to no velocity (nv)
  VecX torque;                          ///< of the actuators (nv) [N m] or [N]
  VecX target_miss;                     ///< v_end less its target, 0 where there is none (nv)
  int gave_way = 0, worst_target = -1;  ///< targets missed by more than 1e-4; the one missed most, -1: there are none
  Pool<IslandSolution> islands;         ///< problems, forces and modes
  Pool<IslandSolution> recovery;        ///< the same of the removal of overlap
  std::vector<ContactReport> contacts;  ///< in the order of the list
  Memory memory;                        ///< for the next step; commit hands it to the state
  int island_count = 0;                 ///< groups of contacts and rows that do not touch each other
  SolveReport solve;                    ///< the worst island's
  StepStatus status = StepStatus::Ok;
  double held = 1;     ///< share of the step up to where a contact changes its law
  int unresolved = 0;  ///< trees that turn too fast for dt, whose gain of energy was taken off
  int sleeping = 0;    ///< bodies that were not solved since they sleep
  bool judged = true;  ///< the laws of rigid contact are meant to hold, if only in the limit of stiff springs
  Work work;

  void resize(int nv) {
    for (VecX* x : {&v_end, &v_mean, &correction, &torque, &target_miss}) x->setZero(nv);
  }
};

/// A contact that is listed and does not act.
struct OpenContact {
  std::uint64_t id;
  double gap, speed;  ///< [m], [m/s] along the normal
};

/// How a scheme wants its steps divided. See substeps.hpp.
struct SubstepRules {
  bool touch = false;   ///< a substep ends where the next new contact touches
  bool events = false;  ///< and where a contact changes its law (Outcome::held)
  double accuracy = 0;  ///< largest error of q or v by a step; 0: not asked for
  FailurePolicy failure = FailurePolicy::Report;
  int order = 1;  ///< of the scheme, between changes of contacts

  bool any() const { return touch || events || accuracy > 0 || failure != FailurePolicy::Report; }
};

/// One way to cross a step. A scheme never writes the state, throws or allocates once it has grown.
class Scheme {
 public:
  virtual ~Scheme() = default;

  virtual SubstepRules substeps() const { return {}; }
  /// Does solve time its own stages? Else all of it is Stage::Solve.
  virtual bool times_stages() const { return false; }
  /// Does it need M? Else poses, velocities and h are enough.
  virtual bool needs_mass_matrix() const { return true; }
  /// Contacts are listed from this gap on, where the user asks for margin [m].
  virtual double contact_margin(double margin) const { return margin; }
  /// Are contacts to be listed again, and solve called again, where v_end leads bodies to what was not listed?
  virtual bool lists_again() const { return false; }
  /// Lists what acts at the start: springs, joints at their limits. Once for each start.
  virtual void begin(const Start&) {}
  /// The step: v_end, v_mean, torque, forces. It may be called again for the same start with another dt.
  virtual void solve(const Start& start, Outcome& outcome) = 0;
  /// Once dt stands: contacts and memory, where solve has not filled them.
  virtual void finish(const Start&, Outcome&) {}
  /// Work of the step, where it is audited.
  virtual void charge(const Start& start, Outcome& outcome) = 0;
  /// Corrections of q and v as they will be committed. They may not be finite.
  virtual void correct(const Start&, Outcome&, VecX& /*q*/, VecX& /*v*/) {}

  /// Dynamics at the corrected q and v, where the scheme has them: the next step begins with them. Their content is
  /// taken. Null: it has none.
  virtual Dynamics* end_dynamics() { return nullptr; }

  /// Do contacts store energy? Then begin is called at the end of an audited step too.
  virtual bool stores_energy() const { return false; }
  /// Energy in springs at a state, that of the last begin where stores_energy().
  virtual Elastic stored(const State&) { return {}; }
  /// Contacts of the start that do not act yet, by id; for SubstepRules::touch.
  virtual std::span<const OpenContact> open() const { return {}; }
};

}  // namespace tribo
