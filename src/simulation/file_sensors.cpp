#include "tribo/file_sensors.hpp"

#include <algorithm>
#include <cmath>

#include "collision/ray.hpp"
#include "dynamics/actuator_length.hpp"
#include "dynamics/tendons.hpp"
#include "stepping/rigid/body_rows.hpp"
#include "stepping/rigid/springs.hpp"

namespace tribo {
namespace {

using Kind = FileSensorKind;

// Motion of a frame, in W.
struct Seen {
  Placement X;
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();
};

Seen look_at(const SensorFrame& frame, const SensorInstant& s) {
  Seen seen;
  if (frame.body >= 0) {
    seen.X = s.dynamics.X_WB(frame.body) * frame.X_BF;
    seen.v = s.dynamics.point_velocity(frame.body, seen.X.p);
    seen.w = s.dynamics.body_velocity(frame.body).ang;
  } else if (frame.body == -1) {
    seen.X = frame.X_BF;
  } else {
    seen.X = kinematic_pose(s.model, kinematic_index(frame.body), s.time) * frame.X_BF;
  }
  return seen;
}

Vec3 acceleration(int body, const Vec3& p, const SensorInstant& s) {
  if (body < 0) return Vec3::Zero();
  Vec3 a = s.dynamics.point_bias(body, p);
  const Vec3 r = p - s.dynamics.origin(s.model.bodies[at(body)].tree);
  for (int k : s.model.bodies[at(body)].chain) {
    const Spatial& S = s.dynamics.axis(k);
    a += s.vdot[k] * (S.lin + S.ang.cross(r));  // (fsens.1)
  }
  return a;
}

Vec3 angular_acceleration(int body, const SensorInstant& s) {
  if (body < 0) return Vec3::Zero();
  Vec3 a = s.dynamics.angular_bias(body);
  for (int k : s.model.bodies[at(body)].chain) a += s.vdot[k] * s.dynamics.axis(k).ang;
  return a;
}

bool has(const std::vector<int>& geometries, int g) {
  return std::find(geometries.begin(), geometries.end(), g) != geometries.end();
}

// Pull of a tendon's own spring and damper, and of the motors on it.
double tension(int index, const Member& member, const SensorInstant& s) {
  const Tendon& t = s.model.tendons[at(index)];
  const double d = tendon_deflection(t, tendon_length(s.model, t, s.q, s.dynamics));
  double f = -t.stiffness * d - t.damping * tendon_rate(s.model, t, s.v, s.dynamics);
  for (std::size_t a = 0; a < member.actuators.size(); ++a)
    for (const ActuatorEnd& end : member.actuators[a].ends)
      if (end.tendon == index) f += end.gear[0] * s.force[static_cast<Eigen::Index>(a)];
  return f;
}

// (fsens.2): force and moment about p, in W.
std::pair<Vec3, Vec3> carried(const FileSensor& sensor, const Member& member, const Vec3& p, const SensorInstant& s) {
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  for (const SensorPart& part : sensor.parts) {
    const Placement& X = s.dynamics.X_WB(part.body);
    const Vec3 c = X * part.inertia.com, w = s.dynamics.body_velocity(part.body).ang;
    const Mat3 I = X.R * part.inertia.about_com * X.R.transpose();
    const Vec3 f = part.inertia.mass * (acceleration(part.body, c, s) - s.model.gravity);
    force += f;
    moment += (c - p).cross(f) + I * angular_acceleration(part.body, s) + w.cross(I * w);
  }
  for (const ContactReport& contact : s.contacts)
    for (const double sign : {1.0, -1.0}) {
      if (!has(sensor.geometries, sign > 0 ? contact.geometry_b : contact.geometry_a)) continue;
      const Vec3 f = sign * (contact.R_WC * contact.f);
      force -= f;
      moment -= (contact.p_WC - p).cross(f);
    }
  for (const SensorPull& pull : sensor.pulls) {
    const TendonLine line = line_of(s.model.tendons[at(pull.tendon)].path[at(pull.segment)], s.dynamics);
    const Vec3 f = (pull.at_b ? 1 : -1) * tension(pull.tendon, member, s) * line.along;
    force -= f;
    moment -= ((pull.at_b ? line.p_b : line.p_a) - p).cross(f);
  }
  return {force, moment};
}

// Normal forces of the contacts of its body from which the zone lies ahead, along the normal into the body.
double touch(const FileSensor& sensor, const SensorInstant& s) {
  const Placement X = look_at(sensor.frame, s).X;
  double sum = 0;
  for (const ContactReport& contact : s.contacts)
    for (const double sign : {1.0, -1.0}) {
      if (!has(sensor.geometries, sign > 0 ? contact.geometry_b : contact.geometry_a) || !(contact.f.z() > 0)) continue;
      const Ray ray{X.inverse() * contact.p_WC, X.R.transpose() * (sign * contact.R_WC.col(2))};
      if (std::isfinite(cast(sensor.zone, ray, std::numeric_limits<double>::infinity()).distance)) sum += contact.f.z();
    }
  return sum;
}

// Distance along z to the nearest shape of another body; -1: none.
double range(const FileSensor& sensor, const SensorInstant& s) {
  const Placement X = look_at(sensor.frame, s).X;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < s.model.geometries.size(); ++g) {
    if (has(sensor.geometries, static_cast<int>(g))) continue;
    const Geometry& geometry = s.model.geometries[g];
    const Placement X_WG = look_at({geometry.body, geometry.X_BG}, s).X;
    const Ray ray{X_WG.inverse() * X.p, X_WG.R.transpose() * X.R.col(2)};
    nearest = std::min(nearest, cast(geometry, ray, nearest).distance);
  }
  return std::isfinite(nearest) ? nearest : -1;
}

// Centre, velocity of it, and angular momentum about it of the parts.
void weigh(const FileSensor& sensor, const SensorInstant& s, Vec3& c, Vec3& v, Vec3& L) {
  double mass = 0;
  c = v = L = Vec3::Zero();
  for (const SensorPart& part : sensor.parts) {
    const Vec3 p = s.dynamics.X_WB(part.body) * part.inertia.com;
    mass += part.inertia.mass;
    c += part.inertia.mass * p;
    v += part.inertia.mass * s.dynamics.point_velocity(part.body, p);
  }
  if (!(mass > 0)) return;
  c /= mass;
  v /= mass;
  for (const SensorPart& part : sensor.parts) {
    const Placement& X = s.dynamics.X_WB(part.body);
    const Vec3 p = X * part.inertia.com, w = s.dynamics.body_velocity(part.body).ang;
    L += X.R * part.inertia.about_com * X.R.transpose() * w;
    L += part.inertia.mass * (p - c).cross(s.dynamics.point_velocity(part.body, p) - v);
  }
}

// Is the place of the frame in the zone?
bool inside(const FileSensor& sensor, const SensorInstant& s) {
  const Vec3 p = look_at(sensor.reference, s).X.inverse() * look_at(sensor.frame, s).X.p, &size = sensor.zone.size;
  const double across = std::hypot(p.x(), p.y()), along = std::abs(p.z());
  switch (sensor.zone.kind) {
    case ShapeKind::Box:
      return (p.cwiseAbs().array() <= size.array()).all();
    case ShapeKind::Ellipsoid:
      return p.cwiseQuotient(size).squaredNorm() <= 1;
    case ShapeKind::Cylinder:
      return across <= size.x() && along <= size.z();
    case ShapeKind::Capsule:
      return std::hypot(across, std::max(0.0, along - size.z())) <= size.x();
    default:
      return p.norm() <= size.x();
  }
}

// How far a limit is passed, as a negative number, and how fast that grows; 0 where it is not.
struct Passed {
  double distance = 0, rate = 0;
};

Passed passed(double x, double rate, double lower, double upper) {
  if (x < lower) return {x - lower, rate};
  if (x > upper) return {upper - x, -rate};
  return {};
}

Passed passed(const FileSensor& sensor, const SensorInstant& s) {
  const std::size_t i = at(sensor.index);
  if (sensor.kind == Kind::TendonLimitPosition || sensor.kind == Kind::TendonLimitVelocity) {
    const Tendon& t = s.model.tendons[i];
    return passed(tendon_length(s.model, t, s.q, s.dynamics), tendon_rate(s.model, t, s.v, s.dynamics), t.lower,
                  t.upper);
  }
  const Body& b = s.model.bodies[i];
  if (b.joint == JointKind::Revolute || b.joint == JointKind::Prismatic)
    return passed(s.q[b.iq], s.v[b.iv], s.model.joints.lower[b.iv], s.model.joints.upper[b.iv]);
  if (b.joint != JointKind::Spherical) return {};
  const Swing swing = swing_of(s.model, s.q, s.dynamics, sensor.index);
  if (!(swing.distance < 0)) return {};
  return {swing.distance, Vec3(swing.along.axis).dot(s.dynamics.X_WB(sensor.index).R * s.v.segment<3>(b.iv))};
}

double potential(const FileSensor& sensor, const Member& member, const SensorInstant& s) {
  double sum = 0;
  for (const SensorPart& part : sensor.parts)
    sum -= part.inertia.mass * s.model.gravity.dot(look_at({part.body, {}}, s).X * part.inertia.com);
  VecX d;
  spring_deflection(s.model, s.q, d);
  const VecX k = s.model.joints.stiffness.segment(member.iv, member.nv);
  sum += 0.5 * k.dot(d.segment(member.iv, member.nv).cwiseAbs2());
  for (const Tendon& t : s.model.tendons) {
    if (t.name.rfind(member.name + "/", 0) != 0) continue;
    const double stretch = tendon_deflection(t, tendon_length(s.model, t, s.q, s.dynamics));
    sum += 0.5 * t.stiffness * stretch * stretch;
  }
  return sum;
}

double kinetic(const FileSensor& sensor, const Member& member, const SensorInstant& s) {
  const VecX v = s.v.segment(member.iv, member.nv);
  double sum = 0.5 * s.model.joints.armature.segment(member.iv, member.nv).dot(v.cwiseAbs2());
  for (const SensorPart& part : sensor.parts) {
    const Placement& X = s.dynamics.X_WB(part.body);
    const Vec3 w = X.R.transpose() * s.dynamics.body_velocity(part.body).ang;
    sum += 0.5 * part.inertia.mass * s.dynamics.point_velocity(part.body, X * part.inertia.com).squaredNorm();
    sum += 0.5 * w.dot(part.inertia.about_com * w);
  }
  return sum;
}

// Of a frame: where and how it moves, against its reference where it has one.
Vec3 frame_value(const FileSensor& sensor, const Member& member, const SensorInstant& s) {
  const Seen here = look_at(sensor.frame, s);
  Seen there;
  if (sensor.relative) there = look_at(sensor.reference, s);
  const Mat3 R = there.X.R.transpose();
  switch (sensor.kind) {
    case Kind::FramePosition:
      return R * (here.X.p - there.X.p);
    case Kind::FrameX:
      return R * here.X.R.col(0);
    case Kind::FrameY:
      return R * here.X.R.col(1);
    case Kind::FrameZ:
      return R * here.X.R.col(2);
    case Kind::FrameLinearVelocity:
      return R * (here.v - there.v - there.w.cross(here.X.p - there.X.p));
    case Kind::FrameAngularVelocity:
      return R * (here.w - there.w);
    case Kind::FrameLinearAcceleration:
      return acceleration(sensor.frame.body, here.X.p, s) - s.model.gravity;
    case Kind::FrameAngularAcceleration:
      return angular_acceleration(sensor.frame.body, s);
    case Kind::Velocimeter:
      return here.X.R.transpose() * here.v;
    case Kind::Gyroscope:
      return here.X.R.transpose() * here.w;
    case Kind::Accelerometer:
      return here.X.R.transpose() * (acceleration(sensor.frame.body, here.X.p, s) - s.model.gravity);
    case Kind::Magnetometer:
      return here.X.R.transpose() * sensor.field;
    case Kind::Force:
      return here.X.R.transpose() * carried(sensor, member, here.X.p, s).first;
    case Kind::Torque:
      return here.X.R.transpose() * carried(sensor, member, here.X.p, s).second;
    default:
      return Vec3::Zero();
  }
}

Eigen::Vector4d wxyz(const Quat& q) { return {q.w(), q.x(), q.y(), q.z()}; }

double scalar_value(const FileSensor& sensor, const Member& member, const SensorInstant& s) {
  const std::size_t i = at(std::max(sensor.index, 0));
  switch (sensor.kind) {
    case Kind::JointPosition:
      return s.q[s.model.bodies[i].iq];
    case Kind::JointVelocity:
      return s.v[s.model.bodies[i].iv];
    case Kind::JointTorque:
      return s.torque[s.model.bodies[i].iv];
    case Kind::TendonPosition:
      return tendon_length(s.model, s.model.tendons[i], s.q, s.dynamics);
    case Kind::TendonVelocity:
      return tendon_rate(s.model, s.model.tendons[i], s.v, s.dynamics);
    case Kind::ActuatorPosition:
    case Kind::ActuatorVelocity: {
      const ActuatorLength length = length_of(s.model, member.actuators[i], s.q, s.v, s.time, s.dynamics);
      return sensor.kind == Kind::ActuatorPosition ? length.length : length.speed;
    }
    case Kind::ActuatorForce:
      return s.force[sensor.index];
    case Kind::TendonForce: {
      double sum = 0;
      for (int a : sensor.actuators) sum += s.force[a];
      return sum;
    }
    case Kind::JointLimitPosition:
    case Kind::TendonLimitPosition:
      return passed(sensor, s).distance;
    case Kind::JointLimitVelocity:
    case Kind::TendonLimitVelocity:
      return passed(sensor, s).rate;
    case Kind::PotentialEnergy:
      return potential(sensor, member, s);
    case Kind::KineticEnergy:
      return kinetic(sensor, member, s);
    case Kind::InsideZone:
      return inside(sensor, s) ? 1 : 0;
    case Kind::Touch:
      return touch(sensor, s);
    case Kind::Rangefinder:
      return range(sensor, s);
    default:
      return s.time.t;
  }
}

}  // namespace

