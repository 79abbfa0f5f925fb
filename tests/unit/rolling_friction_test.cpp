// Torsional and rolling friction: the laws themselves, with velocities taken afresh, for every way to solve them.
#include <doctest/doctest.h>

#include <cmath>

#include "stepping/rigid/rolling.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }

/// Free balls in a row on the ground, each touching the next, every contact with both frictions.
struct Balls {
  Model model;
  std::vector<Contact> contacts;
  ContactProblem problem;
  VectorBuffer before;

  Balls(int n, double torsional, double rolling, Random& random) {
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
    std::vector<Row> rows;
    list_rolling(model, contacts, rows);
    Dynamics dynamics(model);
    dynamics.compute(q, v);
    dynamics.factor(VecX::Zero(model.nv));
    Assembly assembly(model);
    assembly.group(contacts, rows);
    REQUIRE(assembly.islands() == 1);
    VectorBuffer free;
    assembly.build(assembly.island(0), contacts, rows, dynamics, v, v_free, true, problem, before, free);
    problem.discs.clear();
    list_discs(assembly.island(0), rows, problem);
    problem.R().setZero();
    problem.g() = free.map();
    problem.mu().setConstant(0.6);
  }

  /// Largest violation of Signorini, Coulomb, (rolling.1) and (rolling.2), relative to the largest force and velocity.
  double violation(const VecX& f) const {
    VecX c(problem.size());
    problem.velocity(f.data(), c.data());
    const double F = std::max(f.cwiseAbs().maxCoeff(), 1e-300), V = problem.g().cwiseAbs().maxCoeff();
    double worst = 0;
    const auto fail = [&](double x) { worst = std::max(worst, x); };
    const auto disc = [&](const VecX& force, const VecX& motion, double bound) {
      fail((force.norm() - bound) / F);
      // Power is the least that the disc allows: -bound |motion|.
      fail((force.dot(motion) + bound * motion.norm()) / (F * V));
    };
    for (int i = 0; i < problem.nc(); ++i) {
      const double n = f[3 * i + 2], speed = c[3 * i + 2];
      fail(-n / F);
      fail(-speed / V);
      fail(n * speed / (F * V));
      disc(f.segment(3 * i, 2), c.segment(3 * i, 2), 0.6 * n);
    }
    for (const FrictionDisc& d : problem.discs) {
      const int o = 3 * problem.nc() + d.row;
      disc(f.segment(o, d.size), c.segment(o, d.size), d.length * f[3 * d.contact + 2]);
    }
    return worst;
  }
};

VecX solved(Balls& balls, const SolverEntry& entry) {
  SolverOptions options;
  options.max_iterations = 50000;
  options.stall = 0;
  const auto solver = entry.make(options);
  const Tolerance tight{.abs = 1e-12, .rel = 1e-12};
  VecX f = VecX::Zero(balls.problem.size());
  if (entry.discs) {
    solver->solve(balls.problem, tight, f);
  } else {
    RollingRounds rounds;
    const RollingRules rules{*solver, tight, ContactModel::Ncp, 4};
    rounds.solve(rules, balls.before.data(), 1.0, balls.problem, VectorBuffer::Map(f.data(), f.size()));
  }
  return f;
}

template <class Action>
void for_each_solver(Action&& action) {
  for (const SolverEntry& entry : contact_solvers()) {
    const auto& models = entry.models;
    if (!entry.rows || std::find(models.begin(), models.end(), ContactModel::Ncp) == models.end()) continue;
    CAPTURE(entry.name);
    action(entry);
  }
}

}  // namespace

TEST_CASE("rolling friction: every law holds, for balls alone and in a row, whatever the lengths and the solver") {
  int solvers = 0;
  for_each_solver([&](const SolverEntry& entry) {
    ++solvers;
    Random random;
    for (int n : {1, 2, 4})
      for (const auto& lengths : {std::pair{0.02, 0.01}, {0.0, 0.01}, {0.02, 0.0}, {0.5, 0.5}}) {
        const double torsional = lengths.first, rolling = lengths.second;
        CAPTURE(n);
        CAPTURE(torsional);
        CAPTURE(rolling);
        Balls balls(n, torsional, rolling, random);
        REQUIRE(balls.problem.nr() == balls.problem.nc() * ((torsional > 0 ? 1 : 0) + (rolling > 0 ? 2 : 0)));
        CHECK(balls.violation(VecX::Zero(balls.problem.size())) > 1e-3);  // nothing holds without forces
        CHECK(balls.violation(solved(balls, entry)) < 1e-6);
      }
  });
  CHECK(solvers >= 2);
}

TEST_CASE("rolling friction: a ball slower than it takes away comes to rest, a faster one is braked") {
  // One ball of mass 1, radius r = 0.1, I = 2/5 m r^2, pressed on with 1 N s, turns about t1 at w and does not slip. The
  // torque at the contact is at most r_r f_N; friction follows. About the point of contact: (I + m r^2) dw = torque.
  const double r = 0.1, length = 0.01, about_contact = 1.4 * 1 * r * r;
  for_each_solver([&](const SolverEntry& entry) {
    Random random;
    for (double w : {0.5 * length / about_contact, 2 * length / about_contact}) {
      CAPTURE(w);
      Balls balls(1, 0, length, random);
      balls.problem.g().setZero();
      balls.problem.g()[2] = -1;  // falls with 1 m/s: f_N = 1
      balls.problem.g()[3] = w;
      balls.before.setZero(5);
      const VecX f = solved(balls, entry);
      VecX c(5);
      balls.problem.velocity(f.data(), c.data());
      CHECK(f[2] == doctest::Approx(1).epsilon(1e-8));
      const double braked = std::min(w, length / about_contact);
      CHECK(c[3] == doctest::Approx(w - braked).epsilon(1e-6));
      CHECK(f[3] == doctest::Approx(-about_contact * braked).epsilon(1e-6));
      CHECK(c.head<2>().norm() < 1e-7);  // it does not slip
    }
  });
}
