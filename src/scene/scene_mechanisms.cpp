// Terrain, kinematic bodies and equality constraints of a scene.
#include <cmath>
#include <filesystem>

#include "base/names.hpp"
#include "io/npy.hpp"
#include "io/png.hpp"
#include "readers/mesh_triangles.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

constexpr int most_points = 16384;

// Rows of numbers, the first at the least y.
void read_heights(Section& section, HeightField& field) {
  const TomlValue* rows = section.value("heights");
  if (rows->kind != TomlValue::Kind::Array || rows->items.empty())
    section.fail("heights", "heights must be rows of numbers [m], the first at the least y");
  field.ny = static_cast<int>(rows->items.size());
  field.nx = static_cast<int>(rows->items[0].items.size());
  for (const TomlValue& row : rows->items) {
    if (static_cast<int>(row.items.size()) != field.nx) section.fail(row, "heights: every row must be as long");
    for (const TomlValue& z : row.items) field.heights.push_back(section.number_of(z, "heights"));
  }
}

// A picture, whose last row is at the least y, or an array of NumPy, whose first row is.
void read_height_file(Section& section, HeightField& field) {
  const std::string path = beside(section, section.text("file"));
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".png") {
    const std::vector<double> range = section.numbers("range", "two numbers");
    if (range.size() != 2) section.fail("file", "a picture needs 'range', the heights of black and of white [m]");
    const GreyPicture picture = section.at("file", [&] { return read_png(path); });
    field.nx = picture.width;
    field.ny = picture.height;
    for (int j = field.ny - 1; j >= 0; --j)
      for (int i = 0; i < field.nx; ++i)
        field.heights.push_back(range[0] + (range[1] - range[0]) * picture.shades[at(j) * at(field.nx) + at(i)]);
    return;
  }
  if (extension != ".npy") section.fail("file", "file must be a picture .png or an array .npy");
  if (section.has("range")) section.fail("range", "range is for pictures: an array has its heights [m]");
  const NpyArray array = section.at("file", [&] { return NpzReader(path).read(""); });
  if (array.shape.size() != 2 || array.shape[0] > most_points || array.shape[1] > most_points)
    section.fail("file", array.owner + " has the shape " + array.shape_text() +
                             ", must be (ny, nx), up to 16384 along each side");
  field.ny = static_cast<int>(array.shape[0]);
  field.nx = static_cast<int>(array.shape[1]);
  field.heights = section.at("file", [&] { return array.finite_numbers(); });
}

//   z = amplitude sin(2 pi x / length_x) cos(2 pi y / length_y) + roughness (2 u - 1)                    (waves.1)
void make_heights(Section& section, HeightField& field) {
  const std::vector<double> points = section.numbers("points", "two whole numbers");
  if (points.size() != 2)
    section.fail(section.table(), "needs 'heights', a 'file' of them, or 'points', how many along x and y");
  for (double n : points)
    if (!(n >= 2 && n <= most_points && n == std::floor(n)))
      section.fail("points", "points must be two whole numbers from 2 to 16384");
  if (points[0] * points[1] > 4e6) section.fail("points", "points: at most four million in all");
  field.nx = static_cast<int>(points[0]);
  field.ny = static_cast<int>(points[1]);
  const double amplitude = section.number("amplitude", 0, Bound::NonNegative);
  const std::vector<double> length = section.numbers("length", "two numbers");
  if (section.has("length") && (length.size() != 2 || !(length[0] > 0 && length[1] > 0)))
    section.fail("length", "length must be two numbers > 0, the wave lengths along x and y [m]");
  if (amplitude > 0 && length.empty()) section.fail("amplitude", "amplitude needs 'length', the wave lengths [m]");
  const double roughness = section.number("roughness", 0, Bound::NonNegative);
  Random random;
  random.state += static_cast<std::uint64_t>(section.integer("seed", 0, 0, 1 << 30));
  for (int j = 0; j < field.ny; ++j)
    for (int i = 0; i < field.nx; ++i) {
      const double x = (i - 0.5 * (field.nx - 1)) * field.spacing_x, y = (j - 0.5 * (field.ny - 1)) * field.spacing_y;
      double z = roughness * (2 * random.uniform() - 1);
      if (amplitude > 0) z += amplitude * std::sin(2 * M_PI * x / length[0]) * std::cos(2 * M_PI * y / length[1]);
      field.heights.push_back(z);  // (waves.1)
    }
}

std::vector<std::array<int, 3>> read_triangles(Section& section) {
  const TomlValue* list = section.value("triangles");
  if (list == nullptr || list->kind != TomlValue::Kind::Array)
    section.fail("triangles", "triangles must be an array of three indices of vertices each, from 0 on");
  std::vector<std::array<int, 3>> out;
  for (const TomlValue& item : list->items) {
    if (item.items.size() != 3) section.fail(item, "triangles must have three corners");
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double corner = section.number_of(item.items[k], "triangles", Bound::NonNegative);
      if (corner != std::floor(corner) || corner > 2e9)
        section.fail(item, "triangles name vertices by whole numbers from 0 on");
      corners[k] = static_cast<int>(corner);
    }
    out.push_back(corners);
  }
  return out;
}

