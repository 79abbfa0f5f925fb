// What changes its law within an exponential step: contacts that slip or let go, joint springs that reach a bound.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stepping/compliant/exponential.hpp"

namespace tribo {
namespace {

constexpr int most_passes = 12, many_passes = 100;  // the second where friction is to be exact
constexpr double event_slop = 1e-6;                 // of the force: a law broken by so little still holds

// Share of the step after which a margin passes 0; the mean gives its bend.
double root(double begin, double end, double mean) {
  const double b = 3 * (begin + end) - 6 * mean, a = end - begin - b, d = std::sqrt(a * a - 4 * b * begin);
  const double q = -0.5 * (a + std::copysign(d, a)), t = q != 0 ? begin / q : 0;
  return t > 0 && t < 1 ? t : q / b;
}

// 1 where the law that was taken holds at both ends, to within small; else the share up to the change.
double up_to_change(double begin, double end, double mean, double small) {
  if (begin >= -small && end >= -small) return 1;
  if (begin < -small && end < -small) return 0.5;
  const double beyond = begin < end ? -0.5 * small : 0.5 * small;  // so that the change lies behind
  return root(begin + beyond, end + beyond, mean + beyond);
}

// 1 where the force between the ends is what they say; else the share of h that a quarter of a swing takes: in more than that
// a contact lets go and comes back unseen (expo.11). G: what a unit of force moves the contact by.
double up_to_swing(double K, double B, double G, double h, double begin, double end, double mean) {
  const bool steady = std::abs(begin - mean) <= 0.5 * mean && std::abs(end - mean) <= 0.5 * mean;
  const double turn2 = (K - 0.25 * B * B * G) * G * h * h, quarter = 0.5 * std::numbers::pi;
  return steady || !(turn2 > (1 + 1e-9) * quarter * quarter) ? 1 : quarter / std::sqrt(turn2);
}

}  // namespace

// (expo.6)
bool Exponential::let_slip(const Island& island, double h, bool cones) {
  const int nc = problem_.nc(), nr = problem_.nr();
  hold_.assign(at(nc), Hold::Stick);
  pushed_.assign(at(nc), false);
  known_.setZero(problem_.size());
  against_.setZero(problem_.size());
  auto contact = [&](int i) -> const CompliantContact& { return active_[at(island.contacts[at(i)])]; };
  for (int i = 0; i < nc && cones; ++i)
    if (!(contact(i).f.z() > 0) && !contact(i).fresh) let_go(i);  // it pulls at the start
  if (!integrate_forces(h, true)) return false;
  bool turned = false;  // since a contact last changed its law
  const int passes = settled_ < 1e-10 ? many_passes : most_passes;
  for (int pass = 0; pass < passes; ++pass) {
    other_springs_ = other_forces_ = false;
    for (int i = 0; i < nc && cones; ++i) classify(contact(i), i, h);
    for (int j = 0; j < nr && driven_; ++j)
      if (JointSpring* s = joint(island, j)) classify(*s, 3 * nc + j, h);
    if (other_springs_) turned = false;
    if (!other_springs_ && !other_forces_) {
      if (turned) break;
      turned = true;
      for (int i = 0; i < nc; ++i)
        if (hold_[at(i)] == Hold::Slip) turn_friction(contact(i), i, h);
      if (!other_forces_) break;
    }
    if (!integrate_forces(h, other_springs_)) return false;
  }
  for (int i = 0; i < nc; ++i) settle(contact(i), i);
  for (int j = 0; j < nr && driven_; ++j)
    if (const JointSpring* s = joint(island, j); s != nullptr && s->bound != 0)
      f1_[3 * nc + j] = f2_[3 * nc + j] = known_[3 * nc + j];
  return true;
}

// Takes the springs along the surface away where a contact slips, and keeps its friction up with f_N; all springs
// where it pulls.
void Exponential::classify(const CompliantContact& s, int i, double h) {
  const int o = 3 * i;
  Hold& hold = hold_[at(i)];
  const Vec3 f = f1_.map().segment<3>(o);
  auto against = against_.map().segment<2>(o);
  if (hold == Hold::Stick) {
    const double tangential = f.head<2>().norm(), mu = s.mu();
    if (f.z() > 0 && tangential <= mu * f.z()) return;
    hold = Hold::Slip;
    K_[o] = K_[o + 1] = B_[o] = B_[o + 1] = 0;
    other_springs_ = true;
    if (tangential > 0) against = f.head<2>() / tangential;
    // The stick forces of others may have pulled at it: the normal force is sought once more.
    set_friction(s.mu() * (f.z() > 0 ? f.z() : s.f.z()) * against, i);
  } else if (hold == Hold::Slip && f.z() > 0) {
    set_friction(s.mu() * f.z() * against, i);
  } else if (hold == Hold::Slip) {
    let_go(i);
  } else if (!pushed_[at(i)] && would_push(s, i, h)) {
    pushed_[at(i)] = true;  // once, so that the passes end
    hold = Hold::Stick;
    K_.map().segment<3>(o) = s.K;
    B_.map().segment<3>(o) = s.B;
    other_springs_ = true;
  }
}

// Beyond its bounds a joint spring is a known force; back within them, by the motion of the step, it is a spring again
// (expo.9).
void Exponential::classify(JointSpring& s, int o, double h) {
  if (s.bound == 0) {
    if (!s.saturate(s.a + f1_[o])) return;
    K_[o] = B_[o] = 0;
    other_springs_ = true;
    set_known(s.at_bound() - s.a, o);
    return;
  }
  const double rate = free_[o] + problem_.G().col(o).dot(f1_.map());
  const double way = 0.5 * h * c_[o] + h * h * rate / 6, speed = c_[o] + 0.5 * h * rate;
  if (!s.release(s.at(way, speed))) return;
  K_[o] = s.K;
  B_[o] = s.B;
  other_springs_ = true;
  set_known(0, o);
}

void Exponential::set_known(double force, int o) {
  other_forces_ = true;
  free_.map() += (force - known_[o]) * problem_.G().col(o);
  known_[o] = force;
}

void Exponential::let_go(int i) {
  hold_[at(i)] = Hold::Open;
  K_.map().segment<3>(3 * i).setZero();
  B_.map().segment<3>(3 * i).setZero();
  other_springs_ = true;
  set_friction(Eigen::Vector2d::Zero(), i);
}

void Exponential::set_friction(const Eigen::Vector2d& friction, int i) {
  const Eigen::Vector2d change = friction - known_.map().segment<2>(3 * i);
  if (change.norm() <= settled_ * friction.norm()) return;
  other_forces_ = true;
  known_.map().segment<2>(3 * i) = friction;
  if (sparse_) {
    pending_.map().segment<2>(3 * i) += change;
    return;
  }
  for (int k = 0; k < 2; ++k) free_.map() += change[k] * problem_.G().col(3 * i + k);
}

// Mean velocity of a contact over the step, as forces and known friction have it.
Vec3 Exponential::mean_velocity(int i, double h) {
  const Vec3 free = free_.map().segment<3>(3 * i), start = c_.map().segment<3>(3 * i);
  return start + 0.5 * h * (free + moved(i, f2_, w2_));
}

// Friction along what spring and damper would give in the middle of the step, where that is about the way it had.
void Exponential::turn_friction(const CompliantContact& s, int i, double h) {
  auto against = against_.map().segment<2>(3 * i);
  Eigen::Vector2d x = s.x.head<2>();
  const Eigen::Vector2d f = known_.map().segment<2>(3 * i);
  if (draws(s)) x += std::expm1(-0.5 * h * s.K.x() / s.B.x()) * (x + f / s.K.x());
  const Eigen::Vector2d wanted = -s.K.x() * x - s.B.x() * mean_velocity(i, h).head<2>();
  const double size = wanted.norm();
  if (wanted.dot(against) <= 0.5 * size) return;
  against = wanted / size;
  set_friction(f.norm() * against, i);
}

// Would the springs of an open contact press in the mean?
bool Exponential::would_push(const CompliantContact& s, int i, double h) {
  const int j = 3 * i + 2;
  const double a = free_[j] + moved(i, f1_, w1_).z();
  const double x = s.x.z() + 0.5 * h * s.c.z() + h * h * a / 6, c = s.c.z() + 0.5 * h * a;
  return -s.K.z() * x - s.B.z() * c > 1e-9 * problem_.weight;
}

// Forces of what slips or is open, once the passes are over.
void Exponential::settle(const CompliantContact& s, int i) {
  if (hold_[at(i)] == Hold::Stick) return;
  auto f1 = f1_.map().segment<3>(3 * i), f2 = f2_.map().segment<3>(3 * i);
  f1.z() = std::max(f1.z(), 0.0);
  f2.z() = std::max(f2.z(), 0.0);
  const Eigen::Vector2d against = s.mu() * against_.map().segment<2>(3 * i);
  f1.head<2>() = f1.z() * against;
  f2.head<2>() = f2.z() * against;
}

// Does one law hold for each contact over the whole step? Judged by its start and its end. (expo.8)
double Exponential::watch(const Island& island, double h) {
  const int n = problem_.size();
  for (VectorBuffer* x : {&end_x_, &end_c_, &Gf1_, &Gf2_}) x->resize(n);
  problem_.multiply(f1_.data(), Gf1_.data());
  problem_.multiply(f2_.data(), Gf2_.data());
  end_c_.map() = c_.map() + h * (before_.map() + Gf1_.map());
  end_x_.map() = x_.map() + h * c_.map() + 0.5 * h * h * (before_.map() + Gf2_.map());
  double held = 1;
  for (int i = 0; i < problem_.nc(); ++i) held = std::min(held, share_held(active_[at(island.contacts[at(i)])], i, h));
  return held;
}

double Exponential::share_held(const CompliantContact& s, int i, double h) const {
  const Hold hold = hold_[at(i)];
  const Vec3 mean = f1_.map().segment<3>(3 * i), c = end_c_.map().segment<3>(3 * i);
  Vec3 x = end_x_.map().segment<3>(3 * i);
  if (hold != Hold::Stick) {  // the anchor has come along
    const Eigen::Vector2d goal = -mean.head<2>() / s.K.x();
    x.head<2>() = goal;
    if (draws(s)) x.head<2>() += std::exp(-h * s.K.x() / s.B.x()) * (s.x.head<2>() - goal);
  }
  const Vec3 begin = -s.K.cwiseProduct(s.x) - s.B.cwiseProduct(s.c);
  const Vec3 end = -s.K.cwiseProduct(x) - s.B.cwiseProduct(c);
  const double small = event_slop * std::max({mean.norm(), s.f.norm(), 1e-3 * problem_.weight});
  if (hold == Hold::Open) return up_to_change(-begin.z(), -end.z(), -0.5 * (begin.z() + end.z()), small);
  const double mu = s.mu();
  auto margin = [&](const Vec3& f) { return mu * f.z() - f.head<2>().norm(); };
  const double G = mean.z() > 0 ? std::abs(Gf1_[3 * i + 2]) / mean.z() : 0;
  const double presses = std::min(up_to_change(begin.z(), end.z(), mean.z(), small),
                                  up_to_swing(s.K.z(), s.B.z(), G, h, begin.z(), end.z(), mean.z()));
  if (hold == Hold::Stick) return std::min(presses, up_to_change(margin(begin), margin(end), margin(mean), small));
  const double middle = -0.5 * (margin(begin) + margin(end));
  return std::min(presses, up_to_change(-margin(begin), -margin(end), middle, small));
}

}  // namespace tribo
