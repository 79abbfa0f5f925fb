// Collada files (.dae), judged before they are handed to a library that follows every reference.
#pragma once

#include <string>

namespace tribo {

/// InvalidInput where the text is not XML, where nodes or parameters refer to themselves, in a circle or too deep, and
/// where what the nodes instance amounts to more than `most` bytes. `name` stands for the file in messages.
void check_collada(const std::string& text, const std::string& name, double most);

}  // namespace tribo
