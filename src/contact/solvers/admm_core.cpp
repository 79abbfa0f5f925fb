#include "contact/solvers/admm_core.hpp"

namespace tribo {

MatrixBuffer::Map AdmmCore::matrix(int n) {
  operator_ = nullptr;
  resize(n);
  A_.resize(n, n);
  L_.resize(n, n);
  return A_.map();
}

void AdmmCore::use(AdmmOperator& A, int n) {
  operator_ = &A;
  resize(n);
}

void AdmmCore::resize(int n) {
  n_ = n;
  x_.resize(n);
  z_.resize(n);
  y_.resize(n);
  z_old_.resize(n);
  hat_.resize(n);
}

void AdmmCore::prepare() {
  const double mean = std::max((operator_ ? operator_->trace() : A_.map().trace()) / n_, 1e-300);
  double largest = mean;
  for (int i = 0; i < n_; ++i) hat_[i] = 1 + 0.1 * std::sin(1.0 + i);  // no symmetry that an eigenvector could share
  for (int k = 0; k < 20; ++k) {
    if (operator_)
      operator_->multiply(hat_.data(), x_.data());
    else
      dense::multiply(A_.data(), n_, hat_.data(), x_.data());
    const double norm = x_.map().norm();
    if (!(norm > 0)) break;
    largest = norm / hat_.map().norm();
    hat_.map() = x_.map() / norm;
  }
  largest = std::max(largest, mean);
  m_ = proximal_ * mean;
  rho_ = std::sqrt(largest * m_) * std::pow(largest / m_, 0.4);  // (admm.3)
  log_k_ = 0.05 * std::log(largest / m_);
  stale_ = true;
  rest_ = 5;
  last_turn_ = 0;
}

void AdmmCore::start() { x_.map() = z_.map(); }

bool AdmmCore::factor() {
  if (!stale_) return true;
  if (operator_) {
    stale_ = false;
    return operator_->factor(rho_ + m_);
  }
  L_.map() = A_.map();
  L_.map().diagonal().array() += rho_ + m_;
  stale_ = false;
  return dense::cholesky(L_.data(), n_);
}

void AdmmCore::half_step(const double* b) {
  for (int i = 0; i < n_; ++i) x_[i] = rho_ * z_[i] + m_ * x_[i] - b[i] - y_[i];
  if (operator_)
    operator_->solve(x_.data());
  else
    dense::cholesky_solve(L_.data(), n_, x_.data());  // (admm.1)
  for (int i = 0; i < n_; ++i) {
    z_old_[i] = z_[i];
    hat_[i] = relaxation_ * x_[i] + (1 - relaxation_) * z_[i];
    z_[i] = hat_[i] + y_[i] / rho_;
  }
}

void AdmmCore::finish() {
  primal_ = change_ = 0;
  for (int i = 0; i < n_; ++i) {
    y_[i] += rho_ * (hat_[i] - z_[i]);  // (admm.2)
    primal_ = std::max(primal_, std::abs(hat_[i] - z_[i]));
    change_ = std::max(change_, std::abs(z_[i] - z_old_[i]));
  }
  adapt();
}

void AdmmCore::adapt() {  // (admm.4)
  if (--rest_ > 0) return;
  const double dual = rho_ * change_;
  int turn = 0;
  if (primal_ > 10 * dual) turn = 1;
  if (dual > 10 * primal_) turn = -1;
  if (turn == 0) return;
  if (turn == -last_turn_) log_k_ *= 0.5;
  last_turn_ = turn;
  if (log_k_ < 1e-2) return;
  rho_ *= std::exp(turn * log_k_);
  stale_ = true;
  rest_ = 5;
}

}  // namespace tribo
