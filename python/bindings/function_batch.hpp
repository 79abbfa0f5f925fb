// A batch as Python holds it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "extras.hpp"
#include "settings.hpp"
#include "tribo/batch.hpp"
#include "tribo/recorder.hpp"

namespace tribo::python {

/// Flags are whole numbers to Python; here they would be a mask gone astray.
Py_ssize_t whole(nb::handle number, const char* what);

/// Some worlds, by their numbers.
using Which = nb::ndarray<const int, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
inline std::span<const int> list(const Which& worlds) { return {worlds.data(), worlds.shape(0)}; }

/// Who is shown the steps of a world.
struct Eyes final : Observer {
  std::unique_ptr<Witness> witness;
  std::unique_ptr<Recorder> recorder;
  void observe(Simulation& simulation, const StepReport& report) override;
};

/// Made before the controllers that write to it.
struct Interrupt {
  std::atomic<bool> interrupted{false};  ///< Ctrl-C came while a function ran
};

/// A batch and the Python functions of its worlds, one row of them after another.
struct FunctionBatch : Interrupt, Batch {
  using Functions = nb::typed<nb::list, nb::object>;
  using Kinds = std::vector<std::pair<int, double>>;  ///< memory and period of each row

  FunctionBatch(const Scene& scene, int worlds, int threads, const Functions& rows, const Kinds& kinds,
                const std::optional<SensorOptions>& sensors, bool lanes);

  /// Steps all worlds, or some, with the GIL released.
  void take(nb::handle steps, const std::optional<Which>& worlds);
  /// From now on what explains these worlds is kept.
  void witness(std::span<const int> worlds);
  /// Every step of a world from now on.
  void record(int w, const std::string& folder, const std::string& controller, const Settings& settings);
  /// The path of its recording; "" where there is none.
  std::string end_record(int w);
  /// Worlds begin anew, and so do those who watch them.
  void renew(std::span<const int> worlds);
  Explanation explain(int w) const;

  Functions functions;
  double period;           ///< the longest between calls of the functions [s]
  std::vector<Eyes> eyes;  ///< of the worlds; they keep their place

 private:
  Scene scene_of(int w) const;
};

}  // namespace tribo::python
