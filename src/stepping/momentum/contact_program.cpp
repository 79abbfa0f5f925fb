#include "stepping/momentum/contact_program.hpp"

#include <Eigen/LU>
#include <cmath>

namespace tribo {
namespace {

constexpr double rank_tolerance = 1e-12;  // of pivoting and minimum norm: rounding of A
constexpr double local_slack = 1e-9;      // makes local blocks invertible, of the mean diagonal
constexpr int dense_unknowns = 150;       // up to here a relaxed program is solved by QR
constexpr double nearly_plastic = 1e-4;   // relaxation that stands for none: the shortest impulses to 1e-8
constexpr int most_iterations = 2000;     // of CGLS in a pass
constexpr double cgls_tolerance = 1e-10;  // of the gradient, over that at zero
constexpr double surely = 4;              // times the friction that is there: a new contact slides
constexpr double drop_share = 0.5;        // impulses this near to the most negative go out together
constexpr double moving_share = 1e-3;     // a point moves from here on, of the largest velocity without impulses
constexpr double sign_slack = 1e-9;       // an impulse or velocity this small, of the largest, has no sign

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;

}  // namespace

void ContactProgram::resize(int n) {
  n_ = n;
  by_bodies_ = false;
  relaxed_by_ = 0;
  start_.assign(1, 0);
  row_.clear();
  value_.clear();
  w.setZero(n);
  p.setZero(n);
  c_.setZero(n);
}

void ContactProgram::solve_by_bodies(int nodes) {
  by_bodies_ = true;
  bodies_.resize(nodes);
}

int ContactProgram::solve(const Rules& rules) {
  scale_ = 0;
  for (int k = 0; k < n_; ++k) scale_ += entry(k, k) / n_;
  converged_ = true;
  asked_.assign(items.size(), 0);
  readmitted_.assign(items.size(), 0);
  predict(rules);
  int passes = 0;
  for (;;) {
    ++passes;
    list_unknowns();
    solve_reduced(rules);
    if (by_bodies_ && rules.friction_in_program) {
      bool changed = readmit();  // before the others: what has just gone out does not come in
      for (auto rule : {&ContactProgram::drop, &ContactProgram::rest, &ContactProgram::slide, &ContactProgram::release})
        changed |= (this->*rule)();
      if (changed) continue;
      break;
    }
    if (drop()) continue;
    if (!rules.friction_in_program) break;
    if (rest() || slide() || release() || readmit()) continue;
    break;
  }
  if (!rules.friction_in_program) cut_friction();
  multiply(p.data(), c_.data());
  c_.map() += w.map();
  return passes;
}

double ContactProgram::entry(int row, int column) const {
  if (by_bodies_) return bodies_.entry(row, column);
  for (int k = start_[at(column)]; k < start_[at(column) + 1]; ++k)
    if (row_[at(k)] == row) return value_[at(k)];
  return 0;
}

void ContactProgram::multiply(const double* x, double* y) {
  if (by_bodies_) return bodies_.multiply(x, y);
  std::fill(y, y + n_, 0.0);
  for (int c = 0; c < n_; ++c) {
    if (x[c] == 0) continue;
    for (int k = start_[at(c)]; k < start_[at(c) + 1]; ++k) y[row_[at(k)]] += value_[at(k)] * x[c];
  }
}

// The states with which the passes begin: a contact that slid goes on, a new one slides where its point alone could by
// no means be stopped. Of a body that touches with several points, each has more inertia than it has to stop.
void ContactProgram::predict(const Rules& rules) {
  for (ProgramItem& item : items) {
    item.out = item.limited = item.slides = false;
    if (item.kind != ProgramItem::Kind::Contact || !rules.friction_in_program) continue;
    item.slides = item.slid;
    item.out = by_bodies_ && item.idle;
    if (!item.fresh) continue;
    const int o = item.first;
    Mat3 block;
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) block(r, c) = entry(o + r, o + c);
    block.diagonal().array() += local_slack * scale_;
    const Vec3 stop = -(block.inverse() * w.map().segment<3>(o));
    const double friction = stop.head<2>().norm();
    item.slides = friction > surely * item.mu_rest * std::max(stop.z(), 0.0) && friction > 0;
    if (item.slides) item.heading = stop.head<2>() / friction;
  }
}

