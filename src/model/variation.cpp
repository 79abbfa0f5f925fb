// A model that differs from another by factors on masses and friction.
#include <cmath>

#include "model/hash.hpp"
#include "model/names.hpp"
#include "tribo/model.hpp"

namespace tribo {

Model Model::varied(double mass, double friction) const {
  if (!(mass > 0) || !std::isfinite(mass)) throw InvalidInput("factor of mass = " + shown(mass) + ", must be > 0");
  if (!(friction >= 0) || !std::isfinite(friction))
    throw InvalidInput("factor of friction = " + shown(friction) + ", must be >= 0");
  Model model = *this;
  if (mass == 1 && friction == 1) return model;
  for (Body& body : model.bodies) {
    body.inertia.mass *= mass;
    body.inertia.about_com *= mass;
  }
  for (Tree& tree : model.trees) tree.mass *= mass;
  const auto rub = [&](SurfacePair& s) { s.mu_static *= friction, s.mu_dynamic *= friction; };
  for (Material& material : model.materials) rub(material.surface);
  for (SurfacePair& pair : model.surfaces_) rub(pair);
  for (CollisionPair& pair : model.pairs) rub(pair.surface);
  model.hash_ = Hash().add(hash_).add(mass).add(friction).value();
  return model;
}

}  // namespace tribo
