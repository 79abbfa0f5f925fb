// Scene and Simulation: load, step, run, push, keep and restore.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "base/names.hpp"
#include "diagnosis/advice.hpp"
#include "named_contact.hpp"
#include "origins.hpp"
#include "pushes.hpp"
#include "runner.hpp"
#include "scene/find_scene.hpp"
#include "tribo/commands.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

/// From now on where no start is given.
void push(Runner& runner, const std::string& where, double duration, const std::map<std::string, VectorIn>& vectors,
          std::optional<double> start) {
  runner.add_push(asked_push(*runner.scene().model, where, duration, vectors, start.value_or(runner.t())));
}

void bind_scene(nb::module_& m) {
  nb::class_<Scene>(m, "Scene", "A model, a start, and what runs them.")
      .def(
          "__init__",
          [](Scene* self, std::shared_ptr<Model> model) {
            new (self) Scene();
            self->name = "model";
            self->model = std::move(model);
            self->start = State::neutral(*self->model);
          },
          "model"_a, "A model at rest in its neutral pose, without controllers.")
      .def_ro("name", &Scene::name)
      .def_ro("source", &Scene::source, "path of the file")
      .def_prop_ro("_has_pd", [](const Scene& s) { return has_pd(s); })
      .def_prop_ro("_has_actuators", [](const Scene& s) { return has_actuators(s); })
      .def_prop_ro("_walkers", [](const Scene& s) { return walkers(s); })
      .def_prop_ro("model", [](const Scene& s) { return std::const_pointer_cast<Model>(s.model); })
      .def_rw("start", &Scene::start, "the state that a simulation begins from")
      .def_prop_rw(
          "stepper", [](const Scene& s) { return s.stepper; }, [](Scene& s, const std::string& x) { s.set_stepper(x); },
          "name; see steppers(). Another stepper has its own options: they are then its defaults")
      .def_prop_rw(
          "contact_model", [](const Scene& s) { return s.stepper_options.contact.model; },
          [](Scene& s, const std::string& x) { s.stepper_options.contact.model = x; }, "ncp, ccp, lcp or raisim")
      .def_prop_rw(
          "solver", [](const Scene& s) { return s.stepper_options.contact.solver; },
          [](Scene& s, const std::string& x) { s.set_solver(x); }, "name; see solvers()")
      .def_ro("warnings", &Scene::warnings, "what the user should know before a run")
      .def_rw("dt", &Scene::dt, "[s]")
      .def_rw("duration", &Scene::duration, "[s]");
  m.def(
      "find_scene",
      [](const std::string& scene, const std::string& controller, const Settings& settings) {
        nb::gil_scoped_release release;
        Scene found = find_scene({scene, controller, overrides_of(settings)});
        remember_origin(found, {scene, "", controller, overrides_of(settings), ""});
        return found;
      },
      "scene"_a, "controller"_a = "", "settings"_a = Settings{},
      "A scene by its file, its name, or a robot by its name or file.");
  m.def("advice", dt_advice, "scene"_a, nb::call_guard<nb::gil_scoped_release>(),
        "What will go wrong with the scene's time step, each with the largest one that will do; nothing where it is "
        "fine.");
  m.def(
      "parse_scene",
      [](const std::string& text, const std::string& name, const Settings& settings) {
        nb::gil_scoped_release release;
        Scene found = parse_scene(text, name, overrides_of(settings));
        remember_origin(found, {name, text, "", overrides_of(settings), ""});
        return found;
      },
      "text"_a, "name"_a = "scene", "settings"_a = Settings{}, "A scene from the text of a scene file (TOML).");
}

void bind_history(nb::module_& m) {
  nb::class_<History::Frame>(m, "Instant", "An instant of a run, for the viewer.")
      .def_ro("t", &History::Frame::t, "[s]")
      .def_prop_ro(
          "q", [](const History::Frame& f) { return copied(f.q); }, "(nq)", nb::rv_policy::automatic)
      .def_prop_ro(
          "v", [](const History::Frame& f) { return copied(f.v); }, "(nv)", nb::rv_policy::automatic)
      .def_prop_ro("_kinematic", [](const History::Frame& f) { return KinematicCommands{f.kinematic}; })
      .def_ro("laws", &History::Frame::laws, "how far the laws of contact were from holding")
      .def_ro("penetration", &History::Frame::penetration, "[m]")
      .def_prop_ro(
          "contacts", [](const History::Frame& f) { return named(f.contacts, f.model); }, "those that carried force");
}

}  // namespace

