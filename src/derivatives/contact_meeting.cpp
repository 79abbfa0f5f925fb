// How a contact moves that was listed where its pair meets within the step (ahead.cpp): with q, and with the velocities that
// took the two there.
//
// A body with its origin at o, going by u and turning by w, is at t where
//   o_t = o + t u,   R_t = exp(t w) R:    do_t = do + t du + u dt,   dr_t = exp(t w) dr + J_l(t w) t dw + w dt     (meet.1)
// J_l: the left Jacobian of the rotation. Point, normal and gap at t move with the six motions of b against a. Where the two
// touch within the step the gap of what is round stays 0; others are near enough by (ahead.2), which has its own slope:
//   dt = -dgap / gap',   at fixed t and by t;   t_k+1 = t_k + s/c:  dt_k+1 = dt_k + ds/c - s dc/c^2              (meet.2)
// The points of the two are taken back with the origins of their bodies, and the gap by how fast it opens:
//   x = y - t u,   gap = gap_t - t n . (U_b - U_a),   U = u + w x (x - o)                                        (meet.3)
// Over terrain and meshes that of b is the point y of the body itself, turned back with it.
#include <cmath>
#include <utility>

#include "collision/ahead.hpp"
#include "derivatives/contact_motion.hpp"
#include "dynamics/group.hpp"

namespace tribo {
namespace {

constexpr double same_contact = 1e-8;  // [m]: the contact as the step had it
constexpr double beyond = 1e-3;        // how far beyond what it moves a pair is looked at [m]
constexpr double speed_probe = 1e-6;   // of a difference of speeds

}  // namespace

struct ContactMotion::Meeting {
  /// A body by its origin. Where it is moved by d and turned by r, a point x of it moves by d + r x (x - o).
  struct Side {
    int body = -1;
    Vec3 o = Vec3::Zero(), u = Vec3::Zero(), w = Vec3::Zero();
    Vec3 at_t = Vec3::Zero();  ///< its origin then
  };
  Meeting(const Contact& listed, const PlacedSolid& on_side_a, const PlacedSolid& on_side_b, double step)
      : contact(listed), a(on_side_a), b(on_side_b), a_t(a), b_t(b), dt(step) {}

  const Contact& contact;
  PlacedSolid a, b, a_t, b_t;
  Side sides[2];  ///< b, a
  double dt, reach = 0;
  unsigned ring = 0;
  double t = 0;
  Touch then, nearest;  ///< at t
  Slope slope;
  Vec3 on_a, on_b, U[2];  ///< at the start
  double opens = 0;
  Part by_t;

  bool turns_back() const { return !a.solid->convex_or_flat(); }

  /// Adds what the contact does where a side moves and turns at t.
  void add(Part& part, int s, const Vec3& d, const Vec3& r) const {
    const Side& side = sides[s];
    Eigen::Matrix<double, 6, 1> m;  // of b against a
    m << d + r.cross(b_t.X.p - side.at_t), r;
    if (s == 1) m *= -1;
    part.gap += slope.gap.dot(m);
    part.n += slope.n * m;
    part.p += slope.p * m;
    if (s == 0) return;
    part.n += r.cross(then.n);  // the contact goes with a
    part.p += d + r.cross(then.p - side.at_t);
  }

  /// (meet.1) at fixed t.
  void move(Part& part, int s) const {
    Part::Body& x = part.sides[s];
    const Vec3 way = t * sides[s].w;
    x.o_t = x.o + t * x.u;
    x.r_t = rotation_exponential(way) * x.r + right_jacobian(-way) * (t * x.w);
    add(part, s, x.o_t, x.r_t);
  }

  /// What moves at fixed t, from what moves at the start.
  void move(Part& part) const {
    part.p = part.n = Vec3::Zero();
    part.gap = 0;
    for (int s = 0; s < 2; ++s) move(part, s);
  }

  void go_to(double time) {
    t = time;
    a_t = moved_on(a, t);
    b_t = moved_on(b, t);
    for (Side& side : sides) side.at_t = side.o + t * side.u;
  }

  /// What moves with t.
  void move_on() {
    by_t = {};
    for (int s = 0; s < 2; ++s) add(by_t, s, sides[s].u, sides[s].w);
  }