void ContactProgram::list_unknowns() {
  unknowns_.clear();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ProgramItem& item = items[i];
    const int k = static_cast<int>(i);
    if (item.out) continue;
    if (item.kind == ProgramItem::Kind::Contact) {
      if (!item.slides && !item.limited) {
        unknowns_.push_back({k, item.first});
        unknowns_.push_back({k, item.first + 1});
      }
      unknowns_.push_back({k, item.first + 2});
    } else if (!item.slides) {
      unknowns_.push_back({k, item.first});
    }
  }
}

// Friction of a contact that slides or is at its limit, for a unit of its normal impulse.
double ContactProgram::share(const ProgramItem& item) const {
  if (item.kind != ProgramItem::Kind::Contact) return 0;
  return item.slides ? item.mu_slide * item.ramp : item.limited ? item.mu_rest : 0;
}

// y = -w of the unknowns, with dry friction at its bound, which is known.
void ContactProgram::known_impulses() {
  const auto n = static_cast<Eigen::Index>(unknowns_.size());
  y_.resize(n);
  x_.resize(n);
  full_.setZero(n_);
  product_.resize(n_);
  for (const ProgramItem& item : items)
    if (item.kind == ProgramItem::Kind::Friction && item.slides) full_[item.first] = p[item.first];
  multiply(full_.data(), product_.data());
  for (Eigen::Index r = 0; r < n; ++r) {
    const int row = unknowns_[static_cast<std::size_t>(r)].row;
    y_[r] = -w[row] - product_[row];
    x_[r] = p[row];
  }
}

// B of the unknowns (program.2).
void ContactProgram::reduce() {
  const auto n = static_cast<Eigen::Index>(unknowns_.size());
  B_.resize(n, n);
  auto B = B_.map();
  B.setZero();
  place_.assign(at(n_), -1);
  for (Eigen::Index r = 0; r < n; ++r) place_[at(unknowns_[static_cast<std::size_t>(r)].row)] = static_cast<int>(r);
  auto add_column = [&](Eigen::Index c, int column, double factor) {
    for (int k = start_[at(column)]; k < start_[at(column) + 1]; ++k)
      if (const int r = place_[at(row_[at(k)])]; r >= 0) B(r, c) += factor * value_[at(k)];
  };
  for (Eigen::Index c = 0; c < n; ++c) {
    const Unknown& u = unknowns_[static_cast<std::size_t>(c)];
    const ProgramItem& item = items[at(u.item)];
    add_column(c, u.row, 1);
    const double s = share(item);
    if (s == 0) continue;
    add_column(c, item.first, s * item.heading.x());
    add_column(c, item.first + 1, s * item.heading.y());
  }
}

void ContactProgram::multiply_reduced(const double* x, double* y) {
  full_.map().setZero();
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const ProgramItem& item = items[at(unknowns_[k].item)];
    full_[unknowns_[k].row] = x[k];
    if (const double s = share(item); s != 0) full_.map().segment<2>(item.first) = s * x[k] * item.heading;
  }
  multiply(full_.data(), product_.data());
  for (std::size_t k = 0; k < unknowns_.size(); ++k) y[k] = product_[unknowns_[k].row];
}

void ContactProgram::multiply_transposed(const double* x, double* y) {
  full_.map().setZero();
  for (std::size_t k = 0; k < unknowns_.size(); ++k) full_[unknowns_[k].row] = x[k];
  multiply(full_.data(), product_.data());  // A is symmetric
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const ProgramItem& item = items[at(unknowns_[k].item)];
    y[k] = product_[unknowns_[k].row];
    if (const double s = share(item); s != 0) y[k] += s * item.heading.dot(product_.map().segment<2>(item.first));
  }
}

