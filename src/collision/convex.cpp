// Shapes as GJK and EPA (Coal) see them, and what these say of a pair: how far apart, and along which normal, to 1e-6 of their
// unit. Where faces touch, faces.cpp goes on from there.
#include <coal/narrowphase/gjk.h>
#include <coal/narrowphase/minkowski_difference.h>
#include <coal/narrowphase/narrowphase_defaults.h>
#include <coal/shape/geometric_shapes.h>

#include <algorithm>
#include <array>

#include "collision/narrowphase.hpp"

namespace tribo {

struct ConvexShape {
  std::unique_ptr<coal::ShapeBase> shape;
};

namespace {

// With supports of boxes and hulls of our own. Coal's make one side of a box longer by 1e-10, or not, by the first direction that
// any box of the process was ever asked for, so that steps would not be the same from run to run, and look for a corner of a
// hull from where the last search ended. Coal is told of a point in place of a hull.
class Difference : public coal::details::MinkowskiDiff {
 public:
  void set(const Solid& a, const Solid& b, const coal::Transform3s& X_a, const coal::Transform3s& X_b) {
    MinkowskiDiff::set<coal::details::SupportOptions::NoSweptSphere>(a.convex->shape.get(), b.convex->shape.get(), X_a,
                                                                     X_b);
    solids_ = {&a, &b};
    of_coal_ = getSupportFunc;
    asks_coal_ = !own(a) || !own(b);
    if (own(a) || own(b)) getSupportFunc = find;
  }

 private:
  static bool own(const Solid& x) { return x.kind == ShapeKind::Box || x.kind == ShapeKind::Convex; }
  static Vec3 farthest(const Solid& x, const Vec3& along) {
    if (x.kind == ShapeKind::Convex) {
      const Polytope& hull = *x.polytope;
      return hull.vertices[at(hull.climb.highest(along).corner)] / x.unit;
    }
    constexpr double none = 1e-12;
    const Vec3 half = x.size / x.unit;
    return (along.array() > none).select(half, 0) + (along.array() < -none).select(-half, 0);
  }
  static void find(const MinkowskiDiff& base, const Vec3& along, Vec3& on_a, Vec3& on_b,
                   coal::support_func_guess_t& hint, coal::details::ShapeSupportData data[2]) {
    const auto& x = static_cast<const Difference&>(base);
    if (x.asks_coal_) x.of_coal_(base, along, on_a, on_b, hint, data);
    const Solid &a = *x.solids_[0], &b = *x.solids_[1];
    if (own(a)) on_a = farthest(a, along);
    if (own(b)) on_b = x.oR1 * farthest(b, -x.oR1.transpose() * along) + x.ot1;
  }

