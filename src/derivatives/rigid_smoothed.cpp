// A step whose contacts follow the smoothed law (smooth.1), (smooth.2): the derivative of that step, taken where it ends.
#include <cmath>

#include "derivatives/rigid_derivative.hpp"

namespace tribo {

// v' of the smoothed step: the forces of the central path in the place of those that the step found.
const char* RigidDerivative::smooth(const Start& start, const Outcome& out) {
  std::fill(touched_.begin(), touched_.end(), 0);
  for (std::size_t i = 0; i < out.islands.size(); ++i) {
    const IslandSolution& s = out.islands[i];
    if (!s.problem.discs.empty()) return "torsional and rolling friction are not smoothed";
    if (!smoothed_.solve(s.problem, smoothing_ * s.solve.residual.force_scale * s.solve.residual.motion_scale))
      return "the central path was not found";
    for (int t : s.island->trees) {
      touched_[at(t)] = 1;
      start.dynamics.factor(t, extra_);
    }
    middle_.resize(s.problem.size());
    middle_.map() = smoothed_.f().map() - s.f.map();
    start.assembly.apply<1>(*s.island, start.dynamics, s.problem, {{{middle_.data(), start.dt, &v_end_}}}, zero_);
  }
  v_mean_ += v_end_ - out.v_end;
  return nullptr;
}

const char* RigidDerivative::list_smoothed(const Start& start, const IslandSolution& s, Linearization& lin) {
  clear_active();
  make_room(s.problem.size());
  smoothed_rows_ = true;
  if (!smoothed_.solve(s.problem, smoothing_ * s.solve.residual.force_scale * s.solve.residual.motion_scale))
    return "the central path was not found";
  f_.resize(s.problem.size());
  f_.map() = smoothed_.f().map();
  for (int i = 0; i < s.problem.nc(); ++i)
    if (const char* why = add_smoothed(start, s, i, lin)) return why;
  add_pulls(start, X_);
  add_smoothed_rows(start, s);
  return nullptr;
}

const char* RigidDerivative::add_smoothed(const Start& start, const IslandSolution& s, int i, Linearization& lin) {
  const ContactProblem& problem = s.problem;
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  LinearizedContact& listed = lin.contacts.emplace_back();
  listed.id = contact.id;
  const bool slips = std::hypot(s.c[3 * i], s.c[3 * i + 1]) > 1e-6 * s.solve.residual.motion_scale;
  listed.mode = !(s.f[3 * i + 2] > 0) ? ContactMode::Open : slips ? ContactMode::Slip : ContactMode::Stick;
  if (const char* why = follow(start, contact)) return why;
  const Vec3 f = f_.map().segment<3>(3 * i);
  const bool rubs = problem.mu()[i] > 0;
  force_slopes(start, contact, contact.R_WC * f, Vec3::Zero(), start.dt, X_);
  const Mat3 W = smoothed_.compliance(problem, i);
  if (rubs) blocks_.push_back({active_, W});
  for (int r = rubs ? 0 : 2; r < 3; ++r) {
    const int a = new_row(problem.R()[3 * i + r] + (rubs ? 0 : W(2, 2)), false);
    if (r == 2 && !add_gap(start, s, i, a)) return "an impact is shared";
    contact_slopes(start, contact, at_end_, J3_, K3_);
    add_share(a, problem, i, r, 1, Side::Both);
  }
  return nullptr;
}

void RigidDerivative::add_smoothed_rows(const Start& start, const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const Coordinate* along = row.coordinate();
    if (!along || problem.lower()[j] == problem.upper()[j]) continue;
    const int o = 3 * problem.nc() + j, k = local_[at(along->dof)];
    const int a = new_row(problem.R()[o] + smoothed_.row_compliance(problem, j), false, k);
    add_whitened(a, problem, o, 1, Side::Both);
    add_row_slopes(start, row, a);
    if (row.is<VelocityTarget>() && problem.R()[o] > 0) add_softness(start, nullptr, a, f_[o], problem.R()[o]);
  }
}

}  // namespace tribo
