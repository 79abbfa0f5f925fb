// A simulation as Python holds it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <thread>

#include "arrays.hpp"
#include "extras.hpp"
#include "function_controller.hpp"
#include "history.hpp"
#include "interrupts.hpp"
#include "kinematic_commands.hpp"
#include "settings.hpp"
#include "tribo/commands.hpp"
#include "tribo/file_sensors.hpp"
#include "tribo/linearization.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/recorder.hpp"
#include "tribo/run.hpp"
#include "tribo/run_warning.hpp"

namespace tribo::python {

/// The numbers that the commands of one world are written to.
class Commands {
 public:
  explicit Commands(const Scene& scene)
      : target(scene.model->nq),
        torque(scene.model->nv),
        ctrl(static_cast<Eigen::Index>(actuator_names(*scene.model).size())),
        wrench(static_cast<Eigen::Index>(6 * scene.model->bodies.size())),
        gains(VecX::Ones(scene.model->nv)),
        force(VecX::Zero(ctrl.size())),
        walk(static_cast<Eigen::Index>(3 * scene.model->members.size())) {
    clear_commands(scene, rows());
  }
  CommandRows rows() {
    return {target.data(), torque.data(), ctrl.data(), wrench.data(), gains.data(), force.data(), walk.data()};
  }

  VecX target, torque, ctrl, wrench, gains;
  VecX force;  ///< of the actuators, in the last step
  VecX walk;
};

/// A simulation, the scene it came from, and what the viewer wants to know of the run.
class Runner final : public Observer {
 public:
  explicit Runner(const Scene& scene)
      : scene_(scene), commands_(scene), q_(scene.start.q), v_(scene.start.v), t_(scene.start.t), witness_(scene) {
    State start = scene_.start;
    simulation_ = made();
    find_file_sensors();
    if (start.control.empty()) start.control = simulation_->state().control;  // nothing remembered yet
    simulation_->set_state(start);
    history_.push(*simulation_, last_, scene_.model);
  }

  /// What a step changes; only its own thread, as a controller, may look meanwhile.
  Simulation& simulation() {
    check_still();
    return *simulation_;
  }
  const Scene& scene() const { return scene_; }
  double t() const { return t_; }  ///< anybody may ask how far it is
  double dt() const { return simulation_->dt(); }
  const History& history() const {
    check_still();
    return history_;
  }

  StepReport step(int n) {
    if (n < 0) throw InvalidInput(std::to_string(n) + " steps: must be >= 0");
    check_commands();
    const Turn turn(*this);
    Interrupts interrupts;
    {
      nb::gil_scoped_release release;
      for (int i = 0; i < n && !ended(last_) && !interrupts.came(); ++i) take();
    }
    interrupts.rethrow();
    warn();
    return last_;
  }

  Linearization linearize(LinearizationRequest request) {
    check_commands();
    const Turn turn(*this);
    nb::gil_scoped_release release;
    Linearization out;
    static_cast<LinearizationRequest&>(out) = std::move(request);
    simulation_->linearize(out);
    return out;
  }

  VecX one_sided(const VecX& dx, const VecX& du) {
    check_commands();
    const Turn turn(*this);
    nb::gil_scoped_release release;
    return simulation_->one_sided(dx, du);
  }

  MatX parameter_slopes(const std::vector<std::string>& names, bool by_differences) {
    check_commands();
    const Turn turn(*this);
    nb::gil_scoped_release release;
    return simulation_->parameter_slopes(names, by_differences);
  }

  DerivativeCheck check_derivatives() {
    check_commands();
    const Turn turn(*this);
    nb::gil_scoped_release release;
    return simulation_->check_derivatives();
  }

  /// Every step from now on, of loops and of runs that do not record by themselves.
  void record(const std::string& folder, const std::string& controller, const Settings& settings) {
    const Turn turn(*this);
    if (recorder_) throw InvalidInput("it is being recorded already");
    Scene now = scene_;
    now.start = simulation_->state();
    recorder_ = std::make_unique<Recorder>(folder, now, RecordingRequest{controller, overrides_of(settings)});
  }
  /// The path of the recording; "" where there is none.
  std::string end_record() {
    const Turn turn(*this);
    const std::unique_ptr<Recorder> recorder = std::move(recorder_);
    return recorder ? recorder->finish() : "";
  }

