// What the impacts of a step send off, so that it may meet what was not listed with the velocities of the start.
#pragma once

#include <span>
#include <vector>

#include "model/sizes.hpp"
#include "tribo/step.hpp"

namespace tribo {

class SentOff {
 public:
  /// margin: of the list of contacts [m]; negative: a share of the smaller shape.
  SentOff(const Model& model, double margin);
  /// Does an impact, or what drives it, take a point of a tree more than half the margin away from where its velocity at
  /// the start does? An upper bound by the joints. Those with velocity targets go where they are told; the base may not.
  bool operator()(const Start& start, const Outcome& outcome) const;
  /// Does a body that is pressed, or was in the last step, and goes where it is not told, turn a point by more than that?
  /// What touches may then meet with other features.
  bool turns(const Start& start, const Outcome& outcome);

  /// By tree: those that go or turn so far, and what else may meet them is known. After both of the above.
  std::span<const char> trees(const Start& start, const Outcome& outcome);

  /// How far a point moves with one unit of velocity k, at most [m] or [-]; and does it turn what it moves?
  double reach(int k) const { return reach_[k]; }
  bool turning(int k) const { return turning_[at(k)] != 0; }
  /// Half of the least margin of a tree [m].
  double least(int tree) const { return margins_[at(tree)]; }

 private:
  double length(const ContactReport& r) const { return 0.5 * (margin_ < 0 ? default_margin * sizes_.of(r) : margin_); }
  void measure_turns(const Start& start, const Outcome& outcome);
  bool farther(const Start& start, const Outcome& outcome, int tree, double length) const;
  bool pressed(const Start& start, std::uint64_t id) const;
  bool hit(const Start& start, const Outcome& outcome) const;
  bool driven(const Start& start, const Outcome& outcome) const;

  double margin_;
  Sizes sizes_;
  VecX reach_;                   ///< how far a point moves with one unit of a velocity, at most (nv)
  std::vector<double> margins_;  ///< half of that of the smallest shape of a tree; infinite without shapes [m] (trees)
  std::vector<char> turning_;    ///< does the velocity turn what it moves? (nv)
  std::vector<char> sent_;       ///< (trees)
  std::vector<double> turned_;   ///< how far points of a tree turn in the step, at most [m] (trees)
};

}  // namespace tribo
