// Ctrl-C, and whatever else Python does on a signal, while C++ runs without the GIL.
#pragma once

#include <chrono>
#include <exception>

#include "arrays.hpp"

namespace tribo::python {

/// Asks Python ten times a second whether a signal came; Python answers its main thread alone.
class Interrupts {
 public:
  /// True once a handler raised; what it raised is kept for rethrow(). Called without the GIL.
  bool came() {
    if (raised_) return true;
    const auto now = Clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::milliseconds(100);
    nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (...) {
      raised_ = std::current_exception();
    }
    return raised_ != nullptr;
  }
  /// Called with the GIL. Signals that came while files were written are taken for the same one: who handles it is not
  /// interrupted again.
  void rethrow() {
    if (!raised_) return;
    if (PyErr_CheckSignals() != 0) PyErr_Clear();
    std::rethrow_exception(raised_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
  std::exception_ptr raised_;
};

}  // namespace tribo::python
