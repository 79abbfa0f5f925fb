// Masses, sizes and inertias are compared with the world: nothing that moves is denser than osmium or lighter than air, no
// robot is 50 m long, and the mass of a link lies within its reach.
//   density  m / V, V of the shapes of a body, a tenth of the cube of its reach at least; that cube without shapes (fault.1)
//   gyration sqrt(I / m) against the reach of the body: its joints, its centre of mass, its shapes               (fault.2)
#include "diagnosis/model_faults.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/names.hpp"
#include "diagnosis/axis_faults.hpp"
#include "readers/robots.hpp"
#include "scene/model_checks.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double densest = 25'000, lightest = 0.2;           // [kg/m^3]
constexpr double lightest_robot = 20;                        // the same of all of a robot, as foam
constexpr double longest = 20;                               // from a joint to the next [m]
constexpr double least_gyration = 2e-3, most_gyration = 10;  // of the reach of a body
constexpr double least_median = 0.03, most_median = 4;       // the same of the middle one of all bodies
constexpr double strongest = 30;                             // gravity, more than on any planet [m/s^2]
constexpr double steepest = 0.17;                            // sine of 10 degrees: no wall is a ground
constexpr double outside = 1e-3;                             // of a range [rad] or [m]

double volume(const Geometry& g) {
  const Vec3& s = g.size;
  switch (g.kind) {
    case ShapeKind::Sphere:
      return 4.0 / 3 * M_PI * std::pow(s.x(), 3);
    case ShapeKind::Box:
      return 8 * s.prod();
    case ShapeKind::Capsule:
      return M_PI * s.x() * s.x() * (4.0 / 3 * s.x() + 2 * s.z());
    case ShapeKind::Cylinder:
      return 2 * M_PI * s.x() * s.x() * s.z();
    case ShapeKind::Ellipsoid:
      return 4.0 / 3 * M_PI * s.prod();
    case ShapeKind::Convex:
      return hull_volume(*g.hull);
    case ShapeKind::HalfSpace:
    case ShapeKind::HeightField:
    case ShapeKind::Mesh:
    case ShapeKind::Point:
      break;
  }
  return 0;
}

class Inspector {
 public:
  explicit Inspector(const Scene& scene) : scene_(scene), model_(*scene.model) {
    const std::size_t n = model_.bodies.size();
    reach_.assign(n, 0.0);
    volume_.assign(n, 0.0);
    for (std::size_t b = 0; b < n; ++b) {
      const Body& body = model_.bodies[b];
      reach_[b] = std::max(reach_[b], body.inertia.com.norm());
      if (body.parent >= 0) reach_[at(body.parent)] = std::max(reach_[at(body.parent)], body.X_PJ.p.norm());
    }
    for (const Geometry& g : model_.geometries) {
      if (g.body < 0) continue;
      volume_[at(g.body)] += volume(g);
      reach_[at(g.body)] = std::max(reach_[at(g.body)], g.X_BG.p.norm() + g.radius);
    }
  }

  std::vector<Finding> found() {
    gravity();
    sizes();
    lightness();
    if (const std::optional<Finding> axis = axis_fault(model_, [&](const Member& m) { return known(m); }))
      list_.push_back(*axis);
    inertias();
    ranges();
    loops();
    motors();
    return std::move(list_);
  }

 private:
  void add(Cause cause, double value, double limit, const char* unit, std::string evidence, std::string advice) {
    if (std::none_of(list_.begin(), list_.end(), [&](const Finding& f) { return f.cause == cause; }))
      list_.push_back({cause, 0, value, limit, unit, std::move(evidence), std::move(advice)});
  }
  // Bodies of files: an object that a scene describes has the size and mass that its author chose.
  bool from_file(const Body& body) const {
    const int member = member_of(static_cast<int>(&body - model_.bodies.data()));
    return member >= 0 && model_.members[at(member)].robot;
  }
  int member_of(int body) const {
    for (std::size_t m = 0; m < model_.members.size(); ++m)
      if (body >= model_.members[m].first_body && body < model_.members[m].first_body + model_.members[m].bodies)
        return static_cast<int>(m);
    return -1;
  }

