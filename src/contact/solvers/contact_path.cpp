// Lemke's method on the round cone: for problems with much friction, where every method that walks downhill gets lost.
//
// Contacts are held off by accelerations (1 - t) d, so that at t = 0 all of them are open, which is a solution. Letting go of
// them traces a path of solutions; it may turn back in t, and ends at t = 1 or nowhere. In units in which the block of G + R
// of each contact has the size 1, c = (G + R + eps) f - eps f_k + g + (1 - t) d, and
//   open    f = 0                          while c_N > 0                                              (release.1)
//   slip    f_T = mu f_N u,  c_T = -s u,  c_N = 0,  u = (cos a, sin a)    while f_N > 0 and s > 0
//   stick   c = 0                          while |f_T| < mu f_N
//   row     f = its bound                  while c drives it there;      c = 0  while within its bounds
// Unknowns are s, a, f_N of what slips and f of what sticks: one more with t than equations, so the solutions are a curve,
// smooth as long as all modes last. The direction x that the equations leave free is turned such that
//   sign det [derivative; x^T] stays as it was                                                        (release.2)
// which keeps its sense where the path crosses from one combination of modes to the next [AllgowerGeorg1990, ch. 2].
// A step goes along x and back onto the curve with the factor of its start; where a mode ends on the way, the step ends
// exactly there. eps = 1e-9 bounds the forces, so that the path cannot leave for infinity; at its end f_k takes away what
// eps left.
#include "contact/solvers/contact_path.hpp"

#include <cmath>
#include <cstdint>

#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr double path_softness = 1e-9;              // eps
constexpr double most_path_work = 2e9;              // cubes of the sizes factored
constexpr int most_paths = 60;                      // with different d
constexpr double least_away = 0.01, farther = 300;  // d lies between, so that contacts come down one after the other
constexpr double aside = 0.05;                      // of d along the tangents: none comes straight down
constexpr double outside = 1e-12;                   // beyond the border of a mode
constexpr double outside_at_end = 1e-9;
constexpr double strays = 0.3;    // of a step, off its direction
constexpr double far_away = 1e9;  // forces that no problem has
constexpr int most_passes = 4;    // of f_k

