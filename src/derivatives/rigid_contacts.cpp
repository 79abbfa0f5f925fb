// Contacts and rows of a rigid step: how they move with q, which of them hold, and dv' with them (deriv.2) to (deriv.5).
//
// A body whose joint j moves has its twist V moved by S_j x V + V_p x S_j (V_p: of the parent of j), so that in the axes of
// the contact, with its point moving by dp and its axes turning by dw,
//   dc = R^T (dV(p) + (w_b - w_a) x dp - dw x c)                                                             (deriv.7)
//   d(J^T f) = (S_j x S) . F + S.ang . (dp x f) + J . (dw x f),  the first for joints j above S or its own     (deriv.8)
#include <algorithm>
#include <cmath>

#include "derivatives/edges.hpp"
#include "derivatives/rigid_derivative.hpp"
#include "dynamics/pairs.hpp"
#include "linalg/clones.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

/// row <- sum of x_r M_r over so many rows, few and short: a call of rows::combine would cost as much. Columns in whole packs
/// around [first, last).
template <int Rows>
[[gnu::always_inline]] inline void sum_rows(const double* x, const double* M, int stride, int first, int last,
                                            double* __restrict row) {
  for (int i = first / 4 * 4; i < last; i += 4) {
    Quad sum = x[0] * load(M + i);
#pragma GCC unroll 6
    for (int r = 1; r < Rows; ++r) sum += x[r] * load(M + r * stride + i);
    store(row + i, sum);
  }
}

/// Four vectors of three as columns from c on.
QUAD_INLINE void put_rows(const Quad& x, const Quad& y, const Quad& z, const Quad& w, RowMatrix& X, int row, int c) {
  const Quad a = pick<0, 4, 2, 6>(x, y), b = pick<1, 5, 3, 7>(x, y);
  const Quad d = pick<0, 4, 2, 6>(z, w), e = pick<1, 5, 3, 7>(z, w);
  store(X.row(row) + c, pick<0, 1, 4, 5>(a, d));
  store(X.row(row + 1) + c, pick<0, 1, 4, 5>(b, e));
  store(X.row(row + 2) + c, pick<2, 3, 6, 7>(a, d));
}

// Which of two distances to zero decides, and how strictly.
bool first_decides(double first, double second, Linearization& lin, bool& weak) {
  const double strict = std::max(first, second);
  lin.margin = std::min(lin.margin, std::max(strict, 0.0));
  if (strict < weak_share) {
    ++lin.weak;
    weak = true;
  }
  return first >= second;
}

}  // namespace

TRIBO_CLONES void RigidDerivative::set_velocities(const Start& start, const VecX& v, bool given,
                                                  Velocities& out) const {
  out.v = &v;
  out.given = given;
  out.V.resize(model_.bodies.size());
  out.psi.resize(at(model_.nv));
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    const Pair parent = body.parent < 0 ? Pair{} : pair_at(out.V[at(body.parent)]);
    Pair V = parent;
    for (int k = body.iv; k < body.iv + dofs(body); ++k) {
      const Pair S = pair_at(start.dynamics.axis(k));
      put(out.psi[at(k)], turned_by(parent, S));
      add(V, {v[k] * S.lin, v[k] * S.ang});
    }
    put(out.V[i], V);
  }
}

