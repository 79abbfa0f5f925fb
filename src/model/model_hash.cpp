// The hash of a model: every number that changes the motion, whether by the step, by a controller or by who meets whom. What
// build() derives from others is left out. The numbers that change between steps (tribo/model_numbers.hpp) are hashed apart from
// the rest, which then need not be read again.
#include "base/hash.hpp"

#include "tribo/model.hpp"

namespace tribo {
namespace {

void add(Hash& hash, const Placement& X) { hash.add(X.p).add(X.R); }

void add(Hash& hash, const Body& b) {
  hash.add(b.name).add(b.parent).add(static_cast<int>(b.joint)).add(b.axis);
  add(hash, b.X_PJ);
  if (b.carried > 0) hash.add(b.carried).add(b.carried_at);
}

void add(Hash& hash, const Geometry& g) {
  hash.add(g.name).add(g.body).add(g.member).add(static_cast<int>(g.kind)).add(g.size).add(g.material);
  add(hash, g.X_BG);
  hash.add(std::uint64_t{g.group}).add(std::uint64_t{g.collides_with});
  if (g.hull) {
    hash.add(g.hull->vertices.size()).add(g.hull->faces.size());
    for (const Vec3& x : g.hull->vertices) hash.add(x);
    for (const std::vector<int>& face : g.hull->faces) {
      hash.add(face.size());
      for (int i : face) hash.add(i);
    }
  }
  if (g.terrain) {
    hash.add(g.terrain->nx).add(g.terrain->ny).add(g.terrain->spacing_x).add(g.terrain->spacing_y);
    for (double z : g.terrain->heights) hash.add(z);
  }
  if (g.mesh) {
    hash.add(g.mesh->vertices.size()).add(g.mesh->triangles.size());
    for (const Vec3& x : g.mesh->vertices) hash.add(x);
    for (const auto& t : g.mesh->triangles)
      for (int i : t) hash.add(i);
  }
}

void add(Hash& hash, const SurfacePair& s) {
  for (double x : {s.restitution, s.restitution_speed, s.compliance, s.relaxation_time, s.stiffness, s.damping,
                   s.stiffness_tangential, s.damping_tangential, s.torsional, s.rolling})
    hash.add(x);
}

void add(Hash& hash, const JointProperties& p) {
  for (const VecX* x : {&p.effort_limit, &p.velocity_limit, &p.lower, &p.upper, &p.stiffness, &p.rest}) hash.add(*x);
}

void add(Hash& hash, const Equality& e) {
  hash.add(static_cast<int>(e.kind)).add(e.body_a).add(e.body_b).add(e.point_a).add(e.point_b).add(e.center);
  add(hash, e.X_AB);
  for (double c : e.polynomial) hash.add(c);
}

void add(Hash& hash, const Tendon& t) {
  hash.add(t.joints.size()).add(t.path.size());
  for (const TendonJoint& j : t.joints) hash.add(j.body).add(j.coefficient);
  for (const TendonSegment& s : t.path) hash.add(s.body_a).add(s.body_b).add(s.point_a).add(s.point_b).add(s.divisor);
  for (double x : {t.lower, t.upper, t.stiffness, t.damping, t.rest_lower, t.rest_upper, t.friction}) hash.add(x);
}

void add(Hash& hash, const TendonTie& tie) {
  hash.add(tie.tendon_a).add(tie.tendon_b).add(tie.center);
  for (double c : tie.polynomial) hash.add(c);
}

void add(Hash& hash, const Medium& m) {
  hash.add(m.density).add(m.viscosity).add(m.wind).add(m.boxes.size());
  for (const FluidBox& box : m.boxes) {
    hash.add(box.body).add(box.size);
    add(hash, box.X_BF);
  }
}

void add(Hash& hash, const KinematicBody& b) {
  const Motion& m = b.motion;
  add(hash, b.X_WB);
  hash.add(m.velocity).add(m.angular_velocity).add(m.amplitude).add(m.swing).add(m.frequency).add(m.phase);
}

void add(Hash& hash, const Actuator& a) {
  hash.add(a.ends.size());
  for (const ActuatorEnd& end : a.ends) {
    hash.add(end.body).add(static_cast<int>(end.in_parent));
    for (double x : end.gear) hash.add(x);
    if (end.at_frame) add(hash, end.X_BF);
    if (end.against) {
      hash.add(end.other);
      add(hash, end.X_OR);
    }
    if (end.tendon >= 0) hash.add(end.tendon);
  }
  for (int k = 0; k < 3; ++k) hash.add(a.gain[at(k)]).add(a.bias[at(k)]);
  hash.add(a.control_lower).add(a.control_upper).add(a.force_lower).add(a.force_upper);
  if (a.activation == ActivationKind::None) return;
  hash.add(static_cast<int>(a.activation)).add(a.time).add(static_cast<int>(a.early));
  hash.add(a.activation_lower).add(a.activation_upper);
}

void add(Hash& hash, const Member& m) {
  hash.add(m.first_body).add(m.bodies).add(static_cast<int>(m.robot)).add(m.feet.size()).add(m.actuators.size());
  for (int foot : m.feet) hash.add(foot);
  for (const Actuator& a : m.actuators) add(hash, a);
}

void add(Hash& hash, const Frame& f) {
  hash.add(f.name).add(f.body);
  add(hash, f.X_BF);
}

void add(Hash& hash, const CollisionPair& pair) { hash.add(pair.geometry_a).add(pair.geometry_b); }

void add(Hash& hash, const std::pair<int, int>& pair) { hash.add(pair.first).add(pair.second); }

void add(Hash& hash, char flag) { hash.add(static_cast<int>(flag)); }

template <class Items>
void add_all(Hash& hash, const Items& items) {
  hash.add(items.size());
  for (const auto& item : items) add(hash, item);
}

}  // namespace

void Model::set_hash() {
  Hash hash;
  add_all(hash, bodies);
  add_all(hash, geometries);
  add_all(hash, frames);
  add_all(hash, members);
  add(hash, joints);
  add_all(hash, equalities);
  add_all(hash, kinematic);
  add_all(hash, pairs);
  add_all(hash, surfaces_);
  add_all(hash, excluded_);
  add_all(hash, apart_);
  add_all(hash, self_collision_);
  if (!tendons.empty()) add_all(hash, tendons);
  if (!ties.empty()) add_all(hash, ties);
  if (!medium.boxes.empty()) add(hash, medium);
  rest_hash_ = hash.add(gravity).value();
  set_numbers_hash();
}

void Model::set_numbers_hash() {
  Hash hash;
  hash.add(rest_hash_);
  for (const Body& b : bodies) {
    hash.word(b.inertia.mass);
    for (double x : b.inertia.com) hash.word(x);
    for (double x : b.inertia.about_com.reshaped()) hash.word(x);
  }
  for (const VecX* x : {&joints.damping, &joints.armature, &joints.friction})
    for (double y : *x) hash.word(y);
  for (const SurfacePair& s : surfaces_) hash.word(s.mu_static).word(s.mu_dynamic);
  hash_ = hash.value();
}

}  // namespace tribo
