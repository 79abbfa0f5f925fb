// An object is gripped where links press on it from opposite sides:  |sum f_i n_i| < 1/2 sum f_i.        (grip.1)
// Friction carries at most  sum mu_i f_i.                                                              (grip.2)
#include "diagnosis/grip_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"

namespace tribo {
namespace {

constexpr double far = 0.02;      // [m]; fingers creep by less where they do their work
constexpr double rest = 0.01;     // [rad/s] or [m/s]
constexpr double held_for = 0.3;  // [s]
constexpr double slippery = 0.1;  // friction that holds nothing in a hand

}  // namespace

GripWatch::GripWatch(const Scene& scene, const VecX& limits)
    : model_(*scene.model), dt_(scene.dt), limits_(limits), grips_(model_.members.size()) {}

double GripWatch::weight(int object) const {
  const Member& member = model_.members[at(object)];
  double mass = 0;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) mass += model_.bodies[at(b)].inertia.mass;
  return mass * model_.gravity.norm();
}

double GripWatch::radius(int object) const {
  double most = 0;
  for (const Geometry& g : model_.geometries)
    if (g.member == object) most = std::max(most, g.radius);
  return most;
}

void GripWatch::gather(const Simulation& simulation) {
  for (Grip& grip : grips_) {
    grip.pressed = grip.friction = 0;
    grip.sum.setZero();
    grip.speed = std::numeric_limits<double>::infinity();
    grip.bodies.clear();
  }
  for (const ContactReport& c : simulation.contacts()) {
    if (!(c.f.z() > 0) || c.geometry_a < 0 || c.geometry_b < 0) continue;
    const Geometry *a = &model_.geometries[at(c.geometry_a)], *b = &model_.geometries[at(c.geometry_b)];
    if (a->member < 0 || b->member < 0 || a->body < 0 || b->body < 0) continue;
    if (model_.members[at(b->member)].robot) std::swap(a, b);  // now a is the robot's
    if (!model_.members[at(a->member)].robot || model_.members[at(b->member)].robot) continue;
    Grip& grip = grips_[at(b->member)];
    grip.pressed += c.f.z();
    grip.friction += c.mu * c.f.z();
    grip.sum += (b == &model_.geometries[at(c.geometry_b)] ? 1.0 : -1.0) * c.f.z() * c.R_WC.col(2);
    grip.speed = std::min(grip.speed, c.c.head<2>().norm());
    grip.bodies.push_back(a->body);
  }
}

std::string GripWatch::held(const Grip& grip, int object) const {
  std::vector<int> bodies = grip.bodies;
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  std::string names;
  for (int b : bodies) names += (names.empty() ? "'" : ", '") + model_.bodies[at(b)].name + "'";
  return names + " press on '" + model_.members[at(object)].name + "' with " + shown(grip.pressed) + " N";
}

void GripWatch::see_slide(Grip& grip, int object, double t) {
  if (slid_ || !(grip.speed > rest)) return;
  if (grip.way == 0) grip.since = t;
  grip.way += dt_ * grip.speed;
  const bool heavy = grip.friction < weight(object);
  if (grip.way < (heavy ? far : 2 * radius(object))) return;
  slid_ = Finding{Cause::Slip,
                  grip.since,
                  grip.friction,
                  weight(object),
                  "N",
                  held(grip, object) + " and slide along it: friction carries at most " + shown(grip.friction) +
                      " N, it weighs " + shown(weight(object)) + " N",
                  heavy ? "more force of the fingers (effort, gains), more friction, or a lighter object"
                        : "a slower motion, or more force of the fingers"};
}

void GripWatch::see_loss(Grip& grip, int object, const Simulation& simulation, double t) {
  const Member& member = model_.members[at(object)];
  if (lost_ || member.robot || member.nq < 3) return;
  const Vec3 p = simulation.state().q.segment<3>(member.iq);
  if (grip.bodies.size() >= 2) {
    grip.gripped = true;
    grip.mu = grip.friction / grip.pressed;
    grip.p = p;
  }
  if (!grip.gripped || !grip.bodies.empty() || grip.mu >= slippery || (p - grip.p).norm() < radius(object)) return;
  lost_ = Finding{Cause::Slip,
                  t,
                  grip.mu,
                  slippery,
                  "-",
                  "'" + member.name + "' left the links that held it: friction on it was " + shown(grip.mu) +
                      " of what they pressed with",
                  "more friction (mu of its material, or of theirs)"};
}

// The joints that move all of the links that grip.
void GripWatch::see_stall(Grip& grip, int object, const Simulation& simulation, double t) {
  if (stalled_) return;
  int stuck = -1;
  for (int k : model_.bodies[at(grip.bodies.front())].chain) {
    const bool shared = std::all_of(grip.bodies.begin(), grip.bodies.end(), [&](int b) {
      const std::vector<int>& chain = model_.bodies[at(b)].chain;
      return std::find(chain.begin(), chain.end(), k) != chain.end();
    });
    const bool full =
        std::isfinite(limits_[k]) && limits_[k] > 0 && std::abs(simulation.torque()[k]) >= limits_[k] * (1 - 1e-9);
    if (shared && full && std::abs(simulation.state().v[k]) < rest) stuck = k;
  }
  grip.still = stuck >= 0 ? grip.still + dt_ : 0;
  if (grip.still < held_for) return;
  std::string joint;
  for (const Body& b : model_.bodies)
    if (stuck >= b.iv && stuck < b.iv + nv_of(b.joint)) joint = b.name;
  stalled_ = Finding{Cause::Saturation,
                     t - grip.still,
                     limits_[stuck],
                     limits_[stuck],
                     "N m",
                     "the actuator of '" + joint + "' stands still at its limit of " + shown(limits_[stuck]) +
                         ", and " + held(grip, object) + ", which weighs " + shown(weight(object)) + " N",
                     "a motor that is strong enough (the effort limit of the file), or a lighter object"};
}

void GripWatch::observe(const Simulation& simulation, double t) {
  if (slid_ && stalled_ && lost_) return;
  gather(simulation);
  for (std::size_t m = 0; m < grips_.size(); ++m) {
    Grip& grip = grips_[m];
    see_loss(grip, static_cast<int>(m), simulation, t);
    if (grip.bodies.size() < 2 || grip.sum.norm() > 0.5 * grip.pressed) {  // (grip.1)
      grip.still = 0;
      continue;
    }
    see_slide(grip, static_cast<int>(m), t);
    if (simulation.torque().size() == model_.nv) see_stall(grip, static_cast<int>(m), simulation, t);
  }
}

}  // namespace tribo
