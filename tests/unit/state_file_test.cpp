#include <doctest/doctest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "scratch_folder.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

Model two_boxes(double mass) {
  ModelBuilder builder;
  const int material = builder.add_material({});
  builder.add_object("a", ShapeKind::Box, {0.1, 0.2, 0.3}, mass, material);
  builder.add_object("b", ShapeKind::Sphere, {0.4, 0, 0}, 2, material);
  return builder.build();
}

State busy_state(const Model& model, MemoryFamily family = MemoryFamily::Momentum) {
  State s = State::neutral(model);
  s.step = 12345;
  s.t = 0.1 + 0.2;
  s.clock = {0.1, 1e-3, 200};
  for (int i = 0; i < model.nv; ++i) s.v[i] = std::sin(i + 1.0);
  s.memory.begin(family, 2);
  s.memory.contacts[0] = {7, {1, 2, 3}, {0, 1, 0}, ContactMode::Slip, true};
  s.memory.contacts[1] = {1ull << 62, {4, 5, 6}, {1, 0, 0}, ContactMode::Stick, false};
  if (family == MemoryFamily::Rigid) s.memory.rows = {{1ull << 63, -0.5, 0}, {1ull << 63 | 1, 2.5, 7}};
  for (std::size_t i = 0; i < s.memory.anchors.size(); ++i)
    s.memory.anchors[i] = {{-1, -2, -3}, {0.1, 0.2, 0.3}, -1e-3 * static_cast<double>(i + 1)};
  for (std::size_t i = 0; i < s.memory.references.size(); ++i)
    s.memory.references[i] = {{-1, -2, -3}, {0.1, 0.2, 0.3}, {0.5, 0.25, -0.0}, 1e-3 * static_cast<double>(i + 1)};
  s.control = {3.5, -0.0, 1e-310};
  s.random.next();
  return s;
}

}  // namespace

TEST_CASE("state file: saved and loaded, every bit is the same, whichever family wrote it") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  for (auto family : {MemoryFamily::Rigid, MemoryFamily::Compliant, MemoryFamily::Momentum}) {
    const State state = busy_state(model, family);
    save_state(state, folder.file("s"));
    const State back = load_state(model, folder.file("s"));
    CHECK(hash(back) == hash(state));
    CHECK(back.control == state.control);
    CHECK(back.memory.contacts.size() == 2);
    CHECK(back.memory.rows.size() == (family == MemoryFamily::Rigid ? 2 : 0));
    CHECK(back.memory.anchors.size() == (family == MemoryFamily::Compliant ? 2 : 0));
    CHECK(back.memory.references.size() == (family == MemoryFamily::Momentum ? 2 : 0));
    CHECK(back.memory.family == family);
  }
  // The temporary name is gone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("state: its hash covers every number of it") {
  const Model model = two_boxes(1);
  const auto differs = [&](MemoryFamily family, auto&& change) {
    State state = busy_state(model, family);
    const std::uint64_t before = hash(state);
    change(state);
    return hash(state) != before;
  };
  using enum MemoryFamily;
  CHECK(differs(Rigid, [](State& s) { s.model ^= 1; }));
  CHECK(differs(Rigid, [](State& s) { ++s.step; }));
  CHECK(differs(Rigid, [](State& s) { s.t += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.clock.start += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.clock.dt += 1; }));
  CHECK(differs(Rigid, [](State& s) { ++s.clock.steps; }));
  CHECK(differs(Rigid, [](State& s) { s.q[3] += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.v[3] += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.family = Unknown; }));
  CHECK(differs(Rigid, [](State& s) { ++s.memory.contacts[1].id; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.contacts[1].f.y() += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.contacts[1].t1.y() += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.contacts[1].mode = ContactMode::Slip; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.contacts[1].touched = true; }));
  CHECK(differs(Rigid, [](State& s) { ++s.memory.rows[1].id; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.rows[1].f += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.memory.rows[1].patience += 1; }));
  CHECK(differs(Compliant, [](State& s) { s.memory.anchors[1].anchor.z() += 1; }));
  CHECK(differs(Compliant, [](State& s) { s.memory.anchors[1].point.z() += 1; }));
  CHECK(differs(Compliant, [](State& s) { s.memory.anchors[1].rest += 1; }));
  CHECK(differs(Momentum, [](State& s) { s.memory.references[1].reference.z() += 1; }));
  CHECK(differs(Momentum, [](State& s) { s.memory.references[1].point.z() += 1; }));
  CHECK(differs(Momentum, [](State& s) { s.memory.references[1].last.z() += 1; }));
  CHECK(differs(Momentum, [](State& s) { s.memory.references[1].last_gap += 1; }));
  CHECK(differs(Rigid, [](State& s) { s.control[2] = 0; }));
  CHECK(differs(Rigid, [](State& s) { s.random.next(); }));
}

