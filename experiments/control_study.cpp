#include "control_study.hpp"

#include <Eigen/LU>
#include <cmath>

#include "base/cpu_time.hpp"
#include "base/names.hpp"
#include "tribo/dynamics.hpp"

namespace tribo::experiments {
namespace {

struct Stance {
  bool open = false;  // a stance is under way
  Vec3 from = Vec3::Zero();
  double drift = 0;
};

// Follows one run step by step.
class Watch {
 public:
  Watch(const Scene& scene, const Task& task)
      : model_(*scene.model), task_(task), member_(model_.members[at(task.member)]), motion_(member_.nv) {
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b)
      if (nv_of(model_.bodies[at(b)].joint) == 1) joints_.push_back(b);
    result_.dt = scene.dt;
    result_.mae_joint.setZero(static_cast<Eigen::Index>(joints_.size()));
    stances_.resize(member_.feet.size());
    for (int f = 0; task.trot && f < static_cast<int>(member_.feet.size()); ++f)
      diagonal_.push_back(trot_diagonal(model_, member_, scene.start.q, f));
  }

  /// False where the run has become unstable.
  bool step(Simulation& simulation, const Instability& bounds) {
    before_ = simulation.state();
    const StepReport report = simulation.step();
    const State& after = simulation.state();
    if (report.status == StepStatus::NotFinite) return fail("not finite");
    if (!take_errors(after, bounds.error)) return fail("joint error");
    take_torques(simulation);
    take_feet(simulation, before_.t, after.t - before_.t);
    for (int b : joints_)
      if (std::abs(after.v[model_.bodies[at(b)].iv]) > bounds.speed) return fail("joint speed");
    if (model_.bodies[at(member_.first_body)].joint != JointKind::Free) return true;
    const Placement base = simulation.body_pose(member_.first_body);
    result_.height = base.p.z();
    result_.tilt = std::max(result_.tilt, std::acos(std::clamp(base.R(2, 2), -1.0, 1.0)));
    return result_.tilt <= bounds.tilt || fail("base tilted");
  }

  Followed finish(const Simulation& simulation) {
    const double n = std::max(1.0, static_cast<double>(samples_));
    result_.mae_joint /= n;
    result_.mae = result_.mae_joint.size() > 0 ? result_.mae_joint.mean() : 0;
    result_.torque_rms = std::sqrt(torque_squares_ / std::max(1.0, static_cast<double>(torques_)));
    for (std::size_t f = 0; f < stances_.size(); ++f) result_.drift = std::max(result_.drift, stances_[f].drift);
    result_.audit = simulation.audit();
    return result_;
  }

 private:
  bool fail(const char* why) {
    result_.stable = false;
    result_.why = why;
    return false;
  }

  // Every millisecond within the step; the joints move along a line.
  bool take_errors(const State& after, double most) {
    const double dt = after.t - before_.t;
    double worst = 0;
    for (; sample_ * 1e-3 <= after.t + 1e-9; ++sample_) {
      const double t = sample_ * 1e-3, share = (t - before_.t) / dt;
      task_.reference->at(t, motion_);
      ++samples_;
      for (std::size_t j = 0; j < joints_.size(); ++j) {
        const Body& body = model_.bodies[at(joints_[j])];
        const double reference = motion_.q[body.iv - member_.iv];
        const double e0 = joint_error(body, reference, before_.q), e1 = joint_error(body, reference, after.q);
        const double e = e0 + share * (e1 - e0);
        result_.mae_joint[static_cast<Eigen::Index>(j)] += std::abs(e);
        result_.sum_squares += e * e;
        worst = std::max(worst, std::isfinite(e) ? std::abs(e) : 1e300);
      }
    }
    return worst <= most;
  }

  void take_torques(const Simulation& simulation) {
    for (int b : joints_) {
      const int k = model_.bodies[at(b)].iv;
      const double tau = simulation.torque()[k];
      torque_squares_ += tau * tau;
      ++torques_;
      result_.torque_max = std::max(result_.torque_max, std::abs(tau));
      const double excess = std::abs(tau) - model_.joints.effort_limit[k];
      result_.limit_excess = torques_ == 1 ? excess : std::max(result_.limit_excess, excess);
    }
  }

