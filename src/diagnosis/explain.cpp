// Causes are told apart by what can be measured:
//   semi-implicit Euler on  M a = -Kp x - Kd v  is stable where  lambda_max(M^-1 (dt^2 Kp + 2 dt Kd)) < 4 (explain.1)
//   the same for contact springs, with M^-1 seen at the contacts:  lambda_max(G) (dt^2 K + 2 dt B) < 4 (explain.2)
// Both are exact for one degree of freedom, and sufficient where Kp and Kd are proportional. What holds before the
// first step (overlap, gains, stiffness) comes before what is only seen later; of that, the earlier comes first.
#include "tribo/explain.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/names.hpp"
#include "diagnosis/model_faults.hpp"
#include "linalg/decompositions.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double least_overlap = 1e-4;  // [m]; less is what files and poses are rounded to
constexpr double large_ratio = 100;     // of masses in contact
constexpr double lift = 0.1;            // [m]; energy that lifts everything so high is worth a word
constexpr double wild_height = 1.0;     // [m]; motion with the energy of a fall from there is wild
constexpr double explicit_limit = 4;    // (explain.1), (explain.2)

// The step at which dt^2 a + 2 dt b reaches the limit.
double largest_step(double a, double b) {
  if (a <= 0) return b > 0 ? explicit_limit / (2 * b) : std::numeric_limits<double>::infinity();
  return (-b + std::sqrt(b * b + explicit_limit * a)) / a;
}

}  // namespace

struct Witness::Impl {
  explicit Impl(const Scene& s)
      : scene(s), model(*scene.model), stepper(stepper_entry(s.stepper)), faults(model_faults(scene)) {
    start_gains();
    stand();
    last_torque.setZero(model.nv);
    flips.assign(at(model.nv), 0);
    saturated.assign(at(model.nv), 0);
  }

  Scene scene;
  const Model& model;
  const StepperEntry& stepper;
  std::vector<Finding> faults;  ///< of the model and the start
  std::uint64_t steps = 0;
  bool failed = false;
  Audit audit;
  std::optional<Finding> control, fall, overlap, gains, stiffness, unconverged, infeasible, slip, saturation;
  double energy_last = 0, energy_start = 0, energy_most = 0, kinetic_most = 0;
  double most_at = 0;  ///< when the energy was at its most [s]
  double ratio = 0, ratio_t = 0;
  int heavy = -1, light = -1;  ///< trees of the largest ratio
  int saturated_dof = -1;
  bool stuck_before_slip = false;
  std::uint64_t saturated_steps = 0, slipping_steps = 0;
  int most_closed = 0;
  std::set<std::pair<int, int>> touched;  ///< geometries that carried force
  std::vector<ContactReport> before;      ///< contacts of the step before
  VecX last_torque;
  std::vector<std::uint64_t> flips;      ///< steps at which a torque changed its sign by much, by velocity coordinate
  std::vector<std::uint64_t> saturated;  ///< steps at its limit, likewise
  struct Walker {
    int body = 0;       ///< free base of a robot
    double height = 0;  ///< above the lowest contact point of the first touch [m]; 0: not yet known
    Vec3 up_B;          ///< the vertical of the start, in the base
  };
  std::vector<Walker> walkers;
  Vec3 up = Vec3::UnitZ();

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

  void stand() {
    if (model.gravity.norm() > 0) up = -model.gravity.normalized();
    for (const Member& member : model.members) {
      const Body& base = model.bodies[at(std::min(member.first_body, static_cast<int>(model.bodies.size()) - 1))];
      if (!member.robot || member.bodies < 2 || base.joint != JointKind::Free) continue;
      const Quat R(Eigen::Vector4d(scene.start.q.segment<4>(base.iq + 3)));
      walkers.push_back({member.first_body, 0, R.inverse() * up});
    }
  }

