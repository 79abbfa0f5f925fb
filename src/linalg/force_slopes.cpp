#include "linalg/force_slopes.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/rational_poles.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr double damps = 32;  // steps that a stiff mode is followed with

std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

bool ForceSlopes::prepare(const double* G, const double* K, const double* B, int n, double h, int steps) {
  n_ = n;
  G_ = G;
  h_ = h;
  K_ = K;
  B_ = B;
  GB_.resize(static_cast<std::size_t>(n) * at(n));
  GK_.resize(static_cast<std::size_t>(n) * at(n));
  double stiff = 0, damped = 0;
  for (int j = 0; j < n; ++j) {
    double k = 0, b = 0;
    for (int i = 0; i < n; ++i) {
      const double g = G[i + j * n];
      GB_[at(i * n + j)] = g * B[j];  // row after row
      GK_[at(i * n + j)] = g * K[j];
      k += std::abs(g) * std::sqrt(K[i] * K[j]);
      b += std::abs(g) * std::sqrt(B[i] * B[j]);
    }
    stiff = std::max(stiff, k);
    damped = std::max(damped, b);
  }
  const double turn = h * std::sqrt(stiff), all = turn + h * damped;
  if (!(all < HUGE_VAL) || turn > most_rational_steps) return false;
  steps_ = steps > 0 ? steps : rational_steps(turn, all, damps);
  d_ = h / steps_;
  for (std::size_t p = 0; p < 3; ++p)
    if (!invert(p)) return false;
  return true;
}

// (z^2 + z d G B + d^2 G K)^-1, row after row.
bool ForceSlopes::invert(std::size_t pole) {
  const int n = n_;
  const Complex z(rational_poles[pole].re, rational_poles[pole].im);
  std::vector<Complex>& A = work_;
  std::vector<Complex>& X = factor_[pole];
  A.resize(at(n) * at(n));
  X.assign(at(n) * at(n), Complex(0));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[at(i * n + j)] = d_ * z * GB_[at(i * n + j)] + d_ * d_ * GK_[at(i * n + j)];
    A[at(i * n + i)] += z * z;
    X[at(i * n + i)] = 1;
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::norm(A[at(i * n + k)]) > std::norm(A[at(pivot * n + k)])) pivot = i;
    if (!(std::norm(A[at(pivot * n + k)]) > 0)) return false;
    if (pivot != k)
      for (int j = 0; j < n; ++j) {
        std::swap(A[at(pivot * n + j)], A[at(k * n + j)]);
        std::swap(X[at(pivot * n + j)], X[at(k * n + j)]);
      }
    const Complex inverse = 1.0 / A[at(k * n + k)];
    for (int j = 0; j < n; ++j) {
      A[at(k * n + j)] = product(inverse, A[at(k * n + j)]);
      X[at(k * n + j)] = product(inverse, X[at(k * n + j)]);
    }
    for (int i = 0; i < n; ++i) {
      const Complex factor = A[at(i * n + k)];
      if (i == k || factor == Complex(0)) continue;
      for (int j = 0; j < n; ++j) {
        A[at(i * n + j)] -= product(factor, A[at(k * n + j)]);
        X[at(i * n + j)] -= product(factor, X[at(k * n + j)]);
      }
    }
  }
  return true;
}

void ForceSlopes::integrate(const Input& in, const double* dG, const std::vector<Damper>& dampers, int coordinates) {
  const int n = n_, base = 3 * n;
  coordinates_ = coordinates;
  columns_ = base + 1 + coordinates;
  s_ = in.s;
  dG_ = dG;
  for (RowMatrix* m : {&x_, &c_, &b_, &one_, &two_}) m->set_zero(n, columns_);
  for (int i = 0; i < n; ++i) {
    x_(i, i) = c_(i, n + i) = b_(i, 2 * n + i) = 1;
    x_(i, base) = in.x[i];
    c_(i, base) = in.c[i];
    b_(i, base) = in.b[i];
  }
  start_.resize(n, columns_);
  std::copy_n(x_.data(), n * x_.stride(), start_.data());
  for (int k = 0; k < steps_; ++k) step(dampers);
  first_.resize(n, columns_);
  second_.resize(n, columns_);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < columns_; ++j) {
      first_(i, j) = -(K_[i] * one_(i, j) + B_[i] * (x_(i, j) - start_(i, j))) / h_;
      second_(i, j) = -2 * (K_[i] * two_(i, j) + B_[i] * (one_(i, j) - h_ * start_(i, j))) / (h_ * h_);
    }
  for (const Damper& damper : dampers)
    for (int j = 0; j < coordinates; ++j) {
      const int r = damper.row;
      const double stiffness = damper.stiffness == nullptr ? 0 : damper.stiffness[j];
      first_(r, base + 1 + j) -= (stiffness * one_(r, base) + damper.slope[j] * (x_(r, base) - start_(r, base))) / h_;
      second_(r, base + 1 + j) -=
          2 * (stiffness * two_(r, base) + damper.slope[j] * (one_(r, base) - h_ * start_(r, base))) / (h_ * h_);
    }
}