// A file, or vertices and triangles.
std::shared_ptr<const TriangleMesh> read_surface(Section& section) {
  if (section.has("mesh")) {
    const std::string path = beside(section, section.text("mesh"));
    const Vec3 scale = read_scale(section);
    return section.at("mesh", [&] { return mesh_triangles(path, scale); });
  }
  const std::vector<Vec3> points = read_vertices(section);
  const auto triangles = read_triangles(section);
  return section.at("triangles", [&] { return make_triangle_mesh(points, triangles, "triangles"); });
}

std::shared_ptr<const HeightField> read_field(Section& section) {
  HeightField field;
  const TomlValue* spacing = section.value("spacing");
  if (spacing == nullptr)
    section.fail(section.table(), "needs 'spacing', the distance between points [m], or 'mesh', a file of triangles");
  if (spacing->is_number()) {
    field.spacing_x = field.spacing_y = section.number("spacing", Bound::Positive);
  } else {
    const std::vector<double> both = section.numbers("spacing", "two numbers");
    if (both.size() != 2) section.fail("spacing", "spacing must be one number, or two");
    field.spacing_x = both[0];
    field.spacing_y = both[1];
  }
  if (section.has("heights"))
    read_heights(section, field);
  else if (section.has("file"))
    read_height_file(section, field);
  else
    make_heights(section, field);
  return std::make_shared<const HeightField>(std::move(field));
}

int find_body(Section& section, const std::string& key, const SceneDraft& draft) {
  const std::string name = section.text(key);
  if (name == "world") return -1;
  return section.at(key, [&] { return draft.builder.model().body(name); });
}

}  // namespace

void read_terrain(Section& root, SceneDraft& draft) {
  int number = 0;
  for (Section section : root.tables("terrain")) {
    Geometry geometry;
    geometry.name = section.text("name", "terrain" + std::to_string(++number));
    geometry.material = draft.material(section);
    geometry.X_BG = read_placement(section);
    if (section.has("mesh") || section.has("triangles")) {
      geometry.kind = ShapeKind::Mesh;
      geometry.mesh = read_surface(section);
      draft.log.push_back(section.file() + ": [" + section.label() + "] " + mesh_summary(*geometry.mesh));
    } else {
      geometry.kind = ShapeKind::HeightField;
      geometry.terrain = read_field(section);
    }
    read_groups(section, geometry);
    section.finish();
    section.at("", [&] { draft.builder.add_geometry(geometry); });
  }
}

void read_kinematic(Section& root, SceneDraft& draft) {
  int number = 0;
  root.renamed("moved", "kinematic");
  for (Section section : root.tables("kinematic")) {
    KinematicBody body;
    body.name = section.text("name", "kinematic" + std::to_string(++number));
    body.X_WB = read_placement(section);
    Motion& m = body.motion;
    m.velocity = section.vec3("velocity", Vec3::Zero());
    m.angular_velocity = section.vec3("angular_velocity", Vec3::Zero());
    m.amplitude = section.vec3("amplitude", Vec3::Zero());
    m.swing = section.vec3("swing", Vec3::Zero());
    m.frequency = section.number("frequency", 0, Bound::NonNegative);
    m.phase = section.number("phase", 0);
    const ShapeSpec shape = read_shape(section, "box", draft);
    Geometry like;
    like.name = body.name;
    like.material = draft.material(section);
    read_groups(section, like);
    section.finish();
    section.at("", [&] {
      like.body = draft.builder.add_kinematic_body(body);
      shape.add_to(draft.builder, like);
    });
  }
}

void read_equalities(Section& root, SceneDraft& draft) {
  int number = 0;
  for (Section section : root.tables("equality")) {
    Equality e;
    e.name = section.text("name", "equality" + std::to_string(++number));
    const std::string kind = section.choice("kind", "connect", {"connect", "weld", "joint"});
    e.body_a = find_body(section, "a", draft);
    if (kind == "connect") {
      e.body_b = find_body(section, "b", draft);
      e.point_a = section.vec3("point_a", Vec3::Zero());
      e.point_b = section.vec3("point_b", Vec3::Zero());
    } else if (kind == "weld") {
      e.kind = EqualityKind::Weld;
      e.body_b = find_body(section, "b", draft);
      e.X_AB = read_placement(section);
    } else {
      e.kind = EqualityKind::Joint;
      if (section.has("b")) e.body_b = find_body(section, "b", draft);
      const std::vector<double> c = section.numbers("polynomial", "up to five numbers");
      if (c.empty() || c.size() > 5) section.fail("polynomial", "polynomial must have one to five coefficients");
      for (std::size_t k = 0; k < c.size(); ++k) e.polynomial[k] = c[k];
      e.center = section.number("center", 0);
    }
    section.finish();
    section.at("", [&] { draft.builder.add_equality(e); });
  }
}

void read_groups(Section& section, Geometry& geometry) {
  auto mask = [&](const char* key, std::uint32_t fallback) {
    if (!section.has(key)) return fallback;
    std::uint32_t bits = 0;
    for (double n : section.numbers(key, "whole numbers")) {
      if (!(n >= 0 && n <= 31 && n == std::floor(n)))
        section.fail(key, std::string(key) + " holds numbers from 0 to 31");
      bits |= 1u << static_cast<unsigned>(n);
    }
    return bits;
  };
  geometry.group = mask("group", geometry.group);
  geometry.collides_with = mask("collides_with", geometry.collides_with);
}

}  // namespace tribo
