// Every shape on every terrain, brought to where it just touches by brute force: the gap must be zero there. The shape
// stands over the terrain as a function of (x, y), by intersecting vertical lines with it; the least clearance over the
// plane is searched on a grid, along every edge of the terrain and every rim, and refined; of boxes and hulls it is at a
// corner, a grid point or a crossing of edges, and all of them are tried. No support functions or normals. Numbers are
// drawn in braces, in order: every compiler draws the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "collision/collision.hpp"

using namespace tribo;

namespace {

// The part of the line o + z d inside a solid, cut down step by step.
struct Interval {
  double lo = -HUGE_VAL, hi = HUGE_VAL;

  void half_space(double o, double d, double most) {  // o + z d <= most
    if (std::abs(d) < 1e-300) {
      if (o > most) lo = HUGE_VAL;
    } else if (d > 0) {
      hi = std::min(hi, (most - o) / d);
    } else {
      lo = std::max(lo, (most - o) / d);
    }
  }
  void quadric(double a, double b, double c) {  // a z^2 + 2 b z + c <= 0, a > 0
    const double root = b * b - a * c;
    if (!(root >= 0)) {
      lo = HUGE_VAL;
      return;
    }
    lo = std::max(lo, (-b - std::sqrt(root)) / a);
    hi = std::min(hi, (-b + std::sqrt(root)) / a);
  }
  bool empty() const { return !(lo <= hi); }
};

struct Solids {
  ShapeKind kind;
  Vec3 size;
  std::shared_ptr<const Hull> hull;

  std::vector<Vec3> corners() const {
    if (hull) return hull->vertices;
    std::vector<Vec3> out;
    for (int k = 0; k < 8 && kind == ShapeKind::Box; ++k)
      out.push_back(size.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
    return out;
  }

  std::vector<std::pair<Vec3, Vec3>> edges() const {
    std::vector<std::pair<Vec3, Vec3>> out;
    const std::vector<Vec3> p = corners();
    if (!hull)
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned axis : {1u, 2u, 4u})
          if (!(k & axis)) out.emplace_back(p[k], p[k | axis]);
    for (std::size_t f = 0; hull && f < hull->faces.size(); ++f)
      for (std::size_t k = 0; k < hull->faces[f].size(); ++k)
        out.emplace_back(p[static_cast<std::size_t>(hull->faces[f][k])],
                         p[static_cast<std::size_t>(hull->faces[f][(k + 1) % hull->faces[f].size()])]);
    return out;
  }

