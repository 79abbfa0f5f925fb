// Six links of 4 x 4 x 10 cm and 0.3 kg swing into the ground from a hinge 42 cm above it (Wakisaka2014, IV): forces at
// the four vertices of the last link that lie on the ground at the end, what chatters, what rests, what it costs.
#include "pendulum.hpp"

#include <algorithm>
#include <cmath>

#include "base/cpu_time.hpp"
#include "list.hpp"
#include "scenes.hpp"

namespace tribo::experiments {
namespace {

constexpr double sample = 1e-3;           // [s]
constexpr double rest_from = 4, end = 5;  // [s]

}  // namespace

PendulumRun swing(const ExperimentOptions& options, const PendulumMethod& method, double dt, double duration) {
  Scene scene = scene_of(options, "six-link-pendulum", method.keys);
  scene.set_stepper(method.stepper);
  scene.stepper_options.own = method.options;
  scene.dt = dt;
  Simulation simulation = make_simulation(scene);
  PendulumRun run;
  run.weight = scene.model->mass() * scene.model->gravity.norm();
  const int last = static_cast<int>(scene.model->geometries.size()) - 1;
  const long steps = std::lround(duration / dt), every = std::max(1L, std::lround(sample / dt));
  double energy_start = 0;
  for (long k = 0; k < steps; ++k) {
    const double before = cpu_seconds();
    const StepReport report = simulation.step();
    run.cpu += cpu_seconds() - before;
    run.passes += report.solve.iterations;
    const double energy = report.energy.kinetic + report.energy.potential + report.energy.elastic;
    if (k == 0) energy_start = energy;
    run.gained = std::max(run.gained, energy - energy_start);
    run.finite = report.status != StepStatus::NotFinite;
    if (!run.finite) break;
    if ((k + 1) % every != 0) continue;
    run.t.push_back(report.t);
    run.kinetic.push_back(report.energy.kinetic);
    run.vertices.emplace_back();
    double deepest = 0;
    for (const ContactReport& c : simulation.contacts()) {
      deepest = std::max(deepest, -c.gap);
      if (c.geometry_b != last) continue;
      VertexSample& v = run.vertices.back()[c.id & 7];
      v = {c.f.z(), std::copysign(std::hypot(c.f.x(), c.f.y()), (c.R_WC * c.f).x()), c.c.head<2>().norm(), c.mode};
    }
    run.depth.push_back(deepest);
    record_shape(simulation, run);
  }
  run.audit = simulation.audit();
  choose_vertices(run);
  return run;
}

// Joints and tip in the plane of the motion, and the eight vertices of the last link.
void record_shape(Simulation& simulation, PendulumRun& run) {
  const Model& model = simulation.model();
  const int bodies = static_cast<int>(model.bodies.size());
  std::vector<Vec3> line;
  line.reserve(at(bodies) + 1);
  for (int b = 0; b < bodies; ++b) line.push_back(simulation.body_pose(b).p);
  const Placement X = simulation.body_pose(bodies - 1);
  line.push_back(X * Vec3(0, 0, -0.1));
  run.shape.push_back(line);
  const Geometry& box = model.geometries.back();
  run.corner.emplace_back();
  for (unsigned k = 0; k < 8; ++k) {
    const Vec3 sign(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    run.corner.back()[k] = X * (box.X_BG * Vec3(sign.cwiseProduct(box.size)));
  }
}

// The four vertices that lie lowest at the end.
void choose_vertices(PendulumRun& run) {
  std::array<int, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
  if (run.corner.empty()) return;
  const auto& corner = run.corner.back();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return corner[static_cast<std::size_t>(a)].z() < corner[static_cast<std::size_t>(b)].z() - 1e-6;
  });
  std::copy(order.begin(), order.begin() + 4, run.chosen.begin());
  std::sort(run.chosen.begin(), run.chosen.end());
}

bool PendulumRun::stable() const {
  if (!finite || t.empty() || t.back() < end - 0.05) return false;
  double moving = 0;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (t[k] > end - 0.5) moving = std::max(moving, kinetic[k]);
  const double fall = weight * 0.6;  // m g L
  return gained < 0.01 * fall && std::abs(audit.energy.integrator) < 0.01 * fall && moving < 0.01 * fall;
}

double PendulumRun::chatter() const {
  double sum = 0;
  for (int vertex : chosen) {
    std::vector<double> f;
    for (std::size_t k = 0; k < t.size(); ++k)
      if (t[k] > rest_from) f.push_back(vertices[k][static_cast<std::size_t>(vertex)].normal);
    for (std::size_t k = 3; k < f.size(); ++k) sum += std::abs(f[k] - 3 * f[k - 1] + 3 * f[k - 2] - f[k - 3]);
  }
  return sum / weight;
}

double PendulumRun::travel() const {
  double most = 0;
  std::size_t first = 0;
  while (first < t.size() && t[first] < rest_from - 0.5 * sample) ++first;
  for (std::size_t k = first; k < t.size(); ++k)
    for (int vertex : chosen) {
      const auto v = static_cast<std::size_t>(vertex);
      most = std::max(most, (corner[k][v] - corner[first][v]).head<2>().norm());
    }
  return most;
}

double PendulumRun::depth_at_rest() const {
  double most = 0;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (t[k] > rest_from) most = std::max(most, depth[k]);
  return most;
}

double PendulumRun::friction_at_rest() const {
  double sum = 0;
  if (!vertices.empty())
    for (int vertex : chosen) sum += vertices.back()[static_cast<std::size_t>(vertex)].friction;
  return sum;
}

double PendulumRun::share_at_rest() const {
  double rest = 0, all = 0;
  for (std::size_t k = 0; k < t.size(); ++k)
    for (int vertex : chosen) {
      if (t[k] < rest_from || vertices[k][static_cast<std::size_t>(vertex)].mode == ContactMode::Open) continue;
      rest += vertices[k][static_cast<std::size_t>(vertex)].mode == ContactMode::Stick;
      all += 1;
    }
  return all > 0 ? rest / all : 0;
}

}  // namespace tribo::experiments
