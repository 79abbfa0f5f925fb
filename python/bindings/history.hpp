// What a simulation remembers of its run for the viewer, in bounded memory.
#pragma once

#include <cmath>
#include <vector>

#include "tribo/simulation.hpp"

namespace tribo::python {

/// Frames at even times. Where they are too many, every other one is dropped and the period doubles.
class History {
 public:
  static constexpr std::size_t most = 2048;

  struct Frame {
    double t = 0;
    VecX q, v;
    std::vector<KinematicCommand> kinematic;
    std::vector<ContactReport> contacts;
    LawResiduals laws;       ///< of the step before it
    double penetration = 0;  ///< [m]
    std::shared_ptr<const Model> model;
  };

  void push(const Simulation& simulation, const StepReport& report, const std::shared_ptr<const Model>& model) {
    const double t = simulation.state().t;
    if (!frames_.empty() && t < frames_.back().t + period_ - 0.5 * simulation.dt()) return;
    if (frames_.size() == most) thin();
    const State& state = simulation.state();
    Frame frame{t, state.q, state.v, state.kinematic, {}, report.laws, report.penetration, model};
    for (const ContactReport& c : simulation.contacts())
      if (c.mode != ContactMode::Open) frame.contacts.push_back(c);
    frames_.push_back(std::move(frame));
  }
  void clear() { frames_.clear(); }
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  void thin() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < frames_.size(); i += 2) frames_[kept++] = std::move(frames_[i]);
    frames_.resize(kept);
    period_ *= 2;
  }

  std::vector<Frame> frames_;
  double period_ = 1.0 / 60;  ///< [s]
};

}  // namespace tribo::python
