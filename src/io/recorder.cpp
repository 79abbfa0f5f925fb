#include "tribo/recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/folder_lock.hpp"
#include "base/hash.hpp"
#include "io/npy.hpp"
#include "io/recovery.hpp"
#include "stepping/ledger.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;
using WallClock = std::chrono::steady_clock;

constexpr int format_version = 1;
constexpr auto flush_interval = std::chrono::milliseconds(500);

/// One name a velocity coordinate: joints of several coordinates are numbered.
std::vector<std::string> coordinate_names(const Model& model) {
  std::vector<std::string> names(at(model.nv));
  for (const Body& body : model.bodies) {
    const int n = nv_of(body.joint);
    for (int k = 0; k < n; ++k) {
      names[at(body.iv + k)] = n == 1 ? body.name : body.name + "." + std::to_string(k);
    }
  }
  return names;
}

std::string metadata(const Scene& scene, const RecordingRequest& request) {
  using Json = nlohmann::ordered_json;
  const Model& model = *scene.model;
  const auto list = [](const VecX& x) { return std::vector<double>(x.data(), x.data() + x.size()); };
  Json meta;
  meta["format"] = format_version;
  meta["scene"] = scene.name;
  meta["source"] = scene.source;
  meta["controller"] = request.controller;
  meta["settings"] = Json::array();
  for (const Override& o : request.settings) meta["settings"].push_back({o.path, o.value});
  meta["model"] = hex(model.hash());
  meta["dt"] = scene.dt;
  meta["period"] = scene.record.period;
  meta["stepper"] = scene.stepper;
  meta["contact_model"] = scene.stepper_options.contact.model;
  meta["solver"] = scene.stepper_options.contact.solver;
  meta["mixing"] = to_string(model.mixing);
  meta["members"] = Json::array();
  for (const Member& m : model.members) {
    meta["members"].push_back(
        {{"name", m.name}, {"robot", m.robot}, {"iq", m.iq}, {"nq", m.nq}, {"iv", m.iv}, {"nv", m.nv}});
  }
  meta["joints"] = coordinate_names(model);
  meta["geometries"] = Json::array();
  for (const Geometry& g : model.geometries) meta["geometries"].push_back(g.name);
  meta["start"] = {{"t", scene.start.t}, {"q", list(scene.start.q)}, {"v", list(scene.start.v)}};
  return meta.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What a killed run left is data: it is packed as recording.N.npz, or kept as it is where it cannot be.
std::string rescue(const fs::path& partial) {
  std::error_code error;
  if (!fs::exists(partial, error)) return "";
  try {
    return pack_aside(partial.string(), partial.parent_path().string());
  } catch (const InvalidInput&) {
  }
  fs::path kept;
  for (int i = 1; kept.empty() || fs::exists(kept, error); ++i) kept = partial.string() + "." + std::to_string(i);
  fs::rename(partial, kept, error);
  if (error)
    throw InvalidInput(partial.string() + ": cannot be moved to " + kept.string() + " (" + error.message() + ")");
  return kept.string();
}

struct Named {
  std::string name;
  NpyWriter writer;
};

}  // namespace

struct Recorder::Impl {
  std::optional<FolderLock> lock;  ///< first, so that it goes last
  fs::path folder, partial;
  std::shared_ptr<const Model> model;
  RecordOptions options;
  double half_step = 0;
  std::string meta, rescued;
  std::vector<Named> arrays;  ///< in the order of flushing: contacts first, time last
  // Positions in arrays.
  int id, a, b, point, normal, gap, force_w, force, slip, mode, margin;
  int q, v, tau, kinematic, status, iterations, residual, penetration, signorini, coulomb, dissipation, energy, start,
      time;
  std::vector<double> poses;
  StepReport pending;  ///< worst and sums since the last record
  std::int64_t pending_iterations = 0;
  double worst_residual = 0;
  std::uint64_t records = 0;
  std::int64_t contacts = 0;
  double first = 0;  ///< time of the first record [s]
  WallClock::time_point flushed = WallClock::now();

  std::string recording() const { return (folder / "recording.npz").string(); }

