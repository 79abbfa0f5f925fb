#include "lanes/lane_shape.hpp"

#include <algorithm>
#include <cmath>

#include "collision/narrowphase.hpp"
#include "stepping/sent_off.hpp"
#include "tribo/rigid.hpp"

namespace tribo::lanes {
namespace {

constexpr int most_contacts = 12;
constexpr int most_points = 256;

bool has_points(ShapeKind kind) {
  return kind == ShapeKind::Point || kind == ShapeKind::Sphere || kind == ShapeKind::Capsule || kind == ShapeKind::Box;
}

bool ground(const Geometry& g) { return g.body == -1 && g.kind == ShapeKind::HalfSpace; }

/// Pairs of what is fixed and what moves.
template <class F>
void each_ground_pair(const Model& model, F f) {
  for (int h = 0; h < static_cast<int>(model.geometries.size()); ++h) {
    if (model.geometries[at(h)].body != -1) continue;
    for (int g = 0; g < static_cast<int>(model.geometries.size()); ++g)
      if (model.geometries[at(g)].body >= 0 && model.may_collide(h, g)) f(h, g);
  }
}

std::string uncovered_bodies(const Model& model) {
  if (model.trees.size() != 1) return std::to_string(model.trees.size()) + " trees: one is covered";
  if (model.bodies.size() < 2) return "a single body";
  for (const Body& b : model.bodies) {
    if (b.joint == JointKind::Spherical || b.joint == JointKind::Continuous)
      return "the joint of '" + b.name + "' (revolute, prismatic and free ones are covered)";
    if (b.carried > 0) return "the carried weight of '" + b.name + "'";
    if (b.joint == JointKind::Free && !model.joints.friction.segment<6>(b.iv).isZero(0))
      return "dry friction of the free joint of '" + b.name + "'";
    if (b.joint == JointKind::Free && b.parent >= 0) return "the free joint of '" + b.name + "' in mid-tree";
  }
  if (!model.equalities.empty()) return "equality constraints";
  if (!model.tendons.empty() || !model.ties.empty()) return "tendons";
  if (!model.medium.boxes.empty()) return "a fluid";
  if (!model.kinematic.empty()) return "kinematic bodies";
  if (!model.joints.stiffness.isZero(0)) return "springs in joints";
  if (!model.pairs.empty()) return "pairs of geometries with a surface of their own";
  return "";
}

std::string uncovered_shapes(const Model& model) {
  const int n = static_cast<int>(model.geometries.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const Geometry &a = model.geometries[at(i)], &b = model.geometries[at(j)];
      if (!model.may_collide(i, j) || a.body == -1 || b.body == -1) continue;
      return "the pair of '" + a.name + "' and '" + b.name + "' (robots on what is fixed are covered)";
    }
  for (int i = 0; i < model.surfaces(); ++i) {
    const SurfacePair& s = model.surface(i);
    if (s.compliance > 0) return "compliant surfaces";
    if (s.torsional > 0 || s.rolling > 0) return "torsional and rolling friction";
  }
  return "";
}

std::string uncovered_drives(const Model& model, std::span<const PdOptions> drives) {
  std::vector<char> driven(model.members.size(), 0);
  for (const PdOptions& pd : drives) {
    if (pd.period > 0 || !pd.implicit || (pd.ki.size() > 0 && !pd.ki.isZero(0)))
      return "pd control with a period, an integral or explicit gains";
    if (driven[at(pd.member)]++) return "two pd controllers of one robot";
  }
  return "";
}

}  // namespace

std::string uncovered(const Model& model, const std::string& stepper, const StepperOptions& options,
                      std::span<const PdOptions> drives) {
  if (stepper != "rigid") return "stepper '" + stepper + "'";
  const ContactOptions& c = options.contact;
  if (c.model != "ncp" || c.solver != "newton" || !c.warm_start || c.max_iterations < 16)
    return "contact options (model 'ncp', solver 'newton', warm start are covered)";
  if (!options.own.empty()) {
    const auto own = options.own.taken<RigidOptions>("stepper 'rigid'");
    if (own.sleep > 0) return "sleep";
    if (own.on_problem || own.make_solver) return "a contact solver of one's own";
    if (own.touch) return "steps that are divided at a touch";
  }
  if (std::string why = uncovered_bodies(model); !why.empty()) return why;
  if (std::string why = uncovered_shapes(model); !why.empty()) return why;
  return uncovered_drives(model, drives);
}

ShapeData::ShapeData(const Model& model, const StepperOptions& options, double dt) : model_(model) {
  const ContactOptions& contact = options.contact;
  const Sizes sizes(model);
  add_bodies();
  add_chains();
  Shape& s = shape_;
  each_ground_pair(model, [&](int h, int) { s.finds |= !ground(model.geometries[at(h)]); });
  if (!s.finds) add_points(sizes, contact.margin);
  find_together();
  add_reach(contact);
  s.bodies = static_cast<int>(model.bodies.size());
  s.nq = model.nq;
  s.nv = model.nv;
  s.points = s.finds ? places() : static_cast<int>(points_.size());
  s.watched = static_cast<int>(watched_.size());
  s.grounds = static_cast<int>(grounds_.size());
  s.most_contacts = most_contacts;
  s.floats = model.bodies[0].joint == JointKind::Free;
  s.rubs = !model.joints.friction.isZero(0);
  s.dt = dt;
  for (int k = 0; k < 3; ++k) s.gravity[k] = model.gravity[k];
  s.tolerance_abs = contact.tolerance.abs;
  s.tolerance_rel = contact.tolerance.rel;
  s.recovers = contact.recovery_time != 0;
  s.joint_margin = contact.margin < 0 ? tribo::joint_margin : contact.margin;
  s.parent = parent_.data(), s.joint = joint_.data(), s.iq = iq_.data(), s.iv = iv_.data();
  s.aligned = aligned_.data(), s.turned = turned_.data();
  s.placement = placement_.data(), s.axis = axis_.data();
  s.dof_body = dof_body_.data(), s.dof_iq = dof_iq_.data(), s.depth = depth_.data(), s.row = row_.data();
  s.chain_start = chain_start_.data(), s.chain = chain_.data();
  s.reach = reach_.data(), s.turning = turning_.data();
  s.body_depth = body_depth_.data(), s.shared = shared_.data(), s.together = together_.data();
  s.point = points_.data(), s.watch = watched_.data(), s.vertex = vertices_.data(), s.ground = grounds_.data();
}

// As many contacts as the pairs may have.
int ShapeData::places() const {
  int n = 0;
  each_ground_pair(model_, [&](int, int) { n += Touches::most; });
  return n;
}

void ShapeData::add_reach(const ContactOptions& contact) {
  const SentOff sent_off(model_, contact.margin);
  for (int k = 0; k < model_.nv; ++k) {
    reach_.push_back(sent_off.reach(k));
    turning_.push_back(sent_off.turning(k));
  }
  shape_.astray = sent_off.least(0);
}

void ShapeData::add_bodies() {
  for (const Body& b : model_.bodies) {
    parent_.push_back(b.parent);
    joint_.push_back(b.joint == JointKind::Free ? free_joint : b.joint == JointKind::Prismatic ? prismatic : revolute);
    iq_.push_back(b.iq);
    iv_.push_back(b.iv);
    int aligned = -1;
    for (int a = 0; a < 3; ++a)
      if (b.axis == Vec3::Unit(a)) aligned = a;
    aligned_.push_back(aligned);
    turned_.push_back(!b.X_PJ.R.isIdentity(0));
    placement_.insert(placement_.end(), b.X_PJ.R.data(), b.X_PJ.R.data() + 9);
    placement_.insert(placement_.end(), b.X_PJ.p.data(), b.X_PJ.p.data() + 3);
    axis_.insert(axis_.end(), b.axis.data(), b.axis.data() + 3);
  }
}

void ShapeData::add_chains() {
  int entries = 0;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& b = model_.bodies[i];
    const int n = nv_of(b.joint), start = static_cast<int>(chain_.size()), depth = static_cast<int>(b.chain.size());
    chain_.insert(chain_.end(), b.chain.begin(), b.chain.end());
    body_depth_.push_back(depth);
    for (int k = 0; k < n; ++k) {
      dof_body_.push_back(static_cast<int>(i));
      dof_iq_.push_back(n == 1 ? b.iq : -1);
      chain_start_.push_back(start);
      depth_.push_back(depth - n + k);
      row_.push_back(entries);
      entries += depth - n + k + 1;
    }
    for (const Body& other : model_.bodies) {
      std::size_t same = 0;
      while (same < std::min(b.chain.size(), other.chain.size()) && b.chain[same] == other.chain[same]) ++same;
      shared_.push_back(static_cast<int>(same));
    }
  }
  shape_.entries = entries;
}

