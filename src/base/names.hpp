// Words for error messages.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// A number as a person would write it.
std::string shown(double value);
/// The known name with the smallest edit distance.
std::string nearest_name(const std::string& wrong, const std::vector<std::string>& known);
/// "unknown WHAT 'NAME'; did you mean 'NEAREST'? Known: a, b, c"
std::string unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& known);

/// Is the short name the end of the full one, after a slash: "link" of "robot/link"?
bool ends_name(const std::string& full, const std::string& name);
/// Does a name match a pattern, in which '*' stands for any run of characters?
bool matches_name(const char* pattern, const char* name);
/// "'NAME' could be a, b: say which"
std::string ambiguous_name(const std::string& name, const std::vector<std::string>& meant);

/// Index of a name among n: the full name always, the end of one where no other full name ends so. Of equal names the first.
/// InvalidInput lists those that it could mean, or the known ones and the nearest.
template <class NameOf>
int find_name(const std::string& what, const std::string& name, std::size_t n, NameOf&& name_of) {
  int found = -1;
  std::vector<std::string> meant;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string& full = name_of(i);
    if (full == name) return static_cast<int>(i);
    if (!ends_name(full, name) || std::find(meant.begin(), meant.end(), full) != meant.end()) continue;
    if (found < 0) found = static_cast<int>(i);
    meant.push_back(full);
  }
  if (meant.size() == 1) return found;
  if (meant.size() > 1) throw InvalidInput(ambiguous_name(name, meant));
  std::vector<std::string> known;
  for (std::size_t i = 0; i < n; ++i)
    if (const std::string& full = name_of(i); std::find(known.begin(), known.end(), full) == known.end())
      known.push_back(full);
  throw InvalidInput(unknown_name(what, name, known));
}

}  // namespace tribo
