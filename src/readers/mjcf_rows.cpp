// Equality constraints and actuators of a compiled MJCF file.
#include <algorithm>
#include <cmath>
#include <limits>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// One side of a connect or weld: our body, and the frame of the MuJoCo body or site in it.
struct Side {
  int body = -1;
  Placement X;
};

Side side(const Loading& load, int type, int id) {
  const mjModel& m = load.m;
  const int b = type == mjOBJ_SITE ? m.site_bodyid[id] : id;
  Side s{load.body[at(b)], load.X_BM[at(b)]};
  if (type == mjOBJ_SITE) s.X = s.X * placement(m.site_pos + 3 * id, m.site_quat + 4 * id);
  return s;
}

void add_connect(Loading& load, int e, Equality& equality) {
  const mjModel& m = load.m;
  const double* data = m.eq_data + mjNEQDATA * e;
  const Side a = side(load, m.eq_objtype[e], m.eq_obj1id[e]), b = side(load, m.eq_objtype[e], m.eq_obj2id[e]);
  const bool sites = m.eq_objtype[e] == mjOBJ_SITE;
  equality.body_a = a.body;
  equality.body_b = b.body;
  if (m.eq_type[e] == mjEQ_CONNECT) {
    equality.kind = EqualityKind::Connect;
    equality.point_a = a.X * (sites ? Vec3(Vec3::Zero()) : vec3(data));
    equality.point_b = b.X * (sites ? Vec3(Vec3::Zero()) : vec3(data + 3));
    return;
  }
  // data: anchor in 2, then the pose of that anchor's frame in 1.
  equality.kind = EqualityKind::Weld;
  Placement X_12;
  if (!sites) {
    X_12.R = rotation(data + 6);
    X_12.p = vec3(data + 3) - X_12.R * vec3(data);
  }
  equality.X_AB = a.X * X_12 * b.X.inverse();
}

// (q1 - ref1) = polynomial(q2 - ref2)
void add_joint_equality(const Loading& load, int e, Equality& equality) {
  const mjModel& m = load.m;
  const int j1 = m.eq_obj1id[e], j2 = m.eq_obj2id[e];
  equality.kind = EqualityKind::Joint;
  equality.body_a = load.joint[at(j1)];
  equality.body_b = j2 >= 0 ? load.joint[at(j2)] : -1;
  for (int k = 0; k < 5; ++k) equality.polynomial[at(k)] = j2 >= 0 || k == 0 ? m.eq_data[mjNEQDATA * e + k] : 0;
  equality.polynomial[0] += m.qpos0[m.jnt_qposadr[j1]];
  equality.center = j2 >= 0 ? m.qpos0[m.jnt_qposadr[j2]] : 0;
}

// The joints that an actuator pulls on; empty, with a word, where that cannot be had.
std::vector<ActuatorEnd> ends_of(Loading& load, int a) {
  const mjModel& m = load.m;
  const double* gear = m.actuator_gear + 6 * m.actuator_outadr[a];
  const int type = m.actuator_trntype[a], id = m.actuator_trnid[2 * a];
  if (type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT) {
    ActuatorEnd end{load.joint[at(id)], {}, type == mjTRN_JOINTINPARENT};
    std::copy_n(gear, 6, end.gear.begin());
    return {end};
  }
  if (type == mjTRN_TENDON && m.tendon_type[id] == mjTENDON_FIXED) {
    std::vector<ActuatorEnd> ends;
    for (int w = m.tendon_adr[id]; w < m.tendon_adr[id] + m.tendon_num[id]; ++w)
      ends.push_back({load.joint[at(m.wrap_objid[w])], {gear[0] * m.wrap_prm[w]}, false});
    return ends;
  }
  const char* what = type == mjTRN_TENDON        ? "actuator on a spatial tendon"
                     : type == mjTRN_SITE        ? "actuator on a site"
                     : type == mjTRN_SLIDERCRANK ? "actuator on a slider-crank"
                     : type == mjTRN_BODY        ? "adhesion actuator"
                                                 : "actuator on an orientation";
  load.unsupported.add(std::string(what) + ": it gives no force", load.label(mjOBJ_ACTUATOR, a));
  return {};
}