namespace {

/// The bytes with their checksum made anew.
std::string sealed(std::string bytes) {
  const std::size_t body = bytes.size() - 4;
  const auto crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), body));
  std::memcpy(bytes.data() + body, &crc, sizeof crc);
  return bytes;
}

constexpr std::size_t family_at = 8 + 4 + 7 * 8;  // after magic, version, model, step, t, clock and the generator

}  // namespace

TEST_CASE("state file: earlier versions and strange families are refused by name") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  save_state(busy_state(model), folder.file("s"));
  const auto load = [&](std::size_t at, char value) {
    std::string bytes = folder.read("s");
    bytes[at] = value;
    folder.write("x", sealed(bytes));
    return refusal([&] { load_state(model, folder.file("x")); });
  };
  CHECK(load(8, 5) == "");
  for (char old : {1, 2, 3, 4}) {
    const std::string said = load(8, old);
    CHECK(said.find("has version " + std::to_string(old)) != std::string::npos);
    CHECK(said.find("reads version 5: an earlier Tribo wrote it") != std::string::npos);
  }
  CHECK(load(8, 6).find("has version 6; this program reads version 5") != std::string::npos);
  CHECK(load(family_at, 4).find("of the family 4") != std::string::npos);
  // Referential points belong to the momentum family.
  CHECK(load(family_at, 1).find("2 referential points for 2 contacts of the rigid family") != std::string::npos);
}

TEST_CASE("state file: memory that is not sorted, or has too few entries of its family, is refused") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  const auto load = [&](MemoryFamily family, auto&& change) {
    State state = busy_state(model, family);
    change(state.memory);
    save_state(state, folder.file("s"));
    return refusal([&] { load_state(model, folder.file("s")); });
  };
  using enum MemoryFamily;
  CHECK(load(Rigid, [](Memory& m) { std::swap(m.contacts[0], m.contacts[1]); }).find("not sorted") !=
        std::string::npos);
  CHECK(load(Rigid, [](Memory& m) { std::swap(m.rows[0], m.rows[1]); }).find("not sorted") != std::string::npos);
  CHECK(load(Compliant, [](Memory& m) { m.anchors.pop_back(); }).find("1 anchors for 2 contacts") != std::string::npos);
  CHECK(load(Momentum, [](Memory& m) { m.rows = {{1, 2, 0}}; }).find("joint rows") != std::string::npos);
  CHECK(load(Momentum, [](Memory& m) { m.references.clear(); }).find("0 referential points") != std::string::npos);
}

TEST_CASE("state file: refuses what is not this model's whole state") {
  ScratchFolder folder;
  const Model model = two_boxes(1), other = two_boxes(1.5);
  save_state(busy_state(model), folder.file("s"));
  const std::string good = folder.read("s");
  const auto load = [&](const std::string& bytes) {
    const std::string path = folder.write("x", bytes);
    return refusal([&] { load_state(model, path); });
  };
  CHECK(load(good) == "");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(load(good.substr(0, n)) != "");
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::string bad = good;
    bad[n] = static_cast<char>(bad[n] ^ 1);
    CHECK(load(bad) != "");
  }
  CHECK(load(good + "x") != "");
  CHECK(load("not a state at all").find("TRIBOST1") != std::string::npos);
  std::string newer = good;
  newer[8] = 6;
  CHECK(load(newer).find("version 6") != std::string::npos);
  CHECK(refusal([&] { load_state(other, folder.file("s")); }).find("belongs to the model") != std::string::npos);
  CHECK(refusal([&] { load_state(model, folder.file("none")); }).find("cannot be read") != std::string::npos);
  CHECK(refusal([&] { save_state(busy_state(model), folder.file("no/such/s")); }).find("no/such/s") !=
        std::string::npos);
}

TEST_CASE("state file: refuses numbers that are not finite and sizes that do not fit, by name") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  const auto load = [&](State state) {
    save_state(state, folder.file("s"));
    return refusal([&] { load_state(model, folder.file("s")); });
  };
  State state = busy_state(model);
  state.q[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(load(state).find("q[3] is nan") != std::string::npos);
  state = busy_state(model);
  state.v[1] = std::numeric_limits<double>::infinity();
  CHECK(load(state).find("v[1] is inf") != std::string::npos);
  state = busy_state(model);
  state.v.setZero(5);
  CHECK(load(state).find("v has 5 numbers") != std::string::npos);
}
