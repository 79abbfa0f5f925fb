// Single bodies that turn: free, and on a spherical joint. By default.
#include <doctest/doctest.h>

#include "tribo/dynamics.hpp"
#include "tribo/rigid.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

struct Kept {
  Vec3 L;
  double energy;
};

Kept kept(const Simulation& s) {
  Dynamics d(s.model());
  d.compute(s.state().q, s.state().v);
  const Vec3 c = d.center_of_mass(0), P = d.linear_momentum(0);
  return {d.angular_momentum(0) - c.cross(P), d.kinetic() + d.potential()};
}

// A body that floats, or hangs on a spherical joint, whose frame is neither at its centre nor along principal axes.
std::shared_ptr<const Model> one_body(JointKind joint, const Inertia& inertia, const Vec3& gravity) {
  ModelBuilder builder;
  builder.begin_member("body", true, "test");
  Body body;
  body.name = "body";
  body.joint = joint;
  body.inertia = inertia;
  builder.add_body(body);
  builder.set_gravity(gravity);
  return std::make_shared<const Model>(builder.build());
}

Inertia skew_plate() {
  Inertia inertia = solid_inertia(ShapeKind::Box, {0.15, 0.05, 0.01}, 1.0);
  const Mat3 R = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  inertia.about_com = R * inertia.about_com * R.transpose();
  inertia.com = Vec3(0.04, -0.03, 0.02);
  return inertia;
}

Simulation simulate(const std::shared_ptr<const Model>& model, const VecX& v, double dt,
                    SmoothScheme smooth = SmoothScheme::Euler) {
  StepperOptions options;
  options.own.as<RigidOptions>().smooth = smooth;
  Simulation s(model, "rigid", options, dt);
  State state = State::neutral(*model);
  state.v = v;
  s.set_state(state);
  return s;
}

// The top: 0.5 kg, centre of mass 0.06 m from the pivot, a disc of r 0.05 and h 0.02 m.
Inertia top_inertia() {
  Inertia inertia;
  inertia.mass = 0.5;
  inertia.com = Vec3(0, 0, 0.06);
  const double r = 0.05, h = 0.02, side = 0.5 / 12 * (3 * r * r + h * h);
  inertia.about_com = Vec3(side, side, 0.25 * r * r).asDiagonal();
  return inertia;
}

// Its axis after a time, by the classical Runge-Kutta method on R and w: an independent route.
struct Top {
  Mat3 R;
  Vec3 w;
};

Top top_rate(const Top& x, const Mat3& I, const Vec3& mc) {
  const Vec3 torque = mc.cross(x.R.transpose() * Vec3(0, 0, -9.81));
  return {x.R * skew(x.w), I.inverse() * (torque - x.w.cross(I * x.w))};
}

Top top_reference(Top x, double duration, double dt) {
  const Inertia inertia = top_inertia();
  const Vec3 c = inertia.com, mc = inertia.mass * c;
  const Mat3 I = inertia.about_com + inertia.mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
  const auto moved = [](const Top& a, const Top& d, double t) { return Top{a.R + t * d.R, a.w + t * d.w}; };
  for (long k = 0; k < std::lround(duration / dt); ++k) {
    const Top a = top_rate(x, I, mc), b = top_rate(moved(x, a, dt / 2), I, mc),
              c3 = top_rate(moved(x, b, dt / 2), I, mc), d = top_rate(moved(x, c3, dt), I, mc);
    x.R += dt / 6 * (a.R + 2 * b.R + 2 * c3.R + d.R);
    x.w += dt / 6 * (a.w + 2 * b.w + 2 * c3.w + d.w);
  }
  return x;
}

}  // namespace

TEST_CASE("a free plate keeps angular momentum to 1e-12 and energy to 1e-6 for 10 s, at 20 and 100 rad/s and 1 ms") {
  for (double rate : {20.0, 100.0}) {
    CAPTURE(rate);
    auto s = World()
                 .gravity(Vec3::Zero())
                 .box({0.15, 0.05, 0.01}, 1, {0, 0, 0}, Vec3::Zero(), rate * Vec3(0.6, 0.5, 0.624))
                 .simulate(1e-3);
    const Kept before = kept(s);
    double L = 0, E = 0;
    for (int k = 0; k < 10000; ++k) {
      s.step();
      if (k % 50) continue;
      const Kept now = kept(s);
      L = std::max(L, (now.L - before.L).norm() / before.L.norm());
      E = std::max(E, std::abs(now.energy / before.energy - 1));
    }
    CHECK(L < 1e-12);
    CHECK(E < 1e-6);
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK(s.audit().gained < 1e-9);
  }
}

