// Products with M + extra and its factor against dense matrices, on trees of every root and shape.
#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "tribo/dynamics.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

// Bodies of random masses on random joints; each hangs on one of the last `reach` before it.
Model random_tree(JointKind root, int bodies, int reach, Random& random) {
  const auto draw = [&] { return 2 * random.uniform() - 1; };
  ModelBuilder builder;
  builder.begin_member("tree", true, "test");
  for (int i = 0; i < bodies; ++i) {
    Body body;
    body.name = "b" + std::to_string(i);
    body.joint = i == 0       ? root
                 : i % 5 == 4 ? JointKind::Spherical
                 : i % 7 == 3 ? JointKind::Prismatic
                              : JointKind::Revolute;
    if (i > 0) {
      body.parent = std::max(0, i - 1 - static_cast<int>(random.uniform() * reach));
      body.X_PJ.p = 0.1 * Vec3(draw(), draw(), draw());
      body.X_PJ.R = Quat(draw(), draw(), draw(), draw()).normalized().toRotationMatrix();
      body.axis = i % 2 ? Vec3::Unit(i % 3) : Vec3(draw(), draw(), draw()).normalized();
    }
    body.inertia.mass = 1 + random.uniform();
    body.inertia.com = 0.05 * Vec3(draw(), draw(), draw());
    body.inertia.about_com = Vec3(0.02, 0.03, 0.04).asDiagonal();
    builder.add_body(body);
  }
  return builder.build();
}

double off(const VecX& a, const VecX& b) { return (a - b).norm() / (1e-300 + b.norm()); }

}  // namespace

TEST_CASE("dynamics: products with M and its factor are those of the dense matrices") {
  Random random;
  const auto draw = [&] { return 2 * random.uniform() - 1; };
  for (JointKind root : {JointKind::Free, JointKind::Revolute, JointKind::Spherical})
    for (const auto& [bodies, reach] : {std::pair(2, 1), {7, 3}, {12, 1}, {25, 6}, {80, 2}}) {
      CAPTURE(static_cast<int>(root));
      CAPTURE(bodies);
      const Model model = random_tree(root, bodies, reach, random);
      const int n = model.nv;
      VecX q = model.neutral(), v(n), x(n), extra(n);
      for (const Body& body : model.bodies) {
        for (int k = 0; k < nq_of(body.joint); ++k) q[body.iq + k] = draw();
        if (body.joint == JointKind::Free) q.segment<4>(body.iq + 3).normalize();
        if (body.joint == JointKind::Spherical) q.segment<4>(body.iq).normalize();
      }
      for (int k = 0; k < n; ++k) v[k] = draw(), x[k] = draw(), extra[k] = 0.5 + random.uniform();
      Dynamics dynamics(model);
      dynamics.compute(q, v);
      dynamics.factor(extra);
      const MatX M = dynamics.mass_matrix(), A = M + MatX(extra.asDiagonal());
      CHECK(M.ldlt().isPositive());

      VecX y(n);
      dynamics.multiply(0, x.data(), y.data());
      CHECK(off(y, M * x) < 1e-14);
      y = x;
      dynamics.solve_in_place(0, y.data());
      CHECK(off(A * y, x) < 1e-12);

      // W W^T = A^-1 with W = L^-1 D^-1/2
      MatX W(n, n);
      for (int k = 0; k < n; ++k) {
        VecX w = VecX::Unit(n, k), column = VecX::Zero(n);
        dynamics.unwhiten_add<1>(0, w.data(), {column.data()});
        W.col(k) = column;
        VecX pair = VecX::Zero(2 * n), other = VecX::Zero(n), none = VecX::Zero(n);
        pair[2 * k] = 1;
        dynamics.unwhiten_add<2>(0, pair.data(), {other.data(), none.data()});
        CHECK(off(other, column) < 1e-13);
        CHECK(none.isZero(0));
      }
      CHECK((A * W * W.transpose() - MatX::Identity(n, n)).norm() < 1e-11);

      // J W along the chain of a body, of one row and of three
      for (int b : {bodies / 2, bodies - 1}) {
        const std::vector<int>& chain = model.bodies[static_cast<std::size_t>(b)].chain;
        const int depth = static_cast<int>(chain.size());
        MatX J = MatX::Zero(4, n), along(4, depth);
        for (int a = 0; a < depth; ++a)
          for (int r = 0; r < 3; ++r) J(r, chain[static_cast<std::size_t>(a)]) = draw();
        for (int a = 0; a < depth; ++a) along.col(a) = J.col(chain[static_cast<std::size_t>(a)]);
        const MatX JW = J * W;
        VecX row = along.row(1).transpose();
        dynamics.whiten<1>(b, row.data());
        dynamics.whiten<4>(b, along.data());
        for (int a = 0; a < depth; ++a) {
          CHECK((along.col(a) - JW.col(chain[static_cast<std::size_t>(a)])).norm() < 1e-11 * JW.norm());
          CHECK(std::abs(row[a] - JW(1, chain[static_cast<std::size_t>(a)])) < 1e-11 * JW.norm());
        }
      }
    }
}
