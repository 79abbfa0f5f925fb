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
#include "diagnosis/energy_watch.hpp"
#include "diagnosis/fall_watch.hpp"
#include "diagnosis/grip_watch.hpp"
#include "diagnosis/model_faults.hpp"
#include "diagnosis/motor_watch.hpp"
#include "linalg/decompositions.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double least_overlap = 1e-4;  // [m]; less is what files and poses are rounded to
constexpr double large_ratio = 100;     // of masses in contact
constexpr double sure = 1.2;            // of explicit_limit: (explain.1) is sufficient, not necessary
constexpr double slippery_mu = 0.15;    // ice and less
constexpr double soft_way = 0.01;       // [m]; and a tenth of the smaller shape: contact that gives way so far is soft
constexpr double soft_time = 0.2;       // [s]; impacts are over by then
constexpr double long_wedged = 0.1;     // [s]
constexpr std::uint64_t at_start = 3;   // steps
constexpr double order_four = 1.39;     // interval of stability of that method over that of Euler's: 2.785 to 2
constexpr double explicit_limit = 4;    // (explain.1), (explain.2)

// The step at which dt^2 a + 2 dt b reaches the limit.
double largest_step(double a, double b) {
  if (a <= 0) return b > 0 ? explicit_limit / (2 * b) : std::numeric_limits<double>::infinity();
  return (-b + std::sqrt(b * b + explicit_limit * a)) / a;
}

}  // namespace

struct Witness::Impl {
  explicit Impl(const Scene& s)
      : scene(s),
        model(*scene.model),
        stepper(stepper_entry(s.stepper)),
        faults(model_faults(scene)),
        falls(scene),
        motors(scene),
        grips(scene, motors.limits()),
        energy(scene) {
    start_gains();
  }

  Scene scene;
  const Model& model;
  const StepperEntry& stepper;
  std::vector<Finding> faults;  ///< of the model and the start
  FallWatch falls;
  MotorWatch motors;
  GripWatch grips;
  EnergyWatch energy;
  std::uint64_t steps = 0;
  bool failed = false;
  std::optional<Finding> overlap, gains, stiffness, soft, unconverged, infeasible, slip;
  double sunk = 0;  ///< how long a contact has given way by much [s]
  std::uint64_t missed_steps = 0;
  double worst_missed = 0;  ///< residual of those [-]
  double wedged = 0;        ///< how long an overlap could not be removed [s]
  double ratio = 0, ratio_t = 0;
  int heavy = -1, light = -1;  ///< trees of the largest ratio
  bool stuck_before_slip = false, stood = false;
  std::uint64_t slipping_steps = 0, upright_steps = 0;  ///< slipping ones are those before a fall, where there is one
  int most_closed = 0;
  std::set<std::pair<int, int>> touched;  ///< geometries that carried force
  std::set<std::pair<int, int>> first;    ///< those that did so at the start
  std::vector<ContactReport> before;      ///< contacts of the step before

