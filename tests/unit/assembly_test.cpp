// Islands, G and velocities of contacts and rows, against J taken column by column from the motion of unit velocities, and
// the dense mass matrix, which is checked beside Pinocchio elsewhere.
#include "tribo/assembly.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <set>

#include "dynamics/group.hpp"
#include "stepping/rigid/island_motion.hpp"
#include "tribo/robot.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }
Vec3 draw3(Random& random) { return {draw(random), draw(random), draw(random)}; }

/// A quadruped with a free base, an arm on the world and three free boxes, one of them with its centre of mass elsewhere.
Model world() {
  ModelBuilder builder;
  const int material = builder.add_material({});
  for (const char* name : {"solo12", "ur5"}) {
    RobotOptions options;
    options.model = name;
    options.contact = "none";
    options.floating = std::string(name) == "solo12";
    add_robot(builder, options);
  }
  for (const char* name : {"a", "b"}) builder.add_object(name, ShapeKind::Box, {0.1, 0.2, 0.3}, 2, material);
  builder.begin_member("c", false, "object");
  Body body;
  body.name = "c";
  body.inertia = solid_inertia(ShapeKind::Box, {0.1, 0.2, 0.3}, 3);
  body.inertia.com = Vec3(0.05, -0.02, 0.1);
  builder.add_body(body);
  return builder.build();
}

struct Situation {
  Model model = world();
  VecX q, v, v_free, extra;
  Dynamics dynamics{model};
  std::vector<Contact> contacts;
  std::vector<Row> rows;

  explicit Situation(Random& random) : q(model.neutral()), v(model.nv), v_free(model.nv), extra(model.nv) {
    VecX way(model.nv);
    for (int k = 0; k < model.nv; ++k) {
      way[k] = draw(random);
      v[k] = draw(random);
      v_free[k] = draw(random);
      extra[k] = random.uniform() < 0.5 ? 0.0 : random.uniform();
    }
    integrate(model, way, 1.0, q);
    dynamics.compute(q, v);
    dynamics.factor(extra);
  }

  int body(const char* name) const { return model.body(name); }

  Contact& touch(int a, int b, Random& random) {
    Contact& c = contacts.emplace_back();
    c.body_a = a;
    c.body_b = b;
    c.p_WC = draw3(random);
    c.R_WC = Quat(Eigen::Vector4d{draw(random), draw(random), draw(random), draw(random)}.normalized()).matrix();
    return c;
  }

  /// What every contact and row measures where the coordinates move with u: (3 contacts + rows).
  VecX measured(const VecX& u) {
    Dynamics other(model);
    other.compute(q, u);
    VecX out(static_cast<Eigen::Index>(3 * contacts.size() + rows.size()));
    Eigen::Index o = 0;
    const auto velocity = [&](int b, const Vec3& p) {
      return b < 0 ? Vec3::Zero().eval() : other.point_velocity(b, p);
    };
    const auto turning = [&](int b) { return b < 0 ? Vec3::Zero().eval() : Vec3(other.body_velocity(b).ang); };
    for (const Contact& c : contacts) {
      out.segment<3>(o) = c.R_WC.transpose() * (velocity(c.body_b, c.p_WC) - velocity(c.body_a, c.p_WC));
      o += 3;
    }
    for (const Row& r : rows) {
      double x = 0;
      if (const auto* p = std::get_if<BodyPoints>(&r.along))
        x = Vec3(p->axis).dot(velocity(p->body_b, p->p_b) - velocity(p->body_a, p->p_a));
      if (const auto* t = std::get_if<BodyTurns>(&r.along))
        x = Vec3(t->axis).dot(turning(t->body_b) - turning(t->body_a));
      if (const auto* c = std::get_if<CoordinatePair>(&r.along)) x = u[c->dof] + c->slope * u[c->other];
      if (r.coordinate()) x = r.coordinate()->sign * u[r.coordinate()->dof];
      out[o++] = x;
    }
    return out;
  }

  MatX jacobian() {
    MatX J(static_cast<Eigen::Index>(3 * contacts.size() + rows.size()), model.nv);
    for (int k = 0; k < model.nv; ++k) J.col(k) = measured(VecX::Unit(model.nv, k));
    return J;
  }

  MatX mass() const { return dynamics.mass_matrix() + MatX(extra.asDiagonal()); }
};

/// Rows of the whole that belong to an island, in the order of its problem.
std::vector<int> places(const Island& island, std::size_t contacts) {
  std::vector<int> list;
  for (int i : island.contacts)
    for (int k = 0; k < 3; ++k) list.push_back(3 * i + k);
  for (int j : island.rows) list.push_back(3 * static_cast<int>(contacts) + j);
  return list;
}

