// Measured: y(t) = x(t) + b(t) + n,  b(t + T) = b(t) + walk sqrt(T) N(0, 1),  n = noise N(0, 1)         (sensors.1)
// Specific force of a point at rest in I:  a_I = R_WI^T ((v_k - v_(k-1)) / T - gravity)                     (sensors.2)
#include "tribo/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

void check(const SensorError& e, const char* what) {
  for (double x : {e.noise, e.bias, e.walk})
    if (!(x >= 0) || !std::isfinite(x))
      throw InvalidInput(std::string("sensor error of the ") + what + " is " + shown(x) + ", must be finite and >= 0");
}

// Numbers of the generator as doubles that hold 32 bits each, so that every copy keeps them.
Random unpack(const double* m) { return {static_cast<std::uint64_t>(m[1]) << 32 | static_cast<std::uint64_t>(m[0])}; }
void pack(const Random& random, double* m) {
  m[0] = static_cast<double>(random.state & 0xffffffffu);
  m[1] = static_cast<double>(random.state >> 32);
}

double normal(Random& random) {
  const double u = 1 - random.uniform(), v = random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

}  // namespace

Sensors::Sensors(const Model& model, const SensorOptions& options, double dt) : options_(options) {
  if (options.member < 0 || options.member >= static_cast<int>(model.members.size()))
    throw InvalidInput("sensors: there is no member " + std::to_string(options.member));
  for (double x : {options.period, options.delay, options.contact_threshold})
    if (!(x >= 0) || !std::isfinite(x))
      throw InvalidInput("sensors: period, delay and contact_threshold must be finite and >= 0, one is " + shown(x));
  check(options.accelerometer, "accelerometer");
  check(options.gyroscope, "gyroscope");
  check(options.position, "joint positions");
  check(options.velocity, "joint velocities");
  check(options.force, "foot forces");
  const Member& member = model.members[at(options.member)];
  body_ = member.first_body;
  if (!options.imu_frame.empty()) {
    const Frame& frame = model.frames[at(model.frame(options.imu_frame))];
    if (frame.body < 0) throw InvalidInput("sensors: the frame '" + frame.name + "' is fixed to the world");
    body_ = frame.body;
    X_BI_ = frame.X_BF;
  }
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    if (body.joint != JointKind::Revolute && body.joint != JointKind::Prismatic) continue;
    q_.push_back(body.iq);
    v_.push_back(body.iv);
  }
  feet_ = member.feet;
  channels_ = 6 + 2 * static_cast<int>(q_.size()) + static_cast<int>(feet_.size());
  const double samples = std::ceil(options.delay / std::max(options.period, dt) - 1e-9);
  if (samples > 1e5) throw InvalidInput("sensors: a delay of " + shown(options.delay) + " s spans too many samples");
  ring_ = static_cast<int>(samples) + 1;
}

const SensorError& Sensors::error(int c) const {
  const int n = static_cast<int>(q_.size());
  if (c < 3) return options_.accelerometer;
  if (c < 6) return options_.gyroscope;
  if (c < 6 + n) return options_.position;
  return c < 6 + 2 * n ? options_.velocity : options_.force;
}

void Sensors::sample(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
                     double* out) {
  const Placement X_WI = dynamics.X_WB(body_) * X_BI_;
  const Vec3 v = dynamics.point_velocity(body_, X_WI.p);
  Eigen::Map<Vec3> v_last(memory.data() + 4);
  const double since = state.t - memory[3];
  const Vec3 a = memory[2] > 0 && since > 0 ? Vec3((v - v_last) / since) : Vec3::Zero();
  Eigen::Map<Vec3> specific(out), turning(out + 3);
  specific = X_WI.R.transpose() * (a - model.gravity);  // (sensors.2)
  turning = X_WI.R.transpose() * dynamics.body_velocity(body_).ang;
  v_last = v;
  memory[3] = state.t;
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    out[6 + i] = state.q[q_[i]];
    out[6 + n + i] = state.v[v_[i]];
  }
  double* force = out + 6 + 2 * n;
  std::fill_n(force, feet_.size(), 0.0);
  // The id of a contact names its two geometries: a << 40 | b << 16.
  for (const ContactMemory& c : state.memory.contacts) {
    if (!c.touched) continue;
    const int a_geometry = static_cast<int>(c.id >> 40), b_geometry = static_cast<int>(c.id >> 16 & 0xffffff);
    for (std::size_t i = 0; i < feet_.size(); ++i)
      if (a_geometry == feet_[i] || b_geometry == feet_[i]) force[i] += c.f.z();
  }
}

void Sensors::control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
                      Actuation&) {
  const bool first = memory[2] == 0;
  if (options_.period > 0) {
    const auto number = static_cast<double>(state.clock.period_number(options_.period));
    if (!first && number == memory[7]) return;
    memory[7] = number;
  }
  Random random = unpack(memory.data());
  if (first) random.state = state.random.state ^ (options_.seed * 0x9e3779b97f4a7c15ull);
  double* bias = memory.data() + head_;
  const double since = first ? 0 : state.t - memory[3];
  const int slot = static_cast<int>(std::fmod(memory[2], ring_));
  double* out = bias + channels_ + slot * (1 + channels_);
  sample(model, state, dynamics, memory, out + 1);
  out[0] = state.t;
  for (int c = 0; c < channels_; ++c) {
    const SensorError& e = error(c);
    const double step = first ? e.bias : e.walk * std::sqrt(since);
    if (step > 0) bias[c] += step * normal(random);
    out[1 + c] += bias[c];  // (sensors.1)
    if (e.noise > 0) out[1 + c] += e.noise * normal(random);
  }
  memory[2] += 1;
  pack(random, memory.data());
}

SensorReading Sensors::read(std::span<const double> memory) const {
  SensorReading reading;
  const std::size_t n = q_.size();
  reading.position.setZero(static_cast<Eigen::Index>(n));
  reading.velocity.setZero(static_cast<Eigen::Index>(n));
  reading.force.setZero(static_cast<Eigen::Index>(feet_.size()));
  reading.touching.assign(feet_.size(), false);
  if (memory[2] == 0) return reading;
  // The newest sample that is old enough; before there is one, the oldest.
  const double* rings = memory.data() + head_ + channels_;
  const int kept = static_cast<int>(std::min<double>(memory[2], ring_));
  const double newest = memory[3];  // the slop forgives the rounding of t
  const double latest =
      newest - options_.delay + std::max(1e-9, 8 * std::numeric_limits<double>::epsilon() * std::abs(newest));
  const double* best = nullptr;
  for (int i = 0; i < kept; ++i) {
    const double* one = rings + i * (1 + channels_);
    const bool old_enough = one[0] <= latest;
    if (best == nullptr || (old_enough && (one[0] > best[0] || best[0] > latest)) ||
        (!old_enough && best[0] > latest && one[0] < best[0]))
      best = one;
  }
  reading.t = best[0];
  reading.acceleration = Eigen::Map<const Vec3>(best + 1);
  reading.angular_velocity = Eigen::Map<const Vec3>(best + 4);
  reading.position = Eigen::Map<const VecX>(best + 7, static_cast<Eigen::Index>(n));
  reading.velocity = Eigen::Map<const VecX>(best + 7 + n, static_cast<Eigen::Index>(n));
  reading.force = Eigen::Map<const VecX>(best + 7 + 2 * n, static_cast<Eigen::Index>(feet_.size()));
  for (std::size_t i = 0; i < feet_.size(); ++i)
    reading.touching[i] = reading.force[static_cast<Eigen::Index>(i)] >= options_.contact_threshold;
  return reading;
}

}  // namespace tribo
