// Torsional and rolling friction, cylinders and terrain against closed forms.
#include <doctest/doctest.h>

#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

SurfacePair surface(double mu, double torsional, double rolling) {
  SurfacePair s = friction(mu);
  s.torsional = torsional;
  s.rolling = rolling;
  return s;
}

double worst_residual(Simulation& s, double duration) {
  run(s, duration);
  CHECK(s.audit().unconverged == 0);
  return s.audit().worst_residual;
}

}  // namespace

// I dw/dt = -r_t m g; a ball has I = 2/5 m R^2, a disc 1/2 m R^2. Without sliding friction, else the rim of the disc
// would brake it as well.
TEST_CASE("torsional friction: a spinning ball and a spinning disc slow at the torque r_t m g, and stop") {
  const double r_t = 0.01, m = 2, R = 0.1;
  for (bool disc : {false, true}) {
    World world(surface(0, r_t, 0));
    world.ground();
    world.object(disc ? ShapeKind::Cylinder : ShapeKind::Sphere, Vec3(R, 0, 0.05), m, Vec3(0, 0, disc ? 0.05 : R),
                 Vec3::Zero(), Vec3(0, 0, 10));
    Simulation s = world.simulate(1e-3);
    const double I = (disc ? 0.5 : 0.4) * m * R * R, slowing = r_t * m * 9.81 / I;
    CAPTURE(disc);
    CHECK(worst_residual(s, 0.3) < 1e-7);
    CHECK(s.state().v[5] == doctest::Approx(10 - slowing * 0.3).epsilon(1e-8));
    CHECK(s.audit().energy.contacts < 0);
    CHECK(s.audit().ledger_error < 1e-9);
    run(s, 1);
    CHECK(std::abs(s.state().v[5]) < 1e-9);
  }
}

// Rolling without slip, (I + m R^2) dw/dt = -r_r m g: dv/dt = -(5/7) g r_r / R for a ball.
TEST_CASE("rolling friction: a ball slows at (5/7) g r_r / R whatever the direction, and stops") {
  const double r_r = 0.004, R = 0.1, m = 1.5;
  for (double angle : {0.0, M_PI / 4, 1.1}) {
    World world(surface(0.6, 0, r_r));
    const Vec3 along(std::cos(angle), std::sin(angle), 0);
    world.ground().sphere(R, m, Vec3(0, 0, R), along, Vec3::UnitZ().cross(along) / R);
    Simulation s = world.simulate(1e-3);
    CAPTURE(angle);
    CHECK(worst_residual(s, 1) < 1e-7);
    const double slowing = 5.0 / 7 * 9.81 * r_r / R;
    CHECK(velocity(s).norm() == doctest::Approx(1 - slowing).epsilon(1e-6));
    CHECK(velocity(s).normalized().dot(along) == doctest::Approx(1).epsilon(1e-9));
    run(s, 4);
    CHECK(velocity(s).norm() < 1e-8);
    CHECK(position(s).dot(along) == doctest::Approx(0.5 / slowing).epsilon(1e-3));
  }
}

TEST_CASE("rolling friction holds a ball on an incline up to tan(angle) = r_r / R") {
  const double r_r = 0.02, R = 0.1;
  for (double share : {0.98, 1.02})
    for (double heading : {0.0, 0.6}) {
      const double angle = std::atan(share * r_r / R);
      World world(surface(0.8, 0, r_r));
      world.ground().sphere(R, 1, Vec3(0, 0, R));
      world.gravity(9.81 *
                    Vec3(std::sin(angle) * std::cos(heading), std::sin(angle) * std::sin(heading), -std::cos(angle)));
      Simulation s = world.simulate(1e-3);
      CHECK(worst_residual(s, 1) < 1e-7);
      CAPTURE(share);
      CAPTURE(heading);
      if (share < 1) {
        CHECK(velocity(s).norm() < 1e-8);
      } else {  // (5/7) g (sin - (r_r / R) cos)
        const double a = 5.0 / 7 * 9.81 * (std::sin(angle) - r_r / R * std::cos(angle));
        CHECK(velocity(s).norm() == doctest::Approx(a).epsilon(1e-5));
      }
    }
}