TEST_CASE("the same of a body whose frame is neither at its centre nor along its principal axes, falling") {
  const auto model = one_body(JointKind::Free, skew_plate(), {0, 0, -9.81});
  for (SmoothScheme smooth : {SmoothScheme::Euler, SmoothScheme::Midpoint}) {
    VecX v(6);
    v << 1, 2, 3, 60, -50, 62;
    auto s = simulate(model, v, 1e-3, smooth);
    const Kept before = kept(s);
    Dynamics d(*model);
    d.compute(s.state().q, s.state().v);
    const Vec3 c0 = d.center_of_mass(0), v0 = d.linear_momentum(0);
    run(s, 10);
    const Kept now = kept(s);
    CHECK((now.L - before.L).norm() < 1e-12 * before.L.norm());
    CHECK(s.audit().ledger_error < 1e-9);
    d.compute(s.state().q, s.state().v);
    // The centre falls as a point: by the sum of semi-implicit Euler, or on the parabola itself.
    const double lag = smooth == SmoothScheme::Euler ? 0.5 * 9.81 * 1e-3 * 10 : 0;
    const Vec3 fallen = c0 + 10 * v0 + Vec3(0, 0, -9.81 * 50 - lag);
    CHECK((d.center_of_mass(0) - fallen).norm() < 1e-9 * fallen.norm());
    CHECK((d.linear_momentum(0) - v0 - Vec3(0, 0, -98.1)).norm() < 1e-10 * 98.1);
  }
}

TEST_CASE("a body on a principal axis turns at its true rate") {
  auto s = World().gravity(Vec3::Zero()).box({0.15, 0.05, 0.01}, 1, {0, 0, 0}, Vec3::Zero(), {0, 0, 40}).simulate(1e-2);
  run(s, 1);
  const VecX& q = s.state().q;  // half of 40 rad
  CHECK(std::abs(q[5] * std::cos(20.0) - q[6] * std::sin(20.0)) < 1e-12);
}

TEST_CASE("free bodies keep their energy at any step: 300 rad/s at 10 ms") {
  auto s = World()
               .gravity(Vec3::Zero())
               .box({0.15, 0.05, 0.01}, 1, {0, 0, 0}, Vec3::Zero(), 300 * Vec3(0.6, 0.5, 0.624))
               .simulate(1e-2);
  const Kept before = kept(s);
  run(s, 10);
  const Kept now = kept(s);
  CHECK((now.L - before.L).norm() < 1e-10 * before.L.norm());
  CHECK(std::abs(now.energy / before.energy - 1) < 1e-9);
}

TEST_CASE("heavy top: energy within 1.02, precession within 1e-4 of a fine reference") {
  const auto model = one_body(JointKind::Spherical, top_inertia(), {0, 0, -9.81});
  const Quat tilt(Eigen::AngleAxisd(25 * M_PI / 180, Vec3::UnitX()));
  const Top fine = top_reference({tilt.toRotationMatrix(), Vec3(0, 0, 150)}, 5, 2e-5);
  const double turned = std::atan2(fine.R(0, 2), -fine.R(1, 2));  // from -y, where the axis leans at first
  // m g l / (I w): how far the fast top has come round, to know the full turns
  const double rate = 0.5 * 9.81 * 0.06 / (0.25 * 0.05 * 0.05 * 150),
               turns = std::round((5 * rate - turned) / (2 * M_PI));
  const double angle = turned + 2 * M_PI * turns;
  for (SmoothScheme smooth : {SmoothScheme::Euler, SmoothScheme::Midpoint}) {
    auto s = simulate(model, Vec3(0, 0, 150), 1e-3, smooth);
    State state = s.state();
    state.q = tilt.coeffs();
    s.set_state(state);
    const Kept before = kept(s);
    double most = 0;
    for (int k = 0; k < 5000; ++k) {
      s.step();
      most = std::max(most, kept(s).energy / before.energy);
    }
    CHECK(most < 1.02);
    const VecX& q = s.state().q;
    const Vec3 axis = Quat(q[3], q[0], q[1], q[2]) * Vec3::UnitZ();
    const double came = std::atan2(axis.x(), -axis.y()) + 2 * M_PI * turns;
    MESSAGE("precession " << came << " of " << angle << " rad, off by " << (came / angle - 1));
    CHECK(std::abs(came / angle - 1) < 1e-4);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("a spherical pendulum of 29 g and 8 cm at 38.7 ms gains no energy") {
  Inertia inertia = solid_inertia(ShapeKind::Capsule, {0.0086, 0.0232, 0}, 0.0294);
  inertia.com = Vec3(0.0666, 0.0374, -0.0216);
  const auto model = one_body(JointKind::Spherical, inertia, {0, 0, -9.81});
  const double lowest = -0.0294 * 9.81 * inertia.com.norm();
  for (double dt : {1e-3, 1e-2, 0.0387}) {
    CAPTURE(dt);
    auto s = simulate(model, Vec3::Zero(), dt);
    const double start = kept(s).energy - lowest;
    double most = 0;
    for (int k = 0; k < std::lround(10 / dt); ++k) {
      REQUIRE(s.step().status == StepStatus::Ok);
      most = std::max(most, (kept(s).energy - lowest) / start);
    }
    CHECK(most < 1.02);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}
