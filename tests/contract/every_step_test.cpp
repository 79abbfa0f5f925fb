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

Row run(const fs::path& file, bool warm) {
  Scene scene = load_scene(file.string());
  scene.stepper_options.warm_start = warm;
  Simulation simulation = make_simulation(scene);
  Row row{.scene = file.stem().string(), .warm = warm};
  const int most = warm ? 3000 : 300;
  for (; row.steps < most && simulation.state().t < scene.duration - 1e-9; ++row.steps) {
    const StepReport report = simulation.step();
    const double residual = report.solve.residual.relative();
    row.worst = std::max(row.worst, residual);
    row.above += residual > 1e-8;
    row.unflagged += residual > 1e-8 && report.status == StepStatus::Ok;
  }
  return row;
}

}  // namespace

TEST_SUITE("long") {
  TEST_CASE("every step of every shipped scene of the rigid stepper is solved to 1e-8, or flagged") {
    std::ostringstream table;
    table << "scene, start, steps, above 1e-8, worst relative residual\n";
    for (const auto& item : fs::directory_iterator(TRIBO_SCENES)) {
      if (item.path().extension() != ".toml" || item.path().stem() == "heap-1000") continue;
      if (load_scene(item.path().string()).stepper != "rigid") continue;
      for (bool warm : {true, false}) {
        const Row row = run(item.path(), warm);
        table << row.scene << ", " << (warm ? "warm" : "cold") << ", " << row.steps << ", " << row.above << ", "
              << row.worst << "\n";
        CAPTURE(row.scene);
        CAPTURE(warm);
        CHECK(row.unflagged == 0);
        // Known shortfall: in the falling heap the interior point's path turns back before 1e-8 now and then. Two
        // versions of the solver that differed in rounding had 20 and 57 such steps of 3000, 2.6e-7 at worst.
        const bool heap = row.scene.starts_with("heap");
        CHECK(row.above <= (heap ? 3 * row.steps / 100 : 0));
        CHECK(row.worst <= (heap ? 1e-6 : 1e-8));
      }
    }
    MESSAGE(table.str());
  }
}