// Numbers in [0, 1) without a pattern: splitmix64.
double scatter(std::uint64_t k) {
  std::uint64_t z = (k + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

SolveReport ContactPath::solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  SolveReport report;
  if (settled(problem, ContactModel::Ncp, tolerance, f, judged_, report)) return report;
  report.status = SolveStatus::Stalled;
  prepare(problem);
  for (int attempt = 0; attempt < most_paths && work_ < most_path_work; ++attempt) {
    if (!begin(attempt) || !follow() || !finish()) continue;
    answer_.resize(n_);
    for (int i = 0; i < n_; ++i) answer_[i] = unit_ * scale_[i] * f_[i];
    const Residual residual = judge_afresh(problem, ContactModel::Ncp, answer_.data(), judged_);
    if (!tolerance.met(residual)) continue;
    report.residual = residual;
    report.status = SolveStatus::Converged;
    f = answer_.map();
    break;
  }
  report.iterations = steps_;
  return report;
}

void ContactPath::prepare(const ContactProblem& problem) {
  nc_ = problem.nc(), nr_ = problem.nr(), n_ = problem.size();
  work_ = steps_ = 0;
  A_.resize(n_, n_);
  for (VectorBuffer* x : {&g_, &away_, &scale_, &lower_, &upper_, &centre_, &x_, &f_, &c_, &dx_, &start_x_})
    x->resize(n_);
  for (VectorBuffer* x : {&rhs_, &null_, &border_, &gradient_}) x->resize(n_ + 1);
  mu_.resize(nc_);
  mode_.resize(at(nc_ + nr_));
  place_.resize(at(n_));
  active_.reserve(at(n_));
  pivot_.resize(at(n_ + 1));
  start_value_.reserve(2 * at(nc_ + nr_) + 1);
  LU_.resize(n_ + 1, n_ + 1);
  for (int b = 0; b < problem.blocks(); ++b) {
    const int rows = problem.block_size(b), o = offset(b);
    double trace = 0;
    for (int k = o; k < o + rows; ++k) trace += problem.G()(k, k) + problem.R()[k];
    scale_.map().segment(o, rows).setConstant(trace > 0 ? std::sqrt(rows / trace) : 1.0);
  }
  const auto S = scale_.map();
  unit_ = std::max((S.array() * problem.g().array()).abs().maxCoeff(), 1e-300);
  g_.map() = S.cwiseProduct(problem.g()) / unit_;
  A_.map() = S.asDiagonal() * problem.G() * S.asDiagonal();
  A_.map().diagonal().array() += S.array().square() * problem.R().array() + path_softness;
  for (int j = 0; j < nr_; ++j) {
    lower_[3 * nc_ + j] = problem.lower()[j] / (unit_ * scale_[3 * nc_ + j]);
    upper_[3 * nc_ + j] = problem.upper()[j] / (unit_ * scale_[3 * nc_ + j]);
  }
  mu_.map() = problem.mu();
}

// t = 0: contacts open, rows by themselves; false where the rows have no solution.
bool ContactPath::begin(int attempt) {
  t_ = 0, sign_ = 0, reach_ = 0.05;
  for (VectorBuffer* x : {&x_, &f_, &dx_, &centre_, &away_}) x->map().setZero();
  std::fill_n(mode_.begin(), nc_, Mode::Open);
  if (nr_ > 0 && !begin_rows()) return false;
  list_active();
  set_forces();
  std::uint64_t k = static_cast<std::uint64_t>(attempt) * 1000003;
  for (int i = 0; i < nc_; ++i) {
    away_[3 * i + 2] = std::max(-c_[3 * i + 2], 0.0) + least_away * std::pow(farther, scatter(k++));
    for (int a = 0; a < 2; ++a) away_[3 * i + a] = aside * (scatter(k++) - 0.5);
  }
  set_forces();
  return c_.map().allFinite();
}

bool ContactPath::begin_rows() {
  const int o = 3 * nc_;
  row_matrix_.resize(nr_, nr_);
  row_matrix_.map() = A_.map().bottomRightCorner(nr_, nr_);
  if (rows_.solve(row_matrix_.data(), nr_, g_.data() + o, lower_.data() + o, upper_.data() + o, x_.data() + o) !=
      BoxQp::Outcome::Solved)
    return false;
  for (int j = 0; j < nr_; ++j) {
    const BoxQp::Side side = rows_.sides()[at(j)];
    mode_[at(nc_ + j)] = side == BoxQp::Side::Lower   ? Mode::Lower
                         : side == BoxQp::Side::Upper ? Mode::Upper
                                                      : Mode::Free;
  }
  return true;
}

bool ContactPath::follow() {
  const int most_steps = 200 + 100 * (nc_ + nr_);
  for (int k = 0; k < most_steps && work_ < most_path_work; ++k) {
    ++steps_;
    if (!point_on()) return false;
    const Progress progress = advance();
    if (progress != Progress::On) return progress == Progress::Arrived;
    if (!(x_.map().cwiseAbs().maxCoeff() < far_away)) return false;
  }
  return false;
}

void ContactPath::list_active() {
  active_.clear();
  std::fill_n(place_.begin(), n_, -1);
  for (int b = 0; b < nc_ + nr_; ++b) {
    const Mode mode = mode_[at(b)];
    if (mode != Mode::Slip && mode != Mode::Stick && mode != Mode::Free) continue;
    const int o = offset(b), last = b < nc_ ? o + 2 : o;
    for (int i = b < nc_ && !(mu_[b] > 0) ? last : o; i <= last; ++i) {
      place_[at(i)] = static_cast<int>(active_.size());
      active_.push_back(i);
    }
  }
}

// f and c from the unknowns and t.
void ContactPath::set_forces() {
  f_.map().setZero();
  for (int i = 0; i < nc_; ++i) {
    const int o = 3 * i;
    const double* x = x_.data() + o;
    const Mode mode = mode_[at(i)];
    if (mode == Mode::Open) continue;
    f_[o + 2] = x[2];
    if (!(mu_[i] > 0)) continue;
    f_[o] = mode == Mode::Stick ? x[0] : mu_[i] * x[2] * std::cos(x[1]);
    f_[o + 1] = mode == Mode::Stick ? x[1] : mu_[i] * x[2] * std::sin(x[1]);
  }
  for (int o = 3 * nc_; o < n_; ++o) {
    const Mode mode = mode_[at(o - 2 * nc_)];
    f_[o] = mode == Mode::Lower ? lower_[o] : mode == Mode::Upper ? upper_[o] : x_[o];
  }
  dense::multiply(A_.data(), n_, f_.data(), c_.data());
  c_.map() += g_.map() + (1 - t_) * away_.map() - path_softness * centre_.map();
}

bool ContactPath::turns(int index) const {  // belongs to a contact that slips and has an angle
  return index < 3 * nc_ && mode_[at(index / 3)] == Mode::Slip && mu_[index / 3] > 0;
}

// What (release.1) leaves of the accelerations at the unknowns.
void ContactPath::residual(double* h) const {
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const int i = active_[a];
    h[a] = c_[i];
    if (!turns(i) || i % 3 == 2) continue;
    const double* x = x_.data() + 3 * (i / 3);
    h[a] += x[0] * (i % 3 == 0 ? std::cos(x[1]) : std::sin(x[1]));
  }
}

