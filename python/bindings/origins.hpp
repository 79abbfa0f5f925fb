// How models and scenes can be made again in another process: by source and settings, never out of what was pickled.
#pragma once

#include <optional>

#include "tribo/scene.hpp"

namespace tribo::python {

/// The scene whose model it is can be found again by the model's hash.
void remember_origin(const Scene& scene);
std::optional<SceneOrigin> origin_of(std::uint64_t model);

}  // namespace tribo::python
