// What a run has to warn of while it goes on: the first sign that its motion is not resolved.
#pragma once

#include <string>

#include "tribo/overlap_watch.hpp"

namespace tribo {

/// Watches the steps of a run. Energy is seen where the audit is full.
class RunWarning final : public Observer {
 public:
  enum class Kind {
    None,
    Turning,      ///< StepReport::unresolved: a tree turns too fast for dt
    Speed,        ///< a coordinate changes by half a turn, or by 3 m, in a step
    SchemeGain,   ///< the scheme itself put energy in: 5 % of what moves, within a second
    ContactGain,  ///< contacts put energy in, with what they store
    Overlap,      ///< shapes came to overlap by more than contact allows; gives way to the others
  };

  void observe(Simulation& simulation, const StepReport& report) override;
  /// The first, but for an overlap; what follows it may be anything, up to numbers that are not finite.
  Kind kind() const { return kind_; }
  /// When [s].
  double time() const { return time_; }
  /// In words; "" where there is nothing.
  std::string text() const;

 private:
  Kind look(const Simulation& simulation, const StepReport& report) const;
  void look_for_overlap(Simulation& simulation, const StepReport& report);

  Kind kind_ = Kind::None;
  double time_ = 0;
  double second_ = 0, most_ = 0;  ///< when the running second began; most energy in motion and springs in it [J]
  double most_before_ = 0;        ///< the same of the second before: what slows down and starts again is one motion [J]
  double last_ = 0, growth_ = 0;  ///< that energy after the last step; its largest growth in a step of the second [J]
  double potential_ = 0, lifted_ = 0;                 ///< the same of the potential energy, up or down [J]
  double integrator_ = 0, contacts_ = 0, given_ = 0;  ///< work at its start; of motors and pushes [J]
  double through_ = 0, through_before_ = 0;  ///< most that these gave or took since, and in the second before [J]
  bool began_ = false;
  OverlapWatch overlaps_;
  double first_overlap_ = 0;  ///< of the first step: it is told before the run [m]
  std::string overlap_;       ///< what overlapped first, and by how much
};

}  // namespace tribo
