// Actuators of a compiled MJCF file.
#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

// A force and a moment at a site, which may act back on another one.
ActuatorEnd at_site(const Loading& load, int a, const double* gear) {
  const mjModel& m = load.m;
  const auto place = [&](int site) {
    return load.X_BM[at(m.site_bodyid[site])] * placement(m.site_pos + 3 * site, m.site_quat + 4 * site);
  };
  const int site = m.actuator_trnid[2 * a], reference = m.actuator_trnid[2 * a + 1];
  ActuatorEnd end;
  std::copy_n(gear, 6, end.gear.begin());
  end.at_frame = true;
  end.body = load.body[at(m.site_bodyid[site])];
  end.X_BF = place(site);
  end.against = reference >= 0;
  if (end.against) {
    end.other = load.body[at(m.site_bodyid[reference])];
    end.X_OR = place(reference);
  }
  return end;
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
  if (type == mjTRN_TENDON && load.tendon[at(id)] >= 0) {
    ActuatorEnd end;
    end.gear[0] = gear[0];
    end.tendon = load.tendon[at(id)];
    return {end};
  }
  if (type == mjTRN_SITE) {
    const ActuatorEnd end = at_site(load, a, gear);
    if (end.body < 0 && end.other < 0) return {};  // nothing that moves
    return {end};
  }
  load.unsupported.add(type == mjTRN_TENDON        ? "actuator on a tendon that wraps around a geom: it gives no force"
                       : type == mjTRN_SLIDERCRANK ? "actuator on a slider-crank: it gives no force"
                       : type == mjTRN_BODY        ? "adhesion actuator: it gives no force"
                                                   : "actuator on an orientation: it gives no force",
                       load.label(mjOBJ_ACTUATOR, a));
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
  if (m.actuator_delay[a] > 0) load.unsupported.add("delay of an actuator: the control acts at once", label);
  const double *g = m.actuator_gainprm + mjNGAIN * a, *b = m.actuator_biasprm + mjNBIAS * a;
  const int gains = gain == mjGAIN_FIXED ? 1 : 3;
  for (int k = 0; k < 3; ++k) {
    actuator.gain[at(k)] = k < gains ? g[k] : 0;
    actuator.bias[at(k)] = bias == mjBIAS_AFFINE ? b[k] : 0;
  }
  actuator.activation = dynamics == mjDYN_FILTER        ? ActivationKind::Filter
                        : dynamics == mjDYN_FILTEREXACT ? ActivationKind::FilterExact
                        : dynamics == mjDYN_INTEGRATOR  ? ActivationKind::Integrator
                                                        : ActivationKind::None;
  return true;
}

void set_activation(const Loading& load, int a, Actuator& actuator) {
  const mjModel& m = load.m;
  if (actuator.activation == ActivationKind::None) return;
  actuator.time = std::max(mjMINVAL, m.actuator_dynprm[mjNDYN * a]);
  actuator.early = m.actuator_actearly[a];
  if (!m.actuator_actlimited[a]) return;
  actuator.activation_lower = m.actuator_actrange[2 * a];
  actuator.activation_upper = m.actuator_actrange[2 * a + 1];
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

// The range of a joint's force: put on its only actuator, or kept for all that motors give there.
void limit_joint_force(Loading& load, int j, std::vector<Actuator*> pulling, bool shared) {
  const mjModel& m = load.m;
  if (!m.jnt_actfrclimited[j]) return;
  const double lower = m.jnt_actfrcrange[2 * j], upper = m.jnt_actfrcrange[2 * j + 1];
  const bool carries = m.jnt_actgravcomp[j];
  if (pulling.size() != 1 || shared || carries) {
    const Body& body = load.builder.model().bodies[at(load.joint[at(j)])];
    if (!pulling.empty() || shared || carries) load.extra.ranges.push_back({body.iv, lower, upper, carries});
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

bool on_joint(const ActuatorEnd& end) { return !end.at_frame && end.tendon < 0; }

void set_efforts(Loading& load, std::vector<Actuator>& actuators) {
  const mjModel& m = load.m;
  JointProperties& joints = load.builder.joint_properties();
  for (int j = 0; j < m.njnt; ++j) {
    const Body& body = load.builder.model().bodies[at(load.joint[at(j)])];
    std::vector<Actuator*> pulling;
    bool shared = false;
    for (Actuator& a : actuators)
      for (const ActuatorEnd& end : a.ends)
        if (!on_joint(end)) {
          shared = true;  // it may pull on this joint
        } else if (end.body == load.joint[at(j)]) {
          pulling.push_back(&a);
          shared = shared || a.ends.size() > 1;
        }
    const int nv = nv_of(body.joint);
    if (nv == 1) limit_joint_force(load, j, pulling, shared);
    for (const Actuator* a : pulling)
      for (const ActuatorEnd& end : a->ends)
        for (int k = 0; k < nv && end.body == load.joint[at(j)] && on_joint(end); ++k)
          joints.effort_limit[body.iv + k] += nv == 1 ? effort(*a, end.gear[0]) : inf;
    if (nv == 1 && m.jnt_actfrclimited[j] && !m.jnt_actgravcomp[j])
      joints.effort_limit[body.iv] =
          std::min(joints.effort_limit[body.iv],
                   std::max(std::abs(m.jnt_actfrcrange[2 * j]), std::abs(m.jnt_actfrcrange[2 * j + 1])));
  }
}

}  // namespace

Reflected reflected(const mjModel& m, mjtObj type, int id) {
  Reflected sum;
  for (int a = 0; a < m.nactuator; ++a) {
    const int kind = m.actuator_trntype[a];
    const bool on = type == mjOBJ_TENDON ? kind == mjTRN_TENDON : kind == mjTRN_JOINT || kind == mjTRN_JOINTINPARENT;
    if (!on || m.actuator_trnid[2 * a] != id) continue;
    const double gear = m.actuator_gear[6 * m.actuator_outadr[a]];
    sum.armature += gear * gear * m.actuator_armature[a];
    sum.damping += gear * gear * m.actuator_damping[a];
  }
  return sum;
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
    set_activation(load, a, actuator);
    actuators.push_back(std::move(actuator));
    load.activation.push_back(m.actuator_actadr[a]);
    load.actuator.push_back(a);
    load.control.push_back(m.actuator_ctrladr[a]);
  }
  set_efforts(load, actuators);
  load.builder.member(load.member).actuators = std::move(actuators);
}

}  // namespace tribo::mjcf
