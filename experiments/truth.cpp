// Physical truth: problems whose answer is known in closed form, and how far a step is from it, at default settings.
// scripts/truth_peers.py runs the same problems in other simulators.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "list.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {
namespace {

constexpr double gravity = 9.81;

template <class... Values>
std::string filled(const char* format, Values... values) {
  char text[2000];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

Simulation simulated(const std::string& text, double dt) {
  Scene scene = parse_scene(text, "truth.toml");
  scene.dt = dt;
  return make_simulation(scene);
}

void run_until(Simulation& s, double t) {
  while (s.state().t < t - 0.5 * s.dt()) s.step();
}

// A box on coplanar tiles, mu 1e-4: distance from where it would be on one plane.
double seams(double speed) {
  std::string text = "[ground]\nnone = true\n[material.default]\nmu = 0.0001\n";
  for (int i = 0; i < 12; ++i)
    text +=
        filled("[[wall]]\nshape = \"box\"\nsize = [0.25, 1.0, 0.1]\nposition = [%.17g, 0, -0.05]\n", 0.25 * i - 0.375);
  text += filled(
      "[[object]]\nname = \"box\"\nshape = \"box\"\nsize = [0.2, 0.2, 0.1]\nmass = 1.0\nposition = [0, 0, 0.05]\n"
      "velocity = [%.17g, 0, 0]\n",
      speed);
  Simulation s = simulated(text, 1e-3);
  const double t = 0.6 / speed;
  run_until(s, t);
  const double n = std::round(t / 1e-3), slowing = 1e-4 * gravity;
  const double x = n * 1e-3 * speed - 0.5 * slowing * 1e-6 * n * (n + 1);
  return std::abs(s.body_pose(0).p.x() - x);
}

// A ball that passes the edge of a plate with 2 mm to spare: change of its velocity.
double passing(double speed, double dt) {
  Simulation s = simulated(filled("gravity = [0, 0, 0]\n[ground]\nnone = true\n[[wall]]\nshape = \"box\"\n"
                                  "size = [0.001, 0.2, 0.2]\nposition = [0, 0, 0]\n[[object]]\nname = \"ball\"\n"
                                  "shape = \"sphere\"\nradius = 0.005\nmass = 0.004\nposition = [-0.1037, 0.107, 0]\n"
                                  "velocity = [%.17g, 0, 0]\n",
                                  speed),
                           dt);
  run_until(s, 0.3 / speed);
  return (s.body_pose(0).R * s.state().v.head<3>() - Vec3(speed, 0, 0)).norm() / speed;
}

// mu = 0: a ball pulled up with three times its weight, error of its height over that of the discrete law.
double pulled() {
  Simulation s = simulated(
      "[material.default]\nmu = 0.0\n[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.02\n"
      "mass = 0.2\nposition = [0, 0, 0.02]\n[[push]]\nbody = \"ball\"\nforce = [0, 0, 5.886]\n"
      "start = 0.0\nduration = 10.0\n",
      1e-3);
  run_until(s, 0.5);
  const double n = 500, height = 0.5 * 2 * gravity * 1e-6 * n * (n + 1);
  return std::abs(s.body_pose(0).p.z() - 0.02 - height) / height;
}

// A free plate at 100 rad/s for 10 s: change of its energy and of its angular momentum.
std::pair<double, double> plate(double duration) {
  Simulation s = simulated(
      "gravity = [0, 0, 0]\n[ground]\nnone = true\n[[object]]\nname = \"plate\"\nshape = \"box\"\n"
      "size = [0.3, 0.1, 0.02]\nmass = 1.0\nposition = [0, 0, 0]\nangular_velocity = [60, 50, 62.4]\n",
      1e-3);
  const Mat3& I = s.model().bodies[0].inertia.about_com;
  const auto energy = [&] { return 0.5 * s.state().v.tail<3>().dot(I * s.state().v.tail<3>()); };
  const auto momentum = [&] { return Vec3(s.body_pose(0).R * (I * s.state().v.tail<3>())); };
  const double before = energy();
  const Vec3 L = momentum();
  run_until(s, duration);
  return {std::abs(energy() / before - 1), (momentum() - L).norm() / L.norm()};
}

// 45 g between pads, 60 N, mu 0.7: how fast it creeps [um/s].
double creep(const std::string& shape, double half, double duration) {
  Simulation s =
      simulated(filled("[ground]\nnone = true\n[material.default]\nmu = 0.7\n"
                       "[[wall]]\nshape = \"box\"\nsize = [0.01, 0.03, 0.03]\nposition = [%.17g, 0, 0.3]\n"
                       "[[robot.link]]\nname = \"pad\"\nparent = \"world\"\njoint = \"prismatic\"\naxis = [1, 0, 0]\n"
                       "position = [%.17g, 0, 0.3]\nmass = 0.1\nshape = \"box\"\nsize = [0.01, 0.03, 0.03]\n"
                       "[[object]]\nname = \"held\"\n%s\nmass = 0.045\nposition = [0, 0, 0.3]\n"
                       "[[push]]\nbody = \"chain/pad\"\nforce = [-60, 0, 0]\nstart = 0.0\nduration = 1000.0\n",
                       -half - 0.005, half + 0.005, shape.c_str()),
                1e-3);
  int held = 0;
  for (std::size_t b = 0; b < s.model().bodies.size(); ++b)
    if (s.model().bodies[b].name.find("held") != std::string::npos) held = static_cast<int>(b);
  run_until(s, 1);
  const Vec3 p = s.body_pose(held).p;
  run_until(s, duration);
  return 1e6 * (s.body_pose(held).p - p).norm() / (duration - 1);
}

// A coin that spins on a table: its torque over 2/3 mu N R, less 1.
double torsion() {
  const double mu = 0.3, m = 0.0075, R = 0.012;
  Simulation s = simulated(filled("[material.default]\nmu = %.17g\n[[object]]\nname = \"coin\"\nshape = \"cylinder\"\n"
                                  "radius = %.17g\nlength = 0.002\nmass = %.17g\nposition = [0, 0, 0.001]\n"
                                  "angular_velocity = [0, 0, 60]\n",
                                  mu, R, m),
                           1e-3);
  run_until(s, 0.1);
  const double torque = (60 - s.state().v[5]) / 0.1 * 0.5 * m * R * R;
  return std::abs(torque / (2.0 / 3 * mu * m * gravity * R) - 1);
}

// A ball of 20 mm in a funnel of four walls at 5 ms: deepest overlap [mm].
double funnel() {
  double most = 0;
  for (double degrees : {30.0, 45.0, 60.0, 75.0}) {
    const double a = degrees * M_PI / 180, x = 0.012 + 0.12 * std::cos(a) + 0.01 * std::sin(a),
                 z = 0.12 * std::sin(a) - 0.01 * std::cos(a);
    std::string text = "[ground]\nnone = true\n[material.default]\nmu = 0.3\n";
    for (int k = 0; k < 4; ++k)
      text += filled(
          "[[wall]]\nshape = \"box\"\nsize = [0.24, 0.5, 0.02]\nposition = [%.17g, %.17g, %.17g]\n"
          "rpy = [0, %.17g, %.17g]\n",
          x * std::cos(k * M_PI / 2), x * std::sin(k * M_PI / 2), z, -a, k * M_PI / 2);
    text +=
        "[[object]]\nname = \"ball\"\nshape = \"sphere\"\nradius = 0.02\nmass = 0.05\nposition = [0.02, 0.0074, 0.6]\n";
    Simulation s = simulated(text, 5e-3);
    while (s.state().t < 1.5) {
      s.step();
      for (const ContactReport& c : s.contacts()) most = std::max(most, -1e3 * c.gap);
    }
  }
  return most;
}

// Five balls with gaps below v dt, e = 1, the first comes with 1 m/s: change of the energy.
double cradle() {
  std::string text = "gravity = [0, 0, 0]\n[ground]\nnone = true\n[material.default]\nmu = 0.0\nrestitution = 1.0\n";
  for (int i = 0; i < 5; ++i)
    text += filled(
        "[[object]]\nname = \"ball%d\"\nshape = \"sphere\"\nradius = 0.02\nmass = 0.1\nposition = [%.17g, 0, 0]\n"
        "velocity = [%d, 0, 0]\n",
        i, i * 0.0402 - (i == 0 ? 0.01 : 0), i == 0 ? 1 : 0);
  Simulation s = simulated(text, 1e-3);
  run_until(s, 0.1);
  return std::abs(s.state().v.squaredNorm() - 1);
}

// Two balls meet off centre, e = 1: error of their velocities, the normal taken where they meet [m/s].
double oblique() {
  Simulation s = simulated(
      "gravity = [0, 0, 0]\n[ground]\nnone = true\n[material.default]\nmu = 0.0\nrestitution = 1.0\n"
      "[[object]]\nname = \"a\"\nshape = \"sphere\"\nradius = 0.05\nmass = 1.0\nposition = [-0.2337, 0, 0]\n"
      "velocity = [3, 0, 0]\n[[object]]\nname = \"b\"\nshape = \"sphere\"\nradius = 0.05\nmass = 1.0\n"
      "position = [0, 0.06, 0]\n",
      5e-3);
  run_until(s, 0.2);
  const Vec3 n(0.8, 0.6, 0), b = 3 * n.x() * n, a = Vec3(3, 0, 0) - b;
  return std::max((s.body_pose(0).R * s.state().v.segment<3>(0) - a).norm(),
                  (s.body_pose(1).R * s.state().v.segment<3>(6) - b).norm());
}

// A ball that spins strikes the ground off its line, e = 0.6, mu = 0.2 and 0.7: error of its velocities, at 5 ms [m/s]. Coulomb
// over the whole impulse: it slides all the way, or 2/7 of the slip as an impulse ends it.
double struck() {
  double most = 0;
  const double r = 0.05, e = 0.6;
  const Vec3 v(1.2, -0.4, -2), w(30, -20, 15);
  for (double mu : {0.2, 0.7}) {
    Simulation s =
        simulated(filled("gravity = [0, 0, 0]\n[material.default]\nmu = %.17g\nrestitution = %.17g\n[[object]]\n"
                         "name = \"ball\"\nshape = \"sphere\"\nradius = %.17g\nmass = 1.0\n"
                         "position = [0, 0, 0.0837]\nvelocity = [1.2, -0.4, -2]\n"
                         "angular_velocity = [30, -20, 15]\n",
                         mu, e, r),
                  5e-3);
    run_until(s, 0.05);
    const Vec3 slip(v.x() - r * w.y(), v.y() + r * w.x(), 0), n = -v.z() * (1 + e) * Vec3::UnitZ();
    const Vec3 J = n - std::min(mu * n.z(), 2.0 / 7 * slip.norm()) * slip.normalized();
    const Mat3 R = s.body_pose(0).R;
    const Vec3 turned = w + Vec3(0, 0, -r).cross(J) / (0.4 * r * r);
    most =
        std::max({most, (R * s.state().v.head<3>() - v - J).norm(), r * (R * s.state().v.tail<3>() - turned).norm()});
  }
  return most;
}

// Boxes that strike the ground with a corner, mu = 0.5, e = 1, 1000 ways: the largest gain of energy. Newton's law beside
// Coulomb's adds up to a fifth where friction turns the slip round.
double gained() {
  double most = 0;
  Simulation s = simulated(
      "gravity = [0, 0, 0]\n[material.default]\nmu = 0.5\nrestitution = 1.0\n[[object]]\nname = \"box\"\nshape = "
      "\"box\"\n"
      "size = [0.1, 0.08, 0.06]\nmass = 1.0\nposition = [0, 0, 1]\n",
      1e-5);
  const Mat3 I = s.model().bodies[0].inertia.about_com;
  const State start = s.state();
  const auto sine = [](int k, int i) { return std::sin(12.9898 * k + 78.233 * i + 1); };  // any numbers in [-1, 1]
  for (int k = 0; k < 1000; ++k) {
    State x = start;
    const Quat turn = Quat(sine(k, 1), sine(k, 2), sine(k, 3), sine(k, 4)).normalized();
    const Mat3 R = turn.toRotationMatrix();
    x.q.segment<4>(3) = turn.coeffs();
    x.q[2] = R.row(2).cwiseAbs().dot(Eigen::RowVector3d(0.05, 0.04, 0.03)) + 4e-5;
    x.v.head<3>() = R.transpose() * Vec3(2 * sine(k, 5), 2 * sine(k, 6), -1.5 + 0.5 * sine(k, 7));
    s.set_state(x);
    const auto energy = [&] {
      return s.state().v.head<3>().squaredNorm() + s.state().v.tail<3>().dot(I * s.state().v.tail<3>());
    };
    const double before = energy();
    for (int i = 0; i < 12; ++i) s.step();
    most = std::max(most, energy() / before - 1);
  }
  return most;
}

// A heavy top: 0.5 kg, centre 0.06 m from the pivot, a disc, 150 rad/s, 25 degrees: rate of precession over 2 s
// beside a step of a twentieth.
double top() {
  const auto angle = [](double dt) {
    Simulation s = simulated(
        "[ground]\nnone = true\n[[robot.link]]\nname = \"top\"\nparent = \"world\"\njoint = \"spherical\"\nmass = 0.5\n"
        "com = [0, 0, 0.06]\nshape = \"cylinder\"\nradius = 0.05\nlength = 0.02\n",
        dt);
    State x = s.state();
    x.q.head<4>() = Quat(Eigen::AngleAxisd(25 * M_PI / 180, Vec3::UnitX())).coeffs();
    x.v.head<3>() = Vec3(0, 0, 150);
    s.set_state(x);
    double turned = 0, last = std::atan2(-1.0, 0.0);
    while (s.state().t < 2 - 0.5 * dt) {
      s.step();
      const Vec3 axis = s.body_pose(0).R.col(2);
      const double now = std::atan2(axis.y(), axis.x());
      turned += std::remainder(now - last, 2 * M_PI);
      last = now;
    }
    return turned;
  };
  return std::abs(angle(1e-3) / angle(5e-5) - 1);
}

// A chain of 20 links, held out sideways and let go: its largest gain of energy in 5 s.
double chain() {
  std::string text = "[ground]\nnone = true\n";
  double lowest = 0;
  for (int k = 0; k < 20; ++k) {
    text += filled(
        "[[robot.link]]\nname = \"link%d\"\nparent = \"%s\"\njoint = \"revolute\"\naxis = [0, 1, 0]\nposition = [0, 0, "
        "%g]\n"
        "mass = 0.1\ncom = [0, 0, -0.05]\nshape = \"box\"\nsize = [0.02, 0.02, 0.1]\n",
        k, k ? ("link" + std::to_string(k - 1)).c_str() : "world", k ? -0.1 : 0.0);
    lowest -= 0.1 * gravity * 0.1 * (k + 0.5);
  }
  Simulation s = simulated(text, 1e-3);
  State x = s.state();
  x.q[0] = M_PI / 2;
  s.set_state(x);
  double most = 0;
  while (s.state().t < 5) {
    s.step();
    const EnergyLines& e = s.audit().energy;
    most = std::max(most, (e.kinetic + e.potential) / -lowest);
  }
  return most;
}

// A box, a capsule and a cylinder that tumble onto each other for 0.6 s: how far the same scene in other units goes from it,
// lengths times 1024 and times times 32, of its size.
double scaled() {
  const auto run = [](double L, double T) {
    std::string text =
        filled("gravity = [0, 0, %.17g]\n[material.default]\nmu = 0.5\nrestitution = 0.3\nrestitution_speed = %.17g\n",
               -gravity * L / (T * T), 0.01 * L / T);
    const char* shapes[] = {"box", "capsule", "cylinder"};
    for (int k = 0; k < 3; ++k)
      text += filled(
          "[[object]]\nname = \"%s\"\nshape = \"%s\"\n%s = %s\n%s\nmass = 0.2\nposition = [%.17g, %.17g, %.17g]\n"
          "velocity = [%.17g, 0, 0]\nangular_velocity = [%.17g, %.17g, 0]\n",
          shapes[k], shapes[k], k ? "radius" : "size", filled("%.17g", (k ? 0.03 : 0.06) * L).c_str(),
          k ? filled("length = %.17g", 0.06 * L).c_str() : "", 0.02 * k * L, 0.015 * k * L, (0.12 + 0.09 * k) * L,
          0.3 * L / T, 2 / T, 1 / T);
    Simulation s = simulated(text, 1e-3 * T);
    for (int k = 0; k < 600; ++k) s.step();
    VecX q = s.state().q;
    for (int i = 0; i < q.size(); i += 7) q.segment<3>(i) /= L;
    return q;
  };
  return (run(1024, 32) - run(1, 1)).lpNorm<Eigen::Infinity>();
}

}  // namespace

Result truth(const ExperimentOptions& options, const Progress& progress) {
  const double held = options.quick ? 5 : 60, spun = options.quick ? 1 : 10;
  struct Row {
    const char *key, *text, *unit;
    std::function<double()> measure;
  };
  const std::vector<Row> rows = {
      {"seams_slow", "box over coplanar tiles at 0.05 m/s: off the path on one plane", "m", [] { return seams(0.05); }},
      {"seams_fast", "the same at 2 m/s", "m", [] { return seams(2); }},
      {"passing", "ball that misses an edge by 2 mm at 10 m/s: change of velocity", "share",
       [] { return passing(10, 1e-3); }},
      {"passing_slow", "the same at 3 m/s and 5 ms", "share", [] { return passing(3, 5e-3); }},
      {"pulled", "mu = 0, ball pulled up with three times its weight: error of its height", "share", pulled},
      {"spin_energy", "free plate at 100 rad/s: change of energy", "share", [&] { return plate(spun).first; }},
      {"spin_momentum", "and of angular momentum", "share", [&] { return plate(spun).second; }},
      {"creep_capsule", "capsule held with 60 N: creep", "um/s",
       [&] {
         return creep("shape = \"capsule\"\nradius = 0.02\nlength = 0.03\nrpy = [1.5707963267948966, 0, 0]", 0.02,
                      held);
       }},
      {"creep_box", "box held with 60 N: creep", "um/s",
       [&] { return creep("shape = \"box\"\nsize = [0.03, 0.08, 0.03]", 0.015, held); }},
      {"torsion", "spinning coin: torque beside 2/3 mu N R", "share", torsion},
      {"funnel", "20 mm ball in a funnel at 5 ms: overlap", "mm", funnel},
      {"cradle", "five balls with gaps below v dt, e = 1: change of energy", "share", cradle},
      {"oblique", "two balls off centre, e = 1, 3 m/s at 5 ms: error of velocity", "m/s", oblique},
      {"struck", "spinning ball strikes the ground, mu 0.2 and 0.7, e 0.6, at 5 ms: error of velocity", "m/s", struck},
      {"gained", "1000 boxes strike the ground with a corner, mu 0.5, e = 1: largest gain of energy", "share", gained},
      {"top", "heavy top at 150 rad/s: rate of precession beside a fine step", "share", top},
      {"chain", "chain of 20 links, let go: largest gain of energy in 5 s", "share", chain},
      {"scaled", "tumbling scene in other units, 2^10 in length and 2^5 in time: how far off after 0.6 s", "size",
       scaled}};
  Result result;
  result.settings = {{"dt", 1e-3}, {"held_for", held}, {"spun_for", spun}};
  Table table{"How far from the truth: each should be 0", {"key", "problem", "unit", "tribo"}};
  for (const Row& row : rows) {
    const double x = row.measure();
    result.measures[row.key] = x;
    table.rows.push_back({row.key, row.text, row.unit, x});
    progress(static_cast<double>(table.rows.size()) / static_cast<double>(rows.size()));
  }
  result.tables.push_back(table);
  return result;
}

}  // namespace tribo::experiments
