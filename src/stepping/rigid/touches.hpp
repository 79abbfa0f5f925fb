// A step that is divided where the next new contact touches (rigid.17): what waits for its touch, and what a part of the
// step begins with.
#pragma once

#include <span>
#include <vector>

#include "stepping/rigid/island_setup.hpp"
#include "stepping/substeps.hpp"
#include "tribo/step.hpp"

namespace tribo {

class Touches {
 public:
  Touches(const Model& model, bool divides);
  bool divides() const { return divides_; }
  /// Lists the contacts that wait for their touch.
  void begin(const Start& start, const IslandSetup& setup);
  std::span<const OpenContact> open() const { return open_; }
  /// The start of a part: errors of drives were measured at the start of the whole step.
  Start from_here(const Start& start);

 private:
  bool divides_;
  std::vector<OpenContact> open_;
  Actuation moved_;  // with the errors of a part
  VecX way_;         // from the start of the step, in its axes
};

}  // namespace tribo
