// Inverse-dynamics control: the torques that would give the driven joints the velocities that are asked for, sent to a
// stepper that knows nothing of it.
//   a = (target - v)/dt, target by (target.1) or (target.2)
// A robot fixed to the world, by the recursive equations of motion, joint damping D included:
//   tau = M a + h + D target                                                                    (inverse.1)
// A floating base needs the contact forces. They are predicted without complementarity [Zapolsky2013;
// DrumwrightShell2010]: those that leave the least kinetic energy,
//   min 1/2 v'^T M v'   over f in the friction cones,  (J v')_N >= 0,  v'_k = target_k           (inverse.2)
// Without its inequality (inverse.2) is the cone problem (ccp) with the targets as rows, and the solution of that has
// (J v')_N >= mu |(J v')_T| >= 0: the two are the same, and the rows' forces are the torques.
#include <cmath>

#include "base/names.hpp"
#include "collision/collision.hpp"
#include "control/joints.hpp"
#include "dynamics/motions.hpp"
#include "tribo/assembly.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {
namespace {

constexpr double margin = 1e-3;  // contacts that are predicted from this gap on [m]

// (inverse.2): the controller's own copy of the step's problem.
class Prediction {
 public:
  explicit Prediction(const Model& model)
      : dynamics_(model), collision_(model), assembly_(model), motions_(model.bodies.size() + model.kinematic.size()) {
    SolverOptions options;
    options.model = ContactModel::Ccp;
    options.max_iterations = 2000;
    solver_ = make_contact_solver("admm", options);
    for (VecX* x : {&extra_, &v_free_}) x->setZero(model.nv);
  }

  /// Torques that meet the targets, within the limits of the actuation; added to its tau. last: the torques before (one
  /// a joint), where the solve begins.
  void torques(const Model& model, const State& state, const std::vector<DrivenJoint>& joints, const VecX& target,
               std::span<double> last, Actuation& a) {
    dynamics_.compute(state.q, state.v);
    free_motion(model, state, a.dt);
    fill_motions(model, dynamics_, state.kinematic_time(), a.dt, motions_);
    collision_.detect(motions_, {margin, a.dt}, state.memory.contacts);
    rows_.clear();
    for (const DrivenJoint& joint : joints)
      rows_.push_back({.along = Coordinate{joint.iv},
                       .law = VelocityTarget{},
                       .bias = -target[joint.j] / a.dt,
                       .lower = a.lower[joint.iv],
                       .upper = a.upper[joint.iv]});
    assembly_.group(collision_.contacts(), rows_);
    for (int i = 0; i < assembly_.islands(); ++i) solve(model, assembly_.island(i), state, last, a);
  }

 private:
  void free_motion(const Model& model, const State& state, double dt) {
    const VecX &h = dynamics_.h(), &D = model.joints.damping;
    extra_ = dt * D;
    v_free_ = -dt * (h + D.cwiseProduct(state.v));
    dynamics_.factor(extra_);
    for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) dynamics_.solve_in_place(t, v_free_.data());
    v_free_ += state.v;
  }

  void solve(const Model& model, const Island& island, const State& state, std::span<double> last, Actuation& a) {
    const double dt = a.dt;
    const auto contacts = collision_.contacts();
    assembly_.build(island, contacts, rows_, dynamics_, state.v, v_free_, true, problem_, before_, free_);
    f_.setZero(problem_.size());
    problem_.g() = free_.map() / dt;
    problem_.R().setZero();
    for (int i = 0; i < problem_.nc(); ++i) {
      const Contact& contact = contacts[at(island.contacts[at(i)])];
      problem_.g()[3 * i + 2] += std::max(contact.gap, 0.0) / (dt * dt);
      problem_.mu()[i] = model.surface(contact.surface).mu_static;
    }
    for (int j = 0; j < problem_.nr(); ++j) {
      const Row& row = rows_[at(island.rows[at(j)])];
      problem_.g()[3 * problem_.nc() + j] += row.bias;
      problem_.lower()[j] = row.lower;
      problem_.upper()[j] = row.upper;
      f_[3 * problem_.nc() + j] = std::clamp(last[at(island.rows[at(j)])], row.lower, row.upper);
    }
    solver_->solve(problem_, Tolerance{0, 1e-7}, f_.map());
    for (int j = 0; j < problem_.nr(); ++j) {
      const std::size_t r = at(island.rows[at(j)]);
      last[r] = f_[3 * problem_.nc() + j];
      a.tau[rows_[r].coordinate()->dof] += last[r];
    }
  }

  Dynamics dynamics_;
  Collision collision_;
  Assembly assembly_;
  std::vector<BodyMotion> motions_;
  std::unique_ptr<ContactSolver> solver_;
  ContactProblem problem_;
  std::vector<Row> rows_;
  VectorBuffer before_, free_, f_;
  VecX extra_, v_free_;
};

class InverseDynamics final : public Controller {
 public:
  InverseDynamics(const Model& model, const InverseDynamicsOptions& options)
      : options_(options), member_(model.members[at(options.member)]) {
    const std::string owner = "inverse-dynamics controller of '" + member_.name + "'";
    if (!options.reference) throw InvalidInput(owner + ": needs a reference");
    check_reference(*options.reference, member_, owner);
    check_limits(options.limits, model, member_, owner);
    check_period(options.period, owner);
    if (!(options.target.share >= 0) || options.target.share > 1)
      throw InvalidInput(owner + ": share = " + shown(options.target.share) + ", must be within [0, 1]");
    joints_ = driven_joints(model, member_, {}, owner);
    now_ = next_ = JointMotion(member_.nv);
    target_.setZero(member_.nv);
    acceleration_.setZero(model.nv);
    force_.setZero(model.nv);
    if (static_cast<int>(joints_.size()) < member_.nv) prediction_ = std::make_unique<Prediction>(model);
  }

  double period() const override { return options_.period; }
  int memory() const override { return prediction_ ? static_cast<int>(joints_.size()) : 0; }

  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
               Actuation& a) override {
    options_.reference->at(state.t, now_);
    options_.reference->at(state.t + a.dt, next_);
    for (const DrivenJoint& joint : joints_) {
      narrow(options_.limits, joint, a);
      const Body& body = model.bodies[at(joint.body)];
      target_[joint.j] = target_velocity(options_.target, body, joint, now_, next_, state.q, a.dt);
      acceleration_[joint.iv] = (target_[joint.j] - state.v[joint.iv]) / a.dt;
    }
    if (prediction_) {
      prediction_->torques(model, state, joints_, target_, memory, a);
      return;
    }
    const int tree = model.bodies[at(member_.first_body)].tree;
    dynamics.multiply(tree, acceleration_.data(), force_.data());
    for (const DrivenJoint& joint : joints_)
      a.tau[joint.iv] +=
          force_[joint.iv] + dynamics.h()[joint.iv] + model.joints.damping[joint.iv] * target_[joint.j];  // (inverse.1)
  }

 private:
  InverseDynamicsOptions options_;
  Member member_;
  std::vector<DrivenJoint> joints_;
  JointMotion now_, next_;
  VecX target_, acceleration_, force_;
  std::unique_ptr<Prediction> prediction_;
};

}  // namespace

std::unique_ptr<Controller> make_inverse_dynamics(const Model& model, const InverseDynamicsOptions& options) {
  return std::make_unique<InverseDynamics>(model, options);
}

}  // namespace tribo
