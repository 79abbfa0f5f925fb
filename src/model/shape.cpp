#include "tribo/shape.hpp"

#include <cmath>

namespace tribo {

Inertia solid_inertia(ShapeKind kind, const Vec3& size, double mass) {
  Inertia inertia;
  inertia.mass = mass;
  Vec3 I = Vec3::Zero();
  switch (kind) {
    case ShapeKind::Sphere:
      I.setConstant(0.4 * mass * size.x() * size.x());
      break;
    case ShapeKind::Box: {
      const Vec3 s = size.cwiseProduct(size);
      I = mass / 3.0 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
      break;
    }
    case ShapeKind::Capsule: {
      // A cylinder of length 2h and two half-balls whose centres of mass are h + 3r/8 from the middle.
      const double r = size.x(), h = size.z();
      const double cylinder = 2 * h, ball = 4.0 / 3.0 * r;
      const double mc = mass * cylinder / (cylinder + ball), mb = mass - mc;
      const double along = 0.5 * mc * r * r + 0.4 * mb * r * r;
      const double across = mc * (r * r / 4 + h * h / 3) + mb * (0.4 * r * r + h * h + 0.75 * h * r);
      I = Vec3(across, across, along);
      break;
    }
    case ShapeKind::Cylinder: {
      const double r2 = size.x() * size.x(), across = mass * (r2 / 4 + size.z() * size.z() / 3);
      I = Vec3(across, across, 0.5 * mass * r2);
      break;
    }
    case ShapeKind::Ellipsoid: {
      const Vec3 s = size.cwiseProduct(size);
      I = mass / 5.0 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
      break;
    }
    default:
      throw InvalidInput("a half-space, a point, a hull or a height field has no inertia by size alone");
  }
  inertia.about_com = I.asDiagonal();
  return inertia;
}

double hull_volume(const Hull& hull) {
  double volume = 0;
  for (const std::vector<int>& face : hull.faces) {
    auto corner = [&](std::size_t k) -> const Vec3& { return hull.vertices[static_cast<std::size_t>(face[k])]; };
    for (std::size_t k = 2; k < face.size(); ++k) volume += corner(0).dot(corner(k - 1).cross(corner(k))) / 6;
  }
  return volume;
}

// Signed tetrahedra from the origin to each triangle of each face.
std::shared_ptr<const Hull> moved_hull(const Hull& hull, const Vec3& d) {
  auto moved = std::make_shared<Hull>(hull);
  moved->radius = 0;
  for (Vec3& p : moved->vertices) {
    p += d;
    moved->radius = std::max(moved->radius, p.norm());
  }
  return moved;
}

Inertia hull_inertia(const Hull& hull, double mass) {
  const double volume = hull_volume(hull);
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // integral of x x^T
  for (const std::vector<int>& face : hull.faces) {
    const Vec3& a = hull.vertices[static_cast<std::size_t>(face[0])];
    for (std::size_t k = 2; k < face.size(); ++k) {
      const Vec3& b = hull.vertices[static_cast<std::size_t>(face[k - 1])];
      const Vec3& c = hull.vertices[static_cast<std::size_t>(face[k])];
      const double det = a.dot(b.cross(c));
      const Vec3 s = a + b + c;
      first += det / 24 * s;
      second += det / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    }
  }
  if (!(volume > 0)) throw InvalidInput("a hull without volume has no inertia");
  Inertia inertia;
  inertia.mass = mass;
  inertia.com = first / volume;
  const Mat3 about = mass / volume * second - mass * inertia.com * inertia.com.transpose();
  inertia.about_com = about.trace() * Mat3::Identity() - about;
  return inertia;
}

}  // namespace tribo
