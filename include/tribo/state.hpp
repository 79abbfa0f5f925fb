// All that changes: save it, restore it, and the run goes on bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tribo/contact_memory.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// A small generator whose state can be saved (splitmix64).
struct Random {
  std::uint64_t state = 0x9e3779b97f4a7c15ull;
  std::uint64_t next();
  double uniform();  ///< in [0, 1)
};

/// Time counted in steps, so that the ticks of the millionth second are as exact as those of the first.
struct Clock {
  double start = 0;         ///< [s]
  double dt = 0;            ///< of the steps that it counts; 0: none yet [s]
  std::uint64_t steps = 0;  ///< since start

  double time() const { return start + static_cast<double>(steps) * dt; }  ///< [s]
  /// Begins anew at t, unless it is there already and counts steps of dt.
  void set(double t, double dt);
  /// Number of the period that t lies in, from t = 0 on. Counted in steps where the period is a multiple of dt, so that no
  /// tick slips by a rounding of t.
  std::int64_t period_number(double period) const;
};

struct State {
  std::uint64_t model = 0;      ///< hash of the model it belongs to
  std::uint64_t step = 0;       ///< steps taken
  double t = 0;                 ///< [s]
  Clock clock;                  ///< that t is read from; set anew where t or the time step is another
  VecX q;                       ///< (nq)
  VecX v;                       ///< (nv)
  Memory memory;                ///< of contacts and joint rows
  std::vector<double> control;  ///< memory of the controllers, in their order
  Random random;
  std::vector<KinematicCommand> kinematic;  ///< of kinematic bodies that were commanded, sorted by body

  static State neutral(const Model& model);
  /// Where its kinematic bodies are now.
  KinematicTime kinematic_time() const { return {t, kinematic}; }
  /// Kinematic body k goes steadily from where it is now to a pose within a time, and stays there. In whole steps of dt,
  /// one at least. InvalidInput where there is no such body, pose or time.
  void move_kinematic(const Model& model, int k, const Placement& to, double time, double dt);
};

/// Hash of every bit of the state.
std::uint64_t hash(const State& state);

/// Whole or not at all, see docs/quickstart.md. InvalidInput where it cannot be written.
void save_state(const State& state, const std::string& path);
/// InvalidInput where the file is broken, of another version, or belongs to another model.
State load_state(const Model& model, const std::string& path);

}  // namespace tribo
