// What the registry knows of a robot beside its URDF: feet, poses, and where the files lie.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tribo/robot.hpp"

namespace tribo {

struct RobotRecord {
  RobotEntry entry;
  std::string srdf;              ///< under the robots folder; empty: none
  std::string pose = "neutral";  ///< the one to begin with
  bool walks = false;            ///< has feet
  std::vector<Foot> feet;        ///< of one that walks; empty: its balls
  std::vector<std::pair<std::string, double>>
      angles{};        ///< of `pose`, beside or in the place of those of the SRDF [rad] or [m]
  bool shapes = true;  ///< those of the file touch by default
  double height = 0;   ///< of a fixed base that has to swing above the ground [m]
};

class Section;
/// The key `feet`: names of frames, or a table {frames, points, radius} of what stands at each of them. Empty without it.
std::vector<Foot> read_feet(Section& section);

/// data/robots.toml, which is part of the library.
const std::vector<RobotRecord>& robot_records();
const char* robot_data();
/// InvalidInput "FILE:LINE: reason" for what is not understood.
std::vector<RobotRecord> read_robot_records(const std::string& text, const std::string& file);

/// The file of a robot and the folders in which `package://` is looked for.
struct RobotFiles {
  std::string urdf, srdf;
  std::vector<std::string> packages;    ///< folders in which packages are looked for last
  const RobotRecord* record = nullptr;  ///< null where the robot was given by its path
};
/// InvalidInput names the robots that are known, or the paths that were tried.
RobotFiles find_robot(const std::string& model);

/// A URDF file as it was read, with the poses that belong to it: read once, it can be added to several models.
struct UrdfFile;
std::shared_ptr<const UrdfFile> read_urdf(const RobotOptions& options);
/// Has it a free base?
bool floats(const UrdfFile& file);
/// The options must be those that it was read with, but for name, material and base.
int add_urdf(ModelBuilder& builder, const RobotOptions& options, const UrdfFile& file, RobotNotes& notes);

/// What to say of a xacro file: the line that makes a URDF of it.
std::string xacro_refusal(const std::string& path);
/// InvalidInput for a file of a format that is not read: xacro, SDF, USD.
void refuse_other_formats(const std::string& path);

}  // namespace tribo
