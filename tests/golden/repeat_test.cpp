// The same run twice, and save, go on, restore, go on: the same bits. Compared within a run, never stored.
#include <doctest/doctest.h>

#include <filesystem>

#include "tribo/scene.hpp"

using namespace tribo;

TEST_CASE("every scene: the same run twice, and a restored state, give the same bits") {
  for (const auto& file : std::filesystem::directory_iterator(TRIBO_SCENES)) {
    if (file.path().extension() != ".toml") continue;
    CAPTURE(file.path().filename().string());
    const Scene scene = load_scene(file.path().string());
    const int steps = scene.model->bodies.size() > 50 ? 20 : 300;
    Simulation first = make_simulation(scene), second = make_simulation(scene);
    for (int k = 0; k < steps; ++k) {
      first.step();
      second.step();
    }
    CHECK(hash(first.state()) == hash(second.state()));
    CHECK(first.state().step == static_cast<std::uint64_t>(steps));

    const auto path =
        (std::filesystem::temp_directory_path() / ("tribo-golden-" + file.path().stem().string())).string();
    save_state(first.state(), path);
    for (int k = 0; k < steps; ++k) first.step();
    const std::uint64_t expected = hash(first.state());
    first.set_state(load_state(*scene.model, path));
    for (int k = 0; k < steps; ++k) first.step();
    CHECK(hash(first.state()) == expected);

    Simulation fresh = make_simulation(scene);  // another process would begin like this
    fresh.set_state(load_state(*scene.model, path));
    for (int k = 0; k < steps; ++k) fresh.step();
    CHECK(hash(fresh.state()) == expected);
    std::filesystem::remove(path);
  }
}

TEST_CASE("every other stepper: a restored state gives the same bits") {
  for (const char* file : {"solo.toml", "cube.toml", "cube-slide.toml"})
    for (const StepperEntry& stepper : steppers()) {
      if (stepper.name == "rigid") continue;
      CAPTURE(std::string(file));
      CAPTURE(stepper.name);
      Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + file);
      scene.set_stepper(stepper.name);
      const bool small =
          stepper.name == "explicit-euler" || stepper.name == "runge-kutta" || stepper.name == "microscopic";
      scene.dt = small ? 1e-4 : 1e-3;
      Simulation first = make_simulation(scene), fresh = make_simulation(scene);
      for (int k = 0; k < 150; ++k) first.step();
      const State middle = first.state();
      for (int k = 0; k < 150; ++k) first.step();
      fresh.set_state(middle);
      for (int k = 0; k < 150; ++k) fresh.step();
      CHECK(hash(fresh.state()) == hash(first.state()));
      first.set_state(middle);
      for (int k = 0; k < 150; ++k) first.step();
      CHECK(hash(fresh.state()) == hash(first.state()));
    }
}

TEST_CASE("every stepper: a state that remembers other contacts at the same place is another state") {
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    Scene scene = load_scene(std::string(TRIBO_SCENES) + "/cube-slide.toml");
    scene.set_stepper(stepper.name);
    scene.dt = 1e-4;
    Simulation first = make_simulation(scene), fresh = make_simulation(scene);
    for (int k = 0; k < 60; ++k) first.step();
    State forgetful = first.state();
    CHECK(!forgetful.memory.contacts.empty());
    forgetful.memory = {};
    first.set_state(forgetful);
    fresh.set_state(forgetful);
    first.step();
    fresh.step();
    CHECK(hash(first.state()) == hash(fresh.state()));
    CHECK(first.audit().energy_start == fresh.audit().energy_start);
  }
}
