// A contact between two geometries, and what is reported of it.
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

enum class ContactMode : std::uint8_t { Open, Stick, Slip, Impact };

/// Where two geometries touch or nearly do. The frame C has its normal along +z, from a to b; order is (t1, t2, n).
struct Contact {
  std::uint64_t id = 0;  ///< survives steps: pair of geometries and feature
  int geometry_a = -1, geometry_b = -1;
  int body_a = -1, body_b = -1;  ///< -1: fixed to the world; below: kinematic bodies, see kinematic_body()
  int surface = 0;               ///< for Model::surface: how the two meet
  Vec3 p_WC = Vec3::Zero();      ///< point, midway between the surfaces [m]
  Mat3 R_WC = Mat3::Identity();  ///< axes t1, t2, n as columns
  double gap = 0;                ///< phi, negative where they overlap [m]
  /// From p to the points of a and b that touch, where the two meet only within the step; else zero [m].
  Vec3 arm_a = Vec3::Zero(), arm_b = Vec3::Zero();
  Vec3 v_given = Vec3::Zero();  ///< the part of b's velocity relative to a that kinematic bodies give, at p, in W [m/s]
  Vec3 w_given = Vec3::Zero();  ///< the same of its turning [rad/s]
};

/// The same for every stepper.
struct ContactReport {
  std::uint64_t id = 0;
  int geometry_a = -1, geometry_b = -1;
  Vec3 p_WC = Vec3::Zero();  ///< [m]
  Mat3 R_WC = Mat3::Identity();
  double gap = 0;               ///< at the start of the step [m]
  Vec3 f = Vec3::Zero();        ///< mean force over the step on b, in C [N]
  Vec3 c = Vec3::Zero();        ///< velocity of b relative to a at the end of the step, in C [m/s]
  Vec3 c_start = Vec3::Zero();  ///< the same at its start [m/s]
  ContactMode mode = ContactMode::Open;
  double mu = 0;           ///< friction coefficient that held
  double cone_margin = 0;  ///< mu f_N - |f_T| [N]
};

}  // namespace tribo
