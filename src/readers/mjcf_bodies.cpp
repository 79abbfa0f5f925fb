// Bodies, joints, frames and poses of a compiled MJCF file.
//
// A MuJoCo body with joints j = 1 … n becomes n of ours; the last carries the inertia, the others nothing. Ours stand
// at the anchors a_j of the joints, with the axes of MuJoCo's body:
//   X_WB_j = X_WB_{j-1} T(a_j - a_{j-1}) J_j(-ref) J_j(q),   X_WB_0 = X_WP T(pos, quat), a_0 = 0     (mjcf.1)
//   X_WM = X_WB_n T(-a_n)                                                                            (mjcf.2)
// J(-ref) is constant, so that q is MuJoCo's qpos. Bodies without a joint are one with the body that carries them.
#include <cmath>
#include <limits>
#include <set>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

JointKind kind_of(int type) {
  return type == mjJNT_FREE    ? JointKind::Free
         : type == mjJNT_BALL  ? JointKind::Spherical
         : type == mjJNT_SLIDE ? JointKind::Prismatic
                               : JointKind::Revolute;
}

// The joint's own name; otherwise that of its body, numbered where the body has several.
std::string joint_name(const Loading& load, int j, std::set<std::string>& taken) {
  const int b = load.m.jnt_bodyid[j];
  std::string name = load.name(mjOBJ_JOINT, j);
  if (name.empty()) {
    name = load.name(mjOBJ_BODY, b);
    if (name.empty()) name = "body" + std::to_string(b);
    if (load.m.body_jntnum[b] > 1) name.append(".").append(std::to_string(j - load.m.body_jntadr[b]));
  }
  if (!taken.insert(name).second) {
    name.append("#").append(std::to_string(j));
    taken.insert(name);
  }
  return load.prefix() + name;
}

// What rests at the reference: the inverse of the joint's motion at qpos0.
Placement at_reference(const Loading& load, int j) {
  const double ref = load.m.qpos0[load.m.jnt_qposadr[j]];
  const Vec3 axis = vec3(load.m.jnt_axis + 3 * j);
  if (load.m.jnt_type[j] == mjJNT_SLIDE) return {Mat3::Identity(), -ref * axis};
  if (load.m.jnt_type[j] == mjJNT_HINGE && ref != 0)
    return {Eigen::AngleAxisd(-ref, axis).toRotationMatrix(), Vec3::Zero()};
  return {};
}

void set_properties(Loading& load, int j, const Body& body) {
  const mjModel& m = load.m;
  JointProperties& joints = load.builder.joint_properties();
  const int from = m.jnt_dofadr[j], nv = nv_of(body.joint), iq = m.jnt_qposadr[j];
  const bool scalar = nv == 1;
  const Reflected motors = reflected(m, mjOBJ_JOINT, j);
  for (int k = 0; k < nv; ++k) {
    joints.armature[body.iv + k] = m.dof_armature[from + k] + motors.armature;
    if (load.enabled(mjDSBL_DAMPER)) joints.damping[body.iv + k] = m.dof_damping[from + k] + motors.damping;
    if (load.enabled(mjDSBL_FRICTIONLOSS)) joints.friction[body.iv + k] = m.dof_frictionloss[from + k];
    joints.effort_limit[body.iv + k] = 0;
  }
  if (scalar && m.jnt_limited[j] && load.enabled(mjDSBL_LIMIT)) {
    joints.lower[body.iv] = m.jnt_range[2 * j];
    joints.upper[body.iv] = m.jnt_range[2 * j + 1];
  }
  if (m.jnt_type[j] == mjJNT_BALL && m.jnt_limited[j] && load.enabled(mjDSBL_LIMIT))
    joints.upper[body.iv] = std::max(m.jnt_range[2 * j], m.jnt_range[2 * j + 1]);
  if (m.jnt_stiffness[j] == 0 || !load.enabled(mjDSBL_SPRING)) return;
  if (m.jnt_type[j] == mjJNT_FREE) {
    load.unsupported.add("stiffness of a free joint", load.label(mjOBJ_JOINT, j));
    return;
  }
  joints.stiffness.segment(body.iv, nv).setConstant(m.jnt_stiffness[j]);
  if (scalar)
    joints.rest[body.iq] = m.qpos_spring[iq];
  else
    joints.rest.segment<4>(body.iq) << vec3(m.qpos_spring + iq + 1), m.qpos_spring[iq];
}

