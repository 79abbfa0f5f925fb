// Where the meshes of a robot file are.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "readers/mesh_file.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

void add_variable(const char* name, const std::string& below, std::vector<std::string>& folders) {
  const char* value = std::getenv(name);
  const std::string all = value != nullptr ? value : "";
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(':', begin), all.size());
    if (end > begin) folders.push_back((fs::path(all.substr(begin, end - begin)) / below).lexically_normal().string());
    begin = end + 1;
  }
}

// "scheme://rest"
std::string after(const std::string& name, const std::string& scheme) {
  return name.compare(0, scheme.size(), scheme) == 0 ? name.substr(scheme.size()) : "";
}

}  // namespace

MeshSearch mesh_search(const std::string& file, const std::vector<std::string>& given,
                       const std::vector<std::string>& last) {
  MeshSearch search;
  std::error_code error;
  fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  search.folder = folder.string();
  search.packages = given;
  add_variable("ROS_PACKAGE_PATH", "", search.packages);
  add_variable("AMENT_PREFIX_PATH", "share", search.packages);
  search.roots = allowed_roots(file, search.packages);
  for (int level = 0; level < 5 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    search.packages.push_back(folder.string());
  for (const std::string& root : last) {
    search.packages.push_back(root);
    search.roots.push_back(root);
  }
  return search;
}

std::string find_mesh(const std::string& name, const MeshSearch& search) {
  std::string inside = after(name, "package://");
  if (inside.empty()) inside = after(name, "model://");
  inside.erase(0, inside.find_first_not_of('/'));  // some write package:///NAME/…
  std::string path = after(name, "file://");
  struct Candidate {
    fs::path path, package;  ///< a package may hold what it likes of its own
  };
  std::vector<Candidate> candidates;
  auto climbs = [](const fs::path& p) {
    const fs::path normal = p.lexically_normal();
    return !normal.empty() && *normal.begin() == "..";
  };
  if (!inside.empty()) {
    const std::size_t slash = inside.find('/');
    const std::string package = inside.substr(0, slash),
                      rest = slash == std::string::npos ? "" : inside.substr(slash + 1);
    if (climbs(rest) || climbs(package) || fs::path(rest).is_absolute() || package == "." || package.empty())
      throw InvalidInput("mesh '" + name + "' climbs out of its package");
    for (const std::string& folder : search.packages) {
      candidates.push_back({fs::path(folder) / package / rest, fs::path(folder) / package});
      if (fs::path(folder).filename() == package) candidates.push_back({fs::path(folder) / rest, folder});
    }
    // Files taken out of their package: its folders lie beside or above the robot file.
    for (const std::string& folder : search.packages) candidates.push_back({fs::path(folder) / rest, {}});
  } else {
    if (path.empty()) path = name;
    candidates.push_back({fs::path(search.folder) / path, {}});
    if (fs::path(path).is_relative())
      for (const std::string& folder : search.packages) candidates.push_back({fs::path(folder) / path, {}});
  }
  std::vector<std::string> tried;
  bool outside = false;
  std::string there;  // outside
  for (const Candidate& candidate : candidates) {
    std::string full = candidate.path.lexically_normal().string();
    std::error_code error;
    if (is_inside(full, search.roots) ||
        (!candidate.package.empty() && is_inside(full, {candidate.package.string()}))) {
      if (fs::is_regular_file(full, error)) return full;
      if (std::find(tried.begin(), tried.end(), full) == tried.end()) tried.push_back(full);
    } else {
      outside = true;
      if (there.empty() && fs::is_regular_file(full, error)) there = full;
    }
  }
  if (outside && tried.empty())
    throw InvalidInput("mesh '" + name + "' is outside of " + search.roots[0] +
                       "; give its folder as a package to allow it");
  std::string message = "mesh '" + name + "' was not found. Tried:";
  for (const std::string& full : tried) message += "\n  " + full;
  if (!there.empty())
    message += "\n  " + there + " lies, or leads, outside of " + search.roots[0] + " and is not opened";
  throw InvalidInput(message);
}

}  // namespace tribo
