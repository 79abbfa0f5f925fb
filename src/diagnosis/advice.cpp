#include "diagnosis/advice.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "dynamics/clearance.hpp"
#include "dynamics/derivatives.hpp"
#include "linalg/decompositions.hpp"
#include "scene/model_checks.hpp"
#include "stepping/workspace.hpp"
#include "tribo/compliant.hpp"
#include "tribo/momentum.hpp"

namespace tribo {
namespace {

// The shortest time scale found, and whose it is.
struct Scale {
  double dt = std::numeric_limits<double>::infinity();  // largest stable step [s]
  std::string whose;

  void offer(double step, const std::string& owner) {
    if (!(step < dt)) return;
    dt = step;
    whose = owner;
  }
};

// Largest step of an oscillator under semi-implicit Euler: omega dt < 2, and d/m dt < 2.           (advice.1)
double stable_step(double k, double d, double m) {
  const double spring = k > 0 ? 2 / std::sqrt(k / m) : std::numeric_limits<double>::infinity();
  const double damper = d > 0 ? 2 * m / d : std::numeric_limits<double>::infinity();
  return std::min(spring, damper);
}

// Does q move along the mean velocity of the step, so that a held torque -k x is no symplectic step of its spring?
bool moves_along_mean(const StepperEntry& stepper) {
  return stepper.memory == MemoryFamily::Momentum ||
         (stepper.memory == MemoryFamily::Compliant && stepper.name != "implicit-euler");
}

// Then q' = q + h v + h^2 a / 2 with a = -(k q + d v)/m multiplies areas by 1 - h d/m + h^2 k/(2 m): an oscillation grows
// where h k > 2 d, whatever h is. By no more than e in a second where                                        (advice.4)
double held_step(double k, double d, double m) {
  constexpr double growth = 1;  // [1/s]
  return k > 0 ? 2 * (d + 2 * growth * m) / k : std::numeric_limits<double>::infinity();
}

// Gains that act explicitly, by the change of the torque with q and v, whatever controller gives it.
Scale control_scale(const Scene& scene, const VecX& inertia, const StepperEntry& stepper) {
  const Model& model = *scene.model;
  Scale scale;
  if (scene.controllers.empty()) return scale;
  auto torque = [&](const State& state) {
    Dynamics here(model);
    here.compute(state.q, state.v);
    Actuation a;
    a.resize(model.nv);
    for (const ControllerSpec& spec : scene.controllers) {
      const auto controller = spec.make(model);
      std::vector<double> memory(at(controller->memory()), 0.0);
      controller->control(model, state, here, memory, a);
    }
    return a;
  };
  constexpr double eps = 1e-6;
  const Actuation base = torque(scene.start);
  if (model.nv > 200) return scale;  // one evaluation for each coordinate
  for (const Body& body : model.bodies) {
    if (nv_of(body.joint) != 1 || body.joint == JointKind::Continuous) continue;
    State moved = scene.start;
    moved.q[body.iq] += eps;
    const int k = body.iv;
    double stiffness = (base.tau[k] - torque(moved).tau[k]) / eps;
    moved = scene.start;
    moved.v[k] += eps;
    double damping = (base.tau[k] - torque(moved).tau[k]) / eps;
    if (!stepper.implicit_gains) {
      stiffness += base.kp[k];
      damping += base.kd[k];
    }
    if (stiffness < 1e-3) stiffness = 0;
    if (damping < 1e-6) damping = 0;
    const std::string whose = "the gains at joint '" + body.name + "'";
    scale.offer(stable_step(stiffness, damping, inertia[k]), whose);
    if (moves_along_mean(stepper))
      scale.offer(held_step(stiffness, damping + model.joints.damping[k], inertia[k]), whose);
  }
  return scale;
}

// How steeply friction sets in with speed under the stepper 'microscopic' [s/m]; 0 under others.
double ramp_of(const Scene& scene) {
  if (scene.stepper != "microscopic") return 0;
  const double ramp = scene.stepper_options.own.taken<MicroscopicOptions>("stepper 'microscopic'").ramp;
  return std::isnan(ramp) ? 100 : std::isinf(ramp) ? 0 : ramp;
}

// Dry friction of joints where it is taken explicitly: the spring of (joint.2), the slope of (microscopic.1).
Scale friction_scale(const Scene& scene, const VecX& inertia) {
  const Model& model = *scene.model;
  const Options& own = scene.stepper_options.own;
  Scale scale;
  for (const Body& body : model.bodies)
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      const double F = model.joints.friction[k];
      if (!(F > 0)) continue;
      double K = 0, B = 0;
      if (scene.stepper == "runge-kutta") {
        K = F / own.taken<CompliantOptions>("stepper 'runge-kutta'").friction_deflection;
        B = 2 * std::sqrt(K * inertia[k]);
      } else if (scene.stepper == "microscopic") {
        B = F * ramp_of(scene);
      }
      scale.offer(0.5 * stable_step(K, B, inertia[k]), "the dry friction of joint '" + body.name + "'");
    }
  return scale;
}

// What the middle of a geometry answers to a force there: its acceleration, J M^-1 J^T [1/kg].
Mat3 mobility(const Model& model, const Dynamics& dynamics, const Geometry& g) {
  const Body& body = model.bodies[at(g.body)];
  std::vector<double> J(3 * body.chain.size());
  dynamics.point_jacobian(g.body, dynamics.X_WB(g.body) * g.X_BG.p, Mat3::Identity(), J.data());
  Mat3 G = Mat3::Zero();
  for (int r = 0; r < 3; ++r) {
    VecX x = VecX::Zero(model.nv);
    for (std::size_t a = 0; a < body.chain.size(); ++a) x[body.chain[a]] = J[3 * a + at(r)];
    dynamics.solve_in_place(body.tree, x.data());
    for (std::size_t a = 0; a < body.chain.size(); ++a)
      for (int c = 0; c < 3; ++c) G(c, r) += J[3 * a + at(c)] * x[body.chain[a]];
  }
  return G;
}

// Stiff contact under a stepper that takes its force explicitly: the lightest that a contact may feel at a geometry. Half
// of what is stable: a landing is resolved then, and adds no energy.
// Friction that grows with speed (ramp, [s/m]) damps as well: that of a quarter of the weight.
Scale contact_scale(const Model& model, const Dynamics& dynamics, double ramp) {
  Scale scale;
  double K = 0, B = 0, mu = 0;
  for (int s = 0; s < model.surfaces(); ++s) {
    K = std::max(K, model.surface(s).stiffness);
    B = std::max(B, model.surface(s).damping);
    mu = std::max(mu, model.surface(s).mu_dynamic);
  }
  for (const Geometry& g : model.geometries) {
    if (g.body < 0) continue;
    const Body& body = model.bodies[at(g.body)];
    const double lightest = 1 / principal_axes(mobility(model, dynamics, g)).values[2];
    const double rubs = 0.25 * mu * model.trees[at(body.tree)].mass * model.gravity.norm() * ramp;
    scale.offer(0.5 * stable_step(K, std::max(B, rubs), lightest), "the stiffness of contact at '" + g.name + "'");
  }
  return scale;
}

double thickness(const Geometry& g) {
  switch (g.kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Capsule:
      return 2 * g.size.x();
    case ShapeKind::Cylinder:
      return 2 * std::min(g.size.x(), g.size.z());
    case ShapeKind::Box:
    case ShapeKind::Ellipsoid:
      return 2 * g.size.minCoeff();
    case ShapeKind::Convex:
      return g.radius;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

// How far a geometry is above the ground [m].
double height_of(const Model& model, const Dynamics& dynamics, const Geometry& g) {
  const Vec3 up = -model.gravity.normalized();
  double fall = 0;
  for (const Geometry& ground : model.geometries)
    if (ground.body == -1 && (ground.kind == ShapeKind::HalfSpace || ground.kind == ShapeKind::HeightField))
      fall = std::max(fall, lowest_point(g, dynamics.X_WB(g.body) * g.X_BG, up) - up.dot(ground.X_BG.p));
  return fall;
}

// Is the pose of a tree held by a controller?
bool is_held(const Scene& scene, const Tree& tree) {
  return std::any_of(scene.controllers.begin(), scene.controllers.end(), [&](const ControllerSpec& spec) {
    const Member& member = scene.model->members[at(spec.member)];
    return tree.first_body >= member.first_body && tree.first_body < member.first_body + member.bodies;
  });
}

struct Landing {
  double speed = 0;      ///< [m/s]
  double clearance = 0;  ///< above the ground when it is over [m]
};

// How a geometry lands, falling from where it is where its tree is free to. What is held in its pose falls as a whole,
// until the lowest of it lands: the rest stays above.
Landing landing(const Scene& scene, const Dynamics& dynamics, const Geometry& g) {
  const Model& model = *scene.model;
  const double speed = dynamics.point_velocity(g.body, dynamics.X_WB(g.body) * g.X_BG.p).norm();
  const double weight = model.gravity.norm();
  const Tree& tree = model.trees[at(model.bodies[at(g.body)].tree)];
  if (!(weight > 0) || model.bodies[at(tree.first_body)].joint != JointKind::Free) return {speed, 0};
  const double height = height_of(model, dynamics, g);
  double fall = height;
  if (is_held(scene, tree))
    for (const Geometry& other : model.geometries)
      if (other.body >= 0 && model.bodies[at(other.body)].tree == model.bodies[at(g.body)].tree)
        fall = std::min(fall, height_of(model, dynamics, other));
  return {std::sqrt(speed * speed + 2 * weight * fall), height - fall};
}

// How deep a mass that lands at a speed goes into a spring under its weight, and what a damper leaves of it.  (advice.3)
double landing_depth(double m, double v, double weight, double K, double B) {
  const double sag = m * weight / K, damping = B / (2 * std::sqrt(K * m));
  const double rest = damping < 1 ? std::exp(-damping / std::sqrt(1 - damping * damping) * std::acos(damping))
                                  : std::min(std::exp(-1.0), 0.5 / damping);
  return sag + std::sqrt(sag * sag + v * v * m / K) * rest;
}

// Contacts whose force grows with the overlap, where a landing goes deeper than a quarter of what lands: which way is out
// changes with the overlap then, and the force does work that it does not give back. The momentum family has no
// stiffness: it feels a contact once it overlaps, by the way of a step.
std::vector<std::string> depth_advice(const Scene& scene, const Dynamics& dynamics) {
  constexpr double most = 0.25;
  const Model& model = *scene.model;
  const MemoryFamily family = stepper_entry(scene.stepper).memory;
  if (family != MemoryFamily::Compliant && family != MemoryFamily::Momentum) return {};
  const bool springs = family == MemoryFamily::Compliant || scene.stepper == "microscopic";
  const double weight = model.gravity.norm();
  double worst = most, depth = 0;
  std::string whose;
  for (const Geometry& g : model.geometries) {
    if (g.body < 0) continue;
    const auto [v, clearance] = landing(scene, dynamics, g);
    const double size = thickness(g);
    double K = std::numeric_limits<double>::infinity(), B = 0;
    for (int s = 0; s < model.surfaces(); ++s)
      if (model.surface(s).stiffness < K) {
        K = model.surface(s).stiffness;
        B = model.surface(s).damping;
      }
    const Vec3 up = weight > 0 ? Vec3(-model.gravity / weight) : Vec3::UnitZ();
    const double m =
        std::min(1 / up.dot(mobility(model, dynamics, g) * up), model.trees[at(model.bodies[at(g.body)].tree)].mass);
    const double deep = springs ? landing_depth(m, v, weight, K, B) : v * scene.dt;
    if (!(deep > worst * size) || clearance > deep) continue;
    worst = deep / size;
    depth = deep;
    whose = g.name;
  }
  if (whose.empty()) return {};
  return {"'" + whose + "' can overlap by " + shown(depth) + " m when it lands, " + shown(100 * worst) +
          " % of its size: which way is out is not known there, and contacts can put energy in; take a " +
          (springs ? "stiffer material" : "smaller dt")};
}

// A light body under a heavy one: forces of the momentum family are held over a step, at points that move with the bodies.
// Tilted by theta, a body of height h and inertia I under a load W feels W h theta, and falls over at the rate sqrt(W h / I)
// until the next step asks it to rest.                                                                       (advice.5)
Scale load_scale(const Model& model, const Dynamics& dynamics) {
  constexpr double heavy = 10;  // times as heavy
  Scale scale;
  const double weight = model.gravity.norm();
  if (!(weight > 0)) return scale;
  const Vec3 up = -model.gravity / weight;
  for (const Geometry& g : model.geometries) {
    if (g.body < 0 || !std::isfinite(thickness(g))) continue;
    const Tree& tree = model.trees[at(model.bodies[at(g.body)].tree)];
    if (tree.bodies > 1 || !tree.single) continue;
    const Vec3 low = dynamics.X_WB(g.body).p;
    for (const Tree& other : model.trees) {
      if (!(other.mass > heavy * tree.mass) || model.bodies[at(other.first_body)].joint != JointKind::Free) continue;
      const Vec3 way = dynamics.X_WB(other.first_body).p - low;
      const double above = up.dot(way), aside = (way - above * up).norm();
      if (!(above > 0) || aside > thickness(g)) continue;
      const double inertia = model.bodies[at(g.body)].inertia.about_com.diagonal().minCoeff();
      scale.offer(1 / std::sqrt(other.mass * weight * thickness(g) / inertia),
                  "'" + tree.name + "', which tips over under the weight of '" + other.name + "' within a step");
    }
  }
  return scale;
}

Scale speed_scale(const Model& model, const Dynamics& dynamics) {
  Scale scale;
  for (const Geometry& g : model.geometries) {
    if (g.body < 0) continue;
    const double speed = dynamics.point_velocity(g.body, dynamics.X_WB(g.body) * g.X_BG.p).norm();
    if (speed > 0) scale.offer(thickness(g) / speed, "the speed of '" + g.name + "', which moves by its own size");
  }
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const double w = dynamics.body_velocity(b).ang.norm();
    if (w > 0) scale.offer(0.5 / w, "the spin of '" + model.bodies[at(b)].name + "', which turns by half a radian");
  }
  return scale;
}

// How fast a mechanism that nothing drives changes its motion: the largest rate of its motion about the one that it
// begins with, x'' = -M^-1 (dtau/dq x + dtau/dv x') at the accelerations of free motion, by (dyn.7) and (dyn.8). What
// falls from rest and swings at a rate reaches twice that speed: no more than half a radian of it a step    (advice.2)
Scale mechanism_scale(const Scene& scene, const Dynamics& dynamics) {
  constexpr int most = 60, most_coordinates = 300;  // of a tree, and of all
  const Model& model = *scene.model;
  Scale scale;
  if (model.nv > most_coordinates) return scale;
  VecX a = -dynamics.h();
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) dynamics.solve_in_place(t, a.data());
  InverseDynamics inverse(model);
  inverse.differentiate(dynamics, scene.start.v, a);
  const auto driven = [&](const Tree& tree) {
    return std::any_of(scene.controllers.begin(), scene.controllers.end(), [&](const ControllerSpec& c) {
      const Member& member = model.members[at(std::max(c.member, 0))];
      return tree.first_body >= member.first_body && tree.first_body < member.first_body + member.bodies;
    });
  };
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
    const Tree& tree = model.trees[at(t)];
    if (tree.bodies == 1 && model.bodies[at(tree.first_body)].joint == JointKind::Free) continue;
    if (tree.nv > most || driven(tree)) continue;
    MatX A = MatX::Zero(2 * tree.nv, 2 * tree.nv);
    A.topRightCorner(tree.nv, tree.nv).setIdentity();
    for (int k = 0; k < 2 * tree.nv; ++k) {
      VecX x = VecX::Zero(model.nv);
      x.segment(tree.iv, tree.nv) = -(k < tree.nv ? inverse.dq() : inverse.dv()).tree(t).col(k % tree.nv);
      dynamics.solve_in_place(t, x.data());
      A.col(k).tail(tree.nv) = x.segment(tree.iv, tree.nv);
    }
    if (!A.allFinite()) continue;
    scale.offer(0.25 / spectral_radius(A),
                "the motion of '" + tree.name + "' and what hangs on it, which nothing drives");
  }
  return scale;
}