// Derivative of an acceleration by the unknowns and t.
void ContactPath::acceleration_row(int i, double* row) const {
  const double* A = A_.data() + static_cast<std::ptrdiff_t>(i) * n_;  // symmetric
  const std::size_t m = active_.size();
  for (std::size_t a = 0; a < m; ++a) {
    const int k = active_[a];
    if (!turns(k)) {
      row[a] = A[k];
      continue;
    }
    const double mu = mu_[k / 3], cosine = std::cos(x_[k + 1]), sine = std::sin(x_[k + 1]);
    row[a] = 0;
    row[a + 1] = mu * x_[k + 2] * (cosine * A[k + 1] - sine * A[k]);
    row[a + 2] = A[k + 2] + mu * (cosine * A[k] + sine * A[k + 1]);
    a += 2;
  }
  row[m] = -away_[i];
}

// [d(release.2); border], column-major.
bool ContactPath::factor() {
  const int m = static_cast<int>(active_.size()), size = m + 1;
  LU_.resize(size, size);
  auto M = LU_.map();
  for (int a = 0; a < m; ++a) {
    acceleration_row(active_[at(a)], rhs_.data());
    for (int b = 0; b < size; ++b) M(a, b) = rhs_[b];
  }
  for (int i = 0; i < nc_; ++i) {
    if (!turns(3 * i)) continue;
    const int a = place_[at(3 * i)];
    const double s = x_[3 * i], cosine = std::cos(x_[3 * i + 1]), sine = std::sin(x_[3 * i + 1]);
    M(a, a) += cosine, M(a, a + 1) -= s * sine;
    M(a + 1, a) += sine, M(a + 1, a + 1) += s * cosine;
  }
  for (int b = 0; b < size; ++b) M(m, b) = border_[b];
  work_ += static_cast<double>(size) * size * size;
  return dense::lu(LU_.data(), size, pivot_.data());
}

// (release.2)
bool ContactPath::point_on() {
  const int m = static_cast<int>(active_.size());
  double most = 0;
  for (int a = 0; a < m; ++a) most = std::max(most, std::abs(border_[a] = dx_[active_[at(a)]]));
  border_[m] = most > 1e-3 ? dt_ : 1;
  if (!factor()) return false;
  null_.resize(m + 1);
  null_.map().setZero();
  null_[m] = 1;
  dense::lu_solve(LU_.data(), m + 1, pivot_.data(), null_.data());
  double sign = 1;
  for (int k = 0; k <= m; ++k) sign *= (LU_.map()(k, k) < 0) == (pivot_[at(k)] != k) ? 1 : -1;
  const double length = null_.map().norm();
  if (!std::isfinite(length) || !(length > 0)) return false;
  if (sign_ == 0) sign_ = null_[m] > 0 ? sign : -sign;  // the path begins with t
  null_.map() *= sign * sign_ / length;
  for (int a = 0; a < m; ++a) dx_[active_[at(a)]] = null_[a];
  dt_ = null_[m];
  return true;
}