void populate(Situation& s, Random& random) {
  const int foot = s.body("solo12/FL_KFE"), other = s.body("solo12/HR_KFE"), hand = s.body("ur5/wrist_3_joint");
  const int a = s.body("a"), b = s.body("b"), c = s.body("c");
  s.touch(-1, foot, random);
  s.touch(other, foot, random);  // within one tree: two chains that share their base
  s.touch(foot, a, random);
  s.touch(b, -1, random);
  s.touch(-1, c, random).v_given = Vec3(0.3, -0.2, 0.1);
  s.touch(-1, c, random);
  s.rows.push_back({.along = Coordinate{s.model.bodies[at(hand)].iv, -1}});
  s.rows.push_back(
      {.along = CoordinatePair{s.model.bodies[at(hand)].iv, s.model.bodies[at(other)].iv, -0.7}});  // of two trees
  BodyPoints points;
  points.body_a = b;
  points.body_b = c;
  points.axis = draw3(random).normalized();
  points.p_a = draw3(random);
  points.p_b = draw3(random);
  points.given = 0.25;
  s.rows.push_back({.along = points});
  BodyTurns turn;
  turn.body_b = a;
  turn.axis = draw3(random).normalized();
  s.rows.push_back({.along = turn});
}

}  // namespace

TEST_CASE("assembly: G is J (M + extra)^-1 J^T, dense or by its factor, and velocities are J v") {
  Random random;
  for (int trial = 0; trial < 4; ++trial)
    for (bool dense : {true, false}) {
      CAPTURE(trial);
      CAPTURE(dense);
      Situation s(random);
      populate(s, random);
      const MatX J = s.jacobian(), whole = J * s.mass().llt().solve(J.transpose());
      const VecX before = s.measured(s.v), after = s.measured(s.v_free);
      Assembly assembly(s.model);
      assembly.group(s.contacts, s.rows);
      std::size_t seen = 0;
      VecX work = VecX::Zero(2 * s.model.nv);
      for (int i = 0; i < assembly.islands(); ++i) {
        const Island& island = assembly.island(i);
        const std::vector<int> own = places(island, s.contacts.size());
        seen += own.size();
        ContactProblem problem;
        VectorBuffer v_before, v_free;
        assembly.build(island, s.contacts, s.rows, s.dynamics, s.v, s.v_free, dense, problem, v_before, v_free);
        REQUIRE(problem.size() == static_cast<int>(own.size()));
        const MatX G = whole(own, own);
        const double scale = G.cwiseAbs().maxCoeff();
        VecX f(problem.size()), product(problem.size()), diagonal(problem.size());
        for (int k = 0; k < f.size(); ++k) f[k] = draw(random);
        problem.multiply(f.data(), product.data());
        CHECK((product - G * f).cwiseAbs().maxCoeff() < 1e-11 * scale);
        problem.diagonal(diagonal.data());
        CHECK((diagonal - G.diagonal()).cwiseAbs().maxCoeff() < 1e-12 * scale);
        if (problem.dense()) CHECK((problem.G() - G).cwiseAbs().maxCoeff() < 1e-11 * scale);
        for (std::size_t k = 0; k < own.size(); ++k) {
          double given = 0;
          const int place = own[k];
          if (place < static_cast<int>(3 * s.contacts.size())) {
            const Contact& c = s.contacts[at(place / 3)];
            given = (c.R_WC.transpose() * c.v_given)[place % 3];
          } else {
            given = s.rows[at(place) - 3 * s.contacts.size()].given();
          }
          CHECK(v_before[static_cast<int>(k)] == doctest::Approx(before[place] + given).epsilon(1e-11));
          CHECK(v_free[static_cast<int>(k)] == doctest::Approx(after[place] + given).epsilon(1e-11));
        }
        // Forces for a time change velocities by (M + extra)^-1 J^T f t, two sets at once as one by one.
        const MatX Ji = J(own, Eigen::all);
        const VecX change = s.mass().llt().solve(Ji.transpose() * f);
        VecX u = s.v, w = s.v_free;
        assembly.apply<2>(island, s.dynamics, problem, {{{f.data(), 0.5, &u}, {f.data(), -2, &w}}}, work);
        CHECK((u - s.v - 0.5 * change).cwiseAbs().maxCoeff() < 1e-10 * (1 + change.cwiseAbs().maxCoeff()));
        CHECK((w - s.v_free + 2 * change).cwiseAbs().maxCoeff() < 1e-10 * (1 + change.cwiseAbs().maxCoeff()));
        CHECK(work.isZero(0));
        VecX single = s.v;
        assembly.apply<1>(island, s.dynamics, problem, {{{f.data(), 0.5, &single}}}, work);
        CHECK((single - u).cwiseAbs().maxCoeff() < 1e-13 * (1 + change.cwiseAbs().maxCoeff()));
      }
      CHECK(seen == 3 * s.contacts.size() + s.rows.size());
    }
}