void read_sensor(const FileSensor& sensor, const Member& member, const SensorInstant& s, double* out) {
  Eigen::Map<VecX> value(out, sensor.size);
  if (sensor.size == 1) {
    out[0] = scalar_value(sensor, member, s);
  } else if (sensor.kind == Kind::BallOrientation) {
    value = wxyz(Quat(Eigen::Vector4d(s.q.segment<4>(s.model.bodies[at(sensor.index)].iq))).normalized());
  } else if (sensor.kind == Kind::BallVelocity) {
    value = s.v.segment<3>(s.model.bodies[at(sensor.index)].iv);
  } else if (sensor.kind == Kind::FrameOrientation) {
    const Mat3 R = look_at(sensor.frame, s).X.R;
    value = wxyz(Quat(sensor.relative ? Mat3(look_at(sensor.reference, s).X.R.transpose() * R) : R));
  } else if (sensor.kind == Kind::SubtreeCenter || sensor.kind == Kind::SubtreeVelocity ||
             sensor.kind == Kind::SubtreeMomentum) {
    Vec3 c, v, L;
    weigh(sensor, s, c, v, L);
    value = sensor.kind == Kind::SubtreeCenter ? c : sensor.kind == Kind::SubtreeVelocity ? v : L;
  } else {
    value = frame_value(sensor, member, s);
  }
  if (sensor.cutoff > 0)
    for (double& x : value)
      x = sensor.positive ? std::min(x, sensor.cutoff) : std::clamp(x, -sensor.cutoff, sensor.cutoff);
}

