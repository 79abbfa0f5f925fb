#include "linalg/force_slopes.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/rational_poles.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr std::size_t poles = rational_poles.size();
constexpr double damps = 32;  // steps that a stiff mode is followed with

std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

bool ForceSlopes::prepare(const double* G, const double* K, const double* B, int n, double h, int steps) {
  n_ = n;
  G_ = G;
  h_ = h;
  K_.assign(K, K + n);
  B_.assign(B, B + n);
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
  respond();
  return true;
}

// (z^2 + z d G B + d^2 G K)^-1, row after row.
bool ForceSlopes::invert(std::size_t pole) {
  const int n = n_;
  const Complex z(rational_poles[pole].re, rational_poles[pole].im);
  std::vector<Complex>& A = work_;
  std::vector<Complex>& X = inverse_[pole];
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
  factor_[pole].resize(4 * at(n) * at(n));
  double* row = factor_[pole].data();
  for (int i = 0; i < n; ++i, row += 4 * n)
    for (int k = 0; k < n; ++k) {
      row[k] = row[3 * n + k] = X[at(i * n + k)].real();
      row[2 * n + k] = X[at(i * n + k)].imag();
      row[n + k] = -row[2 * n + k];
    }
  return true;
}

// Of columns at rest where their springs are without force.
void ForceSlopes::start(Run& run, int columns) {
  for (RowMatrix* m : {&run.x, &run.c, &run.one, &run.two}) m->set_zero(n_, columns);
  sides_.resize(2 * n_, columns);
  X_.resize(2 * n_, columns);
}

// The responses to b (flow.4).
void ForceSlopes::respond() {
  const int n = n_;
  start(by_b_, n);
  b_.set_zero(n, n);
  for (int i = 0; i < n; ++i) b_(i, i) = 1;
  for (int k = 0; k < steps_; ++k) {
    begin(by_b_);
    for (std::size_t p = 0; p < poles; ++p) {
      right_sides(p, by_b_, &b_);
      solve(p);
      add_solution(p);
    }
    finish(by_b_);
  }
  for (RowMatrix* m : {&T1_, &T2_, &end_}) m->set_zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      T1_(i, j) = -(K_[at(i)] * by_b_.one(i, j) + B_[at(i)] * by_b_.x(i, j)) / h_;
      T2_(i, j) = -2 * (K_[at(i)] * by_b_.two(i, j) + B_[at(i)] * by_b_.one(i, j)) / (h_ * h_);
      end_(i, j) = -(K_[at(i)] * by_b_.x(i, j) + B_[at(i)] * by_b_.c(i, j));
    }
}

void ForceSlopes::values(const Input& in, double* f1, double* f2) {
  const int n = n_;
  pushed_.set_zero(n, 1);
  for (int i = 0; i < n; ++i) {
    double sum = in.b[i];
    for (int k = 0; k < n; ++k) sum -= GK_[at(i * n + k)] * in.x[k];
    pushed_(i, 0) = sum;
  }
  for (int i = 0; i < n; ++i) {  // (flow.4)
    f1[i] = f2[i] = -K_[at(i)] * in.x[i];
    for (int k = 0; k < n; ++k) {
      f1[i] += T1_(i, k) * pushed_(k, 0) + end_(i, k) * in.c[k] / h_;
      f2[i] += T2_(i, k) * pushed_(k, 0) + 2 * T1_(i, k) * in.c[k] / h_;
    }
  }
}

void ForceSlopes::slopes(const RowMatrix& x, const RowMatrix& c, const RowMatrix& b, RowMatrix& F1, RowMatrix& F2) {
  const int n = n_, stride = x.stride();
  pushed_.resize(n, x.cols());
  turned_.resize(1, n);
  const auto scaled = [&](const double* row, double by) {
    for (int k = 0; k < n; ++k) turned_(0, k) = by * row[k];
    return turned_.data();
  };
  for (int i = 0; i < n; ++i) {
    std::copy_n(b.row(i), stride, pushed_.row(i));
    rows::combine(1, pushed_.row(i), x.data(), stride, scaled(GK_.data() + i * n, -1), n, stride);
  }
  F1.resize(n, x.cols());
  F2.resize(n, x.cols());
  for (int i = 0; i < n; ++i) {  // (flow.4)
    rows::combine(0, F1.row(i), pushed_.data(), stride, T1_.row(i), n, stride);
    rows::combine(0, F2.row(i), pushed_.data(), stride, T2_.row(i), n, stride);
    rows::combine(1, F1.row(i), c.data(), stride, scaled(end_.row(i), 1 / h_), n, stride);
    rows::combine(1, F2.row(i), c.data(), stride, scaled(T1_.row(i), 2 / h_), n, stride);
    for (RowMatrix* F : {&F1, &F2}) rows::add(-K_[at(i)], x.row(i), F->row(i), stride);
  }
}

