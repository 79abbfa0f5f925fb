#include "tribo/model_changes.hpp"

#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

void check(int index, std::size_t n, const char* what) {
  if (index < 0 || at(index) >= n)
    throw InvalidInput(std::string(what) + " " + std::to_string(index) + " is not there");
}

void set_mass(Model& model, int index, double mass) {
  check(index, model.bodies.size(), "body");
  Body& body = model.bodies[at(index)];
  if (!(mass > 0) || !std::isfinite(mass))
    throw InvalidInput("mass of '" + body.name + "' = " + shown(mass) + " kg, must be finite and > 0");
  if (!(body.inertia.mass > 0)) throw InvalidInput("'" + body.name + "' has no mass that could be another");
  model.trees[at(body.tree)].mass += mass - body.inertia.mass;
  body.inertia.about_com *= mass / body.inertia.mass;
  body.inertia.mass = mass;
}

void set_friction(Model& model, int material, double mu) {
  check(material, model.materials.size(), "material");
  if (!(mu >= 0) || !std::isfinite(mu))
    throw InvalidInput("friction of '" + model.materials[at(material)].name + "' = " + shown(mu) +
                       ", must be finite and >= 0");
  for (int other = 0; other < static_cast<int>(model.materials.size()); ++other)
    for (const SurfacePair* pair : {&model.surface(material, other), &model.surface(other, material)}) {
      auto& surface = const_cast<SurfacePair&>(*pair);  // of our own copy, which is not constant yet
      surface.mu_static = surface.mu_dynamic = mu;
    }
}

}  // namespace

Model changed(const Model& model, const ModelChanges& changes) {
  Model other = model;
  for (const auto& [body, mass] : changes.mass) set_mass(other, body, mass);
  for (const auto& [material, mu] : changes.friction) set_friction(other, material, mu);
  std::vector<char> gone(model.equalities.size());
  for (int index : changes.without) {
    check(index, gone.size(), "equality");
    gone[at(index)] = 1;
  }
  other.equalities.clear();
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) other.equalities.push_back(model.equalities[i]);
  for (const Equality& more : changes.equalities) other.equalities.push_back(more);
  return other;
}

}  // namespace tribo
