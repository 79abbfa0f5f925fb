// A ball held in the Allegro hand: at default settings it does not creep.
#include <doctest/doctest.h>

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
