// No allocation in a step after warm-up: every malloc of the process is counted (operator new alone would miss Eigen).
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "io/npy.hpp"
#include "tribo/batch.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/rigid.hpp"
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

// A floating chain with a tendon over its joints and a string to the world, a ball joint at its limit, dry friction of the
// base, a carried weight and a fluid; and a body that flies by stages.
TEST_CASE("rows along many coordinates, fluids and flights by stages allocate nothing after warm-up") {
  ModelBuilder builder;
  builder.add_material({});
  builder.begin_member("t", true, "test");
  for (int i = 0; i < 4; ++i) {
    Body body;
    body.name = "t/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = i == 0 ? JointKind::Free : i == 3 ? JointKind::Spherical : JointKind::Revolute;
    body.X_PJ.p = i == 0 ? Vec3(Vec3::Zero()) : Vec3(0.2, 0.1, 0);
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.04, 0.06), 1);
    body.carried = i == 1 ? 0.5 : 0;
    builder.add_body(body);
  }
  builder.add_object("ball", ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 1, 0);
  JointProperties& joints = builder.joint_properties();
  joints.friction.head<3>().setConstant(0.1);
  joints.upper[8] = 0.05;
  Tendon tendon;
  tendon.name = "t/tendon";
  tendon.joints = {{1, 1}, {2, -0.5}};
  tendon.upper = 0.02;
  tendon.stiffness = 3;
  tendon.damping = 0.1;
  tendon.friction = 0.01;
  builder.add_tendon(tendon);
  Tendon string;
  string.name = "t/string";
  string.path = {{-1, 2, Vec3(0, 0, 0.5), Vec3::Zero(), 1}};
  string.upper = 0.8;
  builder.add_tendon(string);
  Medium medium;
  medium.density = 1;
  for (int i = 0; i < 5; ++i) medium.boxes.push_back({i, {}, Vec3(0.1, 0.1, 0.1)});
  builder.set_medium(medium);
  const auto model = std::make_shared<const Model>(builder.build());
  for (const char* stepper : {"rigid", "exponential", "implicit-euler", "explicit-euler", "runge-kutta"}) {
    CAPTURE(std::string(stepper));
    const bool rigid = std::string(stepper) == "rigid";
    StepperOptions options;
    if (rigid) options.own.as<RigidOptions>().smooth = SmoothScheme::RungeKutta;
    Simulation simulation(model, stepper, options, rigid ? 1e-3 : 1e-4);
    State state = simulation.state();
    state.q.tail<7>().head<3>() = Vec3(5, 0, 0);
    simulation.set_state(state);
    for (int k = 0; k < (rigid ? 600 : 3000); ++k) simulation.step();
    state = simulation.state();
    for (int k = 0; k < 20; ++k) simulation.step();
    simulation.set_state(state);
    const long before = allocations;
    for (int k = 0; k < 20; ++k) simulation.step();
    const long made = allocations - before;
    CHECK(made == 0);
    CHECK(simulation.audit().status == StepStatus::Ok);
  }
}

TEST_CASE("controllers whose references move allocate nothing after warm-up") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tribo-course-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string course = (folder / "course.npz").string();
  {
    NpzWriter file(course);
    const double dt = 0.02, com[9] = {0, 0, 0.2, 0, 0.01, 0.2, 0, 0, 0.2};
    const double foot[21] = {0.2, 0.15, 0, 0, 0, 0, 1, 0.2, 0.15, 0.01, 0, 0, 0, 1, 0.2, 0.15, 0, 0, 0, 0, 1};
    const double stands[3] = {1, 0, 1};
    const auto add = [&](const char* name, std::vector<std::uint64_t> shape, const double* x) {
      file.add(name, NpyType::F64, shape, x);
    };
    add("dt", {}, &dt);
    add("com", {3, 3}, com);
    add("frame.FL_FOOT", {3, 7}, foot);
    add("stands.FL_FOOT", {3}, stands);
    file.finish();
  }
  const std::string led = "[robot]\nmodel = \"solo12\"\n[controller]\nname = \"task-space\"\nmotion = \"" + course +
                          "\"\n[[controller.frame]]\nname = \"FL_FOOT\"\n";
  const std::string arm =
      "[robot]\nmodel = \"ur10\"\ncontact = \"none\"\n[controller]\nkp = 500\nkd = 20\nfeedforward = \"gravity\"\n"
      "sinusoid = {amplitude = 0.3}\n";
  for (const std::string& text : {led, arm}) {
    CAPTURE(text);
    Simulation simulation = make_simulation(parse_scene(text, ""));
    const State start = simulation.state();
    for (int k = 0; k < 100; ++k) simulation.step();  // lifted and landed
    const long before = allocations;
    for (int k = 0; k < 50; ++k) simulation.step();
    CHECK(allocations - before == 0);
    simulation.set_state(start);
    for (int k = 0; k < 5; ++k) simulation.step();
    const long again = allocations;
    for (int k = 0; k < 95; ++k) simulation.step();  // lifts and lands once more
    CHECK(allocations - again == 0);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a linearisation allocates nothing once its sizes have been seen") {
  const std::pair<const char*, const char*> cases[] = {{"cube", "rigid"},
                                                       {"ur10", "rigid"},
                                                       {"six-link-pendulum", "rigid"},
                                                       {"solo", "rigid"},
                                                       {"solo-standing", "rigid"},
                                                       {"talos-standing", "rigid"},
                                                       {"allegro-ball", "rigid"},
                                                       {"cube", "implicit-euler"},
                                                       {"solo-standing", "implicit-euler"},
                                                       {"ur10", "implicit-euler"},
                                                       {"cube", "exponential"},
                                                       {"solo-standing", "exponential"},
                                                       {"ur10", "exponential"},
                                                       {"ur10-geared", "exponential"}};
  for (const auto& [name, stepper] : cases) {
    Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml");
    if (scene.stepper != stepper) scene.set_stepper(stepper);
    Simulation simulation = make_simulation(scene);
    Linearization lin;
    lin.memory = scene.stepper != "rigid";
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
    CAPTURE(std::string(name));
    CAPTURE(std::string(stepper));
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
  const std::string hills = R"(
[ground]
none = true
[[terrain]]
name = "hills"
points = [31, 31]
spacing = 0.06
amplitude = 0.03
length = [0.5, 0.4]
roughness = 0.006
[robot]
model = "solo12"
contact = "feet"
pose = "standing"
position = [0, 0, 0.3]
[controller]
kp = 20
kd = 0.3
)";
  for (const std::string name : {"solo-standing", "go2-standing", "g1-standing", "hills"}) {
    const Scene scene =
        name == "hills" ? parse_scene(hills, name) : load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml");
    Batch batch(scene, 9, 1, {}, {}, true);
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
