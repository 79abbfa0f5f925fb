// Many worlds of one scene at once, on a pool of threads. A world never reads another: results do not depend on the
// number of threads, and a world that fails does not disturb the rest.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tribo/inquiry.hpp"
#include "tribo/linearization.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/model_numbers.hpp"
#include "tribo/run.hpp"
#include "tribo/scene.hpp"
#include "tribo/sensors.hpp"

namespace tribo {

/// How one world differs from the scene.
struct WorldParameters {
  double mass = 1;         ///< factor on the mass and inertia of every body [-], > 0
  double friction = 1;     ///< factor on every coefficient of friction [-], >= 0
  double gains = 1;        ///< factor on kp and kd of every 'pd' controller [-], >= 0
  ModelChanges changes{};  ///< of single bodies, materials and joints, before the factors
};

/// The same for many worlds: arrays of a row each, absolute values; null: as the scene has them.
struct ParameterRows {
  ModelNumbers numbers;
  const double* gains = nullptr;  ///< (nv) [-]
};

enum class WorldStatus : std::uint8_t {
  Running,
  Failed  ///< a step could not be taken: the world stands still until it is reset
};

/// Makes the controller of one world. Each has its own: what it keeps in itself is not seen by the others.
using WorldController = std::function<std::unique_ptr<Controller>(const Model& model, int world)>;

/// What a controller throws to end a step of the batch: its world stays as it was before the step, and has not failed.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// Points about a place, turned with its heading, from which rays fall to the ground.
struct HeightScan {
  Place place;
  std::vector<double> points;  ///< (n x 2) [m]
  double above = 1;            ///< the place, where the rays begin [m]
  double most = 100;           ///< length of a ray [m]
  std::vector<char> ignored;   ///< geometries that rays pass, an entry each; empty: none
};
/// Heights (n) [m] at the instant that the inquiry looks at; NaN where there is nothing.
void scan_heights(const Inquiry& inquiry, const HeightScan& scan, double* heights);

/// Arrays are row-major, one row a world, and belong to the batch; they keep their place as long as it lives. Read and
/// write them between steps.
/// Lists of worlds name each once. InvalidInput for a world that is not there, and nothing is changed.
/// One thread at a time: a call during a step of another thread throws std::runtime_error, and so does one in a process
/// forked off, where the threads of the batch are not. A batch of one thread lives on there.
class Batch {
 public:
  /// threads = 0: as many as the machine has cores. more: controllers beside those of the scene, after them in order.
  /// sensors: in every world, each with a seed of its own, the given one plus its number.
  /// lanes: worlds side by side, a SIMD lane each, wherever they can be (docs/theory/lanes.md). Then a world is as near to
  /// itself run alone as the tolerance of the contact solve; without, it is bit-equal.
  /// InvalidInput where worlds < 1.
  Batch(const Scene& scene, int worlds, int threads = 0, std::vector<WorldController> more = {},
        const std::optional<SensorOptions>& sensors = {}, bool lanes = false);
  ~Batch();

  int worlds() const;
  int threads() const;
  const Scene& scene() const;
  /// "avx512, 4 lanes", or what is not covered; "" where lanes were not asked for.
  std::string lanes() const;
  /// Steps of a world that were taken in a lane, since it was made.
  std::uint64_t lane_steps(int world) const;

  /// Takes steps, >= 0, in every world that runs, or in these of them.
  /// stop: asked by the calling thread after each of its steps, and while it waits for the others. Where it says true the
  /// steps that are being taken are the last ones; the worlds are then at different times.
  void step(int steps = 1, const std::function<bool()>& stop = {});
  void step(std::span<const int> worlds, int steps, const std::function<bool()>& stop = {});
  /// Shows the steps of a world to an observer, on the thread that takes them; null: to none. It must outlive the batch. A
  /// world that is watched steps by itself, in no lane.
  void watch(int world, Observer* observer);
  /// std::runtime_error where another thread steps, or in a process forked off.
  void check_still() const;

