// Contacts and rows of a rigid step: how they move with q, which of them hold, and dv' with them (deriv.2) to (deriv.5).
//
// A body whose joint j moves has its twist V moved by S_j x V + V_p x S_j (V_p: of the parent of j), so that in the axes of
// the contact, with its point moving by dp and its axes turning by dw,
//   dc = R^T (dV(p) + (w_b - w_a) x dp - dw x c)                                                             (deriv.7)
//   d(J^T f) = (S_j x S) . F + S.ang . (dp x f) + J . (dw x f),  the first for joints j above S or its own     (deriv.8)
#include <algorithm>
#include <cmath>

#include "derivatives/rigid_derivative.hpp"
#include "linalg/dense.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr double weak_share = 1e-6;           // of the scales of a problem: nearer to its edge a mode is weak
constexpr double dependent = 1e-8;            // of a row's length: less is left of it beside the others
constexpr double clearly_independent = 1e-5;  // of its squared length
constexpr double middle_tolerance = 1e-10;    // of the solution in the middle, relative
constexpr double least_forces = 1e-9;  // of the diagonal of G: picks forces of least norm where they are not unique

[[gnu::always_inline]] inline Spatial cross(const Spatial& a, const Spatial& b) {
  return {a.ang.cross(b.lin) + a.lin.cross(b.ang), a.ang.cross(b.ang)};
}

// How far the force of a row is from its bounds, as a share of them, or of F where it has only one.
double room_inside(const ContactProblem& problem, int j, double f, double F) {
  const double lower = problem.lower()[j], upper = problem.upper()[j], room = std::min(f - lower, upper - f);
  if (!std::isfinite(room)) return 1;
  return room / (std::isfinite(upper - lower) ? 0.5 * (upper - lower) : F);
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

void RigidDerivative::set_velocities(const Start& start, const VecX& v, bool given, Velocities& out) const {
  out.v = &v;
  out.given = given;
  out.V.resize(model_.bodies.size());
  out.psi.resize(at(model_.nv));
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    const Spatial parent = body.parent < 0 ? Spatial{} : out.V[at(body.parent)];
    Spatial V = parent;
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      out.psi[at(k)] = cross(parent, start.dynamics.axis(k));
      V.lin += v[k] * start.dynamics.axis(k).lin;
      V.ang += v[k] * start.dynamics.axis(k).ang;
    }
    out.V[i] = V;
  }
}

// J (3 x dofs of the motion) and the change K of J v with q, in the axes of the contact (deriv.7).
void RigidDerivative::contact_slopes(const Start& start, const Contact& contact, const Velocities& at_v, MatX& J,
                                     MatX& K) {
  const int n = static_cast<int>(motion_.dofs().size());
  J.leftCols(n).setZero();
  K.leftCols(n).setZero();
  Vec3 u = Vec3::Zero(), w = Vec3::Zero();  // of b against a
  if (at_v.given) {
    u = contact.v_given;
    w = contact.w_given;
  }
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? contact.body_b : contact.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Vec3 r = contact.p_WC - start.dynamics.origin(body.tree);
    const Spatial& V = at_v.V[at(b)];
    u += sign * (V.lin + V.ang.cross(r));
    w += sign * V.ang;
    for (int j : body.chain) {
      const Spatial& S = start.dynamics.axis(j);
      const Spatial turned = cross(S, V), &psi = at_v.psi[at(j)];
      const int i = motion_.place(j);
      J.col(i) += sign * (S.lin + S.ang.cross(r));
      K.col(i) += sign * (turned.lin + psi.lin + (turned.ang + psi.ang).cross(r));
    }
  }
  for (int i = 0; i < n; ++i) {
    Vec3 move = Vec3(K.col(i)) + w.cross(motion_.point(i));
    if (motion_.turns()) move -= motion_.turn(i).cross(u);
    J.col(i) = contact.R_WC.transpose() * Vec3(J.col(i));
    K.col(i) = contact.R_WC.transpose() * move;
  }
}

