#include "control/walk/walker.hpp"

#include <cmath>

namespace tribo::walk {

Mat3 heading(double yaw) { return Eigen::AngleAxisd(yaw, Vec3::UnitZ()).toRotationMatrix(); }

double nearest_turn(double x, double near) { return x + 2 * M_PI * std::round((near - x) / (2 * M_PI)); }

Walker::Walker(const Model& model, const WalkOptions& options) : member(options.member) {
  const Member& m = model.members[at(member)];
  Dynamics dynamics(model);
  dynamics.compute(options.q_stand, VecX::Zero(model.nv));
  const std::vector<Leg> found = find_legs(model, m, dynamics, options.q_stand, "walk");
  base = m.first_body;
  tree = model.bodies[at(base)].tree;
  mass = model.trees[at(tree)].mass;
  const Mat3& R = dynamics.X_WB(base).R;
  const Mat3 back = heading(std::atan2(R(1, 0), R(0, 0))).transpose();
  Vec3 middle = Vec3::Zero();
  for (int i = 0; i < 4; ++i) {
    const Geometry& foot = model.geometries[at(m.feet[at(i)])];
    legs[at(i)] = found[at(i)];
    radius[at(i)] = foot.kind == ShapeKind::Sphere ? foot.size.x() : 0;
    home[at(i)] = found[at(i)].home - radius[at(i)] * Vec3::UnitZ();
    middle += 0.25 * home[at(i)];
  }
  for (Vec3& p : home) p = back * (p - middle);
  height = dynamics.center_of_mass(tree).z() - middle.z();
  RigidInertia all;
  for (int b = m.first_body; b < m.first_body + m.bodies; ++b) {
    const RigidInertia& one = dynamics.body_inertia(b);
    all.m += one.m, all.mc += one.mc, all.I += one.I;
  }
  const Vec3 c = all.mc / all.m;
  inertia = back * (all.I + all.m * skew(c) * skew(c)) * back.transpose();
}

Instant look(const Walker& walker, const Dynamics& dynamics, double near) {
  Instant now;
  const Mat3& R = dynamics.X_WB(walker.base).R;
  now.com = dynamics.center_of_mass(walker.tree);
  now.v = dynamics.linear_momentum(walker.tree) / walker.mass;
  now.angles = {std::atan2(R(2, 1), R(2, 2)), std::asin(std::clamp(-R(2, 0), -1.0, 1.0)),
                nearest_turn(std::atan2(R(1, 0), R(0, 0)), near)};
  now.w = dynamics.body_velocity(walker.base).ang;
  for (std::size_t i = 0; i < 4; ++i) now.foot[i] = dynamics.X_WB(walker.legs[i].body) * walker.legs[i].point;
  return now;
}

}  // namespace tribo::walk
