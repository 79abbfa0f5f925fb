#include "contact/solvers/load_share.hpp"

#include <algorithm>

namespace tribo {
namespace {

constexpr double dependent = 1e-9;  // of the largest column of G: what is left of one that others span

}  // namespace

// Columns of G span what Y does. The longest is taken first, the others are made orthogonal to it on the rows that carry,
// which stand first, and take along what they are on the rest.
bool LoadShare::find(const ContactProblem& problem, const std::vector<int>& rows) {
  if (m_ == static_cast<int>(rows.size()) && std::equal(rows.begin(), rows.end(), order_.begin())) return rank_ < m_;
  m_ = static_cast<int>(rows.size()), n_ = 3 * problem.nc(), rank_ = 0;
  order_ = rows;
  auto next_row = rows.begin();  // in rising order
  for (int i = 0; i < n_; ++i) {
    if (next_row != rows.end() && *next_row == i)
      ++next_row;
    else
      order_.push_back(i);
  }
  left_.resize(n_, m_);
  basis_.resize(n_, m_);
  const auto G = problem.G();
  auto left = left_.map();
  for (int a = 0; a < m_; ++a)
    for (int i = 0; i < n_; ++i) left(i, a) = G(order_[at(i)], rows[at(a)]);
  double first = 0;
  for (; rank_ < m_; ++rank_) {
    int next = 0;
    double largest = -1;
    for (int a = 0; a < m_; ++a)
      if (const double size = left.col(a).head(m_).squaredNorm(); size > largest) largest = size, next = a;
    first = std::max(first, largest);
    if (!(largest > dependent * dependent * first)) break;
    auto q = basis_.map().col(rank_);
    q = left.col(next) / std::sqrt(largest);
    for (int a = 0; a < m_; ++a) left.col(a) -= q.head(m_).dot(left.col(a).head(m_)) * q;
  }
  return rank_ < m_;
}

void LoadShare::of(const VecRef& f, VectorBuffer& z) const {
  z.map().head(n_).setZero();
  for (int k = 0; k < rank_; ++k) {
    const auto q = basis_.map().col(k);
    double along = 0;
    for (int i = 0; i < m_; ++i) along += q[i] * f[order_[at(i)]];
    for (int i = 0; i < n_; ++i) z[order_[at(i)]] += along * q[i];
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
