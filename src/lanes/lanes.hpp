// Worlds of one model side by side, one SIMD lane each: state, parameters and memory of contacts in packs, stepped by the
// kernel of the widest instruction set that the machine has. A world that a kernel does not step is the caller's: take() has its
// state, put() gives it back. docs/theory/lanes.md.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "control/gravity_hold.hpp"
#include "lanes/buffer.hpp"
#include "lanes/lane_contacts.hpp"
#include "lanes/lane_shape.hpp"
#include "tribo/contact.hpp"
#include "tribo/state.hpp"

namespace tribo::lanes {

/// Where the commands of a batch stand, one row a world.
struct Commands {
  const double* target;  ///< (worlds x nq)
  const double* torque;  ///< (worlds x nv)
  const double* gains;   ///< factors on kp and kd (worlds x nv)
};

/// Points on bodies and where to write them, in W [m], [m/s].
struct PointRows {
  std::span<const Place> points;  ///< their origins are meant
  double *position, *velocity;    ///< (worlds x points x 3)
};

class Lanes {
 public:
  /// The model must be covered, and live as long.
  Lanes(const Model& model, const StepperOptions& options, double dt, std::vector<PdOptions> drives, int worlds,
        int threads, const Kernel& kernel = best_kernel());

  int width() const { return kernel_.width; }
  int packs() const { return static_cast<int>(packs_.size()); }
  int worlds_of(int pack) const { return std::min(width(), static_cast<int>(worlds_.size()) - pack * width()); }
  const char* kernel() const { return kernel_.name; }

  /// Masses, friction and limits of a world from now on.
  void set_model(int world, const Model& model);
  /// The same where bodies, joints and shapes are those that they were.
  void set_numbers(int world, const Model& model);
  void put(int world, const State& state);
  void take(int world, State& state) const;
  /// Can the world be stepped in its lane? Not where it remembers contacts that have no place there, or is built otherwise.
  bool fits(int world) const { return worlds_[at(world)].built && worlds_[at(world)].remembers; }

  /// Working memory of one thread at a time.
  class Room {
   public:
    explicit Room(Lanes& lanes);
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

   private:
    friend class Lanes;
    Lanes& lanes_;
    int index_;
  };
  /// Targets, torques and gains as they stand now, until the next call. The lanes that they do not move: those whose references
  /// go on until a target is written.
  unsigned read_commands(int pack, const Commands& commands);
  /// A step of the lanes of `running`; bit l: lane l has moved, the others are as they were.
  unsigned step(int pack, unsigned running, Room& room);

  /// Poses and velocities of the bodies of some lanes, in rows of worlds, as Simulation::write_bodies has them (null: none),
  /// and of points.
  void write_motions(int pack, unsigned chosen, Room& room, double* pose, double* velocity,
                     std::span<const PointRows> points) const;

  // Of a world whose last step was taken here.
  double t(int world) const { return worlds_[at(world)].t; }
  void copy_q(int world, double* out) const { copy(world, &PackArrays::q, shape_.nq, out); }
  void copy_v(int world, double* out) const { copy(world, &PackArrays::v, shape_.nv, out); }
  void copy_torque(int world, double* out) const { copy(world, &PackArrays::torque, shape_.nv, out); }
  /// Adds the normal forces of a geometry.
  double normal_force(int world, int geometry) const;
  void contacts(int world, std::vector<ContactReport>& out) const;

 private:
  struct World {
    bool built = true, remembers = true;
    double t = 0;
    Clock clock;
    std::uint64_t step = 0;
    VecX held;  // joints that are held against gravity (nv)
  };
  /// The entries of one world in an array of its pack.
  struct Column {
    double* first;
    int stride;
    double& operator[](int i) const { return first[i * stride]; }
  };
  Column column(int world, double* PackArrays::*array) const {
    return {packs_[at(world / width())].*array + world % width(), width()};
  }
  double& entry(int world, double* PackArrays::*array, int i) const { return column(world, array)[i]; }
  Vec3 vector(int world, double* PackArrays::*array, int i) const {
    const Column x = column(world, array);
    return {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
  }
  void copy(int world, double* PackArrays::*array, int n, double* out) const {
    const Column x = column(world, array);
    for (int i = 0; i < n; ++i) out[i] = x[i];
  }
  void set_surfaces(int world, const Model& model);
  void hold_against_gravity(int world, const double* target);
  bool put_memory(int world, const Memory& memory);
  bool put_contacts(int world, const std::vector<ContactMemory>& memory);
  std::uint64_t row_id(int kind, int dof) const;

  const Model& model_;
  ContactOptions contact_;
  double dt_;
  std::vector<PdOptions> drives_;
  VecX kp_, kd_;  // of the drives (nv)
  struct PointData {
    int surface;
    double size, share;  // no parameter changes a size
  };
  std::vector<PointData> point_data_;
  ShapeData data_;
  Shape shape_;
  const Kernel& kernel_;
  std::vector<World> worlds_;
  std::vector<PackArrays> packs_;
  std::vector<GravityHold> holds_;      // of each pack, whose worlds take turns; empty: what is fed forward stays
  std::vector<std::uint64_t> row_ids_;  // in the order of PackArrays::row_f
  std::vector<int> rows_by_id_;
  Buffer storage_;
  std::vector<WorldContacts> contacts_;  // of worlds, where shape_.finds
  std::vector<Buffer> rooms_;            // a room is memory, and a search
  std::vector<std::unique_ptr<LaneContacts>> searches_;
  std::vector<int> spare_;
  std::mutex door_;
};

}  // namespace tribo::lanes
