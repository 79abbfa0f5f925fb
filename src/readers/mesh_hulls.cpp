#include "readers/mesh_hulls.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "readers/mesh_file.hpp"
#include "tribo/decomposition.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

// What a hull depends on: a file that was written anew is read anew.
using Key = std::tuple<std::string, fs::file_time_type, std::uintmax_t, double, double, double, int, int>;

MeshHulls make(const std::string& path, const Vec3& scale, const MeshParts& parts) {
  MeshHulls made;
  made.meshes = 1;
  std::vector<std::vector<Vec3>> groups =
      mesh_parts(parts.kind == MeshParts::Kind::Decomposed ? decomposed_mesh(path, parts.most) : path);
  if (parts.kind == MeshParts::Kind::Hull) {
    for (std::size_t k = 1; k < groups.size(); ++k)
      groups[0].insert(groups[0].end(), groups[k].begin(), groups[k].end());
    groups.resize(1);
  }
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (Vec3& p : groups[k]) p = p.cwiseProduct(scale);
    const std::string part = groups.size() > 1 ? ", part " + std::to_string(k) : "";
    made.hulls.push_back(make_hull(groups[k], "mesh '" + path + "'" + part));
    made.points += groups[k].size();
  }
  return made;
}

}  // namespace

MeshHulls mesh_hulls(const std::string& path, const Vec3& scale, const MeshParts& parts) {
  static std::mutex mutex;
  static std::map<Key, MeshHulls> kept;
  std::error_code error;
  const Key key{path,
                fs::last_write_time(path, error),
                fs::file_size(path, error),
                scale.x(),
                scale.y(),
                scale.z(),
                static_cast<int>(parts.kind),
                parts.most};
  const std::lock_guard lock(mutex);
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  return kept[key] = make(path, scale, parts);
}

void MeshHulls::add(const MeshHulls& other) {
  hulls.insert(hulls.end(), other.hulls.begin(), other.hulls.end());
  points += other.points;
  meshes += other.meshes;
}

std::string MeshHulls::summary() const {
  auto count = [](std::size_t n, const std::string& one, const std::string& many) {
    return n == 1 ? one : std::to_string(n) + " " + many;
  };
  std::size_t corners = 0;
  for (const auto& hull : hulls) corners += hull->vertices.size();
  return count(meshes, "a mesh", "meshes") + " of " + std::to_string(points) + " points made into " +
         count(hulls.size(), "a hull", "hulls") + " of " + std::to_string(corners) + " corners";
}

}  // namespace tribo
