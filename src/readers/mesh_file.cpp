#include "readers/mesh_file.hpp"

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/file.hpp"
#include "readers/collada.hpp"
#include "readers/ply.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 500'000'000;  // [bytes]

std::string lower_extension(const std::string& path) {
  std::string e = fs::path(path).extension().string();
  std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return e;
}

// Binary STL: 80 bytes of text, the number of triangles, then 50 bytes each: normal, three corners, two bytes.
std::vector<Vec3> binary_stl(const std::string& bytes, const std::string& name) {
  std::uint32_t n = 0;
  if (bytes.size() < 84)
    throw InvalidInput("mesh '" + name + "': " + std::to_string(bytes.size()) + " bytes are too few for an STL file");
  std::memcpy(&n, bytes.data() + 80, 4);
  if (84 + 50 * static_cast<std::uint64_t>(n) > bytes.size())
    throw InvalidInput("mesh '" + name + "': its header claims " + std::to_string(n) +
                       " triangles, the file has room for " + std::to_string((bytes.size() - 84) / 50));
  std::vector<Vec3> points;
  points.reserve(3 * static_cast<std::size_t>(n));
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      float x[3];
      std::memcpy(x, bytes.data() + 84 + 50 * t + 12 * (k + 1), 12);
      points.emplace_back(x[0], x[1], x[2]);
    }
  return points;
}

// Lines that begin with `word`, followed by three numbers; those that begin with one of `heads` begin a part.
std::vector<std::vector<Vec3>> lines_of(const std::string& bytes, const std::string& word,
                                        const std::vector<std::string>& heads, const std::string& name) {
  std::vector<std::vector<Vec3>> parts(1);
  int number = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    ++number;
    const char *at = bytes.data() + begin, *last = bytes.data() + end;
    begin = end + 1;
    auto skip = [&] {
      while (at < last && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
    };
    skip();
    const char* first = at;
    while (at < last && *at != ' ' && *at != '\t' && *at != '\r') ++at;
    const std::string_view said(first, static_cast<std::size_t>(at - first));
    if (!parts.back().empty() && std::find(heads.begin(), heads.end(), said) != heads.end()) parts.emplace_back();
    if (said != word) continue;
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      skip();
      if (at < last && *at == '+') ++at;
      const auto [stop, error] = std::from_chars(at, last, p[k]);
      if (error != std::errc{})
        throw InvalidInput("mesh '" + name + "':" + std::to_string(number) + ": a point must have three numbers");
      at = stop;
    }
    parts.back().push_back(p);
  }
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

std::string bytes_of(const std::string& path) { return read_text(path, largest_file); }

MeshSurface by_assimp(const std::string& path) {
  try {
    coal::MeshLoader loader(coal::BV_OBBRSS);
    const coal::BVHModelPtr_t mesh = loader.load(path, coal::Vec3s::Ones());
    MeshSurface out;
    if (!mesh || !mesh->vertices) return out;
    out.points.assign(mesh->vertices->begin(), mesh->vertices->begin() + mesh->num_vertices);
    for (std::size_t t = 0; mesh->tri_indices && t < mesh->num_tris; ++t) {
      const auto& corners = (*mesh->tri_indices)[t];
      out.triangles.push_back(
          {static_cast<int>(corners[0]), static_cast<int>(corners[1]), static_cast<int>(corners[2])});
    }
    return out;
  } catch (const std::exception& error) {
    std::string said = error.what();  // several lines
    std::replace(said.begin(), said.end(), '\n', ' ');
    throw InvalidInput("mesh '" + path + "': " + said);
  }
}

}  // namespace

std::vector<std::vector<Vec3>> parse_mesh(const std::string& bytes, const std::string& extension,
                                          const std::string& name) {
  std::vector<std::vector<Vec3>> parts;
  if (extension == ".stl") {
    // Some binary files begin with "solid" too; then the sizes agree, which those of a text do not.
    std::uint32_t n = 0;
    if (bytes.size() >= 84) std::memcpy(&n, bytes.data() + 80, 4);
    const bool sized = bytes.size() >= 84 && 84 + 50 * static_cast<std::uint64_t>(n) == bytes.size();
    if (!sized && bytes.compare(0, 5, "solid") == 0)
      parts = lines_of(bytes, "vertex", {"solid"}, name);
    else
      parts.push_back(binary_stl(bytes, name));
  } else if (extension == ".ply") {
    parts.push_back(ply_points(bytes, name));
  } else {
    parts = lines_of(bytes, "v", {"o", "g"}, name);
  }
  if (parts[0].empty()) throw InvalidInput("mesh '" + name + "' has no points");
  for (const std::vector<Vec3>& part : parts)
    for (const Vec3& p : part)
      if (!p.allFinite()) throw InvalidInput("mesh '" + name + "': a point is not finite");
  return parts;
}

void check_mesh(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw InvalidInput("mesh '" + path + "' is not a file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > largest_file) throw InvalidInput("mesh '" + path + "' is larger than 500 MB");
  if (size == 0) throw InvalidInput("mesh '" + path + "' is empty: it has no points");
  if (lower_extension(path) == ".dae") check_collada(bytes_of(path), path, static_cast<double>(largest_file));
  if (lower_extension(path) == ".ply") check_ply(bytes_of(path), path);
}

std::vector<std::vector<Vec3>> mesh_parts(const std::string& path) {
  check_mesh(path);
  const std::string extension = lower_extension(path);
  if (extension == ".dae") {
    const std::vector<Vec3> points = by_assimp(path).points;
    if (points.empty()) throw InvalidInput("mesh '" + path + "' has no points");
    for (const Vec3& p : points)
      if (!p.allFinite()) throw InvalidInput("mesh '" + path + "': a point is not finite");
    return {points};
  }
  if (extension != ".stl" && extension != ".obj" && extension != ".ply")
    throw InvalidInput("mesh '" + path + "': unknown kind of mesh; known: .stl, .obj, .dae, .ply");
  return parse_mesh(bytes_of(path), extension, path);
}

MeshSurface mesh_surface(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".dae" || extension == ".ply") {
    check_mesh(path);
    MeshSurface out = by_assimp(path);
    out.extension = extension;
    return out;
  }
  MeshSurface out{{}, {}, extension, ""};
  for (const std::vector<Vec3>& part : mesh_parts(path)) out.points.insert(out.points.end(), part.begin(), part.end());
  if (extension == ".obj") out.bytes = bytes_of(path);
  return out;
}

}  // namespace tribo
