// One world whose islands, and the parts of large ones, are solved on several threads.
#include <doctest/doctest.h>

#include "base/crew.hpp"
#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// A heap, and eight piles beside it.
const char* heap_and_piles = R"(
[stepper]
dt = 0.004
[material.default]
mu = 0.4
[[object]]
name = "heap"
shape = "box"
size = 0.1
mass = 0.5
position = [-0.12, -0.12, 0.08]
grid = [3, 3, 5]
spacing = [0.115, 0.115, 0.115]
jitter = 0.01
jitter_angle = 5.0
seed = 1
[[object]]
name = "pile"
shape = "box"
size = 0.1
mass = 0.3
position = [2, 0, 0.055]
grid = [4, 2, 3]
spacing = [0.6, 0.6, 0.105]
jitter = 0.005
jitter_angle = 3.0
seed = 2
)";

struct Seen {
  std::uint64_t hash = 0;
  double contacts = 0, worst = 0;
  int escalated = 0, islands = 0;
};

Seen run(int threads) {
  Scene scene = parse_scene(heap_and_piles, "heap and piles");
  RigidOptions own;
  own.threads = threads;
  scene.stepper_options.own = own;
  Simulation sim = make_simulation(scene);
  Seen seen;
  for (int k = 0; k < 70; ++k) {
    const StepReport report = sim.step();
    seen.escalated += report.solve.escalated;
    seen.islands = std::max(seen.islands, report.islands);
    seen.contacts += report.energy.contacts;
    seen.worst = std::max(seen.worst, report.solve.residual.relative());
  }
  seen.hash = hash(sim.state());
  return seen;
}

}  // namespace

TEST_CASE("threads: bits of a world do not depend on how many share its islands") {
  const Seen alone = run(1);
  CHECK(alone.escalated > 10);  // then parts were solved
  CHECK(alone.islands > 8);
  for (int threads : {2, 3, 8}) {
    CAPTURE(threads);
    const Seen shared = run(threads);
    CHECK(shared.hash == alone.hash);
    CHECK(shared.contacts == alone.contacts);
    CHECK(shared.worst == alone.worst);
    CHECK(shared.escalated == alone.escalated);
  }
}

TEST_CASE("threads: a crew does every job once, and none of a slot at a time with another") {
  for (int threads : {1, 2, 5}) {
    Crew crew(threads);
    CHECK(crew.slots() == threads);
    for (int jobs : {0, 1, 7, 200}) {
      std::vector<int> done(static_cast<std::size_t>(jobs), 0);
      std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
      std::atomic<int> clashes{0};
      crew.share(jobs, [&](int job, int slot) {
        if (busy[static_cast<std::size_t>(slot)]++ != 0) ++clashes;
        ++done[static_cast<std::size_t>(job)];
        --busy[static_cast<std::size_t>(slot)];
      });
      for (int n : done) CHECK(n == 1);
      CHECK(clashes == 0);
    }
  }
}
