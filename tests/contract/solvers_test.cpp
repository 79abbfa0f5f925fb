// Every contact solver x every model that it claims, on problems built from a chosen solution: pick what each contact
// does (open, stick, slip) and each row (inside, at a bound), choose f and c by the model's law, and set
// g = c - (G + R) f. The judge, not the solver, says whether the answer is right.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <random>

#include "tribo/contact_solver.hpp"
#include "tribo/solver_options.hpp"

using namespace tribo;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Chosen {
  ContactProblem problem;
  VecX f;
};

struct Shape {
  int nc = 1;
  int nr = 0;
  double mu = 0.5;
  double spread = 1;  ///< masses of the blocks differ by up to this factor
  double ratio = 0;   ///< R over the diagonal of G, the same along both tangents
};

class Random {
 public:
  explicit Random(unsigned seed) : rng_(seed) {}
  double normal() { return normal_(rng_); }
  double within(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }

 private:
  std::mt19937 rng_;
  std::normal_distribution<double> normal_;
};

void choose_slip(ContactModel model, const ContactProblem& problem, int i, Random& random, Vec3& f, Vec3& c) {
  const double mu = problem.mu()[i], angle = random.within(-M_PI, M_PI), speed = random.within(0.5, 2);
  const double x = std::cos(angle), y = std::sin(angle);
  f = Vec3(mu * x, mu * y, 1) * random.within(0.5, 3);
  c = Vec3(-speed * x, -speed * y, 0);
  if (model == ContactModel::Ccp) c.z() = mu * speed;  // (19) of LeLidec2024: sliding lifts
  if (model == ContactModel::Lcp) {
    f.x() = std::copysign(mu * f.z(), x);
    f.y() = std::copysign(mu * f.z(), y);
    if (random.below(2)) {  // sliding along one axis, stuck along the other
      c.y() = 0;
      f.y() *= random.within(-0.9, 0.9);
    }
  }
  if (model == ContactModel::Raisim) {  // (24) of LeLidec2024
    const auto G = problem.G();
    const int o = 3 * i;
    const double nn = G(o + 2, o + 2) + problem.R()[o + 2];
    c.x() -= speed * mu * G(o, o + 2) / nn;
    c.y() -= speed * mu * G(o + 1, o + 2) / nn;
  }
}

void choose_contact(ContactModel model, const ContactProblem& problem, int i, Random& random, Vec3& f, Vec3& c) {
  const double mu = problem.mu()[i];
  const int state = random.below(3);
  if (state == 0) {  // open
    f.setZero();
    c = Vec3{random.normal(), random.normal(), random.within(0.2, 2)};
    if (model == ContactModel::Ccp) c.z() += mu * std::hypot(c.x(), c.y());
  } else if (state == 1) {  // stick
    c.setZero();
    f = Vec3(0, 0, random.within(0.5, 3));
    const double angle = random.within(-M_PI, M_PI), r = mu * f.z() * random.within(0, 0.9);
    f.x() = r * std::cos(angle);
    f.y() = r * std::sin(angle);
  } else {
    choose_slip(model, problem, i, random, f, c);
  }
}

void choose_row(ContactProblem& problem, int j, Random& random, double& f, double& c) {
  double lower = -infinity, upper = infinity;
  f = random.normal();
  c = 0;
  const int kind = j % 4;  // bilateral, unilateral from below, from above, box
  if (kind == 1 || kind == 3) lower = f - random.within(0.2, 2);
  if (kind == 2 || kind == 3) upper = f + random.within(0.2, 2);
  if ((kind == 1 || kind == 3) && random.below(2)) {
    f = lower;
    c = random.within(0.2, 2);
  } else if (kind >= 2 && random.below(2)) {
    f = upper;
    c = -random.within(0.2, 2);
  }
  problem.lower()[j] = lower;
  problem.upper()[j] = upper;
}

