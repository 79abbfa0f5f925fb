// A state on disk, little-endian: magic, version, sizes, numbers, and the crc32 of all that stands before it.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/names.hpp"
#include "io/state_bytes.hpp"

namespace tribo {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written as the machine has its numbers");

constexpr char magic[] = "TRIBOST1";
constexpr std::uint32_t version = 5;
constexpr std::uint64_t most_state_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t contact_bytes = 8 + 6 * 8 + 2, row_bytes = 3 * 8,
                        command_bytes = 4 + 26 * 8;  // the least that one takes

struct Writer {
  std::string bytes;
  void raw(const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }
  template <class T>
  void add(const T& x) {
    raw(&x, sizeof x);
  }
  void add(const double* x, std::size_t n) { raw(x, n * sizeof(double)); }
};

struct Reader {
  const std::string& bytes;
  const std::string& path;
  std::size_t at = 0;

  void raw(void* data, std::size_t n) {
    if (bytes.size() - at < n) throw InvalidInput(path + ": the state is truncated");
    if (n > 0) std::memcpy(data, bytes.data() + at, n);
    at += n;
  }
  template <class T>
  T get() {
    T x;
    raw(&x, sizeof x);
    return x;
  }
};

std::uint32_t crc_of(const std::string& bytes, std::size_t n) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), n));
}

void require_finite(const std::string& path, const std::string& what, const double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) {
      throw InvalidInput(path + ": " + what + "[" + std::to_string(i) + "] is " + shown(x[i]) + "; must be finite");
    }
  }
}

void require_size(const std::string& path, const std::string& what, std::uint64_t is, std::uint64_t must) {
  if (is == must) return;
  throw InvalidInput(path + ": " + what + " has " + std::to_string(is) + " numbers; the model has " +
                     std::to_string(must));
}

/// Checks magic, version and checksum.
void check_envelope(const std::string& bytes, const std::string& path) {
  constexpr std::size_t head = sizeof magic - 1;
  if (bytes.size() < head || std::memcmp(bytes.data(), magic, head) != 0) {
    throw InvalidInput(path + ": is not a saved state (it does not begin with " + magic + ")");
  }
  if (bytes.size() < head + 2 * sizeof(std::uint32_t)) throw InvalidInput(path + ": the state is truncated");
  std::uint32_t is = 0, crc = 0;
  std::memcpy(&is, bytes.data() + head, sizeof is);
  if (is != version) {
    throw InvalidInput(path + ": has version " + std::to_string(is) + "; this program reads version " +
                       std::to_string(version) +
                       (is < version ? ": an earlier Tribo wrote it, which remembers less; make it anew" : ""));
  }
  const std::size_t body = bytes.size() - sizeof(std::uint32_t);
  std::memcpy(&crc, bytes.data() + body, sizeof crc);
  if (crc != crc_of(bytes, body)) throw InvalidInput(path + ": is damaged or truncated: its checksum differs");
}

MemoryFamily read_family(Reader& in) {
  const auto family = in.get<std::uint8_t>();
  if (family > static_cast<std::uint8_t>(MemoryFamily::Momentum)) {
    throw InvalidInput(in.path + ": its contacts are of the family " + std::to_string(family) + "; known are 0 to 3");
  }
  return static_cast<MemoryFamily>(family);
}

template <std::size_t N>
void read_vectors(Reader& in, const std::array<Vec3*, N>& vectors) {
  for (Vec3* x : vectors) {
    in.raw(x->data(), 3 * sizeof(double));
    require_finite(in.path, "contact", x->data(), 3);
  }
}

double read_number(Reader& in, const char* what) {
  const auto x = in.get<double>();
  require_finite(in.path, what, &x, 1);
  return x;
}

ContactMemory read_contact(Reader& in) {
  ContactMemory c;
  c.id = in.get<std::uint64_t>();
  read_vectors<2>(in, {&c.f, &c.t1});
  const auto mode = in.get<std::uint8_t>(), touched = in.get<std::uint8_t>();
  if (mode > static_cast<std::uint8_t>(ContactMode::Impact) || touched > 1) {
    throw InvalidInput(in.path + ": a contact has mode " + std::to_string(mode) + "; known are 0 to 3");
  }
  c.mode = static_cast<ContactMode>(mode);
  c.touched = touched == 1;
  return c;
}

struct MemorySizes {
  std::uint64_t contacts, rows, anchors, references;
};

void write_memory(Writer& out, const Memory& memory) {
  for (const ContactMemory& c : memory.contacts) {
    out.add(c.id);
    for (const Vec3* x : {&c.f, &c.t1}) out.add(x->data(), 3);
    out.add(static_cast<std::uint8_t>(c.mode));
    out.add(static_cast<std::uint8_t>(c.touched));
  }
  for (const RowMemory& r : memory.rows) {
    out.add(r.id);
    out.add(r.f);
    out.add(r.patience);
  }
  for (const AnchorMemory& a : memory.anchors) {
    for (const Vec3* x : {&a.anchor, &a.point}) out.add(x->data(), 3);
    out.add(a.rest);
  }
  for (const ReferenceMemory& r : memory.references) {
    for (const Vec3* x : {&r.reference, &r.point, &r.last}) out.add(x->data(), 3);
    out.add(r.last_gap);
  }
}