  std::array<const Solid*, 2> solids_{};
  bool asks_coal_ = false;
  GetSupportFunction of_coal_ = nullptr;
};

}  // namespace

struct GjkSolver {
  Difference difference;
  // Never reset, which allocates (Coal's COAL_ASSERT makes its exception even where it holds): evaluate() begins
  // afresh.
  coal::details::GJK gjk{coal::GJK_DEFAULT_MAX_ITERATIONS, coal::GJK_DEFAULT_TOLERANCE};
  coal::details::EPA epa{coal::EPA_DEFAULT_MAX_ITERATIONS, coal::EPA_DEFAULT_TOLERANCE};
};

Scratch::Scratch() : gjk(std::make_unique<GjkSolver>()) { picked.reserve(256); }
Scratch::~Scratch() = default;

namespace {

Polytope box_polytope(const Vec3& h) {
  Polytope box;
  for (int k = 0; k < 8; ++k)
    box.vertices.push_back(h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  for (int k = 0; k < 3; ++k)
    for (int positive = 0; positive < 2; ++positive) {
      const int u = 1 << (k + 1) % 3, v = 1 << (k + 2) % 3, base = positive << k;
      PolytopeFace face;
      face.n = (positive ? 1.0 : -1.0) * Vec3::Unit(k);
      face.offset = h[k];
      face.loop = {base, base + u, base + u + v, base + v};
      if (!positive) std::reverse(face.loop.begin(), face.loop.end());
      box.faces.push_back(std::move(face));
    }
  return box;
}

Polytope hull_polytope(const Hull& hull) {
  Polytope p;
  p.vertices = hull.vertices;
  for (const std::vector<int>& loop : hull.faces) {
    PolytopeFace face;
    face.loop = loop;
    // Newell's normal: right for any planar loop, whichever corner is the sharpest.
    for (std::size_t k = 0; k < loop.size(); ++k)
      face.n += hull.vertices[at(loop[k])].cross(hull.vertices[at(loop[(k + 1) % loop.size()])]);
    face.n.normalize();
    face.offset = -HUGE_VAL;
    for (int i : loop) face.offset = std::max(face.offset, face.n.dot(hull.vertices[at(i)]));
    p.faces.push_back(std::move(face));
  }
  p.plant();
  return p;
}

}  // namespace

Solid::Solid(const Geometry& g, double unit_length)
    : kind(g.kind),
      size(g.size),
      radius(g.radius),
      box_center(Vec3::Zero()),
      box_half(g.size),
      round(0),
      unit(unit_length) {
  convex = std::make_unique<ConvexShape>();
  switch (kind) {
    case ShapeKind::Point:
      box_half.setZero();
      convex->shape = std::make_unique<coal::Sphere>(0);
      break;
    case ShapeKind::Sphere:
      round = size.x();
      box_half.setConstant(round);
      convex->shape = std::make_unique<coal::Sphere>(round / unit);
      break;
    case ShapeKind::Capsule:
      round = size.x();
      box_half = Vec3(round, round, size.z() + round);
      convex->shape = std::make_unique<coal::Capsule>(round / unit, 2 * size.z() / unit);
      break;
    case ShapeKind::Box:
      polytope = std::make_unique<Polytope>(box_polytope(size));
      convex->shape = std::make_unique<coal::Box>(2 * size / unit);
      break;
    case ShapeKind::Convex: {
      polytope = std::make_unique<Polytope>(hull_polytope(*g.hull));
      convex->shape = std::make_unique<coal::Sphere>(0);  // Difference has it
      Vec3 lo = Vec3::Constant(HUGE_VAL), hi = -lo;
      for (const Vec3& x : polytope->vertices) lo = lo.cwiseMin(x), hi = hi.cwiseMax(x);
      box_center = 0.5 * (lo + hi);
      box_half = 0.5 * (hi - lo);
      break;
    }
    case ShapeKind::Cylinder:
      box_half = Vec3(size.x(), size.x(), size.z());
      polytope = std::make_unique<Polytope>(cylinder_caps(size));
      convex->shape = std::make_unique<coal::Cylinder>(size.x() / unit, 2 * size.z() / unit);
      break;
    case ShapeKind::Ellipsoid:
      convex->shape = std::make_unique<coal::Ellipsoid>(size / unit);
      break;
    case ShapeKind::HalfSpace:
    case ShapeKind::HeightField:
    case ShapeKind::Mesh:
      convex.reset();
      if (g.terrain) terrain = std::make_unique<Terrain>(g.terrain);
      if (g.mesh) mesh = g.mesh->tree;
      break;
  }
}
Solid::~Solid() = default;
Solid::Solid(Solid&&) noexcept = default;

namespace {

/// The bounding boxes are no nearer than this, nor then the shapes: the best of their six normals and the way between them.
double between_boxes(const PlacedSolid& a, const PlacedSolid& b) {
  const Vec3 way = b.X * b.solid->box_center - a.X * a.solid->box_center;
  const Vec3 &h = a.solid->box_half, &k = b.solid->box_half;
  const Mat3 C = a.X.R.transpose() * b.X.R;
  const Vec3 t = a.X.R.transpose() * way, u = b.X.R.transpose() * way;
  const Vec3 on_a = t.cwiseAbs() - h - C.cwiseAbs() * k, on_b = u.cwiseAbs() - k - C.cwiseAbs().transpose() * h;
  const double between = way.norm() - (t.cwiseAbs().dot(h) + u.cwiseAbs().dot(k)) / way.norm();
  return std::max({on_a.maxCoeff(), on_b.maxCoeff(), between});
}

}  // namespace

// Coal's GJKSolver without its memory: the first guess is the way between the middles, so that results do not depend on the
// queries before. Coal works in the frame of a, so digits do not depend on the distance from the world's origin.
Separation separation(const Query& query) {
  using coal::details::EPA;
  using coal::details::GJK;
  query.scratch->look.by_gjk = true;
  const double parted = between_boxes(query.a, query.b);
  if (parted > query.reach + 1e-9 * (query.a.solid->radius + query.b.solid->radius))
    return {parted, Vec3::Constant(NAN), Vec3::Constant(NAN)};
  Difference& difference = query.scratch->gjk->difference;
  const coal::Transform3s Xa(query.a.X.R, coal::Vec3s::Zero());
  const double unit = query.a.solid->unit;
  const coal::Transform3s Xb(query.b.X.R, (query.b.X.p - query.a.X.p) / unit);
  difference.set(*query.a.solid, *query.b.solid, Xa, Xb);
  GJK& gjk = query.scratch->gjk->gjk;
  gjk.setDistanceEarlyBreak(std::max(0.0, query.reach / unit));
  gjk.convergence_criterion_type = coal::GJKConvergenceCriterionType::Relative;
  const Vec3 way = query.b.X * query.b.solid->box_center - query.a.X * query.a.solid->box_center;
  const Vec3 guess = query.a.X.R.transpose() * -direction(way, Vec3::UnitX());
  gjk.evaluate(difference, guess, coal::support_func_guess_t::Zero());
  Separation out{unit * gjk.distance, Vec3::Constant(NAN), Vec3::Constant(NAN)};
  if (gjk.status == GJK::NoCollisionEarlyStopped) return out;
  coal::Vec3s p1, p2, n;
  if (gjk.status == GJK::Collision) {
    EPA& epa = query.scratch->gjk->epa;
    epa.reset(coal::EPA_DEFAULT_MAX_ITERATIONS, coal::EPA_DEFAULT_TOLERANCE);
    epa.evaluate(gjk, -guess);
    const double deepest = 2 * (query.a.solid->radius + query.b.solid->radius) / unit;  // it may say DBL_MAX
    if (epa.status == EPA::FallBack || epa.status == EPA::DidNotRun || !(epa.depth <= deepest))
      return {-HUGE_VAL, out.p, out.n};
    epa.getWitnessPointsAndNormal(difference, p1, p2, n);
    out.gap = std::min(0.0, -unit * epa.depth);
  } else {
    gjk.getWitnessPointsAndNormal(difference, p1, p2, n);
  }
  out.p = query.a.X * (0.5 * unit * (p1 + p2));
  out.n = query.a.X.R * n;
  return out;
}

}  // namespace tribo
