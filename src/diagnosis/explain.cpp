// Causes are told apart by what can be measured:
//   semi-implicit Euler on  M a = -Kp x - Kd v  is stable where  lambda_max(M^-1 (dt^2 Kp + 2 dt Kd)) < 4 (explain.1)
//   the same for contact springs, with M^-1 seen at the contacts:  lambda_max(G) (dt^2 K + 2 dt B) < 4 (explain.2)
// Both are exact for one degree of freedom, and sufficient where Kp and Kd are proportional. What holds before the
// first step (overlap, gains, stiffness) comes before what is only seen later; of that, the earlier comes first.
#include "tribo/explain.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/names.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double least_overlap = 1e-4;  // [m]; less is what files and poses are rounded to
constexpr double large_ratio = 100;     // of masses in contact
constexpr double lift = 0.1;            // [m]; energy that lifts everything so high is worth a word
constexpr double explicit_limit = 4;    // (explain.1), (explain.2)

// Largest eigenvalue of M^-1 A for a symmetric positive M and a symmetric A.
double largest_eigenvalue(const MatX& M, const MatX& A) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(A, M, Eigen::EigenvaluesOnly);
  return solver.info() == Eigen::Success ? solver.eigenvalues().maxCoeff() : 0;
}

// The step at which dt^2 a + 2 dt b reaches the limit.
double largest_step(double a, double b) {
  if (a <= 0) return b > 0 ? explicit_limit / (2 * b) : std::numeric_limits<double>::infinity();
  return (-b + std::sqrt(b * b + explicit_limit * a)) / a;
}

}  // namespace

struct Witness::Impl {
  explicit Impl(const Scene& s) : scene(s), model(*scene.model), stepper(stepper_entry(s.stepper)) { start_gains(); }

  Scene scene;
  const Model& model;
  const StepperEntry& stepper;
  std::uint64_t steps = 0;
  bool failed = false;
  Audit audit;
  std::optional<Finding> overlap, gains, stiffness, unconverged, infeasible, slip, saturation;
  double energy_last = 0, energy_start = 0, energy_most = 0;
  double ratio = 0, ratio_t = 0;
  int heavy = -1, light = -1;  ///< trees of the largest ratio
  int saturated_dof = -1;
  std::uint64_t saturated_steps = 0, slipping_steps = 0;
  int most_closed = 0;
  std::set<std::pair<int, int>> touched;  ///< geometries that carried force
  std::vector<ContactReport> before;      ///< contacts of the step before

  std::string name(int geometry) const {
    return geometry < 0 ? "the world" : "'" + model.geometries[at(geometry)].name + "'";
  }
  int tree_of(int geometry) const {
    const int body = geometry < 0 ? -1 : model.geometries[at(geometry)].body;
    return body < 0 ? -1 : model.bodies[at(body)].tree;
  }
  std::string joint_of(int dof) const {
    for (const Body& b : model.bodies)
      if (dof >= b.iv && dof < b.iv + nv_of(b.joint)) return "'" + b.name + "'";
    return "?";
  }
  bool gains_explicit(const PdOptions& pd) const { return !pd.implicit || !stepper.implicit_gains; }

  // (explain.1) for every controller whose gains are taken explicitly.
  void start_gains() {
    Dynamics dynamics(model);
    for (const ControllerSpec& spec : scene.controllers) {
      const std::optional<PdOptions>& pd = spec.pd;
      if (!pd || !gains_explicit(*pd)) continue;
      const Member& member = model.members[at(pd->member)];
      dynamics.compute(scene.start.q, VecX::Zero(model.nv));
      const MatX M = dynamics.mass_matrix().block(member.iv, member.iv, member.nv, member.nv) +
                     MatX(VecX(scene.dt * model.joints.damping.segment(member.iv, member.nv)).asDiagonal());
      const double a = largest_eigenvalue(M, pd->kp.asDiagonal()), b = largest_eigenvalue(M, pd->kd.asDiagonal());
      const MatX both = VecX(scene.dt * scene.dt * pd->kp + 2 * scene.dt * pd->kd).asDiagonal();
      const double value = largest_eigenvalue(M, both);
      if (value < explicit_limit || (gains && gains->value > value)) continue;
      gains = Finding{
          Cause::Gains,
          0,
          value,
          explicit_limit,
          "-",
          "gains of '" + member.name + "' are taken explicitly, and dt^2 kp/m + 2 dt kd/m is " + shown(value) +
              " in its stiffest direction; above 4 it oscillates and grows",
          "dt below " + shown(largest_step(a, b)) + " s, lower gains, or implicit = true with the rigid stepper"};
    }
  }

