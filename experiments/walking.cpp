#include "walking.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/file.hpp"
#include "method.hpp"
#include "tribo/run.hpp"

namespace tribo::experiments {
namespace {

constexpr double gait_period = 0.32, sample = 0.01;  // [s]

std::string number(double x) { return std::to_string(x); }

// Heights in [0, roughness] on blocks of 2 x 2 cells of 5 cm.
std::string terrain_text(const Course& course) {
  constexpr int nx = 240, ny = 60;
  constexpr double cell = 0.05, behind = 1;  // [m]
  Random random{course.seed * 7919ull + 17};
  std::vector<double> blocks(at(nx / 2 * ny / 2));
  for (double& z : blocks) z = course.roughness * random.uniform();
  std::string rows;
  for (int j = 0; j < ny; ++j) {
    rows += j == 0 ? "[" : ", [";
    for (int i = 0; i < nx; ++i) {
      const double x = i * cell - behind;
      const double z = x < 0.5 ? 0 : blocks[at(j / 2 * (nx / 2) + i / 2)];
      rows += (i == 0 ? "" : ", ") + number(z);
    }
    rows += "]";
  }
  return "[ground]\nnone = true\n[[terrain]]\nspacing = 0.05\nposition = [" + number(0.5 * (nx - 1) * cell - behind) +
         ", 0, 0]\nheights = [" + rows + "]\n";
}

std::string text_of(const Course& course) {
  std::string text = course.roughness > 0 ? terrain_text(course) : "";
  text += "[robot]\nmodel = \"solo12\"\ncontact = \"feet\"\npose = \"standing\"\n[material.default]\nmu = " +
          number(course.mu) + "\n[stepper]\nduration = " + number(course.duration) +
          "\n[controller]\nname = \"walk\"\nmu = 0.9\ngait_period = " + number(gait_period) + "\n";
  for (const Pace& pace : course.paces)
    text += "[[controller.command]]\nt = " + number(pace.t) + "\nvelocity = [" + number(pace.forward) + ", 0, " +
            number(pace.turning) + "]\n";
  return text;
}

Scene scene_of(const Course& course, const WalkMethod& method) {
  Scene scene = parse_scene(text_of(course), "walk");
  parse_method(method.method).apply(scene);
  scene.stepper_options.contact.tolerance = {0, method.tolerance};
  return scene;
}

// The command as the controller follows it: at 1 m/s^2, turning at 2 rad/s^2.
Pace now_asked(const Course& course, double t, double dt, const Pace& last) {
  Pace wanted{t, 0, 0};
  for (const Pace& pace : course.paces)
    if (pace.t <= t + 1e-9 && t > 0.3) wanted = pace;
  return {t, last.forward + std::clamp(wanted.forward - last.forward, -dt, dt),
          last.turning + std::clamp(wanted.turning - last.turning, -2 * dt, 2 * dt)};
}

// Means over the last gait period.
class Window {
 public:
  explicit Window(std::size_t n) : n_(n) {}
  double push(double x) {
    sum_ += x;
    values_.push_back(x);
    if (values_.size() > n_) sum_ -= values_.front(), values_.pop_front();
    return sum_ / static_cast<double>(values_.size());
  }

