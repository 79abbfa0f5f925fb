// A trot whose stance feet stand still in the world.
//   b(t): path of the base, from rest to the speed along x within the ramp, a quintic in between (trot.1) stance: the
//   foot stays at its foothold; swing, s in [0, 1]:  x = x0 + (x1 - x0) sigma(s),  z = 64 height s^3 (1-s)^3,
//           sigma = 10 s^3 - 15 s^4 + 6 s^5: no velocity against the ground at either end                      (trot.2)
//           foothold x1 = home + b(middle of the coming stance)
//   joints: foot in the level base = foothold - b, solved leg by leg by Newton's method, v from its Jacobian (trot.3)
#include <Eigen/LU>
#include <cmath>

#include "dynamics/dynamics.hpp"
#include "model/names.hpp"
#include "tribo/reference.hpp"

namespace tribo {
namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

constexpr double knot = 1e-3;  // [s]

struct Point {
  double x = 0, v = 0;
};

double sigma(double s) { return s * s * s * (10 + s * (-15 + 6 * s)); }
double sigma_rate(double s) { return 30 * s * s * (1 - s) * (1 - s); }

class Gait {
 public:
  explicit Gait(const Trot& trot) : t_(trot) {}

  // (trot.1): velocity speed * sigma(t / ramp), integrated.
  Point base(double t) const {
    if (t <= 0) return {};
    const double T = std::max(t_.ramp, 1e-9), s = std::min(t / T, 1.0), s4 = s * s * s * s;
    return {t_.speed * (T * s4 * (2.5 + s * (-3 + s)) + std::max(t - T, 0.0)), t_.speed * sigma(s)};
  }

  // Start of the swing that began last, or the one to come where none has begun.
  double swing_start(int diagonal, double t) const {
    const double first = 0.5 * t_.period * (1 + diagonal) - t_.swing;
    return first + std::max(0.0, std::floor((t - first) / t_.period + 1e-9)) * t_.period;
  }

  // Along x and z, relative to home.
  void foot(int diagonal, double t, Point& x, Point& z) const {
    const double start = swing_start(diagonal, t), s = std::max((t - start) / t_.swing, 0.0);
    x = z = {};
    if (t < start - 1e-9) return;
    const double from = foothold(diagonal, start - t_.period), to = foothold(diagonal, start);
    if (s >= 1) {
      x.x = to;
      return;
    }
    x = {from + (to - from) * sigma(s), (to - from) * sigma_rate(s) / t_.swing};  // (trot.2)
    const double u = s * (1 - s);
    z = {64 * t_.height * u * u * u, 192 * t_.height * u * u * (1 - 2 * s) / t_.swing};
  }

 private:
  double foothold(int diagonal, double start) const {
    if (start < swing_start(diagonal, 0) - 1e-9) return 0;
    return base(start + t_.swing + 0.5 * (t_.period - t_.swing)).x;
  }

