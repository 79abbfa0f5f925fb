#include "derivatives/implicit_derivative.hpp"

#include "derivatives/spatial.hpp"
#include "dynamics/group.hpp"
#include "stepping/contact_points.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

Vec3 rows_at(const RowMatrix& X, int row, int j) { return {X(row, j), X(row + 1, j), X(row + 2, j)}; }

void add_to_column(RowMatrix& X, int j, const Vec3& x) {
  for (int r = 0; r < 3; ++r) X(r, j) += x[r];
}

}  // namespace

ImplicitDerivative::ImplicitDerivative(const Model& model, const StepperOptions& options)
    : CompliantDerivative(model, make_implicit_euler(model, options), options),
      view_(dynamic_cast<ImplicitView&>(*scheme_)) {
  for (MatX* x : {&at_.x_by_q, &at_.c_by_q, &at_.c_by_v}) x->setZero(3, model.nv);
  column_.setZero(model.nv);
}

const char* ImplicitDerivative::cross(const Start& start, const Outcome& out) {
  const int nv = model_.nv, all = columns_.all();
  const double h = start.dt;
  if (!view_.factor_end(model_, h)) return "the residual has a singular slope";
  for (RowMatrix* x : {&r_, &end_, &mean_}) x->set_zero(nv, all);
  forces_.set_zero(3 * contacts(), all);
  drive_slopes(start, r_);
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const JointSpring& s = springs[j];
    if (s.mean != s.at(h * out.v_end[s.dof], out.v_end[s.dof])) continue;
    r_.map().row(s.dof) += drives_.map().row(static_cast<int>(j));
    const auto damper = dampers_.map().row(static_cast<int>(j)), stiffener = stiffeners_.map().row(static_cast<int>(j));
    r_.map().row(s.dof).head(nv) -= out.v_end[s.dof] * damper.head(nv);
    for (int i = 0; i < parameters(); ++i)
      r_(s.dof, parameter_column(i)) -= out.v_end[s.dof] * (damper[nv + i] + h * stiffener[nv + i]);
  }
  for (std::size_t j = 0; j < compliant_.limits().size(); ++j) {
    const LimitSpring& l = compliant_.limits()[j];
    if (l.B != compliant_.rules().limit_damping) return "a joint that returns from beyond its range";
  }
  for (int i = 0; i < contacts(); ++i) add_contact(start, at(i));
  add_parameters(start, out);
  // Along q+ and v+, at the z that stands: slopes of a move of the start.
  const MatX& Eq = view_.slope_by_q();
  const TreeBlocks& M = view_.end().M();
  move_configuration(start, out);  // with end_ = mean_ = 0: what the start alone moves
  const auto whole = whole_.map();
  auto r = r_.map();
  r.leftCols(nv).noalias() -= Eq * whole.topRows(nv).leftCols(nv);
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
    const Tree& tree = model_.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      column_.setZero();
      column_[k] = 1;
      for (const Body& b : model_.bodies)
        if (b.joint == JointKind::Free && k >= b.iv && k < b.iv + 3)
          column_.segment<3>(b.iv) =
              rotation_exponential(-h * out.v_end.segment<3>(b.iv + 3)) * Vec3(column_.segment<3>(b.iv));
      column_ /= h;
      r.col(nv + k).segment(tree.iv, tree.nv).noalias() += M.tree(t) * column_.segment(tree.iv, tree.nv);
    }
  }
  for (int j = 0; j < all; ++j) {
    column_ = r.col(j);
    view_.solve_end(column_.data());
    r.col(j) = column_;
  }
  end_.map() = mean_.map() = r;
  move_configuration(start, out);
  for (int i = 0; i < contacts(); ++i)
    if (wants_forces_ || active(at(i)).mode != ContactMode::Stick) force_of(start, at(i));
  return nullptr;
}