  /// A shape at t, moved by a share of the part.
  PlacedSolid beside(const Part& part, int s, double share) const {
    PlacedSolid x = s == 0 ? b_t : a_t;
    const Part::Body& moved = part.sides[s];
    x.w += share * moved.w;
    const Vec3 arm = x.arm + share * (moved.r_t + part.later * sides[s].w).cross(x.arm);
    x.X.p += share * (moved.o_t + part.later * sides[s].u) + arm - x.arm;
    x.arm = arm;
    x.v = sides[s].u + share * moved.u + x.w.cross(arm);
    return x;
  }

  Way finish(const Part& part) const;
};

// (meet.2), (meet.3)
ContactMotion::Way ContactMotion::Meeting::finish(const Part& part) const {
  const Vec3& n = then.n;
  const double later = part.later, gap_t = part.gap + later * by_t.gap;
  const Vec3 dn = part.n + later * by_t.n, p = part.p + later * by_t.p, half = 0.5 * (gap_t * n + then.gap * dn);
  const Vec3 y[2] = {p + half, p - half};
  Vec3 x[2], dU[2];
  for (int s = 0; s < 2; ++s) {
    const Side& side = sides[s];
    const Part::Body& moved = part.sides[s];
    const Vec3& on = s == 0 ? on_b : on_a;
    if (s == 0 && turns_back()) {
      const Vec3 core = then.p + 0.5 * then.gap * n + b.solid->round * n, from = core - side.at_t;
      const Vec3 with_b = moved.o_t + moved.r_t.cross(from) + later * (side.u + side.w.cross(from));
      const Vec3 slides = rotation_exponential(-t * side.w) * Vec3(y[s] + b.solid->round * dn - with_b);
      x[s] = moved.o + moved.r.cross(on + b.solid->round * n - side.o) + slides - b.solid->round * dn;
    } else {
      x[s] = y[s] - t * moved.u - later * side.u;
    }
    dU[s] = moved.u + moved.w.cross(on - side.o) + side.w.cross(x[s] - moved.o);
  }
  Way way;
  way.on_b = x[0];
  way.on_a = x[1];
  way.turn = n.cross(dn);
  way.gap = gap_t - later * opens - t * (dn.dot(U[0] - U[1]) + n.dot(dU[0] - dU[1]));
  way.middle = way.on_b - 0.5 * (way.gap * n + contact.gap * dn);
  return way;
}

ContactMotion::Meeting ContactMotion::approach(const Start& start, const Contact& contact, const BodyVelocities& at_v,
                                               double dt, double fall) const {
  Meeting m(contact, placed_a(start, contact), placed(start, contact.geometry_b), dt);
  for (int s = 0; s < 2; ++s) {
    PlacedSolid& x = s == 0 ? m.b : m.a;
    Meeting::Side& side = m.sides[s];
    side.body = s == 0 ? contact.body_b : contact.body_a;
    if (side.body >= 0) {
      const Tree& tree = model_.trees[at(model_.bodies[at(side.body)].tree)];
      const Spatial& V = at_v.V[at(side.body)];
      side.o = start.dynamics.X_WB(side.body).p;
      side.w = V.ang;
      side.u = V.lin + V.ang.cross(side.o - start.dynamics.origin(model_.bodies[at(side.body)].tree));
      if (tree.bodies == 1 && model_.bodies[at(side.body)].joint == JointKind::Free)
        side.u += fall * (1 - tree.carried / tree.mass) * model_.gravity;
    } else if (const int k = kinematic_index(side.body); k >= 0) {
      const Twist twist = kinematic_twist(model_, k, start.state.kinematic_time(), start.step);
      side.o = kinematic_pose(model_, k, start.state.kinematic_time()).p;
      side.u = twist.v;
      side.w = twist.w;
    }
    x.w = side.w;
    x.arm = x.X.p - side.o;
    x.v = side.u + side.w.cross(x.arm);
    if (side.body < 0 && kinematic_index(side.body) < 0) x.arm = Vec3::Zero();
  }
  return m;
}

bool ContactMotion::meet(const Start& start, const Contact& contact, const BodyVelocities& at_v, double dt,
                         double fall) {
  list(contact);
  meets_ = turns_ = true;
  Meeting m = approach(start, contact, at_v, dt, fall);
  const bool ground = endless(m.a.solid->kind);
  const double turns = (ground ? 0 : m.a.w.norm() * m.a.solid->radius) +
                       (m.b.w - (ground ? m.a.w : Vec3::Zero())).norm() * m.b.solid->radius;
  m.reach = beyond + 2 * std::abs(contact.gap) + dt * ((m.b.v - m.a.v - m.a.w.cross(m.b.X.p - m.a.X.p)).norm() + turns);
  m.ring = ring(contact);
  rounds_.clear();
  const Query query{m.a, m.b, m.reach, dt, m.reach, &scratch_, 0, m.ring};
  const double touch_time = first_touch(query, &rounds_);
  list_parts(start, m, at_v);
  const bool touches = touch_time <= dt && meet_at(m, touch_time);
  if (!touches && !meet_at(m, dt)) return false;
  if (touches && !(touch_is_exact(query) ? follow_touch(m) : follow_rounds(m))) return false;
  if (!beside(m.a_t, m.b_t, m.reach, m.ring, m.then, m.slope)) return false;
  m.move_on();
  if (touches && !(m.by_t.gap < 0)) return false;
  each_part([&](Part& part) { m.move(part); });
  for (std::size_t i = 0; i < dofs_.size(); ++i) {
    ways_[i] = m.finish(by_q_[i]);
    rates_[i] = m.finish(by_v_[i]);
    const auto k = static_cast<Eigen::Index>(i);
    p_.col(k) = ways_[i].on_b;
    turn_.col(k) = ways_[i].turn;
    gap_[k] = ways_[i].gap;
  }
  return true;
}

template <class F>
void ContactMotion::each_part(F f) {
  for (std::vector<Part>* parts : {&by_q_, &by_v_})
    for (Part& part : *parts) f(part);
}

// By how much later the two touch, at the point that does (meet.2).
bool ContactMotion::follow_touch(Meeting& m) {
  const Touch then = std::exchange(m.then, m.nearest);
  if (!beside(m.a_t, m.b_t, m.reach, m.ring, m.then, m.slope)) return false;
  m.move_on();
  if (!(m.by_t.gap < 0)) return false;
  each_part([&](Part& part) {
    m.move(part);
    part.later = -part.gap / m.by_t.gap;
  });
  m.then = then;
  return true;
}

// By how much later they are near enough: the slope of the search (meet.2).
bool ContactMotion::follow_rounds(Meeting& m) {
  const double touch_time = m.t, opens = m.opens;
  const Touch then = m.then;
  for (const Round& round : rounds_) {
    m.go_to(round.t);
    m.then = round.near;
    if (!beside(m.a_t, m.b_t, m.reach, m.ring, m.then, m.slope)) return false;
    m.move_on();
    each_part([&](Part& part) {
      m.move(part);
      const double ds = (round.half ? 0.5 : 1) * (part.gap + part.later * m.by_t.gap);
      const Vec3 dn = part.n + part.later * m.by_t.n;
      const auto speed = [&](double share) {
        return closing_speed(m.beside(part, 1, share), m.beside(part, 0, share), round.near.n + share * dn);
      };
      const double dspeed = (speed(speed_probe) - speed(-speed_probe)) / (2 * speed_probe);
      part.later += ds / round.speed - round.s * dspeed / (round.speed * round.speed);
    });
  }
  m.go_to(touch_time);
  m.then = then;
  m.opens = opens;
  return true;
}

// Is the contact one that the pair has at t?
bool ContactMotion::meet_at(Meeting& m, double t) {
  m.go_to(t);
  touches_.count = 0;
  touch({m.a_t, m.b_t, m.reach, 0, m.reach, &scratch_, 0, m.ring}, touches_);
  const Query query{m.a, m.b, m.reach, m.dt, m.reach, &scratch_, 0, m.ring};
  double nearest = same_contact;
  m.nearest.gap = HUGE_VAL;
  for (int i = 0; i < touches_.count; ++i) {
    Touch x = touches_.items[at(i)];
    if (x.gap < m.nearest.gap) m.nearest = x;
    const double opens = take_back(query, m.a_t, m.b_t, t, x);
    const double far = (x.p - m.contact.p_WC).norm() + (x.arm_a - m.contact.arm_a).norm() +
                       (x.arm_b - m.contact.arm_b).norm() + std::abs(x.gap - m.contact.gap);
    if (!(far < nearest)) continue;
    nearest = far;
    m.then = touches_.items[at(i)];
    m.opens = opens;
  }
  if (!(nearest < same_contact)) return false;
  m.on_a = m.contact.p_WC + m.contact.arm_a;
  m.on_b = m.contact.p_WC + m.contact.arm_b;
  m.U[0] = m.sides[0].u + m.sides[0].w.cross(m.on_b - m.sides[0].o);
  m.U[1] = m.sides[1].u + m.sides[1].w.cross(m.on_a - m.sides[1].o);
  return true;
}

// What a kinematic body x gives at p, with r from its origin to that of the body that it carries, which goes by u, and a = dt |w|:
//   dv = w x dp + (s - 1) w x dr + k w x (w x dr) + dt/2 w x (du - s w x dr + k w x (w x dr)),
//   s = sin a/a,  k = dt/2 (sin(a/2)/(a/2))^2                                                                    (meet.4)
bool ContactMotion::carry(const Start& start, const Contact& contact, const BodyVelocities& at_v, double dt,
                          double fall) {
  const Meeting m = approach(start, contact, at_v, dt, fall);
  const Vec3 p = contact.p_WC;
  Vec3 given = Vec3::Zero();
  if (contact.body_b < -1) given += carried(m.b, m.a, p, dt);
  if (contact.body_a < -1) given -= carried(m.a, m.b, p, dt);
  if (!((given - contact.v_given).norm() <= same_contact)) return false;
  const std::size_t n = dofs_.size();
  if (!meets_) {
    ways_.resize(n);
    rates_.resize(n);
    const Vec3 normal = contact.R_WC.col(2);
    for (std::size_t i = 0; i < n; ++i) {
      const int k = static_cast<int>(i);
      const bool above = !contact.arm_b.isZero(0);
      const Vec3 up = above ? Vec3(0.5 * gap(k) * normal + turn(k).cross(contact.arm_b)) : Vec3::Zero();
      ways_[i] = {point(k), point(k), point(k) - up, turn(k), gap(k)};
      rates_[i] = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), 0};
    }
    meets_ = turns_ = true;
  }
  for (int s = 0; s < 2; ++s) {
    const Meeting::Side &side = m.sides[s], &driven = m.sides[1 - s];
    if (side.body < 0 || driven.body >= -1 || driven.w.isZero(0)) continue;
    const double angle = dt * driven.w.norm(), half = std::sin(0.5 * angle) / (0.5 * angle);
    const double sine = std::sin(angle) / angle, inward = 0.5 * half * half * dt;
    const auto slope = [&](const Vec3& dr, const Vec3& du) {
      const Vec3 along = driven.w.cross(dr), in = inward * driven.w.cross(along);
      const Vec3 d = (sine - 1) * along + in + 0.5 * dt * driven.w.cross(du - sine * along + in);
      return Vec3(s == 0 ? -d : d);
    };
    const Spatial& V = at_v.V[at(side.body)];
    const Vec3 r = side.o - start.dynamics.origin(model_.bodies[at(side.body)].tree);
    for (int j : model_.bodies[at(side.body)].chain) {
      const Spatial &S = start.dynamics.axis(j), &psi = at_v.psi[at(j)];
      const Vec3 way = S.lin + S.ang.cross(r);
      const Vec3 du =
          S.ang.cross(V.lin + V.ang.cross(r)) + way.cross(V.ang) + psi.lin + psi.ang.cross(r) + V.ang.cross(way);
      ways_[at(place(j))].given += slope(way, du);
      rates_[at(place(j))].given += slope(Vec3::Zero(), way);
    }
  }
  return true;
}

