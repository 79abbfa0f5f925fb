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

State busy_state(const Model& model) {
  State s = State::neutral(model);
  s.step = 12345;
  s.t = 0.1 + 0.2;
  for (int i = 0; i < model.nv; ++i) {
    s.v[i] = std::sin(i + 1.0);
    s.tau[i] = -1.0 / (i + 3.0);
  }
  s.contacts.resize(2);
  s.contacts[0] = {7, {1, 2, 3}, {0, 1, 0}, {-1, -2, -3}, {0.1, 0.2, 0.3}, -1e-3, ContactMode::Slip, true};
  s.contacts[1] = {1ull << 63, {4, 5, 6}, {1, 0, 0}, {0.5, 0.25, -0.0}, {0, 0, 0}, 0, ContactMode::Stick, false};
  s.family = MemoryFamily::Momentum;
  s.control = {3.5, -0.0, 1e-310};
  s.random.next();
  return s;
}

}  // namespace

TEST_CASE("state file: saved and loaded, every bit is the same") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  const State state = busy_state(model);
  save_state(state, folder.file("s"));
  const State back = load_state(model, folder.file("s"));
  CHECK(hash(back) == hash(state));
  CHECK(back.control == state.control);
  CHECK(back.contacts.size() == 2);
  CHECK(back.family == MemoryFamily::Momentum);
  // The temporary name is gone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

namespace {

/// The bytes with their checksum made anew.
std::string sealed(std::string bytes) {
  const std::size_t body = bytes.size() - 4;
  const auto crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), body));
  std::memcpy(bytes.data() + body, &crc, sizeof crc);
  return bytes;
}

constexpr std::size_t family_at = 8 + 4 + 4 * 8;  // after magic, version, model, step, t and the generator

}  // namespace

TEST_CASE("state file: one of version 2 does not say its family: all else is the same") {
  ScratchFolder folder;
  const Model model = two_boxes(1);
  State state = busy_state(model);
  save_state(state, folder.file("s"));
  std::string old = folder.read("s");
  old[8] = 2;
  old.erase(family_at, 1);
  State back = load_state(model, folder.write("old", sealed(old)));
  CHECK(back.family == MemoryFamily::Unknown);
  back.family = state.family;
  CHECK(hash(back) == hash(state));
  std::string strange = folder.read("s");
  strange[family_at] = 4;
  folder.write("strange", sealed(strange));
  CHECK(refusal([&] { load_state(model, folder.file("strange")); }).find("of the family 4") != std::string::npos);
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
  newer[8] = 4;
  CHECK(load(newer).find("version 4") != std::string::npos);
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