  void gravity() {
    const double size = model_.gravity.norm();
    for (const Geometry& g : model_.geometries) {
      if (g.kind != ShapeKind::HalfSpace || g.body != -1 || size < 1) continue;
      const double away = g.X_BG.R.col(2).dot(model_.gravity) / size;
      if (away > -steepest)
        return add(Cause::Gravity, model_.gravity.z(), 0, "m/s^2",
                   "gravity (" + shown(model_.gravity.x()) + ", " + shown(model_.gravity.y()) + ", " +
                       shown(model_.gravity.z()) + ") m/s^2 pulls " + (away > steepest ? "away from" : "along") +
                       " the ground '" + g.name + "'",
                   "gravity = [0, 0, -9.81]: z is up");
    }
    if (const double g = model_.gravity.norm(); g > strongest)
      add(Cause::Gravity, g, strongest, "m/s^2",
          "gravity is " + shown(g) + " m/s^2, " + shown(std::round(g / 0.981) / 10) + " times that of the Earth",
          "gravity = [0, 0, -9.81], in m/s^2 whatever the unit of the file");
  }

  void sizes() {
    for (const Body& body : model_.bodies)
      if (body.parent >= 0 && body.X_PJ.p.norm() > longest)
        return add(Cause::Mass, body.X_PJ.p.norm(), longest, "m",
                   "the joint of '" + body.name + "' lies " + shown(body.X_PJ.p.norm()) +
                       " m from that of its parent: are lengths given in millimetres?",
                   "lengths in metres (0.001 of a number in millimetres)");
    const Body* worst = nullptr;
    double most = densest;
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
      const Body& body = model_.bodies[b];
      if (!from_file(body) || !(body.inertia.mass > 0.05) || !(reach_[b] > 5e-3)) continue;
      const double density = body.inertia.mass / space(b);
      if (density > most) most = density, worst = &body;
      if (density < lightest && body.inertia.mass > 1e-6 && reach_[b] > 1)
        add(Cause::Mass, density, lightest, "kg/m^3",
            "'" + body.name + "' has " + shown(body.inertia.mass) + " kg and reaches " + shown(reach_[b]) +
                " m: lighter than air. Are its lengths given in millimetres?",
            "lengths in metres, masses in kilograms");
    }
    if (worst != nullptr)
      add(Cause::Mass, most, densest, "kg/m^3",
          "'" + worst->name + "' has " + shown(worst->inertia.mass) + " kg in " +
              shown(1e3 * worst->inertia.mass / most) + " litres, a density of " + shown(most) +
              " kg/m^3; the densest metal has 22600. Is its mass given in grams?",
          "masses in kilograms (0.001 of a number in grams)");
  }

  // Links of masses in tonnes have sizes that each alone could have; all of a robot is no foam.
  void lightness() {
    for (const Member& member : model_.members) {
      double mass = 0, litres = 0;
      for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
        mass += model_.bodies[at(b)].inertia.mass, litres += 1e3 * volume_[at(b)];
      if (!member.robot || !(litres > 1) || mass > 1e-3 * lightest_robot * litres) continue;
      return add(Cause::Mass, 1e3 * mass / litres, lightest_robot, "kg/m^3",
                 "'" + member.name + "' has " + shown(mass) + " kg in " + shown(litres) + " litres, a density of " +
                     shown(1e3 * mass / litres) + " kg/m^3: that of foam. Is its mass given in tonnes, or are its " +
                     "lengths too large?",
                 "lengths in metres, masses in kilograms");
    }
  }

  // (fault.1). A wrist may be all motor: a tenth of the robot's size is a body's due. Where no shape tells how slender it
  // is, it may be a cube.
  double space(std::size_t b) const {
    const double slender = volume_[b] > 0 ? 0.1 : 1;
    return std::max(volume_[b], slender * std::pow(std::max(reach_[b], 0.1 * extent(model_.bodies[b])), 3));
  }
  // From the base of its robot to the farthest joint, along the links [m].
  double extent(const Body& body) const {
    const int b = static_cast<int>(&body - model_.bodies.data());
    double far = 0;
    for (const Member& member : model_.members) {
      if (b < member.first_body || b >= member.first_body + member.bodies) continue;
      std::vector<double> along(at(member.bodies), 0.0);
      for (int k = 0; k < member.bodies; ++k) {
        const Body& link = model_.bodies[at(member.first_body + k)];
        if (link.parent < member.first_body) continue;
        along[at(k)] = along[at(link.parent - member.first_body)] + link.X_PJ.p.norm();
        far = std::max(far, along[at(k)]);
      }
    }
    return far;
  }

  // Known by name: its file is as others wrote it, and it stands with the links and joints that it has.
  static bool known(const Member& member) {
    const std::string& source = member.source;
    return std::any_of(robot_records().begin(), robot_records().end(), [&](const RobotRecord& record) {
      const std::string& urdf = record.entry.urdf;
      return source.size() > urdf.size() && source.compare(source.size() - urdf.size(), urdf.size(), urdf) == 0;
    });
  }
  void inertias() {
    std::vector<double> ratios;
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
      const Body& body = model_.bodies[b];
      const double mass = body.inertia.mass, reach = reach_[b];
      if (!from_file(body) || !(mass > 1e-3) || !(reach > 0.02) ||
          known(model_.members[at(member_of(static_cast<int>(b)))]))
        continue;
      const double I = body.inertia.about_com.diagonal().maxCoeff(), gyration = std::sqrt(std::max(I, 0.0) / mass);
      if (!(I > 0)) continue;  // a point, as its file says and loading warns of
      ratios.push_back(gyration / reach);
      if (gyration < least_gyration * reach || gyration > most_gyration * std::max(reach, 0.1))
        return add(Cause::Inertia, gyration, reach, "m",
                   "the inertia of '" + body.name + "', " + shown(I) + " kg m^2 with " + shown(mass) +
                       " kg, is that of a body of " + shown(gyration) + " m radius; it reaches " + shown(reach) + " m",
                   "its moments of inertia in kg m^2 about its centre of mass, about " +
                       shown(mass * reach * reach / 6) + " kg m^2");
    }
    all_inertias(ratios);
  }
  // A wrong unit is that of a whole file.
  void all_inertias(std::vector<double>& ratios) {
    if (ratios.size() < 3) return;
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    const double middle = ratios[ratios.size() / 2];
    if (middle > least_median && middle < most_median) return;
    add(Cause::Inertia, middle, middle < 1 ? least_median : most_median, "-",
        "the radius of gyration of half of the links is " + std::string(middle < 1 ? "at most " : "at least ") +
            shown(middle) +
            " of their size; that of links is 0.2 to 0.6. Are moments of inertia given in another unit?",
        "moments of inertia in kg m^2 about the centre of mass of each link");
  }

  void ranges() {
    for (const Body& body : model_.bodies) {
      if (body.joint != JointKind::Revolute && body.joint != JointKind::Prismatic) continue;
      const double q = scene_.start.q[body.iq], low = model_.joints.lower[body.iv], high = model_.joints.upper[body.iv];
      if (q >= low - outside && q <= high + outside) continue;
      return add(
          Cause::Range, q, q < low ? low : high, body.joint == JointKind::Revolute ? "rad" : "m",
          "'" + body.name + "' begins at " + shown(q) + ", outside its range from " + shown(low) + " to " + shown(high),
          "a pose within the ranges ('joints' or 'pose' of the scene file)");
    }
  }

  // Recovery would pull it shut, with energy that nothing else in the scene has.
  void loops() {
    for (const OpenLoop& loop : find_open_loops(model_, scene_.start))
      return add(Cause::Loop, loop.gap, OpenLoop::least, loop.unit, loop.text,
                 "a pose in which it is closed ('joints' of the scene file, 'angle' of links), or other points of the "
                 "constraint");
  }

  void motors() {
    for (const ControllerSpec& spec : scene_.controllers) {
      if (!spec.pd) continue;
      const Member& member = model_.members[at(spec.pd->member)];
      int driven = 0, idle = 0;
      std::string first;
      for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
        const Body& body = model_.bodies[at(b)];
        if (nv_of(body.joint) != 1 || !(spec.pd->kp[body.iv - member.iv] > 0)) continue;
        ++driven;
        if (model_.joints.effort_limit[body.iv] > 0) continue;
        ++idle;
        if (first.empty()) first = body.name;
      }
      if (idle > 0 && 2 * idle > driven)
        add(Cause::Effort, idle, 0, "joints",
            "'" + first + "'" + (idle > 1 ? " and " + std::to_string(idle - 1) + " other joints" : "") + " of '" +
                member.name + "' have an effort limit of 0: no motor moves them, whatever the gains",
            "effort limits of the motors in the file (<limit effort=...>)");
    }
  }

  const Scene& scene_;
  const Model& model_;
  std::vector<double> reach_, volume_;
  std::vector<Finding> list_;
};

}  // namespace

std::vector<Finding> model_faults(const Scene& scene) { return Inspector(scene).found(); }

}  // namespace tribo
