#include "tribo/kinematic_body.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

// Distance along the sinusoid at t, of amplitude one.
double wave(const Motion& m, double t) {
  return m.frequency > 0 ? std::sin(2 * M_PI * m.frequency * t + m.phase) - std::sin(m.phase) : 0;
}

// How much of its way a command has done (kinematic.3). What is left by rounding of t is none.
double done(const KinematicCommand& c, double t) {
  const double s = (t - c.start) / (c.end - c.start);
  return s > 1 - 1e-9 ? 1 : std::max(s, 0.0);
}

const KinematicCommand* find(std::span<const KinematicCommand> commands, int k) {
  const auto found = std::lower_bound(commands.begin(), commands.end(), k,
                                      [](const KinematicCommand& c, int body) { return c.body < body; });
  return found != commands.end() && found->body == k ? &*found : nullptr;
}

bool is_pose(const Placement& X) {
  return X.p.allFinite() && X.R.allFinite() && (X.R.transpose() * X.R).isIdentity(1e-6) && X.R.determinant() > 0;
}

Vec3 turned(const Motion& m, double t) { return t * m.angular_velocity + wave(m, t) * m.swing; }

}  // namespace

Placement KinematicBody::pose(double t) const {
  const Vec3 angle = turned(motion, t);
  Placement X = X_WB;
  X.p += t * motion.velocity + wave(motion, t) * motion.amplitude;  // (kinematic.1)
  if (!angle.isZero(0))
    X.R = X_WB.R * Eigen::AngleAxisd(angle.norm(), angle.normalized()).toRotationMatrix();  // (kinematic.2)
  return X;
}

Twist mean_twist(const KinematicBody& body, double t, double dt) {
  const Motion& m = body.motion;
  const double moved = wave(m, t + dt) - wave(m, t);
  return {m.velocity + moved / dt * m.amplitude, body.X_WB.R * (m.angular_velocity + moved / dt * m.swing)};
}

Placement KinematicCommand::pose(double t) const {
  const double s = done(*this, t);
  if (s == 0) return from;
  if (s == 1) return to;
  const Eigen::AngleAxisd turn(Mat3(from.R.transpose() * to.R));
  return {from.R * Eigen::AngleAxisd(s * turn.angle(), turn.axis()).toRotationMatrix(), from.p + s * (to.p - from.p)};
}

Twist KinematicCommand::mean_twist(double t, double dt) const {
  const double rate = (done(*this, t + dt) - done(*this, t)) / dt;
  if (!(rate > 0)) return {};
  const Eigen::AngleAxisd turn(Mat3(from.R.transpose() * to.R));
  return {rate * (to.p - from.p), from.R * (rate * turn.angle() * turn.axis())};
}

Placement kinematic_pose(const Model& model, int k, const KinematicTime& time) {
  const KinematicCommand* command = find(time.commands, k);
  return command ? command->pose(time.t) : model.kinematic[at(k)].pose(time.t);
}

Twist kinematic_twist(const Model& model, int k, const KinematicTime& time, double dt) {
  const KinematicCommand* command = find(time.commands, k);
  return command ? command->mean_twist(time.t, dt) : mean_twist(model.kinematic[at(k)], time.t, dt);
}

void check_commands(const Model& model, std::span<const KinematicCommand> commands) {
  int last = -1;
  for (const KinematicCommand& c : commands) {
    if (c.body <= last || c.body >= static_cast<int>(model.kinematic.size()))
      throw InvalidInput("the state commands kinematic body " + std::to_string(c.body) + " after " +
                         std::to_string(last) + "; the model has " + std::to_string(model.kinematic.size()) +
                         ", and each is commanded once");
    last = c.body;
    if (!(c.start < c.end) || !std::isfinite(c.start) || !std::isfinite(c.end) || !is_pose(c.from) || !is_pose(c.to))
      throw InvalidInput("the state commands kinematic body '" + model.kinematic[at(c.body)].name +
                         "' to what is no pose, or within no time");
  }
}

int ModelBuilder::add_kinematic_body(KinematicBody body) {
  const std::string owner = "kinematic body '" + body.name + "'";
  const Motion& m = body.motion;
  for (const KinematicBody& known : model_.kinematic)
    if (known.name == body.name) throw InvalidInput("two kinematic bodies are called '" + body.name + "'");
  for (const Vec3& x : {m.velocity, m.angular_velocity, m.amplitude, m.swing, body.X_WB.p})
    if (!x.allFinite()) throw InvalidInput(owner + ": its place or motion is not finite");
  if (!body.X_WB.R.allFinite() || !std::isfinite(m.phase))
    throw InvalidInput(owner + ": its place or motion is not finite");
  if (!(m.frequency >= 0) || !std::isfinite(m.frequency))
    throw InvalidInput(owner + ": frequency = " + shown(m.frequency) + ", must be finite and >= 0 Hz");
  const double both = m.angular_velocity.norm() * m.swing.norm();
  if (m.angular_velocity.cross(m.swing).norm() > 1e-9 * both)
    throw InvalidInput(owner + ": angular_velocity and swing must be along one axis");
  model_.kinematic.push_back(std::move(body));
  return kinematic_body(static_cast<int>(model_.kinematic.size()) - 1);
}

}  // namespace tribo
