#include "readers/mesh_triangles.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "model/mesh_tree.hpp"
#include "readers/mesh_file.hpp"

namespace tribo {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

/// The corners of an OBJ: lines "f a b c …" with a/texture/normal, from 1 on, or back from the last point read if negative.
class ObjFaces {
 public:
  ObjFaces(const std::string& bytes, const std::string& name) : name_(name) {
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
      ++line_;
      read(std::string_view(bytes).substr(begin, end - begin));
      begin = end + 1;
    }
  }
  Triangles triangles;

 private:
  static std::string_view word(std::string_view& rest) {
    const std::size_t begin = std::min(rest.find_first_not_of(" \t\r"), rest.size());
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
    const std::string_view out = rest.substr(0, end);
    rest.remove_prefix(end);
    return out;
  }
  void read(std::string_view rest) {
    const std::string_view said = word(rest);
    points_ += said == "v";
    if (said != "f") return;
    std::vector<int> corners;
    for (std::string_view w = word(rest); !w.empty(); w = word(rest)) {
      int k = 0;
      const auto [stop, error] = std::from_chars(w.data(), w.data() + w.size(), k);
      const bool whole = error == std::errc{} && (stop == w.data() + w.size() || *stop == '/');
      const int corner = k < 0 ? points_ + k : k - 1;
      if (!whole || corner < 0)
        throw InvalidInput("mesh '" + name_ + "':" + std::to_string(line_) + ": a face must name its points from 1 on");
      corners.push_back(corner);
    }
    if (corners.size() < 3)
      throw InvalidInput("mesh '" + name_ + "':" + std::to_string(line_) + ": a face needs three corners");
    for (std::size_t k = 1; k + 1 < corners.size(); ++k) triangles.push_back({corners[0], corners[k], corners[k + 1]});
  }

  const std::string& name_;
  int line_ = 0, points_ = 0;
};

}  // namespace

RawTriangles raw_triangles(const std::string& path) {
  MeshSurface surface = mesh_surface(path);
  if (surface.extension == ".obj") surface.triangles = ObjFaces(surface.bytes, path).triangles;
  if (surface.extension == ".stl")
    for (int i = 0; i + 2 < static_cast<int>(surface.points.size()); i += 3)
      surface.triangles.push_back({i, i + 1, i + 2});
  if (surface.triangles.empty()) throw InvalidInput("mesh '" + path + "' has points but no triangles");
  return {std::move(surface.points), std::move(surface.triangles)};
}

std::shared_ptr<const TriangleMesh> mesh_triangles(const std::string& path, const Vec3& scale) {
  RawTriangles surface = raw_triangles(path);
  for (Vec3& p : surface.points) p = p.cwiseProduct(scale);
  if (scale.prod() < 0)
    for (auto& t : surface.triangles) std::swap(t[1], t[2]);
  return make_triangle_mesh(surface.points, surface.triangles, "mesh '" + path + "'");
}

std::string mesh_summary(const TriangleMesh& mesh) {
  double volume = 0;
  for (const auto& t : mesh.triangles)
    volume += mesh.vertices[at(t[0])].dot(mesh.vertices[at(t[1])].cross(mesh.vertices[at(t[2])]));
  const std::string count = std::to_string(mesh.triangles.size()) + " triangles, ";
  if (!mesh.tree->closed) return count + "open";
  return count + (volume > 0 ? "closed" : "closed, hollow: they face inwards");
}

}  // namespace tribo
