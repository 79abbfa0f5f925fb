#include "contact/solvers/box_qp.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr int most_restarts = 20;
constexpr double dependent = 1e-11;  // of a diagonal entry: what is left of it below this is rounding

}  // namespace

BoxQp::Outcome BoxQp::solve(const double* A, int n, const double* b, const double* lower, const double* upper,
                            double* x, int most_pivots) {
  A_ = A;
  most_pivots_ = std::min(most_pivots, 50 * n + 100);
  b_ = b;
  lower_ = lower;
  upper_ = upper;
  n_ = n;
  pivots_ = valid_ = 0;
  L_.resize(n, n);
  for (VectorBuffer* buffer : {&w_, &dx_, &dw_, &v_, &tiny_}) buffer->resize(n);
  free_.reserve(at(n));
  side_.resize(at(n));
  double scale = 0;
  for (int i = 0; i < n; ++i) scale = std::max(scale, std::abs(b[i]));
  for (int i = 0; i < n; ++i) tiny_[i] = 1e-12 * scale;
  taken_.assign(at(n), 1);
  sides_from(x);
  if (settle(x)) return Outcome::Solved;

  sides_from(x);
  if (!restart(x)) {
    free_.clear();
    valid_ = 0;
    std::fill(taken_.begin(), taken_.end(), 0);
    for (int i = 0; i < n; ++i) x[i] = std::clamp(0.0, lower[i], upper[i]);
    dense::multiply(A_, n, x, w_.data());
    for (int i = 0; i < n; ++i) w_[i] += b[i];
  }
  bool again = true;
  for (int pass = 0; pass < 10 && again; ++pass) {
    again = false;
    for (int d = 0; d < n; ++d) {
      if (taken_[at(d)] && (side_[at(d)] != Side::Held || content(d))) continue;
      again = true;
      const Outcome outcome = take_up(d, x);
      if (outcome != Outcome::Solved) return outcome;
    }
  }
  std::copy_n(x, n, dw_.data());
  if (!settle(x)) std::copy_n(dw_.data(), n, x);  // afresh, without the rounding of the pivots, where that holds
  return again ? Outcome::PivotLimit : Outcome::Solved;
}

void BoxQp::sides_from(const double* x) {
  free_.clear();
  valid_ = 0;
  for (int i = 0; i < n_; ++i) {
    side_[at(i)] = x[i] <= lower_[i] ? Side::Lower : x[i] >= upper_[i] ? Side::Upper : Side::Free;
    if (side_[at(i)] == Side::Free) free_.push_back(i);
  }
}

// x of the free from w = 0, the others on their sides.
void BoxQp::solve_sides(double* x) {
  for (int i = 0; i < n_; ++i) {
    if (side_[at(i)] == Side::Lower) x[i] = lower_[i];
    if (side_[at(i)] == Side::Upper) x[i] = upper_[i];
  }
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second removes rounding
    dense::multiply(A_, n_, x, w_.data());
    for (std::size_t a = 0; a < free_.size(); ++a) v_[static_cast<int>(a)] = -(w_[free_[a]] + b_[free_[a]]);
    solve_free(v_.data());
    for (std::size_t a = 0; a < free_.size(); ++a) x[free_[a]] += v_[static_cast<int>(a)];
  }
}

// From the sides of a guess: who leaves the box goes to its bound, until C stays within; who is content is taken up already.
bool BoxQp::restart(double* x) {
  for (int k = 0; k < most_restarts; ++k) {
    if (!factor()) return false;
    solve_sides(x);
    bool within = true;
    for (int i : free_) {
      if (x[i] >= lower_[i] && x[i] <= upper_[i]) continue;
      within = false;
      side_[at(i)] = x[i] < lower_[i] ? Side::Lower : Side::Upper;
    }
    if (within) {
      dense::multiply(A_, n_, x, w_.data());
      for (int i = 0; i < n_; ++i) w_[i] += b_[i];
      for (int i = 0; i < n_; ++i) taken_[at(i)] = content(i);
      return true;
    }
    free_.erase(std::remove_if(free_.begin(), free_.end(), [&](int i) { return side_[at(i)] != Side::Free; }),
                free_.end());
    valid_ = 0;
  }
  return false;
}

// As solve_sides; true where (box_qp.1) holds.
bool BoxQp::settle(double* x) {
  if (!factor()) return false;
  double largest = 0;
  solve_sides(x);
  for (int i = 0; i < n_; ++i) largest = std::max(largest, std::abs(x[i]));
  dense::multiply(A_, n_, x, w_.data());
  for (int i = 0; i < n_; ++i) {
    w_[i] += b_[i];
    tiny_[i] = std::max(tiny_[i], 1e-12 * diagonal(i) * largest);
    if (x[i] < lower_[i] - 1e-12 * largest || x[i] > upper_[i] + 1e-12 * largest) return false;
    x[i] = std::clamp(x[i], lower_[i], upper_[i]);
    if (!content(i)) return false;
  }
  return true;
}

bool BoxQp::content(int d) const {
  if (fixed(d)) return true;
  switch (side_[at(d)]) {
    case Side::Lower:
      return w_[d] >= -tiny_[d];
    case Side::Upper:
      return w_[d] <= tiny_[d];
    case Side::Held:
      return std::abs(w_[d]) <= tiny_[d];
    case Side::Free:
      return true;
  }
  return true;
}

void BoxQp::direction(int d, double sign) {  // (box_qp.2)
  for (std::size_t a = 0; a < free_.size(); ++a)
    v_[static_cast<int>(a)] = -sign * A_[static_cast<std::ptrdiff_t>(d) * n_ + free_[a]];
  solve_free(v_.data());
  std::fill_n(dx_.data(), n_, 0.0);
  dx_[d] = sign;
  for (std::size_t a = 0; a < free_.size(); ++a) dx_[free_[a]] = v_[static_cast<int>(a)];
  dense::multiply(A_, n_, dx_.data(), dw_.data());
  for (int i : free_) dw_[i] = 0;
}

