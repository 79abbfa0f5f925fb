// Words for error messages.
#pragma once

#include <string>
#include <vector>

namespace tribo {

/// A number as a person would write it.
std::string shown(double value);
/// The known name with the smallest edit distance.
std::string nearest_name(const std::string& wrong, const std::vector<std::string>& known);
/// "unknown WHAT 'NAME'; did you mean 'NEAREST'? Known: a, b, c"
std::string unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& known);

}  // namespace tribo
