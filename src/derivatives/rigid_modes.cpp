// The forces that the modes of contacts and rows are read from (deriv.12).
#include <algorithm>
#include <cmath>

#include "derivatives/edges.hpp"
#include "derivatives/rigid_derivative.hpp"
#include "linalg/dense.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr double middle_tolerance = 1e-10;  // of the solution in the middle, relative
constexpr double least_motion = 1e-10;      // of the accelerations of the problem: less is rounding
constexpr double slow_slip = 3e-2;          // the same: of slower ones the solver's tolerance is a share that shows
constexpr double firm = 1 + 1e-9;           // of the diagonal, where rows that hold say the same
constexpr int most_sharpenings = 10;
constexpr double sharp = 1e-14;  // of the accelerations of the problem: what the laws may leave

}  // namespace

// The forces that modes are read from. Where some contact is at the edge of its mode forces may not be unique, and another
// solution may have it strictly inside: the one in the middle of all solutions, which interior points tend to, has modes that
// do not depend on the solver                                                                            (deriv.12)
void RigidDerivative::take_forces(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const int n = problem.size();
  f_.resize(n);
  c_.resize(n);
  f_.map() = s.f.map();
  c_.map() = s.c.map();
  if (law_ != ContactModel::Ncp) return;
  if (!any_weak(s)) return sharpen(s);
  if (share_evenly(s) && !moves_truly(s)) return;
  middle_.setZero(n);
  const SolveReport report = interior_.solve(problem, Tolerance{0, middle_tolerance}, middle_.map());
  if (report.status == SolveStatus::Converged) {
    f_.map() = middle_.map();
    problem.velocity(f_.data(), c_.data());
    if (!any_weak(s) && !moves_truly(s)) return;
  }
  f_.map() = s.f.map();  // it is at the edge in all of them
  c_.map() = s.c.map();
}

// A contact that hardly slips has its direction from a velocity that the solver knows to its tolerance alone, which is a large
// share of it. In the modes that stand the forces are brought to rounding by Newton's method, with e across d = -f_T/|f_T|:
//   stick, rows: c = 0;  slip: c_N = 0, e c_T = 0, f_T = -mu f_N d                                           (deriv.18)
void RigidDerivative::sharpen(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  bool slow = false;
  for (int i = 0; i < problem.nc(); ++i)
    slow |= slips(s, i) && c_.map().segment<2>(3 * i).norm() < slow_slip * s.solve.residual.motion_scale;
  if (!slow || !problem.discs.empty()) return;
  for (int round = 0; round < most_sharpenings; ++round) {
    list_laws(s);
    const int m = static_cast<int>(rigid_.size()), n = group_.n();
    const double left = m > 0 ? middle_.map().head(m).cwiseAbs().maxCoeff() : 0;
    if (round > 1 && !(left > sharp * s.solve.residual.motion_scale)) return;
    S_.resize(m, m);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        S_.map()(i, j) = rows::dot(Yc_.row(i), Yb_.row(j), n) * (i == j ? firm : 1) + (i == j ? R_[i] : 0);
    pivot_.resize(at(m));
    if (!dense::lu(S_.data(), m, pivot_.data())) return;
    dense::lu_solve(S_.data(), m, pivot_.data(), middle_.data());
    for (int k = 0; k < m; ++k) {
      const int u = rigid_[at(k)];
      if (slips_[at(k)] == 0) {
        f_[u] -= middle_[k];
        continue;
      }
      double* f = f_.data() + u / 3 * 3;
      const double size = std::hypot(f[0], f[1]), d[2] = {-f[0] / size, -f[1] / size};
      if (u % 3 == 2) {
        f[2] -= middle_[k];
        for (int r = 0; r < 2; ++r) f[r] = -problem.mu()[u / 3] * f[2] * d[r];
      } else {  // along e
        f[0] += middle_[k] * d[1];
        f[1] -= middle_[k] * d[0];
      }
    }
    problem.velocity(f_.data(), c_.data());
  }
}

bool RigidDerivative::slips(const IslandSolution& s, int i) const {
  const double F = s.solve.residual.force_scale, a = s.solve.residual.motion_scale, mu = s.problem.mu()[i];
  const double *f = f_.data() + 3 * i, *c = c_.data() + 3 * i;
  return f[2] > 0 && mu > 0 && f[2] / F >= c[2] / a &&
         (mu * f[2] - std::hypot(f[0], f[1])) / F < std::hypot(c[0], c[1]) / a;
}

