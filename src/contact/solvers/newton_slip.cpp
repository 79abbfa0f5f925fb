#include "contact/solvers/newton_slip.hpp"

#include <algorithm>

namespace tribo {

void slip_rows(Slip& slip, MatrixBuffer& matrix, VectorBuffer& rhs) {
  const int row = slip.row;
  const double mu = slip.mu, r = slip.r;
  const double length = norm(slip.y[0], slip.y[1]), bound = mu * slip.n;
  const double yx = length > 0 ? slip.y[0] / length : 0, yy = length > 0 ? slip.y[1] / length : 0;
  const double e = length > 0 ? bound / length : 0;
  double fx = slip.f[0], fy = slip.f[1];
  const double t = norm(fx, fy);
  if (t > bound) {
    fx *= bound / t;
    fy *= bound / t;
  }
  const double inverse = length > 0 ? 1.0 / length : 0;
  const double N[2][2] = {{e - fx * yx * inverse, -fx * yy * inverse}, {-fy * yx * inverse, e - fy * yy * inverse}};
  for (int k = 0; k < 4; ++k) slip.rN[k] = r * N[k / 2][k % 2];
  auto A = matrix.map();
  for (int b = 0; b < A.cols(); ++b) {
    const double x = A(row, b), y = A(row + 1, b);
    A(row, b) = r * (N[0][0] * x + N[0][1] * y);
    A(row + 1, b) = r * (N[1][0] * x + N[1][1] * y);
  }
  A(row, row) += 1 - N[0][0];
  A(row, row + 1) -= N[0][1];
  A(row + 1, row) -= N[1][0];
  A(row + 1, row + 1) += 1 - N[1][1];
  A(row, slip.normal) -= mu * yx;
  A(row + 1, slip.normal) -= mu * yy;
  const double bx = rhs[row], by = rhs[row + 1];  // minus the free acceleration, sigma included
  rhs[row] = fx - bound * yx + r * (N[0][0] * bx + N[0][1] * by);
  rhs[row + 1] = fy - bound * yy + r * (N[1][0] * bx + N[1][1] * by);
}

void torsional_row(Slip& slip, MatrixBuffer& matrix, VectorBuffer& rhs) {
  auto A = matrix.map();
  for (int b = 0; b < A.cols(); ++b) A(slip.row, b) = 0;
  A(slip.row, slip.row) = 1;
  A(slip.row, slip.normal) = slip.y[0] < 0 ? slip.mu : -slip.mu;
  rhs[slip.row] = 0;
  std::fill_n(slip.rN, 4, 0.0);
}

const std::vector<int>& held_rows(const ContactProblem& problem, const std::vector<int>& active, int m,
                                  const std::vector<Slip>& slips, std::vector<int>& held) {
  held.clear();
  auto slip = slips.begin();
  for (int a = 0; a < m && active[at(a)] < 3 * problem.nc(); ++a) {
    if (slip != slips.end() && slip->row == a)
      ++a, ++slip;
    else
      held.push_back(active[at(a)]);
  }
  return held;
}

}  // namespace tribo
