// Robots by name or file, added to a model under construction.
#pragma once

#include <string>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

/// A robot of example-robot-data that is known by name.
struct RobotEntry {
  std::string name, urdf, summary;
  bool floating = true;
};
const std::vector<RobotEntry>& robots();

/// What links or shapes of a robot are made of: all whose name matches. '*' stands for any run of characters.
struct LinkMaterial {
  std::string link;  ///< or a shape of it, "link_0", or a foot's frame
  int material = 0;
};

/// How a mesh is made into convex solids.
struct MeshParts {
  enum class Kind {
    Hull,       ///< one hull around all of it
    Objects,    ///< one around each object of its file
    Decomposed  ///< one around each part of a convex decomposition (tribo/decomposition.hpp)
  };
  Kind kind = Kind::Hull;
  int most = 0;  ///< of Decomposed: at most so many parts; 0: as many as the shape needs
};

/// The same for links or shapes of a robot, all whose name matches. '*' stands for any run of characters.
struct LinkParts {
  std::string link;
  MeshParts parts;
};

/// Contact points at a frame: points without size, or balls.
struct Foot {
  std::string frame;
  std::vector<Vec3> points{Vec3::Zero()};  ///< in the frame [m]
  double radius = 0;                       ///< 0: points without size [m]
};

/// Adds a robot to a model under construction: a known name, or a path to a URDF or MJCF file. Returns the member's
/// index.
struct RobotOptions {
  std::string name;      ///< of the member; empty: the name of the robot
  std::string model;     ///< known name, or path to a .urdf or .xml
  bool floating = true;  ///< free base, or fixed to the world; an MJCF file says itself
  /// Fixed all the same where the root of a URDF has no mass or is called "world".
  bool floating_if_it_can = false;
  Placement base;  ///< of a fixed base; of all that an MJCF file describes
  std::string contact =
      "default";           ///< "default" (feet and shapes of the file), "feet", "collision" (the shapes), "none"
  std::vector<Foot> feet;  ///< in place of those of a robot that is known by name
  int material = 0;
  std::vector<LinkMaterial> link_materials;  ///< of a URDF, where it is another; the last that matches counts
  std::vector<LinkParts> mesh_parts;  ///< of a URDF: where a mesh is more than its hull; the last that matches counts
  bool triangle_meshes = false;       ///< meshes of what never moves are taken triangle by triangle, not as their hulls
  bool self_collision = false;
  bool rotor_inertia = false;         ///< add the reflected rotor inertias that the robot's package knows
  bool inertia_from_shapes = false;   ///< of URDF: masses as the file says, inertias of its collision shapes
  std::string keyframe;               ///< of MJCF: where its mocap bodies stand; empty: as its bodies say
  bool refuse_unsupported = false;    ///< of MJCF: what has no meaning here is an error, not a warning
  std::vector<std::string> packages;  ///< folders in which packages and meshes are looked for before all others
};

/// What a file says beside its robot.
struct RobotNotes {
  std::vector<std::string> warnings;  ///< what was not taken over, by name
  std::vector<std::string> log;       ///< what was made of the file, a line each
  bool whole_world = false;           ///< the file is a world of its own (MJCF): the two below are its
  Vec3 gravity{0, 0, -9.81};          ///< [m/s^2]
  double timestep = 0;                ///< [s]
};
int add_robot(ModelBuilder& builder, const RobotOptions& options, RobotNotes* notes = nullptr);

}  // namespace tribo
