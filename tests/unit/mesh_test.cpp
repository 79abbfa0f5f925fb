// Meshes of scenes: hulls against boxes in closed form, one or several to a file, each made once.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "readers/mesh_file.hpp"
#include "readers/mesh_hulls.hpp"
#include "scratch_folder.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// Corners of a box as the text of an OBJ, with a point inside that no hull has.
std::string obj_box(const Vec3& half, const Vec3& centre) {
  std::string text = "o box\n";
  auto line = [&](const Vec3& p) {
    text += "v " + std::to_string(p.x()) + " " + std::to_string(p.y()) + " " + std::to_string(p.z()) + "\n";
  };
  for (int k = 0; k < 8; ++k) line(centre + half.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  line(centre);
  return text + "f 1 2 3\n";
}

std::string object(const std::string& keys) { return "[[object]]\nname = \"o\"\nshape = \"mesh\"\nmass = 3\n" + keys; }

Scene parse(const ScratchFolder& folder, const std::string& text) {
  return parse_scene(text, folder.file("scene.toml"));
}

}  // namespace

TEST_CASE("mesh: an object by file is the box that it is the hull of, at its scale") {
  ScratchFolder folder;
  folder.write("box.obj", obj_box(Vec3(10, 20, 30), Vec3(100, 0, 7)));  // in centimetres
  const Scene scene = parse(folder, object("file = \"box.obj\"\nscale = 0.01\nposition = [0, 0, 1]\n"));
  const Model& model = *scene.model;
  const Geometry& g = model.geometries.back();
  REQUIRE(g.kind == ShapeKind::Convex);
  CHECK(g.hull->vertices.size() == 8);
  CHECK(g.hull->faces.size() == 6);
  const Inertia &made = model.bodies[0].inertia, box = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 3);
  CHECK((made.about_com - box.about_com).norm() < 1e-12);
  CHECK(made.com.norm() < 1e-12);
  CHECK(std::abs(g.radius - Vec3(0.1, 0.2, 0.3).norm()) < 1e-9);
  REQUIRE(scene.log.size() == 1);
  CHECK(scene.log[0].find("a mesh of 9 points made into a hull of 8 corners") != std::string::npos);
}

TEST_CASE("mesh: a wall keeps the frame of the file, and mirrored scales are hulls too") {
  ScratchFolder folder;
  folder.write("box.obj", obj_box(Vec3(1, 2, 3), Vec3(5, 0, 0)));
  const Scene scene = parse(folder,
                            "[[wall]]\nshape = \"mesh\"\nfile = \"box.obj\"\nscale = [-1, 1, 1]\n"
                            "[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 9]\n");
  for (const Geometry& g : scene.model->geometries) {
    if (g.kind != ShapeKind::Convex) continue;
    for (const Vec3& p : g.hull->vertices) CHECK((std::abs(p.x() + 5) < 1.001 && std::abs(p.x()) > 3.999));
    CHECK(hull_volume(*g.hull) == doctest::Approx(48).epsilon(1e-12));
  }
}

TEST_CASE("mesh: several hulls by parts or by files, inertia by the parallel-axis theorem") {
  ScratchFolder folder;
  const Vec3 half(0.1, 0.1, 0.1), d(0.5, 0, 0);
  folder.write("two.obj", obj_box(half, d) + obj_box(half, -d));
  folder.write("right.obj", obj_box(half, d));
  folder.write("left.obj", obj_box(half, -d));
  const Inertia one = solid_inertia(ShapeKind::Box, half, 1.5);
  const Mat3 expected = 2 * one.about_com + 3 * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  for (const char* keys : {"file = \"two.obj\"\nparts = true\n", "file = [\"left.obj\", \"right.obj\"]\n"}) {
    const Scene scene = parse(folder, object(keys));
    std::set<std::string> names;
    for (const Geometry& g : scene.model->geometries)
      if (g.body == 0) names.insert(g.name);
    CHECK(names == std::set<std::string>{"o.0", "o.1"});
    CHECK((scene.model->bodies[0].inertia.about_com - expected).norm() < 1e-12);
  }
  const Scene whole = parse(folder, object("file = \"two.obj\"\n"));
  CHECK(whole.model->geometries.back().name == "o");
  CHECK(hull_volume(*whole.model->geometries.back().hull) == doctest::Approx(1.2 * 0.2 * 0.2).epsilon(1e-9));
}

