#include "dynamics/tendons.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double no_length = 1e-15;  // a piece that is shorter has no direction of its own [m]

}  // namespace

TendonLine line_of(const TendonSegment& s, const Dynamics& dynamics) {
  TendonLine line;
  line.p_a = s.body_a >= 0 ? dynamics.X_WB(s.body_a) * s.point_a : s.point_a;
  line.p_b = s.body_b >= 0 ? dynamics.X_WB(s.body_b) * s.point_b : s.point_b;
  const Vec3 way = line.p_b - line.p_a;
  const double length = way.norm();
  line.length = length / s.divisor;
  line.along = length > no_length ? Vec3(way / (length * s.divisor)) : Vec3(Vec3::UnitX() / s.divisor);
  return line;
}

double tendon_length(const Model& model, const Tendon& tendon, const VecX& q, const Dynamics& dynamics) {
  double length = 0;
  for (const TendonJoint& j : tendon.joints) length += j.coefficient * q[model.bodies[at(j.body)].iq];
  for (const TendonSegment& s : tendon.path) length += line_of(s, dynamics).length;
  return length;
}

double tendon_rate(const Model& model, const Tendon& tendon, const VecX& v, const Dynamics& dynamics) {
  double rate = 0;
  for (const TendonJoint& j : tendon.joints) rate += j.coefficient * v[model.bodies[at(j.body)].iv];
  for (const TendonSegment& s : tendon.path) {
    const TendonLine line = line_of(s, dynamics);
    if (s.body_b >= 0) rate += line.along.dot(dynamics.point_velocity(s.body_b, line.p_b));
    if (s.body_a >= 0) rate -= line.along.dot(dynamics.point_velocity(s.body_a, line.p_a));
  }
  return rate;
}

void add_tendon_force(const Model& model, const Tendon& tendon, double f, const Dynamics& dynamics, VecX& tau) {
  for (const TendonJoint& j : tendon.joints) tau[model.bodies[at(j.body)].iv] += f * j.coefficient;
  for (const TendonSegment& s : tendon.path) {
    const TendonLine line = line_of(s, dynamics);
    if (s.body_b >= 0) dynamics.add_force(s.body_b, line.p_b, f * line.along, tau);
    if (s.body_a >= 0) dynamics.add_force(s.body_a, line.p_a, -f * line.along, tau);
  }
}

double tendon_deflection(const Tendon& tendon, double length) {
  return length - std::clamp(length, tendon.rest_lower, tendon.rest_upper);
}

int body_of(const Tendon& tendon) {
  if (!tendon.joints.empty()) return tendon.joints[0].body;
  for (const TendonSegment& s : tendon.path)
    if (s.body_a != s.body_b) return std::max(s.body_a, s.body_b);
  return -1;
}

bool acts(const Tendon& t) {
  return std::isfinite(t.lower) || std::isfinite(t.upper) || t.stiffness > 0 || t.damping > 0 || t.friction > 0;
}

}  // namespace tribo