void ShapeData::add_points(const Sizes& sizes, double margin) {
  const int n = static_cast<int>(model_.geometries.size());
  for (int h = 0; h < n; ++h) {
    const Geometry& plane = model_.geometries[at(h)];
    if (!ground(plane)) continue;
    Ground x{};
    const Vec3 normal = plane.X_BG.R.col(2), axis = std::abs(normal.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 t = (axis - normal * normal.dot(axis)).normalized();
    for (int k = 0; k < 3; ++k) x.n[k] = normal[k], x.p[k] = plane.X_BG.p[k], x.t[k] = t[k];
    grounds_.push_back(x);
    for (int g = 0; g < n; ++g)
      if (model_.geometries[at(g)].body >= 0 && model_.may_collide(h, g)) add_geometry(h, g, sizes, margin);
  }
}

void ShapeData::add_geometry(int h, int index, const Sizes& sizes, double margin) {
  const Geometry& g = model_.geometries[at(index)];
  const int ground = static_cast<int>(grounds_.size()) - 1;
  const auto add = [&](const Vec3& local, double round, unsigned feature) {
    const Vec3 p = g.X_BG * local;
    points_.push_back({g.body, ground, index, {p.x(), p.y(), p.z()}, round});
    ids_.push_back(static_cast<std::uint64_t>(h) << 40 | static_cast<std::uint64_t>(index) << 16 | feature);
  };
  const bool room = static_cast<int>(points_.size()) < most_points;
  if (!room || !has_points(g.kind)) {
    const Solid solid(g);
    const int form = g.kind == ShapeKind::Cylinder    ? in_cylinder
                     : g.kind == ShapeKind::Ellipsoid ? in_ellipsoid
                                                      : in_box;
    Watched w{g.body, ground, form, {}, {}, margin < 0 ? default_margin * sizes.of(h, index) : margin, 0, 0};
    const Vec3 center = g.X_BG * solid.box_center;
    for (int k = 0; k < 3; ++k) {
      w.center[k] = center[k];
      const Vec3 axis = solid.box_half[k] * g.X_BG.R.col(k);
      for (int i = 0; i < 3; ++i) w.axes[3 * k + i] = axis[i];
    }
    if (g.hull) add_vertices(g, w);
    watched_.push_back(w);
  } else if (g.kind == ShapeKind::Box) {
    for (unsigned k = 0; k < 8; ++k)
      add(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).cwiseProduct(g.size), 0, k);
  } else if (g.kind == ShapeKind::Capsule) {
    add(Vec3(0, 0, -g.size.z()), g.size.x(), 0);
    add(Vec3(0, 0, g.size.z()), g.size.x(), 1);
  } else {
    add(Vec3::Zero(), g.kind == ShapeKind::Sphere ? g.size.x() : 0, 0);
  }
}

