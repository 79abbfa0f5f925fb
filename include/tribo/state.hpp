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

struct State {
  std::uint64_t model = 0;              ///< hash of the model it belongs to
  std::uint64_t step = 0;               ///< steps taken
  double t = 0;                         ///< [s]
  VecX q;                               ///< (nq)
  VecX v;                               ///< (nv)
  VecX tau;                             ///< torque held between ticks of the controllers (nv) [N m] or [N]
  std::vector<ContactMemory> contacts;  ///< of contacts and joint rows, sorted by id
  std::vector<double> control;          ///< memory of the controllers, in their order
  Random random;

  static State neutral(const Model& model);
};

/// Hash of every bit of the state.
std::uint64_t hash(const State& state);

/// Writes to a temporary name and renames. InvalidInput where it cannot be written.
void save_state(const State& state, const std::string& path);
/// InvalidInput where the file is broken or belongs to another model.
State load_state(const Model& model, const std::string& path);

}  // namespace tribo
