#include "control/walk/body_mpc.hpp"

#include <Eigen/LU>

namespace tribo::walk {

BodyMpc::BodyMpc(const Walker& walker, const WalkOptions& options, const GaitPlan& gait)
    : walker_(&walker),
      options_(options),
      gait_(gait),
      node_(gait.period / options.nodes),
      inverse_(walker.inertia.inverse()) {
  program_.resize(options.nodes);
  program_.force_weight = options.weights.force / (walker.mass * walker.mass);
}

void BodyMpc::fill(double t, const Instant& now, const BodyPlan& plan, const std::array<Vec3, 4>& soles,
                   const Vec3& gravity) {
  const double h = node_;
  const WalkWeights& w = options_.weights;
  program_.start << now.com, now.angles, now.v, now.w;
  Vec3 com = now.com, ref = plan.com;
  for (int k = 0; k < options_.nodes; ++k) {
    MpcStage& s = program_.stage[at(k)];
    const double yaw = plan.angles.z() + k * h * plan.turning;
    const Mat3 R = heading(yaw);
    const Vec3 v = R * plan.v;
    s.step = h;
    s.turn = h * R.transpose();
    s.c << h * gravity, Vec3::Zero();
    s.feet = 0;
    const Mat3 spin = h * R * inverse_ * R.transpose();
    for (std::size_t i = 0; i < 4; ++i) {
      const GaitPlan::Leg leg = gait_.leg(walker_->legs[i].diagonal, t + (k + 0.5) * h);
      if (!leg.stands) continue;
      // A foot that stands now and will have stepped by then has moved on with the body.
      const GaitPlan::Leg first = gait_.leg(walker_->legs[i].diagonal, t);
      const bool stepped = first.stands && (k + 0.5) * h > first.rest;
      const Vec3 p = stepped ? Vec3(soles[i] + gait_.period * v) : soles[i];
      s.B.block<3, 3>(0, 3 * s.feet) = h / walker_->mass * Mat3::Identity();
      s.B.block<3, 3>(3, 3 * s.feet) = spin * skew(p - com);  // (walk.4)
      s.bounds[s.feet++] = {options_.mu, 0, options_.most_force * walker_->mass * gravity.norm()};
    }
    com += h * v;
    ref += h * v;
    s.ref << ref, plan.angles.x(), plan.angles.y(), yaw + h * plan.turning, v, 0, 0, plan.turning;
    s.Q << w.position, w.position, w.height, w.tilt, w.tilt, w.heading, w.velocity, w.velocity, w.velocity, w.tilting,
        w.tilting, w.turning;
  }
}

MpcProgram::Report BodyMpc::solve(double t, const Instant& now, const BodyPlan& plan, const std::array<Vec3, 4>& soles,
                                  const Vec3& gravity, std::array<Vec3, 4>& force) {
  fill(t, now, plan, soles, gravity);
  const MpcProgram::Report report = program_.solve(1e-6);
  if (!report.solved) return report;
  int foot = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (gait_.leg(walker_->legs[i].diagonal, t + 0.5 * node_).stands)
      force[i] = program_.forces(0).segment<3>(3 * foot++);
  return report;
}

}  // namespace tribo::walk