// The right-hand sides re_ + i im_ of columns [first, last) by the inverse of a pole.
void ForceSlopes::solve(std::size_t pole, int first, int last) {
  const int n = n_;
  const std::vector<Complex>& P = factor_[pole];
  for (int i = 0; i < n; ++i)
    for (int j = first; j < last; ++j) out_re_(i, j) = out_im_(i, j) = 0;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const double pr = P[at(i * n + k)].real(), pi = P[at(i * n + k)].imag();
      const double *r = re_.row(k), *m = im_.row(k);
      double *yr = out_re_.row(i), *yi = out_im_.row(i);
      for (int j = first; j < last; ++j) {
        yr[j] += pr * r[j] - pi * m[j];
        yi[j] += pr * m[j] + pi * r[j];
      }
    }
}

// (flow.3) over d.
void ForceSlopes::step(const std::vector<Damper>& dampers) {
  const int n = n_, stride = x_.stride(), base = 3 * n;
  const double d = d_;
  damped_.set_zero(n, columns_);
  for (int i = 0; i < n; ++i) rows::combine(0, damped_.row(i), x_.data(), stride, GB_.data() + i * n, n, stride);
  for (RowMatrix& m : next_) m.set_zero(n, columns_);
  for (RowMatrix* m : {&re_, &im_, &out_re_, &out_im_}) m->set_zero(n, columns_);
  force_.resize(at(n));
  speed_.resize(at(n));
  place_.resize(at(n));
  for (std::size_t p = 0; p < 3; ++p) {
    const Pole& pole = rational_poles[p];
    const Complex z(pole.re, pole.im), w(pole.weight_re, pole.weight_im), inverse = 1.0 / z, by_b = d * d * inverse;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < columns_; ++j) {
        re_(i, j) = d * c_(i, j) + d * damped_(i, j) + z.real() * x_(i, j) + by_b.real() * b_(i, j);
        im_(i, j) = z.imag() * x_(i, j) + by_b.imag() * b_(i, j);
      }
    solve(p, 0, base + 1);
    for (int i = 0; i < n; ++i) {  // F + s/z of the base
      const Complex X(out_re_(i, base), out_im_(i, base)), C = (product(z, X) - x_(i, base)) / d;
      force_[at(i)] = -K_[i] * X - B_[i] * C + s_[i] * inverse;
      speed_[at(i)] = C;
      place_[at(i)] = X;
    }
    for (int j = 0; j < coordinates_; ++j)
      for (int k = 0; k < n; ++k) {
        const double fr = d * d * force_[at(k)].real(), fi = d * d * force_[at(k)].imag();
        const double* dG = dG_ + static_cast<std::ptrdiff_t>(n) * (k + static_cast<std::ptrdiff_t>(n) * j);
        for (int l = 0; l < n; ++l) {
          re_(l, base + 1 + j) += dG[l] * fr;
          im_(l, base + 1 + j) += dG[l] * fi;
        }
      }
    for (const Damper& damper : dampers)
      for (int j = 0; j < coordinates_; ++j) {
        const double stiffness = damper.stiffness == nullptr ? 0 : damper.stiffness[j];
        const Complex f = -d * d * (damper.slope[j] * speed_[at(damper.row)] + stiffness * place_[at(damper.row)]);
        for (int l = 0; l < n; ++l) {
          re_(l, base + 1 + j) += G_[l + n * damper.row] * f.real();
          im_(l, base + 1 + j) += G_[l + n * damper.row] * f.imag();
        }
      }
    solve(p, base + 1, columns_);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < columns_; ++j) {
        const Complex X(out_re_(i, j), out_im_(i, j)), C = (product(z, X) - x_(i, j)) / d;
        const Complex one = product(one_(i, j) + d * X, inverse), two = product(two_(i, j) + d * one, inverse);
        next_[0](i, j) += 2 * product(w, X).real();
        next_[1](i, j) += 2 * product(w, C).real();
        next_[2](i, j) += 2 * product(w, one).real();
        next_[3](i, j) += 2 * product(w, two).real();
      }
  }
  std::swap(x_, next_[0]);
  std::swap(c_, next_[1]);
  std::swap(one_, next_[2]);
  std::swap(two_, next_[3]);
}

}  // namespace tribo
