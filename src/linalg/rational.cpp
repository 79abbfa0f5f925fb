#include "linalg/rational.hpp"

#include <cmath>

#include "linalg/rational_poles.hpp"

namespace tribo {
namespace {

double norm(const double* A, int n) {
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::abs(A[i + j * n]);
    if (!(sum <= largest)) largest = sum;  // NaN comes through
  }
  return largest;
}

}  // namespace

bool Rational::prepare(const double* Y, const double* K, const double* B, int n, int N, double h) {
  Y_ = Y;
  K_ = K;
  B_ = B;
  n_ = n;
  N_ = N;
  h_ = h;
  sum_rows();
  const double turn = h * std::sqrt(norm(S_.data(), N)), all = turn + h * norm(C_.data(), N);
  if (!(all < HUGE_VAL) || turn > most_rational_steps) return false;
  steps_ = rational_steps(turn, all);
  d_ = h / steps_;
  for (std::size_t j = 0; j < rational_poles.size(); ++j) factor(j);
  return true;
}

// S = Y^T K Y and C = Y^T B Y; rows have entries along their chains alone.
void Rational::sum_rows() {
  S_.setZero(N_ * N_);
  C_.setZero(N_ * N_);
  for (int r = 0; r < n_; ++r) {
    if (K_[r] == 0 && B_[r] == 0) continue;
    const double* y = Y_ + r * N_;
    for (int j = 0; j < N_; ++j) {
      if (y[j] == 0) continue;
      const double k = K_[r] * y[j], b = B_[r] * y[j];
      double *s = S_.data() + j * N_, *c = C_.data() + j * N_;
      for (int i = 0; i < N_; ++i) {
        s[i] += k * y[i];
        c[i] += b * y[i];
      }
    }
  }
}

// L D L^T of s^2 + s d C + d^2 S. (rational.3)
void Rational::factor(std::size_t pole) {
  const auto [a, b, weight_re, weight_im] = rational_poles[pole];
  Factor& f = factors_[pole];
  const int N = N_;
  for (VectorBuffer* x : {&f.re, &f.im}) x->resize(N * N);
  double *re = f.re.data(), *im = f.im.data();
  for (int k = 0; k < N * N; ++k) {
    re[k] = d_ * (a * C_[k] + d_ * S_[k]);
    im[k] = d_ * b * C_[k];
  }
  for (int j = 0; j < N; ++j) {
    re[j + j * N] += a * a - b * b;
    im[j + j * N] += 2 * a * b;
  }
  for (int j = 0; j < N; ++j) {
    double *lr = re + j * N, *li = im + j * N;
    const double size = lr[j] * lr[j] + li[j] * li[j], ir = lr[j] / size, ii = -li[j] / size;
    lr[j] = ir;
    li[j] = ii;
    for (int k = j + 1; k < N; ++k) {
      const double xr = lr[k] * ir - li[k] * ii, xi = lr[k] * ii + li[k] * ir;
      if (xr == 0 && xi == 0) continue;
      double *cr = re + k * N, *ci = im + k * N;
      for (int i = k; i < N; ++i) {
        cr[i] -= lr[i] * xr - li[i] * xi;
        ci[i] -= lr[i] * xi + li[i] * xr;
      }
    }
    for (int k = j + 1; k < N; ++k) {
      const double x = lr[k] * ir - li[k] * ii;
      li[k] = lr[k] * ii + li[k] * ir;
      lr[k] = x;
    }
  }
}

