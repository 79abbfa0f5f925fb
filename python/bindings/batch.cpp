// Many worlds at once.
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "tribo/batch.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig> rows(std::span<T> x, int worlds, nb::handle owner) {
  const auto n = static_cast<std::size_t>(worlds);
  return {x.data(), {n, x.size() / n}, owner};
}

void check_world(const Batch& batch, int world) {
  if (world < 0 || world >= batch.worlds())
    throw nb::index_error(("world " + std::to_string(world) + " of " + std::to_string(batch.worlds())).c_str());
}

}  // namespace

void bind_batch(nb::module_& m) {
  const auto automatic = nb::rv_policy::automatic;
  nb::class_<Batch>(m, "Batch", "n worlds of one scene on a pool of threads. Arrays are views without a copy.")
      .def(
          "__init__",
          [](Batch* self, const Scene& scene, int worlds, int threads) {
            warn_forgotten(scene.start, scene.stepper);
            new (self) Batch(scene, worlds, threads);
          },
          "scene"_a, "worlds"_a, "threads"_a = 0)
      .def_prop_ro("worlds", &Batch::worlds, "number of worlds")
      .def_prop_ro("threads", &Batch::threads, "that step them")
      .def_prop_ro(
          "scene", [](const Batch& b) { return b.scene(); }, "a copy of the scene")
      .def_prop_ro(
          "dt", [](const Batch& b) { return b.scene().dt; }, "[s]")
      .def_prop_ro(
          "q",
          [](nb::handle h) {
            const Batch& b = nb::cast<Batch&>(h);
            return rows(b.q(), b.worlds(), h);
          },
          "coordinates (worlds, nq), read only", automatic)
      .def_prop_ro(
          "v",
          [](nb::handle h) {
            const Batch& b = nb::cast<Batch&>(h);
            return rows(b.v(), b.worlds(), h);
          },
          "velocities (worlds, nv), read only", automatic)
      .def_prop_ro(
          "t",
          [](nb::handle h) {
            const auto t = nb::cast<const Batch&>(h).t();
            return ConstView(t.data(), {t.size()}, h);
          },
          "(worlds) [s], read only", automatic)
      .def_prop_ro(
          "tau",
          [](nb::handle h) {
            const Batch& b = nb::cast<Batch&>(h);
            return rows(b.torque(), b.worlds(), h);
          },
          "torque of the actuators in the last step (worlds, nv) [N m] or [N], read only", automatic)
      .def_prop_ro(
          "foot_force",
          [](nb::handle h) {
            const Batch& b = nb::cast<Batch&>(h);
            return rows(b.foot_force(), b.worlds(), h);
          },
          "normal force of each foot in the last step (worlds, feet) [N], read only", automatic)
      .def_prop_ro(
          "target",
          [](nb::handle h) {
            Batch& b = nb::cast<Batch&>(h);
            return rows(b.target(), b.worlds(), h);
          },
          "reference of the pd controllers (worlds, nq); write to it", automatic)
      .def_prop_ro(
          "torque",
          [](nb::handle h) {
            Batch& b = nb::cast<Batch&>(h);
            return rows(b.torque_in(), b.worlds(), h);
          },
          "torque added to that of the controllers (worlds, nv) [N m] or [N]; write to it", automatic)
      .def_prop_ro(
          "failed",
          [](const Batch& b) {
            const auto status = b.status();
            auto* data = new bool[status.size()];
            for (std::size_t i = 0; i < status.size(); ++i) data[i] = status[i] == WorldStatus::Failed;
            return nb::ndarray<nb::numpy, bool, nb::ndim<1>>(
                data, {status.size()}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<bool*>(p); }));
          },
          "worlds that stand still because a step could not be taken (worlds)", automatic)
      .def(
          "reason",
          [](const Batch& b, int world) {
            check_world(b, world);
            return b.reason(world);
          },
          "world"_a, "Why a world failed; '' where it did not.")
      .def("step", &Batch::step, "n"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
           "Takes n steps in every world that runs. The GIL is released.")
      .def(
          "_reset",
          [](Batch& b, const std::vector<int>& worlds) {
            for (int w : worlds) check_world(b, w), b.reset(w);
          },
          "worlds"_a)
      .def(
          "set_state",
          [](Batch& b, int world, const State& s) {
            check_world(b, world);
            warn_forgotten(s, b.scene().stepper);
            b.set_state(world, s);
          },
          "world"_a, "state"_a,
          "Puts a state of the scene's model into a world. What contacts remember is forgotten, with a warning, where "
          "a stepper of another family wrote it.")
      .def(
          "state",
          [](const Batch& b, int world) {
            check_world(b, world);
            return b.state(world);
          },
          "world"_a, "A copy of the state of a world.")
      .def(
          "hash",
          [](const Batch& b, int world) {
            check_world(b, world);
            return hex(b.hash(world));
          },
          "world"_a, "Hash of every bit of a world's state.")
      .def(
          "set_parameters",
          [](Batch& b, int world, double mass, double friction, double gains) {
            check_world(b, world);
            b.set_parameters(world, {mass, friction, gains});
          },
          "world"_a, nb::kw_only(), "mass"_a = 1.0, "friction"_a = 1.0, "gains"_a = 1.0,
          "Factors [-] on the masses, friction coefficients and pd gains of a world, which begins anew.");
}

}  // namespace tribo::python
