// The default solver at its default tolerance on every step of every shipped scene, warm and cold: a table.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "tribo/scene.hpp"

using namespace tribo;
namespace fs = std::filesystem;

namespace {

struct Row {
  std::string scene;
  bool warm = true;
  int steps = 0, above = 0, unflagged = 0;
  double worst = 0;  ///< relative residual
};

// Of the heap of 1000 cubes a second: they have met by then, and a step takes some 40 ms.
Row run(const fs::path& file, bool warm, double tolerance) {
  Scene scene = load_scene(file.string());
  scene.stepper_options.contact.warm_start = warm;
  scene.stepper_options.contact.tolerance.rel = tolerance;
  Simulation simulation = make_simulation(scene);
  Row row{.scene = file.stem().string(), .warm = warm};
  const int most = tolerance > 1e-8 ? (warm ? 1000 : 100) : warm ? 3000 : 300;
  for (; row.steps < most && simulation.state().t < scene.duration - 1e-9; ++row.steps) {
    const StepReport report = simulation.step();
    const double residual = report.solve.residual.relative();
    row.worst = std::max(row.worst, residual);
    row.above += residual > tolerance;
    row.unflagged += residual > tolerance && report.status == StepStatus::Ok;
  }
  return row;
}

}  // namespace

TEST_SUITE("long") {
  TEST_CASE("every step of every shipped scene of the rigid stepper is solved to 1e-8, the heap of 1000 to 1e-6") {
    std::ostringstream table;
    table << "scene, start, steps, above the tolerance, worst relative residual\n";
    for (const auto& item : fs::directory_iterator(TRIBO_SCENES)) {
      if (item.path().extension() != ".toml") continue;
      const Scene scene = load_scene(item.path().string());
      if (scene.stepper != "rigid") continue;
      const double tolerance = item.path().stem() == "heap-1000" ? 1e-6 : 1e-8;
      for (bool warm : {true, false}) {
        const Row row = run(item.path(), warm, tolerance);
        table << row.scene << ", " << (warm ? "warm" : "cold") << ", " << row.steps << ", " << row.above << ", "
              << row.worst << "\n";
        CAPTURE(row.scene);
        CAPTURE(warm);
        CHECK(row.unflagged == 0);
        CHECK(row.above == 0);
      }
    }
    MESSAGE(table.str());
  }
}