// One term of (rational.2) on the state at t, added to next_. With s u - d u' = u_0 and so on, row by row of s - d A:
//   (s^2 + s d C + d^2 S) u = d u'_0 + s u_0 + d C u_0 + d^2 (w0 p0 + w1 p1 + w2 p2)
//   p0 = 1/s,  p1 = (t + d p0) / s,  p2 = (t^2/2 + d p1) / s
void Rational::solve(std::size_t pole, double t) {
  const auto [a, b, wr, wi] = rational_poles[pole];
  Factor& f = factors_[pole];
  const int N = N_;
  const double d = d_, size = a * a + b * b, ir = a / size, ii = -b / size;
  double pr[3], pi[3];
  const double power[] = {1, t, 0.5 * t * t};
  for (int k = 0; k < 3; ++k) {
    const double xr = power[k] + (k > 0 ? d * pr[k - 1] : 0), xi = k > 0 ? d * pi[k - 1] : 0;
    pr[k] = xr * ir - xi * ii;
    pi[k] = xr * ii + xi * ir;
  }
  for (VectorBuffer* z : {&f.x, &f.y}) z->resize(N);
  double *x = f.x.data(), *y = f.y.data();
  const double* w = w_.data();
  for (int i = 0; i < N; ++i) {
    x[i] = d * (v_[i] + damped_[i] + d * (w[i] * pr[0] + w[N + i] * pr[1] + w[2 * N + i] * pr[2])) + a * u_[i];
    y[i] = d * d * (w[i] * pi[0] + w[N + i] * pi[1] + w[2 * N + i] * pi[2]) + b * u_[i];
  }
  const double *re = f.re.data(), *im = f.im.data();
  for (int j = 0; j < N; ++j) {
    const double *lr = re + j * N, *li = im + j * N, xr = x[j], xi = y[j];
    for (int i = j + 1; i < N; ++i) {
      x[i] -= lr[i] * xr - li[i] * xi;
      y[i] -= lr[i] * xi + li[i] * xr;
    }
  }
  for (int j = N - 1; j >= 0; --j) {
    const double *lr = re + j * N, *li = im + j * N;
    double xr = x[j] * lr[j] - y[j] * li[j], xi = x[j] * li[j] + y[j] * lr[j];
    for (int i = j + 1; i < N; ++i) {
      xr -= lr[i] * x[i] - li[i] * y[i];
      xi -= lr[i] * y[i] + li[i] * x[i];
    }
    x[j] = xr;
    y[j] = xi;
  }
  double* next = next_.data();
  auto add = [a = wr, b = wi](double* sum, double xr, double xi) { *sum += 2 * (a * xr - b * xi); };
  for (int i = 0; i < N; ++i) {
    const double ur = x[i], ui = y[i];
    const double fr = first_[i] + d * ur, fi = d * ui, Fr = fr * ir - fi * ii, Fi = fr * ii + fi * ir;
    const double sr = second_[i] + d * Fr, si = d * Fi;
    add(next + i, ur, ui);
    add(next + N + i, (a * ur - b * ui - u_[i]) / d, (a * ui + b * ur) / d);
    add(next + 2 * N + i, Fr, Fi);
    add(next + 3 * N + i, sr * ir - si * ii, sr * ii + si * ir);
  }
}

void Rational::step(double t) {
  const int N = N_;
  damped_.setZero(N);
  for (int j = 0; j < N; ++j) {
    const double *c = C_.data() + j * N, u = u_[j];
    for (int i = 0; i < N; ++i) damped_[i] += c[i] * u;
  }
  next_.setZero(4 * N);
  for (std::size_t j = 0; j < rational_poles.size(); ++j) solve(j, t);
  for (int i = 0; i < N; ++i) {
    u_[i] = next_[i];
    v_[i] = next_[N + i];
    first_[i] = next_[2 * N + i];
    second_[i] = next_[3 * N + i];
  }
}

void Rational::integrate(const double* x, const double* c, const double* b, double* first, double* second) {
  const int N = N_;
  w_.setZero(3 * N);
  double* w = w_.data();
  for (int r = 0; r < n_; ++r) {
    if (K_[r] == 0 && B_[r] == 0) continue;
    const double* y = Y_ + r * N;
    const double w0 = K_[r] * x[r] + B_[r] * c[r], w1 = K_[r] * c[r] + B_[r] * b[r], w2 = K_[r] * b[r];
    for (int i = 0; i < N; ++i) {
      w[i] -= w0 * y[i];
      w[N + i] -= w1 * y[i];
      w[2 * N + i] -= w2 * y[i];
    }
  }
  for (VectorBuffer* z : {&u_, &v_, &first_, &second_}) z->setZero(N);
  for (int k = 0; k < steps_; ++k) step(k * d_);
  const double h = h_, h2 = h * h / 2, h3 = h2 * h / 3, h4 = h3 * h / 4;
  for (int r = 0; r < n_; ++r) {
    const double* y = Y_ + r * N;
    double u = 0, one = 0, two = 0;
    for (int i = 0; i < N; ++i) {
      u += y[i] * u_[i];
      one += y[i] * first_[i];
      two += y[i] * second_[i];
    }
    first[r] = -K_[r] * (h * x[r] + h2 * c[r] + h3 * b[r] + one) - B_[r] * (h * c[r] + h2 * b[r] + u);
    second[r] = -K_[r] * (h2 * x[r] + h3 * c[r] + h4 * b[r] + two) - B_[r] * (h2 * c[r] + h3 * b[r] + one);
  }
}

}  // namespace tribo
