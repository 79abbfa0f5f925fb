// Every MJCF file of a folder beside MuJoCo itself. See menagerie.cpp.
#pragma once

#include <string>

namespace tribo::bench {

/// Prints a line a file, then how many are how fast. Returns the program's exit code.
int compare_folder(const std::string& folder);

}  // namespace tribo::bench