// All scales that bound dt, at the start of a scene; dynamics are computed and factored here.
std::vector<Scale> find_scales(const Scene& scene, Dynamics& dynamics) {
  const Model& model = *scene.model;
  dynamics.compute(scene.start.q, scene.start.v);
  const StepperEntry& stepper = stepper_entry(scene.stepper);
  dynamics.factor(VecX::Zero(model.nv));
  const VecX inertia = effective_inertia(model, dynamics);
  std::vector<Scale> scales{control_scale(scene, inertia, stepper), speed_scale(model, dynamics),
                            mechanism_scale(scene, dynamics)};
  if (stepper.explicit_contact) {
    scales.push_back(contact_scale(model, dynamics, ramp_of(scene)));
    scales.push_back(friction_scale(scene, inertia));
  }
  if (stepper.memory == MemoryFamily::Momentum) scales.push_back(load_scale(model, dynamics));
  return scales;
}

}  // namespace

std::vector<std::string> dt_advice(const Scene& scene) {
  Dynamics dynamics(*scene.model);
  std::vector<std::string> advice;
  for (const Scale& scale : find_scales(scene, dynamics))
    if (scene.dt > scale.dt)
      advice.push_back("dt = " + shown(scene.dt) + " s is " + shown(scene.dt / scale.dt) + " times too large for " +
                       scale.whose + "; take at most " + shown(scale.dt) + " s");
  for (std::string& text : depth_advice(scene, dynamics)) advice.push_back(std::move(text));
  return advice;
}

double advised_step(const Scene& scene) {
  Dynamics dynamics(*scene.model);
  double dt = std::numeric_limits<double>::infinity();
  for (const Scale& scale : find_scales(scene, dynamics)) dt = std::min(dt, scale.dt);
  return dt;
}

}  // namespace tribo
