// A state kept by one stepper and continued by another: every ordered pair of the table.
#include <doctest/doctest.h>

#include <algorithm>

#include "tribo/simulation.hpp"
#include "unit/scratch_folder.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

// Far from the origin: an anchor that was never written then pulls from 100 m away. The upper box rests on one that
// moves, so that anchors are told in the frame of a body as well as in the world.
Simulation two_boxes(const std::string& stepper) {
  const bool small = stepper == "explicit-euler" || stepper == "runge-kutta" || stepper == "microscopic";
  worlds::World world(worlds::friction(0.5));
  world.ground();
  world.box(Vec3(0.1, 0.1, 0.1), 1, Vec3(100, -20, 0.1)).box(Vec3(0.05, 0.05, 0.05), 1, Vec3(100, -20, 0.25));
  return world.simulate(small ? 2e-4 : 1e-3, {}, stepper);
}

/// Largest kinetic energy on the way [J].
double peak(Simulation& simulation, double duration) {
  double most = 0;
  for (double end = simulation.state().t + duration; simulation.state().t < end;)
    most = std::max(most, simulation.step().energy.kinetic);
  return most;
}

}  // namespace

TEST_CASE("a state at rest stays at rest under every other stepper: no energy beyond that of a fresh start") {
  ScratchFolder folder;
  for (const StepperEntry& writer : steppers()) {
    Simulation first = two_boxes(writer.name);
    worlds::run(first, 0.3);
    REQUIRE(first.state().memory.size() == 8);
    REQUIRE(first.state().memory.family == writer.memory);
    save_state(first.state(), folder.file("s"));
    for (const StepperEntry& reader : steppers()) {
      CAPTURE(writer.name);
      CAPTURE(reader.name);
      Simulation other = two_boxes(reader.name), fresh = two_boxes(reader.name);
      const State kept = load_state(other.model(), folder.file("s"));
      State bare = kept;
      bare.memory.clear();
      fresh.set_state(bare);
      other.set_state(kept);
      const bool foreign = writer.memory != reader.memory;
      CHECK(other.state().t == kept.t);
      CHECK(other.state().q == kept.q);
      CHECK(other.state().v == kept.v);
      CHECK(other.state().memory.size() == (foreign ? 0 : 8));
      CHECK((forgotten_memory(kept, reader.name) != "") == foreign);
      const double with = peak(other, 0.1), without = peak(fresh, 0.1);
      // At worst the boxes fall as deep as they press the four springs in, m g d = 2 * 9.81 * 5e-5 J, or are lifted by
      // as much. Memory of the own family may change a hundredth of that: what was a slide is not begun anew.
      CHECK(with <= without + 1e-5);
      CHECK(with < 2e-3);
      CHECK(other.audit().forgotten == (foreign ? 8 : 0));
    }
  }
}

TEST_CASE("memory that no family is known for is forgotten, and a state without memory fits all in silence") {
  Simulation first = two_boxes("rigid");
  worlds::run(first, 0.1);
  State state = first.state();
  state.memory.family = MemoryFamily::Unknown;
  for (const StepperEntry& reader : steppers()) {
    CAPTURE(reader.name);
    Simulation other = two_boxes(reader.name);
    CHECK(forgotten_memory(state, reader.name).find("does not name") != std::string::npos);
    other.set_state(state);
    CHECK(other.state().memory.empty());
    other.step();
    CHECK(other.audit().forgotten == state.memory.size());
    State bare = state;
    bare.memory.clear();
    CHECK(forgotten_memory(bare, reader.name) == "");
    other.set_state(bare);
    CHECK(hash(other.state()) == hash(bare));
    other.step();
    CHECK(other.audit().forgotten == 0);
  }
}

TEST_CASE("what cannot be forgotten is refused by name") {
  Simulation simulation = two_boxes("rigid");
  const auto refused = [&](auto&& change) {
    State state = simulation.state();
    change(state);
    return refusal([&] { simulation.set_state(state); });
  };
  CHECK(refused([](State&) {}) == "");
  CHECK(refused([](State& s) { s.control.assign(3, 0.0); }).find("3 numbers that controllers remember") !=
        std::string::npos);
  CHECK(refused([](State& s) { s.q.setZero(5); }).find("5 numbers of q; the model has 14") != std::string::npos);
  CHECK(refused([](State& s) { s.v.setZero(5); }).find("5 numbers of v; the model has 12") != std::string::npos);
  CHECK(refused([](State& s) { s.t = NAN; }).find("not finite") != std::string::npos);
}
