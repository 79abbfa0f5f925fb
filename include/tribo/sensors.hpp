// What a robot's own sensors say: inertial unit, joint encoders, feet. With noise, bias and delay, drawn from a
// generator whose state, like all that the sensors remember, lives in the State: a restored run measures the same
// again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tribo/controller.hpp"

namespace tribo {

/// Errors of one kind of measurement, in its unit. All normal, independent a component.
struct SensorError {
  double noise = 0;  ///< standard deviation of each sample
  double bias = 0;   ///< standard deviation of an offset that is drawn once
  double walk = 0;   ///< standard deviation of what the offset gains in a second [unit/s^0.5]
};

struct SensorOptions {
  int member = 0;         ///< the robot
  std::string imu_frame;  ///< frame of the inertial unit; empty: the first body of the robot
  double period = 0;      ///< time between samples [s]; 0: every step
  double delay = 0;       ///< age of what is read [s], >= 0
  std::uint64_t seed = 1;
  SensorError accelerometer;       ///< [m/s^2]
  SensorError gyroscope;           ///< [rad/s]
  SensorError position;            ///< of joints [rad] or [m]
  SensorError velocity;            ///< of joints [rad/s] or [m/s]
  SensorError force;               ///< of feet [N]
  double contact_threshold = 0.1;  ///< a foot is said to touch from this measured force on [N]
};

/// One sample.
struct SensorReading {
  double t = 0;                      ///< when it was taken [s]
  Vec3 acceleration = Vec3::Zero();  ///< specific force of the inertial unit, in its frame: at rest +g upwards [m/s^2]
  Vec3 angular_velocity = Vec3::Zero();  ///< in its frame [rad/s]
  VecX position, velocity;               ///< of the robot's joints of one coordinate, in order
  VecX force;                            ///< normal force of each foot [N]
  std::vector<bool> touching;            ///< of each foot
};

/// A controller that moves nothing: it samples at the state before the step, and keeps all in its memory. It is called
/// every step and minds its period itself, since it has nothing to hold between samples.
/// Accelerations and forces are means over the step before.
class Sensors final : public Controller {
 public:
  /// dt: of the simulation [s]; it sets how many samples a delay spans. InvalidInput names what is wrong.
  Sensors(const Model& model, const SensorOptions& options, double dt);

  int memory() const override { return head_ + channels_ + ring_ * (1 + channels_); }
  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
               Actuation& actuation) override;
  /// What can be read now, from the numbers that control() keeps; all zero before the first step.
  SensorReading read(std::span<const double> memory) const;

 private:
  static constexpr int head_ = 8;  // generator (2), samples taken, time and velocity of the last one, its period
  void sample(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory, double* out);
  const SensorError& error(int channel) const;

  SensorOptions options_;
  int body_ = 0;
  Placement X_BI_;                 // inertial unit in its body
  std::vector<int> q_, v_, feet_;  // coordinates of joints; geometries
  int channels_ = 0, ring_ = 1;
};

}  // namespace tribo
