// Of a scheme that lists contacts again within a step (Scheme::lists_again): what it is told about the lists.
#pragma once

#include "tribo/step.hpp"

namespace tribo {

class Relisting {
 public:
  /// Before a solve: how often contacts were listed again. Outcome::contacts has what the list before led to.
  virtual void listed(int again) = 0;
  /// Once the list stands: what solve need not do for every list, v_mean included.
  virtual void complete(const Start& start, Outcome& outcome) = 0;

 protected:
  ~Relisting() = default;
};

}  // namespace tribo
