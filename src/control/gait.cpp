#include "control/gait.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

constexpr double early = 1e-9;  // times that differ by less are the same [s]

double sigma(double s) { return s * s * s * (10 + s * (-15 + 6 * s)); }
double sigma_rate(double s) { return 30 * s * s * (1 - s) * (1 - s); }

// From a to b within [from, to], along sigma.
Gait::Motion blend(const Vec3& a, const Vec3& b, double from, double to, double t) {
  if (t >= to - early) return {b, Vec3::Zero()};
  if (t <= from) return {a, Vec3::Zero()};
  const double s = (t - from) / (to - from);
  return {a + sigma(s) * (b - a), sigma_rate(s) / (to - from) * (b - a)};
}

}  // namespace

void check_trot(const Trot& trot) {
  auto refuse = [](const char* field, double value, const char* bound) {
    throw InvalidInput(std::string("trot: ") + field + " = " + shown(value) + ", must be " + bound);
  };
  if (!(trot.period > 0) || !std::isfinite(trot.period)) refuse("period", trot.period, "finite and > 0");
  if (!(trot.swing > 0) || trot.swing > 0.5 * trot.period) refuse("swing", trot.swing, "> 0 and at most period / 2");
  if (!(trot.height >= 0) || !std::isfinite(trot.height)) refuse("height", trot.height, "finite and >= 0");
  if (!std::isfinite(trot.speed)) refuse("speed", trot.speed, "finite");
  if (!(trot.ramp >= 0) || !std::isfinite(trot.ramp)) refuse("ramp", trot.ramp, "finite and >= 0");
  if (!(trot.duration > 0) || trot.duration > 1e4) refuse("duration", trot.duration, "> 0 and at most 10000");
}

Gait::Gait(const Trot& trot, const Vec3& lean, double tick)
    : trot_(trot), lean_(lean), tick_(tick), swings_(static_cast<int>(2 * (trot.duration + early) / trot.period)) {}

double Gait::rounded(double t) const { return tick_ > 0 ? std::round(t / tick_) * tick_ : t; }

double Gait::start(int k) const { return rounded(0.5 * trot_.period * (k + 1) - trot_.swing); }

double Gait::end(int k) const {
  if (k < 0) return 0;
  return std::max(rounded(0.5 * trot_.period * (k + 1)), start(k) + tick_);
}

int Gait::last_swing(int diagonal, double t) const {
  int k = static_cast<int>(2 * std::max(t, 0.0) / trot_.period) + 1;
  k -= (k - diagonal) & 1;
  while (k >= 0 && (k >= swings_ || start(k) > t + early)) k -= 2;
  return k;
}

bool Gait::stands(int diagonal, double t) const {
  const int k = last_swing(diagonal, t);
  return k < 0 || t >= end(k) - early;
}

// The strides grow to speed period/2 within the ramp. Summed without a loop over what came before the ramp's end.
double Gait::advanced(int k) const {
  const double half = 0.5 * trot_.period, stride = trot_.speed * half;
  const int whole = static_cast<int>(std::ceil(trot_.ramp / half));
  double x = 0;
  for (int j = 1; j <= std::min(k, whole); ++j)
    x += stride * (trot_.ramp > 0 ? sigma(std::min(j * half / trot_.ramp, 1.0)) : 1.0);
  return x + stride * std::max(k - whole, 0);
}

Vec3 Gait::rest(int k) const { return k < 0 ? Vec3::Zero().eval() : Vec3(lean_ + Vec3(advanced(k), 0, 0)); }

Gait::Motion Gait::base(double t) const {
  int next = std::clamp(static_cast<int>(2 * std::max(t, 0.0) / trot_.period) - 1, 0, std::max(swings_ - 1, 0));
  while (next < swings_ - 1 && t >= end(next) - early) ++next;  // rounding may have moved the end
  return blend(rest(next - 1), rest(next), end(next - 1), std::max(start(next) - tick_, end(next - 1) + tick_), t);
}

