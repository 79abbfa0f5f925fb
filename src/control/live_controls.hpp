// Controls that may change between steps.
#pragma once

#include "tribo/types.hpp"

namespace tribo {

class LiveControls {
 public:
  virtual ~LiveControls() = default;
  /// Those that it was made with.
  virtual const VecX& controls() const = 0;
  /// From now on it reads these instead; they belong to the caller.
  virtual void follow(const double* row) = 0;
};

}  // namespace tribo
