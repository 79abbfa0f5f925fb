#include <cmath>

#include "base/names.hpp"
#include "tribo/model.hpp"

namespace tribo {

Model Model::scaled(const ModelFactors& factors) const {
  if (!(factors.mass > 0) || !std::isfinite(factors.mass))
    throw InvalidInput("factor of mass = " + shown(factors.mass) + ", must be finite and > 0");
  if (!(factors.friction >= 0) || !std::isfinite(factors.friction))
    throw InvalidInput("factor of friction = " + shown(factors.friction) + ", must be finite and >= 0");
  Model model = *this;
  for (Body& body : model.bodies) {
    body.inertia.mass *= factors.mass;
    body.inertia.about_com *= factors.mass;
  }
  for (Tree& tree : model.trees) tree.mass *= factors.mass;
  for (SurfacePair& surface : model.surfaces_) {
    surface.mu_static *= factors.friction;
    surface.mu_dynamic *= factors.friction;
  }
  model.hash_ = model.computed_hash();
  return model;
}

Model Model::changed(const ModelChanges& changes) const {
  Model model = *this;
  const auto check = [](int index, std::size_t n, const char* what) {
    if (index < 0 || at(index) >= n)
      throw InvalidInput(std::string(what) + " " + std::to_string(index) + " is not there");
  };
  for (const auto& [index, mass] : changes.mass) {
    check(index, bodies.size(), "body");
    Body& body = model.bodies[at(index)];
    if (!(mass > 0) || !std::isfinite(mass))
      throw InvalidInput("mass of '" + body.name + "' = " + shown(mass) + " kg, must be finite and > 0");
    if (!(body.inertia.mass > 0)) throw InvalidInput("'" + body.name + "' has no mass that could be another");
    model.trees[at(body.tree)].mass += mass - body.inertia.mass;
    body.inertia.about_com *= mass / body.inertia.mass;
    body.inertia.mass = mass;
  }
  for (const auto& [index, mu] : changes.friction) {
    check(index, geometries.size(), "geometry");
    if (!(mu >= 0) || !std::isfinite(mu))
      throw InvalidInput("friction of '" + geometries[at(index)].name + "' = " + shown(mu) +
                         ", must be finite and >= 0");
    for (int other = 0; other < static_cast<int>(geometries.size()); ++other) {
      if (other == index || !may_collide(index, other)) continue;
      SurfacePair surface = model.surfaces_[at(model.surface_index(index, other))];
      surface.mu_static = surface.mu_dynamic = mu;
      const auto key = std::minmax(index, other);
      if (const auto own = model.pair_surface_.find(key); own != model.pair_surface_.end()) {
        model.surfaces_[at(own->second)] = surface;
        model.pairs[at(own->second) - materials.size() * materials.size()].surface = surface;
        continue;
      }
      model.pair_surface_[key] = static_cast<int>(model.surfaces_.size());
      model.surfaces_.push_back(surface);
      model.pairs.push_back({key.first, key.second, surface});
    }
  }
  std::vector<char> gone(equalities.size());
  for (int index : changes.without) {
    check(index, equalities.size(), "equality");
    gone[at(index)] = 1;
  }
  model.equalities.clear();
  for (std::size_t i = 0; i < equalities.size(); ++i)
    if (!gone[i]) model.equalities.push_back(equalities[i]);
  for (const Equality& more : changes.equalities) model.equalities.push_back(more);
  model.hash_ = model.computed_hash();
  return model;
}

}  // namespace tribo
