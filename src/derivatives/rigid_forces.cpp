// How the forces of contacts move, for sensors: dp of (deriv.2), with the axes of each contact.
//
//   df = dp/dt of its rows;  df_T = -mu d df_N + e dp_e/dt - dmu f_N d where it slips along d, e across it      (force.1)
//   df_W = R df + dw x f_W
// Rows that were left out, since they depend on others, may take any share. With N = M N_chosen the rows that hold without R,
//   dp = M (M^T M)^-1 dp_chosen                                                                                 (force.2)
// is the smallest that does the same; a row is unique where M (M^T M)^-1 M^T has a 1 on its diagonal.
#include <algorithm>
#include <cmath>

#include "derivatives/rigid_derivative.hpp"

namespace tribo {
namespace {

constexpr double as_good_as_one = 1e-9;

}  // namespace

// Of the contact whose motion stands.
void RigidDerivative::note_forces(const Start& start, const IslandSolution& s, int i, int normal, bool slips) {
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const Vec3 f = f_.map().segment<3>(3 * i);
  const double cx = c_[3 * i], cy = c_[3 * i + 1], sliding = std::hypot(cx, cy);
  ContactForces::One& one = forces_out_.add();
  one.id = contact.id;
  one.geometry_a = contact.geometry_a;
  one.geometry_b = contact.geometry_b;
  one.f_W = contact.R_WC * f;
  one.n_W = contact.R_WC.col(2);
  const bool along = slips && sliding > 0;
  force_rows_.push_back({forces_out_.all.size() - 1,
                         normal,
                         slips,
                         s.problem.mu()[i],
                         {along ? cx / sliding : 0, along ? cy / sliding : 0},
                         contact.R_WC,
                         contact.surface});
  const int first = 3 * static_cast<int>(force_rows_.size() - 1);
  if (first == 0) turned_rows_.set_zero(3 * std::max(1, s.problem.nc()), group_.columns());
  for (std::size_t k = 0; k < motion_.dofs().size() && motion_.turns(); ++k) {
    const Vec3 dw = motion_.turn(static_cast<int>(k));
    for (int r = 0; r < 3; ++r) {
      turned_rows_(first + r, local_[at(motion_.dofs()[k])]) += dw[r];
      if (motion_.meets())
        add_by_velocity(turned_rows_.row(first + r), motion_.dofs()[k], motion_.rate(static_cast<int>(k)).turn[r]);
    }
  }
}

// Once the rows are solved for, with what they carry in rhs_.
void RigidDerivative::store_forces(const Start& start, bool unique) {
  if (force_rows_.empty()) return;
  impulses_.set_zero(active_, group_.columns());
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    for (int c = 0; c < group_.columns(); ++c) impulses_(chosen_[i], c) = -rhs_(static_cast<int>(i), c);
  unique_rows_.assign(at(active_), unique);
  if (unique) share_impulses();
  for (const ForceRows& rows : force_rows_) store_force(rows, start.dt);
}

// (force.2)
void RigidDerivative::share_impulses() {
  const int n = group_.n();
  rigid_.clear();
  int kept = 0;
  for (int a = 0; a < active_; ++a) {
    const bool taken = std::find(chosen_.begin(), chosen_.end(), a) != chosen_.end();
    if (R_[a] != 0 && taken) continue;
    rigid_.push_back(a);
    kept += taken;
  }
  const int m = static_cast<int>(rigid_.size());
  if (kept == m || kept == 0) return;
  all_rows_.resize(m, n);
  shared_rows_.resize(kept, n);
  for (int i = 0, k = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) all_rows_(i, j) = Yb_(rigid_[at(i)], j);
    if (std::find(chosen_.begin(), chosen_.end(), rigid_[at(i)]) != chosen_.end())
      shared_rows_.row(k++) = all_rows_.row(i);
  }
  grams_.noalias() = shared_rows_ * shared_rows_.transpose();
  gram_.compute(grams_);
  shared_.noalias() = shared_rows_ * all_rows_.transpose();
  gram_.solveInPlace(shared_);  // M^T
  grams_.noalias() = shared_ * shared_.transpose();
  gram_.compute(grams_);
  all_rows_ = shared_;
  gram_.solveInPlace(all_rows_);  // (M^T M)^-1 M^T
  for (int i = 0; i < m; ++i)
    unique_rows_[at(rigid_[at(i)])] = all_rows_.col(i).dot(shared_.col(i)) > 1 - as_good_as_one;
  shared_rows_.resize(kept, group_.columns());
  for (int i = 0, k = 0; i < m; ++i) {
    if (std::find(chosen_.begin(), chosen_.end(), rigid_[at(i)]) == chosen_.end()) continue;
    for (int c = 0; c < group_.columns(); ++c) shared_rows_(k, c) = impulses_(rigid_[at(i)], c);
    ++k;
  }
  grams_.noalias() = all_rows_.transpose() * shared_rows_;
  for (int i = 0; i < m; ++i)
    for (int c = 0; c < group_.columns(); ++c) impulses_(rigid_[at(i)], c) = grams_(i, c);
}

// (force.1)
void RigidDerivative::store_force(const ForceRows& rows, double dt) {
  ContactForces::One& one = forces_out_.all[rows.contact];
  const int n = group_.n(), nv = model_.nv, turn = 3 * static_cast<int>(&rows - force_rows_.data());
  const int more = !rows.slips ? 3 : rows.mu > 0 ? 2 : 1;
  one.unique_normal = unique_rows_[at(rows.normal)] != 0;
  one.unique = true;
  for (int r = 0; r < more; ++r) one.unique &= unique_rows_[at(rows.normal + r)] != 0;
  const double pressed = one.f_W.dot(one.n_W);
  for (int c = 0; c < group_.columns(); ++c) {
    Vec3 df(0, 0, impulses_(rows.normal, c) / dt);
    if (!rows.slips) {
      for (int r = 0; r < 2; ++r) df[r] = impulses_(rows.normal + 1 + r, c) / dt;
    } else if (rows.mu > 0) {
      const double across = impulses_(rows.normal + 1, c) / dt;
      df[0] = -rows.mu * rows.along[0] * df[2] - rows.along[1] * across;
      df[1] = -rows.mu * rows.along[1] * df[2] + rows.along[0] * across;
    }
    for (const auto& [index, column] : group_.parameters)
      if (c == column && rows.slips && rubs_on(model_, parameters_[at(index)], rows.surface))
        for (int r = 0; r < 2; ++r) df[r] -= pressed * rows.along[r];
    const Vec3 dw(turned_rows_(turn, c), turned_rows_(turn + 1, c), turned_rows_(turn + 2, c));
    const Vec3 df_W = rows.R * df + dw.cross(one.f_W);
    const int column = c < n       ? group_.dofs[at(c)]
                       : c < 2 * n ? nv + group_.dofs[at(c - n)]
                                   : 2 * nv + group_.inputs[at(c - 2 * n)];
    for (int r = 0; r < 3; ++r) forces_out_.slopes(column, static_cast<Eigen::Index>(4 * rows.contact) + r) = df_W[r];
    forces_out_.slopes(column, static_cast<Eigen::Index>(4 * rows.contact) + 3) = df[2];
  }
}

}  // namespace tribo
