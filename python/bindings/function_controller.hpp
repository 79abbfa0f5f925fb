// A Python function as a controller.
#pragma once

#include <atomic>

#include "arrays.hpp"
#include "tribo/controller.hpp"

namespace tribo::python {

/// tau = f(t, q, v) or, with memory, f(t, q, v, memory), where memory is an array that lives in the State.
/// tau has an entry for each velocity, or for each that has a motor; it is kept within the effort limits.
class FunctionController final : public Controller {
 public:
  /// functions[index] is called. The list is kept alive by who owns the controller, where Python's collector sees it.
  /// interrupted: set where Ctrl-C ends a call, for those that do not pass on what a controller throws.
  FunctionController(nb::handle functions, std::size_t index, int memory, double period,
                     std::atomic<bool>* interrupted = nullptr);
  int memory() const override { return memory_; }
  double period() const override { return period_; }
  void control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
               Actuation& actuation) override;

 private:
  nb::object call(const State& state, const View& memory) const;

  nb::handle functions_;
  std::size_t index_;
  int memory_;
  double period_;
  std::atomic<bool>* interrupted_;
};

/// Slots of a class T whose list T::functions is to be seen by Python's collector: a function that holds its own
/// simulation is a cycle.
template <class T>
PyType_Slot* collected() {
  static const auto traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<T>(self)->functions.ptr());
    return 0;
  };
  static const auto clear = [](PyObject* self) -> int {
    if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->functions.clear();  // controllers hold the list itself
    return 0;
  };
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(+traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(+clear)},
                                {0, nullptr}};
  return slots;
}

}  // namespace tribo::python