  std::string name(int geometry) const {
    return geometry < 0 ? "the world" : "'" + model.geometries[at(geometry)].name + "'";
  }
  int tree_of(int geometry) const {
    const int body = geometry < 0 ? -1 : model.geometries[at(geometry)].body;
    return body < 0 ? -1 : model.bodies[at(body)].tree;
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

  // Contact that gives way for longer than an impact lasts carries its load there. Rigid contact gives way where it has a
  // compliance, and where forces beyond all measure press on it.
  void see_soft(const Simulation& simulation, const StepReport& report) {
    if (soft || overlap) return;
    const ContactReport* deepest = nullptr;
    const bool rigid = stepper.memory == MemoryFamily::Rigid;
    for (const ContactReport& c : simulation.contacts()) {
      if (rigid && c.geometry_b >= 0 &&
          !(model.surface(model.geometries[at(c.geometry_a)].material, model.geometries[at(c.geometry_b)].material)
                .compliance > 0))
        continue;
      double size = std::numeric_limits<double>::infinity();
      for (int g : {c.geometry_a, c.geometry_b})
        if (g >= 0 && model.geometries[at(g)].body >= 0) size = std::min(size, model.geometries[at(g)].radius);
      if (c.f.z() > 0 && std::isfinite(size) && -c.gap > std::max(soft_way, 0.1 * size) &&
          (deepest == nullptr || c.gap < deepest->gap))
        deepest = &c;
    }
    sunk = deepest != nullptr ? sunk + scene.dt : 0;
    if (deepest == nullptr || sunk < soft_time) return;
    soft = Finding{Cause::Soft,
                   report.t - sunk,
                   -deepest->gap,
                   soft_way,
                   "m",
                   name(deepest->geometry_a) + " and " + name(deepest->geometry_b) + " overlap by " +
                       shown(-deepest->gap) + " m under " + shown(deepest->f.z()) + " N: contact gives way by " +
                       shown(-1e3 * deepest->gap / deepest->f.z()) + " mm for each newton",
                   "a larger stiffness of the materials (material.default.stiffness; 1e5 N/m is usual), or the stepper "
                   "'rigid'"};
  }

  void see_solver(const Simulation& simulation, const StepReport& report) {
    const bool missed = report.status == StepStatus::Unconverged || report.status == StepStatus::Stopped;
    missed_steps += missed;
    worst_missed = std::max(worst_missed, missed ? report.solve.residual.relative() : 0);
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
    see_wedged(simulation, report);
    if (!infeasible && report.status == StepStatus::Infeasible)
      infeasible = Finding{Cause::Infeasible,
                           report.t,
                           report.solve.residual.relative(),
                           scene.stepper_options.contact.tolerance.rel,
                           "-",
                           "no contact forces satisfy the laws, with " + std::to_string(report.contacts) + " contacts",
                           "look for bodies that are squeezed between opposed walls, or joints beyond their limits"};
  }

  // Overlap that cannot be removed, step after step: something is squeezed.
  void see_wedged(const Simulation& simulation, const StepReport& report) {
    if (infeasible || overlap) return;
    wedged = report.status == StepStatus::Wedged ? wedged + scene.dt : 0;
    if (wedged < long_wedged) return;
    const ContactReport* deepest = nullptr;
    for (const ContactReport& c : simulation.contacts())
      if (c.f.z() > 0 && (deepest == nullptr || c.gap < deepest->gap)) deepest = &c;
    if (deepest == nullptr || -deepest->gap < least_overlap) return;
    infeasible = Finding{Cause::Infeasible,
                         report.t - wedged,
                         -deepest->gap,
                         least_overlap,
                         "m",
                         name(deepest->geometry_a) + " and " + name(deepest->geometry_b) +
                             " are pressed into each other: " + shown(1e3 * -deepest->gap) + " mm that nothing can " +
                             "open, under " + shown(deepest->f.z()) + " N",
                         "look for bodies that are squeezed between what does not give way: kinematic bodies, walls, "
                         "joints at their limits"};
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
      if (steps <= at_start && c.f.z() > 0) first.insert({c.geometry_a, c.geometry_b});
      if (c.mode != ContactMode::Slip) continue;
      any = true;
      if (slip) break;
      const SurfacePair& s =
          model.surface(model.geometries[at(c.geometry_a)].material, model.geometries[at(c.geometry_b)].material);
      const double used = c.f.z() > 0 ? c.f.head<2>().norm() / c.f.z() : 0, margin = margin_before(c.id);
      stuck_before_slip = std::isfinite(margin);
      stood = first.count({c.geometry_a, c.geometry_b}) > 0;
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
    if (falls.fall()) return;
    slipping_steps += any;
    ++upright_steps;
  }
  // An object that stood from the start begins to slide, and the scene did not ask for it.
  bool gave_way() const { return slip && !falls.any_robot() && stood && stuck_before_slip && !energy.meant(); }
  // A robot that stands on what has no friction slides whatever it does.
  bool slid_far() const {
    return slip && falls.any_robot() && slip->limit < 0.05 && 2 * slipping_steps > upright_steps;
  }
  // A robot that slid most of the time until it fell.
  bool slippery() const {
    return slip && falls.fall() && slip->t <= falls.fall()->t && slip->limit < slippery_mu &&
           3 * slipping_steps > upright_steps;
  }

  // A step in a thousand that stops a hair above its tolerance changes nothing.
  bool missed_much() const { return worst_missed > 1e-4 || 50 * missed_steps > steps; }

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
  w.see_soft(simulation, report);
  w.see_solver(simulation, report);
  w.see_masses(simulation, report.t);
  w.see_slip(simulation, report);
  w.falls.observe(simulation, report.t, w.motors.commanded() && w.motors.obeyed());
  w.motors.observe(simulation, report, w.falls.fall().has_value());
  w.grips.observe(simulation, report.t);
  w.energy.observe(simulation, w.falls.fall().has_value());
  if (!w.slip) w.before = simulation.contacts();
}

void Witness::see_target(const VecX& q_ref, double t) { impl_->motors.see_target(q_ref.data(), t); }
void Witness::see_period(double period) { impl_->motors.see_period(period); }
void Witness::see_controls(const VecX& controls, double t) { impl_->motors.see_controls(controls, t); }

std::vector<Finding> Witness::explain() const {
  const Impl& w = *impl_;
  const std::optional<Finding>& fall = w.falls.fall();
  auto work = w.energy.gain(w.failed, fall.has_value());
  if (work && work->cause == Cause::Actuators && !w.failed && !fall && w.motors.obeyed()) work.reset();
  std::vector<Finding> list;
  const auto add = [&](const std::optional<Finding>& finding) {
    if (finding && std::none_of(list.begin(), list.end(), [&](const Finding& f) { return f.cause == finding->cause; }))
      list.push_back(*finding);
  };
  // What was wrong before the first step, in the model before in the run.
  add(w.motors.control());
  for (const Finding& fault : w.faults) add(fault);
  if (fall && fall->t <= w.scene.start.t) add(fall);
  add(w.overlap);
  const std::optional<Finding>& lying = w.falls.lying();
  if (fall && lying) add(lying);
  const std::optional<Finding> chatter = w.motors.chatter(w.failed);
  const bool trouble = w.failed || fall || work || chatter;
  const double surely = sure * explicit_limit * (w.scene.stepper == "runge-kutta" ? order_four : 1);
  if (w.gains && (trouble || w.gains->value > surely)) add(w.gains);
  if (w.stiffness && (trouble || w.stiffness->value > surely)) add(w.stiffness);
  add(w.soft);
  if (trouble || w.motors.idle_gave_way()) add(w.motors.idle());
  if (trouble || w.motors.target_absurd()) add(w.motors.target());
  // What went wrong later: control, a solve, then what put the energy in, then what gave way.
  add(chatter);
  if (w.slippery()) add(w.slip);
  add(w.grips.lost());
  add(w.motors.drag());
  if (work && work->cause == Cause::External) add(work);  // motors that resist it reach their limits
  add(w.motors.pressing());
  if (fall) add(w.motors.weak(*fall, w.energy.audit().energy.actuators));
  add(w.motors.overloaded());
  add(w.grips.slid());
  add(w.grips.stalled());
  const std::size_t fixed = list.size();
  if (trouble || w.missed_much()) add(w.masses() ? w.masses() : w.unconverged);
  add(w.infeasible);
  add(work);
  add(w.falls.struck());
  // Motors reach their limits and feet slip in runs that do what they should.
  const bool wrong = w.failed || fall || !list.empty();
  if (wrong) add(w.motors.saturation());
  const bool slid = w.slip && (!fall || w.slip->t <= fall->t);
  if ((wrong || w.slid_far() || w.gave_way()) && slid) add(w.slip);
  add(fall);
  std::stable_sort(
      list.begin() + static_cast<std::ptrdiff_t>(fixed), list.end(), [](const Finding& a, const Finding& b) {
        const auto rank = [](const Finding& f) { return f.cause == Cause::Slip || f.cause == Cause::Saturation; };
        return rank(a) < rank(b);
      });
  return list;
}

}  // namespace tribo