// The same of the turning about an axis of the contact.
void RigidDerivative::turn_slopes(const Start& start, const Contact& contact, const Vec3& axis, const Velocities& at_v,
                                  VecX& J, VecX& K) {
  const int n = static_cast<int>(motion_.dofs().size());
  J.head(n).setZero();
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
      J[motion_.place(j)] += sign * axis.dot(S.ang);
      K[motion_.place(j)] += sign * axis.dot(turned);
    }
  }
  for (int i = 0; i < n; ++i) K[i] += motion_.turn(i).cross(axis).dot(w);
}

// X += time d(J^T f)/dq of a force at the contact and a torque, both fixed in its axes (deriv.8). Contacts between the same two
// bodies are gathered; add_pulls() ends with the last of them.
void RigidDerivative::force_slopes(const Start& start, const Contact& contact, const Vec3& f_W, const Vec3& torque_W,
                                   double time, RowMatrix& X) {
  if (pull_.body_a != contact.body_a || pull_.body_b != contact.body_b) {
    add_pulls(start, X);
    pull_.body_a = contact.body_a;
    pull_.body_b = contact.body_b;
    pull_.dofs.clear();
    for (int k : motion_.dofs()) pull_.dofs.push_back(local_[at(k)]);
    for (Pull::Side& side : pull_.sides) {
      side.total = {};
      side.moved.set_zero(6, static_cast<int>(pull_.dofs.size()));
    }
    pull_.turns = false;
  }
  pull_.turns |= motion_.turns();
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? contact.body_b : contact.body_a;
    if (b < 0) continue;
    Pull::Side& side = pull_.sides[sign > 0 ? 0 : 1];
    const Vec3 r = contact.p_WC - start.dynamics.origin(model_.bodies[at(b)].tree);
    const Vec3 f = sign * time * f_W, torque = sign * time * torque_W;
    side.total.lin += f;
    side.total.ang += r.cross(f) + torque;
    for (std::size_t i = 0; i < pull_.dofs.size(); ++i) {
      const int c = static_cast<int>(i);
      Vec3 turned = motion_.point(c).cross(f);
      if (motion_.turns()) {
        const Vec3 dw = motion_.turn(c), df = dw.cross(f);
        turned += r.cross(df) + dw.cross(torque);
        for (int k = 0; k < 3; ++k) side.moved(k, c) += df[k];
      }
      for (int k = 0; k < 3; ++k) side.moved(3 + k, c) += turned[k];
    }
  }
}

void RigidDerivative::add_pulls(const Start& start, RowMatrix& X) {
  for (int s = 0; s < 2; ++s) {
    const int b = s == 0 ? pull_.body_b : pull_.body_a;
    if (b < 0) continue;
    const Body& body = model_.bodies[at(b)];
    const Pull::Side& side = pull_.sides[at(s)];
    const int depth = static_cast<int>(body.chain.size()), n = static_cast<int>(pull_.dofs.size());
    pull_.turned.resize(6, depth);
    for (int i = 0; i < depth; ++i) {  // S_j x* F, the other way
      const Spatial &S = start.dynamics.axis(body.chain[at(i)]), &F = side.total;
      const Vec3 lin = F.lin.cross(S.ang), ang = F.ang.cross(S.ang) + F.lin.cross(S.lin);
      for (int k = 0; k < 3; ++k) {
        pull_.turned(k, i) = lin[k];
        pull_.turned(3 + k, i) = ang[k];
      }
    }
    pull_.row.resize(std::max(side.moved.stride(), pull_.turned.stride()));
    double* row = pull_.row.data();
    for (int k : body.chain) {
      const Spatial& S = start.dynamics.axis(k);
      const double axis[6] = {S.lin.x(), S.lin.y(), S.lin.z(), S.ang.x(), S.ang.y(), S.ang.z()};
      double* x = X.row(local_[at(k)]);
      std::fill_n(row, side.moved.stride(), 0.0);
      const int skipped = pull_.turns ? 0 : 3;
      rows::combine(1, row, side.moved.row(skipped), side.moved.stride(), axis + skipped, 6 - skipped,
                    side.moved.stride());
      for (int i = 0; i < n; ++i) x[pull_.dofs[at(i)]] += row[i];
      std::fill_n(row, pull_.turned.stride(), 0.0);
      rows::combine(1, row, pull_.turned.data(), pull_.turned.stride(), axis, 6, pull_.turned.stride());
      for (int i = 0; i < depth && body.chain[at(i)] < joint_end_[at(k)]; ++i)
        x[local_[at(body.chain[at(i)])]] += row[i];
    }
  }
  pull_.body_a = pull_.body_b = -1;
}