// G of full rank: as many again degrees of freedom as unknowns, so that its condition is a few tens at spread 1.
Chosen choose(ContactModel model, const Shape& shape, unsigned seed) {
  Random random(seed);
  Chosen chosen;
  ContactProblem& problem = chosen.problem;
  problem.resize(shape.nc, shape.nr, true);
  const int n = problem.size();
  MatX Y(n, 3 * n);
  for (int i = 0; i < Y.size(); ++i) Y.data()[i] = random.normal();
  for (int b = 0; b < problem.blocks(); ++b)
    Y.middleRows(problem.offset(b), problem.block_size(b)) *= std::pow(shape.spread, random.within(-0.25, 0.25));
  problem.G() = Y * Y.transpose() / (3.0 * n);
  problem.R() = shape.ratio * problem.G().diagonal();
  for (int i = 0; i < shape.nc; ++i)
    problem.R().segment<2>(3 * i).setConstant(problem.R().segment<2>(3 * i).maxCoeff());
  problem.mu().setConstant(shape.mu);
  chosen.f.resize(n);
  VecX c(n);
  for (int i = 0; i < shape.nc; ++i) {
    Vec3 fi, ci;
    choose_contact(model, problem, i, random, fi, ci);
    chosen.f.segment<3>(3 * i) = fi;
    c.segment<3>(3 * i) = ci;
  }
  for (int j = 0; j < shape.nr; ++j) choose_row(problem, j, random, chosen.f[3 * shape.nc + j], c[3 * shape.nc + j]);
  problem.g().setZero();
  VecX free(n);
  problem.velocity(chosen.f.data(), free.data());
  problem.g() = c - free;
  return chosen;
}

// The primal Newton methods solve with an R of their own; they are exact where the problem's R is at least as large.
bool needs_compliance(const std::string& name) { return name.starts_with("primal-newton"); }

template <class Body>
void for_each(Body body) {
  for (const SolverEntry& entry : contact_solvers())
    for (ContactModel model : entry.models) {
      SolverOptions options;
      options.model = model;
      const std::string name = entry.name + " " + to_string(model);
      CAPTURE(name);
      body(entry, model, options);
    }
}

}  // namespace

TEST_CASE("the judge accepts every chosen solution, and nothing beside it") {
  for (ContactModel model : {ContactModel::Ncp, ContactModel::Ccp, ContactModel::Lcp, ContactModel::Raisim})
    for (double mu : {0.0, 0.3, 1.5})
      for (unsigned seed = 0; seed < 20; ++seed) {
        Chosen chosen = choose(model, Shape{.nc = 4, .nr = 4, .mu = mu}, seed);
        CAPTURE(to_string(model));
        CAPTURE(mu);
        CAPTURE(seed);
        CHECK(judge(chosen.problem, model, chosen.f).relative() <= 1e-13);  // rounding
        chosen.f[3 * (seed % 4) + 2] += 1e-3;
        CHECK(judge(chosen.problem, model, chosen.f).relative() > 1e-8);
      }
}

TEST_CASE("every solver x model reaches its tolerance on problems with a chosen solution") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    for (double mu : {0.0, 0.2, 0.5})
      for (int nc : {1, 2, 5})
        for (unsigned seed = 0; seed < 12; ++seed) {
          const double ratio = needs_compliance(entry.name) ? 0.2 : 0;
          Chosen chosen = choose(model, Shape{.nc = nc, .mu = mu, .ratio = ratio}, seed);
          VecX f = VecX::Zero(chosen.f.size());
          const SolveReport report = solver->solve(chosen.problem, Tolerance{}, f);
          CAPTURE(mu);
          CAPTURE(nc);
          CAPTURE(seed);
          CAPTURE(report.iterations);
          CAPTURE(to_string(report.status));
          CHECK(judge(chosen.problem, model, f).relative() <= 1e-8);
          CHECK(report.status == SolveStatus::Converged);
          CHECK(report.residual.relative() == judge(chosen.problem, model, f).relative());
          // A strictly convex problem has one solution; condition ~30, so 1e-8 in the residual is 1e-6 in f.
          if (model == ContactModel::Ccp || mu == 0) CHECK((f - chosen.f).norm() <= 2e-6 * chosen.f.norm() + 1e-9);
        }
  });
}

