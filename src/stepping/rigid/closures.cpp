#include "stepping/rigid/closures.hpp"

#include <cmath>

#include "base/limits.hpp"
#include "dynamics/group.hpp"
#include "dynamics/tendons.hpp"
#include "linalg/dense.hpp"
#include "stepping/rigid/row_ids.hpp"

namespace tribo {
namespace {

constexpr int most_corrections = 8;
constexpr double closed = 1e-13;  // [m] or [rad]: near the rounding of coordinates of order one

// A body of an equality: its pose, and how a kinematic one goes over the step.
struct Side {
  Placement X;
  Twist twist;
};

Side side(const Model& model, const Dynamics& dynamics, int body, const KinematicTime& time, double dt) {
  if (body >= 0) return {dynamics.X_WB(body), {}};
  if (body == -1) return {};
  const int k = kinematic_index(body);
  return {kinematic_pose(model, k, time), dt > 0 ? kinematic_twist(model, k, time, dt) : Twist{}};
}

Row bilateral(int element, int component) {
  return {.law = EqualityPart{element}, .lower = -inf, .upper = inf, .id = equality_row_id(element, component)};
}

// Value and slope at x of a polynomial of degree four.
std::pair<double, double> value_at(const std::array<double, 5>& polynomial, double x) {
  double value = 0, slope = 0;
  for (int k = 4; k >= 0; --k) {
    slope = slope * x + value;
    value = value * x + polynomial[at(k)];
  }
  return {value, slope};
}

// The tie of two tendons, or of one to a length.
void add_tie(const Model& model, const VecX& q, const Dynamics& dynamics, int index, std::vector<Row>& rows) {
  const TendonTie& tie = model.ties[at(index)];
  Row row = bilateral(static_cast<int>(model.equalities.size()) + index, 0);
  row.along = TendonLength{tie.tendon_a};
  double value = tie.polynomial[0];
  if (tie.tendon_b >= 0) {
    const double l = tendon_length(model, model.tendons[at(tie.tendon_b)], q, dynamics);
    const auto [there, slope] = value_at(tie.polynomial, l - tie.center);
    value = there;
    row.along = TendonPair{tie.tendon_a, tie.tendon_b, -slope};
  }
  row.error = tendon_length(model, model.tendons[at(tie.tendon_a)], q, dynamics) - value;  // (closures.5)
  rows.push_back(row);
}

void add_joint(const Model& model, const VecX& q, int element, std::vector<Row>& rows) {
  const Equality& e = model.equalities[at(element)];
  const Body& a = model.bodies[at(e.body_a)];
  Row row = bilateral(element, 0);
  row.along = Coordinate{a.iv};
  double value = e.polynomial[0];
  if (e.body_b >= 0) {
    const Body& b = model.bodies[at(e.body_b)];
    const auto [there, slope] = value_at(e.polynomial, q[b.iq] - e.center);
    value = there;
    row.along = CoordinatePair{a.iv, b.iv, -slope};
  }
  row.error = q[a.iq] - value;  // (closures.3)
  rows.push_back(row);
}

void add_bodies(const Model& model, const Dynamics& dynamics, int element, const KinematicTime& time, double dt,
                std::vector<Row>& rows) {
  const Equality& e = model.equalities[at(element)];
  const Side a = side(model, dynamics, e.body_a, time, dt), b = side(model, dynamics, e.body_b, time, dt);
  const bool weld = e.kind == EqualityKind::Weld;
  const Vec3 p_a = a.X * (weld ? e.X_AB.p : e.point_a), p_b = b.X * (weld ? Vec3::Zero() : e.point_b);
  const Vec3 given = b.twist.v + b.twist.w.cross(p_b - b.X.p) - a.twist.v - a.twist.w.cross(p_a - a.X.p);
  for (int k = 0; k < 3; ++k) {
    Row row = bilateral(element, k);
    row.along = BodyPoints{{e.body_a, e.body_b, Vec3::Unit(k), given[k]}, p_a, p_b};
    row.error = (p_b - p_a)[k];  // (closures.1)
    rows.push_back(row);
  }
  if (!weld) return;
  const Eigen::AngleAxisd turn(Mat3(b.X.R * (a.X.R * e.X_AB.R).transpose()));
  for (int k = 0; k < 3; ++k) {
    Row row = bilateral(element, 3 + k);
    row.along = BodyTurns{{e.body_a, e.body_b, Vec3::Unit(k), b.twist.w[k] - a.twist.w[k]}};
    row.error = turn.angle() * turn.axis()[k];  // (closures.2)
    rows.push_back(row);
  }
}

}  // namespace

Closures::Closures(const Model& model)
    : empty_(model.equalities.empty() && model.ties.empty()), dynamics_(model), chart_(model), assembly_(model) {
  for (VecX* x : {&zero_, &work_, &dq_}) x->setZero(model.nv);
}

void Closures::list(const Model& model, const VecX& q, const Dynamics& dynamics, const KinematicTime& time, double dt,
                    std::vector<Row>& rows) {
  for (int i = 0; i < static_cast<int>(model.equalities.size()); ++i) {
    if (model.equalities[at(i)].kind == EqualityKind::Joint)
      add_joint(model, q, i, rows);
    else
      add_bodies(model, dynamics, i, time, dt, rows);
  }
  for (int i = 0; i < static_cast<int>(model.ties.size()); ++i) add_tie(model, q, dynamics, i, rows);
}

// (closures.4)
bool Closures::solve(const Island& island) {
  assembly_.build(island, {}, rows_, dynamics_, zero_, zero_, true, problem_, before_, free_);
  const int n = problem_.size();
  matrix_.resize(n, n);
  matrix_.map() = problem_.G();
  matrix_.map().diagonal().array() += 1e-12 * problem_.G().diagonal().maxCoeff();
  f_.resize(n);
  for (int j = 0; j < n; ++j) f_[j] = -rows_[at(island.rows[at(j)])].error;
  if (!dense::cholesky(matrix_.data(), n)) return false;
  dense::cholesky_solve(matrix_.data(), n, f_.data());
  assembly_.apply<1>(island, dynamics_, problem_, {{{f_.data(), 1, &dq_}}}, work_);
  return true;
}

Closures::Report Closures::project(const Model& model, const KinematicTime& time, VecX& q, VecX& v) {
  Report report;
  double last = inf;
  for (int round = 0;; ++round) {
    dynamics_.compute(q, zero_);
    rows_.clear();
    list(model, q, dynamics_, time, 0, rows_);
    report.error = 0;
    for (const Row& row : rows_) report.error = std::max(report.error, std::abs(row.error));
    if (!(report.error > closed) || report.error > 0.5 * last || round == most_corrections) return report;
    last = report.error;
    dynamics_.factor(zero_);
    assembly_.group({}, rows_);
    dq_.setZero();
    for (int i = 0; i < assembly_.islands(); ++i)
      if (!solve(assembly_.island(i))) return report;
    report.potential += dq_.dot(dynamics_.gravity_force());
    integrate(model, dq_, 1, q);
    chart_.turn_all(dq_, -1, v);
  }
}

}  // namespace tribo
