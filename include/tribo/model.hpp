// The world as it does not change: bodies in trees, shapes, materials, gravity. Shared by threads; its hash names it.
//
// Every body hangs on one joint. Bodies without a moving parent begin a tree; a free object is a tree of one body.
// q and v follow Pinocchio's order and conventions (free joint: q = (p, quaternion xyzw), v = (linear, angular) in body
// axes).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tribo/actuator.hpp"
#include "tribo/equality.hpp"
#include "tribo/kinematic_body.hpp"
#include "tribo/material.hpp"
#include "tribo/medium.hpp"
#include "tribo/shape.hpp"
#include "tribo/tendon.hpp"
#include "tribo/types.hpp"

namespace tribo {

enum class JointKind {
  Free,        ///< nq 7, nv 6
  Spherical,   ///< nq 4 (quaternion xyzw), nv 3 (angular velocity in body axes)
  Revolute,    ///< nq 1, nv 1, about axis
  Continuous,  ///< nq 2 (cos, sin), nv 1, about axis
  Prismatic    ///< nq 1, nv 1, along axis
};

int nq_of(JointKind kind);
int nv_of(JointKind kind);

/// A body and the joint that moves it.
struct Body {
  std::string name;  ///< of the joint or the object, unique in the model: "robot/joint"
  int parent = -1;   ///< index of the parent body, smaller than its own; -1: the world
  JointKind joint = JointKind::Free;
  Placement X_PJ;                  ///< frame of the joint in the parent body
  Vec3 axis = Vec3::UnitZ();       ///< of a revolute or prismatic joint, in the joint frame, unit length
  Inertia inertia;                 ///< in the frame of the body
  double carried = 0;              ///< mass whose weight is carried by something else: gravity compensation [kg]
  Vec3 carried_at = Vec3::Zero();  ///< its centre, in the frame of the body [m]

  // Set by ModelBuilder::build.
  int tree = 0;            ///< index in Model::trees
  int iq = 0, iv = 0;      ///< first coordinate and first velocity
  std::vector<int> chain;  ///< velocity indices from the root of its tree to this joint's last, ascending
};

/// Bodies that are connected by joints; consecutive in bodies, q and v.
struct Tree {
  std::string name;
  int first_body = 0, bodies = 0;
  int iq = 0, nq = 0;
  int iv = 0, nv = 0;
  double mass = 0;      ///< [kg]
  double carried = 0;   ///< of its bodies [kg]
  bool single = false;  ///< one free body whose frame is the principal one: M is a constant diagonal
};

/// What belongs to each velocity coordinate. Shape (nv) each.
struct JointProperties {
  VecX damping;         ///< viscous [N m s/rad] or [N s/m]
  VecX armature;        ///< reflected rotor inertia [kg m^2] or [kg]
  VecX friction;        ///< dry friction [N m] or [N]; of the way of a free joint along the axes of W
  VecX effort_limit;    ///< largest actuator torque or force, infinite where there is none; 0: not actuated
  VecX velocity_limit;  ///< [rad/s] or [m/s], infinite where there is none
  VecX lower, upper;    ///< joint range [rad] or [m], infinite where there is none; a spherical joint: upper, its angle
  VecX stiffness;       ///< of a spring towards rest [N m/rad] or [N/m]; one number over a spherical joint
  VecX rest;            ///< configuration at which the springs carry no load, shape (nq)
};

/// Two geometries that meet whatever groups, neighbourhood and exclusions say, on a surface of their own.
struct CollisionPair {
  int geometry_a = -1, geometry_b = -1;
  SurfacePair surface;
};

/// A named place on a body: feet, sensors, tools.
struct Frame {
  std::string name;  ///< "robot/frame"
  int body = -1;
  Placement X_BF;
};

struct RobotFile;  // tribo/robot_file.hpp

/// A robot or an object as the user named it: what scene files, controllers and recordings refer to.
struct Member {
  std::string name;
  int first_body = 0, bodies = 0;
  int iq = 0, nq = 0, iv = 0, nv = 0;
  bool robot = false;
  std::string source;                     ///< the file it came from, or the shape of an object
  std::map<std::string, VecX> poses;      ///< named configurations, shape (nq)
  std::vector<int> feet;                  ///< geometries that are its feet
  std::vector<Actuator> actuators;        ///< motors that its file describes
  std::map<std::string, VecX> controls;   ///< of the actuators, by the name of the pose they belong to
  std::shared_ptr<const RobotFile> file;  ///< what else its file says; null where that is nothing
};

/// What a name stands for: a point to push, a pose to ask for.
struct Place {
  int body = -1;       ///< index in Model::bodies; -1: the world; kinematic_body(k): a kinematic body
  Placement X_BP;      ///< of a frame on its body; the identity for a body
  bool frame = false;  ///< the name is that of a frame
};

/// Factors on a model, for worlds that differ a little.
struct ModelFactors {
  double mass = 1;      ///< on the mass and inertia of every body [-], > 0
  double friction = 1;  ///< on every coefficient of friction [-], >= 0
};

struct ModelChanges;  // tribo/model_changes.hpp
struct ModelNumbers;  // tribo/model_numbers.hpp

class Model {
 public:
  std::vector<Body> bodies;
  std::vector<Tree> trees;
  std::vector<Geometry> geometries;
  std::vector<Frame> frames;
  std::vector<Material> materials;
  std::vector<Member> members;
  JointProperties joints;
  std::vector<Equality> equalities;
  std::vector<KinematicBody> kinematic;
  std::vector<Tendon> tendons;
  std::vector<TendonTie> ties;
  Medium medium;
  std::vector<CollisionPair> pairs;         ///< explicitly added
  MixingRule mixing = MixingRule::Minimum;  ///< of materials whose pair is not given
  Vec3 gravity{0, 0, -9.81};                ///< [m/s^2]
  int nq = 0, nv = 0;

