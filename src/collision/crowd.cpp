#include "collision/crowd.hpp"

#include <algorithm>

namespace tribo {
namespace {

constexpr std::size_t most_geometries = (1 << 24) - 1;  // contact ids have room for them
constexpr std::size_t most_grounds = 5'000'000;         // pairs with what has no end

}  // namespace

void check_counts(const Model& model) {
  const std::size_t all = model.geometries.size();
  const auto grounds = static_cast<std::size_t>(std::count_if(model.geometries.begin(), model.geometries.end(),
                                                              [](const Geometry& g) { return endless(g.kind); }));
  if (all > most_geometries)
    throw InvalidInput("the model has " + std::to_string(all) + " shapes, at most " + std::to_string(most_geometries));
  if (grounds > 0 && all - grounds > most_grounds / grounds)
    throw InvalidInput("the model has " + std::to_string(grounds) + " planes and terrains beside " +
                       std::to_string(all - grounds) + " other shapes: at most " + std::to_string(most_grounds) +
                       " pairs of them are looked at");
}

Bounds bounds_of(const PlacedSolid& x, double grown, int index) {
  Vec3 half, center = x.X.p;
  switch (x.solid->kind) {
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      half = x.solid->box_half;
      break;
    case ShapeKind::Capsule:
      half = (x.solid->size.z() * x.X.R.col(2)).cwiseAbs() + Vec3::Constant(x.solid->round);
      break;
    default:
      half = x.X.R.cwiseAbs() * x.solid->box_half;
      center += x.X.R * x.solid->box_center;
  }
  half.array() += grown;
  return {center - half, center + half, index, x.body < 0};
}

}  // namespace tribo
