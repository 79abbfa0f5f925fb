#include "tribo/kinematic_body.hpp"

#include <cmath>

#include "base/names.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

// Distance along the sinusoid at t, of amplitude one.
double wave(const Motion& m, double t) {
  return m.frequency > 0 ? std::sin(2 * M_PI * m.frequency * t + m.phase) - std::sin(m.phase) : 0;
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
