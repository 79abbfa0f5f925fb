// Pushes as Python asks for them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "tribo/push.hpp"

namespace tribo::python {

/// As in a scene, see make_push.
inline Push asked_push(const Model& model, const std::string& where, double duration,
                       const std::map<std::string, VectorIn>& vectors, double start) {
  PushRequest push;
  push.where = where;
  const auto given = [&](const char* key) {
    const auto found = vectors.find(key);
    return found == vectors.end() ? std::nullopt : std::optional<Vec3>(vec3(found->second, key));
  };
  push.point = given("point");
  push.force = given("force");
  push.force_end = given("force_end");
  push.torque = given("torque");
  push.torque_end = given("torque_end");
  push.start = start;
  push.duration = duration;
  return make_push(model, push);
}

}  // namespace tribo::python
