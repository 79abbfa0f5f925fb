#include "stepping/rigid/impacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/step.hpp"

namespace tribo {
namespace {

constexpr int most_meetings = 200;         // of each contact
constexpr int most_impact_sweeps = 20000;  // of (impacts.2)
constexpr double stopped_share = 1e-15;    // of the fastest contact
constexpr double at_target = 1e-12;        // the same: whoever is as near has taken part, with force or without

}  // namespace

Impacts::Impacts(const Model& model) {
  bool bounces = false;
  for (int i = 0; i < model.surfaces(); ++i) bounces |= model.surface(i).restitution > 0;
  if (!bounces) return;
  pairs_.reserve(most_contacts);
  hit_.reserve(most_contacts);
  for (std::vector<double>* x : {&target_, &c_, &came_, &f_, &first_gap_}) x->reserve(most_contacts);
  G_.reserve(most_contacts * most_contacts);
}

bool Impacts::find(ImpactLaw law, const ContactProblem& problem, const double* before, double dt) {
  n_ = problem.nc();
  const auto bounces = [](const Pair& p) { return p.bounces; };
  if (n_ < 2 || !problem.dense() || std::none_of(pairs_.begin(), pairs_.end(), bounces)) return false;
  c_.resize(at(n_));
  f_.assign(at(n_), 0);
  hit_.assign(at(n_), 0);
  G_.resize(at(n_ * n_));
  target_.assign(at(n_), std::numeric_limits<double>::quiet_NaN());
  const auto G = problem.G();
  first_gap_.resize(at(n_));
  for (int i = 0; i < n_; ++i) {
    first_gap_[at(i)] = pairs_[at(i)].gap;
    c_[at(i)] = before[3 * i + 2];
    for (int j = 0; j < n_; ++j) G_[at(i * n_ + j)] = G(3 * i + 2, 3 * j + 2);
  }
  if (!(law == ImpactLaw::Poisson ? all_at_once(dt) : one_by_one(law, dt))) return false;
  for (int i = 0; i < n_; ++i)  // a pair that has met and comes back may close the gap of the start again, but no more
    if (hit_[at(i)]) target_[at(i)] = std::max(c_[at(i)], std::min(-first_gap_[at(i)] / dt, 0.0));
  return true;
}

void Impacts::push(int k, double impulse) {
  for (int i = 0; i < n_; ++i) c_[at(i)] += G_[at(i * n_ + k)] * impulse;
}

// (impacts.3): the pair that meets first, again and again. False where Newton's law of the start says the same.
bool Impacts::one_by_one(ImpactLaw law, double dt) {
  double now = 0;
  bool more = law == ImpactLaw::Sequential;
  for (int meeting = 0; meeting < most_meetings * n_; ++meeting) {
    int next = -1;
    double when = std::numeric_limits<double>::infinity();
    for (int i = 0; i < n_; ++i) {
      const Pair& p = pairs_[at(i)];
      // The step moves along its last velocities all the way: what these close must have met, be it after dt.
      if (p.restitution <= 0 || !(c_[at(i)] < -p.slowest) || first_gap_[at(i)] + dt * c_[at(i)] > 0) continue;
      const double t = p.gap <= p.touching ? now : now - p.gap / c_[at(i)];
      if (t >= when) continue;
      next = i;
      when = t;
    }
    if (next < 0) return more;
    for (int i = 0; i < n_; ++i) pairs_[at(i)].gap += (when - now) * c_[at(i)];
    pairs_[at(next)].gap = 0;
    now = when;
    more |= !pairs_[at(next)].bounces || hit_[at(next)];
    if (law == ImpactLaw::Sequential)
      hit_[at(next)] = 1, push(next, -(1 + pairs_[at(next)].restitution) * c_[at(next)] / G_[at(next * n_ + next)]);
    else if (!together())
      return false;
  }
  return false;
}

// (impacts.1) for the contacts that touch: c' + e c >= 0, and equal where there is an impulse.
bool Impacts::together() {
  came_ = c_;
  f_.assign(at(n_), 0);
  return sweep([&](int i) { return pairs_[at(i)].gap <= pairs_[at(i)].touching; },
               [&](int i) { return pairs_[at(i)].restitution * std::min(came_[at(i)], 0.0); });
}

// Gauss-Seidel on the normals: f >= 0, c + shift >= 0, one of them 0, for those that take part.
template <class TakesPart, class Shift>
bool Impacts::sweep(TakesPart takes_part, Shift shift) {
  double fastest = 0;
  for (double c : c_) fastest = std::max(fastest, std::abs(c));
  for (int sweep = 0; sweep < most_impact_sweeps; ++sweep) {
    double change = 0;
    for (int i = 0; i < n_; ++i) {
      if (!takes_part(i)) continue;
      const double G = G_[at(i * n_ + i)], f = std::max(0.0, f_[at(i)] - (c_[at(i)] + shift(i)) / G);
      const double d = f - f_[at(i)];
      f_[at(i)] = f;
      if (d != 0) push(i, d);
      change = std::max(change, std::abs(d) * G);
    }
    if (change > stopped_share * fastest) continue;
    for (int i = 0; i < n_; ++i)
      if (takes_part(i) && c_[at(i)] + shift(i) <= at_target * fastest) hit_[at(i)] = 1;
    return true;
  }
  return false;
}

// (impacts.2)
bool Impacts::all_at_once(double dt) {
  double fastest = 0;
  for (double c : c_) fastest = std::max(fastest, std::abs(c));
  const bool stopped = sweep(
      [&](int i) {
        return pairs_[at(i)].restitution > 0 && pairs_[at(i)].gap <= std::max(fastest * dt, pairs_[at(i)].touching);
      },
      [](int) { return 0.0; });
  for (int i = 0; i < n_; ++i)
    if (f_[at(i)] > 0) push(i, pairs_[at(i)].restitution * f_[at(i)]);
  return stopped;
}

}  // namespace tribo