// Gain and bias; false where the actuator is of a kind that gives no force here.
bool set_force(Loading& load, int a, Actuator& actuator) {
  const mjModel& m = load.m;
  const std::string label = load.label(mjOBJ_ACTUATOR, a);
  const int gain = m.actuator_gaintype[a], bias = m.actuator_biastype[a], dynamics = m.actuator_dyntype[a];
  const bool known_force = (gain == mjGAIN_FIXED || gain == mjGAIN_AFFINE) &&
                           (bias == mjBIAS_NONE || bias == mjBIAS_AFFINE) && m.actuator_ctrlnum[a] == 1;
  const bool filter = dynamics == mjDYN_FILTER || dynamics == mjDYN_FILTEREXACT;
  if (!known_force || !(dynamics == mjDYN_NONE || filter || dynamics == mjDYN_INTEGRATOR)) {
    const bool muscle = gain == mjGAIN_MUSCLE || dynamics == mjDYN_MUSCLE;
    load.unsupported.add(std::string(muscle ? "muscle" : "actuator whose force is not affine") + ": it gives no force",
                         label);
    return false;
  }
  if (filter) load.unsupported.add("filter of an actuator: the control acts at once", label);
  if (dynamics == mjDYN_INTEGRATOR) load.unsupported.add("integrator of an actuator: its activation stays zero", label);
  if (m.actuator_delay[a] > 0) load.unsupported.add("delay of an actuator: the control acts at once", label);
  const double *g = m.actuator_gainprm + mjNGAIN * a, *b = m.actuator_biasprm + mjNBIAS * a;
  const int gains = dynamics == mjDYN_INTEGRATOR ? 0 : gain == mjGAIN_FIXED ? 1 : 3;
  for (int k = 0; k < 3; ++k) {
    actuator.gain[at(k)] = k < gains ? g[k] : 0;
    actuator.bias[at(k)] = bias == mjBIAS_AFFINE ? b[k] : 0;
  }
  return true;
}

void set_ranges(const Loading& load, int a, Actuator& actuator) {
  const mjModel& m = load.m;
  const int u = m.actuator_ctrladr[a];
  if (m.actuator_ctrllimited[u] && load.enabled(mjDSBL_CLAMPCTRL)) {
    actuator.control_lower = m.actuator_ctrlrange[2 * u];
    actuator.control_upper = m.actuator_ctrlrange[2 * u + 1];
  }
  if (m.actuator_forcelimited[a]) {
    actuator.force_lower = m.actuator_forcerange[2 * a];
    actuator.force_upper = m.actuator_forcerange[2 * a + 1];
  }
}

// The range of a joint's force that its actuators share, where the joint has one: put on its only actuator.
void limit_joint_force(Loading& load, int j, std::vector<Actuator*> pulling, bool shared) {
  const mjModel& m = load.m;
  if (!m.jnt_actfrclimited[j] || pulling.empty()) return;
  const double lower = m.jnt_actfrcrange[2 * j], upper = m.jnt_actfrcrange[2 * j + 1];
  if (pulling.size() > 1 || shared) {
    if (lower != -upper)
      load.unsupported.add(
          "actuatorfrcrange that is not symmetric, of a joint with several actuators: the larger side "
          "holds for both",
          load.label(mjOBJ_JOINT, j));
    return;
  }
  const double gear = pulling[0]->ends[0].gear[0];
  if (gear == 0) return;
  Actuator& a = *pulling[0];
  a.force_lower = std::max(a.force_lower, std::min(lower / gear, upper / gear));
  a.force_upper = std::min(a.force_upper, std::max(lower / gear, upper / gear));
}