  // A robot fell where its base is tilted by more than 60 degrees from the start, or stands at less than half its height
  // over what it touches.
  void see_fall(const Simulation& simulation, const StepReport& report) {
    for (Walker& walker : walkers) {
      if (fall) return;
      const Body& base = model.bodies[at(walker.body)];
      const VecX& q = simulation.state().q;
      double level = std::numeric_limits<double>::infinity();
      for (const ContactReport& c : simulation.contacts())
        if (c.f.z() > 0 && (tree_of(c.geometry_a) == base.tree || tree_of(c.geometry_b) == base.tree))
          level = std::min(level, up.dot(c.p_WC));
      if (!std::isfinite(level)) continue;
      const double height = up.dot(q.segment<3>(base.iq)) - level;
      if (walker.height == 0) walker.height = std::max(height, 1e-3);
      const Quat R(Eigen::Vector4d(q.segment<4>(base.iq + 3)));
      const double tilt = std::acos(std::clamp(up.dot(R * walker.up_B), -1.0, 1.0));
      const bool low = height < 0.5 * walker.height;
      if (!low && tilt < M_PI / 3) continue;
      const bool held = !scene.controllers.empty() || !simulation.torque().isZero(0) || audit.energy.actuators != 0;
      fall =
          Finding{held ? Cause::Fall : Cause::Uncontrolled,
                  report.t,
                  low ? height : tilt,
                  low ? 0.5 * walker.height : M_PI / 3,
                  low ? "m" : "rad",
                  "the base of '" + base.name + "' " +
                      (low ? "sank to " + shown(height) + " m over what it touches, from " + shown(walker.height) + " m"
                           : "tilted by " + shown(std::round(tilt * 180 / M_PI)) + " degrees") +
                      (held ? "" : ", and nothing drives its joints"),
                  held ? "higher gains, a wider stance, or a controller that balances"
                       : "a [controller] in the scene, for instance name = \"pd\", or --controller pd"};
    }
  }

  // Torque that is not finite, and torque that goes from one side to the other at every step.
  void see_torque(const Simulation& simulation, const StepReport& report) {
    const VecX& tau = simulation.torque();
    if (tau.size() != model.nv || model.nv == 0) return;
    const bool sane = simulation.state().v.cwiseAbs().maxCoeff() < 1e6;  // else it is the motion that ran away
    for (int k = 0; k < model.nv; ++k) {
      if (!control && sane && !std::isfinite(tau[k]))
        control = Finding{Cause::Control,
                          report.t,
                          tau[k],
                          0,
                          "N m",
                          "the torque on " + joint_of(k) + " is not finite (" + shown(tau[k]) +
                              ") at t = " + shown(report.t) + " s" + who_controls(),
                          "a controller that returns finite torques: look for 0/0, for logarithms and roots of what is "
                          "below 0, and for q and v that are used before they are set"};
      const double limit = model.joints.effort_limit[k], least = std::isfinite(limit) ? 0.05 * limit : 1e-3;
      if (tau[k] * last_torque[k] < 0 && std::min(std::abs(tau[k]), std::abs(last_torque[k])) > least) ++flips[at(k)];
      if (std::isfinite(limit) && limit > 0 && std::abs(tau[k]) >= limit * (1 - 1e-9)) ++saturated[at(k)];
    }
    last_torque = tau;
  }
  std::string who_controls() const {
    std::string names;
    for (const ControllerSpec& spec : scene.controllers) names += (names.empty() ? "" : ", ") + ("'" + spec.name + "'");
    return names.empty() ? "; a function of the program controls it" : "; controllers of the scene: " + names;
  }

  std::optional<Finding> chatter() const {
    if (steps < 20) return {};
    for (int k = 0; k < model.nv; ++k) {
      const double share = static_cast<double>(flips[at(k)]) / static_cast<double>(steps);
      if (share < 0.3 || flips[at(k)] < 10) continue;
      return Finding{
          Cause::Chatter,
          scene.dt,
          share,
          0.3,
          "of all steps",
          "the torque on " + joint_of(k) + " changes its sign at " + shown(std::round(100 * share)) +
              " % of the steps: the gains of a controller that is evaluated once a step are too high for dt = " +
              shown(scene.dt) + " s",
          "lower gains, a smaller dt, or the controller 'pd', whose gains the rigid stepper takes implicitly"};
    }
    return {};
  }

