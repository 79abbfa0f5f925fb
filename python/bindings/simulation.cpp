// Scene and Simulation: load, step, run, push, keep and restore.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "arrays.hpp"
#include "base/names.hpp"
#include "extras.hpp"
#include "function_controller.hpp"
#include "history.hpp"
#include "scene/find_scene.hpp"
#include "tribo/recorder.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Settings = std::vector<std::pair<std::string, std::string>>;

std::vector<Override> overrides_of(const Settings& settings) {
  std::vector<Override> list;
  for (const auto& [path, value] : settings) list.push_back({path, value});
  return list;
}

/// A simulation, the scene it came from, and what the viewer wants to know of the run.
class Runner final : public Observer {
 public:
  explicit Runner(const Scene& scene)
      : scene_(scene), simulation_(make_simulation(scene)), q_(scene.start.q), v_(scene.start.v), witness_(scene) {
    history_.push(simulation_);
  }

  /// What a step changes; only its own thread, as a controller, may look meanwhile.
  Simulation& simulation() {
    check_still();
    return simulation_;
  }
  const Scene& scene() const { return scene_; }
  double t() const { return simulation_.state().t; }  ///< anybody may ask how far it is
  double dt() const { return simulation_.dt(); }
  const History& history() const {
    check_still();
    return history_;
  }

  StepReport step(int n) {
    if (n < 0) throw InvalidInput(std::to_string(n) + " steps: must be >= 0");
    const Turn turn(*this);
    nb::gil_scoped_release release;
    for (int i = 0; i < n && !ended(last_); ++i) take();
    return last_;
  }

  StepReport run(double duration, const std::string& record, const std::string& controller, const Settings& settings) {
    const Turn turn(*this);
    std::unique_ptr<Recorder> recorder;
    if (!record.empty()) {
      Scene now = scene_;
      now.start = simulation_.state();
      recorder = std::make_unique<Recorder>(record, now, RecordingRequest{controller, overrides_of(settings)});
    }
    Run steps(simulation_, duration);
    steps.watch(witness_).watch(*this);
    if (recorder) steps.watch(*recorder);
    nb::gil_scoped_release release;
    while (!ended(last_) && steps.step())
      if (steps.done() % 256 == 0) check_signals();
    if (recorder) recorder->finish();
    return last_;
  }

  const StepReport& last() const {
    check_still();
    return last_;
  }
  const VecX& q() const { return q_; }
  const VecX& v() const { return v_; }
  nb::list functions;  ///< controllers

  void set_state(const State& state) {
    const Turn turn(*this);
    warn_forgotten(state, scene_.stepper);
    simulation_.set_state(state);
    Scene now = scene_;
    now.start = state;
    witness_ = Witness(now);
    last_ = {};
    history_.clear();
    show();
  }

  void add_function(nb::callable function, int memory, double period) {
    const Turn turn(*this);
    simulation_.add_controller(std::make_unique<FunctionController>(functions, functions.size(), memory, period));
    functions.append(std::move(function));
  }

  Explanation explain() const {
    check_still();
    return {witness_.explain(), witness_.text()};
  }

  void add_sensors(const SensorOptions& options) {
    const Turn turn(*this);
    if (sensors_ != nullptr) throw InvalidInput("the simulation has sensors already");
    auto sensors = std::make_unique<Sensors>(*scene_.model, options, simulation_.dt());
    sensors_ = sensors.get();
    sensors_at_ = simulation_.state().control.size();
    simulation_.add_controller(std::move(sensors));
  }
  SensorReading sensors() const {
    check_still();
    if (sensors_ == nullptr) throw InvalidInput("the simulation has no sensors: call add_sensors first");
    const auto& control = simulation_.state().control;
    return sensors_->read(std::span(control).subspan(sensors_at_, static_cast<std::size_t>(sensors_->memory())));
  }

  void add_push(const Push& push) {
    const Turn turn(*this);
    simulation_.add_push(push);
    scene_.pushes.push_back(push);
  }

 private:
  /// One thread at a time: a second one is told, not let in. Taken under the GIL, as are all looks from outside.
  struct Turn {
    explicit Turn(Runner& r) : runner(r) {
      if (runner.busy_.exchange(true)) throw std::runtime_error(in_use);
      runner.stepper_ = std::this_thread::get_id();
    }
    ~Turn() { runner.busy_ = false; }
    Runner& runner;
  };

  static constexpr const char* in_use = "this simulation is being stepped by another thread";
  void check_still() const {
    if (busy_ && stepper_ != std::this_thread::get_id()) throw std::runtime_error(in_use);
  }
  static void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  void take() {
    last_ = simulation_.step();
    witness_.observe(simulation_, last_);
    show();
  }
  void observe(Simulation&, const StepReport& report) override {
    last_ = report;
    show();
  }
  // Steppers swap buffers; what Python holds stays where it is.
  void show() {
    q_ = simulation_.state().q;
    v_ = simulation_.state().v;
    history_.push(simulation_);
  }