// CGLS [Bjorck1996, 7.4] on (B; eps 1) x = (y; 0), from x.
void ContactProgram::conjugate_gradients(double eps) {
  const auto n = static_cast<Eigen::Index>(unknowns_.size());
  for (VectorBuffer* v : {&residual_, &gradient_, &direction_, &image_}) v->resize(n);
  auto x = x_.map(), r = residual_.map(), s = gradient_.map(), d = direction_.map(), q = image_.map();
  multiply_transposed(y_.data(), s.data());
  const double enough = cgls_tolerance * s.norm();
  multiply_reduced(x.data(), q.data());
  r = y_.map() - q;
  multiply_transposed(r.data(), s.data());
  s -= eps * eps * x;
  d = s;
  double gamma = s.squaredNorm();
  for (int k = 0; k < most_iterations; ++k) {
    if (gamma <= enough * enough) return;
    multiply_reduced(d.data(), q.data());
    const double alpha = gamma / (q.squaredNorm() + eps * eps * d.squaredNorm());
    x += alpha * d;
    r -= alpha * q;
    multiply_transposed(r.data(), s.data());
    s -= eps * eps * x;
    const double next = s.squaredNorm();
    d = s + (next / gamma) * d;
    gamma = next;
  }
  converged_ = false;
}

void ContactProgram::solve_bodies(double eps) {
  parts_.resize(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ProgramItem& item = items[i];
    ProgramBodies::Part& part = parts_[i];
    using Kind = ProgramBodies::Part::Kind;
    const bool contact = item.kind == ProgramItem::Kind::Contact;
    part.kind = item.out || (item.slides && !contact) ? Kind::Out
                : item.slides || item.limited         ? Kind::Tied
                                                      : Kind::Rest;
    if (part.kind == Kind::Tied) part.along << share(item) * item.heading, 1;
  }
  wanted_.resize(n_);
  wanted_.map() = w.map() + product_.map();  // with what is known
  if (!bodies_.solve(parts_, wanted_.data(), eps, full_.data())) converged_ = false;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) x_[static_cast<Eigen::Index>(k)] = full_[unknowns_[k].row];
}

void ContactProgram::solve_reduced(const Rules& rules) {
  known_impulses();
  const double relaxation = rules.solve == ProgramSolve::Relaxed ? rules.relaxation : nearly_plastic;
  const double eps = relaxation * (relaxed_by_ > 0 ? relaxed_by_ : scale_);
  const bool large = rules.solve == ProgramSolve::Relaxed && static_cast<int>(unknowns_.size()) > dense_unknowns;
  if (!large && !by_bodies_) reduce();
  if (by_bodies_) solve_bodies(eps);
  switch (by_bodies_ ? ProgramSolve::Relaxed : rules.solve) {
    case ProgramSolve::Relaxed:
      if (!by_bodies_) large ? conjugate_gradients(eps) : least_squares_.relaxed(B_, y_.data(), eps, x_.data());
      break;
    case ProgramSolve::Pivoting:
      least_squares_.pivoting(B_, y_.data(), rank_tolerance, x_.data());
      break;
    case ProgramSolve::MinimumNorm:
      least_squares_.minimum_norm(B_, y_.data(), rank_tolerance, x_.data());
      break;
  }
  for (const ProgramItem& item : items) {
    if (item.kind == ProgramItem::Kind::Contact)
      p.map().segment<3>(item.first).setZero();
    else if (item.kind == ProgramItem::Kind::Limit || !item.slides)
      p[item.first] = 0;
  }
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& u = unknowns_[k];
    const ProgramItem& item = items[at(u.item)];
    const double value = x_[static_cast<Eigen::Index>(k)];
    p[u.row] = value;
    if (item.kind == ProgramItem::Kind::Contact && (item.slides || item.limited))
      p.map().segment<2>(item.first) = share(item) * value * item.heading;
  }
  multiply(p.data(), c_.data());
  c_.map() += w.map();
}

// (program.3)
bool ContactProgram::drop() {
  double largest = 0, worst = 0;
  for (Eigen::Index k = 0; k < x_.size(); ++k) largest = std::max(largest, std::abs(x_[k]));
  auto pressing = [&](const ProgramItem& item) {
    return p[item.first + (item.kind == ProgramItem::Kind::Contact ? 2 : 0)];
  };
  auto may_leave = [](const ProgramItem& item) { return !item.out && item.kind != ProgramItem::Kind::Friction; };
  for (const ProgramItem& item : items)
    if (may_leave(item)) worst = std::min(worst, pressing(item));
  if (!(worst < -sign_slack * largest)) return false;
  const double most = by_bodies_ ? -sign_slack * largest : drop_share * worst;
  for (ProgramItem& item : items)
    if (may_leave(item) && pressing(item) <= most) item.out = true;
  return true;
}

