#include "diagnosis/advice.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/names.hpp"
#include "stepping/workspace.hpp"

namespace tribo {
namespace {

std::string joint_of(const Model& model, int iv) {
  for (const Body& body : model.bodies)
    if (iv >= body.iv && iv < body.iv + nv_of(body.joint)) return "'" + body.name + "'";
  return "";
}

// 1 / (M^-1)_kk: the inertia that a torque at coordinate k alone would feel. M must be factored.
VecX effective_inertia(const Model& model, const Dynamics& dynamics) {
  VecX inertia(model.nv), e = VecX::Zero(model.nv);
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
    const Tree& tree = model.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      e[k] = 1;
      dynamics.solve_in_place(t, e.data());
      inertia[k] = 1 / e[k];
      e.segment(tree.iv, tree.nv).setZero();
    }
  }
  return inertia;
}

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

// Gains that act explicitly, by the change of the torque with q and v, whatever controller gives it.
Scale control_scale(const Scene& scene, const VecX& inertia, bool implicit_gains) {
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
    if (!implicit_gains) {
      stiffness += base.kp[k];
      damping += base.kd[k];
    }
    if (stiffness < 1e-3) stiffness = 0;
    if (damping < 1e-6) damping = 0;
    scale.offer(stable_step(stiffness, damping, inertia[k]), "the gains at joint '" + body.name + "'");
  }
  return scale;
}

// Stiff contact under a stepper that takes its force explicitly: the lightest that a contact may feel at a geometry.
Scale contact_scale(const Model& model, const Dynamics& dynamics) {
  Scale scale;
  double K = 0, B = 0;
  for (int s = 0; s < model.surfaces(); ++s) {
    K = std::max(K, model.surface(s).stiffness);
    B = std::max(B, model.surface(s).damping);
  }
  for (const Geometry& g : model.geometries) {
    if (g.body < 0) continue;
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
    const double lightest = 1 / Eigen::SelfAdjointEigenSolver<Mat3>(G).eigenvalues()[2];
    scale.offer(stable_step(K, B, lightest), "the stiffness of contact at '" + g.name + "'");
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

}  // namespace

std::vector<std::string> find_errors(const Model& model, const State& start) {
  std::vector<std::string> errors;
  if (!start.q.allFinite() || !start.v.allFinite()) errors.push_back("the state at the start is not finite");
  const JointProperties& p = model.joints;
  for (int k = 0; k < model.nv; ++k) {
    const std::string owner = "joint " + joint_of(model, k) + ": ";
    if (p.lower[k] > p.upper[k])
      errors.push_back(owner + "limits are reversed: lower " + shown(p.lower[k]) + " is above upper " +
                       shown(p.upper[k]));
    for (const auto& [x, name] :
         {std::pair{&p.damping, "damping"}, std::pair{&p.armature, "armature"}, std::pair{&p.friction, "friction"}})
      if (!((*x)[k] >= 0) || std::isinf((*x)[k]))
        errors.push_back(owner + name + " = " + shown((*x)[k]) + ", must be finite and >= 0");
  }
  if (!errors.empty()) return errors;
  // A joint that moves nothing has no inertia to solve for: its pivot in the factor of M vanishes.
  Dynamics dynamics(model);
  dynamics.compute(start.q, VecX::Zero(model.nv));
  dynamics.factor(VecX::Zero(model.nv));
  const VecX inertia = effective_inertia(model, dynamics);
  for (int k = 0; k < model.nv; ++k) {
    if (inertia[k] > 1e-13 * dynamics.inertia(k) && inertia[k] > 1e-15) continue;
    // Alone it moves something, and together with its neighbours nothing: they turn masses that have no size.
    const bool alone = !(dynamics.inertia(k) > 1e-15);
    errors.push_back("joint " + joint_of(model, k) +
                     (alone ? " moves nothing that has inertia about its axis: give the body a mass and an inertia"
                            : " and its neighbours turn bodies that have mass and no moments of inertia, so that "
                              "together they can move without inertia: give the bodies an inertia") +
                     ", or the joint an armature");
  }
  return errors;
}

std::vector<std::string> find_doubts(const Model& model) {
  std::vector<std::string> doubts;
  for (const Body& body : model.bodies) {
    const Mat3& I = body.inertia.about_com;
    const Vec3 p = Eigen::SelfAdjointEigenSolver<Mat3>(0.5 * (I + I.transpose())).eigenvalues();
    const double size = p.cwiseAbs().maxCoeff();
    if (size < 1e-15) continue;  // a point, to rounding
    if (p[0] < -1e-6 * size)
      doubts.push_back("body '" + body.name + "': its inertia is not positive: principal moments " + shown(p[0]) +
                       ", " + shown(p[1]) + ", " + shown(p[2]) + " kg m^2");
    else if (p[2] > (p[0] + p[1]) * (1 + 1e-3) + 1e-12)
      doubts.push_back("body '" + body.name + "': its inertia breaks the triangle inequality: " + shown(p[2]) +
                       " is above " + shown(p[0]) + " + " + shown(p[1]) + " kg m^2");
  }
  return doubts;
}

std::vector<std::string> find_overlaps(const Model& model, const State& start) {
  Workspace work(model);
  work.dynamics.compute(start.q, VecX::Zero(model.nv));
  fill_motions(model, work.dynamics, start.t, 0, work.motions);
  work.collision.detect(work.motions, {}, {});
  std::map<std::pair<int, int>, double> deepest;
  for (const Contact& c : work.collision.contacts())
    if (c.gap < -1e-4) {
      double& depth = deepest[{c.geometry_a, c.geometry_b}];
      depth = std::max(depth, -c.gap);
    }
  std::vector<std::pair<double, std::string>> list;
  for (const auto& [pair, depth] : deepest)
    list.emplace_back(depth, "'" + model.geometries[at(pair.first)].name + "' and '" +
                                 model.geometries[at(pair.second)].name + "' overlap at the start by " +
                                 shown(1000 * depth) + " mm");
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (const auto& [depth, line] : list) lines.push_back(line);
  return lines;
}

std::vector<std::string> dt_advice(const Scene& scene) {
  const Model& model = *scene.model;
  Dynamics dynamics(model);
  dynamics.compute(scene.start.q, scene.start.v);
  const StepperEntry& stepper = stepper_entry(scene.stepper);
  dynamics.factor(VecX::Zero(model.nv));
  const VecX inertia = effective_inertia(model, dynamics);
  std::vector<Scale> scales{control_scale(scene, inertia, stepper.implicit_gains), speed_scale(model, dynamics)};
  if (stepper.explicit_contact) scales.push_back(contact_scale(model, dynamics));
  std::vector<std::string> advice;
  for (const Scale& scale : scales)
    if (scene.dt > scale.dt)
      advice.push_back("dt = " + shown(scene.dt) + " s is " + shown(scene.dt / scale.dt) + " times too large for " +
                       scale.whose + "; take at most " + shown(scale.dt) + " s");
  return advice;
}

}  // namespace tribo
