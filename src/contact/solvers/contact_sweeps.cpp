#include "contact/solvers/contact_sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "contact/diagonal_block.hpp"
#include "contact/factor.hpp"

namespace tribo {

// (pgs.1), then (pgs.2) with c_T renewed.
void ContactSweeps::contact(const ContactProblem& problem, int i, VecRef f) {
  const int o = 3 * i;
  const double* D = diagonal_.data() + 9 * i;
  Vec3 c = problem.g().segment<3>(o) + problem.R().segment<3>(o).cwiseProduct(f.segment<3>(o));
  add_to_contact(problem, i, w_.data(), c.data());
  const double n = D[8] > 0 ? std::max(0.0, f[o + 2] - c.z() / D[8]) : f[o + 2], dn = n - f[o + 2];
  const double half = 0.5 * (D[0] - D[4]), bound = problem.mu()[i] * n;
  const double largest = 0.5 * (D[0] + D[4]) + std::sqrt(half * half + D[1] * D[1]);
  const double step = largest > 0 ? 1 / largest : 0;
  double x = f[o] - step * (c.x() + D[6] * dn), y = f[o + 1] - step * (c.y() + D[7] * dn);
  if (const double t = std::sqrt(x * x + y * y); t > bound) {
    x *= bound / t;
    y *= bound / t;
  }
  const Vec3 change(x - f[o], y - f[o + 1], dn);
  f.segment<3>(o) = Vec3(x, y, n);
  add_to_bodies(problem, i, change.data(), w_.data());
}

// (sweep.2)
void ContactSweeps::row(const ContactProblem& problem, int j, VecRef f) {
  const int o = 3 * problem.nc() + j;
  const double d = diagonal_[9 * problem.nc() + j];
  if (held_[at(j)] || !(d > 0)) return;
  double c = problem.g()[o] + problem.R()[o] * f[o];
  add_to_contact(problem, problem.nc() + j, w_.data(), &c);
  const double change = std::clamp(f[o] - c / d, problem.lower()[j], problem.upper()[j]) - f[o];
  f[o] += change;
  add_to_bodies(problem, problem.nc() + j, &change, w_.data());
}

void ContactSweeps::run(const ContactProblem& problem, int sweeps, VecRef f) {
  const int nc = problem.nc(), blocks = problem.blocks();
  w_.resize(problem.factor.nw);
  to_bodies(problem, f.data(), w_.data());
  diagonal_.resize(9 * nc + problem.nr());
  for (int i = 0; i < blocks; ++i) diagonal_block(problem, i, diagonal_.data() + (i < nc ? 9 * i : 8 * nc + i));
  held_.assign(at(problem.nr()), 0);
  for (const FrictionDisc& disc : problem.discs) std::fill_n(held_.begin() + disc.row, disc.size, 1);
  for (int k = 0; k < sweeps; ++k)
    for (int b = 0; b < blocks; ++b) {
      const int i = k % 2 == 0 ? b : blocks - 1 - b;
      i < nc ? contact(problem, i, f) : row(problem, i - nc, f);
    }
}

}  // namespace tribo
