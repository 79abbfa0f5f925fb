// Contacts that move with velocities: what kinematic bodies carry, and pairs that meet within the step, on the way of its start, or on that which a solve
// before found, where contacts were listed again. With V the velocities that a list was made with,
//   dx_contact = by q dq + by v dV,   dV = dv of the start, or that solve's dv' = its dq, dv and du                (deriv.17)
#include <utility>

#include "derivatives/rigid_derivative.hpp"

namespace tribo {

// The motion of a contact, where it has one.
const char* RigidDerivative::follow(const Start& start, const Contact& contact) {
  const bool stands = ContactMotion::stands(contact), carried = !contact.w_given.isZero(0);
  listed_ = -1;
  if (stands && !motion_.compute(start, contact, margin_)) return "a contact changes its features within its query";
  if (stands && !carried) return nullptr;
  by_velocity_ = true;
  if (!at_start_.v) set_velocities(start, v_start_, true, at_start_);
  const auto moves = [&](const Velocities& at_v, double dt, double fall) {
    return (stands || motion_.meet(start, contact, at_v, dt, fall)) &&
           (!carried || motion_.carry(start, contact, at_v, dt, fall));
  };
  if (moves(at_start_, crossing_.step(), crossing_.step())) return nullptr;
  for (listed_ = 0; listed_ < known_listings_; ++listed_)
    if (moves(listings_[at(listed_)].at, start.dt, 0)) return nullptr;
  if (known_listings_ >= crossing_.listings()) return "shapes that meet within the step have no slope";
  wants_lists_ = true;
  return "shapes that meet were listed again";
}

// The step with fewer lists, one after the other: what each next one was made with.
const char* RigidDerivative::through_lists(const StepInput& step, Linearization& out) {
  const int listings = crossing_.listings();
  const double smoothing = std::exchange(smoothing_, 0);  // lists are those of the step itself
  const char* why = nullptr;
  for (int k = 0; k < listings && !why; ++k) {
    open(step);
    crossing_.begin();
    crossing_.solve(step.dt, k);
    listing_now_ = true;
    why = differentiate_listing(step, out);
    listing_now_ = false;
  }
  smoothing_ = smoothing;
  if (why) return why;
  reset(model_, inputs_, out);
  out.B.resize(2 * model_.nv, inputs_and_parameters());
  open(step);
  crossing_.begin();
  crossing_.solve(step.dt);
  return differentiate(step, out);
}

const char* RigidDerivative::differentiate_listing(const StepInput& step, Linearization& out) {
  const Outcome& outcome = crossing_.outcome();
  const Start start = crossing_.start(step.dt);
  Listing& listing = listings_[at(known_listings_)];
  const int nv = model_.nv, nu = inputs_and_parameters();
  keep();
  listing.v = outcome.v_end;
  listing.slope.setZero(nv, 2 * nv + nu);
  set_velocities(start, listing.v, true, at_end_);
  at_start_.v = nullptr;
  const char* why = each_group(outcome, [&](const IslandSolution* island) {
    const char* cannot = solve_velocities(step, start, island, out);
    for (int i = 0; i < group_.n() && !cannot; ++i) {
      const int k = group_.dofs[at(i)], n = group_.n();
      if (view_->flight().alone(model_.bodies[at(joint_body_[at(k)])].tree)) {
        listing.slope(k, nv + k) = 1;
        continue;
      }
      for (int c = 0; c < group_.columns(); ++c) {
        const int column = c < n       ? group_.dofs[at(c)]
                           : c < 2 * n ? nv + group_.dofs[at(c - n)]
                                       : 2 * nv + group_.inputs[at(c - 2 * n)];
        listing.slope(k, column) = X_(i, c);
      }
    }
    return cannot;
  });
  set_velocities(start, listing.v, true, listing.at);
  listing.at.v = &listing.v;
  ++known_listings_;
  return why;
}

// row += x dV of a coordinate, by the columns of the group (deriv.17).
void RigidDerivative::add_by_velocity(double* row, int dof, double x) const {
  const int n = group_.n(), nv = model_.nv;
  if (listed_ < 0) {
    row[n + local_[at(dof)]] += x;
    return;
  }
  const MatX& slope = listings_[at(listed_)].slope;
  for (int c = 0; c < n; ++c) {
    row[c] += x * slope(dof, group_.dofs[at(c)]);
    row[n + c] += x * slope(dof, nv + group_.dofs[at(c)]);
  }
  for (std::size_t c = 0; c < group_.inputs.size(); ++c)
    row[2 * n + static_cast<int>(c)] += x * slope(dof, 2 * nv + group_.inputs[c]);
}

// What (deriv.7) has beside the motion of one point: the points of the two, which move apart, and all of it by velocities. u:
// velocity of b against a.
void RigidDerivative::add_rates(const Contact& contact, const Velocities& at_v, const Vec3& u, MatX& K) {
  const Vec3 w_a = contact.body_a < 0 ? Vec3::Zero() : at_v.V[at(contact.body_a)].ang;
  const Vec3 w_b = contact.body_b < 0 ? Vec3::Zero() : at_v.V[at(contact.body_b)].ang;
  const Vec3 given = at_v.given ? contact.w_given : Vec3::Zero();
  for (int i = 0; i < static_cast<int>(motion_.dofs().size()); ++i) {
    const ContactMotion::Way &q = motion_.way(i), &v = motion_.rate(i);
    const Vec3 by_q = w_a.cross(q.on_b - q.on_a) + given.cross(q.middle - q.on_b);
    const Vec3 by_v = w_b.cross(v.on_b) - w_a.cross(v.on_a) + given.cross(v.middle) - v.turn.cross(u);
    K.col(i) += contact.R_WC.transpose() * (at_v.given ? Vec3(by_q + q.given) : by_q);
    by_v_.col(i) = contact.R_WC.transpose() * (at_v.given ? Vec3(by_v + v.given) : by_v);
  }
}

// d(J^T f) of (deriv.8) by velocities, of an impulse at r from the origin of the tree.
void RigidDerivative::add_force_rates(const Start& start, int body, double sign, const Vec3& f, const Vec3& torque,
                                      const Vec3& r, RowMatrix& X) {
  for (int i = 0; i < static_cast<int>(motion_.dofs().size()); ++i) {
    const ContactMotion::Way& v = motion_.rate(i);
    const Vec3 df = v.turn.cross(f),
               moment = (sign > 0 ? v.on_b : v.on_a).cross(f) + r.cross(df) + v.turn.cross(torque);
    for (int k : model_.bodies[at(body)].chain) {
      const Spatial& S = start.dynamics.axis(k);
      add_by_velocity(X.row(local_[at(k)]), motion_.dofs()[at(i)], S.lin.dot(df) + S.ang.dot(moment));
    }
  }
}

}  // namespace tribo