// Largest torque that an actuator can give at a joint, whatever its control.
double effort(const Actuator& a, double gear) {
  double f = std::max(std::abs(a.force_lower), std::abs(a.force_upper));
  const bool motor = a.gain[1] == 0 && a.gain[2] == 0 && a.bias[1] == 0 && a.bias[2] == 0;
  if (motor)
    f = std::min(
        f, std::abs(a.bias[0]) + std::abs(a.gain[0]) * std::max(std::abs(a.control_lower), std::abs(a.control_upper)));
  return f * std::abs(gear);
}

void set_efforts(Loading& load, std::vector<Actuator>& actuators) {
  const mjModel& m = load.m;
  JointProperties& joints = load.builder.joint_properties();
  for (int j = 0; j < m.njnt; ++j) {
    const Body& body = load.builder.model().bodies[at(load.joint[at(j)])];
    std::vector<Actuator*> pulling;
    bool shared = false;
    for (Actuator& a : actuators)
      for (const ActuatorEnd& end : a.ends)
        if (end.body == load.joint[at(j)]) {
          pulling.push_back(&a);
          shared = shared || a.ends.size() > 1;
        }
    const int nv = nv_of(body.joint);
    if (nv == 1) limit_joint_force(load, j, pulling, shared);
    for (const Actuator* a : pulling)
      for (const ActuatorEnd& end : a->ends)
        for (int k = 0; k < nv && end.body == load.joint[at(j)]; ++k)
          joints.effort_limit[body.iv + k] += nv == 1 ? effort(*a, end.gear[0]) : inf;
    if (nv == 1 && m.jnt_actfrclimited[j])
      joints.effort_limit[body.iv] =
          std::min(joints.effort_limit[body.iv],
                   std::max(std::abs(m.jnt_actfrcrange[2 * j]), std::abs(m.jnt_actfrcrange[2 * j + 1])));
  }
}

}  // namespace

void add_equalities(Loading& load) {
  const mjModel& m = load.m;
  if (!load.enabled(mjDSBL_EQUALITY)) return;
  for (int e = 0; e < m.neq; ++e) {
    if (!m.eq_active0[e]) continue;
    Equality equality;
    equality.name = load.prefix() + load.name(mjOBJ_EQUALITY, e);
    if (equality.name.back() == '/') equality.name += "equality" + std::to_string(e);
    if (m.eq_type[e] == mjEQ_CONNECT || m.eq_type[e] == mjEQ_WELD) {
      add_connect(load, e, equality);
      const bool still = equality.body_a < 0 && equality.body_b < 0;
      if (still || equality.body_a == equality.body_b) continue;  // forces move neither against the other
    } else if (m.eq_type[e] == mjEQ_JOINT) {
      add_joint_equality(load, e, equality);
    } else {
      load.unsupported.add(m.eq_type[e] == mjEQ_TENDON ? "equality of tendons" : "equality of a flex",
                           load.label(mjOBJ_EQUALITY, e));
      continue;
    }
    load.builder.add_equality(equality);
  }
}

void add_actuators(Loading& load) {
  const mjModel& m = load.m;
  if (!load.enabled(mjDSBL_ACTUATION)) return;
  std::vector<Actuator> actuators;
  for (int a = 0; a < m.nactuator; ++a) {
    const int group = m.actuator_group[a];
    if (group >= 0 && group < 31 && (m.opt.disableactuator & (1 << group))) continue;
    Actuator actuator;
    actuator.name = load.name(mjOBJ_ACTUATOR, a);
    if (actuator.name.empty()) actuator.name = "actuator" + std::to_string(a);
    if (!set_force(load, a, actuator)) continue;
    actuator.ends = ends_of(load, a);
    if (actuator.ends.empty()) continue;
    set_ranges(load, a, actuator);
    actuators.push_back(std::move(actuator));
    load.control.push_back(m.actuator_ctrladr[a]);
  }
  set_efforts(load, actuators);
  load.builder.member(load.member).actuators = std::move(actuators);
}

}  // namespace tribo::mjcf
