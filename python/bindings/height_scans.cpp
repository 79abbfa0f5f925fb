#include "height_scans.hpp"

#include "base/names.hpp"

namespace tribo::python {
namespace {

/// "robot/link_0", "robot/frame.2": shapes of a link, and feet of a frame, are counted.
bool is_of_link(const std::string& shape, const std::string& link) {
  const std::size_t end = shape.find_last_not_of("0123456789");
  if (end == std::string::npos || end + 1 == shape.size() || (shape[end] != '_' && shape[end] != '.')) return false;
  const std::string owner = shape.substr(0, end);
  return owner == link || ends_name(owner, link);
}

}  // namespace

std::vector<int> geometries(const Model& model, const std::string& name) {
  std::vector<int> found;
  const int n = static_cast<int>(model.geometries.size());
  for (int g = 0; g < n; ++g)
    if (model.geometries[at(g)].name == name) return {g};
  if (name == "world") {
    for (int g = 0; g < n; ++g)
      if (model.geometries[at(g)].body == -1) found.push_back(g);
    return found;
  }
  for (std::size_t m = 0; m < model.members.size(); ++m)
    if (model.members[m].name == name) {
      for (int g = 0; g < n; ++g)
        if (model.geometries[at(g)].member == static_cast<int>(m)) found.push_back(g);
      return found;
    }
  int body = -1;
  try {
    body = model.place(name).body;
  } catch (const InvalidInput&) {
    return {model.geometry(name)};  // whose message lists what there is
  }
  for (int g = 0; g < n; ++g)
    if (is_of_link(model.geometries[at(g)].name, name)) found.push_back(g);
  if (!found.empty()) return found;
  if (body == -1) return {model.geometry(name)};
  for (int g = 0; g < n; ++g)
    if (model.geometries[at(g)].body == body) found.push_back(g);
  return found;
}

std::vector<char> ignored_geometries(const Model& model, const std::vector<std::string>& names) {
  std::vector<char> skip(names.empty() ? 0 : model.geometries.size());
  for (const std::string& name : names)
    for (int g : geometries(model, name)) skip[at(g)] = 1;
  return skip;
}

HeightScan height_scan_of(const Model& model, const std::string& name, const MatrixIn& points, double above,
                          double most, const std::vector<std::string>& ignored) {
  if (points.shape(1) != 2) throw InvalidInput("points of a height scan must have shape (n, 2)");
  return {model.place(name),
          {points.data(), points.data() + points.size()},
          above,
          most,
          ignored_geometries(model, ignored)};
}

std::vector<Place> places_of(const Model& model, const std::vector<int>& bodies, const MatrixIn& points) {
  if (points.shape(0) != bodies.size() || points.shape(1) != 3)
    throw InvalidInput("points have shape (" + std::to_string(points.shape(0)) + ", " +
                       std::to_string(points.shape(1)) + "), must have (" + std::to_string(bodies.size()) + ", 3)");
  std::vector<Place> places(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i] < 0 || bodies[i] >= static_cast<int>(model.bodies.size()))
      throw InvalidInput("body " + std::to_string(bodies[i]) + ", must be from 0 to " +
                         std::to_string(model.bodies.size() - 1));
    places[i].body = bodies[i];
    places[i].X_BP.p = Eigen::Map<const Vec3>(points.data() + 3 * i);
  }
  return places;
}

}  // namespace tribo::python
