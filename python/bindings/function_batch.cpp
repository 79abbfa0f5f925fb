#include "function_batch.hpp"

#include <algorithm>
#include <climits>

#include "function_controller.hpp"
#include "interrupts.hpp"

namespace tribo::python {
namespace {

double longest(const FunctionBatch::Kinds& kinds) {
  double most = 0;
  for (const auto& [memory, time] : kinds) most = std::max(most, time);
  return most;
}

std::vector<WorldController> controllers(const nb::list& rows, int worlds, const FunctionBatch::Kinds& kinds,
                                         std::atomic<bool>& interrupted) {
  const auto n = static_cast<std::size_t>(std::max(worlds, 0));
  if (rows.size() != n * kinds.size()) throw InvalidInput("every world needs its own function");
  std::vector<WorldController> list;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    list.push_back([&interrupted, rows = nb::handle(rows), first = k * n, kind = kinds[k]](const Model&, int world) {
      return std::make_unique<FunctionController>(rows, first + static_cast<std::size_t>(world), kind.first,
                                                  kind.second, &interrupted);
    });
  return list;
}

}  // namespace

Py_ssize_t whole(nb::handle number, const char* what) {
  if (PyBool_Check(number.ptr()) || !PyIndex_Check(number.ptr()))
    throw nb::type_error(
        (std::string(what) + " is " + nb::cast<std::string>(nb::repr(number)) + ", must be a whole number").c_str());
  const Py_ssize_t n = PyNumber_AsSsize_t(number.ptr(), nullptr);  // the nearest that fits
  if (PyErr_Occurred()) throw nb::python_error();
  return n;
}

void Eyes::observe(Simulation& simulation, const StepReport& report) {
  if (witness) witness->observe(simulation, report);
  if (recorder) recorder->observe(simulation, report);
}

FunctionBatch::FunctionBatch(const Scene& scene, int worlds, int threads, const Functions& rows, const Kinds& kinds,
                             const std::optional<SensorOptions>& sensors, bool lanes)
    : Batch(scene, worlds, threads, controllers(rows, worlds, kinds, interrupted), sensors, lanes),
      functions(rows),
      period(longest(kinds)),
      eyes(at(std::max(worlds, 0))) {}

void FunctionBatch::take(nb::handle steps, const std::optional<Which>& worlds) {
  const Py_ssize_t n = whole(steps, "the number of steps");
  if (n < 0 || n > INT_MAX)
    throw InvalidInput(nb::cast<std::string>(nb::str(steps)) + " steps: must be from 0 to " + std::to_string(INT_MAX));
  const auto row = [&](auto&& table, std::size_t w) -> VecX {
    const std::size_t n = table.size() / eyes.size();
    return Eigen::Map<const VecX>(table.data() + w * n, static_cast<Eigen::Index>(n));
  };
  for (std::size_t w = 0; w < eyes.size(); ++w)
    if (Witness* witness = eyes[w].witness.get()) {
      witness->see_target(row(target(), w), t()[w]);
      witness->see_controls(row(ctrl(), w), t()[w]);
    }
  Interrupts interrupts;
  {
    nb::gil_scoped_release release;
    if (worlds)
      step(list(*worlds), static_cast<int>(n), [&] { return interrupts.came(); });
    else
      step(static_cast<int>(n), [&] { return interrupts.came(); });
  }
  interrupts.rethrow();
  if (interrupted.exchange(false)) PyErr_SetNone(PyExc_KeyboardInterrupt);
  if (PyErr_Occurred() || PyErr_CheckSignals() != 0) throw nb::python_error();
}

void FunctionBatch::witness(std::span<const int> worlds) {
  for (int w : worlds) {
    Eyes& eye = eyes[at(w)];
    if (eye.witness) continue;
    eye.witness = std::make_unique<Witness>(scene_of(w));
    eye.witness->see_period(period);
    watch(w, &eye);
  }
}

void FunctionBatch::record(int w, const std::string& folder, const std::string& controller, const Settings& settings) {
  Eyes& eye = eyes[at(w)];
  check_still();
  if (eye.recorder) throw InvalidInput("world " + std::to_string(w) + " is being recorded already");
  eye.recorder = std::make_unique<Recorder>(folder, scene_of(w), RecordingRequest{controller, overrides_of(settings)});
  watch(w, &eye);
}

std::string FunctionBatch::end_record(int w) {
  Eyes& eye = eyes[at(w)];
  if (!eye.witness) watch(w, nullptr);
  const std::unique_ptr<Recorder> recorder = std::move(eye.recorder);
  return recorder ? recorder->finish() : "";
}

void FunctionBatch::renew(std::span<const int> worlds) {
  for (int w : worlds)
    if (Witness* witness = eyes[at(w)].witness.get()) {
      *witness = Witness(scene_of(w));
      witness->see_period(period);
    }
}

Explanation FunctionBatch::explain(int w) const {
  check_still();
  const Witness* witness = eyes[at(w)].witness.get();
  if (witness == nullptr)
    throw InvalidInput("world " + std::to_string(w) +
                       " is not watched: what explains a run is kept from watch(worlds) on");
  return {witness->explain(), witness->text()};
}

Scene FunctionBatch::scene_of(int w) const {
  Scene now = scene();
  now.model = model(w);
  now.start = state(w);
  return now;
}

}  // namespace tribo::python
