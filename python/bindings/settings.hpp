// Settings of a scene as Python gives them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo::python {

using Settings = std::vector<std::pair<std::string, std::string>>;

inline std::vector<Override> overrides_of(const Settings& settings) {
  std::vector<Override> list;
  for (const auto& [path, value] : settings) list.push_back({path, value});
  return list;
}

}  // namespace tribo::python