  Trot t_;
};

void check(const Trot& trot) {
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

// One leg: the last three joints above the foot.
struct Leg {
  int body = 0;
  Vec3 point = Vec3::Zero();  // of the foot, in the body
  Vec3 home = Vec3::Zero();   // in W
  int iv[3] = {0, 0, 0}, iq[3] = {0, 0, 0};
  int diagonal = 0;
};

std::vector<Leg> find_legs(const Model& model, const Member& member, const Dynamics& dynamics, const VecX& q) {
  if (member.feet.size() != 4 || model.bodies[at_index(member.first_body)].joint != JointKind::Free)
    throw InvalidInput("trot: '" + member.name + "' must have a free base and four feet, it has " +
                       std::to_string(member.feet.size()));
  std::vector<Leg> legs;
  for (int f = 0; f < 4; ++f) {
    const Geometry& foot = model.geometries[at_index(member.feet[at_index(f)])];
    Leg leg;
    leg.body = foot.body;
    leg.point = foot.X_BG.p;
    leg.home = dynamics.X_WB(foot.body) * leg.point;
    leg.diagonal = trot_diagonal(model, member, q, f);
    int body = foot.body;
    for (int k = 2; k >= 0; --k) {
      const Body& b = model.bodies[at_index(body)];
      if (nv_of(b.joint) != 1 || b.joint == JointKind::Continuous)
        throw InvalidInput("trot: a leg of '" + member.name + "' has fewer than three revolute joints");
      leg.iv[k] = b.iv;
      leg.iq[k] = b.iq;
      body = b.parent;
    }
    legs.push_back(leg);
  }
  return legs;
}

Mat3 leg_jacobian(const Model& model, const Dynamics& dynamics, const Leg& leg) {
  const auto& chain = model.bodies[at_index(leg.body)].chain;
  MatX J(3, static_cast<Eigen::Index>(chain.size()));
  dynamics.point_jacobian(leg.body, dynamics.X_WB(leg.body) * leg.point, Mat3::Identity(), J.data());
  return J.rightCols<3>();
}

// (trot.3): q of the legs at time t; dynamics stands for it afterwards.
bool reach(const Model& model, const std::vector<Leg>& legs, const Gait& gait, double t, Dynamics& dynamics, VecX& q) {
  const VecX zero = VecX::Zero(model.nv);
  for (int iteration = 0; iteration < 30; ++iteration) {
    dynamics.compute(q, zero);
    double worst = 0;
    for (const Leg& leg : legs) {
      Point x, z;
      gait.foot(leg.diagonal, t, x, z);
      const Vec3 miss = leg.home + Vec3(x.x, 0, z.x) - dynamics.X_WB(leg.body) * leg.point;
      const Vec3 step = leg_jacobian(model, dynamics, leg).partialPivLu().solve(miss);
      if (!step.allFinite()) return false;
      worst = std::max(worst, miss.norm());
      for (int k = 0; k < 3; ++k) q[leg.iq[k]] += step[k];
    }
    if (worst < 1e-11) return true;
  }
  return false;
}

}  // namespace

bool Trot::stands(int diagonal, double t, double dt) const {
  const Gait gait(*this);
  const double start = gait.swing_start(diagonal, t);
  if (t < start - 1e-9) return t + dt <= start + 1e-9;
  return t >= start + swing - 1e-9 && t + dt <= start + period + 1e-9;
}

int trot_diagonal(const Model& model, const Member& member, const VecX& q, int foot) {
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  const Geometry& g = model.geometries[at_index(member.feet[at_index(foot)])];
  const Vec3 p = dynamics.X_WB(member.first_body).inverse() * (dynamics.X_WB(g.body) * g.X_BG.p);
  return p.x() * p.y() > 0 ? 0 : 1;
}

std::shared_ptr<const Reference> make_trot(const Model& model, int member_index, const VecX& q_stand,
                                           const Trot& trot) {
  check(trot);
  const Member& member = model.members[at_index(member_index)];
  VecX q = q_stand;
  const VecX zero = VecX::Zero(model.nv);
  Dynamics dynamics(model);
  dynamics.compute(q, zero);
  const std::vector<Leg> legs = find_legs(model, member, dynamics, q);
  const Gait gait(trot);
  const auto knots = static_cast<Eigen::Index>(std::lround(trot.duration / knot)) + 1;
  SampledMotion motion{knot, MatX::Zero(member.nv, knots), MatX::Zero(member.nv, knots)};
  const int base = model.bodies[at_index(member.first_body)].iq;
  for (Eigen::Index n = 0; n < knots; ++n) {
    const double t = static_cast<double>(n) * knot;
    const Point b = gait.base(t);
    q[base] = q_stand[base] + b.x;
    if (!reach(model, legs, gait, t, dynamics, q))
      throw InvalidInput("trot: the feet of '" + member.name + "' cannot follow at " + shown(t) + " s");
    for (const Leg& leg : legs) {
      Point x, z;
      gait.foot(leg.diagonal, t, x, z);
      const Vec3 v = leg_jacobian(model, dynamics, leg).partialPivLu().solve(Vec3(x.v - b.v, 0, z.v));
      for (int k = 0; k < 3; ++k) {
        motion.q(leg.iv[k] - member.iv, n) = q[leg.iq[k]];
        motion.v(leg.iv[k] - member.iv, n) = v[k];
      }
    }
  }
  return make_sampled(std::move(motion));
}

}  // namespace tribo
