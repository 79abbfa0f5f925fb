// 64 boxes on as many inclines, each with a friction of its own: which of them hold? batch [SECONDS]
//
// A box on a slope of 20 degrees holds from mu = tan(20 degrees) = 0.364 on.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <tribo/batch.hpp>

namespace {

const char* const incline = R"(
gravity = [3.3552, 0, -9.2184]
[material.default]
mu = 1.0
[[object]]
name = "box"
mass = 1.0
size = 0.2
position = [0, 0, 0.1]
)";

}  // namespace

int main(int argc, char** argv) try {
  constexpr int worlds = 64;
  const tribo::Scene scene = tribo::parse_scene(incline, "incline");
  tribo::Batch batch(scene, worlds);
  for (int w = 0; w < worlds; ++w) {
    tribo::WorldParameters parameters;
    parameters.friction = (w + 1.0) / worlds;
    batch.set_parameters(w, parameters);
  }
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  batch.step(static_cast<int>(std::lround(seconds / scene.dt)));
  int first = worlds;
  const auto nq = static_cast<std::size_t>(scene.model->nq);
  for (int w = worlds - 1; w >= 0 && std::abs(batch.q()[static_cast<std::size_t>(w) * nq]) < 1e-6; --w) first = w;
  std::printf("boxes hold from mu = %.4f on; tan(20 degrees) = %.4f\n", (first + 1.0) / worlds,
              std::tan(20 * 3.14159265358979 / 180));
  return first < worlds ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "batch: %s\n", error.what());
  return 2;
}