TEST_CASE("a cylinder rolls down an incline at (2/3) g sin(angle), and one that stands stays") {
  const double angle = 0.2, r = 0.1;
  World world(friction(0.7));
  world.ground().object(ShapeKind::Cylinder, Vec3(r, 0, 0.2), 1, Vec3(0, 0, r), Vec3::Zero(), Vec3::Zero());
  world.gravity(9.81 * Vec3(std::sin(angle), 0, -std::cos(angle)));
  auto model = std::make_shared<const Model>(world.builder.build());
  Simulation s(model, "rigid", {}, 1e-3);
  State state = State::neutral(*model);
  state.q.segment<3>(0) = Vec3(0, 0, r);
  state.q.segment<4>(3) = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitX())).coeffs();  // axis along y
  s.set_state(state);
  run(s, 0.5);
  CHECK(velocity(s).x() == doctest::Approx(2.0 / 3 * 9.81 * std::sin(angle) * 0.5).epsilon(1e-4));
  World standing(friction(0.7));
  standing.ground().object(ShapeKind::Cylinder, Vec3(r, 0, 0.2), 1, Vec3(0, 0, 0.2), Vec3::Zero(), Vec3::Zero());
  Simulation t = standing.simulate(1e-3);
  run(t, 1);
  CHECK((position(t) - Vec3(0, 0, 0.2)).norm() < 1e-9);
  CHECK(t.state().v.norm() < 1e-9);
}

// A ball rolls over z = A cos(k x). Its centre keeps the distance R from the hill, but for the sagging of the facets,
// spacing^2 |z''| / 8, and the step's own gap. Half the spacing, a quarter of the error.
TEST_CASE("a ball that rolls over an analytic hill follows it to the grid's accuracy") {
  const double A = 0.05, k = 2, R = 0.15;
  auto worst_distance = [&](double spacing) {
    const int n = static_cast<int>(std::lround(3.2 / spacing)) + 1;
    HeightField field{n, 5, spacing, 0.5, {}};
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < n; ++i) field.heights.push_back(A * std::cos(k * (i - 0.5 * (n - 1)) * spacing));
    World world(friction(0.8));
    Geometry land;
    land.name = "hill";
    land.kind = ShapeKind::HeightField;
    land.terrain = std::make_shared<HeightField>(field);
    land.material = world.material;
    world.builder.add_geometry(land);
    const double x0 = -1.2, z0 = A * std::cos(k * x0), slope = -A * k * std::sin(k * x0);
    const Vec3 n0 = Vec3(-slope, 0, 1).normalized(), t0 = Vec3(1, 0, slope).normalized();
    world.sphere(R, 1, Vec3(x0, 0.1, z0) + (R + 1e-4) * n0, 1.6 * t0, Vec3(0, 1.6 / R, 0));
    Simulation s = world.simulate(2e-4);
    double worst = 0;
    while (position(s).x() < 1.2 && s.state().t < 3) {
      s.step();
      if (s.state().t < 0.05) continue;  // the landing
      const Vec3 p = position(s);
      double x = p.x();  // nearest point of the curve, by Newton's method on its condition
      for (int round = 0; round < 30; ++round) {
        const double z = A * std::cos(k * x), dz = -A * k * std::sin(k * x), ddz = -A * k * k * std::cos(k * x);
        x -= ((x - p.x()) + (z - p.z()) * dz) / (1 + dz * dz + (z - p.z()) * ddz);
      }
      worst = std::max(worst, std::abs(std::hypot(x - p.x(), A * std::cos(k * x) - p.z()) - R));
    }
    CHECK(position(s).x() >= 1.2);
    return worst;
  };
  const double coarse = worst_distance(0.1), fine = worst_distance(0.025);
  MESSAGE("distance error ", coarse, " m at 0.1 m, ", fine, " m at 0.025 m");
  CHECK(coarse < 2 * 0.1 * 0.1 * A * k * k / 8);
  CHECK(fine < 2 * 0.025 * 0.025 * A * k * k / 8 + 2e-5);
}

// Eight contacts of the can share its torques: many distributions of them are right, and all are solved as one cone.
// The lengths are those of hard and of soft rubber, between 0.1 and 10 mm.
TEST_CASE("rolling friction of many contacts: a box, a can and a ball on a platform that shakes, every step to 1e-8") {
  for (const char* rolling : {"0.0001", "0.001", "0.002", "0.01"}) {
    INFO(std::string(rolling));
    const Scene scene = load_scene(TRIBO_SCENES "/platform.toml", {{"material.default.rolling", rolling}});
    Simulation s = make_simulation(scene);
    run(s, 1.0);
    CHECK(s.audit().unconverged == 0);
    CHECK(s.audit().worst_residual < 1e-8);
  }
}

// Solvers that know discs and solvers that are led to them by rounds come to the same motion.
TEST_CASE("torsional and rolling friction: every solver of the NCP moves a platform's load alike") {
  auto end = [](const char* solver) {
    const Scene scene = load_scene(TRIBO_SCENES "/platform.toml", {{"contact.solver", solver}});
    Simulation s = make_simulation(scene);
    run(s, 0.1);
    CHECK(s.audit().unconverged == 0);
    return VecX(s.state().q);
  };
  const VecX newton = end("newton");
  for (const char* solver : {"pgs", "admm", "staggered"}) {
    INFO(std::string(solver));
    CHECK((end(solver) - newton).cwiseAbs().maxCoeff() < 1e-6);
  }
}
