#include "origins.hpp"

#include <map>
#include <mutex>

namespace tribo::python {
namespace {

std::mutex door;
std::map<std::uint64_t, SceneOrigin>& origins() {
  static std::map<std::uint64_t, SceneOrigin> known;
  return known;
}

}  // namespace

void remember_origin(const Scene& scene) {
  constexpr std::size_t most = 4096;  // a program that makes more does not send all of them
  const std::lock_guard lock(door);
  if (origins().size() >= most) origins().clear();
  origins()[scene.model->hash()] = scene.origin;
}

std::optional<SceneOrigin> origin_of(std::uint64_t model) {
  const std::lock_guard lock(door);
  const auto found = origins().find(model);
  return found == origins().end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tribo::python
