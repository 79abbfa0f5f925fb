// What an SRDF file says of a robot: named poses, and the rotors of its motors.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tribo {

struct Srdf {
  struct JointValue {
    std::string joint;
    std::vector<double> values;  ///< coordinates; one angle for a continuous joint
  };
  std::map<std::string, std::vector<JointValue>> poses;  ///< by the name of the group state
  std::map<std::string, double> armature;                ///< by joint: rotor inertia times gear ratio squared [kg m^2]
};

/// InvalidInput with file and line where it is not XML or a value is no number.
Srdf read_srdf(const std::string& path);

}  // namespace tribo