  void take_feet(Simulation& simulation, double t, double dt) {
    for (std::size_t f = 0; f < stances_.size(); ++f) {
      const int geometry = member_.feet[f];
      const bool stands = !task_.trot || task_.trot->stands(diagonal_[f], t, dt);
      bool closed = false;
      for (const ContactReport& c : simulation.contacts()) {
        if ((c.geometry_a != geometry && c.geometry_b != geometry) || c.mode == ContactMode::Open) continue;
        closed = true;
        if (stands) result_.slip += dt * c.c.head<2>().norm();
      }
      Stance& stance = stances_[f];
      const Geometry& foot = model_.geometries[at(geometry)];
      const Vec3 p = simulation.body_pose(foot.body) * foot.X_BG.p;
      if (stance.open && stands && closed) stance.drift += (p - stance.from).head<2>().norm();
      stance.open = stands && closed;
      stance.from = p;
    }
  }

  const Model& model_;
  Task task_;
  Member member_;
  std::vector<int> joints_, diagonal_;
  JointMotion motion_;
  State before_;
  Followed result_;
  std::vector<Stance> stances_;
  long sample_ = 1;
  double samples_ = 0, torque_squares_ = 0, torques_ = 0;
};

}  // namespace

Followed follow_task(const Scene& scene, const Task& task) {
  Simulation simulation = make_simulation(scene);
  Watch watch(scene, task);
  const auto steps = static_cast<long>(std::ceil(scene.duration / scene.dt - 1e-9));
  for (long k = 0; k < steps; ++k)
    if (!watch.step(simulation, {})) break;
  return watch.finish(simulation);
}

double cost_of_step(Scene scene, int runs) {
  scene.stepper_options.audit = AuditLevel::Laws;
  double least = std::numeric_limits<double>::infinity();
  const auto steps = static_cast<long>(std::ceil(scene.duration / scene.dt - 1e-9));
  for (int r = 0; r < runs; ++r) {
    Simulation simulation = make_simulation(scene);
    const double start = cpu_seconds();
    for (long k = 0; k < steps; ++k) simulation.step();
    least = std::min(least, (cpu_seconds() - start) / static_cast<double>(steps));
  }
  return 1e6 * least;
}

LargestStep largest_step(const Scene& scene, const Way& way, const Task& task, bool quick) {
  constexpr double first = 1e-3, cap = 0.1;
  auto run = [&](double dt) {
    Scene copy = scene;
    copy.dt = dt;
    way.apply(copy);
    return follow_task(copy, task);
  };
  LargestStep out;
  double unstable = 0;
  for (double dt = first; unstable == 0; dt = std::min(2 * dt, cap)) {
    out.runs.push_back(run(dt));
    if (out.runs.back().stable) {
      out.dt = dt;
      out.at_largest = out.runs.back();
      if (dt == cap) return out;
    } else {
      unstable = dt;
    }
  }
  for (int k = 0; out.dt > 0 && k < (quick ? 2 : 6); ++k) {
    const double middle = 0.5 * (out.dt + unstable);
    const Followed tried = run(middle);
    if (tried.stable) {
      out.dt = middle;
      out.at_largest = tried;
    } else {
      unstable = middle;
    }
  }
  return out;
}