  StepReport run(double duration, const std::string& record, const std::string& controller, const Settings& settings) {
    const Turn turn(*this);
    check_commands();
    Run steps(*simulation_, duration);
    std::unique_ptr<Recorder> recorder;
    if (!record.empty()) {
      Scene now = scene_;
      now.start = simulation_->state();
      recorder = std::make_unique<Recorder>(record, now, RecordingRequest{controller, overrides_of(settings)});
    }
    steps.watch(witness_).watch(warning_).watch(*this);
    if (recorder) steps.watch(*recorder);
    if (recorder_) steps.watch(*recorder_);
    Interrupts interrupts;
    {
      nb::gil_scoped_release release;
      try {
        while (!ended(last_) && !interrupts.came() && steps.step()) continue;
      } catch (...) {  // of a controller
        if (recorder) recorder->finish();
        throw;
      }
      if (recorder) recorder->finish();
    }
    interrupts.rethrow();
    warn();
    return last_;
  }

  const StepReport& last() const {
    check_still();
    return last_;
  }
  std::string warning() const {
    check_still();
    return warning_.text();
  }
  const VecX& q() const { return q_; }
  const VecX& v() const { return v_; }
  /// Copies of one instant: q (1 x nq), v (1 x nv), t (1).
  nb::tuple instant() const {
    check_still();
    const double now = t();
    return nb::make_tuple(copied_rows(q_.data(), 1, at(scene_.model->nq)),
                          copied_rows(v_.data(), 1, at(scene_.model->nv)), copied(&now, 1));
  }
  /// Of kinematic bodies, at that instant: one list.
  std::vector<KinematicCommands> kinematic() const {
    check_still();
    return {{simulation_->state().kinematic}};
  }
  nb::list functions;  ///< controllers

  void set_state(const State& state) {
    const Turn turn(*this);
    warn_forgotten(state, scene_.stepper);
    simulation_->set_state(state);
    Scene now = scene_;
    now.start = state;
    witness_ = Witness(now);
    witness_.see_period(period_);
    last_ = {};
    warning_ = {};
    told_ = {};
    history_.clear();
    show();
    if (file_sensors_) file_sensors_->forget();
  }

  void add_function(nb::callable function, int memory, double period) {
    const Turn turn(*this);
    period_ = std::max(period_, period);
    add([this, n = functions.size(), memory, period](const Model&) {
      return std::make_unique<FunctionController>(functions, n, memory, period);
    });
    functions.append(std::move(function));
    witness_.see_period(period_);
  }

  Explanation explain() const {
    check_still();
    return {witness_.explain(), witness_.text()};
  }

  void add_sensors(const SensorOptions& options) {
    const Turn turn(*this);
    if (sensors_ != nullptr) throw InvalidInput("the simulation has sensors already");
    sensors_at_ = simulation_->state().control.size();
    add([this, options](const Model& model) {
      auto sensors = std::make_unique<Sensors>(model, options, scene_.dt);
      sensors_ = sensors.get();
      return sensors;
    });
  }
  SensorReading sensors() const {
    check_still();
    if (sensors_ == nullptr) throw InvalidInput("the simulation has no sensors: call add_sensors first");
    const auto& control = simulation_->state().control;
    return sensors_->read(std::span(control).subspan(sensors_at_, static_cast<std::size_t>(sensors_->memory())));
  }

  /// Of the sensors that the files of robots describe.
  std::vector<FileSensors::Reading> file_sensors() {
    check_still();
    if (!file_sensors_) return {};
    return file_sensors_->read(*scene_.model, simulation_->state(), simulation_->contacts(), commands_.force,
                               simulation_->torque());
  }

  /// That of the scene, with room for what the controllers remember.
  State start() const {
    State start = scene_.start;
    if (start.control.empty()) start.control.resize(simulation_->state().control.size(), 0.0);
    return start;
  }

  /// What is commanded; read at the start of every step.
  Commands& commands() { return commands_; }
  /// From the first torque or wrench on; until then the run does without.
  void command_directly() {
    if (direct_) return;
    const Turn turn(*this);
    add_direct(*simulation_, commands_.rows());
    direct_ = true;
  }
  bool commanded_directly() const { return direct_; }
  /// The commands of the scene again.
  void clear_commands() {
    const Turn turn(*this);
    tribo::clear_commands(scene_, commands_.rows());
  }

  /// The run goes on with another model of the same layout, or with other gains: state, controllers, pushes and commands
  /// stay, the audit begins anew.
  void change(const ModelChanges& changes, const ModelFactors& factors, double gains) {
    const Turn turn(*this);
    if (!(gains >= 0) || !std::isfinite(gains)) throw InvalidInput("factor of gains must be finite and >= 0");
    Model other = changed(*scene_.model, changes);
    if (factors.mass != 1 || factors.friction != 1) other = other.scaled(factors);
    rebuild(std::make_shared<const Model>(std::move(other)));
    commands_.gains *= gains;
  }

