// No allocation in a step after warm-up: every malloc of the process is counted (operator new alone would miss Eigen).
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>

#include "tribo/batch.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"

#if !defined(__SANITIZE_ADDRESS__)

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t m) {
  ++allocations;
  return __libc_calloc(n, m);
}
void* realloc(void* p, std::size_t n) {
  ++allocations;
  return __libc_realloc(p, n);
}
void* memalign(std::size_t a, std::size_t n) {
  ++allocations;
  return __libc_memalign(a, n);
}
void* aligned_alloc(std::size_t a, std::size_t n) { return memalign(a, n); }
int posix_memalign(void** out, std::size_t a, std::size_t n) {
  *out = memalign(a, n);
  return *out ? 0 : 12;
}
}

using namespace tribo;

TEST_CASE("the counter counts") {
  const long before = allocations;
  VecX x(100);  // Eigen allocates by malloc, not by new
  CHECK(x.size() == 100);
  CHECK(allocations - before == 1);
}

TEST_CASE("every scene x contact solver steps without allocating after warm-up") {
  for (const auto& file : std::filesystem::directory_iterator(TRIBO_SCENES)) {
    if (file.path().extension() != ".toml") continue;
    Scene scene = load_scene(file.path().string());
    const bool large = scene.model->bodies.size() > 50;
    for (const SolverEntry& solver : contact_solvers()) {
      if (large && solver.name != "newton") continue;
      scene.set_solver(solver.name);
      scene.stepper_options.contact.model = to_string(solver.models.front());
      scene.stepper_options.contact.max_iterations = 200;
      Simulation simulation = make_simulation(scene);
      const int warm_up = large ? 60 : 400;
      for (int k = 0; k < warm_up; ++k) simulation.step();
      const State state = simulation.state();
      for (int k = 0; k < 20; ++k) simulation.step();
      simulation.set_state(state);  // the same steps again: every size has been seen
      const long before = allocations;
      for (int k = 0; k < 20; ++k) simulation.step();
      const long made = allocations - before;  // before CAPTURE, which makes strings
      CAPTURE(file.path().filename().string());
      CAPTURE(solver.name);
      CHECK(made == 0);
    }
  }
}

TEST_CASE("a linearisation allocates nothing once its sizes have been seen") {
  for (const char* name :
       {"cube", "ur10", "six-link-pendulum", "solo", "solo-standing", "talos-standing", "allegro-ball"}) {
    Simulation simulation = make_simulation(load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml"));
    Linearization lin;
    const auto run = [&](int steps) {
      for (int k = 0; k < steps; ++k) {
        simulation.step();
        simulation.linearize(lin);
      }
    };
    run(100);
    const State state = simulation.state();
    run(20);
    simulation.set_state(state);
    const long before = allocations;
    run(20);
    const long made = allocations - before;
    CAPTURE(name);
    CHECK(made == 0);
  }
}

TEST_CASE("every other stepper steps without allocating after warm-up") {
  // Scenes with few bodies, and without what these steppers refuse.
  for (const char* file : {"solo.toml", "cube.toml", "stack-10.toml", "double-pendulum.toml"})
    for (const StepperEntry& stepper : steppers()) {
      if (stepper.name == "rigid") continue;
      Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + file);
      scene.set_stepper(stepper.name);
      const bool small =
          stepper.name == "explicit-euler" || stepper.name == "runge-kutta" || stepper.name == "microscopic";
      scene.dt = small ? 1e-4 : 1e-3;
      for (const AnchorRule anchor : {AnchorRule::Surface, AnchorRule::Detected}) {
        Options& own = scene.stepper_options.own;
        if (stepper.memory == MemoryFamily::Compliant) own.as<CompliantOptions>().anchor = anchor;
        if (stepper.name == "exponential") own.as<ExponentialOptions>().midpoint = anchor == AnchorRule::Detected;
        Simulation simulation = make_simulation(scene);
        for (int k = 0; k < 400; ++k) simulation.step();
        const State state = simulation.state();
        for (int k = 0; k < 20; ++k) simulation.step();
        simulation.set_state(state);
        const long before = allocations;
        for (int k = 0; k < 20; ++k) simulation.step();
        const long made = allocations - before;  // before the captures, which allocate
        CAPTURE(std::string(file));
        CAPTURE(stepper.name);
        CHECK(made == 0);
      }
    }
}

// Targets jump, so that lanes slip, fly, meet limits of effort and leave for the scalar step and back.
TEST_CASE("a batch in lanes steps without allocating after warm-up") {
  for (const char* name : {"solo-standing", "go2-standing", "g1-standing"}) {
    const Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml");
    Batch batch(scene, 9, 1, {}, true);
    const auto run = [&] {
      for (int w = 0; w < batch.worlds(); ++w) batch.reset(w);
      Random random;
      for (int round = 0; round < 20; ++round) {
        for (double& x : batch.target()) x += 0.1 * (random.uniform() - 0.5);
        batch.wrench()[0] = round == 7 ? 1 : 0;  // the first world leaves its lane for a while
        batch.step(5);
      }
    };
    run();
    run();
    const long before = allocations;
    run();
    const long made = allocations - before;
    CAPTURE(name);
    CHECK(batch.lane_steps(0) > 0);
    CHECK(made == 0);
  }
}

#endif
