// Indices that a model under construction is given: each must name what was added before.
#include <algorithm>

#include "tribo/model.hpp"

namespace tribo {
namespace {

std::string range(int least, std::size_t n) {
  return "from " + std::to_string(least) + " to " + std::to_string(static_cast<int>(n) - 1);
}

[[noreturn]] void refuse(const std::string& owner, const char* field, int index, const std::string& known) {
  throw InvalidInput(owner + ": " + field + " = " + std::to_string(index) + ", must be " + known);
}

bool within(int index, std::size_t n) { return index >= 0 && static_cast<std::size_t>(index) < n; }

}  // namespace

void ModelBuilder::check_body(int body, const std::string& owner) const {
  const std::size_t kinematic = model_.kinematic.size();
  if (body == -1 || within(body, model_.bodies.size()) || within(kinematic_index(body), kinematic)) return;
  std::string known = range(-1, model_.bodies.size()) + ", where -1 is the world";
  if (kinematic > 0)
    known +=
        ", or from " + std::to_string(kinematic_body(static_cast<int>(kinematic) - 1)) + " to -2, kinematic bodies";
  refuse(owner, "body", body, known);
}

void ModelBuilder::check_geometry(int geometry, const std::string& owner) const {
  const std::size_t n = model_.geometries.size();
  if (!within(geometry, n)) refuse(owner, "geometry", geometry, n == 0 ? "added before" : range(0, n));
}

// Where no material is given, build() adds the default one.
void ModelBuilder::check_material(int material, const std::string& owner) const {
  const std::size_t n = std::max<std::size_t>(model_.materials.size(), 1);
  if (!within(material, n)) refuse(owner, "material", material, range(0, n));
}

Member& ModelBuilder::member(int index) {
  const std::size_t n = model_.members.size();
  if (!within(index, n)) refuse("model", "member", index, n == 0 ? "begun before" : range(0, n));
  return model_.members[static_cast<std::size_t>(index)];
}

}  // namespace tribo
