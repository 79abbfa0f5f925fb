// The gains of a controller, where it is one that has them.
#pragma once

#include "tribo/scene.hpp"

namespace tribo {

/// Null where the controller is not a 'pd'.
inline const PdOptions* pd_of(const ControllerSpec& spec) { return spec.name == "pd" ? &spec.pd : nullptr; }

}  // namespace tribo
