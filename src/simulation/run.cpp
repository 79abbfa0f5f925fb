#include "tribo/run.hpp"

#include <chrono>
#include <cmath>

#include "base/names.hpp"

namespace tribo {

Run::Run(Simulation& simulation, double duration) : simulation_(simulation) {
  const double steps = std::ceil(duration / simulation.dt() - 1e-9);  // forgives the rounding of dt
  if (!(duration >= 0) || !(steps <= 1e15))
    throw InvalidInput("duration is " + shown(duration) + " s; must be >= 0 and at most 1e15 steps of dt");
  steps_ = steps > 0 ? static_cast<std::uint64_t>(steps) : 0;
}

Run& Run::watch(Observer& observer) {
  observers_.push_back(&observer);
  return *this;
}

bool Run::step() {
  using Clock = std::chrono::steady_clock;
  if (done_ == steps_ || stopped_ || failed()) return false;
  const auto began = Clock::now();
  last_ = simulation_.step();
  wall_ += std::chrono::duration<double>(Clock::now() - began).count();
  ++done_;
  for (Observer* observer : observers_) observer->observe(simulation_, last_);
  return true;
}

}  // namespace tribo