// J (3 x dofs of the motion) and the change K of J v with q, in the axes of the contact (deriv.7).
TRIBO_CLONES void RigidDerivative::contact_slopes(const Start& start, const Contact& contact, const Velocities& at_v,
                                                  MatX& J, MatX& K) {
  const int n = static_cast<int>(motion_.dofs().size());
  J.leftCols(n).setZero();
  K.leftCols(n).setZero();
  Quad u{}, w{};  // of b against a
  if (at_v.given) {
    u = given(contact.v_given.data());
    w = given(contact.w_given.data());
  }
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? contact.body_b : contact.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Quad r = given(contact.p_WC.data()) + given((sign > 0 ? contact.arm_b : contact.arm_a).data()) -
                   given(start.dynamics.origin(body.tree).data());
    const Pair V = pair_at(at_v.V[at(b)]);
    const Quad at_p = V.lin + cross(V.ang, r);
    u += sign * at_p;
    w += sign * V.ang;
    for (int j : body.chain) {
      const Pair S = pair_at(start.dynamics.axis(j)), psi = pair_at(at_v.psi[at(j)]);
      const Quad way = S.lin + cross(S.ang, r);
      double *const to_J = J.data() + 3 * motion_.place(j), *const to_K = K.data() + 3 * motion_.place(j);
      store_three(to_J, given(to_J) + sign * way);
      store_three(to_K, given(to_K) + sign * (cross(S.ang, at_p) + cross(way, V.ang) + psi.lin + cross(psi.ang, r)));
    }
  }
  const double* const R = contact.R_WC.data();
  const Columns turn{Quad{R[0], R[3], R[6], 0}, Quad{R[1], R[4], R[7], 0}, Quad{R[2], R[5], R[8], 0}};
  for (int i = 0; i < n; ++i) {
    double *const to_J = J.data() + 3 * i, *const to_K = K.data() + 3 * i;
    Quad move = given(to_K) + cross(w, given(motion_.points() + 3 * i));
    if (motion_.turns()) move -= cross(given(motion_.turnings() + 3 * i), u);
    store_three(to_J, times(turn, given(to_J)));
    store_three(to_K, times(turn, move));
  }
  if (motion_.meets()) add_rates(contact, at_v, {u[0], u[1], u[2]}, K);
}

// The change of the turning about an axis of the contact with q.
void RigidDerivative::turn_slopes(const Start& start, const Contact& contact, const Vec3& axis, const Velocities& at_v,
                                  VecX& K) {
  const int n = static_cast<int>(motion_.dofs().size());
  K.head(n).setZero();
  Vec3 w = at_v.given ? contact.w_given : Vec3::Zero();
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? contact.body_b : contact.body_a;
    if (b < 0) continue;
    const Spatial& V = at_v.V[at(b)];
    w += sign * V.ang;
    for (int j : model_.bodies[at(b)].chain) {
      const Spatial& S = start.dynamics.axis(j);
      const Vec3 turned = S.ang.cross(V.ang) + at_v.psi[at(j)].ang;
      K[motion_.place(j)] += sign * axis.dot(turned);
    }
  }
  for (int i = 0; i < n; ++i) K[i] += motion_.turn(i).cross(axis).dot(w);
  for (int i = 0; i < n && motion_.meets(); ++i) by_v_(0, i) = motion_.rate(i).turn.cross(axis).dot(w);
}

// X += time d(J^T f)/dq of a force at the contact and a torque, both fixed in its axes (deriv.8). Contacts between the same two
// bodies are gathered; add_pulls() ends with the last of them.
TRIBO_CLONES void RigidDerivative::force_slopes(const Start& start, const Contact& contact, const Vec3& f_W,
                                                const Vec3& torque_W, double time, RowMatrix& X) {
  if (pull_.body_a != contact.body_a || pull_.body_b != contact.body_b) {
    add_pulls(start, X);
    pull_.body_a = contact.body_a;
    pull_.body_b = contact.body_b;
    pull_.dofs.clear();
    for (int k : motion_.dofs()) pull_.dofs.push_back(local_[at(k)]);
    for (int s = 0; s < 2; ++s) {
      pull_.sides[at(s)].total = {};
      if ((s == 0 ? pull_.body_b : pull_.body_a) >= 0)
        pull_.sides[at(s)].moved.set_zero(6, static_cast<int>(pull_.dofs.size()));
    }
    pull_.turns = false;
  }
  pull_.turns |= motion_.turns();
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? contact.body_b : contact.body_a;
    if (b < 0) continue;
    Pull::Side& side = pull_.sides[sign > 0 ? 0 : 1];
    const Vec3 arm = sign > 0 ? contact.arm_b : contact.arm_a;
    const Vec3 r = contact.p_WC + arm - start.dynamics.origin(model_.bodies[at(b)].tree);
    const Vec3 f = sign * time * f_W, torque = sign * time * torque_W;
    side.total.lin += f;
    side.total.ang += r.cross(f) + torque;
    for (std::size_t i = 0; i < pull_.dofs.size(); ++i) {
      const int c = static_cast<int>(i);
      Vec3 turned = (motion_.meets() && sign < 0 ? motion_.way(c).on_a : motion_.point(c)).cross(f);
      if (motion_.turns()) {
        const Vec3 dw = motion_.turn(c), df = dw.cross(f);
        turned += r.cross(df) + dw.cross(torque);
        for (int k = 0; k < 3; ++k) side.moved(k, c) += df[k];
      }
      for (int k = 0; k < 3; ++k) side.moved(3 + k, c) += turned[k];
    }
    if (motion_.meets()) add_force_rates(start, b, sign, f, torque, r, X);
  }
}