void tabulate(const std::string& title, const std::vector<Case>& cases, const Task& task, bool quick,
              const Progress& progress, Result& result) {
  const bool feet = !cases.front().scene->model->members[at(task.member)].feet.empty();
  Table table{title,
              {"control", "largest step [ms]", "mean abs error [rad]", "processor time [ms]", "a step [us]",
               "largest torque [N m]", "unstable by"},
              {}};
  if (feet) table.columns.insert(table.columns.end(), {"slip [mm]", "steps not solved, at worst [%]"});
  Panel bars{"Joint error over the step, cut at 1e-6 and 1 rad; pale: unstable", "time step [ms]",
             "mean absolute joint error [rad]", false, true};
  bars.bars = true;
  for (double dt = 1e-3; dt < 0.1; dt *= 2) bars.categories.push_back(in_ms(dt));
  bars.categories.push_back("100 ms");
  int done = 0;
  for (const Case& c : cases) {
    const LargestStep found = largest_step(*c.scene, c.way, task, quick);
    Series series{c.way.label, {}, {}, {}};
    std::string why = "-";
    double unsolved = 0;  // at the worst of the steps
    for (std::size_t k = 0; k < found.runs.size(); ++k) {
      const Followed& run = found.runs[k];
      series.x.push_back(static_cast<double>(k));
      series.y.push_back(std::clamp(run.mae, 1e-6, 1.0));
      series.faded.push_back(!run.stable);
      unsolved = std::max(unsolved, failed_share(run.audit));
      if (!run.stable) why = run.why;
      if (run.stable) result.measures[c.way.key + "_mae_" + std::to_string(std::lround(1e6 * run.dt)) + "us"] = run.mae;
    }
    bars.series.push_back(series);
    Scene timed = *c.scene;
    timed.dt = found.dt > 0 ? found.dt : 1e-3;
    c.way.apply(timed);
    const double cost = cost_of_step(timed, quick ? 1 : 5);
    const Followed& run = found.dt > 0 ? found.at_largest : found.runs.front();
    table.rows.push_back(
        {c.way.label, 1e3 * found.dt, run.mae, 1e-3 * cost * std::ceil(5 / timed.dt), cost, run.torque_max, why});
    if (feet) table.rows.back().insert(table.rows.back().end(), {1e3 * run.slip, 100 * unsolved});
    result.measures[c.way.key + "_largest_step"] = found.dt;
    result.measures[c.way.key + "_mae"] = run.mae;
    result.measures[c.way.key + "_cost"] = cost;
    if (feet) result.measures[c.way.key + "_slip"] = run.slip;
    if (feet) result.measures[c.way.key + "_unsolved"] = unsolved;
    progress(++done / static_cast<double>(cases.size()));
  }
  result.tables.push_back(table);
  result.panels.push_back(bars);
}

PdOptions pd_of(const Scene& scene) { return scene.controllers.at(0).pd.value(); }

Way pd_way(const std::string& label, const std::string& key, bool implicit) {
  return {label, key, [implicit](Scene& scene) {
            PdOptions pd = pd_of(scene);
            pd.implicit = implicit;
            set_effort_limits(scene, std::numeric_limits<double>::infinity());
            scene.controllers = {pd_spec(pd)};
          }};
}

Way inverse_way(const std::string& label, const std::string& key, TargetLaw law) {
  return {label, key, [law](Scene& scene) {
            InverseDynamicsOptions options;
            options.reference = pd_of(scene).reference;
            options.target.law = law;
            set_effort_limits(scene, std::numeric_limits<double>::infinity());
            scene.controllers = {inverse_spec(options)};
          }};
}

ControllerSpec pd_spec(const PdOptions& options) {
  return {"pd", options.member, [options](const Model& m) { return make_pd(m, options); }, options};
}

ControllerSpec constraint_spec(const VelocityConstraintOptions& options) {
  return {"velocity-constraint", options.member,
          [options](const Model& m) { return make_velocity_constraint(m, options); }, std::nullopt};
}

ControllerSpec inverse_spec(const InverseDynamicsOptions& options) {
  return {"inverse-dynamics", options.member, [options](const Model& m) { return make_inverse_dynamics(m, options); },
          std::nullopt};
}

void set_hand_gains(const Scene& scene, double w, PdOptions& pd) {
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, VecX::Zero(scene.model->nv));
  const VecX G = dynamics.mass_matrix().inverse().diagonal();
  for (Eigen::Index k = 0; k < pd.kp.size(); ++k) {
    pd.kp[k] = w * w / G[k];
    pd.kd[k] = 2 * w / G[k];
  }
}

void set_effort_limits(Scene& scene, double limit) {
  auto model = std::make_shared<Model>(*scene.model);
  for (int k = 0; k < model->nv; ++k)
    if (model->actuated(k)) model->joints.effort_limit[k] = limit;
  scene.model = std::move(model);
}

double failed_share(const Audit& audit) {
  return static_cast<double>(audit.unconverged + audit.infeasible) / std::max(1.0, static_cast<double>(audit.steps));
}

double worst_law(const Audit& audit) {
  return std::max({audit.laws.signorini, audit.laws.coulomb, audit.laws.dissipation});
}

std::string in_ms(double dt) { return shown(1e3 * dt) + " ms"; }

std::string ms_key(double dt) { return std::to_string(std::lround(1e3 * dt)) + "ms"; }

}  // namespace tribo::experiments