TEST_CASE("solvers that claim rows solve bilateral, one-sided and box rows beside contacts, the others refuse them") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    for (int nc : {0, 3})
      for (unsigned seed = 0; seed < 12; ++seed) {
        const double ratio = needs_compliance(entry.name) ? 0.2 : 0;
        Chosen chosen = choose(model, Shape{.nc = nc, .nr = 6, .mu = 0.3, .ratio = ratio}, 100 + seed);
        VecX f = VecX::Zero(chosen.f.size());
        const SolveReport report = solver->solve(chosen.problem, Tolerance{}, f);
        CAPTURE(nc);
        CAPTURE(seed);
        CAPTURE(to_string(report.status));
        if (entry.rows) {
          CHECK(judge(chosen.problem, model, f).relative() <= 1e-8);
          CHECK(report.status == SolveStatus::Converged);
        } else {
          CHECK(report.status == SolveStatus::Invalid);
          CHECK(f.isZero(0));
        }
      }
  });
}

TEST_CASE("no contact at all is solved") {
  for_each([](const SolverEntry& entry, ContactModel, const SolverOptions& options) {
    ContactProblem problem;
    problem.resize(0, 0, true);
    VecX f(0);
    CHECK(entry.make(options)->solve(problem, Tolerance{}, f).status == SolveStatus::Converged);
  });
}

TEST_CASE("what is not finite is refused, and the guess left alone") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    for (int what = 0; what < 4; ++what) {
      Chosen chosen = choose(model, Shape{.nc = 2, .mu = 0.3}, 7);
      VecX f = VecX::Constant(6, 0.25);
      const double nan = std::nan("");
      if (what == 0) chosen.problem.g()[1] = nan;
      if (what == 1) chosen.problem.G()(4, 1) = chosen.problem.G()(1, 4) = nan;
      if (what == 2) chosen.problem.mu()[1] = nan;
      if (what == 3) f[2] = nan;
      const VecX guess = f;
      const SolveReport report = solver->solve(chosen.problem, Tolerance{}, f);
      CAPTURE(what);
      CHECK(report.status == SolveStatus::Invalid);
      CHECK((f.array() == guess.array() || guess.array().isNaN()).all());
    }
  });
}

TEST_CASE("started at the solution, a solver stays there") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    for (unsigned seed = 0; seed < 8; ++seed) {
      const double ratio = needs_compliance(entry.name) ? 0.2 : 0;
      Chosen chosen = choose(model, Shape{.nc = 4, .mu = 0.4, .ratio = ratio}, 200 + seed);
      VecX f = chosen.f;
      const SolveReport report = solver->solve(chosen.problem, Tolerance{}, f);
      CHECK(report.status == SolveStatus::Converged);
      CHECK(report.iterations <= 1);
      CHECK((f - chosen.f).norm() <= 1e-6 * chosen.f.norm());
    }
  });
}

TEST_CASE("a contact that nothing can move stays without force while it is not pressed") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    const double ratio = needs_compliance(entry.name) ? 0.2 : 0;
    Chosen chosen = choose(model, Shape{.nc = 3, .mu = 0.4, .ratio = ratio}, 31);
    ContactProblem& problem = chosen.problem;
    problem.G().middleRows(3, 3).setZero();
    problem.G().middleCols(3, 3).setZero();
    problem.R().segment(3, 3).setZero();
    problem.g().segment(3, 3) << 0, 0, 1;
    VecX f = VecX::Zero(9);
    const SolveReport report = entry.make(options)->solve(problem, Tolerance{}, f);
    CHECK(report.status == SolveStatus::Converged);
    CHECK(judge(problem, model, f).relative() <= 1e-8);
  });
}

