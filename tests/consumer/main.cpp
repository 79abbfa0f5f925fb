// A project of its own that uses the installed library: a ball falls for a second.
#include <cmath>
#include <cstdio>
#include <tribo/simulation.hpp>

int main() {
  tribo::ModelBuilder builder;
  builder.add_object("ball", tribo::ShapeKind::Sphere, {0.1, 0, 0}, 1.0, builder.add_material({}));
  tribo::Simulation simulation(std::make_shared<const tribo::Model>(builder.build()), "rigid", {}, 1e-3);
  for (int i = 0; i < 1000; ++i) simulation.step();
  std::printf("z = %g m\n", simulation.state().q[2]);
  return std::abs(simulation.state().v[2] + 9.81) < 1e-9 ? 0 : 1;  // g t, exact for a constant force
}
