// A state on disk, little-endian: magic, version, sizes, numbers, and the crc32 of all that stands before it.
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/file.hpp"
#include "base/names.hpp"
#include "tribo/state.hpp"

namespace tribo {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written as the machine has its numbers");

constexpr char magic[] = "TRIBOST1";
constexpr std::uint32_t version = 3, without_family = 2;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t contact_bytes = 8 + 13 * 8 + 2;

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

std::string hex(std::uint64_t x) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

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

/// Checks magic, version and checksum; returns the version.
std::uint32_t check_envelope(const std::string& bytes, const std::string& path) {
  constexpr std::size_t head = sizeof magic - 1;
  if (bytes.size() < head || std::memcmp(bytes.data(), magic, head) != 0) {
    throw InvalidInput(path + ": is not a saved state (it does not begin with " + magic + ")");
  }
  if (bytes.size() < head + 2 * sizeof(std::uint32_t)) throw InvalidInput(path + ": the state is truncated");
  std::uint32_t is = 0, crc = 0;
  std::memcpy(&is, bytes.data() + head, sizeof is);
  if (is != version && is != without_family) {
    throw InvalidInput(path + ": has version " + std::to_string(is) + "; this program reads versions " +
                       std::to_string(without_family) + " and " + std::to_string(version));
  }
  const std::size_t body = bytes.size() - sizeof(std::uint32_t);
  std::memcpy(&crc, bytes.data() + body, sizeof crc);
  if (crc != crc_of(bytes, body)) throw InvalidInput(path + ": is damaged or truncated: its checksum differs");
  return is;
}

MemoryFamily read_family(Reader& in) {
  const auto family = in.get<std::uint8_t>();
  if (family > static_cast<std::uint8_t>(MemoryFamily::Momentum)) {
    throw InvalidInput(in.path + ": its contacts are of the family " + std::to_string(family) + "; known are 0 to 3");
  }
  return static_cast<MemoryFamily>(family);
}

ContactMemory read_contact(Reader& in) {
  ContactMemory c;
  c.id = in.get<std::uint64_t>();
  for (Vec3* x : {&c.f, &c.t1, &c.anchor, &c.point}) in.raw(x->data(), 3 * sizeof(double));
  in.raw(&c.rest, sizeof c.rest);
  const auto mode = in.get<std::uint8_t>(), touched = in.get<std::uint8_t>();
  if (mode > static_cast<std::uint8_t>(ContactMode::Impact) || touched > 1) {
    throw InvalidInput(in.path + ": a contact has mode " + std::to_string(mode) + "; known are 0 to 3");
  }
  c.mode = static_cast<ContactMode>(mode);
  c.touched = touched == 1;
  for (const Vec3* x : {&c.f, &c.t1, &c.anchor, &c.point}) require_finite(in.path, "contact", x->data(), 3);
  require_finite(in.path, "contact", &c.rest, 1);
  return c;
}

}  // namespace

void save_state(const State& state, const std::string& path) {
  Writer out;
  out.raw(magic, sizeof magic - 1);
  out.add(version);
  out.add(state.model);
  out.add(state.step);
  out.add(state.t);
  out.add(state.random.state);
  out.add(static_cast<std::uint8_t>(state.family));
  for (std::uint64_t n :
       {static_cast<std::uint64_t>(state.q.size()), static_cast<std::uint64_t>(state.v.size()),
        static_cast<std::uint64_t>(state.tau.size()), static_cast<std::uint64_t>(state.contacts.size()),
        static_cast<std::uint64_t>(state.control.size())}) {
    out.add(n);
  }
  for (const VecX* x : {&state.q, &state.v, &state.tau}) out.add(x->data(), static_cast<std::size_t>(x->size()));
  for (const ContactMemory& c : state.contacts) {
    out.add(c.id);
    for (const Vec3* x : {&c.f, &c.t1, &c.anchor, &c.point}) out.add(x->data(), 3);
    out.add(c.rest);
    out.add(static_cast<std::uint8_t>(c.mode));
    out.add(static_cast<std::uint8_t>(c.touched));
  }
  out.add(state.control.data(), state.control.size());
  out.add(crc_of(out.bytes, out.bytes.size()));
  write_file(path, out.bytes);
}

State load_state(const Model& model, const std::string& path) {
  const std::string bytes = read_text(path, most_bytes);
  const std::uint32_t is = check_envelope(bytes, path);
  Reader in{bytes, path, sizeof magic - 1 + sizeof version};
  State state;
  state.model = in.get<std::uint64_t>();
  if (state.model != model.hash()) {
    throw InvalidInput(path + ": belongs to the model " + hex(state.model) + ", not to this one (" + hex(model.hash()) +
                       ")");
  }
  state.step = in.get<std::uint64_t>();
  state.t = in.get<double>();
  state.random.state = in.get<std::uint64_t>();
  if (is != without_family) state.family = read_family(in);
  std::uint64_t n[5];
  for (std::uint64_t& x : n) x = in.get<std::uint64_t>();
  require_size(path, "q", n[0], static_cast<std::uint64_t>(model.nq));
  require_size(path, "v", n[1], static_cast<std::uint64_t>(model.nv));
  require_size(path, "tau", n[2], static_cast<std::uint64_t>(model.nv));
  const std::uint64_t left = bytes.size() - in.at;
  if (n[3] > left / contact_bytes || n[4] > left / sizeof(double)) {
    throw InvalidInput(path + ": states " + std::to_string(n[3]) + " contacts and " + std::to_string(n[4]) +
                       " numbers of controllers, more than the file holds");
  }
  state.q.resize(model.nq);
  state.v.resize(model.nv);
  state.tau.resize(model.nv);
  for (VecX* x : {&state.q, &state.v, &state.tau}) {
    in.raw(x->data(), static_cast<std::size_t>(x->size()) * sizeof(double));
  }
  require_finite(path, "t", &state.t, 1);
  require_finite(path, "q", state.q.data(), static_cast<std::size_t>(model.nq));
  require_finite(path, "v", state.v.data(), static_cast<std::size_t>(model.nv));
  require_finite(path, "tau", state.tau.data(), static_cast<std::size_t>(model.nv));
  for (std::uint64_t i = 0; i < n[3]; ++i) state.contacts.push_back(read_contact(in));
  state.control.resize(static_cast<std::size_t>(n[4]));
  in.raw(state.control.data(), state.control.size() * sizeof(double));
  if (bytes.size() - in.at != sizeof(std::uint32_t)) throw InvalidInput(path + ": holds more than its sizes say");
  return state;
}

}  // namespace tribo