// What makes a contact or a row leave its mode.
template <class Visit>
void ContactPath::visit_borders(Visit&& visit) const {
  visit(Border{-1, Mode::Open});
  for (int i = 0; i < nc_; ++i) {
    const Mode mode = mode_[at(i)];
    visit(Border{i, mode == Mode::Slip ? Mode::Open : Mode::Slip});
    if (mode == Mode::Slip && mu_[i] > 0) visit(Border{i, Mode::Stick});
  }
  for (int b = nc_; b < nc_ + nr_; ++b) {
    const int o = offset(b);
    if (lower_[o] == upper_[o]) continue;
    if (mode_[at(b)] != Mode::Free) {
      visit(Border{b, Mode::Free});
      continue;
    }
    if (std::isfinite(lower_[o])) visit(Border{b, Mode::Lower});
    if (std::isfinite(upper_[o])) visit(Border{b, Mode::Upper});
  }
}

double ContactPath::value(const Border& border) const {
  if (border.block < 0) return 1 - t_;
  const int o = offset(border.block);
  switch (mode_[at(border.block)]) {
    case Mode::Lower:
      return c_[o];
    case Mode::Upper:
      return -c_[o];
    case Mode::Free:
      return border.next == Mode::Lower ? x_[o] - lower_[o] : upper_[o] - x_[o];
    case Mode::Open:
      return c_[o + 2];
    case Mode::Slip:
      return border.next == Mode::Open ? x_[o + 2] : x_[o];
    case Mode::Stick:
      break;
  }
  return border.next == Mode::Open ? x_[o + 2] : mu_[border.block] * x_[o + 2] - std::hypot(x_[o], x_[o + 1]);
}

// Of value(), by the unknowns and t.
void ContactPath::gradient(const Border& border, double* row) const {
  const std::size_t m = active_.size();
  std::fill_n(row, m + 1, 0.0);
  if (border.block < 0) {
    row[m] = -1;
    return;
  }
  const int o = offset(border.block);
  const auto unknown = [&](int i) -> double& { return row[place_[at(i)]]; };
  switch (mode_[at(border.block)]) {
    case Mode::Lower:
      return acceleration_row(o, row);
    case Mode::Open:
      return acceleration_row(o + 2, row);
    case Mode::Upper:
      acceleration_row(o, row);
      for (std::size_t a = 0; a <= m; ++a) row[a] = -row[a];
      return;
    case Mode::Free:
      unknown(o) = border.next == Mode::Lower ? 1 : -1;
      return;
    case Mode::Slip:
      unknown(border.next == Mode::Open ? o + 2 : o) = 1;
      return;
    case Mode::Stick:
      break;
  }
  const double length = std::max(std::hypot(x_[o], x_[o + 1]), 1e-300);
  unknown(o) = -x_[o] / length;
  unknown(o + 1) = -x_[o + 1] / length;
  unknown(o + 2) = mu_[border.block];
}

// Onto the curve, with the factor of the start: at a distance `reach` along the direction, or where the border is met.
bool ContactPath::correct(double reach, const Border* border) {
  const int m = static_cast<int>(active_.size());
  const auto place = [&] {
    for (int a = 0; a < m; ++a) x_[active_[at(a)]] = start_x_[active_[at(a)]] + reach * null_[a];
    t_ = start_t_ + reach * null_[m];
  };
  place();
  double last = 0;
  for (int k = 0; k < 30; ++k) {
    set_forces();
    residual(rhs_.data());
    rhs_.map().head(m) *= -1;
    rhs_[m] = 0;
    dense::lu_solve(LU_.data(), m + 1, pivot_.data(), rhs_.data());
    double missing = 0, against = 0, along = 0;
    if (border) {
      gradient(*border, gradient_.data());
      missing = -value(*border);
    } else {
      gradient_.map().head(m + 1) = null_.map();
      missing = reach - distance();
    }
    for (int a = 0; a <= m; ++a) against += gradient_[a] * rhs_[a], along += gradient_[a] * null_[a];
    const double add = (missing - against) / along;
    double size = 0, largest = 1;
    for (int a = 0; a <= m; ++a) {
      const double d = rhs_[a] + add * null_[a];
      double& x = a < m ? x_[active_[at(a)]] : t_;
      x += d;
      size = std::max(size, std::abs(d)), largest = std::max(largest, std::abs(x));
    }
    if (!std::isfinite(size)) return false;
    if (size <= 1e-13 * largest || (k > 2 && size <= 1e-10 * largest && size > 0.5 * last)) {
      set_forces();
      return true;
    }
    if (k > 0 && size > 0.5 * last) return false;
    last = size;
  }
  return false;
}

