#include "function_controller.hpp"

#include <cmath>
#include <limits>

#include "tribo/batch.hpp"

namespace tribo::python {

FunctionController::FunctionController(nb::handle functions, std::size_t index, int memory, double period,
                                       std::atomic<bool>* interrupted)
    : functions_(functions), index_(index), memory_(memory), period_(period), interrupted_(interrupted) {
  if (memory < 0) throw InvalidInput("memory is " + std::to_string(memory) + ", must be >= 0");
}

nb::object FunctionController::call(const State& state, const View& memory) const {
  try {
    const nb::object function = functions_[index_];
    if (memory_ > 0) return function(state.t, copied(state.q), copied(state.v), memory);
    return function(state.t, copied(state.q), copied(state.v));
  } catch (const nb::python_error& error) {
    if (interrupted_ == nullptr || !error.matches(PyExc_KeyboardInterrupt)) throw;
    *interrupted_ = true;
    throw Interrupted();
  }
}

void FunctionController::control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
                                 Actuation& actuation) {
  nb::gil_scoped_acquire gil;
  const View numbers = copied(memory.data(), memory.size());
  const nb::object answer = call(state, numbers);
  std::copy(numbers.data(), numbers.data() + memory.size(), memory.data());
  VectorIn tau;
  if (!nb::try_cast(answer, tau))
    throw InvalidInput("the controller returned " + nb::cast<std::string>(nb::repr(answer)) +
                       ", must return an array of torques");
  int actuated = 0;
  for (int k = 0; k < model.nv; ++k) actuated += model.actuated(k);
  const int n = static_cast<int>(tau.shape(0));
  if (n != model.nv && n != actuated)
    throw InvalidInput("the controller returned " + std::to_string(n) + " torques; there are " +
                       std::to_string(model.nv) + " velocities, " + std::to_string(actuated) + " of them with a motor");
  for (int k = 0, i = 0; k < model.nv; ++k) {
    if (!model.actuated(k)) continue;
    const double asked = tau.data()[n == model.nv ? k : i++];
    // An infinite torque would pass for one at its limit.
    actuation.tau[k] += std::isfinite(asked) ? asked : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace tribo::python
