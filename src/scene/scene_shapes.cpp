// Shapes of objects, walls, links and kinematic bodies.
#include <filesystem>

#include "readers/mesh_hulls.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

Vec3 centre_of(const std::vector<std::shared_ptr<const Hull>>& hulls) {
  double volume = 0;
  Vec3 first = Vec3::Zero();
  for (const auto& hull : hulls) {
    const double share = hull_volume(*hull);
    volume += share;
    first += share * hull_inertia(*hull, 1).com;
  }
  return first / volume;
}

// One file, or several with a hull each.
void read_mesh(Section& section, ShapeSpec& spec, SceneDraft& draft) {
  const TomlValue* file = section.value("file");
  if (file == nullptr) section.fail(section.table(), "needs 'file', the path of a mesh (.stl, .obj, .dae, .ply)");
  const std::vector<std::string> files =
      file->kind == TomlValue::Kind::Array ? section.texts("file") : std::vector{section.text("file")};
  if (files.empty()) section.fail("file", "file names no mesh");
  const Vec3 scale = read_scale(section);
  const TomlValue* asked = section.value("parts");
  const MeshParts parts = asked != nullptr ? read_parts(section, *asked) : MeshParts{};
  MeshHulls meshes;
  section.at("file", [&] {
    for (const std::string& path : files) meshes.add(mesh_hulls(beside(section, path), scale, parts));
  });
  spec.hulls = meshes.hulls;
  draft.log.push_back(section.file() + ": [" + section.label() + "] " + meshes.summary());
}

void read_box(Section& section, ShapeSpec& spec) {
  const TomlValue* size = section.value("size");
  if (size == nullptr) section.fail(section.table(), "needs 'size', the edges of the box [m]");
  if (size->is_number())
    spec.size.setConstant(0.5 * section.number("size", Bound::Positive));
  else
    spec.size = 0.5 * section.vec3("size", Vec3::Zero());
  if (!(spec.size.minCoeff() > 0)) section.fail("size", "size must be > 0 m on every axis");
}

}  // namespace

std::vector<Vec3> read_vertices(Section& section) {
  const TomlValue* list = section.value("vertices");
  if (list == nullptr || list->kind != TomlValue::Kind::Array)
    section.fail("vertices", "needs 'vertices', an array of points [x, y, z]");
  std::vector<Vec3> points;
  for (const TomlValue& item : list->items) {
    if (item.items.size() != 3) section.fail(item, "vertices must be points of three numbers");
    Vec3 p;
    for (int k = 0; k < 3; ++k) p[k] = section.number_of(item.items[static_cast<std::size_t>(k)], "vertices");
    points.push_back(p);
  }
  return points;
}

Vec3 read_scale(Section& section) {
  Vec3 scale = Vec3::Ones();
  const TomlValue* given = section.value("scale");
  if (given != nullptr && given->is_number())
    scale.setConstant(section.number("scale", Bound::Positive));
  else
    scale = section.vec3("scale", scale);
  if ((scale.array() == 0).any()) section.fail("scale", "scale must not be zero on any axis");
  return scale;
}

MeshParts read_parts(Section& section, const TomlValue& value) {
  using Kind = MeshParts::Kind;
  if (value.kind == TomlValue::Kind::Flag) return {value.flag ? Kind::Objects : Kind::Hull, 0};
  if (value.kind == TomlValue::Kind::Text && value.text == "auto") return {Kind::Decomposed, 0};
  constexpr int most = 1000;
  if (value.kind == TomlValue::Kind::Integer && value.number >= 1 && value.number <= most)
    return {Kind::Decomposed, static_cast<int>(value.number)};
  section.fail(value,
               "parts must be true (objects of the file), \"auto\" (a convex decomposition) or a whole number from 1 "
               "to 1000, the most parts of one");
}

Inertia ShapeSpec::inertia(double mass) const {
  if (hulls.empty()) return solid_inertia(kind, size, mass);
  double volume = 0;
  for (const auto& hull : hulls) volume += hull_volume(*hull);
  Inertia sum;
  sum.mass = mass;
  sum.com = centre_of(hulls);
  for (const auto& hull : hulls) {
    const Inertia part = hull_inertia(*hull, mass * hull_volume(*hull) / volume);
    const Vec3 d = part.com - sum.com;
    sum.about_com += part.about_com + part.mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
  return sum;
}

void ShapeSpec::centre() {
  if (hulls.empty()) return;
  const Vec3 com = centre_of(hulls);
  for (auto& hull : hulls) hull = moved_hull(*hull, -com);
}

void ShapeSpec::add_to(ModelBuilder& builder, const Geometry& like) const {
  Geometry geometry = like;
  geometry.kind = kind;
  geometry.size = size;
  if (hulls.empty()) builder.add_geometry(geometry);
  for (std::size_t k = 0; k < hulls.size(); ++k) {
    geometry.hull = hulls[k];
    if (hulls.size() > 1) geometry.name = like.name + "." + std::to_string(k);
    builder.add_geometry(geometry);
  }
}

ShapeSpec read_shape(Section& section, const std::string& fallback, SceneDraft& draft) {
  ShapeSpec spec;
  const std::string shape =
      section.choice("shape", fallback, {"box", "sphere", "capsule", "cylinder", "ellipsoid", "hull", "mesh"});
  auto only = [&](const char* key, const char* owners) {
    if (section.has(key) && std::string(owners).find(shape) == std::string::npos)
      section.fail(key, std::string(key) + " means nothing to a " + shape);
  };
  only("size", "box");
  only("radius", "sphere capsule cylinder");
  only("length", "capsule cylinder");
  only("radii", "ellipsoid");
  only("vertices", "hull");
  for (const char* key : {"file", "scale", "parts"}) only(key, "mesh");
  if (shape == "box") {
    spec.kind = ShapeKind::Box;
    read_box(section, spec);
  } else if (shape == "sphere") {
    spec.kind = ShapeKind::Sphere;
    spec.size.x() = section.number("radius", Bound::Positive);
  } else if (shape == "ellipsoid") {
    spec.kind = ShapeKind::Ellipsoid;
    if (!section.has("radii")) section.fail(section.table(), "needs 'radii', the half axes of the ellipsoid [m]");
    spec.size = section.vec3("radii", Vec3::Zero());
    if (!(spec.size.minCoeff() > 0)) section.fail("radii", "radii must be > 0 m on every axis");
  } else if (shape == "capsule" || shape == "cylinder") {
    spec.kind = shape == "capsule" ? ShapeKind::Capsule : ShapeKind::Cylinder;
    spec.size = Vec3(section.number("radius", Bound::Positive), 0, 0.5 * section.number("length", Bound::Positive));
  } else if (shape == "mesh") {
    spec.kind = ShapeKind::Convex;
    read_mesh(section, spec, draft);
  } else {
    spec.kind = ShapeKind::Convex;
    const std::vector<Vec3> points = read_vertices(section);
    section.at("vertices", [&] { spec.hulls = {make_hull(points, "hull")}; });
    spec.centre();
  }
  return spec;
}

bool is_file(const std::string& path) {
  return std::filesystem::path(path).has_extension() || path.find('/') != std::string::npos;
}

std::string beside(const Section& section, const std::string& path) {
  if (!is_file(path)) return path;
  std::error_code error;
  const std::filesystem::path near = std::filesystem::path(section.file()).parent_path() / path;
  return std::filesystem::exists(near, error) ? near.string() : path;
}

}  // namespace tribo
