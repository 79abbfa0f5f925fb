// The eigenvectors of S are never formed: Householder reflections and the plane rotations of the QL iteration are kept
// and applied to the few vectors that are wanted, forth and back.
#include "linalg/modal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tribo {
namespace {

constexpr double near = 1;  // d t + l t^2, up to where series about 0 are taken

// Series about 0 of the second to the fifth integral. With T_n the terms of the third:
// T_n+2 = -d t / (n + 5) T_n+1 - l t^2 / ((n + 5)(n + 4)) T_n.
struct Series {
  double s2 = 0, s3 = 0, s4 = 0, s5 = 0;
};
Series series(double l, double d, double t) {
  constexpr int terms = 16;  // the last is below 24 / 19! of the first
  static const auto inverse = [] {
    std::array<double, terms + 6> x{};
    for (std::size_t n = 1; n < x.size(); ++n) x[n] = 1.0 / static_cast<double>(n);
    return x;
  }();
  const double dt = d * t, lt2 = l * t * t;
  double before = 0, now = t * t * t * t / 24;
  Series s;
  for (int n = 1; n <= terms; ++n) {
    s.s3 += now;
    s.s2 += (n + 3) * now;
    s.s4 += inverse[at(n + 4)] * now;
    s.s5 += inverse[at(n + 4)] * inverse[at(n + 5)] * now;
    const double next = -inverse[at(n + 4)] * (dt * now + lt2 * inverse[at(n + 3)] * before);
    before = now;
    now = next;
  }
  s.s2 /= t;
  s.s4 *= t;
  s.s5 *= t * t;
  return s;
}

// phi_k(-z), z >= 0: phi_0 = exp, phi_k = 1/k! - z phi_k+1.
void phi(double z, double* out) {
  if (z < 1) {
    double term = 1.0 / 6, sum = term;
    for (int j = 1; std::abs(term) > 1e-17; ++j) sum += term *= -z / (3 + j);
    out[3] = sum;
    out[2] = 0.5 - z * out[3];
    out[1] = 1 - z * out[2];
    out[0] = 1 - z * out[1];
    return;
  }
  out[0] = std::exp(-z);
  out[1] = -std::expm1(-z) / z;
  out[2] = (1 - out[1]) / z;
  out[3] = (0.5 - out[2]) / z;
}

// The integrals of s from the equation itself: well-conditioned where the slow root has moved s.
void close(double l, double d, double t, double c, Oscillator& o) {
  o.s1 = (1 - c) / l;
  o.s2 = (t - o.s - d * o.s1) / l;
  o.s3 = (0.5 * t * t - o.s1 - d * o.s2) / l;
}

}  // namespace

Oscillator oscillate(double l, double d, double t) {
  Oscillator o;
  if (d * t + l * t * t < near) {  // the first two follow from the equation itself without cancellation
    const Series x = series(l, d, t);
    o.s3 = x.s3;
    o.s2 = x.s2;
    o.s1 = 0.5 * t * t - d * o.s2 - l * o.s3;
    o.s = t - d * o.s1 - l * o.s2;
    return o;
  }
  const double a = 0.5 * d, discriminant = a * a - l;
  if (discriminant < 0) {
    const double w = std::sqrt(-discriminant), e = std::exp(-a * t), x = w * t;
    const double sinc = x < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x;
    o.s = e * t * sinc;
    close(l, d, t, e * (std::cos(x) + a * t * sinc), o);
    return o;
  }
  const double delta = std::sqrt(discriminant), fast = a + delta, slow = l / fast;
  if (slow * t > 0.1) {
    const double x = delta * t;
    double c;
    if (x > 1) {
      const double e1 = std::exp(-slow * t), e2 = std::exp(-fast * t);
      o.s = (e1 - e2) / (2 * delta);
      c = (fast * e1 - slow * e2) / (2 * delta);
    } else {
      const double e = std::exp(-a * t), sinhc = x < 1e-4 ? 1 + x * x / 6 : std::sinh(x) / x;
      o.s = e * t * sinhc;
      c = e * (std::cosh(x) + a * t * sinhc);
    }
    close(l, d, t, c, o);
    return o;
  }
  double p1[4], p2[4];
  phi(slow * t, p1);
  phi(fast * t, p2);
  const double scale = 1 / (2 * delta);
  o.s = (p1[0] - p2[0]) * scale;
  o.s1 = (p1[1] - p2[1]) * scale * t;
  o.s2 = (p1[2] - p2[2]) * scale * t * t;
  o.s3 = (p1[3] - p2[3]) * scale * t * t * t;
  return o;
}