FileSensors::FileSensors(const Model& model) : dynamics_(model) {
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    if (!model.members[m].file) continue;
    for (const FileSensor& sensor : model.members[m].file->sensors) sensors_.push_back({static_cast<int>(m), &sensor});
  }
  vdot_.setZero(model.nv);
}

void FileSensors::note(const VecX& q, const VecX& v, double t) {
  q_ = q;
  v_ = v;
  t_ = t;
}

std::vector<FileSensors::Reading> FileSensors::read(const Model& model, const State& state,
                                                    std::span<const ContactReport> contacts, const VecX& forces,
                                                    const VecX& torque) {
  dynamics_.compute(state.q, state.v);
  const double dt = state.t - t_;
  vdot_.setZero();
  if (q_.size() > 0 && dt > 0) {
    vdot_ = (state.v - v_) / dt;
    for (const Body& b : model.bodies) {
      if (b.joint != JointKind::Free) continue;
      const Quat before(Eigen::Vector4d(q_.segment<4>(b.iq + 3))), now(Eigen::Vector4d(state.q.segment<4>(b.iq + 3)));
      const Vec3 last = now.conjugate() * (before * Vec3(v_.segment<3>(b.iv)));
      vdot_.segment<3>(b.iv) = (state.v.segment<3>(b.iv) - last) / dt;
    }
  }
  std::vector<Reading> readings;
  for (const Entry& entry : sensors_) {
    const Member& member = model.members[at(entry.member)];
    Eigen::Index first = 0;
    for (int m = 0; m < entry.member; ++m) first += static_cast<Eigen::Index>(model.members[at(m)].actuators.size());
    const VecX own = forces.segment(first, static_cast<Eigen::Index>(member.actuators.size()));
    const SensorInstant instant{model, dynamics_, state.q, state.v, state.kinematic_time(),
                                vdot_, contacts,  own,     torque};
    Reading& reading = readings.emplace_back();
    reading.name = member.name + "/" + entry.sensor->name;
    reading.value.setZero(entry.sensor->size);
    read_sensor(*entry.sensor, member, instant, reading.value.data());
  }
  return readings;
}

}  // namespace tribo
