// What the sensors that a robot's file describes say at an instant, without noise.
//
//   accelerometer     R^T (a - gravity),  a = J vdot + Jdot v                                             (fsens.1)
//   force, torque     of what carries the parts i beyond: sum of m_i (a_i - gravity) less the forces of contacts and of
//                     tendons (springs, dampers, motors) on them, and its moment about the sensor          (fsens.2)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tribo/contact.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/robot_file.hpp"
#include "tribo/state.hpp"

namespace tribo {

/// What sensors look at. dynamics: poses and velocities at (q, v).
struct SensorInstant {
  const Model& model;
  const Dynamics& dynamics;
  const VecX &q, &v;
  KinematicTime time;
  const VecX& vdot;  ///< of a free joint: classical acceleration in the axes of its body (nv)
  std::span<const ContactReport> contacts;
  const VecX& force;   ///< of the actuators of the member (nu)
  const VecX& torque;  ///< of motors (nv)
};

/// Writes sensor.size numbers.
void read_sensor(const FileSensor& sensor, const Member& member, const SensorInstant& instant, double* out);

/// The sensors of all files of a model, along a run. Accelerations are means over the last step, forces those of it.
class FileSensors {
 public:
  explicit FileSensors(const Model& model);
  bool empty() const { return sensors_.empty(); }

  /// Where the last step began; none: there was none.
  void note(const VecX& q, const VecX& v, double t);
  void forget() { q_.resize(0); }
  struct Reading {
    std::string name;  ///< "robot/sensor"
    VecX value;
  };
  /// forces: of all actuators of the model, member by member.
  std::vector<Reading> read(const Model& model, const State& state, std::span<const ContactReport> contacts,
                            const VecX& forces, const VecX& torque);

 private:
  struct Entry {
    int member;
    const FileSensor* sensor;
  };
  std::vector<Entry> sensors_;
  Dynamics dynamics_;
  VecX q_, v_, vdot_;  // at the start of the last step; empty before it
  double t_ = 0;
};

}  // namespace tribo