Vec2 ContactProgram::stopping(const ProgramItem& item) const {
  const int o = item.first;
  Mat2 block;
  block << entry(o, o), entry(o, o + 1), entry(o + 1, o), entry(o + 1, o + 1);
  block.diagonal().array() += local_slack * scale_;
  const Vec2 c = c_.map().segment<2>(item.first), held = p.map().segment<2>(item.first);
  return held - block.inverse() * c;
}

// (program.4)
bool ContactProgram::rest() {
  bool changed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ProgramItem& item = items[i];
    if (item.kind != ProgramItem::Kind::Contact || item.out || !item.slides || asked_[i]) continue;
    if (p[item.first + 2] == 0) continue;  // it has just come in
    asked_[i] = 1;
    const double mu = item.slid ? item.mu_slide : item.mu_rest;
    if (stopping(item).norm() > mu * p[item.first + 2]) continue;
    item.slides = false;
    changed = true;
  }
  return changed;
}

// (program.5)
bool ContactProgram::slide() {
  bool changed = false;
  for (ProgramItem& item : items) {
    if (item.out || item.slides || item.limited || item.kind == ProgramItem::Kind::Limit) continue;
    if (item.kind == ProgramItem::Kind::Friction) {
      if (std::abs(p[item.first]) <= item.bound) continue;
      p[item.first] = std::copysign(item.bound, p[item.first]);
      item.slides = true;
    } else {
      const Vec2 friction = p.map().segment<2>(item.first);
      const double size = friction.norm(), mu = item.slid ? item.mu_slide : item.mu_rest;
      if (size <= mu * p[item.first + 2] * (1 + sign_slack) || size == 0) continue;
      item.heading = friction / size;
      (item.slid ? item.slides : item.limited) = true;
    }
    changed = true;
  }
  return changed;
}

// (program.6). What relaxation leaves of the motion at rest does not count.
bool ContactProgram::release() {
  double largest = 0;
  for (int k = 0; k < n_; ++k) largest = std::max(largest, std::abs(w[k]));
  bool changed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ProgramItem& item = items[i];
    if (item.out || !item.limited) continue;
    if (c_.map().segment<2>(item.first).norm() <= moving_share * largest) continue;
    item.limited = false;
    item.slides = true;
    asked_[i] = 1;
    changed = true;
  }
  return changed;
}

// (program.7). At rest it would pull; sliding it may press.
bool ContactProgram::readmit() {
  double largest = 0;
  for (int k = 0; k < n_; ++k) largest = std::max(largest, std::abs(w[k]));
  bool changed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ProgramItem& item = items[i];
    if (!item.out || readmitted_[i]) continue;
    const int normal = item.first + (item.kind == ProgramItem::Kind::Contact ? 2 : 0);
    if (!(c_[normal] < -sign_slack * largest)) continue;
    item.out = item.limited = false;
    readmitted_[i] = 1;
    changed = true;
    if (item.kind != ProgramItem::Kind::Contact || item.slides) continue;
    const Vec2 motion = c_.map().segment<2>(item.first);
    const double speed = motion.norm();
    item.slides = speed > moving_share * largest;
    if (item.slides) item.heading = -motion / speed;
  }
  return changed;
}

void ContactProgram::cut_friction() {
  for (ProgramItem& item : items) {
    if (item.out || item.kind == ProgramItem::Kind::Limit) continue;
    if (item.kind == ProgramItem::Kind::Friction) {
      item.slides = std::abs(p[item.first]) > item.bound;
      p[item.first] = std::clamp(p[item.first], -item.bound, item.bound);
      continue;
    }
    auto friction = p.map().segment<2>(item.first);
    const double size = friction.norm(), mu = item.slid ? item.mu_slide : item.mu_rest;
    if (size <= mu * p[item.first + 2] || size == 0) continue;
    item.slides = true;
    friction *= item.mu_slide * (item.slid ? item.ramp : 1.0) * p[item.first + 2] / size;
  }
}

}  // namespace tribo
