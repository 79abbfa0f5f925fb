#include "stepping/substeps.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr int most_substeps = 64;  // in a step, or in half of a pair; what touches then is taken late
constexpr int most_retries = 8;
constexpr int most_solves = 400;             // in a step; then the rest of it is crossed at once
constexpr int most_accurate_solves = 10000;  // where accuracy is asked for
constexpr int most_iterations = 1000;        // of a scheme's own method in a step
constexpr double least_held = 1e-3;          // shortest substep for a change of a contact, of the step
constexpr double least_share = 1e-9;         // shortest substep, of the step
constexpr double most_motion = 100;          // in a step that is divided [m] or [rad]
constexpr double same_time = 1e-13;          // of a touch that is found to the last digit, of the step

// First time at which gap + speed t + acceleration t^2 / 2 falls to 0, or infinity.
double touching_time(double gap, double speed, double acceleration) {
  const double discriminant = speed * speed - 2 * acceleration * gap;
  if (discriminant < 0) return HUGE_VAL;
  const double root = std::sqrt(discriminant);
  if (speed < 0) return 2 * gap / (root - speed);  // no cancellation, whatever the acceleration
  return acceleration < 0 ? -(speed + root) / acceleration : HUGE_VAL;
}

}  // namespace

bool Substeps::run(Crossing& crossing) {
  crossing.save(start_);
  lengths_.clear();
  left_ = rules_.accuracy > 0 ? most_accurate_solves : most_solves;
  if (rules_.accuracy > 0 ? cross_accurately(crossing) : cross(crossing, crossing.step())) {
    StepStatus& status = crossing.report().status;
    if (spent() && status == StepStatus::Ok) status = StepStatus::Unconverged;
    return true;
  }
  const StepStatus status = crossing.report().status;
  crossing.restore(start_);
  crossing.report().status = status;
  crossing.report().solve = crossing.outcome().solve;
  return false;
}

bool Substeps::cross(Crossing& crossing, double duration) {
  double left = duration;
  count_ = 0;
  while (left > least_share * duration) {
    double taken = 0;
    if (!take(crossing, left, taken)) return false;
    left -= taken;
    lengths_.push_back(taken);
    ++count_;
  }
  return true;
}

// (substeps.2)
bool Substeps::cross_accurately(Crossing& crossing) {
  const double dt = crossing.step();
  double left = dt, h = dt;
  while (left > least_share * dt) {
    h = std::min(h, left);
    crossing.save(before_pair_);
    double taken = 0;  // up to h: both ways must cross the same contacts
    count_ = 0;
    if (!take(crossing, h, taken)) return false;
    q_single_ = crossing.state().q;
    v_single_ = crossing.state().v;
    crossing.restore(before_pair_);
    for (int k = 0; k < 2; ++k)
      if (!cross(crossing, 0.5 * taken)) return false;
    const State& state = crossing.state();
    const double error = state.v.size() == 0 ? 0
                                             : std::max((state.q - q_single_).cwiseAbs().maxCoeff(),
                                                        (state.v - v_single_).cwiseAbs().maxCoeff());
    const double share = error > 0 ? 0.9 * std::pow(rules_.accuracy / error, 1.0 / (rules_.order + 1)) : 5;
    if (error > rules_.accuracy && taken > 1e-6 * dt && !spent()) {
      crossing.restore(before_pair_);
      h = taken * std::clamp(share, 0.1, 0.8);
      continue;
    }
    if (error > rules_.accuracy) crossing.report().status = StepStatus::Unconverged;
    left -= taken;
    if (spent()) return left <= least_share * dt || cross(crossing, left);
    h = taken * std::clamp(share, 0.2, 5.0);
  }
  return true;
}

// A step may ask for more than any motion needs, or have come to numbers that nothing solves.
bool Substeps::spent() const { return left_ <= 0; }

bool Substeps::solve(Crossing& crossing, double h) {
  const int before = crossing.outcome().solve.iterations;
  const bool converged = crossing.solve(h);
  --left_;
  if (!converged) left_ -= (crossing.outcome().solve.iterations - before) * most_solves / most_iterations;
  return converged;
}

