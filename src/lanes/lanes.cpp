#include "lanes/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "stepping/rigid/row_ids.hpp"

namespace tribo::lanes {
namespace {

constexpr double joint_size = 0.1;  // as recovery.cpp has it [m]

struct Field {
  double* PackArrays::*array;
  int entries;
};

std::vector<Field> fields(const Shape& s) {
  using P = PackArrays;
  std::vector<Field> list{{&P::q, s.nq}, {&P::mass, s.bodies}, {&P::com, 3 * s.bodies}, {&P::inertia, 6 * s.bodies}};
  for (auto x : {&P::v, &P::damping, &P::armature, &P::friction, &P::effort_lower, &P::effort_upper, &P::lower,
                 &P::upper, &P::kp, &P::kd, &P::tau, &P::feedforward, &P::target, &P::patience, &P::torque})
    list.push_back({x, s.nv});
  const int points = s.finds ? 0 : s.points;  // else those of LaneContacts
  for (auto x : {&P::mu_static, &P::mu_dynamic, &P::restitution, &P::restitution_speed, &P::size, &P::margin, &P::share,
                 &P::known, &P::slips, &P::touched, &P::gap, &P::mu})
    list.push_back({x, points});
  for (auto x : {&P::f, &P::t1, &P::contact_p, &P::c_start, &P::c_end, &P::axis_n}) list.push_back({x, 3 * points});
  list.push_back({&P::row_f, row_kinds * s.nv});
  list.push_back({&P::row_known, row_kinds * s.nv});
  list.push_back({&P::total_mass, 1});
  list.push_back({&P::rows, 1});
  return list;
}

}  // namespace

Lanes::Lanes(const Model& model, const StepperOptions& options, double dt, std::vector<PdOptions> drives, int worlds,
             int threads, const Kernel& kernel)
    : model_(model),
      contact_(options.contact),
      dt_(dt),
      drives_(std::move(drives)),
      data_(model, options, dt),
      shape_(data_.shape()),
      kernel_(kernel),
      worlds_(at(worlds)) {
  shape_.joint_share = recovery_share(contact_, model.gravity.norm(), dt, joint_size);
  kp_ = kd_ = VecX::Zero(model.nv);
  const Sizes sizes(model);
  for (int i = 0; i < (shape_.finds ? 0 : shape_.points); ++i) {
    const int h = data_.ground_geometry(i), g = data_.geometry(i);
    const double size = sizes.of(h, g);
    point_data_.push_back({model.surface_index(h, g), size, recovery_share(contact_, model.gravity.norm(), dt, size)});
  }
  for (const PdOptions& pd : drives_) {
    const Member& member = model.members[at(pd.member)];
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (nv_of(body.joint) != 1) continue;
      kp_[body.iv] = pd.kp[body.iv - member.iv];
      kd_[body.iv] = pd.kd[body.iv - member.iv];
    }
  }
  const std::vector<Field> list = fields(shape_);
  const std::size_t lanes = at(width()), packs = (at(worlds) + lanes - 1) / lanes;
  std::size_t each = 0;
  for (const Field& field : list) each += at(field.entries) * lanes;
  each = (each + 7) / 8 * 8;
  storage_ = make_buffer(each * packs);
  packs_.resize(packs);
  for (std::size_t p = 0; p < packs; ++p) {
    double* next = storage_.get() + p * each;
    for (const Field& field : list) {
      packs_[p].*field.array = next;
      next += at(field.entries) * lanes;
    }
  }
  for (const PdOptions& pd : drives_)
    if (pd.weight) holds_ = std::vector<GravityHold>(packs, GravityHold(pd.weight, pd.member, pd.q_ref));
  for (int kind = 0; kind < row_kinds; ++kind)
    for (int k = 0; k < shape_.nv; ++k) row_ids_.push_back(row_id(kind, k));
  rows_by_id_.resize(row_ids_.size());
  for (std::size_t i = 0; i < row_ids_.size(); ++i) rows_by_id_[i] = static_cast<int>(i);
  std::sort(rows_by_id_.begin(), rows_by_id_.end(), [&](int a, int b) { return row_ids_[at(a)] < row_ids_[at(b)]; });
  if (shape_.finds) contacts_.resize(packs * lanes);
  for (int i = 0; i < threads; ++i) {
    rooms_.push_back(make_buffer(kernel_.memory(shape_)));
    if (shape_.finds) searches_.push_back(std::make_unique<LaneContacts>(model, shape_, contact_, width()));
    spare_.push_back(i);
  }
  for (int w = 0; w < static_cast<int>(packs * lanes); ++w) set_model(w, model);  // lanes without a world too
}

