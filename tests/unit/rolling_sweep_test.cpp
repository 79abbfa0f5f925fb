// Sweeps over contacts with torsional and rolling friction: the laws themselves, with velocities taken afresh.
#include "stepping/rigid/rolling_sweep.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tribo/dynamics.hpp"
#include "stepping/rigid/rolling.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }

/// Free balls in a row on the ground, each touching the next, every contact with both frictions.
struct Balls {
  Model model;
  std::vector<Contact> contacts;
  std::vector<Row> rows;
  Island island;
  ContactProblem problem;
  double torsional = 0, rolling = 0;

  Balls(int n, double torsional_length, double rolling_length, Random& random)
      : torsional(torsional_length), rolling(rolling_length) {
    ModelBuilder builder;
    SurfacePair surface;
    surface.mu_static = surface.mu_dynamic = 0.6;
    surface.torsional = torsional;
    surface.rolling = rolling;
    const int material = builder.add_material({"rough", surface});
    const double radius = 0.1;
    for (int i = 0; i < n; ++i)
      builder.add_object("ball" + std::to_string(i), ShapeKind::Sphere, {radius, 0, 0}, 1 + i, material);
    model = builder.build();
    VecX q = model.neutral(), v(model.nv), v_free(model.nv);
    for (int i = 0; i < n; ++i) q.segment<3>(7 * i) = Vec3(2 * radius * i, 0, radius);
    for (int k = 0; k < model.nv; ++k) v_free[k] = v[k] = 0.5 * draw(random);
    for (int i = 0; i < n; ++i) v_free[6 * i + 2] -= 1;  // all press on the ground
    const auto touch = [&](int a, int b, const Vec3& p, const Vec3& normal) {
      Contact& c = contacts.emplace_back();
      c.id = contacts.size();
      c.body_a = a;
      c.body_b = b;
      c.surface = model.surface_index(0, 0);
      c.p_WC = p;
      c.R_WC = Quat::FromTwoVectors(Vec3::UnitZ(), normal).matrix();
    };
    for (int i = 0; i < n; ++i) touch(-1, i, Vec3(2 * radius * i, 0, 0), Vec3::UnitZ());
    for (int i = 0; i + 1 < n; ++i) touch(i, i + 1, Vec3(radius * (2 * i + 1), 0, radius), Vec3::UnitX());
    list_rolling(model, contacts, rows);
    Dynamics dynamics(model);
    dynamics.compute(q, v);
    dynamics.factor(VecX::Zero(model.nv));
    Assembly assembly(model);
    assembly.group(contacts, rows);
    REQUIRE(assembly.islands() == 1);
    island = assembly.island(0);
    VectorBuffer before, free;
    assembly.build(island, contacts, rows, dynamics, v, v_free, false, problem, before, free);
    problem.R().setZero();
    problem.g() = free.map();
    problem.mu().setConstant(0.6);
    problem.lower().setConstant(-1e300);  // of no row: all belong to contacts
    problem.upper().setConstant(1e300);
  }

  /// Largest violation of Signorini, Coulomb, (rolling.1) and (rolling.2), relative to the largest force and velocity.
  double violation(const VecX& f) const {
    VecX c(problem.size());
    problem.velocity(f.data(), c.data());
    const double F = f.cwiseAbs().maxCoeff(), V = problem.g().cwiseAbs().maxCoeff();
    double worst = 0;
    const auto fail = [&](double x) { worst = std::max(worst, x); };
    const auto disc = [&](const Eigen::Vector2d& force, const Eigen::Vector2d& motion, double bound) {
      fail((force.norm() - bound) / F);
      // Power is the least that the disc allows: -bound |motion|.
      fail((force.dot(motion) + bound * motion.norm()) / (F * V));
    };
    for (int i = 0; i < problem.nc(); ++i) {
      const double n = f[3 * i + 2], speed = c[3 * i + 2];
      fail(-n / F);
      fail(-speed / V);
      fail(n * speed / (F * V));
      disc(f.segment<2>(3 * i), c.segment<2>(3 * i), 0.6 * n);
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const Row& row = rows[at(island.rows[at(j)])];
      const int o = 3 * problem.nc() + j;
      const double n = f[3 * row.contact + 2];  // the island has all contacts, in their order
      if (row.component == 0) {
        fail((std::abs(f[o]) - torsional * n) / F);
        fail((f[o] * c[o] + torsional * n * std::abs(c[o])) / (F * V));
      }
      if (row.component == 1) disc(f.segment<2>(o), c.segment<2>(o), rolling * n);
    }
    return worst;
  }
};

}  // namespace

TEST_CASE("rolling sweeps: every law holds at the end, for balls alone and in a row, whatever the lengths") {
  Random random;
  RollingSweep sweep;
  for (int n : {1, 2, 4})
    for (const auto& [torsional, rolling] : {std::pair{0.02, 0.01}, {0.0, 0.01}, {0.02, 0.0}, {0.5, 0.5}}) {
      CAPTURE(n);
      CAPTURE(torsional);
      CAPTURE(rolling);
      Balls balls(n, torsional, rolling, random);
      REQUIRE(balls.problem.nr() == balls.problem.nc() * ((torsional > 0 ? 1 : 0) + (rolling > 0 ? 2 : 0)));
      VecX f = VecX::Zero(balls.problem.size());
      REQUIRE_FALSE(balls.violation(f) < 1e-3);  // nothing holds without forces
      sweep.begin(balls.island, balls.rows, balls.problem, f.data());
      sweep.run(balls.problem, 4000, f.data());
      CHECK(balls.violation(f) < 1e-8);
      // Begun at the solution it stays there.
      VecX again = f;
      sweep.begin(balls.island, balls.rows, balls.problem, again.data());
      sweep.run(balls.problem, 2, again.data());
      CHECK((again - f).cwiseAbs().maxCoeff() < 1e-8 * f.cwiseAbs().maxCoeff());
    }
}

TEST_CASE(
    "rolling sweeps: a ball that rolls slower than rolling friction takes away comes to rest, a faster one is braked") {
  // One ball of mass 1, radius r = 0.1, I = 2/5 m r^2, pressed on with 1 N s, rolls without slip about t1 at w. The torque
  // at the contact is at most r_r f_N; friction follows. About the point of contact: (I + m r^2) dw = torque.
  Random random;
  const double r = 0.1, length = 0.01, about_contact = 1.4 * 1 * r * r;
  for (double w : {0.5 * length / about_contact, 2 * length / about_contact}) {
    CAPTURE(w);
    Balls balls(1, 0, length, random);
    balls.problem.g().setZero();
    balls.problem.g()[2] = -1;  // falls with 1 m/s: f_N = 1
    balls.problem.g()[3] = w;   // turns about t1; the first row is about it
    RollingSweep sweep;
    VecX f = VecX::Zero(5), c(5);
    sweep.begin(balls.island, balls.rows, balls.problem, f.data());
    sweep.run(balls.problem, 2000, f.data());
    balls.problem.velocity(f.data(), c.data());
    CHECK(f[2] == doctest::Approx(1));
    const double braked = std::min(w, length / about_contact);
    CHECK(c[3] == doctest::Approx(w - braked).epsilon(1e-8));
    CHECK(f[3] == doctest::Approx(-about_contact * braked).epsilon(1e-8));
    CHECK(c.head<2>().norm() < 1e-9);  // it does not slip
  }
}
