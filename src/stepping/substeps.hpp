// Substeps: where a step is divided. See SubstepRules.
//
// Touch: a substep ends where the next new contact touches. Its time is foreseen from gap, speed and acceleration; where
// the point is found too deep after all, the substep is taken back and shortened                          (substeps.1)
// Accuracy: a substep h is kept where it and two of h/2 agree; the two are what is kept                   (substeps.2)
// Events, also where accuracy is asked for: a substep ends where a contact changes its law                (substeps.3)
// Failure: a substep that does not converge is halved, down to 1/64 of the step                           (substeps.4)
// Effort: after so many solves the rest of the step is crossed at once, and the step is unconverged. What has run away,
// by 100 m or rad in a step, is not divided by touch or failure.
#pragma once

#include "model/sizes.hpp"
#include "stepping/crossing.hpp"
#include "stepping/touching.hpp"

namespace tribo {

class Substeps {
 public:
  Substeps(const Model& model, const SubstepRules& rules) : model_(model), sizes_(model), rules_(rules) {}
  /// Takes the crossing through its step. False where that cannot be; the state is then as it was.
  bool run(Crossing& crossing);
  /// Times of touches to the last digit, and not to gap_of_touch: what differences of a step need.
  void find_exactly(bool exactly) { exactly_ = exactly; }
  /// A contact with a smaller gap touches [m].
  double gap_of_touch(const Contact& contact) const { return tribo::gap_of_touch(sizes_, contact); }
  /// Of the substeps of the last run [s].
  const std::vector<double>& lengths() const { return lengths_; }

 private:
  bool cross(Crossing& crossing, double duration);
  bool cross_accurately(Crossing& crossing);
  bool take(Crossing& crossing, double h, double& taken);
  bool find_length(Crossing& crossing, double h, bool may_split, double& taken);
  bool solve(Crossing& crossing, double h);
  bool spent() const;
  double crossing_time(const Crossing& crossing, double h) const;
  double late(const Crossing& crossing, double h) const;

  const Model& model_;
  Sizes sizes_;
  SubstepRules rules_;
  std::vector<double> lengths_;
  std::vector<OpenContact> open_before_;
  Crossing::Saved start_, before_substep_, before_pair_;
  VecX q_single_, v_single_;
  int count_ = 0;  ///< substeps
  int left_ = 0;   ///< solves, less those that did not converge by their iterations
  bool runs_away_ = false;
  bool exactly_ = false;
};

}  // namespace tribo
