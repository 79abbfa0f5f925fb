// Materials, ground, walls and objects of a scene.
#include <cmath>

#include "base/names.hpp"
#include "base/problems.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

constexpr int most_objects = 100'000;

SurfacePair read_surface(Section& section, SurfacePair surface) {
  if (section.has("mu")) {
    if (section.has("mu_static") || section.has("mu_dynamic"))
      section.fail("mu", "has both 'mu' and 'mu_static' or 'mu_dynamic': give one or the other");
    surface.mu_static = surface.mu_dynamic = section.number("mu", Bound::NonNegative);
  }
  surface.mu_static = section.number("mu_static", surface.mu_static, Bound::NonNegative);
  if (section.has("mu_static") && !section.has("mu_dynamic")) surface.mu_dynamic = surface.mu_static;
  surface.mu_dynamic = section.number("mu_dynamic", surface.mu_dynamic, Bound::NonNegative);
  surface.restitution = section.number("restitution", surface.restitution, Bound::NonNegative);
  surface.restitution_speed = section.number("restitution_speed", surface.restitution_speed, Bound::NonNegative);
  surface.torsional = section.number("torsional", surface.torsional, Bound::NonNegative);
  surface.rolling = section.number("rolling", surface.rolling, Bound::NonNegative);
  surface.compliance = section.number("compliance", surface.compliance, Bound::NonNegative);
  surface.relaxation_time = section.number("relaxation_time", surface.relaxation_time, Bound::NonNegative);
  surface.stiffness = section.number("stiffness", surface.stiffness, Bound::Positive);
  surface.damping = section.number("damping", surface.damping, Bound::NonNegative);
  if (section.has("stiffness_tangential"))
    surface.stiffness_tangential = section.number("stiffness_tangential", Bound::Positive);
  if (section.has("damping_tangential"))
    surface.damping_tangential = section.number("damping_tangential", Bound::NonNegative);
  return surface;
}

// The shortest turn of the z axis to a direction. Eigen's own has a singular value decomposition in it, ten seconds of a build.
Mat3 rotation_to(const Vec3& direction) {
  const Vec3 n = direction.normalized(), axis = Vec3::UnitZ().cross(n);
  const double c = n.z();
  if (c < -1 + 1e-12) return Vec3(1, -1, -1).asDiagonal();  // upside down: about x
  const double s = std::sqrt((1 + c) * 2), inverse = 1 / s;
  Quat q;
  q.vec() = axis * inverse;
  q.w() = s * 0.5;
  return q.toRotationMatrix();
}

Mat3 rotation_of(const Vec3& rpy) {
  using Eigen::AngleAxisd;
  return (AngleAxisd(rpy.z(), Vec3::UnitZ()) * AngleAxisd(rpy.y(), Vec3::UnitY()) * AngleAxisd(rpy.x(), Vec3::UnitX()))
      .toRotationMatrix();
}

// A grid of copies: how many along each axis, how far apart, and how much each is moved at random.
struct Grid {
  int n[3] = {1, 1, 1};
  Vec3 spacing = Vec3::Zero();
  double jitter = 0;        // [m]
  double jitter_angle = 0;  // [rad]
  Random random;
};

Grid read_grid(Section& section) {
  Grid grid;
  const bool given = section.has("grid");
  const std::vector<double> counts = section.numbers("grid", "three whole numbers");
  if (given && counts.size() != 3)
    section.fail("grid", "grid must have three whole numbers, has " + std::to_string(counts.size()));
  double all = 1;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] < 1 || counts[k] != std::floor(counts[k]) || (all *= counts[k]) > most_objects)
      section.fail("grid", "grid must hold whole numbers >= 1, at most 100000 objects in all");
    grid.n[k] = static_cast<int>(counts[k]);
  }
  const TomlValue* spacing = section.value("spacing");
  if (spacing != nullptr && spacing->is_number())
    grid.spacing.setConstant(section.number("spacing", Bound::Positive));
  else
    grid.spacing = section.vec3("spacing", Vec3::Zero());
  if (given && spacing == nullptr) section.fail("grid", "grid needs 'spacing', the distance between centres [m]");
  grid.jitter = section.number("jitter", 0, Bound::NonNegative);
  grid.jitter_angle = section.number("jitter_angle", 0, Bound::NonNegative);
  grid.random.state += static_cast<std::uint64_t>(section.integer("seed", 0, 0, 1 << 30));
  if (!given)
    for (const char* key : {"spacing", "jitter", "jitter_angle", "seed"})
      if (section.has(key)) section.fail(key, std::string(key) + " belongs to a grid: give 'grid' too");
  return grid;
}

int add_object(SceneDraft& draft, const std::string& name, const ShapeSpec& shape, const Inertia& inertia,
               const Geometry& surface) {
  const int member = draft.builder.begin_member(name, false, "object");
  Body body;
  body.name = name;
  body.inertia = inertia;
  Geometry like = surface;
  like.name = name;
  like.body = draft.builder.add_body(std::move(body));
  shape.add_to(draft.builder, like);
  return member;
}

