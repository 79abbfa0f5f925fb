// Many worlds at once.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "function_batch.hpp"
#include "function_controller.hpp"
#include "height_scans.hpp"
#include "kinematic_commands.hpp"
#include "named_contact.hpp"
#include "pushes.hpp"
#include "tribo/commands.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig> rows(std::span<T> x, int worlds, nb::handle owner) {
  const auto n = static_cast<std::size_t>(worlds);
  return {x.data(), {n, x.size() / n}, owner};
}

nb::ndarray<nb::numpy, const double, nb::ndim<3>, nb::c_contig> stack(std::span<const double> x, int worlds, int each,
                                                                      nb::handle owner) {
  const auto n = static_cast<std::size_t>(worlds), k = static_cast<std::size_t>(each);
  return {x.data(), {n, x.size() / n / k, k}, owner};
}

nb::tuple shown(const Batch::Points& points, int worlds, nb::handle owner) {
  return nb::make_tuple(stack(points.position, worlds, 3, owner), stack(points.velocity, worlds, 3, owner));
}

int checked(const Batch& batch, nb::handle world) {
  const Py_ssize_t w = whole(world, "world");
  if (w < 0 || w >= batch.worlds())
    throw nb::index_error(
        ("world " + nb::cast<std::string>(nb::str(world)) + ", must be from 0 to " + std::to_string(batch.worlds() - 1))
            .c_str());
  return static_cast<int>(w);
}

/// The rows of an array that a parameter was given as; null where it was not. each: numbers a world.
using Rows = std::optional<MatrixIn>;
const double* data(const Rows& rows, const Which& worlds, int each, const char* what) {
  if (!rows) return nullptr;
  if (rows->shape(0) != worlds.shape(0) || rows->shape(1) != static_cast<std::size_t>(each))
    throw InvalidInput(std::string(what) + " has shape (" + std::to_string(rows->shape(0)) + ", " +
                       std::to_string(rows->shape(1)) + "), must be (" + std::to_string(worlds.shape(0)) + ", " +
                       std::to_string(each) + ")");
  return rows->data();
}

/// An array of its own with one row a contact.
MatrixView contact_table(const Batch& b) {
  constexpr std::size_t columns = 13;  // world, geometries, mode, point, normal, force
  std::vector<double> table;
  for (int w = 0; w < b.worlds(); ++w)
    for (const ContactReport& c : b.contacts(w)) {
      const Vec3 force = c.R_WC * c.f, normal = c.R_WC.col(2);
      for (double x : {static_cast<double>(w), static_cast<double>(c.geometry_a), static_cast<double>(c.geometry_b),
                       static_cast<double>(static_cast<int>(c.mode))})
        table.push_back(x);
      for (const Vec3* x : {&c.p_WC, &normal, &force}) table.insert(table.end(), x->begin(), x->end());
    }
  return copied_rows(table.data(), table.size() / columns, columns);
}

}  // namespace