TEST_CASE("a contact given twice: G has half its rank, the judge is content all the same") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    for (unsigned seed = 0; seed < 8; ++seed) {
      const Chosen single = choose(model, Shape{.nc = 2, .mu = 0.3}, 300 + seed);
      ContactProblem problem;
      problem.resize(4, 0, true);
      const MatX G = single.problem.G();
      problem.G() << G, G, G, G;
      problem.g() << single.problem.g(), single.problem.g();
      problem.mu().setConstant(0.3);
      VecX f = VecX::Zero(12);
      const SolveReport report = solver->solve(problem, Tolerance{}, f);
      CAPTURE(seed);
      CAPTURE(to_string(report.status));
      if (needs_compliance(entry.name)) {  // their own R shifts the answer: 1e-3 and 2.5e-2 of G
        CHECK(judge(problem, model, f).relative() <= 0.1);
        continue;
      }
      CHECK(report.status == SolveStatus::Converged);
      CHECK(judge(problem, model, f).relative() <= 1e-8);
    }
  });
}

TEST_CASE("rigid contacts: the primal Newton methods tell the residual that their compliance leaves") {
  for (const SolverEntry& entry : contact_solvers()) {
    if (!needs_compliance(entry.name)) continue;
    for (LineSearch search : {LineSearch::Exact, LineSearch::Armijo}) {
      SolverOptions options{.model = ContactModel::Ccp};
      options.own.as<PrimalNewtonOptions>().line_search = search;
      auto solver = entry.make(options);
      for (unsigned seed = 0; seed < 10; ++seed) {
        Chosen chosen = choose(ContactModel::Ccp, Shape{.nc = 4, .mu = 0.5}, 400 + seed);
        VecX f = VecX::Zero(12);
        const SolveReport report = solver->solve(chosen.problem, Tolerance{}, f);
        CAPTURE(entry.name);
        CAPTURE(seed);
        CHECK(report.iterations < 100);
        if (chosen.f.isZero(0)) {  // every contact open: compliance shows only under a force
          CHECK(report.status == SolveStatus::Converged);
        } else {
          CHECK(report.status == SolveStatus::Stalled);
          CHECK(report.residual.relative() > 1e-8);
        }
        // Its own, softer problem is solved all the same: R is what the answer's velocity lacks.
        ContactProblem softer = chosen.problem;
        for (int i = 0; i < 4; ++i) {
          const auto D = softer.G().block<3, 3>(3 * i, 3 * i);
          const double W = D.norm() / std::sqrt(3.0), tangent = std::max(D(0, 0), D(1, 1));
          const bool sap = entry.name == "primal-newton-sap";
          softer.R().segment<2>(3 * i).setConstant(1e-3 * (sap ? W : tangent));
          softer.R()[3 * i + 2] = sap ? W / (4 * M_PI * M_PI) : 1e-3 * D(2, 2);
        }
        CHECK(judge(softer, ContactModel::Ccp, f).relative() <= 1e-9);
      }
    }
  }
}

TEST_CASE("lemke: 8 and 16 facets bring the pyramid to the cone, other numbers are refused") {
  CHECK_THROWS_AS(make_contact_solver("lemke", {.model = ContactModel::Lcp, .own = LemkeOptions{5}}), InvalidInput);
  // A block pushed at 22.5 degrees, G the identity: it slides, and friction is the corner or the side that opposes
  // best.
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G().setIdentity();
  problem.g() << 3 * std::cos(M_PI / 8), 3 * std::sin(M_PI / 8), -1;
  problem.mu()[0] = 0.5;
  for (int facets : {4, 8, 16}) {
    auto solver = make_contact_solver("lemke", {.model = ContactModel::Lcp, .own = LemkeOptions{facets}});
    VecX f = VecX::Zero(3), c(3);
    const SolveReport report = solver->solve(problem, Tolerance{}, f);
    CAPTURE(facets);
    CHECK(report.status == SolveStatus::Converged);
    problem.velocity(f.data(), c.data());
    CHECK(judge(problem, ContactModel::Lcp, f.data(), c.data(), facets).relative() <= 1e-12);
    CHECK(f[2] == doctest::Approx(1));
    // 22.5 degrees is a corner of the octagon, and the middle of a side of the 16-gon: there f_T is the disc's own.
    const double length = facets == 4 ? 0.5 * std::sqrt(2) : facets == 8 ? 0.5 / std::cos(M_PI / 8) : 0.5;
    CHECK(std::hypot(f[0], f[1]) == doctest::Approx(length).epsilon(1e-9));
  }
  for (unsigned seed = 0; seed < 10; ++seed)
    for (int facets : {8, 16}) {
      auto solver = make_contact_solver("lemke", {.model = ContactModel::Lcp, .own = LemkeOptions{facets}});
      Chosen chosen = choose(ContactModel::Ncp, Shape{.nc = 4, .nr = 4, .mu = 0.4}, 500 + seed);
      VecX f = VecX::Zero(16), c(16);
      CHECK(solver->solve(chosen.problem, Tolerance{}, f).status == SolveStatus::Converged);
      chosen.problem.velocity(f.data(), c.data());
      CHECK(judge(chosen.problem, ContactModel::Lcp, f.data(), c.data(), facets).relative() <= 1e-8);
    }
}

