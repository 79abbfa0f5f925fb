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
  Tree& tree = model.trees[at(body.tree)];
  const double carried = body.carried * mass / body.inertia.mass;
  tree.mass += mass - body.inertia.mass;
  tree.carried += carried - body.carried;
  body.carried = carried;
  body.inertia.about_com *= mass / body.inertia.mass;
  body.inertia.mass = mass;
}

void check_friction(const Model& model, int material, double mu) {
  check(material, model.materials.size(), "material");
  if (!(mu >= 0) || !std::isfinite(mu))
    throw InvalidInput("friction of '" + model.materials[at(material)].name + "' = " + shown(mu) +
                       ", must be finite and >= 0");
}

}  // namespace

Model changed(const Model& model, const ModelChanges& changes) {
  Model other = model;
  for (const auto& [body, mass] : changes.mass) set_mass(other, body, mass);
  for (const auto& [material, mu] : changes.friction) {
    check_friction(model, material, mu);
    const std::size_t n = model.materials.size(), m = at(material);
    for (std::size_t k = 0; k < n; ++k)
      for (SurfacePair* pair : {&other.surfaces_[m * n + k], &other.surfaces_[k * n + m]})
        pair->mu_static = pair->mu_dynamic = mu;
  }
  std::vector<char> gone(model.equalities.size());
  for (int index : changes.without) {
    check(index, gone.size(), "equality");
    gone[at(index)] = 1;
  }
  other.equalities.clear();
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) other.equalities.push_back(model.equalities[i]);
  for (const Equality& more : changes.equalities) other.equalities.push_back(more);
  other.hash_ = other.computed_hash();
  return other;
}

}  // namespace tribo