  Scene scene_;
  Simulation simulation_;
  VecX q_, v_;  ///< of the state, at an address that does not change
  Witness witness_;
  const Sensors* sensors_ = nullptr;  ///< belong to the simulation
  std::size_t sensors_at_ = 0;        ///< where their memory begins in State::control
  StepReport last_;
  History history_;
  std::atomic<bool> busy_{false};
  std::thread::id stepper_;  ///< who took the turn, under the GIL
};

/// Asked for as in a scene, see make_push; from now on where no start is given.
void push(Runner& runner, const std::string& where, double duration, const std::map<std::string, VectorIn>& vectors,
          std::optional<double> start) {
  PushRequest push;
  push.where = where;
  const auto given = [&](const char* key) {
    const auto found = vectors.find(key);
    return found == vectors.end() ? std::nullopt : std::optional<Vec3>(vec3(found->second, key));
  };
  push.point = given("point");
  push.force = given("force");
  push.force_end = given("force_end");
  push.torque = given("torque");
  push.torque_end = given("torque_end");
  push.start = start.value_or(runner.t());
  push.duration = duration;
  runner.add_push(make_push(*runner.scene().model, push));
}

MatrixView pose(Runner& runner, const std::string& name) {
  const Model& model = *runner.scene().model;
  const Place place = model.place(name);
  if (place.body >= 0) return homogeneous(runner.simulation().body_pose(place.body) * place.X_BP);
  const int k = kinematic_index(place.body);
  return homogeneous(k < 0 ? place.X_BP : model.kinematic[at(k)].pose(runner.t()) * place.X_BP);
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
        return find_scene({scene, controller, overrides_of(settings)});
      },
      "scene"_a, "controller"_a = "", "settings"_a = Settings{},
      "A scene by its file, its name, or a robot by its name or file.");
  m.def(
      "parse_scene",
      [](const std::string& text, const std::string& name, const Settings& settings) {
        nb::gil_scoped_release release;
        return parse_scene(text, name, overrides_of(settings));
      },
      "text"_a, "name"_a = "scene", "settings"_a = Settings{}, "A scene from the text of a scene file (TOML).");
}

void bind_history(nb::module_& m) {
  nb::class_<History::Frame>(m, "Moment", "A moment of a run, for the viewer.")
      .def_ro("t", &History::Frame::t, "[s]")
      .def_prop_ro(
          "q", [](const History::Frame& f) { return copied(f.q); }, "(nq)", nb::rv_policy::automatic)
      .def_ro("contacts", &History::Frame::contacts, "those that carried force");
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
          "contacts", [](Runner& r) { return r.simulation().contacts(); }, "of the last step")
      .def_prop_ro(
          "audit", [](Runner& r) { return r.simulation().audit(); }, "what the run amounts to so far")
      .def_prop_ro(
          "report", [](const Runner& r) { return r.last(); }, "of the last step")
      .def_prop_rw(
          "state", [](Runner& r) { return r.simulation().state(); }, [](Runner& r, const State& s) { r.set_state(s); },
          "a copy of the state; assign one to restore it. What contacts remember is forgotten, with a warning, where a "
          "stepper of another family wrote it")
      .def("step", &Runner::step, "n"_a = 1,
           "Takes n steps of dt; returns the report of the last. The GIL is released.")
      .def("_run", &Runner::run, "duration"_a, "record"_a = "", "controller"_a = "", "settings"_a = Settings{})
      .def("explain", &Runner::explain,
           "Why the run went wrong, or is about to: the likely first cause with its evidence.")
      .def(
          "_add_sensors",
          [](Runner& r, const std::string& robot, const std::string& imu_frame, double period, double delay,
             std::uint64_t seed, SensorError accelerometer, SensorError gyroscope, SensorError position,
             SensorError velocity, SensorError force, double contact_threshold) {
            SensorOptions o{0,        imu_frame, period,           delay, seed, accelerometer, gyroscope, position,
                            velocity, force,     contact_threshold};
            const Model& model = *r.scene().model;
            if (!robot.empty()) o.member = model.member(robot);
            for (std::size_t i = 0; robot.empty() && i < model.members.size(); ++i)
              if (model.members[i].robot) {
                o.member = static_cast<int>(i);
                break;
              }
            r.add_sensors(o);
          },
          nb::kw_only(), "robot"_a = "", "imu_frame"_a = "", "period"_a = 0.0, "delay"_a = 0.0, "seed"_a = 1,
          "accelerometer"_a = SensorError(), "gyroscope"_a = SensorError(), "position"_a = SensorError(),
          "velocity"_a = SensorError(), "force"_a = SensorError(), "contact_threshold"_a = 0.1)
      .def_prop_ro("sensors", &Runner::sensors, "what the sensors say now", nb::rv_policy::move)
      .def("_history", [](const Runner& r) { return r.history().frames(); })
      .def("_add_function", &Runner::add_function, "function"_a, "memory"_a = 0, "period"_a = 0.0,
           nb::sig("def _add_function(self, function: object, memory: int = 0, period: float = 0.0) -> None"))
      .def("pose", pose, "name"_a,
           "Pose of a body, a frame, or the first body of a robot or object, in the world (4 x 4) [m].")
      .def("_push", push, "where"_a, "duration"_a, "vectors"_a, "start"_a = nb::none());
}

}  // namespace tribo::python
