// All that changes: save it, restore it, and the run goes on bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tribo/contact.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// A small generator whose state can be saved (splitmix64).
struct Random {
  std::uint64_t state = 0x9e3779b97f4a7c15ull;
  std::uint64_t next();
  double uniform();  ///< in [0, 1)
};

/// The steppers that give the fields of ContactMemory one meaning; those of another family would misread them.
enum class MemoryFamily : std::uint8_t {
  Unknown,    ///< of a file that does not say
  Rigid,      ///< forces and modes
  Compliant,  ///< springs: anchors, and the gap at which they are at rest
  Momentum    ///< referential points, and the gap of the step before
};
std::string to_string(MemoryFamily family);

struct State {
  std::uint64_t model = 0;              ///< hash of the model it belongs to
  std::uint64_t step = 0;               ///< steps taken
  double t = 0;                         ///< [s]
  VecX q;                               ///< (nq)
  VecX v;                               ///< (nv)
  VecX tau;                             ///< torque held between ticks of the controllers (nv) [N m] or [N]
  std::vector<ContactMemory> contacts;  ///< of contacts and joint rows, sorted by id
  /// Of the stepper that wrote contacts; says nothing where there are none.
  MemoryFamily family = MemoryFamily::Unknown;
  std::vector<double> control;  ///< memory of the controllers, in their order
  Random random;

  static State neutral(const Model& model);
};

/// Hash of every bit of the state.
std::uint64_t hash(const State& state);

/// Whole or not at all, see docs/quickstart.md. InvalidInput where it cannot be written.
void save_state(const State& state, const std::string& path);
/// InvalidInput where the file is broken or belongs to another model. Files of before families were told are read, with
/// an unknown one.
State load_state(const Model& model, const std::string& path);

}  // namespace tribo
