#include "stepping/rigid/joint_friction.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/rigid/row_ids.hpp"

namespace tribo {
namespace {

constexpr double row_steps = 15;      // for which a joint whose guess was wrong keeps its row
constexpr int most_guesses = 2;       // of wrong guesses in a step, before all joints get rows
constexpr double held_below = 1e-10;  // slower joints are guessed to be held [rad/s] or [m/s]
constexpr double rounding = 1e-9;     // of a bound, less than what the judge lets pass

}  // namespace

JointFriction::JointFriction(const Model& model)
    : friction_(model.joints.friction),
      always_row_(at(model.nv), 0),
      along_world_(at(model.nv), 0),
      guess_(at(model.nv), Guess::None),
      direction_(at(model.nv), 0),
      patience_(at(model.nv), 0) {
  for (const Body& b : model.bodies)
    if (b.joint == JointKind::Free) std::fill_n(along_world_.begin() + b.iv, 3, 1);
  for (int k = 0; k < model.nv; ++k)
    if (friction_[k] > 0 && !along_world_[at(k)]) joints_.push_back(k);
  // A held joint in a closed loop, or under a tendon, leaves that without anything that can move.
  const auto always = [&](int body) {
    if (body < 0) return;
    const Tree& tree = model.trees[at(model.bodies[at(body)].tree)];
    std::fill_n(always_row_.begin() + tree.iv, tree.nv, 1);
  };
  for (const Equality& e : model.equalities)
    for (int body : {e.body_a, e.body_b}) always(body);
  for (const Tendon& tendon : model.tendons) {
    for (const TendonJoint& j : tendon.joints) always(j.body);
    for (const TendonSegment& s : tendon.path)
      for (int body : {s.body_a, s.body_b}) always(body);
  }
}

std::uint64_t JointFriction::id(int k) { return coordinate_row_id(k, RowRole::Friction); }

void JointFriction::begin(const State& state) {
  held_ = rounds_ = 0;
  if (joints_.empty()) return;
  const std::vector<RowMemory>& rows = state.memory.rows;
  auto memory = std::lower_bound(rows.begin(), rows.end(), id(joints_.front()),
                                 [](const RowMemory& m, std::uint64_t x) { return m.id < x; });
  for (int k : joints_) {
    while (memory != rows.end() && memory->id < id(k)) ++memory;
    const bool was_row = memory != rows.end() && memory->id == id(k);
    const double v = state.v[k];
    patience_[at(k)] = was_row ? std::max(memory->patience - 1, 0.0) : 0;
    direction_[at(k)] = v > 0 ? 1 : -1;
    guess_[at(k)] = always_row_[at(k)] || patience_[at(k)] > 0 ? Guess::Row
                    : std::abs(v) <= held_below                ? Guess::Held
                                                               : Guess::Rubbed;
    held_ += guess_[at(k)] == Guess::Held;
  }
}

void JointFriction::make_row(int k) {
  held_ -= guess_[at(k)] == Guess::Held;
  guess_[at(k)] = Guess::Row;
}

bool JointFriction::wrong(double dt, bool failed, VecX& v_end) {
  bool again = false;
  for (int k : joints_) {
    const Guess guess = guess_[at(k)];
    if (guess == Guess::Row) continue;
    const bool right = guess == Guess::Held
                           ? std::abs(infinite * v_end[k] / dt) <= (1 + rounding) * friction_[k]  // (dry.1)
                           : direction_[at(k)] * v_end[k] > 0;                                    // (dry.2)
    if (guess == Guess::Held) v_end[k] = 0;
    if (right && !failed) continue;
    make_row(k);
    patience_[at(k)] = row_steps;
    again = true;
  }
  if (again && ++rounds_ >= most_guesses)
    for (int k : joints_) make_row(k);
  return again;
}

bool JointFriction::holds(int k, double force, double smallest, const VecX& v_end) const {
  return std::abs(force) < (1 - rounding) * friction_[k] && std::abs(v_end[k]) <= smallest;
}

double JointFriction::work(double dt, const VecX& v, const VecX& v_end) const {
  double sum = 0;
  for (int k : joints_) sum += 0.5 * dt * torque(k) * (v[k] + v_end[k]);
  return sum;
}

}  // namespace tribo