TRIBO_CLONES void RigidDerivative::add_pulls(const Start& start, RowMatrix& X) {
  for (int s = 0; s < 2; ++s) {
    const int b = s == 0 ? pull_.body_b : pull_.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Pull::Side& side = pull_.sides[at(s)];
    const int depth = static_cast<int>(body.chain.size()), n = static_cast<int>(pull_.dofs.size());
    pull_.turned.resize(6, depth);
    const Pair F = pair_at(side.total);
    for (int i = 0; i < depth; i += 4) {  // S_j x* F, the other way, by four joints
      Pair turned[4] = {};
      for (int k = 0; k < 4 && i + k < depth; ++k) {
        const Pair S = pair_at(start.dynamics.axis(body.chain[at(i + k)]));
        turned[k] = {cross(F.lin, S.ang), cross(F.ang, S.ang) + cross(F.lin, S.lin)};
      }
      put_rows(turned[0].lin, turned[1].lin, turned[2].lin, turned[3].lin, pull_.turned, 0, i);
      put_rows(turned[0].ang, turned[1].ang, turned[2].ang, turned[3].ang, pull_.turned, 3, i);
    }
    pull_.row.resize(std::max(side.moved.stride(), pull_.turned.stride()));
    if (s == 0)  // its chain comes first in dofs
      for (int k = pull_.turns ? 0 : 3; k < 6; ++k)
        for (int i = 0; i < depth; ++i) pull_.turned(k, i) += side.moved(k, i);
    double* row = pull_.row.data();
    int carried = 0;  // joints that carry k, and its own
    for (int k : body.chain) {
      const Spatial& S = start.dynamics.axis(k);
      const double axis[6] = {S.lin.x(), S.lin.y(), S.lin.z(), S.ang.x(), S.ang.y(), S.ang.z()};
      double* x = X.row(local_[at(k)]);
      while (carried < depth && body.chain[at(carried)] < joint_end_[at(k)]) ++carried;
      sum_rows<6>(axis, pull_.turned.data(), pull_.turned.stride(), 0, carried, row);
      for (int i = 0; i < carried; ++i) x[local_[at(body.chain[at(i)])]] += row[i];
      const int first = s == 0 ? carried : 0;
      if (pull_.turns)
        sum_rows<6>(axis, side.moved.row(0), side.moved.stride(), first, n, row);
      else
        sum_rows<3>(axis + 3, side.moved.row(3), side.moved.stride(), first, n, row);
      for (int i = first; i < n; ++i) x[pull_.dofs[at(i)]] += row[i];
    }
  }
  pull_.body_a = pull_.body_b = -1;
}

// A row of the contact whose motion stands, or of one coordinate of the group.
int RigidDerivative::new_row(double compliance, bool slips, int coordinate) {
  if (coordinate >= 0)
    support_.push_back(coordinate);
  else
    for (int k : motion_.dofs()) support_.push_back(local_[at(k)]);
  return open_row(compliance, slips);
}

// A row whose coordinates have been added to support_.
int RigidDerivative::open_row(double compliance, bool slips) {
  const int a = active_++;
  support_first_.push_back(static_cast<int>(support_.size()));
  constexpr int together = 8;  // rows of zeros
  for (RowMatrix* x : {&Yc_, &Yb_, &K_})
    if (a % together == 0) std::fill_n(x->row(a), std::min(together, x->rows() - a) * x->stride(), 0.0);
  R_[a] = compliance;
  slips_[at(a)] = slips;
  seen_[at(a)].pair = -1;
  return a;
}

