#include "collision/collision.hpp"

#include <algorithm>
#include <limits>

#include "collision/ahead.hpp"
#include "collision/crowd.hpp"
#include "collision/hinges.hpp"
#include "collision/narrowphase.hpp"
#include "collision/paving.hpp"
#include "collision/recall.hpp"
#include "collision/seams.hpp"
#include "model/mesh_tree.hpp"
#include "model/sizes.hpp"

namespace tribo {
namespace {

constexpr int largest_table = 2048;  // geometries: up to here, which pairs may collide is tabulated

constexpr double sunk = 0.05;  // of the margin: overlap from which on a point looks for a way out
constexpr double off = 0.5;    // of the margin: what bounces and is farther has left
// The same as Query::left of links: what joints carry may add more in every step than is taken off, and it would gather.
constexpr double links_left = 0.01;
constexpr double same_plane = 1e-6;  // of the cosine between normals

/// 16 bits of a feature. Wide ones (hulls) are hashed into the upper half; two of a pair that fall together are parted
/// in the order in which they were found.
std::uint64_t short_feature(std::uint64_t x) {
  if (x < 0x8000) return x;
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  return 0x8000 | (x >> 49);
}

bool by_id(const Contact& x, const Contact& y) { return x.id < y.id; }

constexpr std::uint64_t next_feature(std::uint64_t x) { return (x + 1) & 0xffff; }

/// The first tangent of a contact that has none yet: world x, or y where the normal is close to x.
Vec3 fresh_tangent(const Vec3& n) {
  const Vec3 axis = std::abs(n.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
  return (axis - n * n.x() * axis.x() - n * n.y() * axis.y()).normalized();
}

/// The last tangent, turned as far as the normal turned; to the bit the same where the normal did not turn.
Vec3 carried_tangent(const Vec3& n, const Vec3& last) {
  const double along = n.dot(last);
  if (std::abs(along) < 1e-15) return last;
  const Vec3 t = last - along * n;
  const double length = t.norm();
  return length > 0.1 ? Vec3(t / length) : fresh_tangent(n);
}

/// Does it list all points that may ever touch a plane? A rim and a round side have others when they turn.
bool lists_corners(ShapeKind kind) {
  return kind != ShapeKind::Cylinder && kind != ShapeKind::Ellipsoid && kind != ShapeKind::Convex;
}

void set_axes(Contact& contact, const Vec3& n, const Vec3& t1) {
  contact.R_WC.col(0) = t1;
  contact.R_WC.col(1) = n.cross(t1);
  contact.R_WC.col(2) = n;
}

}  // namespace

struct Collision::Impl {
  explicit Impl(const Model& m);

  bool may_collide(int a, int b) const {
    return table.empty() ? model->may_collide(a, b) : table[at(a) * model->geometries.size() + at(b)];
  }
  /// Fixed geometry is side a, else the smaller index.
  std::pair<int, int> sides(int i, int j) const {
    return side_a_first(*model, i, j) ? std::pair(i, j) : std::pair(j, i);
  }
  double margin(const DetectionRange& range, int a, int b) const {
    return range.margin < 0 ? default_margin * sizes.of(a, b) : range.margin;
  }
  bool tumbles(int g) const;
  bool bounces(int a, int b) const { return model->surface(model->surface_index(a, b)).restitution > 0; }
  bool place(std::span<const BodyMotion> bodies);  ///< Is a shape elsewhere than before?
  void find_grounds(const DetectionRange& range);
  void find_pairs(const DetectionRange& range, std::size_t most = Broadphase::every);
  void sort_pairs();
  void add(int a, int b, const DetectionRange& range);
  int meet(Query& query, int a, int b, int solid);
  void touch_or_recall(const Query& query, int a, int b);
  void list_touches(const Query& query, int a, int b, int foreseen);
  void pave(const DetectionRange& range);
  bool paved(int a, int b) const { return std::binary_search(on_planes.begin(), on_planes.end(), std::pair(a, b)); }
  void carry_tangents();
  bool carries_on(int a, int b, double near) const;
  bool is_plane(int a) const { return at(a) >= solids.size() || solids[at(a)].kind == ShapeKind::HalfSpace; }
  std::span<const ContactMemory> remembered(int a, int b) const;  ///< of a pair
  unsigned ring(int a, int b) const;
  bool linked(int a) const;  ///< to other bodies of its tree?
  bool goes(int g) const {
    const int body = model->geometries[at(g)].body;
    return body >= 0 && sent[at(model->bodies[at(body)].tree)];
  }
  bool find(std::span<const BodyMotion> bodies, const DetectionRange& range);
  bool known(std::uint64_t id, const Vec3& n) const;
  void list(const Query& query, std::pair<int, int> pair, std::uint64_t id, const Touch& t);
  void list_at_end(const Query& query, int a, int b, std::size_t begin, int i);
  static std::uint64_t pair_id(int a, int b) {
    return static_cast<std::uint64_t>(a) << 24 | static_cast<std::uint64_t>(b);
  }