  // Motors that were at their limits for long before a robot fell.
  std::optional<Finding> weak() const {
    // Motors that put in more than it takes to lift all of it are not weak.
    if (!fall || !saturation || audit.energy.actuators > model.mass() * 9.81 * wild_height) return {};
    int worst = 0;
    for (int k = 1; k < model.nv; ++k)
      if (saturated[at(k)] > saturated[at(worst)]) worst = k;
    if (saturation->t > fall->t || 5 * saturated[at(worst)] < steps) return {};
    Finding found = *saturation;
    found.evidence = "the actuator of " + joint_of(worst) + " is at its limit of " +
                     shown(model.joints.effort_limit[worst]) + " N m for " +
                     shown(std::round(100.0 * static_cast<double>(saturated[at(worst)]) / static_cast<double>(steps))) +
                     " % of the time, and the robot falls at t = " + shown(fall->t) + " s";
    found.advice = "motors that are strong enough (the effort limits of the file), or a lighter load";
    return found;
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
      const bool rigid = stepper.memory == MemoryFamily::Rigid;
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
      stuck_before_slip = std::isfinite(margin);
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
  // An object that stuck begins to slide.
  bool gave_way() const { return slip && walkers.empty() && stuck_before_slip; }
  // A robot that stands on what has no friction slides whatever it does.
  bool slid_far() const { return slip && !walkers.empty() && slip->limit < 0.05 && 2 * slipping_steps > steps; }

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
    if (energy_last > energy_most) energy_most = energy_last, most_at = simulation.state().t;
    if (std::isfinite(audit.energy.kinetic)) kinetic_most = std::max(kinetic_most, audit.energy.kinetic);
  }

  // Which part put in most of what the run gained.
  std::optional<Finding> energy() const {
    const double gained = energy_most - energy_start;
    if (!(gained > model.mass() * 9.81 * lift)) return {};
    // Work that lifts something is what actuators and pushes are for; what ends in wild motion is not.
    const bool wild = failed || fall || kinetic_most > model.mass() * 9.81 * wild_height;
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
    if ((most.cause == Cause::Actuators || most.cause == Cause::External) && !wild) return {};
    return Finding{most.cause,
                   most_at,
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
  w.see_torque(simulation, report);
  w.see_fall(simulation, report);
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
  // What was wrong before the first step, in the model before in the run.
  add(w.control);
  for (const Finding& fault : w.faults) add(fault);
  add(w.overlap);
  add(w.gains);
  add(w.stiffness);
  // What went wrong later: control, a solve, then what put the energy in, then what gave way.
  add(w.chatter());
  add(w.weak());
  const std::size_t fixed = list.size();
  add(w.masses());
  if (!w.masses()) add(w.unconverged);
  add(w.infeasible);
  add(w.energy());
  // Motors reach their limits and feet slip in runs that do what they should.
  const bool wrong = w.failed || w.fall || !list.empty();
  if (wrong && w.saturated_steps > 0) add(w.saturation);
  const bool slid = w.slip && (!w.fall || w.slip->t <= w.fall->t);
  if ((wrong || w.slid_far() || w.gave_way()) && slid) add(w.slip);
  add(w.fall);
  std::stable_sort(
      list.begin() + static_cast<std::ptrdiff_t>(fixed), list.end(), [](const Finding& a, const Finding& b) {
        const auto rank = [](const Finding& f) { return f.cause == Cause::Slip || f.cause == Cause::Saturation; };
        return rank(a) < rank(b);
      });
  return list;
}

}  // namespace tribo