// -dr of inertia, at the motion of the end, and of damping (implicit.1).
void ImplicitDerivative::add_parameters(const Start& start, const Outcome& out) {
  const auto turned = [&](const VecX& x) -> const VecX& {
    VecX& y = column_ = x;
    for (const Body& b : model_.bodies) {
      if (b.joint != JointKind::Free) continue;
      const Quat back = rotation_exponential(-start.dt * out.v_end.segment<3>(b.iv + 3));
      y.segment<3>(b.iv) = back * Vec3(x.segment<3>(b.iv));
    }
    return y;
  };
  each_parameter([&](const Parameter& p, int, int column) {
    if (p.tree < 0) return;
    if (p.kind == Parameter::Kind::Damping && !compliant_.joints().lists_damping()) {
      const VecX& v = turned(out.v_end);
      for (int k = p.first_dof; k < p.end_dof; ++k) r_(k, column) -= v[k];
    }
    if (!p.moves_inertia()) return;
    scratch_ = (out.v_end - start.state.v) / start.dt;
    add_moved_inertia(model_, p, view_.end_dynamics_view(), view_.end(), turned(scratch_), -1,
                      &r_(model_.trees[at(p.tree)].iv, column), r_.stride());
  });
}

// Of the force of a contact by a parameter, in its axes: friction that slips.
Vec3 ImplicitDerivative::rubbed(std::size_t i, int parameter) const {
  const CompliantContact& s = active(i);
  if (s.mode != ContactMode::Slip || !(s.mu() > 0) || !rubs_on(model_, parameters_[at(parameter)], acting(i).surface))
    return Vec3::Zero();
  return {s.mean.x() / s.mu(), s.mean.y() / s.mu(), 0};
}

// What the start of contact i adds to -dr (deriv.24).
void ImplicitDerivative::add_contact(const Start& start, std::size_t i) {
  const CompliantContact& s = active(i);
  if (s.mode == ContactMode::Open) return;
  const Contact& c = acting(i);
  const Dynamics& end = view_.end_dynamics_view();
  const int o = 3 * static_cast<int>(i), all = columns_.all();
  start_slopes(start, i);
  const Mat3 P = view_.cone_slope(i);
  const Vec3 f_W = c.R_WC * s.mean;
  for (int j = 0; j < all; ++j) {
    Vec3 df = -(P * Vec3(s.K.cwiseProduct(rows_at(at_.x, 0, j)) + s.B.cwiseProduct(rows_at(at_.c, 0, j))));
    df = c.R_WC * df;
    if (j < model_.nv) df += rows_at(dw_, o, j).cross(f_W);
    if (j >= parameter_column(0)) df += c.R_WC * rubbed(i, j - parameter_column(0));
    for (double sign : {1.0, -1.0}) {
      const int b = sign > 0 ? c.body_b : c.body_a;
      if (b < 0) continue;
      const Followed& f = view_.followed(i);
      const Vec3 p = (sign > 0 ? f.p_b : f.p_a) - end.origin(model_.bodies[at(b)].tree);
      const Vec3 moment = rows_at(at_.point[sign > 0 ? 0 : 1], 0, j).cross(f_W);
      for (int k : model_.bodies[at(b)].chain) {
        const Spatial& S = end.axis(k);
        r_(k, j) += sign * ((S.lin + S.ang.cross(p)).dot(df) + S.ang.dot(moment));
      }
    }
  }
}

// x and c of contact i by its start, while q+ and v+ stay.
void ImplicitDerivative::start_slopes(const Start& start, std::size_t i) {
  const CompliantContact& s = active(i);
  const Contact& c = acting(i);
  const Followed& f = view_.followed(i);
  const Dynamics& end = view_.end_dynamics_view();
  const int o = 3 * static_cast<int>(i), all = columns_.all(), nv = model_.nv;
  for (RowMatrix* x : {&at_.x, &at_.c, &at_.point[0], &at_.point[1]}) x->set_zero(3, all);
  for (int j = 0; j < all; ++j) add_to_column(at_.x, j, rows_at(dx_, o, j));
  for (int j = 0; j < 2 * nv && given_.rows() > 0; ++j) {
    add_to_column(at_.x, j, start.dt * rows_at(given_, o, j));
    add_to_column(at_.c, j, rows_at(given_, o, j));
  }
  const Vec3 passed = c.R_WC * (f.x - s.x), rate = c.R_WC * f.c;
  for (int j = 0; j < nv; ++j) {
    const Vec3 dp = rows_at(dp_, o, j), dw = rows_at(dw_, o, j);
    const Vec3 given = c.w_given.cross(dp);
    Vec3 x = start.dt * given - dw.cross(passed), v = given - dw.cross(rate);
    for (double sign : {1.0, -1.0}) {
      const int b = sign > 0 ? c.body_b : c.body_a;
      const Vec3 off = sign > 0 ? s.off_b : s.off_a, doff = dw.cross(off);
      Vec3 moved = dp;
      if (b >= 0) {
        const Mat3 turn = end.X_WB(b).R * start.dynamics.X_WB(b).R.transpose();
        const Spatial S = relative(start, b, j);
        const Vec3 core = c.p_WC - off - start.dynamics.origin(model_.bodies[at(b)].tree);
        moved = turn * Vec3(dp - doff - S.lin - S.ang.cross(core)) + doff;
        if (!off.isZero(0)) {  // (compliant.7)
          const Vec3 theta(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1));
          const Vec3 spun = -(turn.trace() * (turn * S.ang) - turn * Vec3(turn * S.ang));
          x += 0.5 * sign * (spun.cross(off) + theta.cross(doff));
        }
        x += sign * (moved - dp);
        v += sign * end.body_velocity(b).ang.cross(moved);
      }
      add_to_column(at_.point[sign > 0 ? 0 : 1], j, moved);
    }
    add_to_column(at_.x, j, c.R_WC.transpose() * x);
    add_to_column(at_.c, j, c.R_WC.transpose() * v);
  }
}

