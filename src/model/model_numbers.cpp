#include "tribo/model_numbers.hpp"

#include <cmath>

#include "base/names.hpp"
#include "tribo/model_changes.hpp"

namespace tribo {
namespace {

std::string wrong(const std::string& what, double x, const std::string& must) {
  return what + " = " + shown(x) + ", must be " + must;
}

std::string mass_defect(const Model& base, const double* mass) {
  for (std::size_t b = 0; b < base.bodies.size(); ++b) {
    const Body& body = base.bodies[b];
    if (mass[b] == body.inertia.mass) continue;
    if (!(body.inertia.mass > 0)) return "'" + body.name + "' has no mass that could be another";
    if (!(mass[b] > 0) || !std::isfinite(mass[b]))
      return wrong("mass of '" + body.name + "'", mass[b], "finite and > 0 kg");
  }
  return "";
}

std::string com_defect(const Model& base, const double* com) {
  for (std::size_t b = 0; b < base.bodies.size(); ++b)
    for (std::size_t k = 0; k < 3; ++k)
      if (!std::isfinite(com[3 * b + k]))
        return wrong("centre of mass of '" + base.bodies[b].name + "'", com[3 * b + k], "finite");
  return "";
}

std::string surface_defect(const Model& base, const double* mu) {
  for (int i = 0; i < base.surfaces(); ++i)
    if (!(mu[i] >= 0) || !std::isfinite(mu[i]))
      return wrong("friction of " + base.surface_name(i), mu[i], "finite and >= 0");
  return "";
}

std::string joint_defect(const Model& base, const char* what, const double* x) {
  for (const Body& body : base.bodies)
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
      if (!(x[k] >= 0) || !std::isfinite(x[k]))
        return wrong(std::string(what) + " of '" + body.name + "'", x[k], "finite and >= 0");
  return "";
}

void set_joints(VecX& x, const VecX& base, const double* row) {
  for (Eigen::Index k = 0; k < x.size(); ++k) x[k] = row == nullptr ? base[k] : row[k];
}
bool same_zeros(const VecX& x, const VecX& base, const double* row, Eigen::Index first, Eigen::Index n) {
  bool same = true;
  for (Eigen::Index k = first; k < first + n; ++k) same &= (x[k] == 0) == ((row == nullptr ? base[k] : row[k]) == 0);
  return same;
}

/// A free body keeps its principal frame as long as its centre of mass stays.
bool single_with(const Tree& tree, const Model& base, const double* com) {
  if (!tree.single || com == nullptr) return tree.single;
  return Eigen::Map<const Vec3>(com + 3 * tree.first_body) == base.bodies[at(tree.first_body)].inertia.com;
}

}  // namespace

std::string defect(const Model& base, const ModelNumbers& n) {
  std::string found;
  const auto look = [&found](const double* row, auto&& ask) {
    if (found.empty() && row != nullptr) found = ask(row);
  };
  look(n.mass, [&](const double* x) { return mass_defect(base, x); });
  look(n.com, [&](const double* x) { return com_defect(base, x); });
  look(n.mu_static, [&](const double* x) { return surface_defect(base, x); });
  look(n.mu_dynamic, [&](const double* x) { return surface_defect(base, x); });
  look(n.damping, [&](const double* x) { return joint_defect(base, "damping", x); });
  look(n.armature, [&](const double* x) { return joint_defect(base, "armature", x); });
  look(n.dry_friction, [&](const double* x) { return joint_defect(base, "dry friction", x); });
  return found;
}

void set_numbers(Model& model, const Model& base, const ModelNumbers& n) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    Tree& tree = model.trees[t];
    tree.single = single_with(base.trees[t], base, n.com);
    tree.mass = base.trees[t].mass;
    if (n.mass != nullptr) tree.mass = 0;
    tree.carried = 0;
    for (int b = tree.first_body; b < tree.first_body + tree.bodies; ++b) {
      const Inertia& from = base.bodies[at(b)].inertia;
      Body& body = model.bodies[at(b)];
      Inertia& inertia = body.inertia;
      inertia = from;
      body.carried = base.bodies[at(b)].carried;
      if (n.mass != nullptr && n.mass[b] != from.mass) {
        inertia.mass = n.mass[b];
        inertia.about_com *= n.mass[b] / from.mass;
        body.carried *= n.mass[b] / from.mass;
      }
      tree.carried += body.carried;
      if (n.com != nullptr) inertia.com = Eigen::Map<const Vec3>(n.com + 3 * b);
      if (n.mass != nullptr) tree.mass += inertia.mass;
    }
  }
  for (std::size_t i = 0; i < model.surfaces_.size(); ++i) {
    SurfacePair& pair = model.surfaces_[i];
    pair.mu_static = n.mu_static == nullptr ? base.surfaces_[i].mu_static : n.mu_static[i];
    pair.mu_dynamic = n.mu_dynamic == nullptr ? base.surfaces_[i].mu_dynamic : n.mu_dynamic[i];
  }
  set_joints(model.joints.damping, base.joints.damping, n.damping);
  set_joints(model.joints.armature, base.joints.armature, n.armature);
  set_joints(model.joints.friction, base.joints.friction, n.dry_friction);
  model.set_numbers_hash();
}