// For as many rows as there may be.
void RigidDerivative::make_room(int rows) {
  for (RowMatrix* x : {&Yc_, &Yb_}) x->resize(rows, group_.n());
  K_.resize(rows, group_.columns());
  R_.resize(rows);
  slips_.resize(at(rows));
  seen_.resize(at(rows));
}

// Adds a share of an unknown's whitened row to row a.
TRIBO_CLONES void RigidDerivative::add_whitened(RowMatrix& Y, int a, const ContactProblem& problem, int unknown,
                                                double share) {
  const int nc = problem.nc(), block = unknown < 3 * nc ? unknown / 3 : unknown - 2 * nc;
  const int rows = problem.block_size(block), r = unknown - problem.offset(block);
  const ContactFactor& factor = problem.factor;
  double* column = Y.row(a);
  for (int s = factor.start[at(block)]; s < factor.start[at(block + 1)]; ++s) {
    const FactorBlock& b = factor.blocks[at(s)];
    for (int k = 0; k < b.depth; ++k)
      column[factor.index[at(b.index + k)]] += share * factor.y[at(b.first + rows * k + r)];
  }
}

void RigidDerivative::add_whitened(int a, const ContactProblem& problem, int unknown, double share, Side side) {
  if (side != Side::Force) add_whitened(Yc_, a, problem, unknown, share);
  if (side != Side::Constraint) add_whitened(Yb_, a, problem, unknown, share);
}

// Adds a share of the contact's row r to row a: as constraint, as force, or both.
void RigidDerivative::add_share(int a, const ContactProblem& problem, int contact, int r, double share, Side side) {
  const int n = static_cast<int>(motion_.dofs().size()), unknown = 3 * contact + r;
  double* K = K_.row(a);
  const int* dofs = motion_.dofs().data();
  for (int i = 0; i < n && side != Side::Force; ++i) K[local_[at(dofs[i])]] += share * K3_(r, i);
  for (int i = 0; i < n && motion_.meets() && side != Side::Force; ++i)
    add_by_velocity(K_.row(a), dofs[i], share * by_v_(r, i));
  add_whitened(a, problem, unknown, share, side);
}

const char* RigidDerivative::list_active(const Start& start, const IslandSolution& s, Linearization& lin) {
  clear_active();
  take_forces(s);
  int most = s.problem.nr();
  for (int i = 0; i < s.problem.nc(); ++i) most += f_[3 * i + 2] > 0 ? 3 : 0;
  make_room(most);
  for (int i = 0; i < s.problem.nc(); ++i)
    if (const char* why = add_contact(start, s, i, lin)) return why;
  add_pulls(start, X_);
  add_rows(start, s, lin);
  return nullptr;
}