TEST_CASE("forces that cannot exist are never called converged") {
  for_each([](const SolverEntry& entry, ContactModel model, SolverOptions options) {
    options.max_iterations = 500;
    Chosen chosen = choose(model, Shape{.nc = 2, .mu = 0.4}, 41);
    ContactProblem& problem = chosen.problem;
    problem.G().middleRows(3, 3).setZero();  // pressed, and nothing that force could move
    problem.G().middleCols(3, 3).setZero();
    problem.g().segment(3, 3) << 0, 0, -1;
    VecX f = VecX::Zero(6);
    const SolveReport report = entry.make(options)->solve(problem, Tolerance{}, f);
    CHECK(report.status != SolveStatus::Converged);
    CHECK(report.residual.relative() > 1e-8);
    if (entry.name == "newton" || entry.name == "dantzig" || entry.name == "lemke")
      CHECK(report.status == SolveStatus::Infeasible);
  });
}

TEST_CASE("a solver keeps nothing between solves: the same problem gives the same bits") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    auto solver = entry.make(options);
    const Chosen chosen = choose(model, Shape{.nc = 5, .nr = 2, .mu = 0.5}, 51);
    const Chosen other = choose(model, Shape{.nc = 3, .nr = 1, .mu = 0.2}, 52);
    VecX first = VecX::Zero(17), again = VecX::Zero(17), between = VecX::Zero(10);
    solver->solve(chosen.problem, Tolerance{}, first);
    solver->solve(other.problem, Tolerance{}, between);
    solver->solve(chosen.problem, Tolerance{}, again);
    CHECK((first.array() == again.array()).all());
  });
}

TEST_CASE("without a dense G the solvers that can work on the factor, and the others refuse") {
  for_each([](const SolverEntry& entry, ContactModel model, const SolverOptions& options) {
    const double ratio = needs_compliance(entry.name) ? 0.2 : 0;
    Chosen chosen = choose(model, Shape{.nc = 3, .nr = 2, .mu = 0.3, .ratio = ratio}, 61);
    const ContactProblem& dense = chosen.problem;
    const int n = dense.size();
    ContactProblem problem;
    problem.resize(3, 2, false);
    problem.g() = dense.g();
    problem.R() = dense.R();
    problem.mu() = dense.mu();
    problem.lower() = dense.lower();
    problem.upper() = dense.upper();
    const MatX G = dense.G(), L = G.llt().matrixL();
    ContactFactor& factor = problem.factor;
    factor.nw = n;
    for (int k = 0; k < n; ++k) factor.index.push_back(k);
    for (int i = 0; i < problem.blocks(); ++i) {
      factor.start.push_back(i);
      factor.blocks.push_back({static_cast<int>(factor.y.size()), 0, n, 0, i});
      for (int k = 0; k < n; ++k)
        for (int r = 0; r < problem.block_size(i); ++r) factor.y.push_back(L(problem.offset(i) + r, k));
    }
    factor.start.push_back(problem.blocks());
    factor.node_start = {0, n};
    VecX f = VecX::Zero(n);
    const SolveReport report = entry.make(options)->solve(problem, Tolerance{}, f);
    const bool can = !entry.dense || entry.name == "raisim";
    CHECK(report.status == (can ? SolveStatus::Converged : SolveStatus::Invalid));
    if (can) CHECK(judge(dense, model, f).relative() <= 1e-7);  // 1e-8 and the rounding of the factor
    if (!can) CHECK(f.isZero(0));
  });
}