  void see_overlap(const Simulation& simulation, const StepReport& report) {
    if (steps != 1 || report.penetration < least_overlap) return;
    const ContactReport* deepest = nullptr;
    for (const ContactReport& c : simulation.contacts())
      if (deepest == nullptr || c.gap < deepest->gap) deepest = &c;
    if (deepest == nullptr) return;
    overlap = Finding{Cause::Overlap,
                      report.t - scene.dt,
                      -deepest->gap,
                      least_overlap,
                      "m",
                      name(deepest->geometry_a) + " and " + name(deepest->geometry_b) + " overlap by " +
                          shown(-deepest->gap) + " m at the start",
                      "move one of them away by that much, or drop the robot from above ('drop' of the scene file)"};
  }

  // Do more contacts carry force than ever before, or shapes that did not touch yet? An eigenproblem costs more than a
  // step, and (explain.2) grows with the contacts: only then it is worth another look.
  bool new_contacts(const Simulation& simulation, const StepReport& report) {
    bool fresh = report.closed > most_closed;
    most_closed = std::max(most_closed, report.closed);
    for (const ContactReport& c : simulation.contacts())
      if (c.f.z() > 0) fresh |= touched.insert({c.geometry_a, c.geometry_b}).second;
    return fresh;
  }

  // (explain.2) at the first contacts that carry force.
  void see_stiffness(const Simulation& simulation, const StepReport& report) {
    if (stiffness || !stepper.explicit_contact || report.closed == 0 || !new_contacts(simulation, report)) return;
    Dynamics dynamics(model);
    dynamics.compute(simulation.state().q, simulation.state().v);
    const MatX M = dynamics.mass_matrix();
    MatX A = MatX::Zero(model.nv, model.nv), stiff = A, damp = A;
    std::vector<double> J;
    for (const ContactReport& c : simulation.contacts()) {
      if (!(c.f.z() > 0)) continue;
      MatX row = MatX::Zero(3, model.nv);
      for (const auto& [geometry, sign] : {std::pair{c.geometry_a, -1.0}, {c.geometry_b, 1.0}}) {
        const int body = geometry < 0 ? -1 : model.geometries[at(geometry)].body;
        if (body < 0) continue;
        const std::vector<int>& chain = model.bodies[at(body)].chain;
        J.resize(3 * chain.size());
        dynamics.point_jacobian(body, c.p_WC, c.R_WC, J.data());
        for (std::size_t k = 0; k < chain.size(); ++k)
          row.col(chain[k]) += sign * Eigen::Map<const Vec3>(J.data() + 3 * k);
      }
      const SurfacePair& s =
          model.surface(model.geometries[at(c.geometry_a)].material, model.geometries[at(c.geometry_b)].material);
      stiff += s.stiffness * row.transpose() * row;
      damp += s.damping * row.transpose() * row;
    }
    A = scene.dt * scene.dt * stiff + 2 * scene.dt * damp;
    const double value = largest_eigenvalue(M, A);
    if (value < explicit_limit) return;
    stiffness = Finding{Cause::Stiffness,
                        report.t,
                        value,
                        explicit_limit,
                        "-",
                        "contact springs are taken explicitly by '" + scene.stepper + "', and dt^2 K/m + 2 dt B/m is " +
                            shown(value) + " at the contacts; above 4 it oscillates and grows",
                        "dt below " + shown(largest_step(largest_eigenvalue(M, stiff), largest_eigenvalue(M, damp))) +
                            " s, softer contact, or the steppers 'exponential', 'implicit-euler' or 'rigid'"};
  }

