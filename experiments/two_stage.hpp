// The two-stage constraint solver that [Shepherd2017, IV-B] outlines, and what it may be read to mean. It breaks the
// law of friction by design: for the experiment alone.
#pragma once

#include <memory>

#include "tribo/contact_solver.hpp"

namespace tribo::experiments {

/// What the joint torques do while friction is found.
enum class SecondStage {
  Held,    ///< they stay: friction must not move a joint that the first stage has set
  Answers  ///< they change so as to keep the joints at their velocities
};

std::unique_ptr<ContactSolver> make_two_stage(SecondStage stage);

}  // namespace tribo::experiments
