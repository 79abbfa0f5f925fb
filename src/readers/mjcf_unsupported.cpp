// What a compiled MJCF file asks for and Tribo does not do, by name. What only concerns drawing is not asked for.
#include <algorithm>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

// MuJoCo's defaults, as its documentation states them.
constexpr double solref0[mjNREF] = {0.02, 1};
constexpr double solimp0[mjNIMP] = {0.9, 0.95, 0.001, 0.5, 2};

bool any(const double* x, int n) {
  return std::any_of(x, x + n, [](double y) { return y != 0; });
}

bool soft(const double* solref, const double* solimp) {
  return !std::equal(solref0, solref0 + mjNREF, solref) || !std::equal(solimp0, solimp0 + mjNIMP, solimp);
}

void geoms(Loading& load) {
  const mjModel& m = load.m;
  Unsupported& u = load.unsupported;
  for (int g = 0; g < m.ngeom; ++g) {
    const std::string label = load.label(mjOBJ_GEOM, g);
    if (any(m.geom_fluid + mjNFLUID * g, 1)) u.add("fluid forces on a geom", label);
    if (load.geometry[at(g)] < 0) continue;
    if (load.softness == FileSoftness::None && soft(m.geom_solref + mjNREF * g, m.geom_solimp + mjNIMP * g))
      u.add("solref and solimp of a geom: contact is as its material says, unless softness = \"file\" in [robot]",
            label);
    if (m.geom_margin[g] != 0 || m.geom_gap[g] != 0) u.add("margin and gap of a geom", label);
    if (m.geom_adhesion[g] != 0) u.add("adhesion of a geom", label);
    if (any(m.geom_surfacevel + 6 * g, 6)) u.add("surface velocity of a geom", label);
  }
  for (int p = 0; p < m.npair; ++p) {
    const std::string label = load.label(mjOBJ_PAIR, p);
    if (load.softness == FileSoftness::None && soft(m.pair_solref + mjNREF * p, m.pair_solimp + mjNIMP * p))
      u.add("solref and solimp of a pair: contact is as its material says, unless softness = \"file\" in [robot]",
            label);
    if (m.pair_margin[p] != 0 || m.pair_gap[p] != 0) u.add("margin and gap of a pair", label);
    if (m.pair_adhesion[p] != 0) u.add("adhesion of a pair", label);
  }
}

void joints(Loading& load) {
  const mjModel& m = load.m;
  Unsupported& u = load.unsupported;
  for (int j = 0; j < m.njnt; ++j) {
    const std::string label = load.label(mjOBJ_JOINT, j);
    const int dof = m.jnt_dofadr[j], type = m.jnt_type[j];
    const bool limited = m.jnt_limited[j], scalar = type == mjJNT_SLIDE || type == mjJNT_HINGE;
    if (limited && scalar && soft(m.jnt_solref + mjNREF * j, m.jnt_solimp + mjNIMP * j))
      u.add("solreflimit and solimplimit of a joint: limits are rigid", label);
    if (limited && m.jnt_margin[j] != 0) u.add("margin of a joint's limit", label);
    if (m.dof_frictionloss[dof] != 0) {
      if (soft(m.dof_solref + mjNREF * dof, m.dof_solimp + mjNIMP * dof))
        u.add("solreffriction and solimpfriction of a joint: dry friction is rigid", label);
    }
    if (any(m.jnt_stiffnesspoly + mjNPOLY * j, mjNPOLY)) u.add("stiffness that is not linear", label);
    if (any(m.dof_dampingpoly + mjNPOLY * dof, mjNPOLY)) u.add("damping that is not linear", label);
    if (m.jnt_plasticadr[j] >= 0) u.add("plastic spring", label);
  }
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_gravcomp[b] < 0) u.add("gravcomp of a body below 0: gravity acts in full", load.label(mjOBJ_BODY, b));
  }
}