  void see_solver(const StepReport& report) {
    const bool missed = report.status == StepStatus::Unconverged || report.status == StepStatus::Stopped;
    if (!unconverged && missed) {
      const bool rigid = stepper.targets;
      const std::string who = rigid ? scene.stepper_options.contact.solver : scene.stepper;
      unconverged = Finding{Cause::Unconverged,
                            report.t,
                            report.solve.residual.relative(),
                            scene.stepper_options.contact.tolerance.rel,
                            "-",
                            "the solve of '" + who + "' stopped after " + std::to_string(report.solve.iterations) +
                                " iterations at a relative residual of " + shown(report.solve.residual.relative()) +
                                ", with " + std::to_string(report.contacts) + " contacts",
                            stepper.options.find("max_newton") ? "a smaller dt, or more iterations (stepper.max_newton)"
                            : !rigid                           ? "a smaller dt"
                            : who == "newton" ? "more iterations (contact.max_iterations), or a smaller dt"
                                              : "the solver 'newton', or more iterations (contact.max_iterations)"};
    }
    if (!infeasible && report.status == StepStatus::Infeasible)
      infeasible = Finding{Cause::Infeasible,
                           report.t,
                           report.solve.residual.relative(),
                           scene.stepper_options.contact.tolerance.rel,
                           "-",
                           "no contact forces satisfy the laws, with " + std::to_string(report.contacts) + " contacts",
                           "look for bodies that are squeezed between opposed walls, or joints beyond their limits"};
  }

  void see_masses(const Simulation& simulation, double t) {
    for (const ContactReport& c : simulation.contacts()) {
      const int a = tree_of(c.geometry_a), b = tree_of(c.geometry_b);
      if (a < 0 || b < 0 || a == b) continue;
      const double ma = model.trees[at(a)].mass, mb = model.trees[at(b)].mass, r = std::max(ma / mb, mb / ma);
      if (r <= ratio) continue;
      ratio = r;
      ratio_t = t;
      heavy = ma > mb ? a : b;
      light = ma > mb ? b : a;
    }
  }

  double margin_before(std::uint64_t id) const {
    for (const ContactReport& c : before)
      if (c.id == id) return c.cone_margin;
    return std::numeric_limits<double>::quiet_NaN();
  }

  void see_slip(const Simulation& simulation, const StepReport& report) {
    bool any = false;
    for (const ContactReport& c : simulation.contacts()) {
      if (c.mode != ContactMode::Slip) continue;
      any = true;
      if (slip) break;
      const SurfacePair& s =
          model.surface(model.geometries[at(c.geometry_a)].material, model.geometries[at(c.geometry_b)].material);
      const double used = c.f.z() > 0 ? c.f.head<2>().norm() / c.f.z() : 0, margin = margin_before(c.id);
      slip = Finding{Cause::Slip,
                     report.t,
                     used,
                     s.mu_static,
                     "-",
                     name(c.geometry_a) + " and " + name(c.geometry_b) + " begin to slip: friction " +
                         shown(c.f.head<2>().norm()) + " N under a load of " + shown(c.f.z()) + " N is " + shown(used) +
                         " of it, mu is " + shown(s.mu_static) +
                         (std::isfinite(margin) ? "; a step before, the margin was " + shown(margin) + " N"
                                                : "; it slips from the first touch"),
                     "more friction, more load on that contact, or less tangential force"};
    }
    slipping_steps += any;
  }

  void see_saturation(const Simulation& simulation, const StepReport& report) {
    const VecX& tau = simulation.torque();
    bool any = false;
    for (int k = 0; k < model.nv; ++k) {
      const double limit = model.joints.effort_limit[k];
      if (!(limit > 0) || !std::isfinite(limit) || std::abs(tau[k]) < limit * (1 - 1e-9)) continue;
      any = true;
      if (saturation) break;
      saturated_dof = k;
      saturation = Finding{Cause::Saturation,
                           report.t,
                           std::abs(tau[k]),
                           limit,
                           "N m",
                           "the actuator of " + joint_of(k) + " is at its limit of " + shown(limit),
                           "a lighter load, a slower motion, or lower gains"};
    }
    saturated_steps += any;
  }

  void see_energy(const Simulation& simulation) {
    audit = simulation.audit();
    const double now = audit.energy.kinetic + audit.energy.potential + audit.energy.elastic;
    energy_start = audit.energy_start;
    if (std::isfinite(now)) energy_last = now;
    energy_most = std::max(energy_most, energy_last);
  }

