// The active-set rule of the momentum family: it ends, and what it ends in satisfies what it states.
#include "stepping/momentum/contact_program.hpp"

#include <doctest/doctest.h>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

void set_matrix(ContactProgram& program, const MatX& A) {
  for (int c = 0; c < A.cols(); ++c) {
    for (int r = 0; r < A.rows(); ++r) program.add(r, A(r, c));
    program.end_column();
  }
}

void fill(ContactProgram& program, int contacts, int limits, int rubs, int rank, Random& random) {
  const int n = 3 * contacts + limits + rubs;
  program.resize(n);
  program.items.assign(static_cast<std::size_t>(contacts + limits + rubs), {});
  MatX J(n, rank);
  auto draw = [&] { return 2 * random.uniform() - 1; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < rank; ++j) J(i, j) = draw();
  set_matrix(program, J * J.transpose());
  VecX velocity(rank);  // consistent with the motion of bodies
  for (int j = 0; j < rank; ++j) velocity[j] = draw();
  program.w.map() = J * velocity;
  for (int i = 0; i < contacts + limits + rubs; ++i) {
    ProgramItem& item = program.items[static_cast<std::size_t>(i)];
    item.kind = i < contacts            ? ProgramItem::Kind::Contact
                : i < contacts + limits ? ProgramItem::Kind::Limit
                                        : ProgramItem::Kind::Friction;
    item.first = i < contacts ? 3 * i : 2 * contacts + i;
    item.mu_rest = 0.8;
    item.mu_slide = 0.5;
    item.bound = 0.05;
    item.fresh = random.uniform() < 0.2;
    item.slid = !item.fresh && random.uniform() < 0.4;
    item.heading = Eigen::Vector2d{draw(), draw()}.normalized();
    item.ramp = item.slid ? 0.9 : 1;
  }
}

}  // namespace

TEST_CASE("random programs: the passes end in a state that obeys their rules") {
  Random random;
  ContactProgram program;
  for (int trial = 0; trial < 400; ++trial) {
    const int contacts = trial % 7, limits = trial % 3, rubs = trial % 2, items = contacts + limits + rubs;
    fill(program, contacts, limits, rubs, 2 + trial % 9, random);
    for (const ProgramSolve kind : {ProgramSolve::Relaxed, ProgramSolve::Pivoting, ProgramSolve::MinimumNorm}) {
      CAPTURE(trial);
      const int passes = program.solve({kind, 1e-2, true});
      CHECK(passes <= 6 * items + 1);
      const double largest = program.size() > 0 ? program.p.map().cwiseAbs().maxCoeff() : 0;
      for (const ProgramItem& item : program.items) {
        const int o = item.first;
        if (item.kind == ProgramItem::Kind::Friction) {
          CHECK(std::abs(program.p[o]) <= item.bound);
          continue;
        }
        const double normal = program.p[item.kind == ProgramItem::Kind::Contact ? o + 2 : o];
        CHECK(normal >= -2e-9 * largest);
        if (item.out) CHECK(normal == 0);
        if (item.kind == ProgramItem::Kind::Limit) continue;
        const double friction = std::hypot(program.p[o], program.p[o + 1]);
        if (item.slides)
          CHECK(friction == doctest::Approx(item.mu_slide * item.ramp * std::abs(normal)));
        else
          CHECK(friction <= (1 + 1e-8) * (item.slid ? item.mu_slide : item.mu_rest) * normal + 1e-8 * largest);
      }
    }
  }
}

TEST_CASE("one point: stops, slides or leaves") {
  ContactProgram program;
  auto one = [&](const Vec3& w, bool slid) {
    program.resize(3);
    program.items.assign(1, {});
    set_matrix(program, MatX::Identity(3, 3) / 2.0);  // 2 kg
    program.w.map() = w;
    ProgramItem& item = program.items[0];
    item.mu_rest = 0.8;
    item.mu_slide = 0.5;
    item.slid = slid;
    if (slid) item.heading = -w.head<2>().normalized();
    program.solve({ProgramSolve::Pivoting, 0, true});
    return Vec3(program.p.map());
  };
  CHECK((one(Vec3(0.6, 0, -1), false) - Vec3(-1.2, 0, 2)).norm() < 1e-12);  // within mu_s
  CHECK((one(Vec3(0.9, 0, -1), false) - Vec3(-1, 0, 2)).norm() < 1e-12);    // beyond: mu_d
  CHECK((one(Vec3(0.6, 0, -1), true) - Vec3(-1, 0, 2)).norm() < 1e-12);     // slid before: mu_d counts
  CHECK((one(Vec3(0.4, 0, -1), true) - Vec3(-0.8, 0, 2)).norm() < 1e-12);   // comes to rest
  CHECK(one(Vec3(0.4, 0, 1), false).norm() == 0);                           // leaves
}

TEST_CASE("a program of many unknowns: conjugate gradients reach what QR gives") {
  Random random;
  ContactProgram program;
  const int contacts = 60;  // beyond the bound of QR
  fill(program, contacts, 0, 0, 200, random);
  // Wanted impulses that all press.
  VecX wanted(program.size());
  for (int k = 0; k < program.size(); ++k) wanted[k] = k % 3 == 2 ? 1 + random.uniform() : 0.2 * random.uniform() - 0.1;
  for (int r = 0; r < program.size(); ++r) {
    program.w[r] = 0;
    for (int c = 0; c < program.size(); ++c) program.w[r] -= program.entry(r, c) * wanted[c];
  }
  for (ProgramItem& item : program.items) item.fresh = false;
  program.solve({ProgramSolve::Relaxed, 1e-2, true});
  CHECK(program.converged());
  // The gradient of what is minimised, over the unknowns at rest: B^T (A p + w) + eps^2 p, with tied columns of those
  // that slide. Here for the program without sliding, where B is a part of A.
  double eps = 0;
  for (int k = 0; k < program.size(); ++k) eps += 1e-2 * program.entry(k, k) / program.size();
  for (ProgramItem& item : program.items) item.slid = false, item.mu_rest = item.mu_slide = 1e6;
  program.solve({ProgramSolve::Relaxed, 1e-2, true});
  std::vector<int> in;
  for (const ProgramItem& item : program.items)
    if (!item.out)
      for (int k = 0; k < 3; ++k) in.push_back(item.first + k);
  REQUIRE(in.size() > 150);
  double worst = 0, scale = 0;
  for (int c : in) {
    double gradient = eps * eps * program.p[c], free = 0;
    for (int r : in) gradient += program.entry(r, c) * program.residual(r), free += program.entry(r, c) * program.w[r];
    worst = std::max(worst, std::abs(gradient));
    scale = std::max(scale, std::abs(free));
  }
  CHECK(worst < 1e-8 * scale);
}