namespace {

// Every NCP solution of one contact that presses: a scan of the slip angle for c_T x u = 0, c_T . u < 0, c_N = 0.
std::vector<Vec3> one_contact(const Mat3& G, const Vec3& g, double mu) {
  std::vector<Vec3> solutions;
  if (g.z() >= 0) solutions.push_back(Vec3::Zero());
  const Vec3 stick = -G.inverse() * g;
  if (std::hypot(stick.x(), stick.y()) <= mu * stick.z()) solutions.push_back(stick);
  const auto force = [&](double t) {
    const Vec3 ray(mu * std::cos(t), mu * std::sin(t), 1);
    return Vec3(ray * (-g.z() / G.row(2).dot(ray)));
  };
  const auto across = [&](double t) {
    const Vec3 c = G * force(t) + g;
    return c.x() * std::sin(t) - c.y() * std::cos(t);
  };
  const int samples = 20000;
  for (int k = 0; k < samples; ++k) {
    double a = 2 * M_PI * k / samples, b = 2 * M_PI * (k + 1) / samples;
    if (across(a) * across(b) > 0) continue;
    for (int i = 0; i < 60; ++i) {
      const double m = 0.5 * (a + b);
      (across(a) * across(m) <= 0 ? b : a) = m;
    }
    const Vec3 f = force(a), c = G * f + g;
    if (f.z() > 0 && c.x() * std::cos(a) + c.y() * std::sin(a) < 0 && std::abs(across(a)) < 1e-9)
      solutions.push_back(f);
  }
  return solutions;
}

}  // namespace

TEST_CASE("one contact: the NCP solvers find what a scan of the slip angle finds") {
  for (const SolverEntry& entry : contact_solvers()) {
    if (std::find(entry.models.begin(), entry.models.end(), ContactModel::Ncp) == entry.models.end()) continue;
    auto solver = entry.make(SolverOptions{});
    for (unsigned seed = 0; seed < 60; ++seed) {
      Random random(seed);
      MatX Y(3, 6);
      for (int i = 0; i < Y.size(); ++i) Y.data()[i] = random.normal();
      const Mat3 G = Y * Y.transpose() / 6;
      const Vec3 g{3 * random.normal(), 3 * random.normal(), -random.within(0.5, 2)};
      const double mu = random.within(0.1, 0.6);
      ContactProblem problem;
      problem.resize(1, 0, true);
      problem.G() = G;
      problem.g() = g;
      problem.mu()[0] = mu;
      VecX f = VecX::Zero(3);
      const double eps = 1e-14;
      solver->solve(problem, Tolerance{0, eps}, f);
      const Residual scale = judge(problem, ContactModel::Ncp, f);
      double excess = infinity;  // over the distance that a residual of eps leaves
      for (const Vec3& s : one_contact(G, g, mu)) {
        // Complementarity is of second order in the angle of slip: mu f_N |c_T| (1 - cos angle) <= eps F a.
        const double slip = (G * s + g).head<2>().norm() * mu * s.z();
        const double angle = slip > 1e-9 ? std::sqrt(2 * eps * scale.force_scale * scale.motion_scale / slip) : 0;
        excess = std::min(excess, (s - f).norm() - (1e-9 + std::min(angle, 1e-5)) * std::max(1.0, f.norm()));
      }
      CAPTURE(entry.name);
      CAPTURE(seed);
      CHECK(excess <= 0);
    }
  }
}
