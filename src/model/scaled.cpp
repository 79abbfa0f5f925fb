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
    body.carried *= factors.mass;
  }
  for (Tree& tree : model.trees) {
    tree.mass *= factors.mass;
    tree.carried *= factors.mass;
  }
  for (SurfacePair& surface : model.surfaces_) {
    surface.mu_static *= factors.friction;
    surface.mu_dynamic *= factors.friction;
  }
  model.hash_ = model.computed_hash();
  return model;
}

}  // namespace tribo