  // Which part put in most of what the run gained.
  std::optional<Finding> energy() const {
    const double gained = energy_most - energy_start;
    if (!(gained > model.mass() * 9.81 * lift)) return {};
    const EnergyLines& e = audit.energy;
    struct Part {
      Cause cause;
      double work;
      const char* name;
      const char* advice;
    };
    const Part parts[] = {
        {Cause::External, e.external, "pushes", "a smaller or shorter push"},
        {Cause::Actuators, e.actuators, "actuators", "lower gains, or a reference that the robot can follow"},
        {Cause::Integrator, e.integrator, "the scheme itself", "a smaller dt, or another stepper"},
        {Cause::Overlap, e.recovery, "the removal of overlap",
         "a start without overlap, or a longer contact.recovery_time"},
        {Cause::Stiffness, e.contacts, "contact springs", "a smaller dt, or a stepper for stiff contact"}};
    const Part& most =
        *std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) { return a.work < b.work; });
    if (!(most.work > 0.3 * gained)) return {};
    return Finding{most.cause,
                   audit.time,
                   most.work,
                   gained,
                   "J",
                   "the energy rose from " + shown(energy_start) + " to " + shown(energy_most) + " J; " + most.name +
                       " put in " + shown(most.work) + " J",
                   most.advice};
  }

  std::optional<Finding> masses() const {
    if (ratio < large_ratio || !unconverged) return {};
    const Tree &h = model.trees[at(heavy)], &l = model.trees[at(light)];
    return Finding{Cause::MassRatio,
                   unconverged->t,
                   ratio,
                   large_ratio,
                   "-",
                   "'" + h.name + "' (" + shown(h.mass) + " kg) touches '" + l.name + "' (" + shown(l.mass) +
                       " kg), a ratio of " + shown(ratio) + ", and the solve of '" +
                       scene.stepper_options.contact.solver + "' stopped at a relative residual of " +
                       shown(unconverged->value),
                   "the solver 'newton', which does not mind mass ratios"};
  }
};

Witness::Witness(const Scene& scene) : impl_(std::make_unique<Impl>(scene)) {}
Witness::~Witness() = default;
Witness::Witness(Witness&&) noexcept = default;
Witness& Witness::operator=(Witness&&) noexcept = default;

void Witness::observe(Simulation& simulation, const StepReport& report) {
  Impl& w = *impl_;
  ++w.steps;
  w.failed |= ended(report);
  w.see_overlap(simulation, report);
  w.see_stiffness(simulation, report);
  w.see_solver(report);
  w.see_masses(simulation, report.t);
  w.see_slip(simulation, report);
  w.see_saturation(simulation, report);
  w.see_energy(simulation);
  if (!w.slip) w.before = simulation.contacts();
}

std::vector<Finding> Witness::explain() const {
  const Impl& w = *impl_;
  std::vector<Finding> list;
  const auto add = [&](const std::optional<Finding>& finding) {
    if (finding && std::none_of(list.begin(), list.end(), [&](const Finding& f) { return f.cause == finding->cause; }))
      list.push_back(*finding);
  };
  // What was wrong before the first step.
  add(w.overlap);
  add(w.gains);
  add(w.stiffness);
  const std::size_t fixed = list.size();
  // What went wrong later: a solve, then what put the energy in, then what gave way.
  add(w.masses());
  if (!w.masses()) add(w.unconverged);
  add(w.infeasible);
  add(w.energy());
  if (w.saturated_steps > 0) add(w.saturation);
  add(w.slip);
  std::stable_sort(
      list.begin() + static_cast<std::ptrdiff_t>(fixed), list.end(), [](const Finding& a, const Finding& b) {
        const auto rank = [](const Finding& f) { return f.cause == Cause::Slip || f.cause == Cause::Saturation; };
        return rank(a) < rank(b);
      });
  return list;
}

std::string Witness::text() const {
  const std::vector<Finding> list = explain();
  if (list.empty()) return "nothing was seen that would explain trouble\n";
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Finding& f = list[i];
    out += (i == 0 ? "likely first cause: " : "also: ") + to_string(f.cause) + " at t = " + shown(f.t) + " s\n  " +
           f.evidence + "\n  try: " + f.advice + "\n";
  }
  return out;
}

std::string to_string(Cause cause) {
  switch (cause) {
    case Cause::Overlap:
      return "overlap";
    case Cause::Gains:
      return "gains too high for the step";
    case Cause::Stiffness:
      return "contact too stiff for the step";
    case Cause::MassRatio:
      return "mass ratio";
    case Cause::Unconverged:
      return "unconverged solver";
    case Cause::Infeasible:
      return "infeasible contacts";
    case Cause::External:
      return "push";
    case Cause::Actuators:
      return "energy from the actuators";
    case Cause::Integrator:
      return "energy from the scheme";
    case Cause::Saturation:
      return "actuator at its limit";
    case Cause::Slip:
      return "slip";
  }
  return "unknown";
}

}  // namespace tribo