// The equations of (deriv.18): unknowns into rigid_ (of a slip its normal, then a tangent that stands for e), their whitened
// rows, and what they leave.
void RigidDerivative::list_laws(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale, a = s.solve.residual.motion_scale;
  for (RowMatrix* Y : {&Yc_, &Yb_}) Y->set_zero(problem.size(), group_.n());
  R_.setZero(problem.size());
  middle_.setZero(problem.size());
  slips_.assign(at(problem.size()), 0);
  rigid_.clear();
  const auto add = [&](int unknown, double left, bool slip) {
    const int k = static_cast<int>(rigid_.size());
    rigid_.push_back(unknown);
    middle_[k] = left;
    R_[k] = problem.R()[unknown];
    slips_[at(k)] = slip;
    return k;
  };
  const auto both = [&](int k, int unknown, double share) { add_whitened(k, problem, unknown, share, Side::Both); };
  for (int i = 0; i < problem.nc(); ++i) {
    const double *f = f_.data() + 3 * i, *c = c_.data() + 3 * i, mu = problem.mu()[i];
    if (!(f[2] > 0) || f[2] / F < c[2] / a) continue;
    const int first = 3 * i;
    if (!slips(s, i)) {
      for (int r = mu > 0 ? 0 : 2; r < 3; ++r) both(add(first + r, c[r], false), first + r, 1);
      continue;
    }
    const double size = std::hypot(f[0], f[1]), d[2] = {-f[0] / size, -f[1] / size};
    const int normal = add(first + 2, c[2], true), across = add(first, -d[1] * c[0] + d[0] * c[1], true);
    both(normal, first + 2, 1);
    for (int r = 0; r < 2; ++r) add_whitened(Yb_, normal, problem, first + r, -mu * d[r]);
    both(across, first, -d[1]);
    both(across, first + 1, d[0]);
    R_[across] = std::hypot(c[0], c[1]) / (mu * f[2]);
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    if (!(problem.lower()[j] < problem.upper()[j]) || room_inside(problem, j, f_[o], F) < std::abs(c_[o]) / a) continue;
    both(add(o, c_[o], false), o, 1);
  }
}

// Interior points come near an edge along which the product of force and motion is small: a contact that moves by less than
// their accuracy looks as if it were held. The motion of the step itself is known more exactly, and it is unique.
bool RigidDerivative::moves_truly(const IslandSolution& s) const {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale, a = s.solve.residual.motion_scale;
  const double seen = std::max(least_motion, 10 * s.solve.residual.relative()) * a;
  for (int i = 0; i < problem.nc(); ++i) {
    const double *c = s.c.data() + 3 * i, *f = f_.data() + 3 * i;
    if (f[2] < weak_share * F) continue;
    if (c[2] > seen) return true;
    const double inside = problem.mu()[i] * f[2] - std::hypot(f[0], f[1]);
    if (inside >= weak_share * F && std::hypot(c[0], c[1]) > seen) return true;
  }
  return false;
}

// Contacts that stick, and rows that hold, may share their load in other ways: d has those at the edge inside, and the forces
// next to d that do what the present ones do are a solution too. Where no contact is at the edge in it, no solve is needed.
bool RigidDerivative::share_evenly(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  share_joints(s);
  if (!any_weak(s)) return true;
  if (!problem.discs.empty() || !list_holding(s)) return false;
  const int n = static_cast<int>(rigid_.size());
  Q_.set_zero(n, group_.n());
  middle_.resize(4 * n);
  double *before = middle_.data(), *inside = before + n, *rest = inside + n, *d = rest + n;
  for (int k = 0; k < n; ++k) {
    add_whitened(Q_, k, problem, rigid_[at(k)], 1);
    before[k] = f_[rigid_[at(k)]];
  }
  move_inside(s, d);
  qr_.compute(Q_, n, dependent);
  for (int k = 0; k < n; ++k) rest[k] = before[k] - d[k];
  qr_.least(Q_, rest, inside);
  for (double share : {1.0, 0.25, 0.0625}) {
    for (int k = 0; k < n; ++k) f_[rigid_[at(k)]] = before[k] + share * (d[k] + inside[k] - before[k]);
    if (within_cones(s) && !any_weak(s)) return true;
  }
  for (int k = 0; k < n; ++k) f_[rigid_[at(k)]] = before[k];
  return false;
}