void ShapeData::add_vertices(const Geometry& g, Watched& w) {
  w.first = static_cast<int>(vertices_.size() / 3);
  w.vertices = static_cast<int>(g.hull->vertices.size());
  for (const Vec3& vertex : g.hull->vertices) {
    const Vec3 p = g.X_BG * vertex;
    vertices_.insert(vertices_.end(), p.data(), p.data() + 3);
  }
}

// Boxes around the shapes in the frame of their body, as seams.cpp has them.
void ShapeData::find_together() {
  constexpr double tolerance = 1e-5;
  const std::size_t n = points_.size();
  together_.assign(std::max<std::size_t>(n * n, 1), 0);
  const auto overlap = [&](const Geometry& a, const Geometry& b) {
    const Solid x(a), y(b);
    const Vec3 between = (a.X_BG * x.box_center - b.X_BG * y.box_center).cwiseAbs();
    const Vec3 reach = a.X_BG.R.cwiseAbs() * x.box_half + b.X_BG.R.cwiseAbs() * y.box_half +
                       Vec3::Constant(2 * tolerance * (x.radius + y.radius));
    return (between.array() <= reach.array()).all();
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (points_[i].body != points_[j].body || points_[i].geometry == points_[j].geometry) continue;
      const Geometry &a = model_.geometries[at(points_[i].geometry)], &b = model_.geometries[at(points_[j].geometry)];
      together_[i * n + j] = together_[j * n + i] = overlap(a, b);
    }
}

int ShapeData::point_of(std::uint64_t id) const {
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  return found != ids_.end() && *found == id ? static_cast<int>(found - ids_.begin()) : -1;
}

bool ShapeData::same_build(const Model& other) const {
  if (&other == &model_ || other.hash() == model_.hash()) return true;
  const auto same = [](const Placement& x, const Placement& y) { return x.R == y.R && x.p == y.p; };
  if (other.bodies.size() != model_.bodies.size() || other.geometries.size() != model_.geometries.size() ||
      other.gravity != model_.gravity || !uncovered_bodies(other).empty() || !uncovered_shapes(other).empty())
    return false;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body &x = model_.bodies[i], &y = other.bodies[i];
    if (x.parent != y.parent || x.joint != y.joint || x.axis != y.axis || !same(x.X_PJ, y.X_PJ)) return false;
  }
  for (std::size_t i = 0; i < model_.geometries.size(); ++i) {
    const Geometry &x = model_.geometries[i], &y = other.geometries[i];
    if (x.body != y.body || x.kind != y.kind || x.size != y.size || x.hull != y.hull || x.terrain != y.terrain ||
        x.mesh != y.mesh || !same(x.X_BG, y.X_BG))
      return false;
  }
  return shape_.rubs || other.joints.friction.isZero(0);
}

}  // namespace tribo::lanes
