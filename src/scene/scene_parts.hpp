// The parts of a scene file: each reader takes its sections and adds to the scene under construction.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "readers/toml_reader.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/robot.hpp"
#include "tribo/scene.hpp"

namespace tribo {

class Dynamics;

/// What is settled once the model is built: where a member stands and how it moves.
using Placing = std::function<void(const Model&, State&)>;
/// What of the model that was built is to be another.
using Changing = std::function<void(const Model&, ModelChanges&)>;

struct SceneDraft {
  ModelBuilder builder;
  std::map<std::string, int> materials;
  bool springs = false;      ///< the stepper's contacts are the springs and dampers of materials
  bool runge_kutta = false;  ///< it is of order four in smooth motion
  bool ground = true;
  Placement X_WG;                 ///< of the ground; its z axis is the normal
  std::vector<Placing> placings;  ///< run in order on the neutral state
  std::vector<Changing> changings;
  std::vector<std::string> warnings;
  std::vector<std::string> log;
  std::optional<Vec3> gravity;     ///< that of a robot file which is a world of its own [m/s^2]
  std::optional<double> timestep;  ///< likewise [s]

  int material(Section& section);
  int material(const Section& section, const TomlValue& name) const;
};

// scene_world.cpp
void read_materials(Section& root, SceneDraft& draft);
void read_ground(Section& root, SceneDraft& draft);
void read_walls(Section& root, SceneDraft& draft);
/// False where one of them is wrong and the errors are being collected.
bool read_objects(Section& root, SceneDraft& draft);
Placement read_placement(Section& section);

// scene_shapes.cpp
/// Keys shape, size, radius, radii, length, vertices, file, scale, parts. A hull by vertices is moved so that its
/// centre of mass is the origin of its frame; a mesh keeps the frame of its file.
struct ShapeSpec {
  ShapeKind kind = ShapeKind::Box;
  Vec3 size = Vec3::Zero();
  std::vector<std::shared_ptr<const Hull>> hulls;  ///< of a hull or a mesh

  /// Of uniform density; where hulls overlap they both count.
  Inertia inertia(double mass) const;
  /// Moves the hulls so that the centre of mass is the origin of the frame.
  void centre();
  /// Adds one geometry, or one for each hull (NAME.0, NAME.1, …), that is otherwise like the one given.
  void add_to(ModelBuilder& builder, const Geometry& like) const;
};
/// Key vertices: an array of points.
std::vector<Vec3> read_vertices(Section& section);
/// Key scale: a number or three; 1 where it is not given.
Vec3 read_scale(Section& section);
/// Of the key parts: false, true (objects of the file), "auto" or a number (of a convex decomposition).
MeshParts read_parts(Section& section, const TomlValue& value);
ShapeSpec read_shape(Section& section, const std::string& fallback, SceneDraft& draft);
/// Does it name a file rather than a robot?
bool is_file(const std::string& path);
/// A path of the scene file: beside that file where it is there, otherwise as it stands.
std::string beside(const Section& section, const std::string& path);

// scene_mechanisms.cpp
void read_terrain(Section& root, SceneDraft& draft);
void read_kinematic(Section& root, SceneDraft& draft);
void read_equalities(Section& root, SceneDraft& draft);
/// Keys group and collides_with: numbers from 0 to 31.
void read_groups(Section& section, Geometry& geometry);

// scene_robot.cpp
/// False where one of them is wrong and the errors are being collected.
bool read_robots(Section& root, SceneDraft& draft);
/// Where a free body stands and how it moves, in W.
void place_free_body(const Body& body, const Placement& X_WB, const Vec3& v_W, const Vec3& w_W, State& state);
/// q of a member from the keys `pose` (name, or numbers of all coordinates or of the joints alone) and `joints`.
VecX read_pose(Section& section, const Model& model, const Member& member, const VecX& fallback);
/// Calls set(body, number) for each entry of a table by joint name; '*' in a name stands for anything.
void by_joint(Section& section, const std::string& key, const Model& model, const Member& member, Bound bound,
              const std::function<void(const Body&, double)>& set);

// scene_robot_keys.cpp: what a robot's file says, where the scene says otherwise.
/// damping, friction, armature: one number, or a table by joint.
void read_joint_properties(Section& section, SceneDraft& draft, int member);
/// effort_limit: a number, "none", or a table by joint; effort_scale: a factor, or a table by joint.
void read_effort_limits(Section& section, SceneDraft& draft, int member);
/// masses: a table {link = kg}.
void read_masses(Section& section, SceneDraft& draft, int member);

// scene_control.cpp: the table of controllers. A reader takes every key of its section but `name` and `robot`.
using ControllerReader = void (*)(Section& section, const Scene& scene, ControllerSpec& spec);
void read_controllers(Section& root, Scene& scene);
void read_pushes(Section& root, Scene& scene);

// scene_actuators.cpp: keys `control` (numbers, or a table by name) and `pose`, whose control is taken for what is not
// given.
void read_actuators(Section& section, const Scene& scene, ControllerSpec& spec);

// scene_tracking.cpp
void read_tracking(Section& section, const Scene& scene, ControllerSpec& spec);

// scene_policy.cpp
void read_policy(Section& section, const Scene& scene, ControllerSpec& spec);

// scene_task_space.cpp
void read_task_space(Section& section, const Scene& scene, ControllerSpec& spec);

// scene_walk.cpp
void read_walk(Section& section, const Scene& scene, ControllerSpec& spec);

// scene_pd.cpp
void read_pd(Section& section, const Scene& scene, ControllerSpec& spec);
void read_pid(Section& section, const Scene& scene, ControllerSpec& spec);
/// Whether the first body of the member moves freely.
inline bool floats(const Model& model, const Member& member) {
  return member.bodies > 0 && model.bodies[at(member.first_body)].joint == JointKind::Free;
}
/// Torques that hold q_ref against gravity (nv of the member): the floating base is carried by its feet.
VecX gravity_feedforward(const Section& section, const Model& model, const State& start, const Member& member,
                         const VecX& q_ref);

// scene_transmission.cpp
/// The key `transmission` of a robot: what its motors and gears add to the joints.
void read_transmission(Section& robot, SceneDraft& draft, int member);

// scene_reference.cpp
/// One number for every joint with one coordinate, or a table by joint name with the fallback for the others (nv of the
/// member).
VecX per_joint(Section& section, const std::string& key, const Model& model, const Member& member, Bound bound,
               double fallback);
/// The keys `sinusoid`, `trot` or `motion`; the pose q_ref (nq of the member) where there is none.
std::shared_ptr<const Reference> read_reference(Section& section, const Scene& scene, int member, const VecX& q_ref);
/// The keys `effort`, `effort_lower`, `effort_upper`: a number, or a table by joint.
EffortLimits read_limits(Section& section, const Model& model, const Member& member);
void read_velocity_constraint(Section& section, const Scene& scene, ControllerSpec& spec);
void read_trot_constraint(Section& section, const Scene& scene, ControllerSpec& spec);
void read_inverse_dynamics(Section& section, const Scene& scene, ControllerSpec& spec);

}  // namespace tribo