Lanes::Room::Room(Lanes& lanes) : lanes_(lanes) {
  const std::lock_guard lock(lanes_.door_);
  index_ = lanes_.spare_.back();
  lanes_.spare_.pop_back();
}
Lanes::Room::~Room() {
  const std::lock_guard lock(lanes_.door_);
  lanes_.spare_.push_back(index_);
}

std::uint64_t Lanes::row_id(int kind, int dof) const {
  const RowRole role = kind <= upper_limit ? RowRole::Limit : kind == friction_row ? RowRole::Friction : RowRole::Drive;
  return coordinate_row_id(dof, role, kind == upper_limit);
}

void Lanes::set_model(int w, const Model& model) {
  if (at(w) < worlds_.size()) worlds_[at(w)].built = data_.same_build(model);
  set_numbers(w, model);
}

void Lanes::set_numbers(int w, const Model& model) {
  using P = PackArrays;
  if (at(w) < worlds_.size()) {
    if (!worlds_[at(w)].built) return;
    if (!holds_.empty()) worlds_[at(w)].held.setConstant(shape_.nv, std::numeric_limits<double>::quiet_NaN());
  }
  for (int b = 0; b < shape_.bodies; ++b) {
    const Inertia& x = model.bodies[at(b)].inertia;
    entry(w, &P::mass, b) = x.mass;
    const Mat3& I = x.about_com;
    const double six[6] = {I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2)};
    for (int k = 0; k < 3; ++k) entry(w, &P::com, 3 * b + k) = x.com[k];
    for (int k = 0; k < 6; ++k) entry(w, &P::inertia, 6 * b + k) = six[k];
  }
  const JointProperties& p = model.joints;
  for (int k = 0; k < shape_.nv; ++k) {
    entry(w, &P::damping, k) = p.damping[k];
    entry(w, &P::armature, k) = p.armature[k];
    entry(w, &P::friction, k) = p.friction[k];
    entry(w, &P::effort_upper, k) = p.effort_limit[k];
    entry(w, &P::effort_lower, k) = -p.effort_limit[k];
    entry(w, &P::lower, k) = p.lower[k];
    entry(w, &P::upper, k) = p.upper[k];
    entry(w, &P::feedforward, k) = 0;
  }
  for (const PdOptions& pd : drives_) {
    const Member& member = model.members[at(pd.member)];
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      const int k = body.iv, j = k - member.iv;
      if (nv_of(body.joint) != 1) continue;
      entry(w, &P::feedforward, k) = pd.weight ? 0 : pd.tau_ff[j];
      if (pd.limits.lower.size() == 0) continue;
      entry(w, &P::effort_lower, k) = std::max(entry(w, &P::effort_lower, k), pd.limits.lower[j]);
      entry(w, &P::effort_upper, k) = std::min(entry(w, &P::effort_upper, k), pd.limits.upper[j]);
    }
  }
  entry(w, &P::total_mass, 0) = model.trees[0].mass;
  if (!shape_.finds) return set_surfaces(w, model);
  std::vector<SurfacePair>& surfaces = contacts_[at(w)].surfaces;
  surfaces.clear();
  for (int i = 0; i < model.surfaces(); ++i) surfaces.push_back(model.surface(i));
}

