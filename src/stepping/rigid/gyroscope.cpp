#include "stepping/rigid/gyroscope.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/group.hpp"

namespace tribo {
namespace {

constexpr int most_steps = 20;

}  // namespace

// Newton's method from x = w with a line search. It converges to rounding in 2 to 4 steps while dt |w| < 1. A solution
// exists at any dt (x . F > 0 far out); where it is not found, x = w: no gyroscopic moment, and no energy from nothing.
Vec3 Gyroscope::mean(const Vec3& w, double time, Vec3 x) const {
  const double h = 0.5 * time;
  const Vec3 Mw = M * w;
  Vec3 F = M * x - Mw + h * x.cross(I * x);
  double size = F.norm();
  const double enough = 1e-16 * Mw.norm();
  for (int step = 0; step < most_steps && size > enough; ++step) {
    const Vec3 Ix = I * x;
    const Mat3 slope = M + h * (skew(x) * I - skew(Ix));
    const Vec3 d = -(slope.inverse() * F);
    double share = 1, next = size;
    Vec3 trial, F_trial;
    for (; share > 1e-3; share *= 0.5) {
      trial = x + share * d;
      F_trial = M * trial - Mw + h * trial.cross(I * trial);  // (gyroscope.1)
      next = F_trial.norm();
      if (next < size) break;
    }
    if (!(next < size)) break;  // rounding, or no way down
    x = trial;
    F = F_trial;
    size = next;
  }
  return size < 1e-12 * Mw.norm() ? x : w;
}

// c of (gyroscope.2) [1/s^2]
double Gyroscope::lead(const Vec3& x) const {
  const Mat3 inverse = I.inverse();
  const Vec3 Ix = I * x, f = -(inverse * x.cross(Ix));
  const double size = f.squaredNorm();
  if (!(size > 0)) return 0;
  const auto slope = [&](const Vec3& d) { return Vec3(-(inverse * (d.cross(Ix) + x.cross(I * d)))); };
  const Vec3 bend = -2 * (inverse * f.cross(I * f));
  return f.dot(slope(slope(f)) / 12 - bend / 24) / size;
}

Gyroscope::Flown Gyroscope::fly(const Vec3& w, double dt) const {
  const Vec3 first = mean(w, dt), L = I * w;
  const double length = L.norm();
  if (!(length > 0)) return {w, dt * w};
  const double ahead = plain ? std::clamp(lead(first) * dt * dt, -0.5, 0.5) : 0,
               time = dt * (1 - ahead);  // (gyroscope.2)
  const Vec3 x = mean(w, time, first), after = 2 * x - w, l = L / length, l_after = I * after / length;
  const Vec3 axis = l_after.cross(l), chord = l_after - l;
  const double along = 1 + l_after.dot(l);
  if (!plain || along < 1e-3) {  // armature, or a step that is far too long: the Cayley map keeps L too
    const Quat cayley(1, 0.5 * time * x.x(), 0.5 * time * x.y(), 0.5 * time * x.z());
    return {after, rotation_logarithm(cayley.normalized())};
  }
  const Vec3 leaves = l.cross(w), arrives = l_after.cross(after);
  const double size = chord.norm(), speeds = leaves.norm(), speed = arrives.norm();
  double area = 0;
  if (size * speeds > 0 && size * speed > 0)
    area = size * (l.dot(leaves.cross(chord)) / speeds + l_after.dot(chord.cross(arrives)) / speed) / 12;
  Quat G(along, axis.x(), axis.y(), axis.z());  // half the angle
  return {after, rotation_logarithm(rotation_exponential((w.dot(L) * dt / length - area) * l) * G.normalized())};
}

bool is_gyroscope(const Model& model, const Tree& tree) {
  const JointKind joint = model.bodies[at(tree.first_body)].joint;
  if (tree.bodies != 1) return false;
  return joint == JointKind::Spherical ||
         (joint == JointKind::Free && model.joints.armature.segment(tree.iv, 6).isZero(0));
}

Gyroscope make_gyroscope(const Model& model, const Tree& tree) {
  const Body& body = model.bodies[at(tree.first_body)];
  const Vec3& c = body.inertia.com;
  Gyroscope g;
  g.I = body.inertia.about_com;
  g.c = c;
  if (body.joint == JointKind::Spherical) {
    g.I += body.inertia.mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
    g.c.setZero();
  }
  g.M = g.I;
  g.plain = model.joints.armature.segment(tree.iv, tree.nv).isZero(0);
  if (body.joint == JointKind::Spherical) g.M += Mat3(model.joints.armature.segment<3>(tree.iv).asDiagonal());
  return g;
}

}  // namespace tribo