void read_object(Section& section, SceneDraft& draft, int number) {
  const std::string name = section.text("name", "object" + std::to_string(number));
  ShapeSpec shape = read_shape(section, "box", draft);
  shape.centre();
  const Inertia inertia = shape.inertia(section.number("mass", Bound::Positive));
  const Placement X = read_placement(section);
  const Vec3 v = section.vec3("velocity", Vec3::Zero()), w = section.vec3("angular_velocity", Vec3::Zero());
  Geometry surface;
  surface.material = draft.material(section);
  read_groups(section, surface);
  const bool many = section.has("grid");
  Grid grid = read_grid(section);
  section.finish();
  int count = 0;
  for (int z = 0; z < grid.n[2]; ++z)
    for (int y = 0; y < grid.n[1]; ++y)
      for (int x = 0; x < grid.n[0]; ++x) {
        Placement pose = X;
        pose.p += grid.spacing.cwiseProduct(Vec3(x, y, z));
        auto draw = [&] { return Vec3::NullaryExpr([&](Eigen::Index) { return 2 * grid.random.uniform() - 1; }); };
        if (grid.jitter > 0) pose.p += grid.jitter * Vec3(draw());
        if (grid.jitter_angle > 0) pose.R = pose.R * rotation_of(grid.jitter_angle * Vec3(draw()));
        std::string full = name;
        if (many) full.append("_").append(std::to_string(count++));
        const int member = section.at("name", [&] { return add_object(draft, full, shape, inertia, surface); });
        const int body = draft.builder.member(member).first_body;
        draft.placings.push_back([=](const Model& model, State& state) {
          place_free_body(model.bodies[static_cast<std::size_t>(body)], pose, v, w, state);
        });
      }
}

}  // namespace

int SceneDraft::material(Section& section) {
  section.text("material", "default");
  const TomlValue* name = section.value("material");
  return name != nullptr ? material(section, *name) : materials.at("default");
}

int SceneDraft::material(const Section& section, const TomlValue& name) const {
  const auto found = materials.find(name.text);
  if (found != materials.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, index] : materials) known.push_back(key);
  section.fail(name, unknown_name("material", name.text, known));
}

Placement read_placement(Section& section) {
  return {rotation_of(section.vec3("rpy", Vec3::Zero())), section.vec3("position", Vec3::Zero())};
}

void read_materials(Section& root, SceneDraft& draft) {
  Section all = root.inner("material");
  Material standard;
  {
    Section section = all.inner("default");
    standard.surface = all.has("default") ? read_surface(section, standard.surface) : standard.surface;
    section.finish();
    draft.materials["default"] = all.at("default", [&] { return draft.builder.add_material(standard); });
  }
  for (const std::string& name : all.table().keys) {
    if (name == "default") continue;
    Section section = all.inner(name);
    Material material{name, read_surface(section, standard.surface)};
    section.finish();
    draft.materials[name] = all.at(name, [&] { return draft.builder.add_material(material); });
  }
  for (Section section : root.tables("material_pair")) {
    const std::vector<std::string> names = section.texts("materials");
    if (names.size() != 2) section.fail("materials", "needs 'materials', two names");
    std::vector<std::string> known;
    for (const auto& [key, index] : draft.materials) known.push_back(key);
    for (const std::string& name : names)
      if (!draft.materials.count(name)) section.fail("materials", unknown_name("material", name, known));
    const SurfacePair pair = read_surface(section, standard.surface);
    section.finish();
    section.at("", [&] { draft.builder.set_pair(names[0], names[1], pair); });
  }
}

void read_ground(Section& root, SceneDraft& draft) {
  Section section = root.inner("ground");
  draft.ground = !section.flag("none", false);
  const double height = section.number("height", 0);
  const Vec3 normal = section.vec3("normal", Vec3::UnitZ());
  if (!(normal.norm() > 1e-9)) section.fail("normal", "normal must not be zero");
  draft.X_WG.p = Vec3(0, 0, height);
  draft.X_WG.R = rotation_to(normal);
  const int material = draft.material(section);
  section.finish();
  if (draft.ground) draft.builder.add_ground(draft.X_WG, material);
}

void read_walls(Section& root, SceneDraft& draft) {
  int number = 0;
  for (Section section : root.tables("wall")) {
    const std::string name = section.text("name", "wall" + std::to_string(++number));
    const ShapeSpec shape = read_shape(section, "box", draft);
    Geometry like;
    like.name = name;
    like.material = draft.material(section);
    like.X_BG = read_placement(section);
    read_groups(section, like);
    section.finish();
    section.at("", [&] { shape.add_to(draft.builder, like); });
  }
}

bool read_objects(Section& root, SceneDraft& draft) {
  int number = 0;
  bool whole = true;
  std::vector<Section> sections;
  whole &= attempt([&] { sections = root.tables("object"); });
  for (Section& section : sections) whole &= attempt([&] { read_object(section, draft, ++number); });
  return whole;
}

}  // namespace tribo