// One substep: as long as h, or until something ends it.
bool Substeps::take(Crossing& crossing, double h, double& taken) {
  const VecX& v = crossing.state().v;
  runs_away_ = v.size() > 0 && crossing.step() * v.cwiseAbs().maxCoeff() > most_motion;
  const bool may_split = rules_.touch && count_ < most_substeps && !spent() && !runs_away_;
  const double least = least_share * crossing.step(), left = h;
  if (may_split) crossing.save(before_substep_);
  for (int attempt = 0;; ++attempt) {
    crossing.begin();
    if (!find_length(crossing, h, may_split && attempt == 0, taken)) return false;
    h = taken;
    const auto open = crossing.open_contacts();
    open_before_.assign(open.begin(), open.end());
    if (!crossing.commit()) return false;
    if (!may_split || attempt == most_retries || spent()) break;
    const double t = late(crossing, h);
    const bool refines = exactly_ && t < left && std::abs(t - h) > same_time * crossing.step();
    if (!(t < h || refines) || h <= 2 * least) break;
    h = std::max(t, least);
    crossing.take_back(before_substep_);
  }
  crossing.close();
  return true;
}

// Solves for h, and again for less until nothing ends the substep before its end. False: the step is to stop.
bool Substeps::find_length(Crossing& crossing, double h, bool may_split, double& taken) {
  bool converged = solve(crossing, h);
  if (may_split) {
    const double t = std::max(crossing_time(crossing, h), least_share * crossing.step());
    if (t < h) converged = solve(crossing, h = t);
  }
  while (converged && crossing.outcome().held < 1 && h > crossing.step() * least_held && count_ < most_substeps &&
         !spent())
    converged = solve(crossing, h *= std::max(crossing.outcome().held, 0.02));  // (substeps.3)
  while (!converged && rules_.failure == FailurePolicy::Substep && h > crossing.step() / 64 && !spent() && !runs_away_)
    converged = solve(crossing, h *= 0.5);  // (substeps.4)
  taken = h;
  if (converged || rules_.failure != FailurePolicy::Stop) return true;
  crossing.report().status = StepStatus::Stopped;
  return false;
}

// When the first contact that is open now will touch, as the motion of the whole substep has it (substeps.1).
double Substeps::crossing_time(const Crossing& crossing, double h) const {
  const Start start = crossing.start(h);
  const VecX& v_mean = crossing.outcome().v_mean;
  double first = HUGE_VAL;
  std::size_t next = 0;
  for (const OpenContact& o : crossing.open_contacts()) {
    while (start.contacts[next].id != o.id) ++next;
    const Contact& c = start.contacts[next];
    Vec3 acceleration = Vec3::Zero();
    for (double sign : {1.0, -1.0}) {  // in one sum, so that no rounding is added
      const int body = sign > 0 ? c.body_b : c.body_a;
      if (body < 0) continue;
      acceleration += sign * start.dynamics.point_bias(body, c.p_WC);
      const Vec3 r = c.p_WC - start.dynamics.origin(model_.bodies[at(body)].tree);
      for (int k : model_.bodies[at(body)].chain) {
        const Spatial& S = start.dynamics.axis(k);
        acceleration += (sign * 2 / h * (v_mean[k] - start.state.v[k])) * (S.lin + S.ang.cross(r));
      }
    }
    first = std::min(first, touching_time(std::max(o.gap, 0.0), o.speed, c.R_WC.col(2).dot(acceleration)));
  }
  return first;
}

// Contacts that were open at the start of the substep and are deep now: when they touched, from both ends.
double Substeps::late(const Crossing& crossing, double h) const {
  const auto contacts = crossing.start(h).contacts;
  double first = HUGE_VAL;
  auto now = contacts.begin();
  for (const OpenContact& o : open_before_) {
    while (now != contacts.end() && now->id < o.id) ++now;
    if (now == contacts.end()) break;
    if (now->id != o.id) continue;
    const double touching = gap_of_touch(*now);
    if (o.gap <= touching || now->gap >= (exactly_ ? touching : -touching)) continue;
    const double acceleration = 2 * (now->gap - o.gap - h * o.speed) / (h * h);
    first = std::min(first, touching_time(o.gap, o.speed, acceleration));
  }
  return first;
}

}  // namespace tribo
