// Equality constraints and tendons of a compiled MJCF file.
#include <string>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

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

// (l1 - l1 at qpos0) = polynomial(l2 - l2 at qpos0)
void add_tie(Loading& load, int e, const std::string& name) {
  const mjModel& m = load.m;
  const int t1 = m.eq_obj1id[e], t2 = m.eq_obj2id[e];
  if (load.tendon[at(t1)] < 0 || (t2 >= 0 && load.tendon[at(t2)] < 0)) {
    load.unsupported.add("equality of tendons that wrap around a geom", load.label(mjOBJ_EQUALITY, e));
    return;
  }
  TendonTie tie;
  tie.name = name;
  tie.tendon_a = load.tendon[at(t1)];
  tie.tendon_b = t2 >= 0 ? load.tendon[at(t2)] : -1;
  for (int k = 0; k < 5; ++k) tie.polynomial[at(k)] = t2 >= 0 || k == 0 ? m.eq_data[mjNEQDATA * e + k] : 0;
  tie.polynomial[0] += m.tendon_length0[t1];
  tie.center = t2 >= 0 ? m.tendon_length0[t2] : 0;
  load.builder.add_tie(tie);
}

// Of the pieces between sites. False where it wraps around a geom, or a site is on a mocap body.
bool set_path(const Loading& load, int t, Tendon& tendon) {
  const mjModel& m = load.m;
  double divisor = 1;
  int last = -1;  // site that the next piece begins at
  for (int w = m.tendon_adr[t]; w < m.tendon_adr[t] + m.tendon_num[t]; ++w) {
    if (m.wrap_type[w] == mjWRAP_PULLEY) {
      divisor = m.wrap_prm[w];
      last = -1;
      continue;
    }
    if (m.wrap_type[w] != mjWRAP_SITE) return false;
    const int site = m.wrap_objid[w];
    if (load.body[at(m.site_bodyid[site])] < -1) return false;
    if (last >= 0) {
      const Side a = side(load, mjOBJ_SITE, last), b = side(load, mjOBJ_SITE, site);
      tendon.path.push_back({a.body, b.body, a.X.p, b.X.p, divisor});
    }
    last = site;
  }
  return !tendon.path.empty();
}

// What a tendon does by itself; the rest of its keys is told by name.
void set_pull(const Loading& load, int t, Tendon& tendon) {
  const mjModel& m = load.m;
  if (m.tendon_limited[t] && load.enabled(mjDSBL_LIMIT)) {
    tendon.lower = m.tendon_range[2 * t];
    tendon.upper = m.tendon_range[2 * t + 1];
  }
  if (load.enabled(mjDSBL_SPRING)) tendon.stiffness = m.tendon_stiffness[t];
  if (load.enabled(mjDSBL_DAMPER)) tendon.damping = m.tendon_damping[t] + reflected(m, mjOBJ_TENDON, t).damping;
  if (load.enabled(mjDSBL_FRICTIONLOSS)) tendon.friction = m.tendon_frictionloss[t];
  tendon.rest_lower = m.tendon_lengthspring[2 * t];
  tendon.rest_upper = m.tendon_lengthspring[2 * t + 1];
}

}  // namespace

void add_tendons(Loading& load) {
  const mjModel& m = load.m;
  load.tendon.assign(at(static_cast<int>(m.ntendon)), -1);
  for (int t = 0; t < m.ntendon; ++t) {
    Tendon tendon;
    const std::string name = load.name(mjOBJ_TENDON, t);
    tendon.name = load.prefix() + (name.empty() ? "tendon" + std::to_string(t) : name);
    if (m.tendon_type[t] == mjTENDON_FIXED) {
      for (int w = m.tendon_adr[t]; w < m.tendon_adr[t] + m.tendon_num[t]; ++w)
        tendon.joints.push_back({load.joint[at(m.wrap_objid[w])], m.wrap_prm[w]});
    } else if (!set_path(load, t, tendon)) {
      continue;
    }
    set_pull(load, t, tendon);
    load.tendon[at(t)] = load.builder.add_tendon(std::move(tendon));
  }
}

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
      if (m.eq_type[e] == mjEQ_TENDON)
        add_tie(load, e, equality.name);
      else
        load.unsupported.add("equality of a flex", load.label(mjOBJ_EQUALITY, e));
      continue;
    }
    load.builder.add_equality(equality);
  }
}

}  // namespace tribo::mjcf