 private:
  std::size_t n_;
  std::deque<double> values_;
  double sum_ = 0;
};

}  // namespace

void write_course(const Course& course, const std::string& path) { write_file(path, text_of(course)); }

const std::vector<WalkMethod>& walk_methods() {
  static const std::vector<WalkMethod> methods = {{"NCP/newton", "newton", "rigid:ncp:newton", 1e-13},
                                                  {"NCP/PGS", "pgs", "rigid:ncp:pgs"},
                                                  {"NCP/ADMM", "admm", "rigid:ncp:admm"},
                                                  {"CCP/ADMM", "ccp", "rigid:ccp:admm"},
                                                  {"RaiSim", "raisim", "rigid:raisim:raisim"},
                                                  {"exponential", "expo", "exponential"}};
  return methods;
}

Stroll stroll(const Course& course, const WalkMethod& method, double disturbance) {
  Scene scene = scene_of(course, method);
  for (int k = 7; k < scene.start.q.size(); ++k) scene.start.q[k] += disturbance * std::sin(1.0 + k);
  Simulation simulation = make_simulation(scene);
  simulation.time_stages();
  Stroll out;
  const auto per_sample = static_cast<std::uint64_t>(std::lround(sample / scene.dt));
  const auto per_gait = static_cast<std::size_t>(std::lround(gait_period / scene.dt));
  Window forward(per_gait), turning(per_gait), asked(per_gait), asked_turn(per_gait);
  Pace pace{0, 0, 0};
  double worst = 0, last_time = 0, slips = 0, samples = 0;
  Run run(simulation, course.duration);
  while (run.step() && !run.failed()) {
    const State& s = simulation.state();
    const Mat3 R = Quat(s.q[6], s.q[3], s.q[4], s.q[5]).toRotationMatrix();
    const Vec3 ahead = Vec3(R(0, 0), R(1, 0), 0).normalized();
    const double v = ahead.dot(R * s.v.head<3>());
    pace = now_asked(course, s.t, scene.dt, pace);
    const double mean_v = forward.push(v), mean_asked = asked.push(pace.forward);
    const double off = mean_v - mean_asked,
                 turn = turning.push((R * s.v.segment<3>(3)).z()) - asked_turn.push(pace.turning);
    out.distance += scene.dt * v;
    out.stands = R(2, 2) > 0.5;
    if (!out.stands) break;
    const LawResiduals& laws = run.last().laws;
    const double violation = std::max({laws.signorini, laws.coulomb, laws.dissipation});
    bool slipping = false;
    for (const ContactReport& c : simulation.contacts()) slipping |= c.mode == ContactMode::Slip && c.f.z() > 0;
    if (slipping) out.slipping += violation, ++slips;
    worst = std::max(worst, violation);
    out.worst = std::max(out.worst, violation);
    if (s.step % per_sample != 0) continue;
    const double time = simulation.stage_times().seconds[static_cast<std::size_t>(Stage::Solve)];
    out.t.push_back(s.t);
    out.forward.push_back(mean_v);
    out.command.push_back(mean_asked);
    out.violation.push_back(worst);
    out.micros.push_back(1e6 * (time - last_time) / static_cast<double>(per_sample));
    last_time = time;
    worst = 0;
    out.error += std::abs(off), out.turn_error += std::abs(turn), ++samples;
  }
  if (run.failed()) out.stands = false;
  out.error /= std::max(samples, 1.0);
  out.turn_error /= std::max(samples, 1.0);
  out.slip_share = slips / static_cast<double>(simulation.audit().steps);
  if (slips > 0) out.slipping /= slips;
  out.solve = trimmed_mean(out.micros);
  return out;
}

double departure(const Stroll& a, const Stroll& b) {
  const std::size_t n = std::min(a.t.size(), b.t.size());
  for (std::size_t k = 0; k < n; ++k)
    if (std::abs(a.forward[k] - b.forward[k]) > 0.05) return a.t[k];
  return n > 0 ? a.t[n - 1] : 0;
}

Spread spread_of(const std::vector<double>& x) {
  Spread s;
  s.n = x.size();
  if (x.empty()) return s;
  const auto n = static_cast<double>(x.size());
  for (double v : x) s.mean += v / n;
  for (double v : x) s.deviation += (v - s.mean) * (v - s.mean) / std::max(n - 1, 1.0);
  s.deviation = std::sqrt(s.deviation);
  s.least = *std::min_element(x.begin(), x.end());
  s.most = *std::max_element(x.begin(), x.end());
  return s;
}

double Spread::error() const { return deviation / std::sqrt(static_cast<double>(std::max<std::size_t>(n, 1))); }

double told_apart(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> gap;
  for (std::size_t k = 0; k < a.size(); ++k) gap.push_back(a[k] - b[k]);
  const Spread s = spread_of(gap);
  return s.error() > 0 ? s.mean / s.error() : 0;
}

double median_of(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n == 0 ? 0 : n % 2 == 1 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

double trimmed_mean(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  x.resize((9 * x.size() + 9) / 10);
  return spread_of(x).mean;
}

}  // namespace tribo::experiments
