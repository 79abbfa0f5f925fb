#include "contact/solvers/load_share.hpp"

#include <algorithm>

namespace tribo {
namespace {

constexpr double dependent = 1e-9;  // of the largest column of G: what is left of one that others span

}  // namespace

// Columns of G span what Y does. The longest is taken first, the others are made orthogonal to it on the rows that carry,
// and take along what they are on the rest.
bool LoadShare::find(const ContactProblem& problem, const std::vector<int>& rows) {
  rows_ = rows;
  n_ = 3 * problem.nc(), rank_ = 0;
  const int m = static_cast<int>(rows_.size());
  left_.resize(n_, m);
  basis_.resize(n_, m);
  const auto G = problem.G();
  auto left = left_.map();
  for (int a = 0; a < m; ++a) left.col(a) = G.col(rows_[at(a)]).head(n_);
  const auto square = [&](const auto& x) {
    double sum = 0;
    for (int i : rows_) sum += x[i] * x[i];
    return sum;
  };
  double first = 0;
  for (; rank_ < m; ++rank_) {
    int next = 0;
    double largest = -1;
    for (int a = 0; a < m; ++a)
      if (const double size = square(left.col(a)); size > largest) largest = size, next = a;
    first = std::max(first, largest);
    if (!(largest > dependent * dependent * first)) break;
    auto q = basis_.map().col(rank_);
    q = left.col(next) / std::sqrt(largest);
    for (int a = 0; a < m; ++a) {
      double along = 0;
      for (int i : rows_) along += q[i] * left(i, a);
      left.col(a) -= along * q;
    }
  }
  return rank_ < m;
}

void LoadShare::of(const VecRef& f, VectorBuffer& z) const {
  z.map().head(n_).setZero();
  for (int k = 0; k < rank_; ++k) {
    const auto q = basis_.map().col(k);
    double along = 0;
    for (int i : rows_) along += q[i] * f[i];
    z.map().head(n_) += along * q;
  }
}

bool touches_often(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  if (factor.empty()) return true;  // nobody knows of what bodies
  const auto body = [&](int contact, int side) {
    const int k = factor.start[at(contact)] + side;
    return k < factor.start[at(contact + 1)] ? factor.blocks[at(k)].body : -1;
  };
  for (int a = 0; a < problem.nc(); ++a) {
    int same = 1;
    for (int b = a + 1; b < problem.nc(); ++b) same += body(a, 0) == body(b, 0) && body(a, 1) == body(b, 1);
    if (same >= 3) return true;
  }
  return false;
}

}  // namespace tribo