  int add(const std::string& name, NpyType type, std::vector<std::uint64_t> row = {}) {
    arrays.push_back({name, NpyWriter((partial / (name + ".npy")).string(), type, std::move(row))});
    return static_cast<int>(arrays.size()) - 1;
  }
  NpyWriter& at(int i) { return arrays[static_cast<std::size_t>(i)].writer; }

  void make_arrays() {
    arrays.reserve(40);
    const auto nq = static_cast<std::uint64_t>(model->nq), nv = static_cast<std::uint64_t>(model->nv);
    id = add("contact_id", NpyType::U64);
    a = add("contact_geometry_a", NpyType::I32);
    b = add("contact_geometry_b", NpyType::I32);
    point = add("contact_point", NpyType::F64, {3});
    normal = add("contact_normal", NpyType::F64, {3});
    gap = add("contact_gap", NpyType::F64);
    force_w = add("contact_force_W", NpyType::F64, {3});
    force = add("contact_force", NpyType::F64, {3});
    slip = add("contact_velocity", NpyType::F64, {3});
    mode = add("contact_mode", NpyType::U8);
    margin = add("contact_cone_margin", NpyType::F64);
    q = add("q", NpyType::F64, {nq});
    v = add("v", NpyType::F64, {nv});
    tau = add("tau", NpyType::F64, {nv});
    if (!model->kinematic.empty()) kinematic = add("kinematic_pose", NpyType::F64, {model->kinematic.size(), 7});
    status = add("status", NpyType::U8);
    iterations = add("solver_iterations", NpyType::I64);
    residual = add("residual", NpyType::F64);
    penetration = add("penetration", NpyType::F64);
    signorini = add("signorini", NpyType::F64);
    coulomb = add("coulomb", NpyType::F64);
    dissipation = add("dissipation", NpyType::F64);
    energy = static_cast<int>(arrays.size());
    for (const char* line : {"kinetic", "potential", "elastic", "actuators", "damping", "contacts", "constraints",
                             "external", "recovery", "integrator"}) {
      add(std::string("energy_") + line, NpyType::F64);
    }
    start = add("contact_start", NpyType::I64);
    time = add("time", NpyType::F64);
    at(start).append(&contacts, 1);
  }

  void flush() {
    for (Named& array : arrays) array.writer.flush();
    flushed = WallClock::now();
  }

  void accumulate(const StepReport& report) {
    pending.status = std::max(pending.status, report.status);
    pending_iterations += report.solve.iterations;
    worst_residual = std::max(worst_residual, report.solve.residual.relative());
    pending.penetration = std::max(pending.penetration, report.penetration);
    pending.laws.add(report.laws);
    add_step(pending.energy, report.energy);
  }

  /// The k-th record is due at first + k period; half a step of slack, since neither has to be a multiple of dt.
  bool due(double t) const {
    return options.period <= 0 || records == 0 ||
           t >= first + static_cast<double>(records) * options.period - half_step;
  }

  void write_contacts(const std::vector<ContactReport>& list) {
    for (const ContactReport& c : list) {
      const Vec3 n = c.R_WC.col(2), f_W = c.R_WC * c.f;
      const auto m = static_cast<std::uint8_t>(c.mode);
      at(id).append(&c.id, 1);
      at(a).append(&c.geometry_a, 1);
      at(b).append(&c.geometry_b, 1);
      at(point).append(c.p_WC.data(), 1);
      at(normal).append(n.data(), 1);
      at(gap).append(c.gap);
      at(force_w).append(f_W.data(), 1);
      at(force).append(c.f.data(), 1);
      at(slip).append(c.c.data(), 1);
      at(mode).append(&m, 1);
      at(margin).append(c.cone_margin);
    }
    contacts += static_cast<std::int64_t>(list.size());
  }