  // Lowest z of the solid on the vertical line through (x, y); infinite where it misses.
  double lower(const Placement& X, double x, double y) const {
    const Vec3 o = X.R.transpose() * (Vec3(x, y, 0) - X.p), d = X.R.transpose() * Vec3::UnitZ();
    Interval z;
    switch (kind) {
      case ShapeKind::Sphere:
        z.quadric(1, o.dot(d), o.squaredNorm() - size.x() * size.x());
        break;
      case ShapeKind::Ellipsoid: {
        const Vec3 a = o.cwiseQuotient(size), b = d.cwiseQuotient(size);
        z.quadric(b.squaredNorm(), a.dot(b), a.squaredNorm() - 1);
        break;
      }
      case ShapeKind::Cylinder:
        z = cylinder(o, d);
        break;
      case ShapeKind::Capsule: {
        Interval side = cylinder(o, d);
        double least = side.empty() ? HUGE_VAL : side.lo;
        for (double end : {-size.z(), size.z()}) {
          const Vec3 c = o - Vec3(0, 0, end);
          Interval ball;
          ball.quadric(1, c.dot(d), c.squaredNorm() - size.x() * size.x());
          if (!ball.empty()) least = std::min(least, ball.lo);
        }
        return least;
      }
      case ShapeKind::Box:
        for (int k = 0; k < 3; ++k) {
          z.half_space(o[k], d[k], size[k]);
          z.half_space(-o[k], -d[k], size[k]);
        }
        break;
      default:
        for (const std::vector<int>& face : hull->faces) {
          const Vec3& a = hull->vertices[static_cast<std::size_t>(face[0])];
          const Vec3 n = (hull->vertices[static_cast<std::size_t>(face[1])] - a)
                             .cross(hull->vertices[static_cast<std::size_t>(face[2])] - a)
                             .normalized();
          z.half_space(n.dot(o), n.dot(d), n.dot(a));
        }
    }
    return z.empty() ? HUGE_VAL : z.lo;
  }
  Interval cylinder(const Vec3& o, const Vec3& d) const {
    Interval z;
    z.half_space(o.z(), d.z(), size.z());
    z.half_space(-o.z(), -d.z(), size.z());
    const double a = d.x() * d.x() + d.y() * d.y();
    const double c = o.x() * o.x() + o.y() * o.y() - size.x() * size.x();
    if (a > 1e-30)
      z.quadric(a, o.x() * d.x() + o.y() * d.y(), c);
    else if (c > 0)
      z.lo = HUGE_VAL;
    return z;
  }
};

double height(const HeightField& h, double x, double y) {
  const double u = x / h.spacing_x + 0.5 * (h.nx - 1), v = y / h.spacing_y + 0.5 * (h.ny - 1);
  const int i = std::clamp(static_cast<int>(std::floor(u)), 0, h.nx - 2);
  const int j = std::clamp(static_cast<int>(std::floor(v)), 0, h.ny - 2);
  auto z = [&](int a, int b) { return h.heights[static_cast<std::size_t>(b * h.nx + a)]; };
  const double s = u - i, t = v - j;
  if (s + t <= 1) return z(i, j) + s * (z(i + 1, j) - z(i, j)) + t * (z(i, j + 1) - z(i, j));
  return z(i + 1, j + 1) + (1 - s) * (z(i, j + 1) - z(i + 1, j + 1)) + (1 - t) * (z(i + 1, j) - z(i + 1, j + 1));
}

Vec3 grid_point(const HeightField& h, int i, int j) {
  return {(i - 0.5 * (h.nx - 1)) * h.spacing_x, (j - 0.5 * (h.ny - 1)) * h.spacing_y,
          h.heights[static_cast<std::size_t>(j * h.nx + i)]};
}

// Height of the segment from a on over that from c on, where they cross seen from above.
double crossing(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = d - c, r = c - a;
  const double det = u.x() * v.y() - u.y() * v.x();
  if (std::abs(det) < 1e-14) return HUGE_VAL;
  const double s = (r.x() * v.y() - r.y() * v.x()) / det, t = (r.x() * u.y() - r.y() * u.x()) / det;
  if (s < 0 || s > 1 || t < 0 || t > 1) return HUGE_VAL;
  return (a + s * u).z() - (c + t * v).z();
}

// Of a box or a hull, all that can be lowest: its corners, grid points under it, edges that cross.
double exact_clearance(const Solids& solid, const Placement& X, const HeightField& h) {
  double least = HUGE_VAL;
  for (const Vec3& v : solid.corners()) least = std::min(least, (X * v).z() - height(h, (X * v).x(), (X * v).y()));
  for (int j = 0; j < h.ny; ++j)
    for (int i = 0; i < h.nx; ++i) {
      const Vec3 p = grid_point(h, i, j);
      if (const double low = solid.lower(X, p.x(), p.y()); low < HUGE_VAL) least = std::min(least, low - p.z());
      for (const auto& [a, b] : solid.edges()) {
        if (i + 1 < h.nx) least = std::min(least, crossing(X * a, X * b, p, grid_point(h, i + 1, j)));
        if (j + 1 < h.ny) least = std::min(least, crossing(X * a, X * b, p, grid_point(h, i, j + 1)));
        if (i > 0 && j + 1 < h.ny) least = std::min(least, crossing(X * a, X * b, p, grid_point(h, i - 1, j + 1)));
      }
    }
  return least;
}

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

// Of a round solid over the segment from a to b: many places, then thirds of the way beside the lowest.
template <class Over>
double along(const Vec3& a, const Vec3& b, const Over& over) {
  constexpr int parts = 60;
  auto at = [&](double s) { return over(a.x() + s * (b.x() - a.x()), a.y() + s * (b.y() - a.y())); };
  double least = HUGE_VAL, best = 0;
  for (int k = 0; k <= parts; ++k)
    if (const double f = at(static_cast<double>(k) / parts); f < least)
      least = f, best = static_cast<double>(k) / parts;
  double lo = std::max(0.0, best - 1.0 / parts), hi = std::min(1.0, best + 1.0 / parts);
  for (int k = 0; k < 30 && least < HUGE_VAL; ++k) {
    const double s = lo + (hi - lo) / 3, t = hi - (hi - lo) / 3;
    (at(s) < at(t) ? hi : lo) = at(s) < at(t) ? t : s;
    least = std::min(least, at(0.5 * (lo + hi)));
  }
  return least;
}

// Of the rims of a cylinder: they are sharp too.
double rims(const Solids& solid, const Placement& X, const HeightField& h) {
  constexpr int parts = 720;
  double least = HUGE_VAL;
  for (double end : {-solid.size.z(), solid.size.z()}) {
    auto at = [&](double angle) {
      const Vec3 p = X * Vec3(solid.size.x() * std::cos(angle), solid.size.x() * std::sin(angle), end);
      return p.z() - height(h, p.x(), p.y());
    };
    for (int k = 0; k < parts; ++k) {
      double lo = 2 * M_PI * (k - 1) / parts, hi = 2 * M_PI * (k + 1) / parts, here = at(0.5 * (lo + hi));
      if (here > at(lo) || here > at(hi)) continue;
      for (int round = 0; round < 30; ++round) {
        const double s = lo + (hi - lo) / 3, t = hi - (hi - lo) / 3;
        (at(s) < at(t) ? hi : lo) = at(s) < at(t) ? t : s;
      }
      least = std::min({least, here, at(0.5 * (lo + hi))});
    }
  }
  return least;
}

// Least height of the solid over the terrain.
double clearance(const Solids& solid, const Placement& X, const HeightField& h, double radius) {
  if (solid.hull || solid.kind == ShapeKind::Box) return exact_clearance(solid, X, h);
  auto over = [&](double x, double y) {
    const double low = solid.lower(X, x, y);
    return low < HUGE_VAL ? low - height(h, x, y) : HUGE_VAL;
  };
  struct Place {
    double f, x, y;
  };
  // From every place of a grid that is no higher than those beside it.
  constexpr int n = 80;
  const double step = 2 * radius / n;
  std::array<std::array<double, n + 1>, n + 1> grid;
  auto place = [&](int i, int j) {
    return Place{grid[idx(i)][idx(j)], X.p.x() - radius + step * i, X.p.y() - radius + step * j};
  };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) grid[idx(i)][idx(j)] = over(X.p.x() - radius + step * i, X.p.y() - radius + step * j);
  std::vector<Place> places;
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < n; ++j) {
      const Place here = place(i, j);
      bool lowest = here.f < HUGE_VAL;
      for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) lowest = lowest && here.f <= grid[idx(i + a)][idx(j + b)];
      if (lowest) places.push_back(here);
    }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.f < b.f; });
  double least = solid.kind == ShapeKind::Cylinder ? rims(solid, X, h) : HUGE_VAL;
  for (std::size_t k = 0; k < std::min<std::size_t>(places.size(), 12); ++k) {
    Place best = places[k];
    // The pattern turns, since the least may lie along a sharp ridge in any direction.
    double turn = 0;
    int failed = 0;
    for (double w = step; w > 1e-8 * radius; turn += 0.7) {
      const Place last = best;
      for (int i = -3; i <= 3; ++i)
        for (int j = -3; j <= 3; ++j) {
          const double x = last.x + w / 3 * (i * std::cos(turn) - j * std::sin(turn));
          const double y = last.y + w / 3 * (i * std::sin(turn) + j * std::cos(turn));
          if (const double f = over(x, y); f < best.f) best = {f, x, y};
        }
      failed = best.f < last.f ? 0 : failed + 1;
      if (failed == 3) w *= 0.5, failed = 0;
    }
    least = std::min(least, best.f);
  }
  // The search may stall on a sharp edge of the terrain: all of them.
  for (int j = 0; j < h.ny; ++j)
    for (int i = 0; i < h.nx; ++i) {
      const Vec3 p = grid_point(h, i, j);
      if ((p - X.p).head<2>().norm() > radius + 2 * (h.spacing_x + h.spacing_y)) continue;
      if (i + 1 < h.nx) least = std::min(least, along(p, grid_point(h, i + 1, j), over));
      if (j + 1 < h.ny) least = std::min(least, along(p, grid_point(h, i, j + 1), over));
      if (i > 0 && j + 1 < h.ny) least = std::min(least, along(p, grid_point(h, i - 1, j + 1), over));
    }
  return least;
}