const char* RigidDerivative::add_contact(const Start& start, const IslandSolution& s, int i, Linearization& lin) {
  const ContactProblem& problem = s.problem;
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const Vec3 f = f_.map().segment<3>(3 * i), c = c_.map().segment<3>(3 * i);
  const double F = s.solve.residual.force_scale, acceleration = s.solve.residual.motion_scale, mu = problem.mu()[i];
  const double sliding = c.head<2>().norm(), pulled = f.head<2>().norm();
  const double opening = c.z() - (law_ == ContactModel::Ccp ? mu * sliding : 0);
  LinearizedContact& listed = lin.contacts.emplace_back();
  listed.id = contact.id;
  const bool presses = first_decides(std::max(f.z(), 0.0) / F, opening / acceleration, lin, listed.weak);
  if (!presses || !(f.z() > 0)) return nullptr;
  if (const char* why = follow(start, contact)) return why;
  const bool slips = mu == 0 || !first_decides((mu * f.z() - pulled) / F, sliding / acceleration, lin, listed.weak);
  listed.mode = slips ? ContactMode::Slip : ContactMode::Stick;
  force_slopes(start, contact, contact.R_WC * f, Vec3::Zero(), start.dt, X_);
  const int normal = new_row(problem.R()[3 * i + 2], slips && mu > 0);
  if (!add_gap(start, s, i, normal)) return "an impact is shared";
  contact_slopes(start, contact, at_end_, J3_, K3_);
  add_share(normal, problem, i, 2, 1, Side::Both);
  if (!slips) {
    for (int r = 0; r < 2; ++r) add_share(new_row(problem.R()[3 * i + r], false), problem, i, r, 1, Side::Both);
    see(contact, normal);
  } else if (mu > 0) {
    const double d[2] = {c.x() / sliding, c.y() / sliding};
    for (int r = 0; r < 2; ++r)  // (deriv.4)
      add_share(normal, problem, i, r, -mu * d[r], law_ == ContactModel::Ccp ? Side::Both : Side::Force);
    const int across = new_row(sliding / (mu * f.z()), false);  // c is over dt (deriv.5)
    add_share(across, problem, i, 0, -d[1], Side::Both);
    add_share(across, problem, i, 1, d[0], Side::Both);
  }
  if (slips) add_friction(start, s, i, normal);
  if (wants_forces_ && !listing_now_) note_forces(start, s, i, normal, slips);
  for (const FrictionDisc& disc : problem.discs)
    if (disc.contact == i) add_disc(start, s, disc, normal, lin);
  return nullptr;
}

// Three rows of a contact that sticks: normal, tangents.
void RigidDerivative::see(const Contact& contact, int normal) {
  if (motion_.meets()) return;
  if (contact.body_a != seen_a_ || contact.body_b != seen_b_) ++seen_pairs_;
  seen_a_ = contact.body_a;
  seen_b_ = contact.body_b;
  for (int r = 0; r < 3; ++r)
    seen_[at(normal + r)] = {seen_pairs_, contact.R_WC.col((r + 2) % 3), contact.p_WC + contact.arm_b};
}

// What the gap, or the speed before an impact, adds to the normal row. False where the speed is not the contact's own.
bool RigidDerivative::add_gap(const Start& start, const IslandSolution& s, int i, int normal) {
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const SurfacePair& surface = model_.surface(contact.surface);
  double* K = K_.row(normal);
  const int dofs = static_cast<int>(motion_.dofs().size()), n = group_.n();
  if (s.impact[i] > 1) return false;
  if (s.impact[i] != 0) {  // (rigid.3)
    if (!at_start_.v) set_velocities(start, v_start_, true, at_start_);
    contact_slopes(start, contact, at_start_, J3_, K3_);
    for (int k = 0; k < dofs; ++k) {
      const int l = local_[at(motion_.dofs()[at(k)])];
      K[l] += surface.restitution * K3_(2, k);
      K[n + l] += surface.restitution * J3_(2, k);
      if (motion_.meets()) add_by_velocity(K, motion_.dofs()[at(k)], surface.restitution * by_v_(2, k));
    }
    return true;
  }
  const bool open = contact.gap > 0 && s.problem.g()[3 * i + 2] != s.free[3 * i + 2] / start.dt;
  if (!(surface.compliance > 0) && !open) return true;
  const double time = surface.closing_time(contact.gap, start.dt);
  for (int k = 0; k < dofs; ++k) {  // (rigid.2), (rigid.4)
    K[local_[at(motion_.dofs()[at(k)])]] += motion_.gap(k) / time;
    if (motion_.meets()) add_by_velocity(K, motion_.dofs()[at(k)], motion_.rate(k).gap / time);
  }
  return true;
}