// Two bodies that move as one.
Inertia sum(const Inertia& a, const Inertia& b) {
  Inertia s;
  s.mass = a.mass + b.mass;
  if (!(s.mass > 0)) return a;
  s.com = (a.mass * a.com + b.mass * b.com) / s.mass;
  s.about_com = a.about_com + b.about_com;
  for (const Inertia* x : {&a, &b}) {
    const Vec3 d = x->com - s.com;
    s.about_com += x->mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
  return s;
}

// The share of a body's weight that its gravcomp carries.
void carry(const mjModel& m, int b, const Placement& X_BM, Body& body) {
  const double more = m.body_gravcomp[b] * m.body_mass[b], all = body.carried + more;
  if (!(more > 0)) return;
  body.carried_at = (body.carried * body.carried_at + more * (X_BM * vec3(m.body_ipos + 3 * b))) / all;
  body.carried = all;
}

// Inertia that moves with the last joint of body b: its own and that of the bodies welded to it.
void weld_inertia(const mjModel& m, int b, const Placement& X_BM, Body& body) {
  std::vector<Placement> X(at(static_cast<int>(m.nbody)));
  X[at(b)] = X_BM;
  body.inertia = inertia_of(m, b, X_BM);
  carry(m, b, X_BM, body);
  for (int i = b + 1; i < m.nbody; ++i) {
    if (m.body_weldid[i] != b) continue;
    X[at(i)] = X[at(m.body_parentid[i])] * placement(m.body_pos + 3 * i, m.body_quat + 4 * i);
    body.inertia = sum(body.inertia, inertia_of(m, i, X[at(i)]));
    carry(m, i, X[at(i)], body);
  }
}

// The boxes that the fluid acts on: those of the inertias of moving bodies.
void add_fluid(Loading& load) {
  const mjModel& m = load.m;
  Medium medium;
  medium.density = m.opt.density;
  medium.viscosity = m.opt.viscosity;
  medium.wind = load.options.base.R * vec3(m.opt.wind);
  if (medium.density == 0 && medium.viscosity == 0) return;
  for (int b = 1; b < m.nbody; ++b) {
    bool own = false;  // geoms with forces of their own take the place of the box
    for (int g = m.body_geomadr[b]; g >= 0 && g < m.body_geomadr[b] + m.body_geomnum[b]; ++g)
      own |= m.geom_fluid[mjNFLUID * g] > 0;
    if (own || load.body[at(b)] < 0 || m.body_mass[b] < mjMINVAL) continue;
    const double* I = m.body_inertia + 3 * b;
    FluidBox box{load.body[at(b)], load.X_BM[at(b)] * placement(m.body_ipos + 3 * b, m.body_iquat + 4 * b), {}};
    for (int k = 0; k < 3; ++k)
      box.size[k] = std::sqrt(std::max(mjMINVAL, I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / m.body_mass[b] * 6);
    medium.boxes.push_back(box);
  }
  if (!medium.boxes.empty()) load.builder.set_medium(medium);
}

// Bodies without a joint: fixed to the world, to a kinematic body, or to what carries them.
void place_static(Loading& load, int b) {
  const mjModel& m = load.m;
  const int parent = m.body_parentid[b];
  const Placement X = placement(m.body_pos + 3 * b, m.body_quat + 4 * b);
  load.body[at(b)] = load.body[at(parent)];
  load.X_BM[at(b)] = load.X_BM[at(parent)] * X;
  if (m.body_mocapid[b] < 0) return;
  KinematicBody body;
  const std::string name = load.name(mjOBJ_BODY, b);
  body.name = load.prefix() + (name.empty() ? "body" + std::to_string(b) : name);
  body.X_WB = load.X_BM[at(b)];
  const auto place = [&](int key) {
    const int i = key * static_cast<int>(m.nmocap) + m.body_mocapid[b];
    return load.options.base * placement(m.key_mpos + 3 * i, m.key_mquat + 4 * i);
  };
  if (load.key >= 0) body.X_WB = place(load.key);
  load.body[at(b)] = load.builder.add_kinematic_body(body);
  for (int k = 0; k < m.nkey; ++k)
    load.extra.mocap[load.key_name(k)].push_back({kinematic_index(load.body[at(b)]), place(k)});
  load.X_BM[at(b)] = {};
}

void add_joints(Loading& load, int b, std::set<std::string>& taken) {
  const mjModel& m = load.m;
  const int parent = m.body_parentid[b], first = m.body_jntadr[b], n = m.body_jntnum[b];
  int last = load.body[at(parent)];
  Placement X = load.X_BM[at(parent)] * placement(m.body_pos + 3 * b, m.body_quat + 4 * b);
  if (last < -1) {  // a tree on a mocap body stands where that one is at the start
    load.unsupported.add("joints on a mocap body: it stays where it is for them", load.label(mjOBJ_BODY, b));
    X = load.builder.model().kinematic[at(kinematic_index(last))].X_WB * X;
    last = -1;
  }
  for (int j = first; j < first + n; ++j) {
    Body body;
    body.name = joint_name(load, j, taken);
    body.parent = last;
    body.joint = kind_of(m.jnt_type[j]);
    const Vec3 anchor = vec3(m.jnt_pos + 3 * j);
    if (nv_of(body.joint) == 1) body.axis = vec3(m.jnt_axis + 3 * j);
    if (body.joint == JointKind::Free)
      body.X_PJ = {};
    else
      body.X_PJ = X * Placement{Mat3::Identity(), anchor} * at_reference(load, j);               // (mjcf.1)
    X = {Mat3::Identity(), body.joint == JointKind::Free ? Vec3(Vec3::Zero()) : Vec3(-anchor)};  // (mjcf.2)
    if (j == first + n - 1) weld_inertia(m, b, X, body);
    last = load.builder.add_body(std::move(body));
    load.joint[at(j)] = last;
    set_properties(load, j, load.builder.model().bodies[at(last)]);
  }
  load.body[at(b)] = last;
  load.X_BM[at(b)] = X;
}

}  // namespace

Inertia inertia_of(const mjModel& m, int b, const Placement& X_BM) {
  const Mat3 R = X_BM.R * rotation(m.body_iquat + 4 * b);
  return {m.body_mass[b], X_BM * vec3(m.body_ipos + 3 * b),
          R * vec3(m.body_inertia + 3 * b).asDiagonal() * R.transpose()};
}

void add_bodies(Loading& load) {
  const mjModel& m = load.m;
  load.body.assign(at(static_cast<int>(m.nbody)), -1);
  load.X_BM.resize(at(static_cast<int>(m.nbody)));
  load.joint.assign(at(static_cast<int>(m.njnt)), -1);
  load.X_BM[0] = load.options.base;
  std::set<std::string> taken;
  for (int b = 1; b < m.nbody; ++b) {
    if (m.body_jntnum[b] == 0)
      place_static(load, b);
    else
      add_joints(load, b, taken);
  }
  add_fluid(load);
}

void add_frames(Loading& load) {
  std::set<std::string> taken;
  for (const Frame& frame : load.builder.model().frames) taken.insert(frame.name);
  auto add = [&](std::string name, int b, const Placement& X_MF) {
    if (name.empty()) return;
    if (taken.count(load.prefix() + name)) name = "site/" + name;
    name = load.prefix() + name;
    if (!taken.insert(name).second) return;
    load.builder.add_frame({name, load.body[at(b)], load.X_BM[at(b)] * X_MF});
  };
  for (int b = 1; b < load.m.nbody; ++b) add(load.name(mjOBJ_BODY, b), b, {});
  for (int s = 0; s < load.m.nsite; ++s)
    add(load.name(mjOBJ_SITE, s), load.m.site_bodyid[s], placement(load.m.site_pos + 3 * s, load.m.site_quat + 4 * s));
}

VecX coordinates(const Loading& load, const double* qpos) {
  const mjModel& m = load.m;
  const Member& member = load.builder.model().members[at(load.member)];
  VecX q(member.nq);
  for (int j = 0; j < m.njnt; ++j) {
    const Body& body = load.builder.model().bodies[at(load.joint[at(j)])];
    const double* x = qpos + m.jnt_qposadr[j];
    const int i = body.iq - member.iq;
    const Placement& base = load.options.base;
    if (body.joint == JointKind::Free) {
      q.segment<3>(i) = base * vec3(x);
      q.segment<4>(i + 3) = (Quat(base.R) * Quat(x[3], x[4], x[5], x[6]).normalized()).coeffs();
    } else if (body.joint == JointKind::Spherical) {
      q.segment<4>(i) = Quat(x[0], x[1], x[2], x[3]).normalized().coeffs();
    } else {
      q[i] = x[0];
    }
  }
  return q;
}

// Of MuJoCo in our axes: the linear velocity of a free joint is in those of the body.
VecX velocities(const Loading& load, const double* qpos, const double* qvel) {
  const mjModel& m = load.m;
  const Member& member = load.builder.model().members[at(load.member)];
  VecX v = VecX::Zero(member.nv);
  for (int j = 0; j < m.njnt; ++j) {
    const Body& body = load.builder.model().bodies[at(load.joint[at(j)])];
    const int i = body.iv - member.iv;
    for (int k = 0; k < nv_of(body.joint); ++k) v[i + k] = qvel[m.jnt_dofadr[j] + k];
    if (body.joint == JointKind::Free)
      v.segment<3>(i) = rotation(qpos + m.jnt_qposadr[j] + 3).transpose() * Vec3(v.segment<3>(i));
  }
  return v;
}

void add_poses(Loading& load) {
  const mjModel& m = load.m;
  Member& member = load.builder.member(load.member);
  member.poses["default"] = member.poses["neutral"] = coordinates(load, m.qpos0);
  for (int k = 0; k < m.nkey; ++k) {
    const std::string name = load.key_name(k);
    member.poses[name] = coordinates(load, m.key_qpos + k * m.nq);
    VecX& control = member.controls[name];
    control.resize(static_cast<Eigen::Index>(load.control.size()));
    for (std::size_t a = 0; a < load.control.size(); ++a)
      control[static_cast<Eigen::Index>(a)] = m.key_ctrl[k * m.nu + load.control[a]];
    const VecX v = velocities(load, m.key_qpos + k * m.nq, m.key_qvel + k * m.nv);
    if (!v.isZero(0)) load.extra.velocities[name] = v;
    VecX activation = VecX::Zero(control.size());
    for (std::size_t a = 0; a < load.activation.size(); ++a)
      if (load.activation[a] >= 0) activation[static_cast<Eigen::Index>(a)] = m.key_act[k * m.na + load.activation[a]];
    if (!activation.isZero(0)) load.extra.activations[name] = activation;
  }
}

}  // namespace tribo::mjcf