  const Model* model;
  Sizes sizes;
  std::vector<Solid> solids;
  std::vector<char> table;                   // (geometries x geometries), empty for large models
  std::vector<std::pair<int, int>> joined;   // that always overlap; not in the table
  std::vector<std::pair<int, int>> grounds;  // half-space or terrain, other
  std::vector<int> swept;                    // geometries that may meet something else than those
  std::vector<char> turned;                  // geometry is rotated in its body

  std::vector<PlacedSolid> placed;
  std::vector<std::pair<int, int>> found, pairs;  // pairs: as sides
  std::vector<int> first;                         // counting sort of pairs by side a
  Broadphase broadphase;
  Scratch scratch;
  Touches touches;
  std::vector<Contact> contacts, listed;  // listed: before detect_more
  Recall recall;
  bool listing_again = false;             // in detect_more
  std::span<const ContactMemory> memory;  // of the last step, in detect and detect_more
  std::span<const char> sent;             // by tree, in detect_more
  std::unique_ptr<Seams> seams;
  std::unique_ptr<Paving> paving;
  std::vector<double> margins;                 // of shapes over planes [m]
  std::array<int, Touches::most> under;        // solids of side a, by touch
  std::vector<std::pair<int, int>> on_planes;  // pairs whose contacts are those of a plane; sorted
};

Collision::Impl::Impl(const Model& m) : model(&m), sizes(m) {
  const int n = static_cast<int>(m.geometries.size());
  check_counts(m);
  const bool small = n <= largest_table;
  std::vector<char> meets(at(n), !small);
  for (int i = 0; i < n; ++i) {
    const Geometry& g = m.geometries[at(i)];
    solids.emplace_back(g, sizes.unit());
    turned.push_back(!g.X_BG.R.isIdentity(0));
    placed.push_back({nullptr, g.X_BG, Vec3::Zero(), Vec3::Zero(), 0, Vec3::Zero(), g.body});
  }
  if (small) table = pair_table(m, solids, joined);
  for (int i = 0; i < n; ++i) {
    const bool ground = endless(m.geometries[at(i)].kind);
    for (int j = 0; (small || ground) && j < n; ++j) {
      if (i == j || !may_collide(i, j)) continue;
      const bool other = endless(m.geometries[at(j)].kind);
      if (ground && !other) grounds.emplace_back(i, j);
      if (!ground && !other) meets[at(i)] = 1;
    }
  }
  for (int i = 0; i < n; ++i) {
    placed[at(i)].solid = &solids[at(i)];
    if (meets[at(i)] && !endless(m.geometries[at(i)].kind)) swept.push_back(i);
  }
  first.resize(at(n) + 1);
  seams = std::make_unique<Seams>(m, solids);
  paving = std::make_unique<Paving>(m, solids);
  margins.resize(paving->empty() ? 0 : at(n));
}

/// A single free body that turns: no ball, and no cylinder that only rolls.
bool Collision::Impl::tumbles(int g) const {
  const int i = model->geometries[at(g)].body;
  if (i < 0) return false;
  const Body& body = model->bodies[at(i)];
  return body.joint == JointKind::Free && model->trees[at(body.tree)].bodies == 1 && turning(placed[at(g)]) > 0;
}

bool Collision::Impl::place(std::span<const BodyMotion> bodies) {
  bool moved = false;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const Geometry& g = model->geometries[i];
    if (g.body == -1) continue;
    const BodyMotion& body = bodies[g.body >= 0 ? at(g.body) : model->bodies.size() + at(kinematic_index(g.body))];
    PlacedSolid& x = placed[i];
    const Vec3 r = body.X_WB.R * g.X_BG.p, p = body.X_WB.p + r;
    const Mat3 R = turned[i] ? Mat3(body.X_WB.R * g.X_BG.R) : body.X_WB.R;
    moved = moved || p != x.X.p || R != x.X.R;
    x.X.p = p;
    x.X.R = R;
    x.v = body.v + body.w.cross(r);
    x.w = body.w;
    x.arm = r;
    if (!endless(g.kind)) x.spin = body.w.norm() * g.radius;
  }
  return moved;
}

void Collision::Impl::find_grounds(const DetectionRange& range) {
  for (const auto& [h, g] : grounds) {
    const PlacedSolid &plane = placed[at(h)], &other = placed[at(g)];
    if (plane.solid->mesh) {
      const double near = margin(range, h, g), way = std::max(near, range.dt * fastest(plane, other) + astray * near);
      const Vec3 x = plane.X.R.transpose() * (other.X.p - plane.X.p);
      const MeshTree::Node& all = plane.solid->mesh->nodes[0];
      if ((x - all.hi).cwiseMax(all.lo - x).maxCoeff() <= other.solid->radius + way) pairs.push_back(sides(h, g));
      continue;
    }
    const Vec3 n = plane.X.R.col(2), r = other.X.p - plane.X.p;
    const double radius = other.solid->radius, near = margin(range, h, g);
    const double top = plane.solid->terrain ? plane.solid->terrain->highest : 0;
    const auto misses = [&](double gap) {  // no point of the shape is lower
      if (gap < near) return false;
      const Vec3 c = other.v - plane.v - plane.w.cross(r);
      return gap + range.dt * (n.dot(c) - (other.w - plane.w).norm() * radius) >= astray * near;
    };
    const double height = n.dot(r) - top;
    if (misses(height - radius)) continue;  // by the bounding sphere
    if (other.solid->kind != ShapeKind::Point && other.solid->kind != ShapeKind::Sphere) {
      const Vec3 up = other.X.R.transpose() * n;
      if (misses(height + up.dot(other.solid->box_center) - up.cwiseAbs().dot(other.solid->box_half))) continue;
    }
    pairs.push_back(sides(h, g));
  }
}

void Collision::Impl::find_pairs(const DetectionRange& range, std::size_t most) {
  found.clear();
  if (swept.empty()) return;
  broadphase.boxes.clear();
  for (int g : swept) {
    const PlacedSolid& x = placed[at(g)];
    // Half of the margin, or all that it moves: two boxes so grown overlap if the shapes can be listed.
    const double near = margin(range, g, g);
    const double grown = std::max(0.5 * near, range.dt * (x.v.norm() + x.spin) + 0.5 * astray * near);
    broadphase.boxes.push_back(bounds_of(x, grown, g));
  }
  broadphase.find(found, most);
  for (const auto& [i, j] : found)
    if (may_collide(i, j)) pairs.push_back(sides(i, j));
}

/// By side a, then b: the order of the ids.
void Collision::Impl::sort_pairs() {
  found.resize(std::max(found.size(), pairs.size()));
  std::fill(first.begin(), first.end(), 0);
  for (const auto& p : pairs) ++first[at(p.first) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  for (const auto& p : pairs) found[at(first[at(p.first)]++)] = p;  // first[a] is now the end of a
  std::copy(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(pairs.size()), pairs.begin());
  int begin = 0;
  for (std::size_t a = 0; a + 1 < first.size(); ++a) {
    if (first[a] - begin > 1) std::sort(pairs.begin() + begin, pairs.begin() + first[a]);
    begin = first[a];
  }
}

/// The touches of a and b; solid i of a is under[i].
void Collision::Impl::list_touches(const Query& query, int a, int b, int foreseen) {
  const std::size_t begin = contacts.size();
  std::uint64_t features[Touches::most];
  for (int i = 0; i < foreseen; ++i) {
    std::uint64_t& x = features[i] = short_feature(touches.items[at(i)].feature);
    while (std::find(features, features + i, x) != features + i) x = next_feature(x);
    const std::uint64_t id = pair_id(a, b) << 16 | x;
    if (!listing_again || !known(id, touches.items[at(i)].n)) list(query, {under[at(i)], b}, id, touches.items[at(i)]);
  }
  for (int i = foreseen; i < touches.count; ++i) list_at_end(query, a, b, begin, i);
  std::sort(contacts.begin() + static_cast<std::ptrdiff_t>(begin), contacts.end(), by_id);
}

bool Collision::Impl::linked(int a) const {
  const int body = at(a) < model->geometries.size() ? model->geometries[at(a)].body : -1;
  return body >= 0 && model->trees[at(model->bodies[at(body)].tree)].bodies > 1;
}

/// touch, but for what it has found already while the shapes were there.
void Collision::Impl::touch_or_recall(const Query& query, int a, int b) {
  if (listing_again && recall.find({a, b}, query, touches)) return;
  scratch.look = {};
  touch(query, touches);
  if (!listing_again) recall.keep({a, b}, query, touches);
}

/// Fills touches with what touches of b with a (a name: of a plane too, then solid is one under it). How many of them are
/// foreseen: the others overlap at the end of the step.
int Collision::Impl::meet(Query& query, int a, int b, int solid) {
  query.ring = ring(a, b);
  const bool plane = is_plane(a) || is_plane(b);
  touches.count = 0;
  if (plane)
    touch(query, touches);
  else
    touch_or_recall(query, a, b);
  if (!plane && touches.count == 1 && touches.items[0].gap < -sunk * query.margin)
    leave_by_free_face(query, placed, touches.items[0]);
  if (query.dt > 0 && (touches.count > 0 || !plane) &&
      (!plane || (bounces(solid, b) && tumbles(is_plane(a) ? b : a))) &&
      !carries_on(a, b, (!plane && bounces(solid, b) ? off : 1) * query.margin))
    look_ahead(query, touches);
  const int foreseen = touches.count;
  if (linked(a) || linked(b)) query.left = links_left;
  if (listing_again && !(plane && lists_corners(query.b.solid->kind))) look_at_end(query, touches);
  return foreseen;
}

void Collision::Impl::add(int a, int b, const DetectionRange& range) {
  Query query = make_query(placed[at(a)], placed[at(b)], margin(range, a, b), range.dt, scratch);
  const int foreseen = meet(query, a, b, a);
  under.fill(a);
  list_touches(query, a, b, foreseen);
}

// What stands on a floor of solids, or well inside of one face, touches the plane of the floor.
void Collision::Impl::pave(const DetectionRange& range) {
  on_planes.clear();
  for (std::size_t b = 0; b < margins.size(); ++b) margins[b] = margin(range, static_cast<int>(b), static_cast<int>(b));
  for (const Paving::Spot& spot : paving->find(placed, pairs, margins, range.dt)) {
    const PlacedSolid plane = paving->half_space(placed, spot);
    const int b = spot.shape, a = static_cast<int>(model->geometries.size()) + spot.plane;
    Query query = make_query(plane, placed[at(b)], margins[at(b)], range.dt, scratch);
    const int foreseen = meet(query, a, b, spot.tiles[0]);
    if (!paving->carries(placed, spot, query, touches, under)) continue;
    list_touches(query, a, b, foreseen);
    for (int tile : spot.tiles) on_planes.emplace_back(tile, b);
  }
  std::sort(on_planes.begin(), on_planes.end());
  std::sort(contacts.begin(), contacts.end(), by_id);
}

void Collision::Impl::list(const Query& query, std::pair<int, int> pair, std::uint64_t id, const Touch& t) {
  const auto [a, b] = pair;
  const Geometry &ga = model->geometries[at(a)], &gb = model->geometries[at(b)];
  Contact& c = contacts.emplace_back();
  c.id = id;
  c.geometry_a = a, c.geometry_b = b;
  c.body_a = ga.body, c.body_b = gb.body;
  c.surface = model->surface_index(a, b);
  c.p_WC = t.p;
  c.R_WC.col(2) = t.n;
  c.gap = t.gap;
  c.arm_a = t.arm_a;
  c.arm_b = t.arm_b;
  const ShapeKind kind = query.a.solid->kind;  // a plane may stand for a
  const bool flat = kind == ShapeKind::HalfSpace || kind == ShapeKind::Mesh;
  if (flat && t.gap > 0 && t.arm_b.isZero(0)) {  // whenever it meets the plane, with this point
    c.arm_b = 0.5 * t.gap * t.n;
    if (ga.body >= 0) c.arm_a = c.arm_b;
  }
  if (gb.body < -1) {
    c.v_given += carried(query.b, query.a, t.p, query.dt);
    c.w_given += query.b.w;
  }
  if (ga.body < -1) {
    c.v_given -= carried(query.a, query.b, t.p, query.dt);
    c.w_given -= query.a.w;
  }
}

// A feature may be listed already, in another plane, that of the start: then the name is taken, and the next is none of a cap.
void Collision::Impl::list_at_end(const Query& query, int a, int b, std::size_t begin, int i) {
  const Touch& t = touches.items[at(i)];
  const double apart = 0.01 * std::min(query.a.solid->radius, query.b.solid->radius);  // other points of a rim
  std::uint64_t x = short_feature(t.feature);
  for (;; x = (x + 8193) & 0xffff) {
    const std::uint64_t id = pair_id(a, b) << 16 | x;
    auto same =
        std::lower_bound(listed.begin(), listed.end(), id, [](const Contact& c, std::uint64_t i) { return c.id < i; });
    if (same == listed.end() || same->id != id) {
      const auto here = contacts.begin() + static_cast<std::ptrdiff_t>(begin);
      same = std::find_if(here, contacts.end(), [&](const Contact& c) { return c.id == id; });
      if (same == contacts.end()) break;
    }
    if (same->R_WC.col(2).dot(t.n) > 1 - same_plane && (same->p_WC - t.p).norm() < apart) return;
  }
  list(query, {under[at(i)], b}, pair_id(a, b) << 16 | x, t);
}

// A pair that pressed in the last step and is still near stays as it is found. What slides over a curved surface leaves it by
// v^2 dt^2/2R in every step: when within the step it would meet it again, along which normal, changes from step to step,
// and the force with it. What bounces has left when it is farther than off: it may come back with another end.
bool Collision::Impl::carries_on(int a, int b, double near) const {
  if ((!is_plane(a) && !solids[at(a)].convex_or_flat()) || !solids[at(b)].convex_or_flat()) return false;  // edges
  const auto end = touches.items.begin() + touches.count;
  if (std::none_of(touches.items.begin(), end, [&](const Touch& t) { return t.gap < near; })) return false;
  const auto known = remembered(a, b);
  return std::any_of(known.begin(), known.end(), [](const ContactMemory& m) { return m.f.z() > 0; });
}

std::span<const ContactMemory> Collision::Impl::remembered(int a, int b) const {
  const auto before = [](const ContactMemory& x, std::uint64_t id) { return x.id < id; };
  const std::uint64_t pair = pair_id(a, b);
  const auto from = std::lower_bound(memory.begin(), memory.end(), pair << 16, before);
  auto to = from;
  while (to != memory.end() && to->id >> 16 == pair) ++to;
  return {from, to};
}

// The rim of a standing cylinder decides when it tips: one of its points is where the load of the last step leans to.
unsigned Collision::Impl::ring(int a, int b) const {
  const bool plane = is_plane(a) || is_plane(b);
  if ((plane || solids[at(a)].kind != ShapeKind::Cylinder) && solids[at(b)].kind != ShapeKind::Cylinder) return 0;
  CapLoad load(plane ? 0 : first_on_face);
  double rounding = 0;
  for (const ContactMemory& m : remembered(a, b)) rounding = std::max(rounding, 1e-6 * m.f.z());
  for (const ContactMemory& m : remembered(a, b)) load.add(m.id & 0xffff, m.f.z() > rounding ? m.f.z() : 0);
  return load.ring();
}

void Collision::Impl::carry_tangents() {
  auto m = memory.begin();
  for (Contact& c : contacts) {
    const Vec3 n = c.R_WC.col(2);
    while (m != memory.end() && m->id < c.id) ++m;
    set_axes(c, n, m != memory.end() && m->id == c.id ? carried_tangent(n, m->t1) : fresh_tangent(n));
  }
}

Collision::Collision(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
Collision::~Collision() = default;
Collision::Collision(Collision&&) noexcept = default;

bool Collision::Impl::find(std::span<const BodyMotion> bodies, const DetectionRange& range) {
  contacts.clear();
  pairs.clear();
  if (place(bodies) || !listing_again) recall.clear();
  find_grounds(range);
  find_pairs(range);
  if (listing_again && !sent.empty())
    std::erase_if(pairs, [&](const auto& pair) { return !goes(pair.first) && !goes(pair.second); });
  if (pairs.empty()) return false;
  sort_pairs();
  if (!paving->empty()) pave(range);
  const std::size_t laid = contacts.size();
  for (const auto& [a, b] : pairs)
    if (on_planes.empty() || !paved(a, b)) add(a, b, range);
  std::rotate(contacts.begin(), contacts.begin() + static_cast<std::ptrdiff_t>(laid), contacts.end());  // planes last
  return true;
}

// Does the list before have the contact already, or another that bounds the pair along a different normal? A plane bounds
// every point in the same way whenever it is met; what two solids meet with otherwise depends on when, and one such
// plane is enough, but for what would overlap at the end all the same.
bool Collision::Impl::known(std::uint64_t id, const Vec3& n) const {
  auto c = std::lower_bound(listed.begin(), listed.end(), id >> 16 << 16,
                            [](const Contact& x, std::uint64_t first) { return x.id < first; });
  for (; c != listed.end() && c->id >> 16 == id >> 16; ++c)
    if (c->id == id || c->R_WC.col(2).dot(n) < 1 - same_plane) return true;
  return false;
}

void Collision::detect(std::span<const BodyMotion> bodies, const DetectionRange& range,
                       std::span<const ContactMemory> memory) {
  Impl& x = *impl_;
  x.memory = memory;
  if (!x.find(bodies, range)) return;
  x.seams->remove_covered(x.placed, x.contacts);
  x.carry_tangents();
}

bool Collision::detect_more(std::span<const BodyMotion> bodies, const DetectionRange& range,
                            std::span<const ContactMemory> memory, std::span<const char> sent) {
  Impl& x = *impl_;
  x.memory = memory;
  x.sent = sent;
  x.contacts.swap(x.listed);
  x.listing_again = true;
  x.find(bodies, range);
  x.listing_again = false;
  if (x.contacts.empty()) {
    x.contacts.swap(x.listed);
    return false;
  }
  x.contacts.insert(x.contacts.end(), x.listed.begin(), x.listed.end());
  std::sort(x.contacts.begin(), x.contacts.end(), by_id);
  x.seams->remove_covered(x.placed, x.contacts);
  x.carry_tangents();
  return x.contacts.size() > x.listed.size();
}

bool Collision::crowded(std::span<const BodyMotion> bodies, std::size_t most) {
  impl_->place(bodies);
  impl_->pairs.clear();
  impl_->find_pairs({-1, 0}, most);
  return impl_->found.size() > most;
}

std::span<const std::pair<int, int>> Collision::joined() const { return impl_->joined; }

std::span<const Contact> Collision::contacts() const { return impl_->contacts; }

void Collision::resume(std::span<const Contact> list) { impl_->contacts.assign(list.begin(), list.end()); }

}  // namespace tribo
