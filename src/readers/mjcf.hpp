// Robots and worlds from MJCF files: compiled by MuJoCo, then taken over element by element.
#pragma once

#include <string>

#include "tribo/robot.hpp"

namespace tribo {

/// Is it a file .xml or .mjcf whose first element is <mujoco>?
bool is_mjcf(const std::string& path);

/// Adds all that the file describes as one member. InvalidInput for what cannot be read, names the element and its
/// line.
/// softness: contacts give way as its solref and solimp say, else as the material of the options does.
int add_mjcf(ModelBuilder& builder, const RobotOptions& options, RobotNotes& notes, bool softness = false);

}  // namespace tribo
