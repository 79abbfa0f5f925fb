// A Python function as a controller.
#pragma once

#include "arrays.hpp"
#include "tribo/controller.hpp"

namespace tribo::python {

/// tau = f(t, q, v) or, with memory, f(t, q, v, memory), where memory is an array that lives in the State.
/// tau has an entry for each velocity, or for each that has a motor; it is kept within the effort limits.
class FunctionController final : public Controller {
 public:
  /// The function is kept alive by who owns the simulation, where Python's collector can see it.
  FunctionController(nb::handle function, int memory, double period)
      : function_(function), memory_(memory), period_(period) {}
  int memory() const override { return memory_; }
  double period() const override { return period_; }
  void control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
               Actuation& actuation) override;

 private:
  nb::handle function_;
  int memory_;
  double period_;
};

}  // namespace tribo::python