// From the equation itself, integrated: s - t = -d s1 - l s2, s1 - t^2/2 = -d s2 - l s3, and so on.
Oscillator remainders(double l, double beta, double t) {
  const Oscillator o = oscillate(l, beta * l, t);
  Oscillator r{-(o.s2 + beta * o.s1), -(o.s3 + beta * o.s2)};
  if (beta * l * t + l * t * t < near) {
    const Series x = series(l, beta * l, t);
    r.s2 = -(x.s4 + beta * x.s3);
    r.s3 = -(x.s5 + beta * x.s4);
  } else {
    r.s2 = (o.s2 - t * t * t / 6) / l;
    r.s3 = (o.s3 - t * t * t * t / 24) / l;
  }
  return r;
}

bool Modal::decompose(const double* G, const double* K, int n) {
  n_ = n;
  const std::size_t size = at(n);
  if (root_.size() < size) {
    for (auto* x : {&root_, &diagonal_, &off_, &scale_, &p_}) x->resize(size);
    in_.resize(3 * size);
    out_.resize(2 * size);
    S_.resize(size * size);
  }
  for (int i = 0; i < n; ++i) root_[at(i)] = std::sqrt(K[i]);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) S_[at(i + j * n)] = root_[at(i)] * G[i + j * n] * root_[at(j)];
  tridiagonalise();
  return diagonalise();
}

// S = Q T Q^T, Q = H_0 H_1 …, H = I - scale w w^T with w in the column below the off-diagonal, its first entry 1.
void Modal::tridiagonalise() {
  const int n = n_;
  double* p = p_.data();
  for (int k = 0; k < n; ++k) {
    double* w = S_.data() + k * n;  // column k; rows k+1 … hold the vector
    diagonal_[at(k)] = w[k];
    if (k == n - 1) break;
    double tail = 0;
    for (int i = k + 2; i < n; ++i) tail += w[i] * w[i];
    scale_[at(k)] = 0;
    if (tail == 0) {
      off_[at(k)] = w[k + 1];
      continue;
    }
    const double alpha = w[k + 1], norm = std::sqrt(alpha * alpha + tail), beta = alpha > 0 ? -norm : norm;
    const double first = 1 / (alpha - beta), tau = (beta - alpha) / beta;
    for (int i = k + 2; i < n; ++i) w[i] *= first;
    w[k + 1] = 1;
    off_[at(k)] = beta;
    scale_[at(k)] = tau;
    // Trailing block: S <- S - w q^T - q w^T,  q = tau S w - (tau^2 / 2) (w^T S w) w.
    std::fill(p + k + 1, p + n, 0.0);
    for (int j = k + 1; j < n; ++j) {
      const double* c = S_.data() + j * n;
      const double wj = w[j];
      double sum = c[j] * wj;
      for (int i = j + 1; i < n; ++i) {
        p[i] += c[i] * wj;
        sum += c[i] * w[i];
      }
      p[j] += sum;
    }
    double dot = 0;
    for (int i = k + 1; i < n; ++i) dot += p[i] * w[i];
    const double half = 0.5 * tau * tau * dot;
    for (int i = k + 1; i < n; ++i) p[i] = tau * p[i] - half * w[i];
    for (int j = k + 1; j < n; ++j) {
      double* c = S_.data() + j * n;
      const double wj = w[j], qj = p[j];
      for (int i = j; i < n; ++i) c[i] -= w[i] * qj + p[i] * wj;
    }
  }
}