void read_memory(Reader& in, const MemorySizes& n, Memory& memory) {
  for (std::uint64_t i = 0; i < n.contacts; ++i) memory.contacts.push_back(read_contact(in));
  for (std::uint64_t i = 0; i < n.rows; ++i) {
    RowMemory& r = memory.rows.emplace_back();
    r.id = in.get<std::uint64_t>();
    r.f = read_number(in, "row");
    r.patience = read_number(in, "row");
  }
  for (std::uint64_t i = 0; i < n.anchors; ++i) {
    AnchorMemory& a = memory.anchors.emplace_back();
    read_vectors<2>(in, {&a.anchor, &a.point});
    a.rest = read_number(in, "contact");
  }
  for (std::uint64_t i = 0; i < n.references; ++i) {
    ReferenceMemory& r = memory.references.emplace_back();
    read_vectors<3>(in, {&r.reference, &r.point, &r.last});
    r.last_gap = read_number(in, "contact");
  }
}

void write_commands(Writer& out, const std::vector<KinematicCommand>& commands) {
  for (const KinematicCommand& c : commands) {
    out.add(static_cast<std::int32_t>(c.body));
    out.add(c.start);
    out.add(c.end);
    for (const Placement* X : {&c.from, &c.to}) {
      out.add(X->R.data(), 9);
      out.add(X->p.data(), 3);
    }
  }
}

void read_commands(Reader& in, std::uint64_t n, std::vector<KinematicCommand>& commands) {
  const auto read = [&](double* x, std::size_t size) {
    in.raw(x, size * sizeof(double));
    require_finite(in.path, "kinematic body", x, size);
  };
  for (std::uint64_t i = 0; i < n; ++i) {
    KinematicCommand& c = commands.emplace_back();
    c.body = in.get<std::int32_t>();
    read(&c.start, 1);
    read(&c.end, 1);
    for (Placement* X : {&c.from, &c.to}) {
      read(X->R.data(), 9);
      read(X->p.data(), 3);
    }
  }
}

}  // namespace

std::string state_bytes(const State& state) {
  Writer out;
  out.raw(magic, sizeof magic - 1);
  out.add(version);
  out.add(state.model);
  out.add(state.step);
  out.add(state.t);
  out.add(state.clock.start);
  out.add(state.clock.dt);
  out.add(state.clock.steps);
  out.add(state.random.state);
  const Memory& m = state.memory;
  out.add(static_cast<std::uint8_t>(m.family));
  for (std::size_t n :
       {static_cast<std::size_t>(state.q.size()), static_cast<std::size_t>(state.v.size()), m.contacts.size(),
        m.rows.size(), m.anchors.size(), m.references.size(), state.control.size(), state.kinematic.size()})
    out.add(static_cast<std::uint64_t>(n));
  for (const VecX* x : {&state.q, &state.v}) out.add(x->data(), static_cast<std::size_t>(x->size()));
  write_memory(out, m);
  out.add(state.control.data(), state.control.size());
  write_commands(out, state.kinematic);
  out.add(crc_of(out.bytes, out.bytes.size()));
  return out.bytes;
}

void save_state(const State& state, const std::string& path) { write_file(path, state_bytes(state)); }

State load_state(const Model& model, const std::string& path) {
  return state_of_bytes(read_text(path, most_state_bytes), path, &model);
}

State state_of_bytes(const std::string& bytes, const std::string& path, const Model* model) {
  check_envelope(bytes, path);
  Reader in{bytes, path, sizeof magic - 1 + sizeof version};
  State state;
  state.model = in.get<std::uint64_t>();
  if (model != nullptr && state.model != model->hash()) {
    throw InvalidInput(path + ": belongs to the model " + hex(state.model) + ", not to this one (" +
                       hex(model->hash()) + ")");
  }
  state.step = in.get<std::uint64_t>();
  state.t = read_number(in, "t");
  state.clock.start = read_number(in, "start of the clock");
  state.clock.dt = read_number(in, "dt of the clock");
  state.clock.steps = in.get<std::uint64_t>();
  state.random.state = in.get<std::uint64_t>();
  state.memory.family = read_family(in);
  const auto nq = in.get<std::uint64_t>(), nv = in.get<std::uint64_t>();
  if (model != nullptr) {
    require_size(path, "q", nq, static_cast<std::uint64_t>(model->nq));
    require_size(path, "v", nv, static_cast<std::uint64_t>(model->nv));
  }
  const MemorySizes n{in.get<std::uint64_t>(), in.get<std::uint64_t>(), in.get<std::uint64_t>(),
                      in.get<std::uint64_t>()};
  const auto controls = in.get<std::uint64_t>(), commands = in.get<std::uint64_t>();
  const std::uint64_t left = bytes.size() - in.at;
  if (std::max({n.contacts, n.anchors, n.references}) > left / contact_bytes || n.rows > left / row_bytes ||
      commands > left / command_bytes || std::max({controls, nq, nv}) > left / sizeof(double)) {
    throw InvalidInput(path + ": states " + std::to_string(n.contacts) + " contacts, " + std::to_string(n.rows) +
                       " joint rows, " + std::to_string(controls) + " numbers of controllers and " +
                       std::to_string(commands) + " kinematic bodies, more than the file holds");
  }
  state.q.resize(static_cast<Eigen::Index>(nq));
  state.v.resize(static_cast<Eigen::Index>(nv));
  for (VecX* x : {&state.q, &state.v}) in.raw(x->data(), static_cast<std::size_t>(x->size()) * sizeof(double));
  require_finite(path, "q", state.q.data(), nq);
  require_finite(path, "v", state.v.data(), nv);
  read_memory(in, n, state.memory);
  state.control.resize(static_cast<std::size_t>(controls));
  in.raw(state.control.data(), state.control.size() * sizeof(double));
  read_commands(in, commands, state.kinematic);
  if (bytes.size() - in.at != sizeof(std::uint32_t)) throw InvalidInput(path + ": holds more than its sizes say");
  try {
    check_memory(state.memory);
    if (model != nullptr) check_commands(*model, state.kinematic);
  } catch (const InvalidInput& error) {
    throw InvalidInput(path + ": " + error.what());
  }
  return state;
}

}  // namespace tribo