void ForceSlopes::add_along(const Input& in, const RowMatrix& dG, const std::vector<Damper>& dampers, RowMatrix& F1,
                            RowMatrix& F2) {
  const int n = n_, columns = dG.cols(), stride = dG.stride();
  start(along_, columns);
  base_.x.assign(in.x, in.x + n);
  base_.c.assign(in.c, in.c + n);
  base_.one.assign(at(n), 0);
  base_.two.assign(at(n), 0);
  force_.resize(2 * at(n));
  for (int k = 0; k < steps_; ++k) {
    begin(along_);
    begin_base();
    for (std::size_t p = 0; p < poles; ++p) {
      right_sides(p, along_, nullptr);
      solve_base(p, in);
      for (int l = 0; l < n; ++l)
        for (int part = 0; part < 2; ++part)
          rows::combine(1, sides_.row(part * n + l), dG.row(l * n), stride, force_.data() + part * n, n, stride);
      for (const Damper& damper : dampers) {
        const Complex C = speed_[at(damper.row)], X = place_[at(damper.row)];
        for (int j = 0; j < columns; ++j) {
          const double stiffness = damper.stiffness == nullptr ? 0 : damper.stiffness[j];
          const Complex f = -d_ * d_ * (damper.slope[j] * C + stiffness * X);
          for (int l = 0; l < n; ++l) {
            sides_(l, j) += G_[l + n * damper.row] * f.real();
            sides_(n + l, j) += G_[l + n * damper.row] * f.imag();
          }
        }
      }
      solve(p);
      add_solution(p);
    }
    finish(along_);
    std::swap(base_, next_base_);
  }
  for (int i = 0; i < n; ++i) {
    const double K = K_[at(i)], B = B_[at(i)];
    for (int j = 0; j < columns; ++j) {
      F1(i, j) -= (K * along_.one(i, j) + B * along_.x(i, j)) / h_;
      F2(i, j) -= 2 * (K * along_.two(i, j) + B * along_.one(i, j)) / (h_ * h_);
    }
  }
  for (const Damper& damper : dampers) {
    const int r = damper.row;
    const double gone = base_.x[at(r)] - in.x[r], gone_on = base_.one[at(r)] - h_ * in.x[r];
    for (int j = 0; j < columns; ++j) {
      const double stiffness = damper.stiffness == nullptr ? 0 : damper.stiffness[j];
      F1(r, j) -= (stiffness * base_.one[at(r)] + damper.slope[j] * gone) / h_;
      F2(r, j) -= 2 * (stiffness * base_.two[at(r)] + damper.slope[j] * gone_on) / (h_ * h_);
    }
  }
}

// What the poles of a substep have in common.
void ForceSlopes::begin(const Run& run) {
  const int n = n_, stride = run.x.stride();
  damped_.resize(n, run.x.cols());
  for (int i = 0; i < n; ++i) {
    double* row = damped_.row(i);
    const double* c = run.c.row(i);
    for (int j = 0; j < stride; ++j) row[j] = d_ * c[j];
    turned_.resize(1, n);
    for (int k = 0; k < n; ++k) turned_(0, k) = d_ * GB_[at(i * n + k)];
    rows::combine(1, row, run.x.data(), stride, turned_.data(), n, stride);
  }
  double whole = 0, first = 0, second = 0;
  for (const Pole& p : rational_poles) {
    const Complex z(p.re, p.im), w(p.weight_re, p.weight_im);
    whole += 2 * w.real();
    first += 2 * (w / z).real();
    second += 2 * (w / (z * z)).real();
  }
  for (RowMatrix* m : {&next_.x, &next_.c, &next_.one, &next_.two}) m->set_zero(n, run.x.cols());
  for (int i = 0; i < n; ++i) {
    rows::add(-whole / d_, run.x.row(i), next_.c.row(i), stride);
    rows::add(first, run.one.row(i), next_.one.row(i), stride);
    rows::add(first, run.two.row(i), next_.two.row(i), stride);
    rows::add(d_ * second, run.one.row(i), next_.two.row(i), stride);
  }
}