// Implicit QL with Wilkinson's shift [Golub2013, sec. 8.3]; the rotations are kept.
bool Modal::diagonalise() {
  const int n = n_;
  double *d = diagonal_.data(), *e = off_.data();
  turns_.clear();
  if (n == 0) return true;
  e[n - 1] = 0;
  double size = 0;
  for (int i = 0; i < n; ++i) size = std::max(size, std::abs(d[i]) + std::abs(e[i]));
  if (!std::isfinite(size)) return false;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double small = 0.01 * eps * size;  // below what S itself was rounded to
  for (int l = 0; l < n; ++l) {
    for (int sweep = 0; sweep < 60; ++sweep) {
      int m = l;
      while (m < n - 1 && std::abs(e[m]) > 0.25 * eps * (std::abs(d[m]) + std::abs(d[m + 1])) && std::abs(e[m]) > small)
        ++m;
      if (m == l) break;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      double r = std::sqrt(g * g + 1);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, shift = 0;
      int i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        r = std::sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= shift;
          e[m] = 0;
          break;
        }
        const double inverse = 1 / r;
        s = f * inverse;
        c = g * inverse;
        g = d[i + 1] - shift;
        r = (d[i] - g) * s + 2 * c * b;
        shift = s * r;
        d[i + 1] = g + shift;
        g = c * r - b;
        turns_.push_back({i, c, s});
      }
      if (r == 0 && i >= l) continue;
      d[l] -= shift;
      e[l] = g;
      e[m] = 0;
    }
  }
  return true;
}

// x <- H_k x.
template <int Columns>
void Modal::reflect(int k, double* x) const {
  const double tau = scale_[at(k)];
  if (tau == 0) return;
  const double* w = S_.data() + k * n_;
  double dot[Columns] = {};
  for (int i = k + 1; i < n_; ++i)
    for (int c = 0; c < Columns; ++c) dot[c] += w[i] * x[Columns * i + c];
  for (int i = k + 1; i < n_; ++i)
    for (int c = 0; c < Columns; ++c) x[Columns * i + c] -= tau * dot[c] * w[i];
}

template <int Columns>
void Modal::to_modes(double* x) const {
  for (int k = 0; k + 2 < n_; ++k) reflect<Columns>(k, x);
  for (const Turn& t : turns_) {
    double* y = x + Columns * t.i;
    for (int c = 0; c < Columns; ++c) {
      const double a = y[c], b = y[Columns + c];
      y[Columns + c] = t.s * a + t.c * b;
      y[c] = t.c * a - t.s * b;
    }
  }
}

template <int Columns>
void Modal::from_modes(double* x) const {
  for (auto t = turns_.rbegin(); t != turns_.rend(); ++t) {
    double* y = x + Columns * t->i;
    for (int c = 0; c < Columns; ++c) {
      const double a = y[c], b = y[Columns + c];
      y[c] = t->c * a + t->s * b;
      y[Columns + c] = t->c * b - t->s * a;
    }
  }
  for (int k = n_ - 3; k >= 0; --k) reflect<Columns>(k, x);
}

void Modal::integrate(double beta, double h, const double* p, const double* pdot, const double* b, double* first,
                      double* second) {
  double *in = in_.data(), *out = out_.data();
  for (int i = 0; i < n_; ++i) {
    const double root = root_[at(i)];
    in[3 * i] = root * p[i];
    in[3 * i + 1] = root * pdot[i];
    in[3 * i + 2] = root * b[i];
  }
  to_modes<3>(in);
  for (int i = 0; i < n_; ++i) {
    const double l = std::max(diagonal_[at(i)], 0.0);
    const Oscillator o = oscillate(l, beta * l, h);
    const double *x = in + 3 * i, u1 = o.s1 + beta * o.s, u2 = o.s2 + beta * o.s1;
    out[2 * i] = o.s * x[0] + u1 * x[1] + u2 * x[2];                         // (modal.3)
    out[2 * i + 1] = o.s1 * x[0] + u2 * x[1] + (o.s3 + beta * o.s2) * x[2];  // (modal.4)
  }
  from_modes<2>(out);
  for (int i = 0; i < n_; ++i) {
    first[i] = -root_[at(i)] * out[2 * i];
    second[i] = -root_[at(i)] * out[2 * i + 1];
  }
}

}  // namespace tribo