void Lanes::set_surfaces(int w, const Model& model) {
  using P = PackArrays;
  for (int i = 0; i < shape_.points; ++i) {
    const PointData& p = point_data_[at(i)];
    const SurfacePair& s = model.surface(p.surface);
    entry(w, &P::mu_static, i) = s.mu_static;
    entry(w, &P::mu_dynamic, i) = s.mu_dynamic;
    entry(w, &P::restitution, i) = s.restitution;
    entry(w, &P::restitution_speed, i) = s.restitution_speed;
    entry(w, &P::size, i) = p.size;
    entry(w, &P::margin, i) = contact_.margin < 0 ? default_margin * p.size : contact_.margin;
    entry(w, &P::share, i) = p.share;
  }
}

void Lanes::put(int w, const State& state) {
  World& world = worlds_[at(w)];
  world.t = state.t;
  world.clock = state.clock;
  world.step = state.step;
  for (int i = 0; i < shape_.nq; ++i) entry(w, &PackArrays::q, i) = state.q[i];
  for (int k = 0; k < shape_.nv; ++k) entry(w, &PackArrays::v, k) = state.v[k];
  world.remembers = put_memory(w, state.memory);
}

bool Lanes::put_contacts(int w, const std::vector<ContactMemory>& memory) {
  using P = PackArrays;
  if (shape_.finds) {
    contacts_[at(w)].memory = memory;
    contacts_[at(w)].reports.clear();
    return true;
  }
  for (int i = 0; i < shape_.points; ++i) {
    for (auto x : {&P::known, &P::slips, &P::touched}) entry(w, x, i) = 0;
    for (int k = 0; k < 3; ++k) entry(w, &P::f, 3 * i + k) = 0;
  }
  for (const ContactMemory& m : memory) {
    const int i = data_.point_of(m.id);
    if (i < 0) return false;
    entry(w, &P::known, i) = 1;
    entry(w, &P::slips, i) = m.mode == ContactMode::Slip;
    entry(w, &P::touched, i) = m.touched;
    for (int k = 0; k < 3; ++k) {
      entry(w, &P::f, 3 * i + k) = m.f[k];
      entry(w, &P::t1, 3 * i + k) = m.t1[k];
    }
  }
  return true;
}

// False where something is remembered that has no place here.
bool Lanes::put_memory(int w, const Memory& memory) {
  using P = PackArrays;
  const int rows = entry(w, &P::rows, 0) > 0 ? row_kinds * shape_.nv : 0;  // else they are zero
  for (int i = 0; i < rows; ++i) entry(w, &P::row_f, i) = entry(w, &P::row_known, i) = 0;
  for (int k = 0; k < (shape_.rubs ? shape_.nv : 0); ++k) entry(w, &P::patience, k) = 0;
  entry(w, &P::rows, 0) = static_cast<double>(memory.rows.size());
  if (memory.empty()) return put_contacts(w, {});
  if (memory.family != MemoryFamily::Rigid) return put_contacts(w, {}) && false;
  if (!put_contacts(w, memory.contacts)) return false;
  for (const RowMemory& m : memory.rows) {
    const auto found = std::lower_bound(rows_by_id_.begin(), rows_by_id_.end(), m.id,
                                        [&](int i, std::uint64_t id) { return row_ids_[at(i)] < id; });
    if (found == rows_by_id_.end() || row_ids_[at(*found)] != m.id) return false;
    entry(w, &P::row_known, *found) = 1;
    entry(w, &P::row_f, *found) = m.f;
    if (*found / shape_.nv == friction_row) entry(w, &P::patience, *found % shape_.nv) = m.patience;
  }
  return true;
}

