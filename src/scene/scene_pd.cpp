// The keys of a pd controller.
#include "linalg/decompositions.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
// Torques that hold the reference pose of a floating base against gravity. It is carried by the forces of least norm at
// the feet:
//   J_b^T f = h_b,  f of least norm;   tau = h - J^T f                               (ff.1)
VecX gravity_feedforward(const Section& section, const Model& model, const State& start, const Member& member,
                         const VecX& q_ref) {
  VecX q = start.q;
  q.segment(member.iq, member.nq) = q_ref;
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  VecX tau = dynamics.h().segment(member.iv, member.nv);
  const int nf = static_cast<int>(member.feet.size());
  if (nf < 3)
    section.fail("feedforward", "feedforward = \"gravity\" needs at least three contact points at the feet of '" +
                                    member.name + "', it has " + std::to_string(nf));
  MatX JT = MatX::Zero(member.nv, 3 * nf);
  std::vector<double> J;
  for (int f = 0; f < nf; ++f) {
    const Geometry& foot = model.geometries[at(member.feet[at(f)])];
    const std::vector<int>& chain = model.bodies[at(foot.body)].chain;
    J.resize(3 * chain.size());
    dynamics.point_jacobian(foot.body, dynamics.X_WB(foot.body) * foot.X_BG.p, Mat3::Identity(), J.data());
    for (std::size_t a = 0; a < chain.size(); ++a)
      JT.row(chain[a] - member.iv).segment<3>(3 * f) = Eigen::Map<const Vec3>(J.data() + 3 * a).transpose();
  }
  const VecX f = least_norm_solution(JT.topRows(6), tau.head(6));
  tau -= JT * f;
  if (tau.head(6).norm() > 1e-6 * dynamics.h().segment(member.iv, 6).norm())
    section.fail("feedforward", "the feet of '" + member.name + "' cannot carry its weight in this pose");
  tau.head(6).setZero();
  return tau;
}

void read_pd(Section& section, const Scene& scene, ControllerSpec& spec) {
  const Model& model = *scene.model;
  const Member& member = model.members[at(spec.member)];
  auto pd = plain_keys<PdOptions>(section, spec.name);
  pd.member = spec.member;
  pd.q_ref = read_pose(section, model, member, scene.start.q.segment(member.iq, member.nq));
  // The reference has no say on the base: the feed-forward is that of the robot as it stands.
  if (model.bodies[at(member.first_body)].joint == JointKind::Free)
    pd.q_ref.head(7) = scene.start.q.segment(member.iq, 7);
  pd.kp = per_joint(section, "kp", model, member, Bound::NonNegative, 0);
  pd.kd = per_joint(section, "kd", model, member, Bound::NonNegative, 0);
  pd.limits = read_limits(section, model, member);
  pd.reference = read_reference(section, scene, spec.member, pd.q_ref);
  const std::string feedforward = section.choice("feedforward", "none", {"none", "gravity"});
  pd.tau_ff = VecX::Zero(member.nv);
  if (feedforward == "gravity" && floats(model, member))
    pd.tau_ff = gravity_feedforward(section, model, scene.start, member, pd.q_ref);
  else if (feedforward == "gravity")
    pd.weight = scene.model;
  spec.make = [pd](const Model& m) { return make_pd(m, pd); };
  spec.pd = std::move(pd);
}

void read_pid(Section& section, const Scene& scene, ControllerSpec& spec) {
  const Model& model = *scene.model;
  const VecX ki = per_joint(section, "ki", model, model.members[at(spec.member)], Bound::NonNegative, 0);
  read_pd(section, scene, spec);
  spec.pd->ki = ki;
  spec.make = [pd = *spec.pd](const Model& m) { return make_pd(m, pd); };
}

}  // namespace tribo
