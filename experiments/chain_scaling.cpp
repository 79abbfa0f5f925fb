// Chains of 6 to 600 links that hang to the ground and touch it with the four vertices of the last link: what a step
// costs as the chain grows (Wakisaka2014: O(n)). Counted in joint degrees that the articulated-body passes visit, and
// measured in CPU time, the least of several runs.
#include <cmath>

#include "base/cpu_time.hpp"
#include "list.hpp"
#include "stepping/momentum/momentum.hpp"
#include "stepping/workspace.hpp"

namespace tribo::experiments {
namespace {

constexpr double length = 0.1, dt = 1e-3;  // of a link [m], [s]

// Axes alternate, so that the chain moves in space. It presses on the ground by a hair.
std::shared_ptr<const Model> chain(int links) {
  ModelBuilder builder;
  SurfacePair surface;
  surface.mu_static = 1.0;
  surface.mu_dynamic = 0.4;
  const int material = builder.add_material({"surface", surface});
  builder.add_ground({}, material);
  builder.begin_member("chain", true, "experiment");
  const Vec3 half(0.02, 0.02, length / 2);
  for (int k = 0; k < links; ++k) {
    Body link;
    link.name = "link" + std::to_string(k);
    link.parent = k - 1;
    link.joint = JointKind::Revolute;
    link.axis = Vec3::Unit(k % 2);
    link.X_PJ.p = Vec3(0, 0, k == 0 ? links * length - 1e-6 : -length);
    link.inertia = solid_inertia(ShapeKind::Box, half, 0.3);
    link.inertia.com = Vec3(0, 0, -length / 2);
    const int body = builder.add_body(link);
    builder.joint_properties().damping[k] = 1e-4;
    if (k + 1 < links) continue;
    Geometry box;
    box.name = "end";
    box.body = body;
    box.member = 0;
    box.kind = ShapeKind::Box;
    box.size = half;
    box.X_BG.p = Vec3(0, 0, -length / 2);
    box.material = material;
    builder.add_geometry(box);
  }
  return std::make_shared<const Model>(builder.build());
}

struct Cost {
  double time = HUGE_VAL;  ///< of a step [s]
  double visits = 0;       ///< of joint degrees in a step
  int contacts = 0;
};

Cost measure(int links, int repeats, int steps) {
  const auto model = chain(links);
  StepperOptions options;
  options.audit = AuditLevel::Laws;
  Workspace work(*model);
  const auto stepper = make_stepper("momentum", *model, options);
  const auto& family = dynamic_cast<const MomentumFamily&>(stepper->scheme());
  State state = State::neutral(*model);
  Cost cost;
  for (int k = 0; k < 3; ++k) stepper->advance(state, work, dt);
  for (int r = 0; r < repeats; ++r) {
    const std::uint64_t before = family.visits();
    const double start = cpu_seconds();
    for (int k = 0; k < steps; ++k) cost.contacts = stepper->advance(state, work, dt).contacts;
    cost.time = std::min(cost.time, (cpu_seconds() - start) / steps);
    cost.visits = static_cast<double>(family.visits() - before) / steps;
  }
  return cost;
}

/// Slope of log y over log x by least squares.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = std::log(x[k]), b = std::log(y[k]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

Result chain_scaling(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const std::vector<int> sizes =
      options.quick ? std::vector<int>{6, 60, 600} : std::vector<int>{6, 12, 25, 50, 100, 200, 400, 600};
  result.settings = {{"dt", dt}, {"contacts", 4}, {"audit", "laws"}, {"links", sizes}};
  Table table{"A step over the length of the chain, four contacts",
              {"links", "CPU time [us]", "time a link [us]", "degrees visited", "visits a link", "contacts"}};
  Series time{"momentum, measured"}, visits{"momentum"};
  std::vector<double> x;
  double fewest = 1e9;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const int links = sizes[k];
    const Cost cost = measure(links, options.quick ? 1 : 15, std::max(2, (options.quick ? 600 : 6000) / links));
    x.push_back(links);
    time.x.push_back(links), time.y.push_back(1e6 * cost.time);
    visits.x.push_back(links), visits.y.push_back(cost.visits);
    table.rows.push_back(
        {links, 1e6 * cost.time, 1e6 * cost.time / links, cost.visits, cost.visits / links, cost.contacts});
    fewest = std::min(fewest, static_cast<double>(cost.contacts));
    progress(static_cast<double>(k + 1) / static_cast<double>(sizes.size()));
  }
  result.measures = {
      {"visits_exponent", exponent(x, visits.y)}, {"time_exponent", exponent(x, time.y)}, {"fewest_contacts", fewest}};
  Series slope{"proportional to the links"};
  for (double links : x) slope.x.push_back(links), slope.y.push_back(time.y.back() * links / x.back());
  result.tables.push_back(table);
  result.panels.push_back({"CPU time of a step", "links", "time [us]", true, true, {time, slope}, {}});
  result.panels.push_back(
      {"Work of the articulated-body passes", "links", "joint degrees visited a step", true, true, {visits}, {}});
  return result;
}

}  // namespace tribo::experiments
