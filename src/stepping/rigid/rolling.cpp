#include "stepping/rigid/rolling.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr int most_rounds = 10;   // with intervals, before sweeps take over
constexpr int most_sweeps = 500;  // rounds of them
constexpr int sweeps_a_round = 8;

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
    Row row;
    row.kind = Row::Kind::Turn;
    row.body_a = c.body_a;
    row.body_b = c.body_b;
    row.contact = static_cast<int>(i);
    for (int k = 0; k < 3; ++k) {
      row.component = k;
      row.length = k == 0 ? surface.torsional : surface.rolling;
      row.axis = c.R_WC.col(k == 0 ? 2 : k - 1);
      row.given = row.axis.dot(c.w_given);
      if (row.length > 0) rows.push_back(row);
    }
  }
}

bool RollingFriction::begin(const Island& island, std::span<const Row> rows, const double* before, double dt,
                            ContactProblem& problem, double* f) {
  bool any = false;
  for (int j : island.rows) any |= rows[at(j)].contact >= 0;
  if (!any) return false;
  for (VectorBuffer* x : {&c_, &f_last_, &c_last_}) x->resize(problem.size());
  set_rho(problem);
  for (int i = 0; i < problem.size(); ++i) c_[i] = before[i] / dt;
  follow(island, rows, f, problem);
  const int first = 3 * problem.nc();
  for (int j = 0; j < problem.nr(); ++j)
    f[first + j] = std::clamp(f[first + j], problem.lower()[j], problem.upper()[j]);
  return true;
}

void RollingFriction::settle(const Island& island, std::span<const Row> rows, const RollingRules& rules,
                             ContactProblem& problem, VectorBuffer::Map f, SolveReport& solve) {
  bool sweeps = false;
  for (int round = 0;; ++round) {
    problem.velocity(f.data(), c_.data());
    if (round > 0 && !sweeps) learn(island, rows, problem.nc(), f);
    f_last_.map() = f;
    c_last_.map() = c_.map();
    follow(island, rows, f.data(), problem);
    solve.residual = judge(problem, rules.model, f.data(), c_.data(), rules.facets);
    const bool met = rules.tolerance.met(solve.residual);
    const bool last = round >= most_rounds || (round > 0 && solve.status != SolveStatus::Converged);
    if (met || round == most_rounds + most_sweeps || (last && rules.model != ContactModel::Ncp)) {
      solve.status = met ? SolveStatus::Converged : SolveStatus::Stalled;
      return;
    }
    if (last && !sweeps) {
      sweeps = true;
      set_rho(problem);
      sweep_.begin(island, rows, problem, f.data());
    }
    const int iterations = solve.iterations;
    if (sweeps) {
      sweep_.run(problem, sweeps_a_round, f.data());
      solve.iterations += sweeps_a_round;
    } else {
      solve = rules.solver.solve(problem, rules.tolerance, f);
      solve.iterations += iterations;
    }
  }
}

void RollingFriction::set_rho(const ContactProblem& problem) {
  diagonal_.resize(problem.size());
  problem.diagonal(diagonal_.data());
  rho_.resize(problem.nr());
  for (int j = 0; j < problem.nr(); ++j) rho_[j] = 1 / std::max(diagonal_[3 * problem.nc() + j], 1e-300);
}

void RollingFriction::follow(const Island& island, std::span<const Row> rows, const double* f,
                             ContactProblem& problem) const {
  const int nr = problem.nr(), first = 3 * problem.nc();
  for (int j = 0; j < nr; ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    if (row.contact < 0) continue;
    const auto here = std::lower_bound(island.contacts.begin(), island.contacts.end(), row.contact);
    const double bound = row.length * std::max(f[3 * (here - island.contacts.begin()) + 2], 0.0);
    if (row.component == 0) {
      set(problem, j, bound);  // (rolling.1)
    } else {
      follow_rolling(j, bound, f + first + j, c_.data() + first + j, rho_[j], problem);  // (rolling.2)
      ++j;
    }
  }
}

void RollingFriction::learn(const Island& island, std::span<const Row> rows, int contacts, const VectorBuffer::Map& f) {
  const int nr = static_cast<int>(island.rows.size());
  for (int j = 0; j + 1 < nr; ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    if (row.contact < 0 || row.component != 1) continue;
    const int o = 3 * contacts + j;
    const double df[2] = {f[o] - f_last_[o], f[o + 1] - f_last_[o + 1]};
    const double dc[2] = {c_[o] - c_last_[o], c_[o + 1] - c_last_[o + 1]};
    const double along = df[0] * dc[0] + df[1] * dc[1], square = df[0] * df[0] + df[1] * df[1];
    if (along > 1e-6 * square / rho_[j]) rho_[j] = rho_[j + 1] = square / along;
  }
}

}  // namespace tribo
