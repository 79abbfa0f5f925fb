#include "contact/block_lu.hpp"

#include <algorithm>

#include "contact/block_kernels.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr int most_of_run = 4;

}  // namespace

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
  find_runs();
}

void BlockLu::find_runs() {
  runs_.clear();
  const auto links = [&](int p) { return order_.last(p) - order_.first(p); };
  for (int p = 0; p < order_.nodes(); ++p) {
    const bool goes_on = p > 0 && p - runs_.back() < most_of_run && order_.size(p - 1) == 6 && order_.size(p) == 6 &&
                         links(p - 1) == links(p) + 1 && order_.other(order_.first(p - 1)) == p;
    if (!goes_on) runs_.push_back(p);
  }
  runs_.push_back(order_.nodes());
}

void BlockLu::set_zero() { std::fill_n(values_.begin(), static_cast<std::ptrdiff_t>(entries_), 0.0); }

// Factors the diagonal block of position k; upper <- A^-1 upper.
bool BlockLu::divide(int k) {
  const int n = order_.size(k);
  double *values = values_.data(), *A = values + diagonal_[at(k)];
  int* pivot = pivots_.data() + order_.start(k);
  if (!dense::lu(A, n, pivot)) return false;
  for (int l = order_.first(k); l < order_.last(k); ++l)
    kernels::divide_by_transposed(A, n, pivot, order_.size(order_.other(l)), values + upper_[at(l)]);
  return true;
}

// And takes it out of the later ones.
bool BlockLu::eliminate(int k) {
  if (!divide(k)) return false;
  const int n = order_.size(k), first = order_.first(k), last = order_.last(k);
  double* values = values_.data();
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

// The same for a run from k on: within the run node by node, then out of the rest.
bool BlockLu::eliminate_run(int k, int count) {
  double* values = values_.data();
  for (int m = k; m < k + count; ++m) {
    if (!divide(m)) return false;
    const int last = order_.last(m);
    for (int p = m + 1; p < k + count; ++p) {
      const int i = order_.first(m) + p - m - 1;
      const double *lower = values + lower_[at(i)], *upper = values + upper_[at(i)];
      kernels::subtract_outer(lower, upper, 6, 6, 6, values + diagonal_[at(p)]);
      int target = order_.first(p);
      for (int j = i + 1; j < last; ++j, ++target) {
        const int rows = order_.size(order_.other(j));
        kernels::subtract_outer(values + lower_[at(j)], upper, rows, 6, 6, values + lower_[at(target)]);
        kernels::subtract_outer(values + upper_[at(j)], lower, rows, 6, 6, values + upper_[at(target)]);
      }
    }
  }
  take_out_run(k, count);
  return true;
}

void BlockLu::take_out_run(int k, int count) {
  double* values = values_.data();
  const int links = order_.last(k) - order_.first(k) - (count - 1);
  const double *lower_i[most_of_run], *upper_i[most_of_run], *lower_j[most_of_run], *upper_j[most_of_run];
  const auto of_run = [&](int i, const double** lower, const double** upper) {
    for (int m = 0; m < count; ++m) {
      const int l = order_.first(k + m) + count - 1 - m + i;
      lower[m] = values + lower_[at(l)];
      upper[m] = values + upper_[at(l)];
    }
  };
  const auto subtract = [&](const double* const* V, const double* const* W, int rows, int columns, double* C) {
    if (rows == 6 && columns == 6) return kernels::subtract_outers_6x6(V, W, count, C);
    for (int m = 0; m < count; ++m) kernels::subtract_outer(V[m], W[m], rows, 6, columns, C);
  };
  const int first = order_.first(k) + count - 1;
  for (int i = 0; i < links; ++i) {
    const int p = order_.other(first + i), columns = order_.size(p);
    of_run(i, lower_i, upper_i);
    subtract(lower_i, upper_i, columns, columns, values + diagonal_[at(p)]);
    int target = order_.first(p);
    for (int j = i + 1; j < links; ++j) {
      const int q = order_.other(first + j), rows = order_.size(q);
      while (order_.other(target) != q) ++target;
      of_run(j, lower_j, upper_j);
      subtract(lower_j, upper_i, rows, columns, values + lower_[at(target)]);
      subtract(upper_j, lower_i, rows, columns, values + upper_[at(target)]);
    }
  }
}

bool BlockLu::factor() {
  for (std::size_t r = 0; r + 1 < runs_.size(); ++r) {
    const int k = runs_[r], count = runs_[r + 1] - k;
    if (!(count > 1 ? eliminate_run(k, count) : eliminate(k))) return false;
  }
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
