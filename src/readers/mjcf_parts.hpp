// The parts of the conversion of a compiled MJCF file; each takes one family of elements over.
#pragma once

#include <mujoco/mujoco.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "readers/mjcf.hpp"
#include "tribo/robot.hpp"
#include "tribo/robot_file.hpp"

namespace tribo::mjcf {

struct Deleter {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
};
using ModelPtr = std::unique_ptr<mjModel, Deleter>;

/// What a <key> says of its length.
struct KeyClaim {
  std::string place, attribute;
  int numbers;
};

/// Elements of a file that have no meaning here, by what they are: told together, so that nothing is lost in silence.
class Unsupported {
 public:
  void add(const std::string& what, const std::string& where);
  /// "what: a, b, c and 12 more"
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::vector<std::string>> found_;
};

/// A file under conversion, and where its elements went.
struct Loading {
  const mjModel& m;
  const RobotOptions& options;
  ModelBuilder& builder;
  std::string file;
  int member = 0;
  FileSoftness softness = FileSoftness::None;
  bool runge_kutta = false;
  int key = -1;  ///< the keyframe that the file is loaded at, or none
  Unsupported unsupported{};
  std::vector<int> body{};        ///< of each MuJoCo body: ours; -1: the world; or a kinematic body
  std::vector<Placement> X_BM{};  ///< frame of each MuJoCo body in that of ours
  std::vector<int> joint{};       ///< of each MuJoCo joint: the body that hangs on it
  std::vector<int> geometry{};    ///< of each geom: ours, or -1 where it never touches anything
  std::vector<int> control{};     ///< of each actuator that was taken over: where its control is in ctrl
  std::vector<int> activation{};  ///< and its activation in act, or -1
  std::vector<int> tendon{};      ///< of each tendon: ours, or -1 where it has no meaning here
  std::vector<int> actuator{};    ///< and which one of the file it is
  RobotFile extra{};

  std::string prefix() const { return builder.model().members[static_cast<std::size_t>(member)].name + "/"; }
  /// Name of a keyframe.
  std::string key_name(int k) const;
  /// "geom 'foot'", or "geom 12" where it has no name.
  std::string label(mjtObj type, int id) const;
  std::string name(mjtObj type, int id) const;
  bool enabled(mjtDisableBit bit) const;
};

// mjcf_file.cpp
/// InvalidInput where a file is too large, nested too deep, or names one outside the folders that it may read.
std::vector<KeyClaim> inspect(const std::string& path, const std::vector<std::string>& roots);
/// InvalidInput where a keyframe has another number of coordinates than the model.
void check_keys(const std::vector<KeyClaim>& keys, const mjModel& m);
/// InvalidInput with the message of the compiler; its warnings are added.
ModelPtr compile(const std::string& path, std::vector<std::string>& warnings);

// mjcf_pictures.cpp
/// Takes away what only pictures are made of: the rest is compiled to the same numbers.
void leave_out_pictures(mjSpec& spec);

// mjcf_bodies.cpp
void add_bodies(Loading& load);
void add_frames(Loading& load);
void add_poses(Loading& load);
/// Coordinates of MuJoCo in our order, moved with the base of the robot.
VecX coordinates(const Loading& load, const double* qpos);
/// Of one body of MuJoCo, in the frame of ours that carries it.
Inertia inertia_of(const mjModel& m, int body, const Placement& X_BM);

// mjcf_geometry.cpp
void add_geometries(Loading& load);

// mjcf_rows.cpp
void add_tendons(Loading& load);
void add_equalities(Loading& load);

// mjcf_actuators.cpp
void add_actuators(Loading& load);
/// What the motors on a joint or tendon add to its own, by the square of their gears.
struct Reflected {
  double armature = 0, damping = 0;
};
Reflected reflected(const mjModel& m, mjtObj type, int id);

// mjcf_sensors.cpp
void add_sensors(Loading& load);

// mjcf_unsupported.cpp
void find_unsupported(Loading& load);
/// Options that nothing is lost without, a line each.
std::vector<std::string> not_needed(const mjModel& m);

inline Vec3 vec3(const double* x) { return {x[0], x[1], x[2]}; }
inline Mat3 rotation(const double* wxyz) {
  return Quat(wxyz[0], wxyz[1], wxyz[2], wxyz[3]).normalized().toRotationMatrix();
}
inline Placement placement(const double* p, const double* wxyz) { return {rotation(wxyz), vec3(p)}; }
}  // namespace tribo::mjcf
