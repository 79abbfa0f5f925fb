#include "stepping/rigid/rolling.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/rigid/row_ids.hpp"

namespace tribo {
namespace {

constexpr int most_rounds = 10;  // with intervals, before sweeps take over
constexpr int most_sweeps = 4000;

void set(ContactProblem& problem, int j, double bound) {
  problem.lower()[j] = -bound;
  problem.upper()[j] = bound;
}

// Rows j and j + 1 of a contact that rolls: the trial point y = f - rho c says where on the disc it will be.
void follow_rolling(int j, double bound, const double* f, const double* c, double rho, ContactProblem& problem) {
  const double y[2] = {f[0] - rho * c[0], f[1] - rho * c[1]};
  const double length = std::hypot(y[0], y[1]);
  for (int k = 0; k < 2; ++k) set(problem, j + k, length > bound ? bound * std::abs(y[k]) / length : bound);
}

}  // namespace

void list_rolling(const Model& model, std::span<const Contact> contacts, std::vector<Row>& rows) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    const SurfacePair& surface = model.surface(c.surface);
    if (!(surface.torsional > 0 || surface.rolling > 0)) continue;
    for (int k = 0; k < 3; ++k) {
      const double length = k == 0 ? surface.torsional : surface.rolling;
      const Vec3 axis = c.R_WC.col(k == 0 ? 2 : k - 1);
      if (length > 0)
        rows.push_back({.along = BodyTurns{{c.body_a, c.body_b, axis, axis.dot(c.w_given)}},
                        .law = TurnFriction{static_cast<int>(i), k, length},
                        .id = turn_row_id(c.id, k)});
    }
  }
}

void list_discs(const Island& island, std::span<const Row> rows, ContactProblem& problem) {
  for (int j = 0; j < problem.nr(); ++j) {
    const TurnFriction* friction = rows[at(island.rows[at(j)])].as<TurnFriction>();
    if (!friction) continue;
    const auto here = std::lower_bound(island.contacts.begin(), island.contacts.end(), friction->contact);
    const int size = friction->component == 0 ? 1 : 2;
    problem.discs.push_back({static_cast<int>(here - island.contacts.begin()), j, size, friction->length});
    for (int k = 0; k < size; ++k) set(problem, j + k, 0);
    j += size - 1;
  }
}

RollingRounds::RollingRounds() {
  SolverOptions options;
  options.max_iterations = most_sweeps;
  sweeps_ = make_contact_solver("pgs", options);
}

SolveReport RollingRounds::solve(const RollingRules& rules, const double* before, double dt, ContactProblem& problem,
                                 VectorBuffer::Map f) {
  for (VectorBuffer* x : {&c_, &f_last_, &c_last_}) x->resize(problem.size());
  set_rho(problem);
  for (int i = 0; i < problem.size(); ++i) c_[i] = before[i] / dt;
  SolveReport report;
  int iterations = 0;
  for (int round = 0;; ++round) {
    follow(f.data(), problem);
    discs_.swap(problem.discs);
    report = rules.solver.solve(problem, rules.tolerance, f);
    discs_.swap(problem.discs);
    report.iterations = iterations += report.iterations;
    problem.velocity(f.data(), c_.data());
    if (round > 0) learn(problem, f);
    const bool solved = report.status == SolveStatus::Converged;
    report.residual = judge(problem, rules.model, f.data(), c_.data(), rules.facets);
    report.status = rules.tolerance.met(report.residual) ? SolveStatus::Converged : SolveStatus::Stalled;
    if (report.status == SolveStatus::Converged) return report;
    if (round == most_rounds || (round > 0 && !solved)) break;
    f_last_.map() = f;
    c_last_.map() = c_.map();
  }
  if (rules.model != ContactModel::Ncp) return report;
  report = sweeps_->solve(problem, rules.tolerance, f);
  report.iterations += iterations;
  report.escalated = true;
  return report;
}

void RollingRounds::set_rho(const ContactProblem& problem) {
  diagonal_.resize(problem.size());
  problem.diagonal(diagonal_.data());
  rho_.resize(problem.nr());
  for (int j = 0; j < problem.nr(); ++j) rho_[j] = 1 / std::max(diagonal_[3 * problem.nc() + j], 1e-300);
}

void RollingRounds::follow(const double* f, ContactProblem& problem) const {
  const int first = 3 * problem.nc();
  for (const FrictionDisc& disc : problem.discs) {
    const double bound = disc.length * std::max(f[3 * disc.contact + 2], 0.0);
    const int j = disc.row;
    if (disc.size == 1)
      set(problem, j, bound);  // (rolling.1)
    else
      follow_rolling(j, bound, f + first + j, c_.data() + first + j, rho_[j], problem);  // (rolling.2)
  }
}

void RollingRounds::learn(const ContactProblem& problem, const VectorBuffer::Map& f) {
  for (const FrictionDisc& disc : problem.discs) {
    if (disc.size != 2) continue;
    const int j = disc.row, o = 3 * problem.nc() + j;
    const double df[2] = {f[o] - f_last_[o], f[o + 1] - f_last_[o + 1]};
    const double dc[2] = {c_[o] - c_last_[o], c_[o + 1] - c_last_[o + 1]};
    const double along = df[0] * dc[0] + df[1] * dc[1], square = df[0] * df[0] + df[1] * df[1];
    if (along > 1e-6 * square / rho_[j]) rho_[j] = rho_[j + 1] = square / along;
  }
}

}  // namespace tribo