bool keeps_zeros(const Model& model, const Model& base, const ModelNumbers& n) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    if (tree.single != single_with(base.trees[t], base, n.com)) return false;
    // A single body turns otherwise with armature; in larger trees it is read in every step.
    if (tree.bodies == 1 && !same_zeros(model.joints.armature, base.joints.armature, n.armature, tree.iv, tree.nv))
      return false;
  }
  return same_zeros(model.joints.damping, base.joints.damping, n.damping, 0, model.nv) &&
         same_zeros(model.joints.friction, base.joints.friction, n.dry_friction, 0, model.nv);
}

OwnNumbers::OwnNumbers(const Model& model) {
  for (const Body& body : model.bodies) {
    mass.push_back(body.inertia.mass);
    for (double x : body.inertia.com) com.push_back(x);
  }
  for (int i = 0; i < model.surfaces(); ++i) {
    mu_static.push_back(model.surface(i).mu_static);
    mu_dynamic.push_back(model.surface(i).mu_dynamic);
  }
  const JointProperties& joints = model.joints;
  damping.assign(joints.damping.begin(), joints.damping.end());
  armature.assign(joints.armature.begin(), joints.armature.end());
  dry_friction.assign(joints.friction.begin(), joints.friction.end());
}

void OwnNumbers::change(const Model& model, const ModelChanges& changes) {
  const auto check = [](int index, std::size_t n, const char* what) {
    if (index < 0 || at(index) >= n)
      throw InvalidInput(std::string(what) + " " + std::to_string(index) + " is not there");
    return at(index);
  };
  for (const auto& [body, x] : changes.mass) mass[check(body, mass.size(), "body")] = x;
  for (const auto& [body, x] : changes.com) Eigen::Map<Vec3>(com.data() + 3 * check(body, mass.size(), "body")) = x;
  const std::size_t n = model.materials.size();
  for (const auto& [material, mu] : changes.friction) {
    const std::size_t m = check(material, n, "material");
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i : {m * n + k, k * n + m}) mu_static[i] = mu_dynamic[i] = mu;
  }
  for (const auto& [k, x] : changes.damping) damping[check(k, damping.size(), "joint coordinate")] = x;
  for (const auto& [k, x] : changes.armature) armature[check(k, armature.size(), "joint coordinate")] = x;
  for (const auto& [k, x] : changes.dry_friction) dry_friction[check(k, dry_friction.size(), "joint coordinate")] = x;
}

void OwnNumbers::scale(const ModelFactors& factors) {
  if (!(factors.mass > 0) || !std::isfinite(factors.mass))
    throw InvalidInput("factor of mass = " + shown(factors.mass) + ", must be finite and > 0");
  if (!(factors.friction >= 0) || !std::isfinite(factors.friction))
    throw InvalidInput("factor of friction = " + shown(factors.friction) + ", must be finite and >= 0");
  for (double& x : mass) x *= factors.mass;
  for (std::vector<double>* mu : {&mu_static, &mu_dynamic})
    for (double& x : *mu) x *= factors.friction;
}

ModelNumbers OwnNumbers::rows() const {
  return {mass.data(),    com.data(),      mu_static.data(),   mu_dynamic.data(),
          damping.data(), armature.data(), dry_friction.data()};
}

}  // namespace tribo
