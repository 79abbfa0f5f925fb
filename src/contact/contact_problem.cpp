#include "tribo/contact_problem.hpp"

#include <cmath>

#include "base/names.hpp"
#include "contact/factor.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

// Whitened coordinates that two blocks of one tree share: index lists run from the root, so these are a common prefix.
int shared_depth(const ContactFactor& factor, const FactorBlock& a, const FactorBlock& b) {
  if (a.tree != b.tree) return 0;
  const int* x = factor.index.data() + a.index;
  const int* y = factor.index.data() + b.index;
  const int n = std::min(a.depth, b.depth);
  if (a.body == b.body) return n;
  int k = 0;
  while (k < n && x[k] == y[k]) ++k;
  return k;
}

}  // namespace

void ContactProblem::resize(int contacts, int rows, bool dense) {
  nc_ = contacts;
  nr_ = rows;
  dense_ = dense;
  pending_ = false;
  const int n = size();
  if (dense) G_.resize(n, n);
  g_.resize(n);
  R_.setZero(n);
  mu_.resize(contacts);
  lower_.resize(rows);
  upper_.resize(rows);
  discs.clear();
}

void ContactProblem::velocity(const double* f, double* c) const {
  multiply(f, c);
  const int n = size();
  for (int i = 0; i < n; ++i) c[i] += R_[i] * f[i] + g_[i];  // (problem.1)
}

void ContactProblem::multiply(const double* f, double* c) const {
  if (dense_ && !pending_) {
    dense::multiply(G_.data(), size(), f, c);
    return;
  }
  w_.resize(factor.nw);
  to_bodies(*this, f, w_.data());
  to_contacts(*this, w_.data(), c);
}

void ContactProblem::diagonal(double* d) const {
  if (dense_ && !pending_) {
    for (int i = 0; i < size(); ++i) d[i] = G_.map()(i, i);
    return;
  }
  for (int i = 0; i < blocks(); ++i) {
    const int rows = block_size(i), first = factor.start[at(i)], last = factor.start[at(i + 1)];
    double* out = d + offset(i);
    for (int r = 0; r < rows; ++r) out[r] = 0;
    for (int s = first; s < last; ++s)
      for (int t = first; t < last; ++t) {
        const FactorBlock &a = factor.blocks[at(s)], &b = factor.blocks[at(t)];
        if (a.tree != b.tree) continue;
        const int depth = s == t ? a.depth : shared_depth(factor, a, b);
        const double *x = factor.y.data() + a.first, *y = factor.y.data() + b.first;
        for (int k = 0; k < depth; ++k)
          for (int r = 0; r < rows; ++r) out[r] += x[rows * k + r] * y[rows * k + r];
      }
  }
}

void ContactProblem::fill() const {
  gram(*this, Y_, G_.data());
  pending_ = false;
}

std::string ContactProblem::defect() const {
  const int n = size();
  auto finite = [](auto x) { return x.array().isFinite().all(); };
  if (!finite(g())) return "g is not finite";
  if (!finite(R()) || (n && R().minCoeff() < 0)) return "R must be finite and >= 0";
  if (!finite(mu()) || (nc_ && mu().minCoeff() < 0)) return "mu must be finite and >= 0";
  for (int j = 0; j < nr_; ++j)
    if (!(lower_[j] <= upper_[j]))
      return "row " + std::to_string(j) + ": lower = " + shown(lower_[j]) + " is not <= upper = " + shown(upper_[j]);
  for (const FrictionDisc& d : discs)
    if (d.contact < 0 || d.contact >= nc_ || d.row < 0 || d.row + d.size > nr_ || !(d.length >= 0))
      return "a friction disc names no contact, no row, or a negative length";
  if (dense_ && !pending_) {
    if (!finite(G())) return "G is not finite";
    for (int i = 0; i < n; ++i)
      if (G()(i, i) < 0) return "G has a negative diagonal entry at " + std::to_string(i);
  } else {
    for (double y : factor.y)
      if (!std::isfinite(y)) return "G is not finite";
  }
  return "";
}

}  // namespace tribo
