#include "diagnosis/fall_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"
#include "dynamics/clearance.hpp"

namespace tribo {
namespace {

constexpr double most_tilt = M_PI / 3;
constexpr double fast = 1.5;       // a base that begins so fast is thrown [m/s]
constexpr double hard_blow = 1.2;  // of an arm against the ground: as from a fall of 7 cm [m/s]
constexpr double deep = 2;         // below the start [m], where a robot that met nothing falls for ever

Quat rotation(const VecX& q, const Body& base) { return Quat(Eigen::Vector4d(q.segment<4>(base.iq + 3))); }

std::string degrees(double angle) { return shown(std::round(angle * 180 / M_PI)) + " degrees"; }

}  // namespace

FallWatch::FallWatch(const Scene& scene) : model_(*scene.model), controlled_(!scene.controllers.empty()) {
  if (model_.gravity.norm() > 0) up_ = -model_.gravity.normalized();
  for (const Geometry& g : model_.geometries) grounded_ |= g.body < 0;
  for (const Member& member : model_.members) {
    if (!member.robot || member.bodies < 2) continue;
    const Body& base = model_.bodies[at(member.first_body)];
    if (base.joint == JointKind::Revolute || base.joint == JointKind::Continuous)
      arms_.push_back(static_cast<int>(&member - model_.members.data()));
    if (base.joint != JointKind::Free) continue;
    const double speed = scene.start.v.segment<3>(base.iv).norm(), z = up_.dot(scene.start.q.segment<3>(base.iq));
    const int index = static_cast<int>(&member - model_.members.data());
    const double low = lowest_points(model_, scene.start.q, index, up_).moving;
    const double height = std::isfinite(low) ? std::max(z - low, 1e-3) : 0;
    walkers_.push_back({member.first_body, height, z, false, rotation(scene.start.q, base).inverse() * up_, speed});
    see_start(scene, member, walkers_.back());
  }
}

// On its back: the vertical points the other way than in the pose that the file begins with.
void FallWatch::see_start(const Scene& scene, const Member& member, const Walker& walker) {
  const auto pose = member.poses.find("default");
  if (fall_ || pose == member.poses.end() || model_.gravity.norm() == 0) return;
  const Body& base = model_.bodies[at(walker.body)];
  const Vec3 usual = Quat(Eigen::Vector4d(pose->second.segment<4>(3))).inverse() * up_;
  const double tilt = std::acos(std::clamp(usual.dot(walker.up_B), -1.0, 1.0));
  if (tilt < most_tilt) return;
  const bool over = tilt > 2 * M_PI / 3;
  std::optional<Finding>& found = over ? fall_ : lying_;
  found = Finding{Cause::Fall,
                  scene.start.t,
                  tilt,
                  most_tilt,
                  "rad",
                  "the base of '" + base.name + "' begins " + (over ? "upside down" : "on its side") + ", turned by " +
                      degrees(tilt) + " from the pose of its file",
                  "rpy = [0, 0, 0] in [robot], or a quaternion in the order x, y, z, w"};
}

bool FallWatch::driven(const Simulation& simulation) const {
  return controlled_ || !simulation.torque().isZero(0) || simulation.audit().energy.actuators != 0;
}

double FallWatch::level(const Simulation& simulation, int tree) const {
  const auto tree_of = [&](int geometry) {
    const int body = geometry < 0 ? -1 : model_.geometries[at(geometry)].body;
    return body < 0 ? -1 : model_.bodies[at(body)].tree;
  };
  double lowest = std::numeric_limits<double>::infinity();
  for (const ContactReport& c : simulation.contacts())
    if (c.f.z() > 0 && (tree_of(c.geometry_a) == tree || tree_of(c.geometry_b) == tree))
      lowest = std::min(lowest, up_.dot(c.p_WC));
  return lowest;
}

void FallWatch::see(Walker& walker, const Simulation& simulation, double t) {
  const Body& base = model_.bodies[at(walker.body)];
  const VecX& q = simulation.state().q;
  const double ground = level(simulation, base.tree);
  if (!std::isfinite(ground)) return see_flight(walker, simulation, t);
  walker.touched = true;
  const double height = up_.dot(q.segment<3>(base.iq)) - ground;
  if (walker.height == 0) walker.height = std::max(height, 1e-3);
  const double tilt = std::acos(std::clamp(up_.dot(rotation(q, base) * walker.up_B), -1.0, 1.0));
  const bool low = height < 0.5 * walker.height;
  if ((!low || meant_) && tilt < most_tilt) return;
  const bool held = driven(simulation);
  const bool thrown = walker.speed > fast;
  fall_ = Finding{held ? Cause::Fall : Cause::Uncontrolled,
                  t,
                  low ? height : tilt,
                  low ? 0.5 * walker.height : most_tilt,
                  low ? "m" : "rad",
                  "the base of '" + base.name + "' " +
                      (low ? "sank to " + shown(height) + " m over what it touches, from " + shown(walker.height) + " m"
                           : "tilted by " + degrees(tilt)) +
                      (thrown ? "; it begins with a velocity of " + shown(walker.speed) + " m/s" : "") +
                      (held ? "" : ", and nothing drives its joints"),
                  !held    ? "a [controller] in the scene, for instance name = \"pd\", or --controller pd"
                  : thrown ? "a start at rest, or a controller for that speed"
                           : "higher gains, a wider stance, or a controller that balances"};
}

// Through the ground or past it. A flight that nobody controls is what was asked for.
void FallWatch::see_flight(const Walker& walker, const Simulation& simulation, double t) {
  const Body& base = model_.bodies[at(walker.body)];
  const double z = up_.dot(simulation.state().q.segment<3>(base.iq));
  const bool shapes = walker.height > 0;
  if (walker.touched || !driven(simulation) || model_.gravity.norm() == 0 || z > walker.start - walker.height - deep)
    return;
  fall_ = Finding{Cause::Fall,
                  t,
                  walker.start - z,
                  walker.height,
                  "m",
                  "the base of '" + base.name + "' fell by " + shown(walker.start - z) + " m and met nothing: " +
                      (!shapes      ? "the robot has no contact shapes"
                       : !grounded_ ? "there is no ground"
                                    : "its shapes pass the ground, or there is none below it"),
                  !shapes      ? "<collision> shapes in its file, feet at least"
                  : !grounded_ ? "a [ground] in the scene, or base = \"fixed\""
                               : "a position above the ground, and groups that collide with it ('collides_with')"};
}

// An arm that drops on the ground, or is driven into it.
void FallWatch::see_arms(const Simulation& simulation, double t) {
  const double kinetic = fastest_;
  fastest_ = std::max(fastest_, simulation.audit().energy.kinetic);
  for (const ContactReport& c : simulation.contacts()) {
    if (!(c.f.z() > 0) || !(c.c_start.z() < -hard_blow) || c.geometry_a < 0 || c.geometry_b < 0) continue;
    const Geometry *a = &model_.geometries[at(c.geometry_a)], *b = &model_.geometries[at(c.geometry_b)];
    if (a->body >= 0) std::swap(a, b);
    if (a->body != -1 || b->body < 0 || std::find(arms_.begin(), arms_.end(), b->member) == arms_.end()) continue;
    const bool held = driven(simulation);
    const double work = simulation.audit().energy.actuators;
    const bool by_motors = work > 0.3 * kinetic;
    struck_ = Finding{!held       ? Cause::Uncontrolled
                      : by_motors ? Cause::Actuators
                                  : Cause::Fall,
                      t,
                      -c.c_start.z(),
                      hard_blow,
                      "m/s",
                      "'" + b->name + "' strikes '" + a->name + "' with " + shown(-c.c_start.z()) + " m/s" +
                          (!held       ? ", and nothing drives the joints of the robot"
                           : by_motors ? "; until then the motors had put in " + shown(work) + " J"
                                       : ""),
                      held ? "the sign of the torques, gravity fed forward, or higher gains"
                           : "a [controller] in the scene, for instance name = \"pd\", or --controller pd"};
    return;
  }
}

void FallWatch::observe(const Simulation& simulation, double t, bool meant) {
  meant_ = meant;
  if (!struck_ && !arms_.empty()) see_arms(simulation, t);
  for (Walker& walker : walkers_) {
    if (fall_) return;
    see(walker, simulation, t);
  }
}

}  // namespace tribo
