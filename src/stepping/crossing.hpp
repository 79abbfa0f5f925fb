// Takes a scheme across a time: begin, solve, judge, charge, remember, commit. The same for every scheme.
#pragma once

#include <optional>

#include "dynamics/chart.hpp"
#include "stepping/judge.hpp"
#include "stepping/relisting.hpp"
#include "stepping/sent_off.hpp"
#include "stepping/workspace.hpp"
#include "tribo/step.hpp"

namespace tribo {

class Crossing {
 public:
  static constexpr int most_listings = 3;  ///< times that contacts are listed again within a step

  Crossing(const Model& model, Scheme& scheme, const StepperOptions& options);

  /// A step of dt begins at this state. All of these must live until it ends.
  void open(State& state, Workspace& work, double dt, StepReport& report);
  /// Poses, M and h at the state, the contact list, what acts; nothing where they stand already.
  void begin();
  /// Solves for a time h from the state; true where that converged. most: times that contacts may be listed again; with fewer
  /// than most_listings the solve ends with the list that stands then, as its velocities are looked at.
  bool solve(double h, int most = most_listings);
  /// How often they were in the last solve.
  int listings() const { return listings_; }
  /// Is what controllers and pushes ask for finite? Where not, the torques say so and the step is not to be taken.
  bool asks_sanely();
  /// The state moves on by the h that was solved last. False, and nothing moved, where the result is not finite, or the
  /// solve did not converge and its forces are absurd; the report says which.
  bool commit();
  /// What was committed enters the report of the step.
  void close();
  /// The step ends: its report is complete.
  void finish();
  /// The step was not taken: the state is as it was, and there are no contacts to report.
  void abandon();

  /// A state of the crossing that can be gone back to.
  struct Saved {
    VecX q, v;
    double t = 0;
    Memory memory;
    std::vector<ContactReport> contacts;
    StepReport report;
  };
  void save(Saved& saved) const;
  void restore(const Saved& saved);
  /// The same, but the report goes on: what was tried counts.
  void take_back(const Saved& saved);

  const Outcome& outcome() const { return outcome_; }
  const State& state() const { return *state_; }
  /// For a time h from the present state.
  Start start(double h) const;
  std::span<const OpenContact> open_contacts() const { return scheme_.open(); }
  StepReport& report() { return *report_; }
  double step() const { return dt_; }
  /// Contacts of the last step.
  const std::vector<ContactReport>& contacts() const { return divides_ ? contacts_ : outcome_.contacts; }
  /// Energy in springs at a state.
  Elastic elastic(State& state, Workspace& work);

 private:
  void turn_to_end();
  bool list_again();
  void let_go();
  void merge();
  bool absurd(const Start& start) const;
  void charge(const Start& start);
  void count_changes(const Start& start);

  const Model& model_;
  Scheme& scheme_;
  Relisting* relisting_;  // the scheme, null where contacts are listed once a step
  double margin_;
  AuditLevel audit_;
  bool divides_;  // steps may have several substeps
  bool looks_;    // begin is called at the end of a substep too
  Chart chart_;
  Judge judge_;
  SentOff sent_off_;
  std::optional<Start> start_;  // of the last solve
  Outcome outcome_;
  State* state_ = nullptr;
  Workspace* work_ = nullptr;
  StepReport* report_ = nullptr;
  double dt_ = 0, h_ = 0;
  int listings_ = 0;
  bool begun_ = false;
  double t_known_ = 0;
  VecX q_known_, v_known_, q_control_, v_control_, q_next_, v_next_;
  std::vector<ContactReport> contacts_, merged_;  // of the step so far; impulses from the second substep on [N s]
  double first_h_ = 0;
  LawResiduals laws_;  // of the substep
  int made_ = 0, broken_ = 0, slipped_ = 0;
  double energy_before_ = 0;  // kinetic and potential [J]
  Elastic elastic_before_;
};

}  // namespace tribo
