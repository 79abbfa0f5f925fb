// Coulomb's law may have several isolated solutions, with different motions, or none that slides. What a step
// chooses is one of them, named as what it is, and none adds energy.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "tribo/contact_solver.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// A thin uniform rod of 1 kg whose lower end touches the ground, at an angle of tangent 2: I = m l^2/3 gives
//   G_xx = 1 + 3 sin^2 = 3.4,   G_zz = 1 + 3 cos^2 = 1.6,   G_xz = -3 sin cos = -1.2  [1/kg],
// whatever its length. Sliding towards -x with f_x = mu f_N needs (1.6 - 1.2 mu) f_N + g_N = 0: beyond mu = 4/3 friction
// presses the end down harder than the normal force lifts it.
constexpr double mu = 1.6, xx = 3.4, zz = 1.6, xz = -1.2;

ContactProblem rod(double g_x, double g_N) {
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G() << xx, 0, xz, 0, 1, 0, xz, 0, zz;
  problem.g() << g_x, 0, g_N;
  problem.mu().setConstant(mu);
  problem.weight = 9.81;
  return problem;
}

Vec3 stuck(double g_x, double g_N) {  // c = 0
  Eigen::Matrix2d G;
  G << xx, xz, xz, zz;
  const Eigen::Vector2d f = -G.inverse() * Eigen::Vector2d(g_x, g_N);
  return {f.x(), 0, f.y()};
}

Vec3 sliding(double g_N) {  // c_N = 0 and c_x < 0
  const double f = g_N / (-xz * mu - zz);
  return {mu * f, 0, f};
}

// What a step gains at frozen places, with c before it and after it: f . (c + c')/2.
double gain(const ContactProblem& problem, const Vec3& f) {
  return 0.5 * f.dot(2 * Vec3(problem.g()) + problem.G() * f);
}

}  // namespace

TEST_CASE("Painleve's rod: letting go, sliding and sticking all solve the step, and the step says which it took") {
  // c_x = g_x + (3.4 mu - 1.2) f_N < 0 bounds g_N for the one that slides, and f_x < mu f_N by the same number for that which sticks.
  const double g_x = -3, most = -g_x * (-xz * mu - zz) / (xx * mu + xz);
  for (double share : {0.01, 0.3, 0.9}) {
    const double g_N = share * most;
    const ContactProblem problem = rod(g_x, g_N);
    const std::array<Vec3, 3> answers{Vec3::Zero(), sliding(g_N), stuck(g_x, g_N)};  // (isolated.1)
    CAPTURE(share);
    for (const Vec3& f : answers) {
      CHECK(judge(problem, ContactModel::Ncp, f).relative() < 1e-14);
      CHECK(gain(problem, f) <= 0);
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      CAPTURE(
          i);  // from nothing it is let go; from the forces of a solution, as the last step leaves them, that one stays
      VecX f = answers[i];
      const SolveReport report = make_contact_solver("newton", {})->solve(problem, {}, f);
      CHECK(report.status == SolveStatus::Converged);
      CHECK((f - answers[i]).norm() < 1e-12);
    }
    for (const char* name : {"newton", "pgs", "admm", "staggered"})
      for (double guess : {0.0, 0.1, 1.0, 10.0}) {
        CAPTURE(std::string(name));
        CAPTURE(guess);
        VecX f = Vec3(guess, 0, guess);
        const SolveReport report = make_contact_solver(name, {})->solve(problem, {}, f);
        if (report.status != SolveStatus::Converged) continue;  // it says so
        double nearest = 1e300;
        for (const Vec3& answer : answers) nearest = std::min(nearest, (f - answer).norm());
        CHECK(nearest < 1e-5);  // of forces of order 1; the tolerance is 1e-8, and 1.6 - 1.2 mu is small
        CHECK(gain(problem, f) < 1e-7);
      }
  }
}

TEST_CASE("Painleve's rod pressed down: no force lets it slide, and it stops within the step") {
  for (double g_N : {-0.01, -1.0, -9.81}) {
    const double g_x = -1000;  // 1 m/s over a step of 1 ms
    const ContactProblem problem = rod(g_x, g_N);
    const Vec3 answer = stuck(g_x, g_N);
    VecX f = Vec3::Zero();
    const SolveReport report = make_contact_solver("newton", {})->solve(problem, {}, f);
    CHECK(report.status == SolveStatus::Converged);
    CHECK((f - answer).norm() < 1e-9 * answer.norm());
    CHECK(gain(problem, f) < 0);
  }
}

TEST_CASE(
    "Painleve's rod in motion: it jams at once beyond its coefficient of friction, slides below, and gains nothing") {
  const double l = 0.5, r = 1e-3, angle = std::atan(2.0);
  for (double friction_of : {1.2, 1.3, 1.4, 1.6, 3.0})
    for (double way : {1.0, -1.0}) {
      auto s = World(friction(friction_of))
                   .ground()
                   .object(ShapeKind::Capsule, {r, 0, l}, 1, Vec3::Zero(), Vec3::Zero(), Vec3::Zero())
                   .simulate(1e-3);
      State state = s.state();
      const Quat turn(Eigen::AngleAxisd(0.5 * M_PI - angle, Vec3::UnitY()));
      state.q << l * std::cos(angle), 0, l * std::sin(angle) + r, turn.x(), turn.y(), turn.z(), turn.w();
      state.v.head<3>() = turn.conjugate() * Vec3(way, 0, 0);
      s.set_state(state);
      CAPTURE(friction_of);
      CAPTURE(way);
      REQUIRE(s.step().status == StepStatus::Ok);
      REQUIRE(s.contacts().size() == 1);
      const bool jams = way < 0 && friction_of > 4.0 / 3;  // but for the thickness, 1e-5 of the inertia
      CHECK(s.contacts()[0].mode == (jams ? ContactMode::Stick : ContactMode::Slip));
      if (jams)  // -G^-1 g with g = (v/dt, -9.81); the end's lever is longer by its roundness, 2e-3
        CHECK(s.contacts()[0].f.z() == doctest::Approx(stuck(-1000, -9.81).z()).epsilon(5e-3));
      for (int k = 0; k < 600; ++k) s.step();
      CHECK(s.audit().unconverged + s.audit().wedged == 0);
      CHECK(s.audit().energy.contacts < 0);
      CHECK(s.audit().ledger_error < 1e-9);
      CHECK(s.audit().gained < 0.01);
    }
}
