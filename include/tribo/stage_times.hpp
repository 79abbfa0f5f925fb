// Where the time of a step goes, stage by stage. Off by default: then it costs a comparison a stage.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace tribo {

enum class Stage : std::uint8_t {
  Dynamics,    ///< poses, M and h
  Collision,   ///< which points touch
  FreeMotion,  ///< factor of M, and the motion before contacts act
  Assembly,    ///< the contact problems
  Solve,       ///< their forces
  Recovery,    ///< removal of overlap
  Audit        ///< judge and energy balance
};
constexpr int stage_count = 7;
constexpr std::array<const char*, stage_count> stage_names{"dynamics", "collision", "free motion", "assembly",
                                                           "solve",    "recovery",  "audit"};

/// Sums over the steps since it was switched on. Schemes other than the rigid one count all of their own work as Solve.
struct StageTimes {
  std::array<double, stage_count> seconds{};
  double step = 0;  ///< whole steps, with what belongs to no stage [s]
  std::uint64_t steps = 0;
};

/// Adds the time of its own life to a stage; nothing where times is null.
class StageTimer {
 public:
  using Clock = std::chrono::steady_clock;

  StageTimer(StageTimes* times, Stage stage) : times_(times), stage_(stage) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  ~StageTimer() {
    if (times_ != nullptr) times_->seconds[static_cast<std::size_t>(stage_)] += since(start_);
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

  static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

 private:
  StageTimes* times_;
  Stage stage_;
  Clock::time_point start_{};
};

}  // namespace tribo