  /// A kinematic body goes to a pose within a time, and stays.
  void move_kinematic(int k, const Placement& to, double time) {
    const Turn turn(*this);
    simulation_->move_kinematic(k, to, time);
  }

  void add_push(const Push& push) {
    const Turn turn(*this);
    simulation_->add_push(push);
    scene_.pushes.push_back(push);
  }

 private:
  /// One thread at a time: a second one is told, not let in. Taken under the GIL, as are all looks from outside.
  struct Turn {
    explicit Turn(Runner& r) : runner(r) {
      if (runner.busy_.exchange(true)) throw runner.in_use();
      runner.stepper_ = std::this_thread::get_id();
      runner.process_ = ::getpid();
    }
    ~Turn() { runner.busy_ = false; }
    Runner& runner;
  };

  using Maker = std::function<std::unique_ptr<Controller>(const Model&)>;

  std::unique_ptr<Simulation> made() {
    auto made = std::make_unique<Simulation>(scene_.model, scene_.stepper, scene_.stepper_options, scene_.dt);
    add_commanded(*made, scene_, commands_.rows());
    for (const Maker& maker : added_) made->add_controller(maker(*scene_.model));
    if (direct_) add_direct(*made, commands_.rows());
    for (const Push& push : scene_.pushes) made->add_push(push);
    return made;
  }
  void find_file_sensors() {
    file_sensors_ = std::make_unique<FileSensors>(*scene_.model);
    if (file_sensors_->empty()) file_sensors_ = nullptr;
  }
  void add(Maker maker) {
    simulation_->add_controller(maker(*scene_.model));
    added_.push_back(std::move(maker));
  }
  void rebuild(std::shared_ptr<const Model> model) {
    State state = simulation_->state();
    state.model = scene_.start.model = model->hash();
    scene_.model = std::move(model);
    simulation_ = made();
    find_file_sensors();
    simulation_->set_state(state);
    witness_ = Witness(scene_);
    witness_.see_period(period_);
    last_ = {};
    warning_ = {};
    told_ = {};
  }

  std::runtime_error in_use() const {
    if (process_ == ::getpid()) return std::runtime_error("this simulation is being stepped by another thread");
    return std::runtime_error("this simulation was being stepped when the process forked: make a new one here");
  }
  void check_commands() {
    witness_.see_target(commands_.target, t());
    witness_.see_controls(commands_.ctrl, t());
    if (const std::string why = unusable(*scene_.model, commands_.rows()); !why.empty()) throw InvalidInput(why);
  }
  void check_still() const {
    if (busy_ && stepper_ != std::this_thread::get_id()) throw in_use();
  }
  // Once a run, twice where what follows an overlap is graver; with the GIL.
  void warn() {
    if (warning_.kind() == told_) return;
    told_ = warning_.kind();
    if (PyErr_WarnEx(PyExc_UserWarning, warning_.text().c_str(), 1) != 0) throw nb::python_error();
  }
  void take() {
    last_ = simulation_->step();
    witness_.observe(*simulation_, last_);
    if (recorder_) recorder_->observe(*simulation_, last_);
    warning_.observe(*simulation_, last_);
    show();
  }
  void observe(Simulation&, const StepReport& report) override {
    last_ = report;
    show();
  }
  // Steppers swap buffers; what Python holds stays where it is.
  void show() {
    if (file_sensors_) file_sensors_->note(q_, v_, t_);
    q_ = simulation_->state().q;
    v_ = simulation_->state().v;
    t_ = simulation_->state().t;
    history_.push(*simulation_, last_, scene_.model);
  }

  Scene scene_;
  Commands commands_;         ///< before the simulation, whose controllers read them
  double period_ = 0;         ///< the longest between calls of the functions [s]
  bool direct_ = false;       ///< torques and wrenches are added
  std::vector<Maker> added_;  ///< controllers beside those of the scene
  std::unique_ptr<Simulation> simulation_;
  VecX q_, v_;             ///< of the state, at an address that does not change
  std::atomic<double> t_;  ///< [s]
  Witness witness_;
  std::unique_ptr<Recorder> recorder_;         ///< of all steps, where they are recorded
  std::unique_ptr<FileSensors> file_sensors_;  ///< where there are any
  const Sensors* sensors_ = nullptr;           ///< belong to the simulation
  std::size_t sensors_at_ = 0;                 ///< where their memory begins in State::control
  StepReport last_;
  RunWarning warning_;
  RunWarning::Kind told_{};
  History history_;
  std::atomic<bool> busy_{false};
  std::thread::id stepper_;  ///< who took the turn, under the GIL
  pid_t process_ = 0;        ///< of that thread
};

}  // namespace tribo::python
