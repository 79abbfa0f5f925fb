// A ball held in the Allegro hand: at default settings it does not creep.
#include <doctest/doctest.h>

#include <cstdio>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

/// Mean place of the ball's contacts, in the frame of the ball.
Vec3 grip(Simulation& simulation, int ball) {
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (const ContactReport& r : simulation.contacts()) {
    if (r.f.z() <= 0) continue;
    sum += r.p_WC;
    ++count;
  }
  REQUIRE(count > 0);
  const Placement X = simulation.body_pose(ball);
  return X.R.transpose() * (sum / count - X.p);
}

}  // namespace

TEST_CASE("Allegro's grasp: the ball creeps less than 0.02 um/s against the finger tips, from 2 to 5 s") {
  const Scene scene = load_scene(TRIBO_SCENES "/allegro-ball.toml");
  Simulation simulation = make_simulation(scene);
  int ball = -1;
  for (std::size_t b = 0; b < scene.model->bodies.size(); ++b)
    if (scene.model->bodies[b].name.find("ball") != std::string::npos) ball = static_cast<int>(b);
  REQUIRE(ball >= 0);
  while (simulation.state().t < 2) simulation.step();
  const Vec3 before = grip(simulation, ball);
  while (simulation.state().t < 5) simulation.step();
  const double creep = (grip(simulation, ball) - before).norm() / 3;
  MESSAGE("creep " << 1e6 * creep << " um/s");
  CHECK(creep < 0.02e-6);
  CHECK(simulation.audit().unconverged == 0);
}

namespace {

struct Held {
  const char* name;
  const char* shape;
  double half;  // of its width between the pads [m]
};

// 45 g between a wall and a pad of 3 x 3 cm that is pressed against it, mu 0.7: 0.44 N of weight, 12 to 60 N of grip.
// Fastest creep of the centre over windows of the run [m/s].
double creep(const Held& held, double force, double dt, double duration) {
  char text[2000];
  std::snprintf(text, sizeof text,
                "[ground]\nnone = true\n[material.default]\nmu = 0.7\n"
                "[[wall]]\nshape = \"box\"\nsize = [0.01, 0.03, 0.03]\nposition = [%.17g, 0, 0.3]\n"
                "[[robot.link]]\nname = \"pad\"\nparent = \"world\"\njoint = \"prismatic\"\naxis = [1, 0, 0]\n"
                "position = [%.17g, 0, 0.3]\nmass = 0.1\nshape = \"box\"\nsize = [0.01, 0.03, 0.03]\n"
                "[[object]]\nname = \"held\"\n%s\nmass = 0.045\nposition = [0, 0, 0.3]\n"
                "[[push]]\nbody = \"chain/pad\"\nforce = [%.17g, 0, 0]\nstart = 0.0\nduration = 1000.0\n",
                -held.half - 0.005, held.half + 0.005, held.shape, -force);
  Scene scene = parse_scene(text, "grip.toml");
  scene.dt = dt;
  Simulation s = make_simulation(scene);
  int body = -1;
  for (std::size_t b = 0; b < scene.model->bodies.size(); ++b)
    if (scene.model->bodies[b].name.find("held") != std::string::npos) body = static_cast<int>(b);
  REQUIRE(body >= 0);
  while (s.state().t < 1) s.step();
  const Placement first = s.body_pose(body);
  while (s.state().t < duration) s.step();
  const Placement last = s.body_pose(body);
  CHECK(s.audit().unconverged == 0);
  CHECK(s.audit().laws.signorini < 1e-6);
  return ((last.p - first.p).norm() + 0.01 * (last.R - first.R).norm()) / (duration - 1);
}

const Held held_shapes[] = {
    {"ball", "shape = \"sphere\"\nradius = 0.02", 0.02},
    {"capsule", "shape = \"capsule\"\nradius = 0.02\nlength = 0.03\nrpy = [1.5707963267948966, 0, 0]", 0.02},
    {"cylinder", "shape = \"cylinder\"\nradius = 0.02\nlength = 0.05\nrpy = [1.5707963267948966, 0, 0]", 0.02},
    {"box", "shape = \"box\"\nsize = [0.03, 0.08, 0.03]", 0.015},
    {"ellipsoid", "shape = \"ellipsoid\"\nradii = [0.02, 0.015, 0.025]", 0.02},
    {"hull",
     "shape = \"hull\"\nvertices = [[-0.02, -0.01, -0.02], [-0.02, 0.01, -0.02], [0.02, 0.01, -0.02], "
     "[0.02, -0.01, -0.02], [-0.02, -0.01, 0.02], [-0.02, 0.01, 0.02], [0.02, 0.01, 0.02], [0.02, -0.01, 0.02], [0, "
     "0.02, 0], [0, -0.02, 0]]",
     0.02}};

}  // namespace

TEST_CASE("grips hold: ball, capsule, cylinder, box, ellipsoid and hull creep below 1e-5 um/s") {
  for (const Held& held : held_shapes)
    for (double force : {12.0, 60.0}) {
      const double rate = creep(held, force, 5e-3, 20);
      CAPTURE(std::string(held.name));
      CAPTURE(force);
      CHECK(rate < 1e-11);
    }
}

TEST_CASE("a capsule and a cylinder held with 60 N at 1 ms keep both ends loaded for 60 s") {
  CHECK(creep(held_shapes[1], 60, 1e-3, 60) < 1e-11);
  CHECK(creep(held_shapes[2], 60, 1e-3, 60) < 1e-11);
}

TEST_SUITE("long") {
  TEST_CASE("all grips for 60 s, 12, 30 and 60 N, 1 and 5 ms: creep below 1e-5 um/s") {
    for (const Held& held : held_shapes)
      for (double force : {12.0, 30.0, 60.0})
        for (double dt : {1e-3, 5e-3}) {
          const double rate = creep(held, force, dt, 60);
          CAPTURE(std::string(held.name));
          CAPTURE(force);
          CAPTURE(dt);
          CHECK(rate < 1e-11);
        }
  }
}