struct Land {
  std::string name;
  double rise, spacing;
};

void search(int tries, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Vec3> points;
  for (int k = 0; k < 14; ++k) points.push_back(0.06 * Vec3{u(rng), u(rng), u(rng)});
  const Solids solids[] = {
      {ShapeKind::Sphere, {0.05, 0, 0}, nullptr},          {ShapeKind::Box, {0.06, 0.04, 0.05}, nullptr},
      {ShapeKind::Capsule, {0.03, 0, 0.06}, nullptr},      {ShapeKind::Cylinder, {0.05, 0, 0.05}, nullptr},
      {ShapeKind::Ellipsoid, {0.06, 0.03, 0.05}, nullptr}, {ShapeKind::Convex, {0, 0, 0}, make_hull(points, "hull")}};
  // Cells wider than the shapes, as wide, and narrower; from flat to slopes of 60 degrees.
  const Land lands[] = {{"flat", 0, 0.1},    {"gentle", 0.01, 0.1}, {"rough", 0.1, 0.25},
                        {"steep", 0.1, 0.1}, {"fine", 0.01, 0.03},  {"sharp", 0.05, 0.06}};
  for (const Solids& solid : solids)
    for (const Land& land : lands)
      for (int k = 0; k < tries; ++k) {
        auto field = std::make_shared<HeightField>();
        field->nx = field->ny = static_cast<int>(0.6 / land.spacing) + 4;
        field->spacing_x = land.spacing;
        field->spacing_y = 1.1 * land.spacing;
        for (int i = 0; i < field->nx * field->ny; ++i) field->heights.push_back(land.rise * u(rng));
        ModelBuilder builder;
        Geometry g;
        g.name = "land";
        g.kind = ShapeKind::HeightField;
        g.terrain = field;
        builder.add_geometry(g);
        builder.begin_member("object", false, "object");
        Body body;
        body.name = "object";
        body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0, 0), 1);
        Geometry s;
        s.name = "solid";
        s.kind = solid.kind;
        s.size = solid.size;
        s.hull = solid.hull;
        s.body = builder.add_body(body);
        builder.add_geometry(s);
        const Model model = builder.build();
        Collision collision(model);
        BodyMotion m;
        Quat turn = Quat{u(rng), u(rng), u(rng), u(rng)}.normalized();
        if (k % 4 == 0) turn = Quat(1, 0, 0, 0);                                                         // stands
        if (k % 4 == 1) turn = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3{u(rng), u(rng), 0}.normalized()));  // lies
        m.X_WB = {turn.toRotationMatrix(), Vec3{0.1 * u(rng), 0.1 * u(rng), 0.5}};
        m.X_WB.p.z() -= clearance(solid, m.X_WB, *field, 0.15);
        auto least_gap = [&](double lift) {
          BodyMotion moved = m;
          moved.X_WB.p.z() += lift;
          collision.detect({&moved, 1}, {}, {});
          double least = HUGE_VAL;
          for (const Contact& c : collision.contacts()) least = std::min(least, c.gap);
          return least;
        };
        CAPTURE(static_cast<int>(solid.kind));
        CAPTURE(land.name);
        CAPTURE(k);
        CHECK(std::abs(least_gap(0)) < 1e-5);
        const double above = least_gap(5e-4), below = least_gap(-5e-4);
        CHECK(above > 0);
        CHECK(above < 5e-4 + 1e-5);
        if (land.name != "sharp") CHECK(below > -5e-4 - 1e-5);  // between needles the way out may be longer
        CHECK(below < -1e-6);  // it is seen; a corner that overhangs a ridge by less than it sank gets out sideways
      }
}

}  // namespace

TEST_CASE("terrain: every shape on every terrain touches where brute force says") {
  search(12, 1);
  search(12, 213);
}

TEST_SUITE("long") {
  TEST_CASE("terrain: many shapes on many terrains") { search(100, 2); }
}
