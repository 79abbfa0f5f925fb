// What is wrong with an input. Readers throw at the first error; under a Collecting guard they note it and go on, so
// that `tribo check` tells everything at once.
#pragma once

#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

struct Problem {
  bool error = true;  ///< otherwise a warning
  std::string text;   ///< begins with the place
};

/// While it lives, note() of this thread collects instead of throwing.
class Collecting {
 public:
  Collecting();
  ~Collecting();
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend void note(const InvalidInput& error);
  std::vector<Problem> problems_;
  Collecting* outer_;
};

/// Collects the error, one problem for each line of it; throws it where nobody collects.
void note(const InvalidInput& error);
/// The errors together, one to a line, as one InvalidInput; nothing where there are none.
void note_all(const std::vector<std::string>& errors);

/// Runs f. False where it threw InvalidInput and that was collected.
template <class F>
bool attempt(F&& f) {
  try {
    f();
    return true;
  } catch (const InvalidInput& error) {
    note(error);
    return false;
  }
}

}  // namespace tribo
