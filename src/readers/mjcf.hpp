// Robots and worlds from MJCF files: compiled by MuJoCo, then taken over element by element.
#pragma once

#include <string>

#include "tribo/robot.hpp"

namespace tribo {

/// Contacts give way as the material of the options does; or as the file's solref and solimp say: by a compliance with a
/// relaxation time, or by the stiffness and damping of the visco-elastic law.
enum class FileSoftness { None, Compliance, Springs };

/// What the scene does with a file.
struct MjcfUse {
  FileSoftness softness = FileSoftness::None;
  bool runge_kutta = false;  ///< the steps are of order four, so a file that asks for that is not told
};

/// Is it a file .xml or .mjcf whose first element is <mujoco>?
bool is_mjcf(const std::string& path);

/// Adds all that the file describes as one member. InvalidInput for what cannot be read, names the element and its
/// line.
int add_mjcf(ModelBuilder& builder, const RobotOptions& options, RobotNotes& notes, const MjcfUse& use = {});

}  // namespace tribo