// Slopes of x and c by q+ and v+.
void ImplicitDerivative::end_slopes(const Start& start, std::size_t i) {
  const CompliantContact& s = active(i);
  const Contact& c = acting(i);
  const Followed& f = view_.followed(i);
  const Dynamics& end = view_.end_dynamics_view();
  (void)start;
  for (MatX* x : {&at_.x_by_q, &at_.c_by_q, &at_.c_by_v}) x->setZero();
  for (double sign : {1.0, -1.0}) {
    const int b = sign > 0 ? c.body_b : c.body_a;
    if (b < 0) continue;
    const Vec3 off = sign > 0 ? s.off_b : s.off_a;
    const Vec3 r = (sign > 0 ? f.p_b : f.p_a) - end.origin(model_.bodies[at(b)].tree), core = r - off;
    const Mat3& turn = sign > 0 ? f.turn_b : f.turn_a;
    const Mat3 theta = 0.5 * (turn.trace() * Mat3::Identity() - turn);
    const Spatial& V = end.body_velocity(b);
    for (int j : model_.bodies[at(b)].chain) {
      const Spatial &S = end.axis(j), &psi = view_.end().psi(j), turned = turned_by(S, V);
      const Vec3 move = S.lin + S.ang.cross(core);
      at_.x_by_q.col(j) += sign * (c.R_WC.transpose() * Vec3(move + Vec3(theta * S.ang).cross(off)));
      at_.c_by_q.col(j) += sign * (c.R_WC.transpose() *
                                   Vec3(turned.lin + psi.lin + (turned.ang + psi.ang).cross(r) + V.ang.cross(move)));
      at_.c_by_v.col(j) += sign * (c.R_WC.transpose() * Vec3(S.lin + S.ang.cross(r)));
    }
  }
}

// Force of contact i by all columns, once q+ and v+ are known.
void ImplicitDerivative::force_of(const Start& start, std::size_t i) {
  const CompliantContact& s = active(i);
  const int o = 3 * static_cast<int>(i), nv = model_.nv, all = columns_.all();
  if (s.mode == ContactMode::Open) return;
  start_slopes(start, i);
  end_slopes(start, i);
  const Mat3 P = view_.cone_slope(i);
  for (int j = 0; j < all; ++j) {
    Vec3 x = rows_at(at_.x, 0, j), c = rows_at(at_.c, 0, j);
    for (int k = 0; k < nv; ++k) {
      const double q = whole_(k, j), v = whole_(nv + k, j);
      x += q * at_.x_by_q.col(k);
      c += q * at_.c_by_q.col(k) + v * at_.c_by_v.col(k);
    }
    Vec3 df = -(P * Vec3(s.K.cwiseProduct(x) + s.B.cwiseProduct(c)));
    if (j >= parameter_column(0)) df += rubbed(i, j - parameter_column(0));
    for (int r = 0; r < 3; ++r) forces_(o + r, j) = df[r];
  }
}

}  // namespace tribo
