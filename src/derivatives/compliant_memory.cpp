// The end of a compliant substep: where q and v go, and what is remembered.
#include <cmath>

#include "derivatives/compliant_derivative.hpp"
#include "dynamics/group.hpp"
#include "stepping/contact_points.hpp"

namespace tribo {
namespace {

// A way of 1e-5, as of differences, then takes the point farther than the slop within which it is the same.
constexpr double rolling = 1e-4;  // of a point beside its body, over the way of a coordinate [m]

Mat3 axes_of(const Start& start, int body) {
  Mat3 R;
  const Vec3 origin = to_world(start, body, Vec3::Zero());
  for (int a = 0; a < 3; ++a) R.col(a) = to_world(start, body, Vec3::Unit(a)) - origin;
  return R;
}

}  // namespace

// q+ = q moved along v_mean, and velocities of free joints in the axes of the end (deriv.9).
void CompliantDerivative::move_configuration(const Start& start, const Outcome& out) {
  const int nv = model_.nv, columns = columns_.all();
  const double h = start.dt;
  auto whole = whole_.map();
  whole.topRows(nv) = h * mean_.map();
  whole.middleRows(nv, nv) = end_.map();
  for (int k = 0; k < nv; ++k) whole(k, k) += 1;
  for (const Body& b : model_.bodies) {
    if (b.joint != JointKind::Free && b.joint != JointKind::Spherical) continue;
    const bool free = b.joint == JointKind::Free;
    const int w = free ? b.iv + 3 : b.iv;
    const Vec3 turn = h * out.v_mean.segment<3>(w), u = h * out.v_mean.segment<3>(b.iv);
    const Mat3 back = rotation_exponential(-turn).toRotationMatrix(), T = right_jacobian(turn);
    const Vec3 v = free ? Vec3(back * out.v_end.segment<3>(b.iv)) : Vec3::Zero();
    for (int j = 0; j < columns; ++j) {
      const Vec3 turned = T * Vec3(h * mean_.map().block<3, 1>(w, j));
      Vec3 dr = Vec3::Zero();
      if (j >= w && j < w + 3) dr[j - w] = 1;
      whole.block<3, 1>(w, j) = back * dr + turned;
      if (!free) continue;
      whole.block<3, 1>(b.iv, j) = back * Vec3(Vec3(whole.block<3, 1>(b.iv, j)) + dr.cross(u));
      whole.block<3, 1>(nv + b.iv, j) = back * Vec3(end_.map().block<3, 1>(b.iv, j)) + v.cross(turned);
    }
  }
}

// Way of a drawn anchor (compliant.9), and its slope into the rows of K_.
Eigen::Vector2d CompliantDerivative::drawn(const Start& start, const Outcome& out, std::size_t i) {
  const CompliantContact& s = active(i);
  const Contact& c = acting(i);
  const int nv = model_.nv, o = 3 * static_cast<int>(i), columns = columns_.all();
  const double h = start.dt, gone = -std::expm1(-h * s.K.x() / s.B.x());
  set_twists(start.dynamics, out.v_mean, twists_);
  K_.set_zero(6, std::max(columns, 2 * nv));
  rate_slopes(start, i, twists_, true, K_, 0);
  set_twists(start.dynamics, start.state.v, twists_);
  acceleration_slopes(start, i, false, K_, 3);
  Vec3 turning = Vec3::Zero();
  for (double sign : {1.0, -1.0}) turning += sign * start.dynamics.point_bias(sign > 0 ? c.body_b : c.body_a, c.p_WC);
  const Vec3 way = contact_velocity(model_, start.dynamics, c, out.v_mean) + 0.5 * h * (c.R_WC.transpose() * turning);
  auto K = K_.map();
  for (int r = 0; r < 2; ++r)
    for (int j = 0; j < columns; ++j) {
      double slope = j < nv ? h * K(r, j) : 0;
      if (j < 2 * nv) slope += 0.5 * h * h * K(3 + r, j);
      if (j < 2 * nv && given_.rows() > 0) slope += h * given_(o + r, j);
      for (int k = 0; k < nv; ++k)
        if (J_(o + r, k) != 0) slope += h * J_(o + r, k) * mean_(k, j);
      K(r, j) = slope + gone * (dx_(o + r, j) + forces_(o + r, j) / s.K.x());
    }
  const Eigen::Vector2d excess = s.x.head<2>() + s.mean.head<2>() / s.K.x();
  return h * way.head<2>() + gone * excess;
}

// Coordinates along which the point of contact moves over b.
void CompliantDerivative::list_rolling(const Start& start, std::size_t i) {
  const Contact& c = acting(i);
  const int o = 3 * static_cast<int>(i);
  rolls_.assign(at(columns_.all()), 0);
  const Vec3 r = c.body_b < 0 ? c.p_WC : Vec3(c.p_WC - start.dynamics.origin(model_.bodies[at(c.body_b)].tree));
  bool any = false;
  for (int j = 0; j < model_.nv; ++j) {
    const Spatial S = relative(start, c.body_b, j);
    const Vec3 passed = Vec3(dp_(o, j), dp_(o + 1, j), dp_(o + 2, j)) - S.lin - S.ang.cross(r);
    rolls_[at(j)] = passed.squaredNorm() > rolling * rolling;
    any |= rolls_[at(j)] != 0;
  }
  const int column = memory_column(c.id);
  for (int k = 3; k < 6 && any && column >= 0; ++k) rolls_[at(column + k)] = 1;  // of the point that it kept
}

// (deriv.21)
const char* CompliantDerivative::remember(const Start& start, const Outcome& out) {
  const int nv = model_.nv, columns = columns_.all();
  auto whole = whole_.map();
  bool at_rest = true;
  for (int i = 0; i < contacts(); ++i) at_rest &= active(at(i)).mode == ContactMode::Stick;
  if (!at_rest) inverse_.differentiate(start.dynamics, start.state.v, zero_);  // point_bias has no acceleration
  for (int i = 0; i < contacts(); ++i) {
    const CompliantContact& s = active(at(i));
    const Contact& c = acting(at(i));
    const int row = 2 * nv + 7 * i, o = 3 * i, column = memory_column(c.id);
    whole.row(row + 6) = drest_.map().row(i);
    const AnchorMemory* before = nullptr;
    for (std::size_t m = 0; m < start.state.memory.anchors.size(); ++m)
      if (!s.fresh && start.state.memory.contacts[m].id == c.id) before = &start.state.memory.anchors[m];
    const bool held_on = before && before->point == s.point, slips = s.mode != ContactMode::Stick;
    list_rolling(start, at(i));
    if (slips && !(compliant_.rules().slip == SlipAnchor::Drawn && s.B.x() > 0)) return "an anchor that is set";
    const Mat3 R_a = axes_of(start, c.body_a), R_b = axes_of(start, c.body_b);
    const Vec3 held = to_world(start, c.body_b, s.point);
    const bool stays = held_on && !slips && !s.moved;
    Eigen::Vector2d way(0, 0);
    if (slips) way = drawn(start, out, at(i));
    const Vec3 behind = c.R_WC.leftCols<2>() * (s.x.head<2>() - way), anchor = held - behind;
    const auto arm = [&](int body, const Vec3& p) {
      return Vec3(p - start.dynamics.origin(model_.bodies[at(body)].tree));
    };
    for (int j = 0; j < columns; ++j) {
      // Beside the state a point that rolls over b is another one, even where it is the same at the state.
      const bool kept = held_on && rolls_[at(j)] == 0;
      const int own = column < 0 ? -1 : j - column;
      if (kept && own >= 3 && own < 6) whole(row + own, j) = 1;
      if (kept && stays) {
        if (own >= 0 && own < 3) whole(row + own, j) = 1;
        continue;
      }
      Vec3 d_held = Vec3::Zero(), d_anchor = Vec3::Zero(), carried_b = Vec3::Zero(), carried_a = Vec3::Zero();
      if (j < nv) {
        const Spatial S = relative(start, c.body_b, j), T = relative(start, c.body_a, j);
        if (c.body_b >= 0) carried_b = S.lin + S.ang.cross(arm(c.body_b, held));
        if (c.body_a >= 0) carried_a = T.lin + T.ang.cross(arm(c.body_a, anchor));
        for (int r = 0; r < 3; ++r) d_held[r] = kept ? carried_b[r] : dp_(o + r, j);
        const Vec3 turn(dw_(o, j), dw_(o + 1, j), dw_(o + 2, j));
        d_anchor -= turn.cross(behind);
      } else if (kept && own >= 3 && own < 6) {
        d_held = R_b.col(own - 3);
      }
      Eigen::Vector2d dx(dx_(o, j), dx_(o + 1, j));
      if (slips) dx -= Eigen::Vector2d(K_(0, j), K_(1, j));
      d_anchor += d_held - c.R_WC.leftCols<2>() * dx;
      whole.block<3, 1>(row, j) = R_a.transpose() * (d_anchor - carried_a);
      if (!kept) whole.block<3, 1>(row + 3, j) = R_b.transpose() * (d_held - carried_b);
    }
  }
  return nullptr;
}

// What dry friction bears: (compliant.9) where it slips, else its spring.
void CompliantDerivative::remember_friction(const Start& start, const Outcome& out) {
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  const double h = start.dt;
  int row = 2 * model_.nv + 7 * contacts();
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const JointSpring& s = springs[j];
    if (s.kind != JointSpring::Kind::Friction) continue;
    auto slope = whole_.map().row(row++);
    const auto a = drives_.map().row(static_cast<int>(j));
    if (std::abs(s.mean) >= s.upper) {
      const double left = std::exp(-h * s.K / s.B);
      slope = left * a;
      const double by_damper = (s.a - s.mean) * left * h * s.K / (s.B * s.B);
      const auto damper = dampers_.map().row(static_cast<int>(j));
      slope.head(model_.nv) += by_damper * damper.head(model_.nv);
      for (int i = 0; i < parameters(); ++i) slope[parameter_column(i)] += by_damper * damper[model_.nv + i];
    } else if (std::abs(s.a - s.K * h * out.v_mean[s.dof]) < s.upper) {
      slope = a - s.K * h * mean_.map().row(s.dof);
    }
  }
}

}  // namespace tribo