void rows(Loading& load) {
  const mjModel& m = load.m;
  Unsupported& u = load.unsupported;
  for (int e = 0; e < m.neq; ++e)
    if (m.eq_active0[e] && soft(m.eq_solref + mjNREF * e, m.eq_solimp + mjNIMP * e))
      u.add("solref and solimp of an equality: it is rigid", load.label(mjOBJ_EQUALITY, e));
  for (int t = 0; t < m.ntendon; ++t) {
    const std::string label = load.label(mjOBJ_TENDON, t);
    const Reflected motors = reflected(m, mjOBJ_TENDON, t);
    if (load.tendon[at(t)] < 0) {
      const std::string wraps = " of a tendon that wraps around a geom or ends on a mocap body";
      if (m.tendon_limited[t] && load.enabled(mjDSBL_LIMIT)) u.add("range" + wraps, label);
      if (m.tendon_stiffness[t] != 0) u.add("stiffness" + wraps, label);
      if (m.tendon_damping[t] != 0 || motors.damping != 0) u.add("damping" + wraps, label);
      if (m.tendon_frictionloss[t] != 0) u.add("frictionloss" + wraps, label);
      continue;
    }
    if (any(m.tendon_stiffnesspoly + mjNPOLY * t, mjNPOLY)) u.add("stiffness of a tendon that is not linear", label);
    if (any(m.tendon_dampingpoly + mjNPOLY * t, mjNPOLY)) u.add("damping of a tendon that is not linear", label);
    if (m.tendon_limited[t] && soft(m.tendon_solref_lim + mjNREF * t, m.tendon_solimp_lim + mjNIMP * t))
      u.add("solreflimit and solimplimit of a tendon: limits are rigid", label);
    if (m.tendon_frictionloss[t] != 0 && soft(m.tendon_solref_fri + mjNREF * t, m.tendon_solimp_fri + mjNIMP * t))
      u.add("solreffriction and solimpfriction of a tendon: dry friction is rigid", label);
    if (m.tendon_limited[t] && m.tendon_margin[t] != 0) u.add("margin of a tendon's limit", label);
    if (m.tendon_armature[t] != 0 || motors.armature != 0) u.add("armature of a tendon", label);
    if (m.tendon_actfrclimited[t]) u.add("actuatorfrcrange of a tendon", label);
  }
  for (int a = 0; a < m.nactuator; ++a)
    if (any(m.actuator_dampingpoly + mjNPOLY * a, mjNPOLY))
      u.add("damping that is not linear", load.label(mjOBJ_ACTUATOR, a));
  for (int f = 0; f < m.nflex; ++f) u.add("flex: it neither stretches nor touches", load.label(mjOBJ_FLEX, f));
}

}  // namespace

void find_unsupported(Loading& load) {
  const mjOption& option = load.m.opt;
  Unsupported& u = load.unsupported;
  geoms(load);
  joints(load);
  rows(load);
  if (option.integrator == mjINT_RK4 && !load.runge_kutta)
    u.add(
        "option integrator = RK4: of second order in free flight; smooth = \"runge-kutta\" in [stepper] is of order "
        "four",
        "");
  if (option.enableflags & mjENBL_OVERRIDE) u.add("option o_margin, o_solref, o_solimp, o_friction", "");
}

std::vector<std::string> not_needed(const mjModel& m) {
  std::vector<std::string> lines;
  const auto add = [&](bool given, const char* what, const char* why) {
    if (given) lines.push_back(std::string("option ") + what + ": not needed, " + why);
  };
  add(m.opt.impratio != 1, "impratio", "friction is exact");
  add(m.opt.noslip_iterations > 0, "noslip_iterations", "friction is exact");
  add(m.opt.integrator == mjINT_IMPLICIT || m.opt.integrator == mjINT_IMPLICITFAST, "integrator",
      "damping and gains of motors are taken implicitly");
  return lines;
}

}  // namespace tribo::mjcf