BoxQp::Outcome BoxQp::take_up(int d, double* x) {
  side_[at(d)] = x[d] <= lower_[d] ? Side::Lower : x[d] >= upper_[d] ? Side::Upper : Side::Held;
  taken_[at(d)] = 1;
  bool done = fixed(d);
  while (!done) {
    if (side_[at(d)] != Side::Held && content(d)) break;
    if (++pivots_ > most_pivots_ || !factor()) return Outcome::PivotLimit;
    const Outcome outcome = move(d, x, done);
    if (outcome != Outcome::Solved) return outcome;
  }
  return Outcome::Solved;
}

// One move of x_d, as far as nobody changes sides.
BoxQp::Outcome BoxQp::move(int d, double* x, bool& done) {
  const double sign = w_[d] < 0 ? 1 : -1;
  direction(d, sign);
  double step = sign > 0 ? upper_[d] - x[d] : x[d] - lower_[d];
  int who = d;
  bool zero = false;  // w_who meets zero, against x_who meeting a bound
  if (std::abs(dw_[d]) > dependent * diagonal(d)) {
    if (-w_[d] / dw_[d] <= step) {
      step = std::max(-w_[d] / dw_[d], 0.0);
      zero = true;
    }
  } else if (std::abs(w_[d]) <= tiny_[d]) {
    done = true;  // Held
    return Outcome::Solved;
  }
  for (int i = 0; i < n_; ++i) {
    if (i == d || !taken_[at(i)] || fixed(i)) continue;
    double s = inf;
    const bool free = side_[at(i)] == Side::Free;
    if (free && dx_[i] != 0) s = ((dx_[i] > 0 ? upper_[i] : lower_[i]) - x[i]) / dx_[i];
    const double rounding = dependent * std::sqrt(diagonal(d) * diagonal(i));
    if (side_[at(i)] == Side::Lower && dw_[i] < -rounding) s = -w_[i] / dw_[i];
    if (side_[at(i)] == Side::Upper && dw_[i] > rounding) s = -w_[i] / dw_[i];
    if (std::max(s, 0.0) < step) {
      step = std::max(s, 0.0);
      who = i;
      zero = !free;
    }
  }
  if (!(step < inf)) return Outcome::Unbounded;
  for (int i = 0; i < n_; ++i) {
    x[i] += step * dx_[i];
    w_[i] += step * dw_[i];
  }
  if (zero) {
    w_[who] = 0;
    add(who);
  } else {
    const Side side = dx_[who] > 0 ? Side::Upper : Side::Lower;
    x[who] = side == Side::Upper ? upper_[who] : lower_[who];
    if (who != d) drop(static_cast<int>(std::find(free_.begin(), free_.end(), who) - free_.begin()));
    side_[at(who)] = side;
  }
  done = who == d;
  return Outcome::Solved;
}

void BoxQp::add(int i) {
  side_[at(i)] = Side::Free;
  free_.push_back(i);
}

// Without a row and a column of A_CC the rows of L below have an entry too many: turned back into a triangle (box_qp.3).
void BoxQp::drop(int position) {
  free_.erase(free_.begin() + position);
  if (position >= valid_) return;
  double* L = L_.data();
  for (int a = position; a + 1 < valid_; ++a) std::copy_n(L + row(a + 1), a + 2, L + row(a));
  --valid_;
  for (int k = position; k < valid_; ++k) {
    double* pivot = L + row(k) + k;
    const double length = std::hypot(pivot[0], pivot[1]), c = pivot[0] / length, s = pivot[1] / length;
    for (int a = k; a < valid_; ++a) {
      double* x = L + row(a) + k;
      const double kept = c * x[0] + s * x[1];
      x[1] = c * x[1] - s * x[0];
      x[0] = kept;
    }
  }
}

// Rows of L from valid_ on; a row depends only on those above it.
bool BoxQp::factor() {
  const int m = static_cast<int>(free_.size());
  double* L = L_.data();
  for (int a = valid_; a < m; ++a) {
    double* row = L + static_cast<std::ptrdiff_t>(a) * n_;
    const double* column = A_ + static_cast<std::ptrdiff_t>(free_[at(a)]) * n_;
    for (int b = 0; b <= a; ++b) {
      const double* other = L + static_cast<std::ptrdiff_t>(b) * n_;
      double sum = column[free_[at(b)]];
      for (int k = 0; k < b; ++k) sum -= row[k] * other[k];
      if (b < a) {
        row[b] = sum / other[b];
      } else {
        if (!(sum > 1e-14 * column[free_[at(a)]])) return false;
        row[a] = std::sqrt(sum);
      }
    }
    valid_ = a + 1;
  }
  valid_ = m;
  return true;
}

void BoxQp::solve_free(double* v) {
  const int m = static_cast<int>(free_.size());
  const double* L = L_.data();
  for (int a = 0; a < m; ++a) {
    const double* row = L + static_cast<std::ptrdiff_t>(a) * n_;
    double sum = v[a];
    for (int k = 0; k < a; ++k) sum -= row[k] * v[k];
    v[a] = sum / row[a];
  }
  for (int a = m - 1; a >= 0; --a) {
    const double* row = L + static_cast<std::ptrdiff_t>(a) * n_;
    v[a] /= row[a];
    for (int k = 0; k < a; ++k) v[k] -= row[k] * v[a];
  }
}

}  // namespace tribo