void Lanes::take(int w, State& state) const {
  using P = PackArrays;
  const World& world = worlds_[at(w)];
  state.t = world.t;
  state.clock = world.clock;
  state.step = world.step;
  copy_q(w, state.q.data());
  copy_v(w, state.v.data());
  state.memory.clear();
  state.memory.family = MemoryFamily::Rigid;
  if (shape_.finds) state.memory.contacts = contacts_[at(w)].memory;
  for (int i = 0; i < (shape_.finds ? 0 : shape_.points); ++i) {
    if (entry(w, &P::known, i) == 0) continue;
    ContactMemory& m = state.memory.contacts.emplace_back();
    m.id = data_.id(i);
    m.f = vector(w, &P::f, i);
    m.t1 = vector(w, &P::t1, i);
    m.touched = entry(w, &P::touched, i) != 0;
    m.mode = entry(w, &P::slips, i) != 0 ? ContactMode::Slip : m.touched ? ContactMode::Stick : ContactMode::Open;
  }
  for (int i : rows_by_id_) {
    if (entry(w, &P::row_known, i) == 0) continue;
    const bool rubs = i / shape_.nv == friction_row;
    state.memory.rows.push_back(
        {row_ids_[at(i)], entry(w, &P::row_f, i), rubs ? entry(w, &P::patience, i % shape_.nv) : 0});
  }
}

// (ff.2) as the controller does: where the target is another than in the last call.
void Lanes::hold_against_gravity(int w, const double* target) {
  VecX& held = worlds_[at(w)].held;
  bool same = true;
  for (int k = 0; k < shape_.nv; ++k) {
    const double x = shape_.dof_iq[k] >= 0 ? target[shape_.dof_iq[k]] : 0;
    same &= held[k] == x;
    held[k] = x;
  }
  if (same) return;
  const VecX& torque = holds_[at(w / width())].torque(held);
  for (int k = 0; k < shape_.nv; ++k) entry(w, &PackArrays::feedforward, k) = torque[k];
}

unsigned Lanes::read_commands(int pack, const Commands& commands) {
  using P = PackArrays;
  unsigned moving = 0;
  for (int l = 0; l < worlds_of(pack); ++l) {
    const int w = pack * width() + l;
    const double* target = commands.target + at(w) * at(shape_.nq);
    const double *torque = commands.torque + at(w) * at(shape_.nv), *gains = commands.gains + at(w) * at(shape_.nv);
    if (!holds_.empty()) hold_against_gravity(w, target);
    const Column aim = column(w, &P::target), tau = column(w, &P::tau), feedforward = column(w, &P::feedforward);
    const Column kp = column(w, &P::kp), kd = column(w, &P::kd);
    for (int k = 0; k < shape_.nv; ++k) {
      kp[k] = gains[k] * kp_[k];
      kd[k] = gains[k] * kd_[k];
      if (shape_.dof_iq[k] >= 0) aim[k] = target[shape_.dof_iq[k]];
      tau[k] = feedforward[k] + (model_.actuated(k) ? torque[k] : 0);
    }
    for (const PdOptions& pd : drives_)
      if (pd.reference && pd.reference->moves() &&
          std::equal(pd.q_ref.data(), pd.q_ref.data() + pd.q_ref.size(), target + model_.members[at(pd.member)].iq))
        moving |= 1u << l;
  }
  return moving;
}

unsigned Lanes::step(int pack, unsigned running, Room& room) {
  double* memory = rooms_[at(room.index_)].get();
  LaneContacts* search = shape_.finds ? searches_[at(room.index_)].get() : nullptr;
  const PackArrays& own = packs_[at(pack)];
  const PackArrays arrays =
      search ? search->begin(own, std::span(contacts_).subspan(at(pack * width()), at(width()))) : own;
  const unsigned moved = kernel_.step(shape_, arrays, memory, running, search ? search->finder() : nullptr);
  for (int l = 0; l < worlds_of(pack); ++l) {
    if ((moved >> l & 1u) == 0) continue;
    if (search) search->remember(l);
    World& world = worlds_[at(pack * width() + l)];
    world.clock.set(world.t, dt_);
    ++world.clock.steps;
    ++world.step;
    world.t = world.clock.time();
  }
  return moved;
}

namespace {

/// The bodies of one lane, out of what a kernel says of a pack.
struct LaneMotions {
  const Motions& m;
  int lane, stride;

