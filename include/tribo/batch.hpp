// Many worlds of one scene at once, on a pool of threads. A world never reads another: results do not depend on the
// number of threads, and a world that fails does not disturb the rest.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tribo/linearization.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/scene.hpp"

namespace tribo {

/// How one world differs from the scene.
struct WorldParameters {
  double mass = 1;         ///< factor on the mass and inertia of every body [-], > 0
  double friction = 1;     ///< factor on every coefficient of friction [-], >= 0
  double gains = 1;        ///< factor on kp and kd of every 'pd' controller [-], >= 0
  ModelChanges changes{};  ///< of single bodies and geometries, before the factors
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

/// Arrays are row-major, one row a world, and belong to the batch; they keep their place as long as it lives. Read and
/// write them between steps.
/// One thread at a time: a call during a step of another thread throws std::runtime_error, and so does one in a process
/// forked off, where the threads of the batch are not. A batch of one thread lives on there.
class Batch {
 public:
  /// threads = 0: as many as the machine has cores. more: controllers beside those of the scene, after them in order.
  /// lanes: worlds side by side, a SIMD lane each, wherever they can be (docs/theory/lanes.md). Then a world is as near to
  /// itself run alone as the tolerance of the contact solve; without, it is bit-equal.
  /// InvalidInput where worlds < 1.
  Batch(const Scene& scene, int worlds, int threads = 0, std::vector<WorldController> more = {}, bool lanes = false);
  ~Batch();

  int worlds() const;
  int threads() const;
  const Scene& scene() const;
  /// "avx512, 4 lanes", or what is not covered; "" where lanes were not asked for.
  std::string lanes() const;
  /// Steps of a world that were taken in a lane, since it was made.
  std::uint64_t lane_steps(int world) const;

  /// Takes steps, >= 0, in every world that runs.
  /// stop: asked by the calling thread after each of its steps, and while it waits for the others. Where it says true the
  /// steps that are being taken are the last ones; the worlds are then at different times.
  void step(int steps = 1, const std::function<bool()>& stop = {});
  /// std::runtime_error where another thread steps, or in a process forked off.
  void check_still() const;

  /// The derivative of the step that begins now, in every world, on the threads of the batch. They belong to the batch, until
  /// the next call. A world that failed has one that is not `finite`.
  std::span<const Linearization> linearize();

  std::span<const double> q() const;       ///< (worlds x nq)
  std::span<const double> v() const;       ///< (worlds x nv)
  std::span<const double> t() const;       ///< (worlds) [s]
  std::span<const double> torque() const;  ///< of the actuators in the last step (worlds x nv) [N m] or [N]
  /// Sum of the forces on the feet of the first robot that has any, each foot one column (worlds x feet), normal [N].
  std::span<const double> foot_force() const;
  int feet() const;
  std::span<double> target();     ///< q_ref of the 'pd' controllers, in the layout of q (worlds x nq)
  std::span<double> torque_in();  ///< torque added to that of the controllers, within the limits (worlds x nv)
  std::span<double> ctrl();       ///< controls of the actuators, see CommandRows (worlds x nu)
  std::span<double> wrench();     ///< on every body, see CommandRows (worlds x bodies x 6)
  std::vector<ContactReport> contacts(int world) const;  ///< of its last step
  std::shared_ptr<const Model> model(int world) const;   ///< with its own masses and friction
  std::span<const WorldStatus> status() const;           ///< (worlds)
  std::string reason(int world) const;                   ///< of a failure; "" where there is none

  /// Back to the start of the scene, or to a state of the world's model; worlds with other masses or friction have another
  /// one, and refuse it unless they are to adopt it: coordinates, velocities and memory as they are. Targets are those of
  /// the scene again, torques zero, controllers remember what the state says. InvalidInput for a world that is not there,
  /// here and below.
  /// forgotten_memory(state, scene().stepper) says what it loses there.
  void reset(int world);
  void set_state(int world, const State& state, bool adopt = false);
  State state(int world) const;
  std::uint64_t hash(int world) const;
  /// The world begins anew with these parameters.
  void set_parameters(int world, const WorldParameters& parameters);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