  /// How two geometries meet, as an index for surface(): their own pair, or the pair of their materials.
  int surface_index(int geometry_a, int geometry_b) const;
  const SurfacePair& surface(int index) const { return surfaces_[static_cast<std::size_t>(index)]; }
  const SurfacePair& surface(int material_a, int material_b) const;
  int surfaces() const { return static_cast<int>(surfaces_.size()); }
  std::string surface_name(int index) const;  ///< for messages: "materials 'a' and 'b'"
  /// May these two geometries touch: other bodies, not neighbours in a tree, not excluded, groups agree; or their pair
  /// was added.
  bool may_collide(int geometry_a, int geometry_b) const;
  VecX neutral() const;  ///< q with every joint at zero (nq)
  std::uint64_t hash() const { return hash_; }
  double mass() const;  ///< of all that moves [kg]
  int actuated(int iv) const { return joints.effort_limit[iv] > 0; }

  /// Index by name: "robot/link" always, "link" where one name alone ends so. InvalidInput lists the names that it could
  /// mean, or the known ones and the nearest.
  int member(const std::string& name) const;
  int frame(const std::string& name) const;
  int body(const std::string& name) const;  ///< kinematic_body(k) for a kinematic one
  int geometry(const std::string& name) const;
  /// A robot or an object (its first body), a body or a frame, the first of these that is called so.
  Place place(const std::string& name) const;

  /// The same with other masses and friction, and another hash where a factor is not 1. InvalidInput for a factor out of
  /// range.
  Model scaled(const ModelFactors& factors) const;

 private:
  friend class ModelBuilder;
  friend Model changed(const Model& model, const ModelChanges& changes);
  friend void set_numbers(Model& model, const Model& base, const ModelNumbers& numbers);
  void set_hash();                                   // from all that changes the motion
  void set_numbers_hash();                           // the same, where only ModelNumbers are others than before
  std::vector<SurfacePair> surfaces_;                ///< (materials x materials), then those of pairs
  std::vector<std::pair<int, int>> excluded_;        ///< sorted pairs of bodies
  std::vector<std::pair<int, int>> apart_;           ///< sorted pairs of geometries that do not meet
  std::vector<char> self_collision_;                 ///< per member
  std::map<std::pair<int, int>, int> pair_surface_;  ///< geometries of pairs, in order, to index in surfaces_
  std::uint64_t hash_ = 0;
  std::uint64_t rest_hash_ = 0;  ///< of what ModelNumbers do not change
};

/// Collects bodies, shapes and materials, checks them, and makes the constant Model. An index of what was not added is
/// refused where it is given: InvalidInput names it and those that there are.
class ModelBuilder {
 public:
  int add_material(Material material);
  void set_pair(const std::string& a, const std::string& b, SurfacePair pair);
  void set_mixing(MixingRule rule) { model_.mixing = rule; }
  void set_gravity(const Vec3& gravity);

  /// Begins a robot or an object; the bodies added until the next call belong to it.
  int begin_member(std::string name, bool robot, std::string source, bool self_collision = false);
  Member& member(int index);
  /// Adds a body; joint properties are per velocity coordinate of its joint, defaults where absent.
  int add_body(Body body);
  JointProperties& joint_properties() { return model_.joints; }
  int add_geometry(Geometry geometry);
  int add_frame(Frame frame);
  void exclude(int body_a, int body_b);
  void exclude_geometries(int geometry_a, int geometry_b);
  /// Two geometries of classes meet where (type_a & affinity_b) or (type_b & affinity_a); those without a class count
  /// as (1, 1). Overrides the groups of the geometry.
  void set_contact_class(int geometry, std::uint32_t type, std::uint32_t affinity);
  /// The two geometries meet on this surface, whatever else is said of them.
  void add_pair(CollisionPair pair);
  /// Bodies and joints that it names must have been added.
  void add_equality(Equality equality);
  int add_tendon(Tendon tendon);
  void add_tie(TendonTie tie);
  void set_medium(Medium medium);
  /// Returns what Geometry::body takes for it.
  int add_kinematic_body(KinematicBody body);
  /// A free object of one shape, of uniform density, with its frame at the centre of mass.
  int add_object(const std::string& name, ShapeKind kind, const Vec3& size, double mass, int material);
  /// The floor: a half-space fixed to the world.
  int add_ground(const Placement& X_WG, int material);

  const Model& model() const { return model_; }
  Model build();  ///< the builder is as new afterwards

 private:
  using ContactClass = std::pair<std::uint32_t, std::uint32_t>;  // type, affinity
  void check_body(int body, const std::string& owner) const;     // of a tree, kinematic, or -1 for the world
  void check_geometry(int geometry, const std::string& owner) const;
  void check_material(int material, const std::string& owner) const;
  void check_springs() const;
  void group_contact_classes();

  Model model_;
  std::map<int, ContactClass> classes_;  ///< by geometry
  std::map<std::pair<std::string, std::string>, SurfacePair> pairs_;
  std::vector<char> member_self_collision_;
};

}  // namespace tribo
