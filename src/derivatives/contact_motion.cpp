#include "derivatives/contact_motion.hpp"

#include <cmath>

#include "dynamics/group.hpp"
#include "model/sizes.hpp"

namespace tribo {
namespace {

constexpr double probe = 2e-6;          // of the differences of a collision query [m], [rad]
constexpr double bend = 2e-2;           // change of a slope within them, as a share
constexpr double least_curvature = 10;  // below, a change of it does not count [1/m]

// Motion of the point x of a body by coordinate j, in W.
Vec3 moved(const Start& start, int body, int j, const Vec3& x) {
  const Spatial& S = start.dynamics.axis(j);
  return S.lin + S.ang.cross(x - start.dynamics.origin(start.model.bodies[at(body)].tree));
}

Geometry half_space() {
  Geometry plane;
  plane.kind = ShapeKind::HalfSpace;
  return plane;
}

// Are both sides of a difference on the same smooth piece? Where a corner or the border of a face lies between them, slopes jump.
bool smooth(const Touch& middle, const Touch& plus, const Touch& minus) {
  const auto bends = [](const auto& m, const auto& x, const auto& y, double least) {
    return (x + y - 2 * m).norm() > bend * (x - y).norm() + least * bend * probe;
  };
  return !bends(middle.p, plus.p, minus.p, 1) && !bends(middle.n, plus.n, minus.n, least_curvature) &&
         std::abs(plus.gap + minus.gap - 2 * middle.gap) <= bend * probe;
}

}  // namespace

ContactMotion::ContactMotion(const Model& model) : model_(model), plane_(half_space()), place_(at(model.nv), -1) {
  const double unit = Sizes(model).unit();
  for (const Geometry& g : model.geometries) solids_.emplace_back(g, unit);
  p_.setZero(3, model.nv);
  turn_.setZero(3, model.nv);
  gap_.setZero(model.nv);
  dofs_.reserve(at(model.nv));
  ways_.reserve(at(model.nv));
  rates_.reserve(at(model.nv));
  by_q_.reserve(at(model.nv));
  by_v_.reserve(at(model.nv));
}

// A plane that a floor of solids makes (paving.1) has a name beyond those of geometries.
bool ContactMotion::paved(const Contact& contact) const { return contact.id >> 40 >= model_.geometries.size(); }

const Solid& ContactMotion::solid_a(const Contact& contact) const {
  return paved(contact) ? plane_ : solids_[at(contact.geometry_a)];
}

// Where on its rim a cylinder has its points, from the name of one of them.
unsigned ContactMotion::ring(const Contact& contact) const {
  const Solid &a = solid_a(contact), &b = solids_[at(contact.geometry_b)];
  const bool plane = a.kind == ShapeKind::HalfSpace;
  if ((plane || a.kind != ShapeKind::Cylinder) && b.kind != ShapeKind::Cylinder) return 0;
  const unsigned feature = contact.id & 0xffff, first = plane ? 0 : first_on_face;
  const unsigned ring = feature < first ? 0 : (feature - first) / (2 * cap_points);
  return ring < cap_rings ? ring : 0;
}

bool ContactMotion::stands(const Contact& contact) {
  if (contact.arm_a.isZero(0) && contact.arm_b.isZero(0)) return true;
  const Vec3 above = 0.5 * contact.gap * contact.R_WC.col(2);
  return contact.gap > 0 && contact.arm_b == above && (contact.arm_a == above || contact.arm_a.isZero(0));
}

// Coordinates of both chains, each once.
void ContactMotion::list(const Contact& contact) {
  for (int k : dofs_) place_[at(k)] = -1;
  dofs_.clear();
  for (int body : {contact.body_b, contact.body_a}) {
    if (body < 0) continue;
    for (int k : model_.bodies[at(body)].chain) {
      if (place_[at(k)] >= 0) continue;
      place_[at(k)] = static_cast<int>(dofs_.size());
      dofs_.push_back(k);
    }
  }
  meets_ = false;
}

void ContactMotion::clear() {
  const Eigen::Index n = static_cast<Eigen::Index>(dofs_.size());
  p_.leftCols(n).setZero();
  turn_.leftCols(n).setZero();
  gap_.head(n).setZero();
}

bool ContactMotion::compute(const Start& start, const Contact& contact, double margin) {
  list(contact);
  const Solid &a = solid_a(contact), &b = solids_[at(contact.geometry_b)];
  const bool ball_a = a.kind == ShapeKind::Sphere || a.kind == ShapeKind::Point,
             ball_b = b.kind == ShapeKind::Sphere || b.kind == ShapeKind::Point;
  const bool core_b = ball_b || b.kind == ShapeKind::Box || b.kind == ShapeKind::Capsule || b.kind == ShapeKind::Convex;
  turns_ = !(a.kind == ShapeKind::HalfSpace && contact.body_a < 0 && core_b);
  if (turns_) clear();
  if (!turns_)
    plane_and_core(start, contact, b.round);
  else if (ball_a && ball_b)
    two_cores(start, contact, a.round, b.round);
  else if (!any_pair(start, contact, margin))
    return false;
  if (!contact.arm_b.isZero(0))  // above a plane
    for (std::size_t i = 0; i < dofs_.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      p_.col(k) += 0.5 * gap_[k] * contact.R_WC.col(2);
      if (turns_) p_.col(k) += turn(static_cast<int>(k)).cross(contact.arm_b);
    }
  return true;
}

// (motion.1)
void ContactMotion::plane_and_core(const Start& start, const Contact& contact, double radius) {
  const Vec3 n = contact.R_WC.col(2), x = contact.p_WC + (radius + 0.5 * contact.gap) * n;
  for (int j : model_.bodies[at(contact.body_b)].chain) {
    const Vec3 dx = moved(start, contact.body_b, j, x);
    const int i = place(j);
    gap_[i] = n.dot(dx);
    p_.col(i) = dx - 0.5 * gap_[i] * n;
  }
}

// (motion.2)
void ContactMotion::two_cores(const Start& start, const Contact& contact, double radius_a, double radius_b) {
  const Vec3 n = contact.R_WC.col(2);
  const double to_a = radius_a + 0.5 * contact.gap, to_b = radius_b + 0.5 * contact.gap, length = to_a + to_b;
  for (double sign : {1.0, -1.0}) {
    const int body = sign > 0 ? contact.body_b : contact.body_a;
    if (body < 0) continue;
    for (int j : model_.bodies[at(body)].chain) {
      const Vec3 dx = moved(start, body, j, contact.p_WC + sign * (sign > 0 ? to_b : to_a) * n), d = sign * dx;
      const double along = n.dot(d);
      const Vec3 dn = (d - along * n) / length;
      const int i = place(j);
      gap_[i] += along;
      turn_.col(i) += n.cross(dn);
      p_.col(i) += (sign > 0 ? Vec3::Zero() : dx) + 0.5 * along * n + to_a * dn;
    }
  }
}

PlacedSolid ContactMotion::placed_a(const Start& start, const Contact& contact) const {
  if (!paved(contact)) return placed(start, contact.geometry_a);
  const Vec3 from = stands(contact) ? Vec3(-0.5 * contact.gap * contact.R_WC.col(2)) : contact.arm_a;
  return {&plane_, {contact.R_WC, contact.p_WC + from}, Vec3::Zero(), Vec3::Zero()};
}

PlacedSolid ContactMotion::placed(const Start& start, int geometry) const {
  const Geometry& g = model_.geometries[at(geometry)];
  Placement X = g.X_BG;
  if (g.body >= 0)
    X = start.dynamics.X_WB(g.body) * g.X_BG;
  else if (kinematic_index(g.body) >= 0)
    X = kinematic_pose(model_, kinematic_index(g.body), start.state.kinematic_time()) * g.X_BG;
  return {&solids_[at(geometry)], X, Vec3::Zero(), Vec3::Zero()};
}

bool ContactMotion::any_pair(const Start& start, const Contact& contact, double margin) {
  const PlacedSolid a = placed_a(start, contact), b = placed(start, contact.geometry_b);
  Slope slope;
  if (!slopes(a, b, contact, margin, slope)) return false;
  const Vec3 n = contact.R_WC.col(2);
  for (double sign : {1.0, -1.0}) {
    const int body = sign > 0 ? contact.body_b : contact.body_a;
    if (body < 0) continue;
    for (int j : model_.bodies[at(body)].chain) {
      const int i = place(j);
      Eigen::Matrix<double, 6, 1> motion;  // of b against a
      const Vec3 turn = start.dynamics.axis(j).ang;
      motion << moved(start, body, j, b.X.p), turn;
      motion *= sign;
      gap_[i] += slope.gap.dot(motion);
      turn_.col(i) += n.cross(Vec3(slope.n * motion));
      p_.col(i) += slope.p * motion;
      if (sign > 0) continue;
      turn_.col(i) += turn;  // the contact goes with a
      p_.col(i) += moved(start, body, j, contact.p_WC);
    }
  }
  return true;
}

bool ContactMotion::slopes(const PlacedSolid& a, const PlacedSolid& b, const Contact& contact, double margin,
                           Slope& slope) {
  const double reach = std::max(margin, contact.gap + 1e-3);
  touches_.count = 0;
  touch({a, b, reach, 0, reach, &scratch_, 0, ring(contact)}, touches_);
  int here = -1;
  double nearest = 1e-9;  // [m]: the contact as the step had it
  for (int i = 0; i < touches_.count; ++i) {
    const Touch& t = touches_.items[at(i)];
    const double far = (t.p - contact.p_WC).norm() + std::abs(t.gap - contact.gap);
    if (far < nearest) here = i, nearest = far;
  }
  if (here < 0) return false;
  const Touch middle = touches_.items[at(here)];
  return beside(a, b, reach, ring(contact), middle, slope);
}

// Central differences about a touch of a and b.
bool ContactMotion::beside(const PlacedSolid& a, const PlacedSolid& b, double reach, unsigned ring, const Touch& middle,
                           Slope& slope) {
  for (int k = 0; k < 6; ++k) {
    Touch side[2];
    for (int s = 0; s < 2; ++s) {
      PlacedSolid y = b;
      const Vec3 d = (s == 0 ? probe : -probe) * Vec3::Unit(k % 3);
      if (k < 3)
        y.X.p += d;
      else
        y.X.R = rotation_exponential(d).toRotationMatrix() * b.X.R;
      touches_.count = 0;
      touch({a, y, reach, 0, reach, &scratch_, 0, ring}, touches_);
      int found = -1;
      for (int i = 0; i < touches_.count; ++i)
        if (touches_.items[at(i)].feature == middle.feature) found = i;
      if (found < 0) return false;
      side[s] = touches_.items[at(found)];
    }
    if (!smooth(middle, side[0], side[1])) return false;
    slope.p.col(k) = (side[0].p - side[1].p) / (2 * probe);
    slope.n.col(k) = (side[0].n - side[1].n) / (2 * probe);
    slope.gap[k] = (side[0].gap - side[1].gap) / (2 * probe);
  }
  return true;
}

}  // namespace tribo