// The right-hand sides of (flow.3), but for dG and dB.
void ForceSlopes::right_sides(std::size_t pole, const Run& run, const RowMatrix* b) {
  const int n = n_, stride = run.x.stride();
  const Complex z(rational_poles[pole].re, rational_poles[pole].im), by_b = d_ * d_ / z;
  for (int i = 0; i < n; ++i) {
    double *re = sides_.row(i), *im = sides_.row(n + i);
    const double *damped = damped_.row(i), *x = run.x.row(i);
    for (int j = 0; j < stride; ++j) {
      re[j] = damped[j] + z.real() * x[j];
      im[j] = z.imag() * x[j];
    }
    if (!b) continue;
    rows::add(by_b.real(), b->row(i), re, stride);
    rows::add(by_b.imag(), b->row(i), im, stride);
  }
}

void ForceSlopes::solve(std::size_t pole) {
  const int n = n_, stride = sides_.stride();
  const double* row = factor_[pole].data();
  for (int i = 0; i < n; ++i, row += 4 * n)
    for (int part = 0; part < 2; ++part)
      rows::combine(0, X_.row(part * n + i), sides_.data(), stride, row + 2 * n * part, 2 * n, stride);
}

// The share of a pole in the end of the substep.
void ForceSlopes::add_solution(std::size_t pole) {
  const int n = n_, stride = X_.stride();
  const Complex z(rational_poles[pole].re, rational_poles[pole].im);
  const Complex w(2 * rational_poles[pole].weight_re, 2 * rational_poles[pole].weight_im);
  const std::pair<RowMatrix*, Complex> shares[] = {
      {&next_.x, w}, {&next_.c, w * z / d_}, {&next_.one, w * d_ / z}, {&next_.two, w * d_ * d_ / (z * z)}};
  for (const auto& [to, share] : shares) {
    const double a = share.real(), b = share.imag();
    for (int i = 0; i < n; ++i) {
      double* y = to->row(i);
      const double *re = X_.row(i), *im = X_.row(n + i);
      for (int j = 0; j < stride; ++j) y[j] += a * re[j] - b * im[j];
    }
  }
}

void ForceSlopes::finish(Run& run) { std::swap(run, next_); }

void ForceSlopes::begin_base() {
  next_base_.x.assign(at(n_), 0);
  next_base_.c.assign(at(n_), 0);
  next_base_.one.assign(at(n_), 0);
  next_base_.two.assign(at(n_), 0);
  place_.resize(at(n_));
  speed_.resize(at(n_));
  work_.resize(at(n_));
}

// The base at a pole: its force into force_, its velocity into speed_, its share in the end of the substep.
void ForceSlopes::solve_base(std::size_t pole, const Input& in) {
  const int n = n_;
  const double d = d_;
  const Complex z(rational_poles[pole].re, rational_poles[pole].im), inverse = 1.0 / z;
  const Complex w(2 * rational_poles[pole].weight_re, 2 * rational_poles[pole].weight_im);
  for (int i = 0; i < n; ++i) {
    Complex sum = d * base_.c[at(i)] + z * base_.x[at(i)] + d * d * inverse * in.b[i];
    for (int k = 0; k < n; ++k) sum += d * GB_[at(i * n + k)] * base_.x[at(k)];
    work_[at(i)] = sum;
  }
  for (int i = 0; i < n; ++i) {
    Complex X = 0;
    for (int k = 0; k < n; ++k) X += product(inverse_[pole][at(i * n + k)], work_[at(k)]);
    const Complex C = (product(z, X) - base_.x[at(i)]) / d;
    const Complex F = d * d * (-K_[at(i)] * X - B_[at(i)] * C + in.s[i] * inverse);
    const Complex one = product(base_.one[at(i)] + d * X, inverse), two = product(base_.two[at(i)] + d * one, inverse);
    place_[at(i)] = X;
    speed_[at(i)] = C;
    force_[at(i)] = F.real();
    force_[at(n + i)] = F.imag();
    next_base_.x[at(i)] += product(w, X).real();
    next_base_.c[at(i)] += product(w, C).real();
    next_base_.one[at(i)] += product(w, one).real();
    next_base_.two[at(i)] += product(w, two).real();
  }
}

}  // namespace tribo
