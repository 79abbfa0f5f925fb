#include "stepping/rolling.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

void follow_normal_forces(const Island& island, std::span<const Row> rows, const double* f, const double* c,
                          const double* rho, ContactProblem& problem) {
  const int nr = problem.nr(), first = 3 * problem.nc();
  for (int j = 0; j < nr; ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    if (row.contact < 0) continue;
    const auto here = std::lower_bound(island.contacts.begin(), island.contacts.end(), row.contact);
    const double bound = row.length * std::max(f[3 * (here - island.contacts.begin()) + 2], 0.0);
    if (row.component == 0) {
      set(problem, j, bound);  // (rolling.1)
    } else {
      follow_rolling(j, bound, f + first + j, c + first + j, rho[j], problem);  // (rolling.2)
      ++j;
    }
  }
}

void learn_rolling(const Island& island, std::span<const Row> rows, int contacts, const double* df, const double* dc,
                   double* rho) {
  const int nr = static_cast<int>(island.rows.size());
  for (int j = 0; j + 1 < nr; ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    if (row.contact < 0 || row.component != 1) continue;
    const double *f = df + 3 * contacts + j, *c = dc + 3 * contacts + j;
    const double along = f[0] * c[0] + f[1] * c[1], square = f[0] * f[0] + f[1] * f[1];
    if (along > 1e-6 * square / rho[j]) rho[j] = rho[j + 1] = square / along;
  }
}

}  // namespace tribo
