// Batches under many threads; scripts/threads builds this with the thread sanitizer, which looks for races.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tribo/batch.hpp"

using namespace tribo;

namespace {

const char* boxes = R"(
[stepper]
dt = 0.002
[[object]]
name = "below"
size = 0.1
mass = 1
position = [0, 0, 0.05]
[[object]]
name = "above"
size = 0.08
mass = 0.5
position = [0.01, 0, 0.145]
angular_velocity = [0.2, 0, 1]
)";

/// The first of the worlds to be asked so often ends the step.
class Ends final : public Controller {
 public:
  Ends(std::atomic<int>& asked, int most) : asked_(asked), most_(most) {}
  void control(const Model&, const State&, const Dynamics&, std::span<double>, Actuation&) override {
    if (++asked_ == most_) throw Interrupted();
  }

 private:
  std::atomic<int>& asked_;
  int most_;
};

}  // namespace

TEST_CASE("threads: bits do not depend on their number, whoever looks on") {
  const Scene scene = parse_scene(boxes, "boxes");
  Batch alone(scene, 9, 1), many(scene, 9, 4);
  alone.step(60);
  std::atomic<bool> done{false};
  std::atomic<int> refused{0};
  const auto look = [&] {
    while (!done) {
      try {
        many.check_still();
        many.state(3);
        many.contacts(1);
        many.hash(8);
        many.reason(0);
        many.model(2);
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  };
  std::thread first(look), second(look);
  for (int k = 0; k < 60;) {
    try {
      many.step(1);
      ++k;
    } catch (const std::runtime_error&) {
      FAIL("nobody else steps");
    }
  }
  done = true;
  first.join();
  second.join();
  for (int w = 0; w < 9; ++w) CHECK(many.hash(w) == alone.hash(w));
}

TEST_CASE("threads: several that step, reset and change worlds are let in one by one") {
  Batch batch(parse_scene(boxes, "boxes"), 6, 3);
  std::atomic<int> taken{0}, refused{0};
  const auto use = [&](int kind) {
    for (int k = 0; k < 25; ++k) {
      try {
        if (kind == 0) batch.reset(k % 6);
        if (kind == 1) batch.set_parameters(k % 6, {1 + 0.1 * k, 1, 1});
        if (kind >= 2) batch.step(2);
        ++taken;
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int kind : {0, 1, 2, 3}) threads.emplace_back(use, kind);
  for (std::thread& thread : threads) thread.join();
  CHECK(taken + refused == 100);
  batch.step(1);
  for (WorldStatus status : batch.status()) CHECK(status == WorldStatus::Running);
}

TEST_CASE("threads: a step that is to stop ends, and the worlds go on from where they are") {
  const Scene scene = parse_scene(boxes, "boxes");
  for (int threads : {1, 3}) {
    Batch batch(scene, 6, threads);
    int asked = 0;
    batch.step(1'000'000'000, [&] { return ++asked >= 20; });
    std::vector<double> reached(batch.t().begin(), batch.t().end());
    CHECK(*std::max_element(reached.begin(), reached.end()) > 0);
    batch.step(2);
    for (int w = 0; w < 6; ++w) {
      Batch one(scene, 1, 1);
      one.step(static_cast<int>(std::lround(reached[at(w)] / scene.dt)) + 2);
      CHECK(batch.hash(w) == one.hash(0));
      CHECK(batch.reason(w).empty());
    }
  }
}

TEST_CASE("threads: a controller may end the step of all worlds, and none has failed") {
  for (int threads : {1, 3}) {
    std::atomic<int> asked{0};
    Batch batch(parse_scene(boxes, "boxes"), 4, threads,
                {[&](const Model&, int) { return std::make_unique<Ends>(asked, 50); }});
    batch.step(1'000'000'000);
    for (int w = 0; w < 4; ++w) CHECK(batch.reason(w).empty());
    batch.step(1);
    for (WorldStatus status : batch.status()) CHECK(status == WorldStatus::Running);
  }
}
