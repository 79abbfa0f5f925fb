#include "contact/block_lu.hpp"

#include <algorithm>

#include "contact/block_kernels.hpp"
#include "linalg/dense.hpp"

namespace tribo {

void BlockLu::analyse(const ContactProblem& problem) {
  if (order_.analyse(problem)) lay_out();
}

void BlockLu::analyse(const std::vector<int>& pairs, const std::vector<int>& node_start) {
  if (order_.analyse(pairs, node_start)) lay_out();
}

void BlockLu::lay_out() {
  diagonal_.resize(at(order_.nodes()));
  lower_.resize(at(order_.links()));
  upper_.resize(at(order_.links()));
  entries_ = 0;
  work_ = 0;
  int coordinates = 0;
  for (int p = 0; p < order_.nodes(); ++p) {
    diagonal_[at(p)] = entries_;
    entries_ += at(order_.size(p) * order_.size(p));
    coordinates += order_.size(p);
    double linked = 0;  // coordinates that are changed where these are taken out
    for (int l = order_.first(p); l < order_.last(p); ++l) {
      const std::size_t n = at(order_.size(p) * order_.size(order_.other(l)));
      lower_[at(l)] = entries_;
      upper_[at(l)] = entries_ + n;
      entries_ += 2 * n;
      linked += order_.size(order_.other(l));
    }
    work_ += order_.size(p) * (linked + order_.size(p)) * (linked + order_.size(p));
  }
  values_.resize(std::max(values_.size(), entries_));
  pivots_.resize(at(coordinates));
}

void BlockLu::set_zero() { std::fill_n(values_.begin(), static_cast<std::ptrdiff_t>(entries_), 0.0); }

// Factors the diagonal block of position k and takes it out of the later ones.
bool BlockLu::eliminate(int k) {
  const int n = order_.size(k);
  double *values = values_.data(), *A = values + diagonal_[at(k)];
  const int* pivot = pivots_.data() + order_.start(k);
  if (!dense::lu(A, n, pivots_.data() + order_.start(k))) return false;
  const int first = order_.first(k), last = order_.last(k);
  for (int l = first; l < last; ++l)  // upper <- A^-1 upper
    kernels::divide_by_transposed(A, n, pivot, order_.size(order_.other(l)), values + upper_[at(l)]);
  for (int i = first; i < last; ++i) {
    const int p = order_.other(i), columns = order_.size(p);
    const double *lower = values + lower_[at(i)], *upper = values + upper_[at(i)];
    kernels::subtract_outer(lower, upper, columns, n, columns, values + diagonal_[at(p)]);
    int target = order_.first(p);
    for (int j = i + 1; j < last; ++j) {
      while (order_.other(target) != order_.other(j)) ++target;
      const int rows = order_.size(order_.other(j));
      kernels::subtract_outer(values + lower_[at(j)], upper, rows, n, columns, values + lower_[at(target)]);
      kernels::subtract_outer(values + upper_[at(j)], lower, rows, n, columns, values + upper_[at(target)]);
    }
  }
  return true;
}

bool BlockLu::factor() {
  for (int k = 0; k < order_.nodes(); ++k)
    if (!eliminate(k)) return false;
  return true;
}

void BlockLu::solve(double* x) {
  for (int k = 0; k < order_.nodes(); ++k) {
    const int n = order_.size(k);
    double* part = x + order_.start(k);
    dense::lu_solve(values_.data() + diagonal_[at(k)], n, pivots_.data() + order_.start(k), part);
    for (int l = order_.first(k); l < order_.last(k); ++l)
      kernels::subtract_times(values_.data() + lower_[at(l)], part, order_.size(order_.other(l)), n,
                              x + order_.start(order_.other(l)));
  }
  for (int k = order_.nodes() - 1; k >= 0; --k)
    for (int l = order_.first(k); l < order_.last(k); ++l)
      kernels::subtract_transposed_times(values_.data() + upper_[at(l)], x + order_.start(order_.other(l)),
                                         order_.size(order_.other(l)), order_.size(k), x + order_.start(k));
}

}  // namespace tribo