Gait::Motion Gait::foot(int diagonal, double t) const {
  const int k = last_swing(diagonal, t);
  if (k < 0) return {};
  const Vec3 from(k >= 2 ? advanced(k - 1) : 0, 0, 0), to(advanced(k + 1), 0, 0);
  if (t >= end(k) - early) return {to, Vec3::Zero()};
  Motion motion = blend(from, to, start(k), std::max(end(k) - tick_, start(k) + tick_), t);
  const double T = end(k) - start(k), s = std::max((t - start(k)) / T, 0.0), u = s * (1 - s);
  motion.p.z() = 64 * trot_.height * u * u * u;
  motion.v.z() = 192 * trot_.height * u * u * (1 - 2 * s) / T;
  return motion;
}

double Gait::deviation(int diagonal, double t) const {
  const int k = last_swing(diagonal, t);
  if (k < 0) return 1;
  const double from = start(k), to = std::max(end(k) - tick_, from + tick_);
  return t >= to - early ? 0 : 1 - sigma(std::max((t - from) / (to - from), 0.0));
}

bool Gait::lands(int diagonal, double t) const {
  const int k = last_swing(diagonal, t);
  return k >= 0 && std::abs(t - end(k)) < early && end(k) - start(k) > 1.5 * tick_;
}

std::vector<Leg> find_legs(const Model& model, const Member& member, const Dynamics& dynamics, const VecX& q,
                           const std::string& owner) {
  if (member.feet.size() != 4 || model.bodies[at(member.first_body)].joint != JointKind::Free)
    throw InvalidInput(owner + ": '" + member.name + "' must have a free base and four feet, it has " +
                       std::to_string(member.feet.size()));
  std::vector<Leg> legs;
  for (int f = 0; f < 4; ++f) {
    const Geometry& foot = model.geometries[at(member.feet[at(f)])];
    Leg leg;
    leg.body = foot.body;
    leg.point = foot.X_BG.p;
    leg.radius = foot.kind == ShapeKind::Sphere ? foot.size.x() : 0;
    leg.home = dynamics.X_WB(foot.body) * leg.point;
    leg.diagonal = trot_diagonal(model, member, q, f);
    int body = foot.body;
    for (std::size_t k = 3; k-- > 0;) {
      const Body& b = model.bodies[at(body)];
      if (nv_of(b.joint) != 1 || b.joint == JointKind::Continuous)
        throw InvalidInput(owner + ": a leg of '" + member.name + "' has fewer than three revolute joints");
      leg.iv[k] = b.iv;
      leg.iq[k] = b.iq;
      body = b.parent;
    }
    if (body != member.first_body)
      throw InvalidInput(owner + ": a leg of '" + member.name + "' has more than three joints");
    legs.push_back(leg);
  }
  return legs;
}

Mat3 leg_jacobian(const Dynamics& dynamics, const Leg& leg, const Vec3& p_W) {
  Eigen::Matrix<double, 3, 9> J;  // a free base and three joints
  dynamics.point_jacobian(leg.body, p_W, Mat3::Identity(), J.data());
  return J.rightCols<3>();
}

Vec3 find_lean(const Model& model, const Member& member, const Dynamics& dynamics, const std::vector<Leg>& legs) {
  Vec3 middle = Vec3::Zero();
  for (const Leg& leg : legs) middle += 0.25 * leg.home;
  Vec3 lean = middle - dynamics.center_of_mass(model.bodies[at(member.first_body)].tree);
  lean.z() = 0;
  return lean;
}

bool Trot::stands(int diagonal, double t, double dt) const {
  const double half = 0.5 * period, swings = std::floor((duration + early) / half);
  for (double k = std::floor(t / half) - 1; k <= (t + dt) / half + 1; ++k) {
    if (k < 0 || k >= swings || std::fmod(k, 2) != diagonal) continue;
    const double from = half * (k + 1) - swing, to = half * (k + 1);
    if (t + dt > from + early && t < to - early) return false;
  }
  return true;
}

int trot_diagonal(const Model& model, const Member& member, const VecX& q, int foot) {
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  const Geometry& g = model.geometries[at(member.feet[at(foot)])];
  const Vec3 p = dynamics.X_WB(member.first_body).inverse() * (dynamics.X_WB(g.body) * g.X_BG.p);
  return p.x() * p.y() > 0 ? 0 : 1;
}

}  // namespace tribo
