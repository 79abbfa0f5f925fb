// A box at rest on an incline for a second, mu_s = 1 and mu_d = 0.4, under every stepper: what holds up to 45 degrees, and
// how far it slides beyond. Coulomb: g (sin a - mu_d cos a) t^2 / 2 from the start on.
#include <cmath>

#include "list.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {
namespace {

struct Slope {
  std::string stepper;
  double dt;
};

constexpr double mu_static = 1, mu_dynamic = 0.4, gravity_size = 9.81, duration_of_slide = 1;

// Gravity is tilted, not the ground.
double way_down(const Slope& slope, double degrees) {
  const double a = degrees * M_PI / 180;
  const Scene scene = parse_scene(
      "[ground]\n[material.default]\nmu_static = 1.0\nmu_dynamic = 0.4\n[[object]]\nname = \"box\"\nshape = \"box\"\n"
      "size = [0.4, 0.4, 0.1]\nmass = 1.0\nposition = [0, 0, 0.05]\n",
      "incline",
      {{"stepper.name", slope.stepper},
       {"stepper.dt", std::to_string(slope.dt)},
       {"gravity", "[" + std::to_string(gravity_size * std::sin(a)) + ", 0, " +
                       std::to_string(-gravity_size * std::cos(a)) + "]"}});
  Simulation simulation = make_simulation(scene);
  for (long k = 0; k < std::lround(duration_of_slide / slope.dt); ++k) simulation.step();
  return simulation.state().q[0];
}

double by_coulomb(double degrees) {
  const double a = degrees * M_PI / 180;
  if (std::tan(a) <= mu_static) return 0;
  return 0.5 * gravity_size * (std::sin(a) - mu_dynamic * std::cos(a)) * duration_of_slide * duration_of_slide;
}

}  // namespace

Result incline(const ExperimentOptions& options, const Progress& progress) {
  std::vector<Slope> slopes = {{"rigid", 1e-3},          {"exponential", 1e-3}, {"exponential", 1e-2},
                               {"implicit-euler", 1e-3}, {"momentum", 1e-3},    {"momentum", 1e-2},
                               {"relaxed", 1e-3},        {"macroscopic", 1e-3}, {"explicit-euler", 1e-4},
                               {"runge-kutta", 1e-4},    {"microscopic", 1e-4}};
  const std::vector<double> angles =
      options.quick ? std::vector<double>{44.9, 45.1} : std::vector<double>{40, 44, 44.9, 45.1, 50};
  Result result;
  result.settings = {{"mu_static", mu_static}, {"mu_dynamic", mu_dynamic}, {"duration", duration_of_slide}};
  Table table{"Way down in a second [mm]", {"stepper", "dt [ms]"}, {}};
  for (double angle : angles) table.columns.push_back(std::to_string(angle).substr(0, 4) + " degrees");
  double most_held = 0, least_slid = HUGE_VAL, ramped = HUGE_VAL, of_coulomb = 0;
  int done = 0;
  for (const Slope& slope : slopes) {
    std::vector<Json> row = {slope.stepper, 1e3 * slope.dt};
    for (double angle : angles) {
      const double way = way_down(slope, angle), truth = by_coulomb(angle);
      row.push_back(1e3 * way);
      if (slope.stepper == "microscopic")
        ramped = std::min(ramped, way);
      else if (truth == 0)
        most_held = std::max(most_held, std::abs(way));
      else
        least_slid = std::min(least_slid, way);
      if (slope.stepper == "rigid" && truth > 0) of_coulomb = std::max(of_coulomb, std::abs(way / truth - 1));
      progress(++done / static_cast<double>(slopes.size() * angles.size()));
    }
    table.rows.push_back(row);
  }
  std::vector<Json> truth = {"Coulomb", ""};
  for (double angle : angles) truth.push_back(1e3 * by_coulomb(angle));
  table.rows.push_back(truth);
  result.measures = {{"largest_way_held", most_held},
                     {"smallest_way_slid", least_slid},
                     {"smallest_way_ramped", ramped},
                     {"rigid_off_coulomb", of_coulomb}};
  result.tables.push_back(table);
  return result;
}

}  // namespace tribo::experiments