  Vec3 vector(const double* x, int i) const {
    const double* p = x + 3 * i * stride + lane;
    return {p[0], p[stride], p[2 * stride]};
  }
  Mat3 R(int b) const {
    Mat3 R;
    for (int c = 0; c < 3; ++c) R.col(c) = vector(m.R, 3 * b + c);
    return R;
  }
  Vec3 angular(int b) const { return vector(m.V, 2 * b + 1); }
  /// r: from the point about which the pack is written to one of the body.
  Vec3 velocity(int b, const Vec3& r) const { return vector(m.V, 2 * b) + angular(b).cross(r); }

  void write_body(int b, double* pose, double* velocities) const {
    const Vec3 r = vector(m.r, b);
    const Quat turn(R(b));
    Eigen::Map<Vec3>{pose} = vector(m.O, 0) + r;
    Eigen::Map<Eigen::Vector4d>(pose + 3) = turn.w() < 0 ? Eigen::Vector4d(-turn.coeffs()) : turn.coeffs();
    Eigen::Map<Vec3>{velocities} = velocity(b, r);
    Eigen::Map<Vec3>(velocities + 3) = angular(b);
  }
  void write_points(const PointRows& rows, int world) const {
    for (std::size_t i = 0; i < rows.points.size(); ++i) {
      const Place& at = rows.points[i];
      const Vec3 r = vector(m.r, at.body) + R(at.body) * at.X_BP.p;
      const std::size_t entry = 3 * (static_cast<std::size_t>(world) * rows.points.size() + i);
      Eigen::Map<Vec3>(rows.position + entry) = vector(m.O, 0) + r;
      Eigen::Map<Vec3>(rows.velocity + entry) = velocity(at.body, r);
    }
  }
};

}  // namespace

void Lanes::write_motions(int pack, unsigned chosen, Room& room, double* pose, double* velocity,
                          std::span<const PointRows> points) const {
  const Motions m = kernel_.motions(shape_, packs_[at(pack)], rooms_[at(room.index_)].get());
  for (int l = 0; l < worlds_of(pack); ++l) {
    if ((chosen >> l & 1u) == 0) continue;
    const LaneMotions lane{m, l, width()};
    const int world = pack * width() + l, row = world * shape_.bodies;
    for (int b = 0; pose != nullptr && b < shape_.bodies; ++b)
      lane.write_body(b, pose + 7 * (row + b), velocity + 6 * (row + b));
    for (const PointRows& rows : points) lane.write_points(rows, world);
  }
}

double Lanes::normal_force(int w, int geometry) const {
  double sum = 0;
  if (shape_.finds) {
    for (const ContactReport& r : contacts_[at(w)].reports)
      if (r.geometry_a == geometry || r.geometry_b == geometry) sum += r.f.z();
    return sum;
  }
  const Column f = column(w, &PackArrays::f);
  for (int i = 0; i < shape_.points; ++i)
    if (shape_.point[i].geometry == geometry) sum += f[3 * i + 2];
  return sum;
}

void Lanes::contacts(int w, std::vector<ContactReport>& out) const {
  using P = PackArrays;
  out.clear();
  if (shape_.finds) {
    out = contacts_[at(w)].reports;
    return;
  }
  for (int i = 0; i < shape_.points; ++i) {
    if (entry(w, &P::known, i) == 0) continue;
    ContactReport& r = out.emplace_back();
    r.id = data_.id(i);
    r.geometry_a = data_.ground_geometry(i);
    r.geometry_b = data_.geometry(i);
    r.p_WC = vector(w, &P::contact_p, i);
    const Vec3 n = vector(w, &P::axis_n, i), t1 = vector(w, &P::t1, i);
    r.R_WC << t1, n.cross(t1), n;
    r.gap = entry(w, &P::gap, i);
    r.f = vector(w, &P::f, i);
    r.c = vector(w, &P::c_end, i);
    r.c_start = vector(w, &P::c_start, i);
    r.mu = entry(w, &P::mu, i);
    r.mode = entry(w, &P::slips, i) != 0     ? ContactMode::Slip
             : entry(w, &P::touched, i) != 0 ? ContactMode::Stick
                                             : ContactMode::Open;
    r.cone_margin = r.mu * r.f.z() - r.f.head<2>().norm();
  }
}

}  // namespace tribo::lanes
