#include "function_controller.hpp"

namespace tribo::python {

void FunctionController::control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
                                 Actuation& actuation) {
  nb::gil_scoped_acquire gil;
  const View numbers = copied(memory.data(), memory.size());
  const nb::object answer = memory_ > 0 ? function_(state.t, copied(state.q), copied(state.v), numbers)
                                        : function_(state.t, copied(state.q), copied(state.v));
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
    actuation.tau[k] += tau.data()[n == model.nv ? k : i++];
  }
}

}  // namespace tribo::python