  /// Where kinematic bodies are: as they were told, or as the model says.
  void write_kinematic(const KinematicTime& now) {
    for (int k = 0; k < static_cast<int>(model->kinematic.size()); ++k) {
      const Placement X = kinematic_pose(*model, k, now);
      const Quat turn(X.R);
      poses.insert(poses.end(), {X.p.x(), X.p.y(), X.p.z(), turn.x(), turn.y(), turn.z(), turn.w()});
    }
    if (!poses.empty()) at(kinematic).append(poses.data(), 1);
    poses.clear();
  }

  void write_step(const State& state, const VecX& torque, double t) {
    const auto code = static_cast<std::uint8_t>(pending.status);
    at(q).append(state.q.data(), 1);
    at(v).append(state.v.data(), 1);
    at(tau).append(torque.data(), 1);
    write_kinematic({t, state.kinematic});
    at(status).append(&code, 1);
    at(iterations).append(&pending_iterations, 1);
    at(residual).append(worst_residual);
    at(penetration).append(pending.penetration);
    at(signorini).append(pending.laws.signorini);
    at(coulomb).append(pending.laws.coulomb);
    at(dissipation).append(pending.laws.dissipation);
    const EnergyLines& e = pending.energy;
    const std::array<double, 10> lines{e.kinetic,  e.potential,   e.elastic,  e.actuators, e.damping,
                                       e.contacts, e.constraints, e.external, e.recovery,  e.integrator};
    for (std::size_t i = 0; i < lines.size(); ++i) at(energy + static_cast<int>(i)).append(lines[i]);
    at(start).append(&contacts, 1);
    at(time).append(t);
  }
};

Recorder::Recorder(const std::string& folder, const Scene& scene, const RecordingRequest& request)
    : impl_(std::make_unique<Impl>()) {
  impl_->folder = folder;
  impl_->partial = impl_->folder / "recording.partial";
  impl_->model = scene.model;
  impl_->options = scene.record;
  impl_->half_step = 0.5 * scene.dt;
  impl_->meta = metadata(scene, request);
  std::error_code error;
  fs::create_directories(impl_->folder, error);
  if (!fs::is_directory(impl_->folder)) {
    throw InvalidInput(folder + ": the output folder cannot be made (" +
                       (error ? error.message() : "something else has that name") + ")");
  }
  impl_->lock.emplace(folder);
  destination(impl_->recording());  // refused now rather than after the run
  remove_packed(impl_->folder);
  impl_->rescued = rescue(impl_->partial);
  fs::create_directory(impl_->partial, error);
  if (error) throw InvalidInput(impl_->partial.string() + ": cannot be made (" + error.message() + ")");
  try {
    NpyWriter meta((impl_->partial / "meta.npy").string(), NpyType::U8, {});
    meta.append(impl_->meta.data(), impl_->meta.size());
    meta.flush();
    impl_->make_arrays();
    impl_->flush();
  } catch (const InvalidInput&) {  // no room for it
    discard_partial(impl_->partial.string());
    throw;
  }
}

const std::string& Recorder::rescued() const { return impl_->rescued; }
Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;

void Recorder::push(const State& state, const VecX& torque, const std::vector<ContactReport>& contacts,
                    const StepReport& report) {
  Impl& r = *impl_;
  r.accumulate(report);
  if (!r.due(report.t)) return;
  if (r.records == 0) r.first = report.t;
  if (r.options.contacts) r.write_contacts(contacts);
  r.write_step(state, torque, report.t);
  ++r.records;
  r.pending = {};
  r.pending_iterations = 0;
  r.worst_residual = 0;
  const bool full =
      std::any_of(r.arrays.begin(), r.arrays.end(), [](const Named& x) { return x.writer.wants_flush(); });
  if (full || WallClock::now() - r.flushed >= flush_interval) r.flush();
}

std::string Recorder::finish() {
  Impl& r = *impl_;
  r.flush();
  std::string path = r.recording();
  NpzWriter archive(path);
  archive.add_file("meta", (r.partial / "meta.npy").string());
  for (auto it = r.arrays.rbegin(); it != r.arrays.rend(); ++it) {
    archive.add_file(it->name, (r.partial / (it->name + ".npy")).string());
  }
  archive.finish();
  r.arrays.clear();
  discard_partial(r.partial.string());
  return path;
}

}  // namespace tribo