// Torsional or rolling friction of the contact whose motion stands.
void RigidDerivative::add_disc(const Start& start, const IslandSolution& s, const FrictionDisc& disc, int normal,
                               Linearization& lin) {
  const ContactProblem& problem = s.problem;
  const Contact& contact = start.contacts[at(s.island->contacts[at(disc.contact)])];
  const int o = 3 * problem.nc() + disc.row, n = static_cast<int>(motion_.dofs().size());
  const double most = disc.length * f_[3 * disc.contact + 2];
  double c2 = 0, f2 = 0;
  for (int r = 0; r < disc.size; ++r) {
    c2 += c_[o + r] * c_[o + r];
    f2 += f_[o + r] * f_[o + r];
  }
  const double sliding = std::sqrt(c2), F = s.solve.residual.force_scale * disc.length;
  bool weak = false;
  const bool slips = !first_decides((most - std::sqrt(f2)) / F, sliding / s.solve.residual.motion_scale, lin, weak);
  const int first = active_;
  if (!slips)
    for (int r = 0; r < disc.size; ++r) new_row(problem.R()[o + r], false);
  else if (disc.size == 2)
    new_row(sliding / most, false);
  for (int r = 0; r < disc.size; ++r) {
    const Vec3 axis = view_->rows()[s.island->rows[at(disc.row + r)]].bodies()->axis;
    turn_slopes(start, contact, axis, at_end_, K_row_);
    force_slopes(start, contact, Vec3::Zero(), f_[o + r] * axis, start.dt, X_);
    const auto add = [&](int a, double share, Side side) {
      for (int i = 0; i < n && side == Side::Both; ++i) {
        const int k = motion_.dofs()[at(i)];
        K_(a, local_[at(k)]) += share * K_row_[i];
        if (motion_.meets()) add_by_velocity(K_.row(a), k, share * by_v_(0, i));
      }
      add_whitened(a, problem, o + r, share, side);
    };
    if (!slips) {
      add(first + r, 1, Side::Both);
      continue;
    }
    add(normal, -disc.length * c_[o + r] / sliding, Side::Force);  // as (deriv.4)
    if (disc.size == 2) add(first, (r == 0 ? -c_[o + 1] : c_[o]) / sliding, Side::Both);
  }
  if (slips) slips_[at(normal)] = 1;
}

// What q and the inputs add to the row of a coordinate.
void RigidDerivative::add_row_slopes(const Start& start, const Row& row, int active) {
  const Actuation& a = view_->actuation();
  const Coordinate* along = row.coordinate();
  const int k = local_[at(along->dof)];
  double* K = K_.row(active);
  const double gain = implicit_drive(a, along->dof, start.dt).gain;
  if (row.is<LimitLaw>() && row.bias > 0) K[k] += along->sign / start.dt;
  if (row.is<LimitedDrive>()) K[k] += a.kp[along->dof] / gain;
  if (row.drives() && input_column(along->dof) >= 0)
    K[input_column(along->dof)] -= row.is<VelocityTarget>() ? 1 : 1 / gain;
  add_parameter_rows(start, row, active);
}

// Limits, dry friction, targets and drives at their limits: those that hold.
void RigidDerivative::add_rows(const Start& start, const IslandSolution& s, Linearization& lin) {
  const ContactProblem& problem = s.problem;
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const int o = 3 * problem.nc() + j;
    const Coordinate* along = row.coordinate();
    if (row.is<EqualityPart>()) add_equality(start, s, j, f_[o], at_end_, X_);
    const bool tendon = std::holds_alternative<TendonLength>(row.along);
    if (row.is<EqualityPart>() || (!along && !tendon) || problem.lower()[j] == problem.upper()[j]) continue;
    bool weak = false;
    const double inside = room_inside(problem, j, f_[o], s.solve.residual.force_scale);
    if (!first_decides(inside, std::abs(c_[o]) / s.solve.residual.motion_scale, lin, weak)) {
      add_bounds(start, row, f_[o]);
      if (tendon && f_[o] != 0) add_tendon(start, s, j, f_[o], false);
      continue;
    }
    if (tendon) {
      add_tendon(start, s, j, f_[o], true);
      continue;
    }
    const int k = local_[at(along->dof)], active = new_row(problem.R()[o], false, k);
    add_whitened(active, problem, o, 1, Side::Both);
    add_row_slopes(start, row, active);
    if (row.is<VelocityTarget>() && R_[active] > 0) add_softness(start, nullptr, active, f_[o], R_[active]);
  }
}

}  // namespace tribo
