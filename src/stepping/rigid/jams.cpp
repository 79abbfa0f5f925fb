#include "stepping/rigid/jams.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double lever = 100;

}  // namespace

bool Jams::possible(const IslandSolution& s) {
  double largest = 0;
  for (int i = 0; i < s.problem.nc(); ++i) largest = std::max(largest, s.f[3 * i + 2]);
  return largest > lever * s.problem.weight;
}

bool Jams::soften(const Start& start, const VecX& v_free, double driven, IslandSolution& s) {
  const int nc = s.problem.nc();
  if (!possible(s)) return false;
  double largest = 0, mass = 0, twice_energy = 0;
  for (int i = 0; i < nc; ++i) largest = std::max(largest, s.f[3 * i + 2]);
  for (int t : s.island->trees) {
    const Tree& tree = start.model.trees[at(t)];
    start.dynamics.multiply(t, v_free.data(), momentum_.data());
    twice_energy += v_free.segment(tree.iv, tree.nv).dot(momentum_.segment(tree.iv, tree.nv));
    mass += tree.mass;
  }
  const double most = lever * (std::sqrt(mass * twice_energy) / start.dt + s.problem.weight);  // (rigid.15)
  if (!(largest > most)) return false;
  diagonal_.resize(s.problem.size());
  s.problem.diagonal(diagonal_.data());
  bool softened = false;
  for (int i = 0; i < nc; ++i) {
    const int n = 3 * i + 2;
    const double R = diagonal_[n] / lever;
    if (!(s.f[n] > most) || s.problem.R()[n] >= R) continue;
    const Contact& c = start.contacts[at(s.island->contacts[at(i)])];
    if (!(s.f[n] > most + lever * driven / std::min(sizes_.of(c), 1.0))) continue;
    // Where nothing weighs and nothing moves, rounding is beyond any lever.
    if (!(s.f[n] * diagonal_[n] * start.dt * start.dt > overlap_share * sizes_.of(c))) continue;
    s.problem.R()[n] = R;
    softened = true;
  }
  if (softened) s.f.setZero(s.problem.size());
  return softened;
}

}  // namespace tribo