// Along the direction, from the start.
double ContactPath::distance() const {
  double sum = (t_ - start_t_) * null_[static_cast<Eigen::Index>(active_.size())];
  for (std::size_t a = 0; a < active_.size(); ++a)
    sum += (x_[active_[a]] - start_x_[active_[a]]) * null_[static_cast<Eigen::Index>(a)];
  return sum;
}

// The border that is met first between the start and here, by their values at both ends.
bool ContactPath::first_border(const Border* met, Border& first, double& share) const {
  std::size_t k = 0;
  share = 2;
  visit_borders([&](const Border& border) {
    const double before = std::max(start_value_[k++], 0.0), here = value(border);
    if (met && border.block == met->block && border.next == met->next) return;
    if (!(here < -outside) || !(here < before)) return;
    const double there = before / (before - here);
    if (there < share) share = there, first = border;
  });
  return share <= 1;
}

ContactPath::Progress ContactPath::advance() {
  start_x_.map() = x_.map();
  start_t_ = t_;
  start_value_.clear();
  visit_borders([&](const Border& border) { start_value_.push_back(value(border)); });
  double largest = 1;
  for (int i : active_) largest = std::max(largest, std::abs(x_[i]));
  for (double reach = std::min(reach_, 2 * largest); reach > 1e-14; reach *= 0.5) {
    if (!correct(reach, nullptr) || strayed(reach)) continue;
    Border border;
    double share = 1;
    if (!first_border(nullptr, border, share)) {
      reach_ = 1.6 * reach;
      return Progress::On;
    }
    if (t_ > 1 && ends_within(reach)) return Progress::Arrived;
    double there = reach;
    for (int k = 0; k < 8; ++k) {
      if (!correct(share * there, &border)) break;
      const double at_border = distance();
      if (!(at_border > -1e-9 * largest && at_border <= 1.01 * reach + 1e-12)) break;
      Border earlier;
      if (!first_border(&border, earlier, share)) {
        if (border.block < 0) return Progress::Arrived;
        reach_ = std::max(reach, 1e-3);
        cross(border);
        return Progress::On;
      }
      border = earlier;
      there = at_border;
    }
  }
  return Progress::Lost;
}

// Contacts that share their bodies' place come down together at t = 1: whether they still bear is for the judge.
bool ContactPath::ends_within(double reach) {
  const Border end;
  if (!correct(reach * (1 - start_t_) / (t_ - start_t_), &end)) return false;
  bool good = distance() <= reach;
  visit_borders([&](const Border& border) { good = good && value(border) >= -outside_at_end; });
  return good;
}

// Further off the direction than a curve goes that the step has resolved: another branch may be near.
bool ContactPath::strayed(double reach) const {
  double sum = 0;
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const double d = x_[active_[a]] - start_x_[active_[a]] - reach * null_[static_cast<Eigen::Index>(a)];
    sum += d * d;
  }
  return sum > strays * strays * reach * reach;
}

void ContactPath::cross(const Border& border) {
  Mode& mode = mode_[at(border.block)];
  const int o = offset(border.block);
  double* x = x_.data() + o;
  if (border.block >= nc_) {
    if (border.next == Mode::Free) x[0] = mode == Mode::Lower ? lower_[o] : upper_[o];
  } else if (mode == Mode::Open) {
    x[0] = std::hypot(c_[o], c_[o + 1]), x[1] = std::atan2(-c_[o + 1], -c_[o]), x[2] = 0;
  } else if (mode == Mode::Stick) {
    const double angle = std::atan2(x[1], x[0]);
    x[0] = 0, x[1] = angle;
  } else if (border.next == Mode::Stick) {
    x[0] = f_[o], x[1] = f_[o + 1];
  }
  mode = border.next;
  list_active();
  set_forces();
}

// At t = 1, in the modes of the arrival: f_k takes away what eps left.
bool ContactPath::finish() {
  for (int k = 0; k < most_passes; ++k) {
    centre_.map() = f_.map();
    t_ = 1;
    dt_ = 1;
    dx_.map().setZero();
    if (!point_on()) return false;
    start_x_.map() = x_.map();
    start_t_ = 1;
    const Border end;
    if (!correct(0, &end)) return false;
  }
  return f_.map().allFinite();
}

}  // namespace tribo
