#include "scenes.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/names.hpp"
#include "tribo/run.hpp"

namespace tribo::experiments {
namespace {

/// On the first body of the first member, at its centre of mass.
void push_base(Scene& scene, const Vec3& force, double start, double duration) {
  Push push;
  push.body = scene.model->members[0].first_body;
  push.point = scene.model->bodies[static_cast<std::size_t>(push.body)].inertia.com;
  push.force = push.force_end = force;
  push.start = start;
  push.duration = duration;
  scene.pushes.push_back(push);
}

}  // namespace

Scene scene_of(const ExperimentOptions& options, const std::string& name, const std::vector<Override>& overrides) {
  return load_scene((std::filesystem::path(options.scenes) / (name + ".toml")).string(), overrides);
}

Scene solo_pushed(const ExperimentOptions& options, double mu) {
  Scene scene = scene_of(options, "solo-standing", {{"material.default.mu", std::to_string(mu)}});
  push_base(scene, Vec3(0, 10, 0), 0.1, 0.3);
  scene.duration = 0.5;
  return scene;
}

Scene talos_pushed(const ExperimentOptions& options) {
  Scene scene = scene_of(options, "talos-standing");
  push_base(scene, Vec3(0, 80, 0), 0.1, 0.3);
  scene.duration = 0.5;
  return scene;
}

Scene allegro_drop(const ExperimentOptions& options) {
  Scene scene = scene_of(options, "allegro-ball");
  const Member& ball = scene.model->members[static_cast<std::size_t>(scene.model->member("ball"))];
  scene.start.q[ball.iq + 2] += 0.03;
  scene.duration = 0.5;
  return scene;
}

Scene stack_of_two(const ExperimentOptions& options, double ratio) {
  return scene_of(options, "heavy-on-light", {{"object.1.mass", std::to_string(1e-3 * ratio)}});
}

Scene tower(const std::vector<double>& masses, double mu) {
  std::string text = "[material.default]\nmu = " + shown(mu) + "\n";
  for (std::size_t k = 0; k < masses.size(); ++k)
    text += "[[object]]\nname = \"box" + std::to_string(k) +
            "\"\nshape = \"box\"\nsize = 0.2\nmass = " + shown(masses[k]) + "\nposition = [0.0, 0.0, " +
            shown(0.1 + 0.2 * static_cast<double>(k)) + "]\n";
  return parse_scene(text, "tower");
}

Scene pushed_tower(const std::vector<double>& masses) {
  Scene scene = tower(masses, 0.4);
  Push push;
  push.body = static_cast<int>(masses.size()) / 2;
  double above = 0;
  for (std::size_t k = masses.size() / 2; k < masses.size(); ++k) above += masses[k];
  push.force = push.force_end = above * Vec3(4.5, 0.5, 0);  // more than friction holds, 0.4 x 9.81
  push.duration = 1;
  scene.pushes.push_back(push);
  return scene;
}

void Setup::apply(Scene& scene) const {
  parse_method(method).apply(scene);
  scene.stepper_options.contact.margin = margin;
  scene.stepper_options.contact.tolerance = tolerance;
}

Path follow(const Scene& scene) {
  Simulation simulation = make_simulation(scene);
  Path path;
  path.dt = scene.dt;
  Run run(simulation, scene.duration);
  path.q.resize(7, static_cast<Eigen::Index>(run.steps()));
  while (run.step() && !run.failed()) {
    const StepReport& report = run.last();
    const VecX& q = simulation.state().q;
    path.q.col(static_cast<Eigen::Index>(run.done()) - 1) = q.head<7>();
    path.t.push_back(report.t);
    path.x.push_back(q[0]);
    path.y.push_back(q[1]);
    path.z.push_back(q[2]);
    path.speed.push_back(simulation.state().v.head<3>().norm());
    path.energy.push_back(report.energy.kinetic + report.energy.potential);
    std::vector<ContactReport> contacts = simulation.contacts();
    std::sort(contacts.begin(), contacts.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    path.f.emplace_back();
    for (const ContactReport& c : contacts) path.f.back().push_back(c.R_WC * c.f);
  }
  path.audit = simulation.audit();
  return path;
}

double integral_error(const Path& path, const Path& reference) {
  const auto every = std::lround(path.dt / reference.dt);
  double sum = 0;
  for (Eigen::Index k = 0; k < path.q.cols() && (k + 1) * every <= reference.q.cols(); ++k)
    sum += (path.q.col(k) - reference.q.col((k + 1) * every - 1)).norm() * path.dt;
  return sum;
}

Series series_of(const std::string& label, const std::vector<double>& x, const std::vector<double>& y,
                 std::size_t most) {
  Series series{label, {}, {}};
  const std::size_t n = std::min(x.size(), y.size()), every = std::max<std::size_t>(1, (n + most - 1) / most);
  for (std::size_t k = 0; k < n; k += every) {
    series.x.push_back(x[k]);
    series.y.push_back(y[k]);
  }
  return series;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (double v : values) most = std::isnan(v) ? v : std::max(most, std::abs(v));
  return most;
}

}  // namespace tribo::experiments