void bind_batch(nb::module_& m) {
  const auto automatic = nb::rv_policy::automatic;
  nb::class_<FunctionBatch>(m, "Batch", nb::type_slots(collected<FunctionBatch>()), nb::is_weak_referenceable(),
                            "n worlds of one scene on a pool of threads. Arrays are views without a copy.")
      .def(
          "__init__",
          [](FunctionBatch* self, const Scene& scene, int worlds, int threads,
             const FunctionBatch::Functions& functions, const FunctionBatch::Kinds& kinds,
             const std::optional<SensorOptions>& sensors, bool lanes) {
            warn_forgotten(scene.start, scene.stepper);
            new (self) FunctionBatch(scene, worlds, threads, functions, kinds, sensors, lanes);
          },
          "scene"_a, "worlds"_a, "threads"_a = 0, "functions"_a = nb::list(), "kinds"_a = FunctionBatch::Kinds{},
          "sensors"_a = nb::none(), "lanes"_a = false)
      .def_ro("_functions", &FunctionBatch::functions)
      .def_prop_ro(
          "worlds", [](const FunctionBatch& b) { return b.worlds(); }, "number of worlds")
      .def_prop_ro(
          "threads", [](const FunctionBatch& b) { return b.threads(); }, "that step them")
      .def_prop_ro(
          "lanes", [](const FunctionBatch& b) { return b.Batch::lanes(); },
          "vector unit and number of SIMD lanes, or what they do not cover; '' where they were not asked for")
      .def_prop_ro(
          "lane_steps",
          [](const FunctionBatch& b) {
            std::vector<double> steps;
            steps.reserve(at(b.worlds()));
            for (int w = 0; w < b.worlds(); ++w) steps.push_back(static_cast<double>(b.lane_steps(w)));
            return copied(steps.data(), steps.size());
          },
          "steps of each world that were taken in a lane (worlds), a copy", automatic)
      .def_prop_ro(
          "scene", [](const FunctionBatch& b) { return b.scene(); }, "a copy of the scene")
      .def_prop_ro(
          "dt", [](const FunctionBatch& b) { return b.scene().dt; }, "[s]")
      .def_prop_ro(
          "q",
          [](nb::handle h) {
            const Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.q(), b.worlds(), h);
          },
          "coordinates (worlds, nq), read only", automatic)
      .def_prop_ro(
          "v",
          [](nb::handle h) {
            const Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.v(), b.worlds(), h);
          },
          "velocities (worlds, nv), read only", automatic)
      .def_prop_ro(
          "t",
          [](nb::handle h) {
            const auto t = nb::cast<const FunctionBatch&>(h).t();
            return ConstView(t.data(), {t.size()}, h);
          },
          "(worlds) [s], read only", automatic)
      .def_prop_ro(
          "tau",
          [](nb::handle h) {
            const Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.torque(), b.worlds(), h);
          },
          "torque of the actuators in the last step (worlds, nv) [N m] or [N], read only", automatic)
      .def_prop_ro(
          "_foot_force",
          [](nb::handle h) {
            const Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.foot_force(), b.worlds(), h);
          },
          automatic)
      .def_prop_ro(
          "_body_pose",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return stack(b.body_pose(), b.worlds(), 7, h);
          },
          automatic)
      .def_prop_ro(
          "_body_velocity",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return stack(b.body_velocity(), b.worlds(), 6, h);
          },
          automatic)
      .def_prop_ro(
          "_foot_points",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return shown(b.foot_points(), b.worlds(), h);
          },
          automatic,
          nb::for_getter(nb::sig("def _foot_points(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]")))
      .def(
          "_follow",
          [](nb::handle h, const std::vector<std::string>& names) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            std::vector<Place> places;
            for (const std::string& name : names) places.push_back(b.scene().model->place(name));
            return shown(b.follow(places), b.worlds(), h);
          },
          "names"_a, automatic,
          nb::sig("def _follow(self, names: list[str]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]"))
      .def(
          "_follow_points",
          [](nb::handle h, const std::vector<int>& bodies, const MatrixIn& points) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return shown(b.follow(places_of(*b.scene().model, bodies, points)), b.worlds(), h);
          },
          "bodies"_a, "points"_a, automatic,
          nb::sig("def _follow_points(self, bodies: list[int], points: object) -> tuple[NDArray[numpy.float64], "
                  "NDArray[numpy.float64]]"))
      .def_prop_ro(
          "_gains",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.gains(), b.worlds(), h);
          },
          "factors on kp and kd of the pd controllers (worlds, nv); write to it", automatic)
      .def(
          "_contact_table", [](const FunctionBatch& b) { return contact_table(b); }, automatic)
      .def(
          "_reading", [](const FunctionBatch& b, nb::handle world) { return b.sensors(checked(b, world)); }, "world"_a,
          nb::rv_policy::move, nb::sig("def _reading(self, world: int) -> SensorReading"))
      .def(
          "_height_scan",
          [](FunctionBatch& b, const std::string& name, const MatrixIn& points, double above, double most,
             const std::vector<std::string>& ignored) {
            const HeightScan scan = height_scan_of(*b.scene().model, name, points, above, most, ignored);
            std::vector<double> heights;
            {
              nb::gil_scoped_release release;
              heights = b.height_scan(scan);
            }
            return copied_rows(heights.data(), at(b.worlds()), points.shape(0));
          },
          "name"_a, "points"_a, "above"_a, "most"_a, "ignored"_a, automatic)
      .def(
          "_instant",
          [](const FunctionBatch& b) {
            b.check_still();
            const std::size_t n = at(b.worlds());
            return nb::make_tuple(copied_rows(b.q().data(), n, b.q().size() / n),
                                  copied_rows(b.v().data(), n, b.v().size() / n), copied(b.t().data(), n));
          },
          nb::sig("def _instant(self) -> tuple[object, object, object]"), "Copies of q, v and t.")
      .def("_commanded",
           [](const FunctionBatch& b) {
             std::vector<KinematicCommands> lists;
             lists.reserve(at(b.worlds()));
             for (int w = 0; w < b.worlds(); ++w) lists.push_back({b.state(w).kinematic});
             return lists;
           })
      .def(
          "_move_kinematic",
          [](FunctionBatch& b, const Which& worlds, const std::string& name, const MatrixIn& pose, double time) {
            const Model& model = *b.scene().model;
            b.move_kinematic(list(worlds), kinematic_body_index(model, name), placement(pose, "pose"), time);
          },
          "worlds"_a, "name"_a, "pose"_a, "time"_a)
      .def_prop_ro(
          "_target",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.target(), b.worlds(), h);
          },
          "reference of the pd controllers (worlds, nq); write to it", automatic)
      .def_prop_ro(
          "_torque",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.torque_in(), b.worlds(), h);
          },
          "torque added to that of the controllers (worlds, nv) [N m] or [N]; write to it", automatic)
      .def_prop_ro(
          "_ctrl",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            return rows(b.ctrl(), b.worlds(), h);
          },
          "controls of the actuators that the robots' files describe (worlds, nu); write to it", automatic)
      .def_prop_ro(
          "_wrench",
          [](nb::handle h) {
            Batch& b = nb::cast<FunctionBatch&>(h);
            const auto n = static_cast<std::size_t>(b.worlds());
            return nb::ndarray<nb::numpy, double, nb::ndim<3>, nb::c_contig>(b.wrench().data(),
                                                                             {n, b.wrench().size() / n / 6, 6}, h);
          },
          "force at the centre of mass and torque on every body, in the world (worlds, bodies, 6) [N], [N m]; write to "
          "it",
          automatic)
      .def(
          "_contacts",
          [](const FunctionBatch& b, nb::handle world) {
            const int w = checked(b, world);
            return named(b.contacts(w), b.scene().model);
          },
          "world"_a, nb::sig("def _contacts(self, world: int) -> list[Contact]"))
      .def(
          "_model_of",
          [](const FunctionBatch& b, nb::handle world) {
            return std::const_pointer_cast<Model>(b.model(checked(b, world)));
          },
          "world"_a = 0, nb::sig("def _model_of(self, world: int = 0) -> Model"),
          "That of a world, with its own masses and friction.")
      .def_prop_ro(
          "failed",
          [](const FunctionBatch& b) {
            b.check_still();
            const auto status = b.status();
            auto* data = new bool[status.size()];
            for (std::size_t i = 0; i < status.size(); ++i) data[i] = status[i] == WorldStatus::Failed;
            return nb::ndarray<nb::numpy, bool, nb::ndim<1>>(
                data, {status.size()}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<bool*>(p); }));
          },
          "worlds that stand still because a step could not be taken (worlds)", automatic)
      .def(
          "reason", [](const FunctionBatch& b, nb::handle world) { return b.reason(checked(b, world)); }, "world"_a,
          nb::sig("def reason(self, world: int) -> str"), "Why a world failed; '' where it did not.")
      .def(
          "_step", [](FunctionBatch& b, nb::handle n, const std::optional<Which>& worlds) { b.take(n, worlds); }, "n"_a,
          "worlds"_a.none(), nb::sig("def _step(self, n: int, worlds: object) -> None"))
      .def(
          "linearize",
          [](FunctionBatch& b, bool memory, std::vector<std::string> parameters, std::vector<std::string> sensors) {
            LinearizationRequest request;
            request.memory = memory;
            request.parameters = std::move(parameters);
            request.sensors = std::move(sensors);
            std::span<const Linearization> all;
            {
              nb::gil_scoped_release release;
              all = b.linearize(request);
            }
            return std::vector<Linearization>(all.begin(), all.end());
          },
          "memory"_a = false, "parameters"_a = std::vector<std::string>{}, "sensors"_a = std::vector<std::string>{},
          "The derivative of the step that begins now, in every world, on the threads of the batch; memory, parameters "
          "and sensors: as of Simulation.linearize. The GIL is released.")
      .def(
          "_reset",
          [](FunctionBatch& b, const Which& worlds) {
            b.reset(list(worlds));
            b.renew(list(worlds));
          },
          "worlds"_a)
      .def(
          "_begin_at",
          [](FunctionBatch& b, const Which& worlds, const std::string& pose) {
            for (int w : list(worlds)) {
              State state = b.state(w);
              begin_at(b.scene(), pose, state);
              b.set_state(w, state);
            }
          },
          "worlds"_a, "pose"_a)
      .def(
          "_record",
          [](FunctionBatch& b, nb::handle world, const std::string& folder, const std::string& controller,
             const Settings& settings) { b.record(checked(b, world), folder, controller, settings); },
          "world"_a, "folder"_a, "controller"_a, "settings"_a)
      .def(
          "_end_record", [](FunctionBatch& b, nb::handle world) { return b.end_record(checked(b, world)); }, "world"_a)
      .def(
          "_constraints",
          [](const FunctionBatch& b, nb::handle world) {
            std::vector<std::string> names;
            const std::shared_ptr<const Model> model = b.model(checked(b, world));
            for (const Equality& e : model->equalities) names.push_back(e.name);
            return names;
          },
          "world"_a)
      .def(
          "_change",
          [](FunctionBatch& b, nb::handle world, const ModelChanges& changes) { b.change(checked(b, world), changes); },
          "world"_a, "changes"_a)
      .def(
          "_push",
          [](FunctionBatch& b, const Which& worlds, const std::string& where, double duration,
             const std::map<std::string, VectorIn>& vectors,
             double start) { b.push(list(worlds), asked_push(*b.scene().model, where, duration, vectors, start)); },
          "worlds"_a, "where"_a, "duration"_a, "vectors"_a, "start"_a)
      .def(
          "_watch", [](FunctionBatch& b, const Which& worlds) { b.witness(list(worlds)); }, "worlds"_a)
      .def(
          "explain", [](const FunctionBatch& b, nb::handle world) { return b.explain(checked(b, world)); }, "world"_a,
          nb::sig("def explain(self, world: int) -> Explanation"),
          "Why a world went wrong, or is about to: the likely first cause with its evidence. It must be watched.")
      .def(
          "_set",
          [](FunctionBatch& b, const Which& worlds, const Rows& q, const Rows& v) {
            const Model& model = *b.scene().model;
            b.set(list(worlds), data(q, worlds, model.nq, "q"), data(v, worlds, model.nv, "v"));
            b.renew(list(worlds));
          },
          "worlds"_a, "q"_a.none(), "v"_a.none())
      .def(
          "_set_state",
          [](FunctionBatch& b, int world, const State& s, bool adopt) {
            warn_forgotten(s, b.scene().stepper);
            b.set_state(world, s, adopt);
            b.renew({&world, 1});
          },
          "world"_a, "state"_a, "adopt"_a)
      .def(
          "state", [](const FunctionBatch& b, nb::handle world) { return b.state(checked(b, world)); }, "world"_a,
          nb::sig("def state(self, world: int) -> State"), "A copy of the state of a world.")
      .def(
          "hash", [](const FunctionBatch& b, nb::handle world) { return hex(b.hash(checked(b, world))); }, "world"_a,
          nb::sig("def hash(self, world: int) -> str"), "Hash of every bit of a world's state.")
      .def(
          "_set_parameters",
          [](FunctionBatch& b, const Which& worlds, const Rows& mass, const Rows& com, const Rows& mu_static,
             const Rows& mu_dynamic, const Rows& damping, const Rows& armature, const Rows& dry_friction,
             const Rows& gains) {
            const Model& m = *b.scene().model;
            const int bodies = static_cast<int>(m.bodies.size()), nv = m.nv;
            const ModelNumbers numbers{data(mass, worlds, bodies, "mass"),
                                       data(com, worlds, 3 * bodies, "com"),
                                       data(mu_static, worlds, m.surfaces(), "friction"),
                                       data(mu_dynamic, worlds, m.surfaces(), "friction"),
                                       data(damping, worlds, nv, "damping"),
                                       data(armature, worlds, nv, "armature"),
                                       data(dry_friction, worlds, nv, "dry_friction")};
            b.set_parameters(list(worlds), {numbers, data(gains, worlds, nv, "gains")});
            b.renew(list(worlds));
          },
          "worlds"_a, nb::kw_only(), "mass"_a = nb::none(), "com"_a = nb::none(), "mu_static"_a = nb::none(),
          "mu_dynamic"_a = nb::none(), "damping"_a = nb::none(), "armature"_a = nb::none(),
          "dry_friction"_a = nb::none(), "gains"_a = nb::none());
}

}  // namespace tribo::python