// Two rows of one joint that both hold: what one lacks to be inside its bounds the other takes over.
void RigidDerivative::share_joints(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const int first = 3 * problem.nc();
  const double F = s.solve.residual.force_scale, still = weak_share * s.solve.residual.motion_scale;
  const auto along = [&](int j) -> const Coordinate* {  // where it holds
    const bool holds = problem.lower()[j] < problem.upper()[j] && problem.R()[first + j] == 0;
    return holds && std::abs(c_[first + j]) < still ? view_->rows()[s.island->rows[at(j)]].coordinate() : nullptr;
  };
  for (int j = 0; j < problem.nr(); ++j) {
    const Coordinate* joint = along(j);
    if (!joint || room_inside(problem, j, f_[first + j], F) >= weak_share) continue;
    for (int i = 0; i < problem.nr(); ++i) {
      const Coordinate* other = i == j ? nullptr : along(i);
      if (!other || other->dof != joint->dof) continue;
      const double room = std::min(f_[first + i] - problem.lower()[i], problem.upper()[i] - f_[first + i]);
      const double up = f_[first + j] - problem.lower()[j], down = problem.upper()[j] - f_[first + j];
      const double move = (up < down ? 0.5 : -0.5) * std::min({room, F, std::max(up, down)});
      if (!(room > 0)) continue;
      f_[first + j] += move;
      f_[first + i] -= move * joint->sign / other->sign;
      break;
    }
  }
}

// Unknowns of contacts and rows without motion; false where there are none, or some give way.
bool RigidDerivative::list_holding(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const double still = weak_share * s.solve.residual.motion_scale;
  rigid_.clear();
  for (int i = 0; i < problem.nc(); ++i) {
    const double* c = c_.data() + 3 * i;
    if (std::max(c[2], std::hypot(c[0], c[1])) >= still) continue;
    for (int r = 0; r < 3; ++r) {
      if (problem.R()[3 * i + r] != 0) return false;
      rigid_.push_back(3 * i + r);
    }
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    if (problem.lower()[j] < problem.upper()[j] && problem.R()[o] == 0 && std::abs(c_[o]) < still) rigid_.push_back(o);
  }
  return !rigid_.empty();
}

// Forces of the unknowns that hold, those at the edge moved off it.
void RigidDerivative::move_inside(const IslandSolution& s, double* d) const {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale;
  for (std::size_t k = 0; k < rigid_.size(); ++k) {
    const int u = rigid_[k];
    d[k] = f_[u];
    if (u < 3 * problem.nc()) {
      const double* f = f_.data() + u / 3 * 3;
      const double mu = problem.mu()[u / 3];
      if (u % 3 == 2)
        d[k] = std::max(f[2], 0.1 * F / problem.nc());
      else if (mu * f[2] - std::hypot(f[0], f[1]) < 0.1 * mu * f[2])
        d[k] *= 0.8;
      continue;
    }
    const int j = u - 3 * problem.nc();
    const double lower = problem.lower()[j], upper = problem.upper()[j];
    const double room = std::isfinite(upper - lower) ? 0.1 * (upper - lower) : 1e-2 * F;
    d[k] = std::min(std::max(d[k], lower + room), upper - room);
  }
}

bool RigidDerivative::within_cones(const IslandSolution& s) const {
  const double least = weak_share * s.solve.residual.force_scale;
  for (int u : rigid_) {
    if (u >= 3 * s.problem.nc()) {
      const int j = u - 3 * s.problem.nc();
      if (f_[u] < s.problem.lower()[j] || f_[u] > s.problem.upper()[j]) return false;
    } else if (u % 3 == 2) {
      const double* f = f_.data() + u - 2;
      if (!(s.problem.mu()[u / 3] * f[2] - std::hypot(f[0], f[1]) >= least)) return false;
    }
  }
  return true;
}

// Is a contact, or a row, at the edge of its mode?
bool RigidDerivative::any_weak(const IslandSolution& s) const {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale, a = s.solve.residual.motion_scale;
  for (int i = 0; i < problem.nc(); ++i) {
    const double *f = f_.data() + 3 * i, *c = c_.data() + 3 * i, mu = problem.mu()[i];
    if (std::max(f[2] / F, c[2] / a) < weak_share) return true;
    if (f[2] / F < weak_share || mu == 0) continue;
    if (std::max((mu * f[2] - std::sqrt(f[0] * f[0] + f[1] * f[1])) / F, std::sqrt(c[0] * c[0] + c[1] * c[1]) / a) <
        weak_share)
      return true;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const bool decided = row.is<TurnFriction>() || problem.lower()[j] == problem.upper()[j];
    if (!decided && std::max(room_inside(problem, j, f_[o], F), std::abs(c_[o]) / a) < weak_share) return true;
  }
  return false;
}

}  // namespace tribo