TEST_CASE("mesh: a hull is made once, and anew where its file was written anew") {
  ScratchFolder folder;
  const std::string path = folder.write("box.obj", obj_box(Vec3(1, 1, 1), Vec3::Zero()));
  const auto first = mesh_hulls(path, Vec3::Ones(), {}).hulls[0];
  CHECK(mesh_hulls(path, Vec3::Ones(), {}).hulls[0] == first);
  CHECK(mesh_hulls(path, Vec3(1, 1, 2), {}).hulls[0] != first);
  folder.write("box.obj", obj_box(Vec3(1, 1, 10), Vec3::Zero()));
  CHECK(hull_volume(*mesh_hulls(path, Vec3::Ones(), {}).hulls[0]) == doctest::Approx(80).epsilon(1e-12));
}

TEST_CASE("mesh: a box by file rests as a box does") {
  ScratchFolder folder;
  folder.write("box.obj", obj_box(Vec3(0.1, 0.1, 0.1), Vec3(3, 2, 1)));
  Simulation simulation = make_simulation(parse(folder, object("file = \"box.obj\"\nposition = [0, 0, 0.1]\n")));
  for (int k = 0; k < 200; ++k) CHECK(simulation.step().status == StepStatus::Ok);
  CHECK(std::abs(simulation.state().q[2] - 0.1) < 1e-7);
  double force = 0;
  for (const ContactReport& c : simulation.contacts()) force += c.f.z();
  CHECK(force == doctest::Approx(3 * 9.81).epsilon(1e-6));
}

TEST_CASE("mesh: PLY as text and in both orders of bytes, with what stands before the vertices") {
  const std::string head =
      "ply\nformat FORMAT 1.0\ncomment made by hand\nelement other 2\nproperty list uchar short values\nproperty "
      "double d\n"
      "element vertex 4\nproperty uchar red\nproperty float x\nproperty double y\nproperty int z\nend_header\n";
  const auto headed = [&](const std::string& format) {
    std::string text = head;
    return text.replace(text.find("FORMAT"), 6, format);
  };
  const std::vector<Vec3> expected{{0, 0, 0}, {1.5, 0, 0}, {0, 2.25, 0}, {0, 0, 3}};
  const auto check = [&](const std::string& bytes) {
    const auto parts = parse_mesh(bytes, ".ply", "m");
    REQUIRE(parts.size() == 1);
    CHECK(parts[0] == expected);
  };
  check(headed("ascii") + "2 7 8 0.5\n0 1\n255 0 0 0\n1 1.5 0 0\n2 0 2.25 0\n3 0 0 3\n");
  for (const bool big : {false, true}) {
    std::string bytes = headed(big ? "binary_big_endian" : "binary_little_endian");
    const auto add = [&](auto x) {
      std::string raw(reinterpret_cast<const char*>(&x), sizeof x);
      if (big) std::reverse(raw.begin(), raw.end());
      bytes += raw;
    };
    add(std::uint8_t{2}), add(std::int16_t{7}), add(std::int16_t{-8}), add(0.5), add(std::uint8_t{0}), add(1.0);
    for (const Vec3& p : expected)
      add(std::uint8_t{9}), add(static_cast<float>(p.x())), add(p.y()), add(static_cast<std::int32_t>(p.z()));
    check(bytes);
    CHECK_THROWS_AS(parse_mesh(bytes.substr(0, bytes.size() - 1), ".ply", "m"), InvalidInput);
  }
}