void ContactMotion::list_parts(const Start& start, const Meeting& m, const BodyVelocities& at_v) {
  const std::size_t n = dofs_.size();
  by_q_.assign(n, {});
  by_v_.assign(n, {});
  for (int s = 0; s < 2; ++s) {
    const Meeting::Side& side = m.sides[s];
    if (side.body < 0) continue;
    const Spatial& V = at_v.V[at(side.body)];
    const Vec3 r = side.o - start.dynamics.origin(model_.bodies[at(side.body)].tree);
    for (int j : model_.bodies[at(side.body)].chain) {
      const Spatial &S = start.dynamics.axis(j), &psi = at_v.psi[at(j)];
      const std::size_t i = at(place(j));
      Part::Body &q = by_q_[i].sides[s], &v = by_v_[i].sides[s];
      q.r = S.ang;
      q.o = S.lin + S.ang.cross(r);
      q.w = S.ang.cross(V.ang) + psi.ang;  // S x V + V_p x S
      const Vec3 lin = S.ang.cross(V.lin) + S.lin.cross(V.ang) + psi.lin;
      q.u = lin + q.w.cross(r) + V.ang.cross(q.o);
      v.w = S.ang;
      v.u = S.lin + S.ang.cross(r);
    }
  }
  ways_.resize(n);
  rates_.resize(n);
}

}  // namespace tribo
