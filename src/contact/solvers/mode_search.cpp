// Contacts with much friction and a G without full rank: where every method that walks has lost its way.
//
// Above mu of about 3 the law is far from monotone. Its solutions are few and isolated, and from most guesses no path
// leads to one. What is left is to try: each contact is open, sticks or slips, and with the modes fixed the law is smooth,
//   open   f = 0;      stick   c = 0;      slip   c_N = 0,  f_T + mu f_N c_T/|c_T| = 0                   (modes.1)
// Newton's method on (modes.1) begins without friction where contacts slip: as many constraints as G has rank fix
// the motion, so the first solve has the directions of slip, and the second the forces. Modes whose motion enters a
// body are dropped; the judge takes what has forces within the cones.
// More constraints than rank, all of them kept: forces are not unique, and those of least norm may leave the cones. Then
// the motion is right if the convex problem with the slip that it has finds forces                     (modes.2)
//   K_mu ∋ f ⟂ c + mu |c_T|_motion e_N ∈ K_mu*
// Combinations are visited in the order of their distance from the modes of the best point so far. The work is bounded:
// it suffices for all combinations of eight contacts; larger problems see their neighbourhood alone.
// Problems with rows are left alone.
#include "contact/solvers/mode_search.hpp"

#include <cmath>

#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr double most_work = 1e9;  // [unknowns^3]
constexpr int most_steps = 10, most_convex_solves = 100;
constexpr double softness = 1e-10;  // of the scale of G: where forces are not unique
constexpr double still = 1e-9;      // of the accelerations: a motion that does not change any more

}  // namespace

ModeSearch::ModeSearch() {
  SolverOptions options;
  options.model = ContactModel::Ccp;
  convex_ = make_proximal(options);
}

SolveReport ModeSearch::solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  report_ = SolveReport{};
  if (problem.nr() > 0 || settled(problem, ContactModel::Ncp, tolerance, f, c_, report_)) return report_;
  prepare(problem, f);
  report_.status = SolveStatus::Stalled;
  for (int changes = 0; changes <= problem.nc(); ++changes)
    if (vary(problem, tolerance, 0, changes)) break;
  f = best_.map();
  return report_;
}

void ModeSearch::prepare(const ContactProblem& problem, const VecRef& f) {
  const int n = problem.size(), nc = problem.nc();
  best_.resize(n);
  best_.map() = f;
  for (VectorBuffer* x : {&f_, &last_, &rhs_}) x->resize(n);
  active_.reserve(at(n));
  pivot_.resize(at(n));
  modes_.assign(at(nc), Mode::Open);
  motion_ = problem.g().cwiseAbs().maxCoeff() + 9.81;
  work_ = convex_solves_ = 0;
  scale_ = std::max(problem.G().diagonal().maxCoeff(), 1e-300);
  for (int i = 0; i < nc; ++i) {
    const double t = f.segment<2>(3 * i).norm(), mu = problem.mu()[i];
    if (f[3 * i + 2] > 0) modes_[at(i)] = mu > 0 && t < (1 - 1e-6) * mu * f[3 * i + 2] ? Mode::Stick : Mode::Slip;
  }
  rank_ = find_rank(problem);
}

// Pivots of Cholesky's factor, the largest first.
int ModeSearch::find_rank(const ContactProblem& problem) {
  const int n = problem.size();
  matrix_.resize(n, n);
  auto A = matrix_.map();
  A = problem.G();
  A.diagonal() += problem.R();
  for (int rank = 0; rank < n; ++rank) {
    int p = 0;
    const double largest = A.diagonal().maxCoeff(&p);
    if (largest <= 1e-11 * scale_) return rank;
    pivots_.resize(n);
    pivots_.map() = A.col(p) / std::sqrt(largest);
    A.noalias() -= pivots_.map() * pivots_.map().transpose();
    A.diagonal()[p] = 0;
  }
  return n;
}

// All combinations with so many changes among the contacts from `first` on; true where the search is over.
bool ModeSearch::vary(const ContactProblem& problem, const Tolerance& tolerance, int first, int changes) {
  if (changes == 0) return attempt(problem, tolerance);
  for (int i = first; i + changes <= problem.nc(); ++i) {
    const Mode kept = modes_[at(i)];
    for (Mode other : {Mode::Open, Mode::Stick, Mode::Slip}) {
      if (other == kept || (other == Mode::Stick && !(problem.mu()[i] > 0))) continue;
      modes_[at(i)] = other;
      if (vary(problem, tolerance, i + 1, changes - 1)) return true;
    }
    modes_[at(i)] = kept;
  }
  return false;
}

bool ModeSearch::attempt(const ContactProblem& problem, const Tolerance& tolerance) {
  if (work_ > most_work) return true;
  int constraints = 0;
  active_.clear();
  for (int i = 0; i < problem.nc(); ++i) {
    if (modes_[at(i)] == Mode::Open) continue;
    constraints += modes_[at(i)] == Mode::Stick ? 3 : 1;
    for (int k = problem.mu()[i] > 0 ? 0 : 2; k < 3; ++k) active_.push_back(3 * i + k);
  }
  ++report_.iterations;
  if (!settle(problem) || !kinematic(problem)) return false;
  if (accept(problem, tolerance)) return true;
  return constraints > rank_ && share_forces(problem, tolerance);
}