// A row of the contact whose motion stands, or of one coordinate of the group.
int RigidDerivative::new_row(double compliance, bool slips, int coordinate) {
  const int n = group_.n(), a = active_++;
  if (coordinate >= 0)
    support_.push_back(coordinate);
  else
    for (int k : motion_.dofs()) support_.push_back(local_[at(k)]);
  support_first_.push_back(static_cast<int>(support_.size()));
  for (RowMatrix* x : {&Jc_, &Jb_, &Yc_, &Yb_}) x->resize(active_, n);
  K_.resize(active_, group_.columns());
  for (RowMatrix* x : {&Jc_, &Jb_, &Yc_, &Yb_, &K_}) std::fill_n(x->row(a), x->stride(), 0.0);
  R_.resize(active_);
  R_[a] = compliance;
  slips_.resize(at(active_));
  slips_[at(a)] = slips;
  return a;
}

// Adds a share of an unknown's whitened row to row a.
void RigidDerivative::add_whitened(RowMatrix& Y, int a, const ContactProblem& problem, int unknown, double share) {
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

// Adds a share of the contact's row r to row a: as constraint, as force, or both.
void RigidDerivative::add_share(int a, const ContactProblem& problem, int contact, int r, double share, Side side) {
  const int n = static_cast<int>(motion_.dofs().size()), unknown = 3 * contact + r;
  double *Jc = Jc_.row(a), *Jb = Jb_.row(a), *K = K_.row(a);
  for (int i = 0; i < n; ++i) {
    const int l = local_[at(motion_.dofs()[at(i)])];
    if (side != Side::Force) Jc[l] += share * J3_(r, i);
    if (side != Side::Force) K[l] += share * K3_(r, i);
    if (side != Side::Constraint) Jb[l] += share * J3_(r, i);
  }
  if (side != Side::Force) add_whitened(Yc_, a, problem, unknown, share);
  if (side != Side::Constraint) add_whitened(Yb_, a, problem, unknown, share);
}

// The forces that modes are read from. Where some contact is at the edge of its mode forces may not be unique, and another
// solution may have it strictly inside: the one in the middle of all solutions, which interior points tend to, has modes that
// do not depend on the solver                                                                            (deriv.12)
void RigidDerivative::take_forces(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const int n = problem.size();
  f_.resize(n);
  c_.resize(n);
  f_.map() = s.f.map();
  c_.map() = s.c.map();
  if (law_ != ContactModel::Ncp || !any_weak(s) || share_evenly(s)) return;
  middle_.setZero(n);
  const SolveReport report = interior_.solve(problem, Tolerance{0, middle_tolerance}, middle_.map());
  if (report.status != SolveStatus::Converged) return;
  f_.map() = middle_.map();
  problem.velocity(f_.data(), c_.data());
  if (!any_weak(s)) return;
  f_.map() = s.f.map();  // it is at the edge in all of them
  c_.map() = s.c.map();
}

// Contacts that stick, and rows that hold, may share their load in other ways: d has those at the edge inside, and the forces
// next to d that do what the present ones do are a solution too. Where no contact is at the edge in it, no solve is needed.
bool RigidDerivative::share_evenly(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  share_joints(s);
  if (!any_weak(s)) return true;
  if (!problem.discs.empty() || !list_holding(s)) return false;
  const int n = static_cast<int>(rigid_.size());
  Q_.set_zero(n, group_.n());
  middle_.resize(4 * n);
  double *before = middle_.data(), *inside = before + n, *rest = inside + n, *d = rest + n;
  for (int k = 0; k < n; ++k) {
    add_whitened(Q_, k, problem, rigid_[at(k)], 1);
    before[k] = f_[rigid_[at(k)]];
  }
  move_inside(s, d);
  qr_.compute(Q_, n, dependent);
  for (int k = 0; k < n; ++k) rest[k] = before[k] - d[k];
  qr_.least(Q_, rest, inside);
  for (double share : {1.0, 0.25, 0.0625}) {
    for (int k = 0; k < n; ++k) f_[rigid_[at(k)]] = before[k] + share * (d[k] + inside[k] - before[k]);
    if (within_cones(s) && !any_weak(s)) return true;
  }
  for (int k = 0; k < n; ++k) f_[rigid_[at(k)]] = before[k];
  return false;
}

// Two rows of one joint that both hold: what one lacks to be inside its bounds the other takes over.
void RigidDerivative::share_joints(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const int first = 3 * problem.nc();
  const double F = s.solve.residual.force_scale, still = weak_share * s.solve.residual.motion_scale;
  const auto along = [&](int j) -> const Coordinate* {  // where it holds
    const bool holds = problem.lower()[j] < problem.upper()[j] && problem.R()[first + j] == 0;
    return holds && std::abs(c_[first + j]) < still ? view_->rows()[s.island->rows[at(j)]].coordinate() : nullptr;
  };
  for (int j = 0; j < problem.nr(); ++j) {
    const Coordinate* joint = along(j);
    if (!joint || room_inside(problem, j, f_[first + j], F) >= weak_share) continue;
    for (int i = 0; i < problem.nr(); ++i) {
      const Coordinate* other = i == j ? nullptr : along(i);
      if (!other || other->dof != joint->dof) continue;
      const double room = std::min(f_[first + i] - problem.lower()[i], problem.upper()[i] - f_[first + i]);
      const double up = f_[first + j] - problem.lower()[j], down = problem.upper()[j] - f_[first + j];
      const double move = (up < down ? 0.5 : -0.5) * std::min({room, F, std::max(up, down)});
      if (!(room > 0)) continue;
      f_[first + j] += move;
      f_[first + i] -= move * joint->sign / other->sign;
      break;
    }
  }
}

// Unknowns of contacts and rows without motion; false where there are none, or some give way.
bool RigidDerivative::list_holding(const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const double still = weak_share * s.solve.residual.motion_scale;
  rigid_.clear();
  for (int i = 0; i < problem.nc(); ++i) {
    const double* c = c_.data() + 3 * i;
    if (std::max(c[2], std::hypot(c[0], c[1])) >= still) continue;
    for (int r = 0; r < 3; ++r) {
      if (problem.R()[3 * i + r] != 0) return false;
      rigid_.push_back(3 * i + r);
    }
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    if (problem.lower()[j] < problem.upper()[j] && problem.R()[o] == 0 && std::abs(c_[o]) < still) rigid_.push_back(o);
  }
  return !rigid_.empty();
}

// Forces of the unknowns that hold, those at the edge moved off it.
void RigidDerivative::move_inside(const IslandSolution& s, double* d) const {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale;
  for (std::size_t k = 0; k < rigid_.size(); ++k) {
    const int u = rigid_[k];
    d[k] = f_[u];
    if (u < 3 * problem.nc()) {
      const double* f = f_.data() + u / 3 * 3;
      const double mu = problem.mu()[u / 3];
      if (u % 3 == 2)
        d[k] = std::max(f[2], 0.1 * F / problem.nc());
      else if (mu * f[2] - std::hypot(f[0], f[1]) < 0.1 * mu * f[2])
        d[k] *= 0.8;
      continue;
    }
    const int j = u - 3 * problem.nc();
    const double lower = problem.lower()[j], upper = problem.upper()[j];
    const double room = std::isfinite(upper - lower) ? 0.1 * (upper - lower) : 1e-2 * F;
    d[k] = std::min(std::max(d[k], lower + room), upper - room);
  }
}

bool RigidDerivative::within_cones(const IslandSolution& s) const {
  const double least = weak_share * s.solve.residual.force_scale;
  for (int u : rigid_) {
    if (u >= 3 * s.problem.nc()) {
      const int j = u - 3 * s.problem.nc();
      if (f_[u] < s.problem.lower()[j] || f_[u] > s.problem.upper()[j]) return false;
    } else if (u % 3 == 2) {
      const double* f = f_.data() + u - 2;
      if (!(s.problem.mu()[u / 3] * f[2] - std::hypot(f[0], f[1]) >= least)) return false;
    }
  }
  return true;
}

// Is a contact, or a row, at the edge of its mode?
bool RigidDerivative::any_weak(const IslandSolution& s) const {
  const ContactProblem& problem = s.problem;
  const double F = s.solve.residual.force_scale, a = s.solve.residual.motion_scale;
  for (int i = 0; i < problem.nc(); ++i) {
    const double *f = f_.data() + 3 * i, *c = c_.data() + 3 * i, mu = problem.mu()[i];
    if (std::max(f[2] / F, c[2] / a) < weak_share) return true;
    if (f[2] / F < weak_share || mu == 0) continue;
    if (std::max((mu * f[2] - std::hypot(f[0], f[1])) / F, std::hypot(c[0], c[1]) / a) < weak_share) return true;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const bool decided = row.is<TurnFriction>() || problem.lower()[j] == problem.upper()[j];
    if (!decided && std::max(room_inside(problem, j, f_[o], F), std::abs(c_[o]) / a) < weak_share) return true;
  }
  return false;
}

const char* RigidDerivative::list_active(const Start& start, const IslandSolution& s, Linearization& lin) {
  clear_active();
  take_forces(s);
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
  const double sliding = std::hypot(c.x(), c.y()), pulled = std::hypot(f.x(), f.y());
  const double opening = c.z() - (law_ == ContactModel::Ccp ? mu * sliding : 0);
  LinearizedContact& listed = lin.contacts.emplace_back();
  listed.id = contact.id;
  const bool presses = first_decides(std::max(f.z(), 0.0) / F, opening / acceleration, lin, listed.weak);
  if (!presses || !(f.z() > 0)) return nullptr;
  if (!contact.arm_a.isZero(0) || !contact.arm_b.isZero(0)) return "shapes that move meet within the step";
  if (!motion_.compute(start, contact, margin_)) return "a contact changes its features within its query";
  const bool slips = mu == 0 || !first_decides((mu * f.z() - pulled) / F, sliding / acceleration, lin, listed.weak);
  listed.mode = slips ? ContactMode::Slip : ContactMode::Stick;
  force_slopes(start, contact, contact.R_WC * f, Vec3::Zero(), start.dt, X_);
  const int normal = new_row(problem.R()[3 * i + 2], slips && mu > 0);
  if (!add_gap(start, s, i, normal)) return "an impact is shared";
  contact_slopes(start, contact, at_end_, J3_, K3_);
  add_share(normal, problem, i, 2, 1, Side::Both);
  if (!slips) {
    for (int r = 0; r < 2; ++r) add_share(new_row(problem.R()[3 * i + r], false), problem, i, r, 1, Side::Both);
  } else if (mu > 0) {
    const double d[2] = {c.x() / sliding, c.y() / sliding};
    for (int r = 0; r < 2; ++r)  // (deriv.4)
      add_share(normal, problem, i, r, -mu * d[r], law_ == ContactModel::Ccp ? Side::Both : Side::Force);
    const int across = new_row(sliding / (mu * f.z()), false);  // c is over dt (deriv.5)
    add_share(across, problem, i, 0, -d[1], Side::Both);
    add_share(across, problem, i, 1, d[0], Side::Both);
  }
  for (const FrictionDisc& disc : problem.discs)
    if (disc.contact == i) add_disc(start, s, disc, normal, lin);
  return nullptr;
}

// What the gap, or the speed before an impact, adds to the normal row. False where the speed is not the contact's own.
bool RigidDerivative::add_gap(const Start& start, const IslandSolution& s, int i, int normal) {
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const SurfacePair& surface = model_.surface(contact.surface);
  double* K = K_.row(normal);
  const int dofs = static_cast<int>(motion_.dofs().size()), n = group_.n();
  if (s.impact[i] > 1) return false;
  if (s.impact[i] != 0) {  // (rigid.3)
    contact_slopes(start, contact, at_start_, J3_, K3_);
    for (int k = 0; k < dofs; ++k) {
      const int l = local_[at(motion_.dofs()[at(k)])];
      K[l] += surface.restitution * K3_(2, k);
      K[n + l] += surface.restitution * J3_(2, k);
    }
    return true;
  }
  const bool open = contact.gap > 0 && s.problem.g()[3 * i + 2] != s.free[3 * i + 2] / start.dt;
  if (!(surface.compliance > 0) && !open) return true;
  for (int k = 0; k < dofs; ++k)  // (rigid.2), (rigid.4)
    K[local_[at(motion_.dofs()[at(k)])]] += motion_.gap(k) / start.dt;
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
    turn_slopes(start, contact, axis, at_end_, J_row_, K_row_);
    force_slopes(start, contact, Vec3::Zero(), f_[o + r] * axis, start.dt, X_);
    const auto add = [&](int a, double share, Side side) {
      for (int i = 0; i < n; ++i) {
        const int l = local_[at(motion_.dofs()[at(i)])];
        if (side == Side::Both) Jc_(a, l) += share * J_row_[i];
        if (side == Side::Both) K_(a, l) += share * K_row_[i];
        Jb_(a, l) += share * J_row_[i];
      }
      if (side == Side::Both) add_whitened(Yc_, a, problem, o + r, share);
      add_whitened(Yb_, a, problem, o + r, share);
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

// Limits, dry friction, targets and drives at their limits: those that hold.
void RigidDerivative::add_rows(const Start& start, const IslandSolution& s, Linearization& lin) {
  const ContactProblem& problem = s.problem;
  const Actuation& a = start.actuation;
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = view_->rows()[s.island->rows[at(j)]];
    const int o = 3 * problem.nc() + j;
    const Coordinate* along = row.coordinate();
    if (!along || problem.lower()[j] == problem.upper()[j]) continue;
    bool weak = false;
    const double inside = room_inside(problem, j, f_[o], s.solve.residual.force_scale);
    if (!first_decides(inside, std::abs(c_[o]) / s.solve.residual.motion_scale, lin, weak)) continue;
    const int k = local_[at(along->dof)], active = new_row(problem.R()[o], false, k);
    Jc_(active, k) = Jb_(active, k) = along->sign;
    add_whitened(Yc_, active, problem, o, 1);
    add_whitened(Yb_, active, problem, o, 1);
    double* K = K_.row(active);
    const double gain = implicit_drive(a, along->dof, start.dt).gain;
    if (row.is<LimitLaw>() && row.error > 0) K[k] += along->sign / start.dt;
    if (row.is<LimitedDrive>()) K[k] += a.kp[along->dof] / gain;
    if (row.drives() && input_column(along->dof) >= 0)
      K[input_column(along->dof)] -= row.is<VelocityTarget>() ? 1 : 1 / gain;
  }
}

// Mt^-1 on the first columns of X, tree by tree. Trees that fly have none.
void RigidDerivative::smooth_solve(RowMatrix& X, int columns) {
  int first = 0;
  for (int t : group_.trees) {
    if (!view_->flight().flies(t)) trees_.solve(t, X, first, columns);
    first += model_.trees[at(t)].nv;
  }
}

// X: right-hand sides in, dv' out (deriv.2), (deriv.3). Those behind the first `columns` are zero.
bool RigidDerivative::solve_active(RowMatrix& X, int columns, Linearization& lin) {
  smooth_solve(X, columns);
  if (active_ == 0) return true;
  const bool plain = choose_rows(lin);
  const int m = static_cast<int>(chosen_.size()), n = group_.n(), stride = X.stride();
  U_.resize(n, m);
  rhs_.resize(m, X.cols());
  for (int i = 0; i < m; ++i) {
    const int a = chosen_[at(i)], first = support_first_[at(a)], count = support_first_[at(a + 1)] - first;
    for (int k = 0; k < n; ++k) U_(k, i) = Jb_(a, k);
    std::copy_n(K_.row(a), stride, rhs_.row(i));
    for (int k = 0; k < count; ++k) entry_[k] = Jc_(a, support_[at(first + k)]);
    rows::combine(1, rhs_.row(i), X.data(), stride, support_.data() + first, entry_.data(), count,
                  (columns + 3) / 4 * 4);
  }
  smooth_solve(U_, m);
  if (plain) {
    qr_.solve(rhs_);
  } else {
    S_.resize(m, m);
    auto S = S_.map();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        S(i, j) = rows::dot(Yc_.row(chosen_[at(i)]), Yb_.row(chosen_[at(j)]), n) + (i == j ? R_[chosen_[at(i)]] : 0);
    pivot_.resize(at(m));
    if (!dense::lu(S_.data(), m, pivot_.data())) return false;
    rows::lu_solve(S_.data(), m, pivot_.data(), rhs_);
  }
  for (int k = 0; k < n; ++k) {
    double* u = U_.row(k);
    for (int i = 0; i < m; ++i) u[i] = -u[i];
    rows::combine(1, X.row(k), rhs_.data(), stride, u, m, stride);
  }
  return true;
}

// Whitened rows into Q, coordinates that none of them moves left out.
void RigidDerivative::gather(const std::vector<int>& rows) {
  const int n = group_.n(), count = static_cast<int>(rows.size());
  nonzero_.clear();
  for (int k = 0; k < n; ++k) {
    bool any = false;
    for (int i = 0; i < count && !any; ++i) any = Yc_(rows[at(i)], k) != 0;
    if (any) nonzero_.push_back(k);
  }
  Q_.set_zero(count, static_cast<int>(nonzero_.size()));
  for (int i = 0; i < count; ++i) {
    const double* y = Yc_.row(rows[at(i)]);
    double* q = Q_.row(i);
    for (std::size_t k = 0; k < nonzero_.size(); ++k) q[k] = y[nonzero_[k]];
  }
}

// The rows to solve for: all with compliance, and of the others as many as are independent. True where the factor of
// these is the whole matrix.
bool RigidDerivative::choose_rows(Linearization& lin) {
  chosen_.clear();
  rigid_.clear();
  for (int pass = 0; pass < 2; ++pass)  // those that do not slip first
    for (int a = 0; a < active_; ++a)
      if (R_[a] == 0 && (slips_[at(a)] != 0) == (pass == 1)) rigid_.push_back(a);
  int sticking = 0;
  for (int a : rigid_) sticking += !slips_[at(a)];
  gather(rigid_);
  if (!qr_.compute_plainly(Q_, clearly_independent)) qr_.compute(Q_, sticking, dependent);
  const auto& independent = qr_.independent();
  int slipping = 0;
  for (int i : independent) slipping += i >= sticking;
  if (slipping < static_cast<int>(rigid_.size()) - sticking) {  // normals that share a slip: least forces
    lin.unique = false;
    for (int a : rigid_) R_[a] = least_forces * rows::dot(Yc_.row(a), Yc_.row(a), Yc_.stride());
    for (int a = 0; a < active_; ++a) chosen_.push_back(a);
    return false;
  }
  for (int i : independent) chosen_.push_back(rigid_[at(i)]);
  for (int a = 0; a < active_; ++a)
    if (R_[a] != 0) chosen_.push_back(a);
  return slipping == 0 && chosen_.size() == independent.size();
}

}  // namespace tribo
