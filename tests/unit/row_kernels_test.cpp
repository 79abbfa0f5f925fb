// Kernels over rows of four numbers beside plain sums and Eigen's solves, for every number of columns up to three blocks.
#include "linalg/row_kernels.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "derivatives/tree_solve.hpp"
#include "dynamics/derivatives.hpp"
#include "dynamics/group.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

RowMatrix drawn(int rows, int columns) {
  static Random random;
  RowMatrix X;
  X.set_zero(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) X(i, j) = 2 * random.uniform() - 1;
  return X;
}

}  // namespace

TEST_CASE("row kernels: sums of rows and products with them") {
  constexpr int n = 5;
  const int index[n] = {6, 0, 3, 3, 1};
  const double x[n] = {0.5, -2, 3, 0.25, -1};
  for (int columns = 4; columns <= 200; columns += 4) {
    CAPTURE(columns);
    RowMatrix X = drawn(8, columns), plain = X;
    rows::combine(0.5, X.row(7), X.data(), X.stride(), index, x, n, columns);
    for (int i = 0; i < n; ++i) plain.map().row(7) += 2 * x[i] * plain.map().row(index[i]);
    CHECK((X.map().row(7) - 0.5 * plain.map().row(7)).cwiseAbs().maxCoeff() < 1e-14);
    plain = X;
    rows::combine(-1, X.row(7), X.data(), X.stride(), x, n, columns);
    plain.map().row(7) *= -1;
    for (int i = 0; i < n; ++i) plain.map().row(7) += x[i] * plain.map().row(i);
    CHECK((X.map().topRows(7) - plain.map().topRows(7)).isZero(0));
    CHECK((X.map().row(7) - plain.map().row(7)).cwiseAbs().maxCoeff() < 1e-13);
    double products[7];
    rows::dots(X.row(7), X.data(), X.stride(), 7, columns, products);
    for (int i = 0; i < 7; ++i)
      CHECK(products[i] == doctest::Approx(X.map().row(i).dot(X.map().row(7))).epsilon(1e-12));
  }
}

TEST_CASE("row kernels: columns, and numbers that are none") {
  for (int count = 1; count <= 9; ++count) {
    RowMatrix X = drawn(count, 8);
    MatX columns = MatX::Constant(10, 4, 7);
    double* const to[4] = {columns.col(0).data(), columns.col(1).data(), columns.col(2).data(), columns.col(3).data()};
    rows::to_columns(X.data() + 4, X.stride(), count, to);
    CHECK((columns.topRows(count) - X.map().rightCols(4)).isZero(0));
    CHECK((columns.bottomRows(10 - count).array() == 7).all());
  }
  for (int n = 1; n < 40; ++n) {
    VecX x = VecX::Constant(n, -1e300);
    CHECK(rows::all_finite(x.data(), n));
    for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (int k = 0; k < n; ++k) {
        x[k] = wrong;
        CHECK(!rows::all_finite(x.data(), n));
        x[k] = 1;
      }
  }
}

TEST_CASE("row kernels: the factor of a tree on many right-hand sides") {
  for (const char* name : {"solo12", "ur10", "talos"}) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = name;
    options.contact = "none";
    options.floating = std::string(name) != "ur10";
    add_robot(builder, options);
    const Model model = builder.build();
    const int nv = model.nv;
    const VecX v = VecX::LinSpaced(nv, -1, 2), extra = VecX::LinSpaced(nv, 0.1, 0.3);
    VecX q = model.neutral();
    integrate(model, v, 1, q);
    Dynamics dynamics(model);
    dynamics.compute(q, v);
    InverseDynamics inverse(model);
    inverse.differentiate(0, dynamics, v, v, true);
    MatX M = dynamics.mass_matrix();
    CHECK((inverse.M().dense() - M).cwiseAbs().maxCoeff() < 1e-12 * M.cwiseAbs().maxCoeff());
    M.diagonal() += extra;
    TreeSolve solve(model);
    solve.factor(0, inverse.M(), extra);
    const Eigen::LDLT<MatX> plain(M);
    for (int columns : {1, 4, 7, 12, 31, 64, 77, 108, 140}) {
      CAPTURE(name);
      CAPTURE(columns);
      RowMatrix X = drawn(nv, columns);
      const MatX expected = plain.solve(MatX(X.map()));
      solve.solve(0, X, 0, columns);
      CHECK((X.map() - expected).cwiseAbs().maxCoeff() < 1e-10 * expected.cwiseAbs().maxCoeff());
    }
  }
}
