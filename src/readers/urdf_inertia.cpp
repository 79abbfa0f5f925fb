#include "readers/urdf_inertia.hpp"

#include <cmath>
#include <cstdio>

#include "readers/mesh_hulls.hpp"
#include "readers/mesh_up.hpp"
#include "readers/urdf_tree.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

using tinyxml2::XMLElement;

// A shape of density 1, in its own frame.
Inertia of_shape(const ::urdf::Geometry& shape, const MeshSearch& search, bool y_up) {
  if (const auto* sphere = dynamic_cast<const ::urdf::Sphere*>(&shape)) {
    const double r = sphere->radius;
    return solid_inertia(ShapeKind::Sphere, Vec3(r, 0, 0), 4.0 / 3 * M_PI * r * r * r);
  }
  if (const auto* box = dynamic_cast<const ::urdf::Box*>(&shape))
    return solid_inertia(ShapeKind::Box, 0.5 * Vec3(box->dim.x, box->dim.y, box->dim.z),
                         box->dim.x * box->dim.y * box->dim.z);
  if (const auto* cylinder = dynamic_cast<const ::urdf::Cylinder*>(&shape)) {
    const double r = cylinder->radius, l = cylinder->length;
    return solid_inertia(ShapeKind::Cylinder, Vec3(r, 0, 0.5 * l), M_PI * r * r * l);
  }
  if (const auto* capsule = dynamic_cast<const ::urdf::Capsule*>(&shape)) {
    const double r = capsule->radius, l = capsule->length;
    return solid_inertia(ShapeKind::Capsule, Vec3(r, 0, 0.5 * l), M_PI * r * r * (l + 4.0 / 3 * r));
  }
  const auto& mesh = dynamic_cast<const ::urdf::Mesh&>(shape);
  const Vec3 scale(mesh.scale.x, mesh.scale.y, mesh.scale.z);
  const std::string path = find_mesh(mesh.filename, search);
  const Hull& hull = *mesh_hulls(path, scale, {}).hulls[0];
  Inertia inertia = hull_inertia(hull, hull_volume(hull));
  if (y_up && says_y_up(path)) {
    inertia.com = upright() * inertia.com;
    inertia.about_com = upright() * inertia.about_com * upright().transpose();
  }
  return inertia;
}

// All shapes of a link at the density that gives its mass.
Inertia of_link(const ::urdf::Link& link, double mass, const MeshSearch& search, bool y_up) {
  std::vector<Inertia> parts;
  Inertia sum;
  for (const ::urdf::CollisionSharedPtr& collision : link.collision_array) {
    const ::urdf::Rotation& q = collision->origin.rotation;
    const ::urdf::Vector3& p = collision->origin.position;
    const Placement X{Quat(q.w, q.x, q.y, q.z).toRotationMatrix(), Vec3(p.x, p.y, p.z)};
    Inertia part = of_shape(*collision->geometry, search, y_up);
    part.com = X * part.com;
    part.about_com = X.R * part.about_com * X.R.transpose();
    sum.mass += part.mass;
    sum.com += part.mass * part.com;
    parts.push_back(part);
  }
  sum.com /= sum.mass;
  for (const Inertia& part : parts) {
    const Vec3 d = part.com - sum.com;
    sum.about_com += part.about_com + part.mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
  sum.about_com *= mass / sum.mass;
  sum.mass = mass;
  return sum;
}

void set(XMLElement& e, const char* attribute, double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  e.SetAttribute(attribute, text);
}

XMLElement& fresh(XMLElement& parent, const char* name) {
  if (XMLElement* old = parent.FirstChildElement(name)) parent.DeleteChild(old);
  return *parent.InsertNewChildElement(name);
}

void write(const Inertia& inertia, XMLElement& inertial) {
  char text[96];
  std::snprintf(text, sizeof text, "%.17g %.17g %.17g", inertia.com.x(), inertia.com.y(), inertia.com.z());
  fresh(inertial, "origin").SetAttribute("xyz", text);
  XMLElement& e = fresh(inertial, "inertia");
  const Mat3& I = inertia.about_com;
  set(e, "ixx", I(0, 0));
  set(e, "iyy", I(1, 1));
  set(e, "izz", I(2, 2));
  set(e, "ixy", I(0, 1));
  set(e, "ixz", I(0, 2));
  set(e, "iyz", I(1, 2));
}

}  // namespace

void take_inertias_from_shapes(tinyxml2::XMLDocument& document, const std::string& path, const MeshSearch& search,
                               std::vector<std::string>& warnings) {
  const ::urdf::ModelInterfaceSharedPtr tree = urdf_tree(document);
  XMLElement* root = document.RootElement();
  if (!tree || root == nullptr) return;  // what is wrong with it is told by whoever reads it next
  const bool y_up = stands_on_y(*tree, search, MeshesOf::Collision);
  std::string kept;
  for (XMLElement* e = root->FirstChildElement("link"); e != nullptr; e = e->NextSiblingElement("link")) {
    const char* name = e->Attribute("name");
    XMLElement* inertial = e->FirstChildElement("inertial");
    const auto link = tree->links_.find(name != nullptr ? name : "");
    if (inertial == nullptr || link == tree->links_.end() || !link->second->inertial) continue;
    const double mass = link->second->inertial->mass;
    if (!(mass > 0)) continue;
    if (link->second->collision_array.empty())
      kept += (kept.empty() ? "'" : ", '") + link->first + "'";
    else
      write(of_link(*link->second, mass, search, y_up), *inertial);
  }
  if (!kept.empty())
    warnings.push_back(path +
                       ": inertia = \"shapes\": links with mass and no collision shape keep their inertia: " + kept);
}

}  // namespace tribo
