// The judge of a step, on outcomes that are written down here: the expected residuals are the definitions (judge.1) to
// (judge.3) by hand.
#include "stepping/judge.hpp"

#include <doctest/doctest.h>

#include "stepping/workspace.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double dt = 1e-2, g = 9.81, mass = 2, mu = 0.5;

// Two balls side by side on the ground: two islands where nothing joins them.
struct Case {
  explicit Case(const SurfacePair& surface = worlds::friction(mu), double second_mass = mass)
      : model(make(surface, second_mass)), state(State::neutral(model)), work(model), judge(model) {
    contacts.resize(2);
    outcome.contacts.resize(2);
    for (int i = 0; i < 2; ++i) {
      contacts[at(i)].body_b = i;
      outcome.contacts[at(i)].mu = surface.mu_static;
    }
  }
  static Model make(const SurfacePair& surface, double second_mass) {
    worlds::World world(surface);
    world.ground().sphere(0.1, mass, Vec3(0, 0, 0.1)).sphere(0.1, second_mass, Vec3(1, 0, 0.1));
    return world.builder.build();
  }
  LawResiduals operator()() {
    const Start start{.model = model,
                      .state = state,
                      .dynamics = work.dynamics,
                      .contacts = contacts,
                      .assembly = work.assembly,
                      .actuation = work.actuation,
                      .q_control = state.q,
                      .v_control = state.v,
                      .dt = dt,
                      .step = dt,
                      .audited = true};
    for (ContactReport& r : outcome.contacts) r.cone_margin = r.mu * r.f.z() - r.f.head<2>().norm();
    return judge(start, outcome);
  }
  static ContactReport resting() {
    ContactReport r;
    r.mu = mu;
    return r;
  }
  ContactReport& first() { return outcome.contacts[0]; }

  Model model;
  State state;
  Workspace work;
  Judge judge;
  std::vector<Contact> contacts;
  Outcome outcome;
};

}  // namespace

TEST_CASE("judge: what keeps the laws has no residual") {
  Case c;
  c.first().f = Vec3(0, 0, mass * g);             // rests
  c.outcome.contacts[1].f = Vec3(-mu * 3, 0, 3);  // slides along +x
  c.outcome.contacts[1].c = Vec3(0.2, 0, 0);
  const LawResiduals laws = c();
  CHECK(laws.judged());
  CHECK(laws.signorini == 0);
  CHECK(laws.coulomb == 0);
  CHECK(laws.dissipation < 1e-16);
}

TEST_CASE("judge: pulling, sinking and lifting under load, in the scales of the step") {
  Case c;
  c.first().f = Vec3(0, 0, -5);  // pulls: below the weight, which is the scale
  CHECK(c().signorini == doctest::Approx(5 / (mass * g)));
  c.first().f = Vec3(0, 0, -100);  // of order 1 where the pull itself is the largest force
  CHECK(c().signorini == doctest::Approx(1));
  c.first() = Case::resting();
  c.first().c = Vec3(0, 0, -0.3);  // passes through the ground, unseen
  CHECK(c().signorini == doctest::Approx(0.3 / (g * dt)));
  c.first().gap = 0.001;  // of which the gap allows 0.1 m/s
  CHECK(c().signorini == doctest::Approx(0.2 / (g * dt)));
  c.first() = Case::resting();
  c.first().f = Vec3(0, 0, 0.01 * mass * g);  // lifts off and presses: the smaller of both
  c.first().c = Vec3(0, 0, 1);
  CHECK(c().signorini == doctest::Approx(0.01));
}

TEST_CASE("judge: a fast contact with force sets the scale of motion, one without does not") {
  Case c;
  c.first().f = Vec3(0, 0, mass * g);
  c.first().c = Vec3(0, 0, -1e-3);
  CHECK(c().signorini == doctest::Approx(1e-3 / (g * dt)));
  c.first().c_start = Vec3(0, 0, -2);
  CHECK(c().signorini == doctest::Approx(1e-3 / ((g + 2 / dt) * dt)));
  c.first().c_start.setZero();
  c.outcome.contacts[1].c_start = Vec3(0, 0, -50);  // listed, far from touching
  c.outcome.contacts[1].gap = 10;
  CHECK(c().signorini == doctest::Approx(1e-3 / (g * dt)));
}

TEST_CASE("judge: a heavy island does not hide what a light one breaks") {
  Case c(worlds::friction(mu), 1e-3 * mass);
  c.first().f = Vec3(0, 0, mass * g);
  c.outcome.contacts[1].f = Vec3(0, 0, -1e-3 * mass * g);
  CHECK(c().signorini == doctest::Approx(1));
}

TEST_CASE("judge: friction beyond its cone, and friction that does not oppose the slip") {
  Case c;
  c.first().f = Vec3(0, 12, 20);  // 2 N beyond mu f_N; the largest force is f_N
  CHECK(c().coulomb == doctest::Approx(2.0 / 20));
  c.first().f = Vec3(0, 10, 20);
  c.first().c = Vec3(0.3, 0, 0);                           // across: no power where mu f_N |c_T| is due
  const double F = 20, a = F / mass, due = mu * 20 * 0.3;  // above the weight of 19.62 N
  CHECK(c().dissipation == doctest::Approx(due / (F * a * dt)));
  c.first().c = Vec3(0, 0.3, 0);  // along: it drives the slip
  CHECK(c().dissipation == doctest::Approx(2 * due / (F * a * dt)));
}

TEST_CASE("judge: restitution and compliance have laws of their own") {
  Case bounce(worlds::friction(0, 0.4));
  bounce.first().mode = ContactMode::Impact;
  bounce.first().f = Vec3(0, 0, 300);
  bounce.first().c_start = Vec3(0, 0, -1);
  bounce.first().c = Vec3(0, 0, 0.4);
  CHECK(bounce().signorini < 1e-15);
  bounce.first().c = Vec3(0, 0, 0.5);
  CHECK(bounce().signorini == doctest::Approx(0.1 / ((300 / mass + 1 / dt) * dt)));
  SurfacePair soft = worlds::friction(0);
  soft.compliance = 1e-4;
  Case rest(soft);
  rest.first().f = Vec3(0, 0, mass * g);
  rest.first().gap = -1e-4 * mass * g;
  CHECK(rest().signorini < 1e-15);
  soft.relaxation_time = 0.02;
  Case sinks(soft);
  sinks.first().f = Vec3(0, 0, mass * g);
  sinks.first().gap = -3e-5 * mass * g;
  sinks.first().c = Vec3(0, 0, -7e-5 * mass * g / (dt + 0.02));
  CHECK(sinks().signorini < 1e-15);
  sinks.first().gap = 1e-6;  // before it touches, the step alone
  sinks.first().c = Vec3(0, 0, -(1e-6 + 1e-4 * mass * g) / dt);
  CHECK(sinks().signorini < 1e-15);
}

TEST_CASE("judge: what is not meant to be rigid is not judged") {
  Case c;
  c.outcome.judged = false;
  CHECK(!c().judged());
  LawResiduals sum = c();
  sum.add({0.1, 0.2, 0.3});
  CHECK(sum.coulomb == 0.2);
  sum.add(c());  // not judged: leaves the worst as it is
  CHECK(sum.coulomb == 0.2);
}
