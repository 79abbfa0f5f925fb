// The relaxed program by bodies against the same least squares in dense form.
#include "stepping/momentum/free_bodies.hpp"

#include <doctest/doctest.h>

#include <Eigen/QR>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

using Part = FreeBodies::Part;

struct Problem {
  FreeBodies bodies;
  MatX Y;  // (3 contacts, 6 nodes)
  std::vector<Part> parts;
  VecX w;
};

Problem draw_problem(int nodes, int contacts, Random& random) {
  auto draw = [&] { return 2 * random.uniform() - 1; };
  Problem it;
  it.bodies.resize(nodes);
  it.Y.setZero(3 * contacts, 6 * nodes);
  it.w.setZero(3 * contacts);
  for (int i = 0; i < contacts; ++i) {
    FreeBodies::Side side[2];
    side[0].node = static_cast<int>(random.uniform() * (nodes + 1)) - 1;  // -1: the ground
    side[1].node = (side[0].node + 1 + static_cast<int>(random.uniform() * (nodes - 1))) % nodes;
    if (side[0].node == side[1].node) side[0].node = -1;
    for (FreeBodies::Side& s : side) {
      for (double& y : s.y.reshaped()) y = draw();
      if (s.node >= 0) it.Y.block<3, 6>(3 * i, 6 * s.node) = s.y;
    }
    it.bodies.add(side[0], side[1]);
    Part part;
    const double kind = random.uniform();
    part.kind = kind < 0.2 ? Part::Kind::Out : kind < 0.6 ? Part::Kind::Rest : Part::Kind::Tied;
    part.along = Vec3(draw(), draw(), 1);
    it.parts.push_back(part);
    for (int k = 0; k < 3; ++k) it.w[3 * i + k] = draw();
  }
  return it;
}

// argmin |R (A E x + w)|^2 + eps^2 |x|^2 by Householder's QR of the stacked system; p = E x.
VecX dense_impulses(const Problem& it, double eps) {
  const int n = static_cast<int>(it.w.size());
  MatX E = MatX::Zero(n, n), R = MatX::Zero(n, n);
  int unknowns = 0;
  for (int i = 0; i < n / 3; ++i) {
    const Part& part = it.parts[static_cast<std::size_t>(i)];
    if (part.kind == Part::Kind::Rest)
      for (int k = 0; k < 3; ++k) E(3 * i + k, unknowns) = R(unknowns, 3 * i + k) = 1, ++unknowns;
    if (part.kind != Part::Kind::Tied) continue;
    E.block<3, 1>(3 * i, unknowns) = part.along;
    R(unknowns++, 3 * i + 2) = 1;
  }
  const MatX B = R.topRows(unknowns) * it.Y * it.Y.transpose() * E.leftCols(unknowns);
  MatX stacked(2 * unknowns, unknowns);
  stacked << B, eps * MatX::Identity(unknowns, unknowns);
  VecX right = VecX::Zero(2 * unknowns);
  right.head(unknowns) = -R.topRows(unknowns) * it.w;
  return E.leftCols(unknowns) * VecX(stacked.householderQr().solve(right));
}

}  // namespace

TEST_CASE("free bodies: the impulses are those of the dense least squares") {
  Random random;
  for (int trial = 0; trial < 60; ++trial) {
    const int nodes = 2 + trial % 9, contacts = 1 + trial % 37;
    Problem it = draw_problem(nodes, contacts, random);
    for (const double eps : {1.0, 1e-1, 1e-2}) {  // A is of the order of 1
      CAPTURE(trial);
      CAPTURE(eps);
      VecX p(3 * contacts);
      REQUIRE(it.bodies.solve(it.parts, it.w.data(), eps, p.data()));
      const VecX expected = dense_impulses(it, eps);
      // The normal equations of the two agree; rounding is magnified by the condition of the stacked matrix, |A|/eps.
      CHECK((p - expected).norm() <= 1e-9 / eps * (1 + expected.norm()));
    }
  }
}

TEST_CASE("free bodies: products and local blocks are those of A") {
  Random random;
  Problem it = draw_problem(5, 12, random);
  const MatX A = it.Y * it.Y.transpose();
  VecX x = VecX::LinSpaced(36, -1, 2), y(36);
  it.bodies.multiply(x.data(), y.data());
  CHECK((y - A * x).norm() <= 1e-13 * y.norm());
  for (int i = 0; i < 12; ++i)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) CHECK(it.bodies.entry(i, r, c) == doctest::Approx(A(3 * i + r, 3 * i + c)));
}
