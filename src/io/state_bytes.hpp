// A state as the bytes of its file.
#pragma once

#include <string>

#include "tribo/state.hpp"

namespace tribo {

std::string state_bytes(const State& state);
/// InvalidInput, which begins with `name`, where the bytes are broken or of another version; where a model is given, also
/// where they belong to another.
State state_of_bytes(const std::string& bytes, const std::string& name, const Model* model = nullptr);

}  // namespace tribo
