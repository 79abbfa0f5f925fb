#include "lanes/lane_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/contact_report.hpp"

namespace tribo::lanes {
namespace {

constexpr double steps_of_recovery = 50;

using P = PackArrays;
constexpr double* P::*scalars[] = {&P::mu_static, &P::mu_dynamic, &P::restitution, &P::restitution_speed,
                                   &P::size,      &P::margin,     &P::share,       &P::known,
                                   &P::slips,     &P::touched,    &P::gap,         &P::mu,
                                   &P::listed,    &P::pressed,    &P::round};
constexpr double* P::*vectors[] = {&P::f, &P::t1, &P::contact_p, &P::c_start, &P::c_end, &P::axis_n, &P::lever};

// What is remembered of a contact, and the largest force of its pair.
struct Recalled {
  const ContactMemory* own = nullptr;
  double pressed = 0;
};
Recalled recall(const std::vector<ContactMemory>& memory, std::uint64_t id) {
  Recalled found;
  auto m = std::lower_bound(memory.begin(), memory.end(), id & ~std::uint64_t{0xffff},
                            [](const ContactMemory& x, std::uint64_t first) { return x.id < first; });
  for (; m != memory.end() && m->id >> 16 == id >> 16; ++m) {
    if (m->id == id) found.own = &*m;
    found.pressed = std::max(found.pressed, m->f.z());
  }
  return found;
}

}  // namespace

double recovery_share(const ContactOptions& contact, double gravity, double dt, double size) {
  const double natural = gravity > 0 ? 0.5 * std::sqrt(size / gravity) : steps_of_recovery * dt;
  return 1 - std::exp(-dt / (contact.recovery_time < 0 ? natural : contact.recovery_time));
}

LaneContacts::LaneContacts(const Model& model, const Shape& shape, const ContactOptions& contact, int width)
    : model_(model),
      sizes_(model),
      options_(contact),
      range_{contact.margin, shape.dt},
      gravity_(model.gravity.norm()),
      width_(width),
      most_(shape.most_contacts),
      slots_(std::min(shape.points, width * most_)),
      search_(model),
      motions_(model.bodies.size()),
      lists_(at(width)),
      first_(model.bodies.size()),
      count_(model.bodies.size()),
      slot_body_(at(slots_)) {
  for (int g = 0; g < static_cast<int>(model.geometries.size()); ++g)
    shares_.push_back(recovery_share(contact, gravity_, shape.dt, sizes_[g]));
  for (std::vector<Contact>& list : lists_) list.reserve(at(most_));
  const std::size_t each = at(slots_ * width);
  storage_ = make_buffer(each * (std::size(scalars) + 3 * std::size(vectors)));
  double* next = storage_.get();
  for (auto x : scalars) arrays_.*x = next, next += each;
  for (auto x : vectors) arrays_.*x = next, next += 3 * each;
  arrays_.slot_body = slot_body_.data();
  finder_ = {
      this,
      [](void* self, const Motions& now, unsigned lanes) { return static_cast<LaneContacts*>(self)->list(now, lanes); },
      [](void* self, const Motions& now, unsigned lanes) {
        return static_cast<LaneContacts*>(self)->more(now, lanes);
      }};
}

PackArrays LaneContacts::begin(const PackArrays& pack, std::span<WorldContacts> worlds) {
  worlds_ = worlds;
  PackArrays out = pack;
  for (auto x : scalars) out.*x = arrays_.*x;
  for (auto x : vectors) out.*x = arrays_.*x;
  out.slot_body = arrays_.slot_body;
  return out;
}

void LaneContacts::read_motions(const Motions& from, int l) {
  const auto vector = [&](const double* x, int i) {
    return Vec3(x[3 * i * width_ + l], x[(3 * i + 1) * width_ + l], x[(3 * i + 2) * width_ + l]);
  };
  origin_ = vector(from.O, 0);
  for (int b = 0; b < static_cast<int>(motions_.size()); ++b) {
    BodyMotion& m = motions_[at(b)];
    for (int c = 0; c < 3; ++c) m.X_WB.R.col(c) = vector(from.R, 3 * b + c);
    const Vec3 r = vector(from.r, b);
    m.X_WB.p = origin_ + r;
    m.w = vector(from.V, 2 * b + 1);
    m.v = vector(from.V, 2 * b) + m.w.cross(r);
  }
}

// Contacts of one body stand together, in the order of their ids: what a lane adds up does so in an order of its own.
Finder::Listed LaneContacts::list(const Motions& now, unsigned lanes) {
  std::fill(first_.begin(), first_.end(), 0);
  for (int l = 0; l < width_; ++l) {
    lists_[at(l)].clear();
    if ((lanes >> l & 1u) == 0) continue;
    read_motions(now, l);
    search_.detect(motions_, range_, worlds_[at(l)].memory);
    if (static_cast<int>(search_.contacts().size()) > most_) {
      lanes &= ~(1u << l);
      continue;
    }
    lists_[at(l)].assign(search_.contacts().begin(), search_.contacts().end());
    std::fill(count_.begin(), count_.end(), 0);
    for (const Contact& c : lists_[at(l)])
      first_[at(c.body_b)] = std::max(first_[at(c.body_b)], ++count_[at(c.body_b)]);
  }
  int slots = 0;
  for (std::size_t b = 0; b < first_.size(); ++b) {
    std::fill_n(slot_body_.begin() + slots, first_[b], static_cast<int>(b));
    slots += std::exchange(first_[b], slots);
  }
  for (auto x : scalars) std::fill_n(arrays_.*x, slots * width_, 0.0);
  for (auto x : vectors) std::fill_n(arrays_.*x, 3 * slots * width_, 0.0);
  for (int l = 0; l < width_; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    for (int i = 0; i < 3; ++i) origin_[i] = now.O[i * width_ + l];
    std::copy(first_.begin(), first_.end(), count_.begin());
    for (const Contact& c : lists_[at(l)]) fill(l, c, count_[at(c.body_b)]++);
  }
  return {slots, lanes};
}

void LaneContacts::fill(int l, const Contact& c, int slot) {
  const WorldContacts& world = worlds_[at(l)];
  const SurfacePair& surface = world.surfaces[at(c.surface)];
  const Recalled recalled = recall(world.memory, c.id);
  const double size = sizes_.of(c), own = sizes_[c.geometry_b];
  const Geometry& g = model_.geometries[at(c.geometry_b)];
  entry(&P::listed, slot, l) = 1;
  entry(&P::gap, slot, l) = c.gap;
  entry(&P::mu_static, slot, l) = surface.mu_static;
  entry(&P::mu_dynamic, slot, l) = surface.mu_dynamic;
  entry(&P::restitution, slot, l) = surface.restitution;
  entry(&P::restitution_speed, slot, l) = surface.restitution_speed;
  entry(&P::size, slot, l) = size;
  entry(&P::share, slot, l) =
      size == own ? shares_[at(c.geometry_b)] : recovery_share(options_, gravity_, range_.dt, size);
  entry(&P::margin, slot, l) = range_.margin < 0 ? default_margin * size : range_.margin;
  entry(&P::pressed, slot, l) = recalled.pressed;
  entry(&P::round, slot, l) = g.kind == ShapeKind::Sphere || g.kind == ShapeKind::Capsule ? g.size.x() : 0;
  put(&P::lever, slot, l, c.p_WC + c.arm_b - origin_);
  put(&P::t1, slot, l, c.R_WC.col(0));
  put(&P::axis_n, slot, l, c.R_WC.col(2));
  if (const ContactMemory* m = recalled.own) {
    entry(&P::slips, slot, l) = m->mode == ContactMode::Slip;
    entry(&P::touched, slot, l) = m->touched;
    put(&P::f, slot, l, m->f);
  }
}

unsigned LaneContacts::more(const Motions& now, unsigned lanes) {
  unsigned out = 0;
  for (int l = 0; l < width_; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    read_motions(now, l);
    search_.resume(lists_[at(l)]);
    if (search_.detect_more(motions_, range_, worlds_[at(l)].memory)) out |= 1u << l;
  }
  return out;
}

void LaneContacts::remember(int l) {
  WorldContacts& world = worlds_[at(l)];
  world.memory.clear();
  world.reports.clear();
  std::copy(first_.begin(), first_.end(), count_.begin());
  for (const Contact& c : lists_[at(l)]) {
    const int i = count_[at(c.body_b)]++;
    ContactReport& r = world.reports.emplace_back();
    list_contact(c, r);
    ContactMemory& m = world.memory.emplace_back();
    m.id = r.id;
    m.f = r.f = get(&P::f, i, l);
    m.t1 = r.R_WC.col(0);
    m.touched = entry(&P::touched, i, l) != 0;
    m.mode = r.mode = entry(&P::slips, i, l) != 0 ? ContactMode::Slip
                      : m.touched                 ? ContactMode::Stick
                                                  : ContactMode::Open;
    r.c = get(&P::c_end, i, l);
    r.c_start = get(&P::c_start, i, l);
    r.mu = entry(&P::mu, i, l);
    r.cone_margin = r.mu * r.f.z() - r.f.head<2>().norm();
  }
}

}  // namespace tribo::lanes