// (modes.1) by Newton's method; false where it does not converge.
bool ModeSearch::settle(const ContactProblem& problem) {
  f_.map().setZero();
  problem.velocity(f_.data(), c_.data());
  if (active_.empty()) return true;
  for (int k = 0; k < most_steps; ++k) {
    last_.map() = c_.map();
    if (!step(problem, k)) return false;
    problem.velocity(f_.data(), c_.data());
    if (!c_.map().allFinite()) return false;
    if (k > 0 && (c_.map() - last_.map()).cwiseAbs().maxCoeff() <= still * motion_) return true;
  }
  return false;
}

// k = 0: without friction where contacts slip; 1: along the slip that this gave; then with its derivative.
bool ModeSearch::step(const ContactProblem& problem, int k) {
  const int m = static_cast<int>(active_.size());
  const auto G = problem.G();
  matrix_.resize(m, m);
  auto A = matrix_.map();
  for (int a = 0; a < m; ++a) {
    const int i = active_[at(a)];
    for (int b = 0; b < m; ++b) A(b, a) = G(active_[at(b)], i);
    A(a, a) += problem.R()[i] + softness * scale_;
    rhs_[a] = softness * scale_ * f_[i] - problem.g()[i];
  }
  for (int a = 0; a < m; ++a) {
    const int contact = active_[at(a)] / 3;
    if (active_[at(a)] % 3 == 0 && modes_[at(contact)] == Mode::Slip) slip_rows(problem, contact, a, k);
  }
  work_ += static_cast<double>(m) * m * m;
  if (!dense::lu(matrix_.data(), m, pivot_.data())) return false;
  dense::lu_solve(matrix_.data(), m, pivot_.data(), rhs_.data());
  for (int a = 0; a < m; ++a) f_[active_[at(a)]] = rhs_[a];
  return true;
}

// Rows of f_T of a contact that slips: f_T + mu f_N u + mu f_N_last (I - u u^T)/|c_T| (c_T - c_T_last) = 0, u = c_T/|c_T|.
void ModeSearch::slip_rows(const ContactProblem& problem, int contact, int row, int k) {
  auto A = matrix_.map();
  const int o = 3 * contact;
  const double length = std::sqrt(c_[o] * c_[o] + c_[o + 1] * c_[o + 1]);
  const Eigen::Vector2d u = length > 0 ? Eigen::Vector2d(c_[o] / length, c_[o + 1] / length) : Eigen::Vector2d(1, 0);
  const double turn = k < 2 || !(length > 0) ? 0 : problem.mu()[contact] * std::max(f_[o + 2], 0.0) / length;
  const Eigen::Matrix2d T = turn * (Eigen::Matrix2d::Identity() - u * u.transpose());
  // The rows hold c_T = G f + g: T (G f + g - c_last), and T c_last = 0.
  const Eigen::Vector2d right = T * Eigen::Vector2d(rhs_[row], rhs_[row + 1]);
  for (int b = 0; b < A.cols(); ++b) A.col(b).segment<2>(row) = (T * A.col(b).segment<2>(row)).eval();
  A(row, row) += 1;
  A(row + 1, row + 1) += 1;
  if (k > 0) A.col(row + 2).segment<2>(row) += problem.mu()[contact] * u;
  rhs_[row] = right[0];
  rhs_[row + 1] = right[1];
}

// Does the motion keep what the modes say, and enter nothing?
bool ModeSearch::kinematic(const ContactProblem& problem) const {
  const double most = 1e-7 * motion_;
  for (int i = 0; i < problem.nc(); ++i) {
    if (c_[3 * i + 2] < -most) return false;
    if (modes_[at(i)] != Mode::Open && c_[3 * i + 2] > most) return false;
    if (modes_[at(i)] == Mode::Stick && c_.map().segment<2>(3 * i).norm() > most) return false;
  }
  return true;
}

// (modes.2)
bool ModeSearch::share_forces(const ContactProblem& problem, const Tolerance& tolerance) {
  if (++convex_solves_ > most_convex_solves) return false;
  shifted_ = problem;
  f_.map().setZero();
  for (int round = 0; round < 4 && c_.map().allFinite(); ++round) {  // mu magnifies what the motion lacks
    for (int i = 0; i < problem.nc(); ++i) {
      const double slip = modes_[at(i)] == Mode::Stick ? 0 : c_.map().segment<2>(3 * i).norm();
      shifted_.g()[3 * i + 2] = problem.g()[3 * i + 2] + problem.mu()[i] * slip;
    }
    convex_->solve(shifted_, within(tolerance, 0.01), f_.map());
    if (accept(problem, tolerance)) return true;
  }
  return false;
}

bool ModeSearch::accept(const ContactProblem& problem, const Tolerance& tolerance) {
  const Residual now = judge_afresh(problem, ContactModel::Ncp, f_.data(), c_);
  if (!(now.relative() < report_.residual.relative())) return false;
  report_.residual = now;
  best_.map() = f_.map();
  if (tolerance.met(now)) report_.status = SolveStatus::Converged;
  return report_.status == SolveStatus::Converged;
}

}  // namespace tribo