void bind_simulation(nb::module_& m) {
  bind_scene(m);
  bind_history(m);
  nb::class_<Runner>(m, "Simulation", nb::type_slots(collected<Runner>()), nb::is_weak_referenceable(),
                     "A scene that runs.")
      .def(
          "__init__",
          [](Runner* self, const Scene& scene) {
            warn_forgotten(scene.start, scene.stepper);
            new (self) Runner(scene);
          },
          "scene"_a)
      .def_prop_ro(
          "scene", [](const Runner& r) { return r.scene(); },
          "a copy of the scene it was made from, with the pushes since")
      .def_prop_ro("model", [](const Runner& r) { return std::const_pointer_cast<Model>(r.scene().model); })
      .def_prop_ro("dt", &Runner::dt, "time step [s]")
      .def_prop_ro("t", &Runner::t, "[s]")
      .def_prop_ro(
          "q", [](nb::handle self) { return view(nb::cast<const Runner&>(self).q(), self); },
          "coordinates (nq); a view without a copy that follows the run, read only", nb::rv_policy::automatic)
      .def_prop_ro(
          "v", [](nb::handle self) { return view(nb::cast<const Runner&>(self).v(), self); },
          "velocities (nv); a view without a copy that follows the run, read only", nb::rv_policy::automatic)
      .def_prop_ro(
          "tau", [](Runner& r) { return copied(r.simulation().torque()); },
          "torque of the actuators in the last step (nv) [N m] or [N]", nb::rv_policy::automatic)
      .def_prop_ro(
          "contacts", [](Runner& r) { return named(r.simulation().contacts(), r.scene().model); }, "of the last step")
      .def_prop_ro(
          "_target", [](nb::handle self) { return view(nb::cast<Runner&>(self).commands().target, self); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "_torque",
          [](nb::handle self) {
            nb::cast<Runner&>(self).command_directly();
            return view(nb::cast<Runner&>(self).commands().torque, self);
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "_ctrl", [](nb::handle self) { return view(nb::cast<Runner&>(self).commands().ctrl, self); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "_gains", [](nb::handle self) { return view(nb::cast<Runner&>(self).commands().gains, self); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "_walk", [](nb::handle self) { return view(nb::cast<Runner&>(self).commands().walk, self); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "_wrench",
          [](nb::handle self) {
            nb::cast<Runner&>(self).command_directly();
            return view(nb::cast<Runner&>(self).commands().wrench, self);
          },
          nb::rv_policy::automatic)
      .def("_instant", &Runner::instant, nb::sig("def _instant(self) -> tuple[object, object, object]"))
      .def("_commanded", &Runner::kinematic)
      .def_prop_ro("_direct", &Runner::commanded_directly)
      .def_prop_ro("_start", &Runner::start)
      .def("_clear_commands", &Runner::clear_commands)
      .def(
          "_begin_at", [](const Runner& r, const std::string& pose, State& state) { begin_at(r.scene(), pose, state); },
          "pose"_a, "state"_a)
      .def("_change", &Runner::change, "changes"_a, "factors"_a, "gains"_a)
      .def(
          "_move_kinematic",
          [](Runner& r, const std::string& name, const MatrixIn& pose, double time) {
            r.move_kinematic(kinematic_body_index(*r.scene().model, name), placement(pose, "pose"), time);
          },
          "name"_a, "pose"_a, "time"_a)
      .def_prop_ro(
          "audit", [](Runner& r) { return r.simulation().audit(); }, "what the run amounts to so far")
      .def_prop_ro(
          "report", [](const Runner& r) { return r.last(); }, "of the last step")
      .def_prop_ro(
          "warning", [](const Runner& r) { return r.warning(); },
          "the first sign in the run that its motion is not resolved, in words; '' where there is none")
      .def(
          "time_stages", [](Runner& r, bool on) { r.simulation().time_stages(on); }, "on"_a = true,
          "Times the stages of every step from now on, from zero; or no longer.")
      .def_prop_ro(
          "stage_times",
          [](Runner& r) {
            const StageTimes& times = r.simulation().stage_times();
            std::map<std::string, double> out{{"step", times.step}, {"steps", static_cast<double>(times.steps)}};
            for (std::size_t i = 0; i < times.seconds.size(); ++i) out[stage_names[i]] = times.seconds[i];
            return out;
          },
          "seconds in each stage of the steps since time_stages(), in whole steps ('step'), and their number ('steps')")
      .def_prop_rw(
          "state", [](Runner& r) { return r.simulation().state(); }, [](Runner& r, const State& s) { r.set_state(s); },
          "a copy of the state; assign one to restore it. What contacts remember is forgotten, with a warning, where a "
          "stepper of another family wrote it")
      .def("step", &Runner::step, "n"_a = 1,
           "Takes n steps of dt; returns the report of the last. The GIL is released.")
      .def(
          "linearize",
          [](Runner& r, double smoothing, bool memory, std::vector<std::string> parameters,
             std::vector<std::string> sensors) {
            return r.linearize({smoothing, memory, std::move(parameters), std::move(sensors)});
          },
          "smoothing"_a = 0.0, "memory"_a = false, "parameters"_a = std::vector<std::string>{},
          "sensors"_a = std::vector<std::string>{},
          "The derivative of the step that begins now, under what the controllers decide now. Nothing of the run "
          "changes; "
          "controllers are asked once, and what they remember is put back. smoothing > 0: of a law that is not quite "
          "hard, with slopes before touch (stepper 'rigid'). memory: whole_A and whole_B too, with what compliant "
          "contacts "
          "remember as a part of the state. parameters: whose slopes P are wanted, 'mass:BODY', 'com:BODY:x', "
          "'inertia:BODY:xy', 'friction:MATERIAL', and of joints 'kp', 'kd', 'damping', 'armature', 'dry_friction'. "
          "sensors: whose slopes C, D and E are wanted, 'accelerometer:PLACE', 'gyroscope:PLACE', 'position:JOINT', "
          "'velocity:JOINT', 'force:GEOMETRY', 'contacts'.")
      .def("_check_derivatives", &Runner::check_derivatives)
      .def(
          "one_sided",
          [](Runner& r, const VectorIn& dx, std::optional<VectorIn> du) {
            return copied(r.one_sided(vector(dx), du ? vector(*du) : VecX()));
          },
          "dx"_a, "du"_a = nb::none(),
          "How the end of the step that begins now moves along dx (2 nv) and du (nu), on that side alone: at a kink, "
          "where a "
          "contact lifts or begins to slip, the two sides differ.",
          nb::rv_policy::automatic)
      .def(
          "parameter_slopes",
          [](Runner& r, const std::vector<std::string>& names, bool differences) {
            const MatX rows = r.parameter_slopes(names, differences).transpose();
            return copied_rows(rows.data(), static_cast<std::size_t>(rows.cols()),
                               static_cast<std::size_t>(rows.rows()));
          },
          "names"_a, "differences"_a = false,
          "How the end of the step that begins now moves with parameters, a column each (2 nv x n): those of "
          "linearize(parameters=...). differences: by steps of changed models.",
          nb::rv_policy::automatic)
      .def("_record", &Runner::record, "folder"_a, "controller"_a = "", "settings"_a = Settings{})
      .def("_end_record", &Runner::end_record)
      .def("_run", &Runner::run, "duration"_a, "record"_a = "", "controller"_a = "", "settings"_a = Settings{})
      .def(
          "_steps", [](Runner& r, double duration) { return Run(r.simulation(), duration).steps(); }, "duration"_a,
          "Of a run.")
      .def("explain", &Runner::explain,
           "Why the run went wrong, or is about to: the likely first cause with its evidence.")
      .def(
          "_add_sensors", [](Runner& r, const SensorOptions& options) { r.add_sensors(options); }, "options"_a)
      .def_prop_ro(
          "file_sensors",
          [](Runner& r) {
            nb::dict values;
            for (const FileSensors::Reading& reading : r.file_sensors()) {
              const std::string name = reading.name.substr(reading.name.find('/') + 1);
              const bool taken = values.contains(name.c_str());
              values[(taken ? reading.name : name).c_str()] = copied(reading.value);
            }
            return values;
          },
          "what the sensors that a robot's file describes say now, by name; accelerations and forces are those of the "
          "last step",
          nb::sig("def file_sensors(self) -> dict[str, NDArray[numpy.float64]]"))
      .def_prop_ro("sensors", &Runner::sensors, "what the sensors say now", nb::rv_policy::move)
      .def("_history", [](const Runner& r) { return r.history().frames(); })
      .def("_add_function", &Runner::add_function, "function"_a, "memory"_a = 0, "period"_a = 0.0,
           nb::sig("def _add_function(self, function: object, memory: int = 0, period: float = 0.0) -> None"))
      .def("_push", push, "where"_a, "duration"_a, "vectors"_a, "start"_a = nb::none());
}

}  // namespace tribo::python
