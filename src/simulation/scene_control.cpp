// Controllers and pushes of a scene.
#include <Eigen/QR>
#include <algorithm>

#include "dynamics/dynamics.hpp"
#include "model/names.hpp"
#include "simulation/scene_parts.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Torques that hold the reference pose against gravity. A floating base is carried by the forces of least norm at the
// feet:
//   J_b^T f = h_b,  f of least norm;   tau = h - J^T f                               (ff.1)
VecX gravity_feedforward(const Section& section, const Model& model, const State& start, const Member& member,
                         const VecX& q_ref) {
  VecX q = start.q;
  q.segment(member.iq, member.nq) = q_ref;
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  VecX tau = dynamics.h().segment(member.iv, member.nv);
  const Body& base = model.bodies[at(member.first_body)];
  if (base.joint != JointKind::Free) return tau;
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
  const VecX f = JT.topRows(6).completeOrthogonalDecomposition().solve(tau.head(6));
  tau -= JT * f;
  if (tau.head(6).norm() > 1e-6 * dynamics.h().segment(member.iv, 6).norm())
    section.fail("feedforward", "the feet of '" + member.name + "' cannot carry its weight in this pose");
  tau.head(6).setZero();
  return tau;
}

int find_robot_member(Section& section, const Model& model) {
  std::vector<std::string> known;
  int last = -1;
  for (std::size_t m = 0; m < model.members.size(); ++m)
    if (model.members[m].robot) {
      known.push_back(model.members[m].name);
      last = static_cast<int>(m);
    }
  if (known.empty()) section.fail(section.table(), "there is no robot to control");
  if (!section.has("robot")) {
    if (known.size() > 1)
      section.fail(section.table(), "needs 'robot', since there are " + std::to_string(known.size()));
    return last;
  }
  const std::string name = section.text("robot");
  if (std::find(known.begin(), known.end(), name) == known.end())
    section.fail("robot", unknown_name("robot", name, known));
  return model.member(name);
}

// A gain for every joint with one coordinate, or by joint name; 0 elsewhere.
VecX read_gain(Section& section, const std::string& key, const Model& model, const Member& member) {
  VecX gain = VecX::Zero(member.nv);
  const TomlValue* given = section.value(key);
  if (given == nullptr) return gain;
  auto set = [&](const Body& body, double value) { gain[body.iv - member.iv] = value; };
  if (!given->is_number()) {
    by_joint(section, key, model, member, Bound::NonNegative, set);
    return gain;
  }
  const double value = section.number(key, Bound::NonNegative);
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
    if (nv_of(model.bodies[at(b)].joint) == 1) set(model.bodies[at(b)], value);
  return gain;
}

void read_controller(Section& section, Scene& scene) {
  const Model& model = *scene.model;
  ControllerSpec spec;
  spec.name = section.choice("name", "pd", {"pd", "actuators"});
  spec.pd.member = find_robot_member(section, model);
  if (spec.name == "actuators") {
    spec.actuators = read_actuators(section, model, spec.pd.member);
    section.finish();
    section.at("", [&] { make_actuators(model, spec.actuators); });
    scene.controllers.push_back(std::move(spec));
    return;
  }
  const Member& member = model.members[at(spec.pd.member)];
  spec.pd.q_ref = read_pose(section, model, member, scene.start.q.segment(member.iq, member.nq));
  // The reference has no say on the base: the feed-forward is that of the robot as it stands.
  if (model.bodies[at(member.first_body)].joint == JointKind::Free)
    spec.pd.q_ref.head(7) = scene.start.q.segment(member.iq, 7);
  spec.pd.kp = read_gain(section, "kp", model, member);
  spec.pd.kd = read_gain(section, "kd", model, member);
  spec.pd.implicit = section.flag("implicit", true);
  const std::string feedforward = section.choice("feedforward", "none", {"none", "gravity"});
  section.finish();
  spec.pd.tau_ff = VecX::Zero(member.nv);
  if (feedforward == "gravity")
    spec.pd.tau_ff = gravity_feedforward(section, model, scene.start, member, spec.pd.q_ref);
  section.at("", [&] { make_pd(model, spec.pd); });
  scene.controllers.push_back(std::move(spec));
}

void read_push(Section& section, Scene& scene) {
  const Model& model = *scene.model;
  const std::string name = section.text("body");
  Push push;
  Placement X_BP;
  std::vector<std::string> known;
  push.body = -2;
  for (const Frame& frame : model.frames) {
    if (frame.name == name) push.body = frame.body, X_BP = frame.X_BF;
    known.push_back(frame.name);
  }
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    known.push_back(model.bodies[b].name);
    if (model.bodies[b].name == name)
      push.body = static_cast<int>(b), X_BP = {Mat3::Identity(), model.bodies[b].inertia.com};
  }
  for (const Member& member : model.members) {
    known.push_back(member.name);
    if (member.name != name) continue;
    push.body = member.first_body;
    X_BP = {Mat3::Identity(), model.bodies[at(push.body)].inertia.com};
  }
  if (push.body == -2) section.fail("body", unknown_name("robot, object, body or frame", name, known));
  if (push.body < 0) section.fail("body", "'" + name + "' is fixed to the world: a push does nothing");
  push.point = X_BP * section.vec3("point", Vec3::Zero());
  if (!section.has("force") && !section.has("torque"))
    section.fail(section.table(), "needs 'force' [N] or 'torque' [N m], three numbers");
  push.force = section.vec3("force", Vec3::Zero());
  push.force_end = section.vec3("force_end", push.force);
  push.torque = section.vec3("torque", Vec3::Zero());
  push.torque_end = section.vec3("torque_end", push.torque);
  push.start = section.number("start", 0, Bound::NonNegative);
  push.duration = section.number("duration", Bound::Positive);
  section.finish();
  scene.pushes.push_back(push);
}

}  // namespace

void read_controllers(Section& root, Scene& scene) {
  for (Section section : root.tables("controller")) read_controller(section, scene);
}

void read_pushes(Section& root, Scene& scene) {
  for (Section section : root.tables("push")) read_push(section, scene);
}

}  // namespace tribo