TEST_CASE("assembly: islands are the groups that G does not couple, each contact and row in one") {
  Random random;
  Situation s(random);
  populate(s, random);
  Assembly assembly(s.model);
  assembly.group(s.contacts, s.rows);
  // solo12, the arm that is geared to it and a; b and c, which a row ties.
  REQUIRE(assembly.islands() == 2);
  CHECK(assembly.island(0).contacts == std::vector<int>{0, 1, 2});
  CHECK(assembly.island(0).rows == std::vector<int>{0, 1, 3});
  CHECK(assembly.island(1).contacts == std::vector<int>{3, 4, 5});
  CHECK(assembly.island(1).rows == std::vector<int>{2});
  const MatX J = s.jacobian(), G = J * s.mass().llt().solve(J.transpose());
  const auto first = places(assembly.island(0), s.contacts.size()),
             second = places(assembly.island(1), s.contacts.size());
  CHECK(G(first, second).cwiseAbs().maxCoeff() < 1e-12 * G.cwiseAbs().maxCoeff());
  std::set<int> trees;
  for (int i = 0; i < 2; ++i)
    for (int t : assembly.island(i).trees) CHECK(trees.insert(t).second);
  for (int t = 0; t < static_cast<int>(s.model.trees.size()); ++t) CHECK(assembly.touched(t) == (trees.count(t) == 1));
  // Without what ties them there are more, and trees that nothing touches are in none.
  s.rows.clear();
  s.contacts.erase(s.contacts.begin());
  assembly.group(s.contacts, s.rows);
  REQUIRE(assembly.islands() == 3);
  CHECK(assembly.island(1).contacts == std::vector<int>{2});
  CHECK_FALSE(assembly.touched(s.model.bodies[at(s.body("ur5/wrist_3_joint"))].tree));
  assembly.group({}, {});
  CHECK(assembly.islands() == 0);
  for (int t = 0; t < static_cast<int>(s.model.trees.size()); ++t) CHECK_FALSE(assembly.touched(t));
}

// The same forces body by body: (rest.1), (rest.2) beside the Jacobians.
TEST_CASE("what forces do to an island body by body is what the mass matrix says, and velocities are J v") {
  Random random;
  for (int trial = 0; trial < 4; ++trial) {
    CAPTURE(trial);
    Situation s(random);
    populate(s, random);
    std::erase_if(s.rows, [](const Row& r) {
      return std::holds_alternative<CoordinatePair>(r.along) || std::holds_alternative<BodyPoints>(r.along);
    });
    s.touch(s.body("a"), s.body("c"), random).arm_b = draw3(random);
    s.contacts.back().arm_a = s.contacts.back().arm_b;
    State state = State::neutral(s.model);
    state.q = s.q;
    state.v = s.v *= 1e-5;
    s.dynamics.compute(s.q, s.v);
    s.dynamics.factor(s.extra);
    Assembly assembly(s.model);
    assembly.group(s.contacts, s.rows);
    Actuation actuation;
    actuation.resize(s.model.nv);
    const Start start{.model = s.model,
                      .state = state,
                      .dynamics = s.dynamics,
                      .contacts = s.contacts,
                      .assembly = assembly,
                      .actuation = actuation,
                      .q_control = state.q,
                      .v_control = state.v,
                      .dt = 0.5,
                      .step = 0.5,
                      .audited = false};
    IslandMotion motion(s.model);
    VecX work = VecX::Zero(s.model.nv);
    REQUIRE(assembly.islands() == 3);
    for (int i = 0; i < 3; ++i) {
      const Island& island = assembly.island(i);
      IslandSolution x, full;
      x.island = &island;
      REQUIRE(motion.begin(start, s.rows, island));
      motion.velocities(start, s.rows, s.v_free, x);
      assembly.build(island, s.contacts, s.rows, s.dynamics, s.v, s.v_free, false, full.problem, full.before,
                     full.free);
      REQUIRE(x.problem.size() == full.problem.size());
      CHECK(x.problem.factor.empty());
      CHECK(x.problem.weight == doctest::Approx(full.problem.weight).epsilon(1e-14));
      CHECK((x.before.map() - full.before.map()).cwiseAbs().maxCoeff() < 1e-16 + 1e-12 * full.before.map().norm());
      CHECK((x.free.map() - full.free.map()).cwiseAbs().maxCoeff() < 1e-12);
      for (int k = 0; k < x.problem.size(); ++k) {
        x.f[k] = draw(random);
        x.problem.g()[k] = full.problem.g()[k] = draw(random);
        x.problem.R()[k] = full.problem.R()[k] = random.uniform();
      }
      motion.act(start, s.rows, x);
      VecX c(x.problem.size());
      full.problem.velocity(x.f.data(), c.data());
      CHECK((x.c.map() - c).cwiseAbs().maxCoeff() < 1e-11 * (1 + c.cwiseAbs().maxCoeff()));
      VecX u = s.v_free, v = s.v_free;
      motion.add(start, island, v);
      assembly.apply<1>(island, s.dynamics, full.problem, {{{x.f.data(), 0.5, &u}}}, work);
      CHECK((v - u).cwiseAbs().maxCoeff() < 1e-11 * (1 + u.cwiseAbs().maxCoeff()));
      CHECK((u - s.v_free).cwiseAbs().maxCoeff() > 1e-3);
    }
  }
}