  /// The derivative of the step that begins now, in every world, on the threads of the batch. They belong to the batch, until
  /// the next call. A world that failed has one that is not `finite`.
  std::span<const Linearization> linearize(const LinearizationRequest& request = {});

  std::span<const double> q() const;       ///< (worlds x nq)
  std::span<const double> v() const;       ///< (worlds x nv)
  std::span<const double> t() const;       ///< (worlds) [s]
  std::span<const double> torque() const;  ///< of the actuators in the last step (worlds x nv) [N m] or [N]
  /// Sum of the forces on the feet of the first robot that has any, each foot one column (worlds x feet), normal [N].
  std::span<const double> foot_force() const;
  int feet() const;
  /// Of every body, see Simulation::write_bodies (worlds x bodies x 7), (worlds x bodies x 6). From the first call on they
  /// follow every step.
  std::span<const double> body_pose();
  std::span<const double> body_velocity();
  /// Where points on bodies are and how fast, in W (worlds x points x 3) each [m], [m/s].
  struct Points {
    std::span<const double> position, velocity;
  };
  /// Of the origins of places, whose bodies are moved by forces: InvalidInput for others. From the first call on they follow
  /// every step; the same places have the same arrays.
  Points follow(const std::vector<Place>& places);
  /// Of the middles of the shapes of the feet.
  Points foot_points();
  std::span<double> target();     ///< q_ref of the 'pd' controllers, in the layout of q (worlds x nq)
  std::span<double> torque_in();  ///< torque added to that of the controllers, within the limits (worlds x nv)
  std::span<double> ctrl();       ///< controls of the actuators, see CommandRows (worlds x nu)
  std::span<double> wrench();     ///< on every body, see CommandRows (worlds x bodies x 6)
  std::span<double> gains();  ///< factors on kp and kd of the 'pd' controllers (worlds x nv) [-]; a reset keeps them
  const std::vector<ContactReport>& contacts(int world) const;  ///< of its last step; until the next one
  std::shared_ptr<const Model> model(int world) const;          ///< with its own numbers; a copy where these are others
  std::span<const WorldStatus> status() const;                  ///< (worlds)
  std::string reason(int world) const;                          ///< of a failure; "" where there is none
  SensorReading sensors(int world) const;                       ///< InvalidInput where there are none
  /// Of every world, on the threads of the batch (worlds x points) [m].
  std::vector<double> height_scan(const HeightScan& scan);

  /// Back to the start of the scene. Targets are those of the scene again, torques zero, controllers remember nothing;
  /// parameters stay.
  void reset(int world);
  void reset(std::span<const int> worlds);
  /// Puts worlds elsewhere: rows of q and v, null: as they are. What contacts remember is forgotten.
  void set(std::span<const int> worlds, const double* q, const double* v);
  /// Kinematic body k of these worlds goes to a pose within a time, see State::move_kinematic. A reset ends it.
  void move_kinematic(std::span<const int> worlds, int k, const Placement& to, double time);
  /// A push of these worlds beside those of the scene, and on through a reset: as Simulation::add_push.
  void push(std::span<const int> worlds, const Push& push);
  /// From now on a world has other constraints: `without` cease to hold, `equalities` begin, and all else goes on. It steps in
  /// no lane from then on, until it is given parameters, which begin anew from the constraints of the scene. InvalidInput for
  /// other changes.
  void change(int world, const ModelChanges& changes);
  /// Goes to a state of the world's model; worlds with other masses or friction have another one, and refuse it unless
  /// they are to adopt it: coordinates, velocities and memory as they are. Targets are those of the scene again, torques
  /// zero, controllers remember what the state says. forgotten_memory(state, scene().stepper) says what it loses there.
  void set_state(int world, const State& state, bool adopt = false);
  State state(int world) const;
  std::uint64_t hash(int world) const;
  /// Worlds begin anew with these parameters. Nothing is made anew and nothing allocates, unless a joint's friction, damping
  /// or armature begins or ceases to be zero, or a controller may have looked at the model when it was made.
  void set_parameters(int world, const WorldParameters& parameters);
  void set_parameters(std::span<const int> worlds, const ParameterRows& rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
