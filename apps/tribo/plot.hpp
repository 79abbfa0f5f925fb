// Pictures are drawn by python/tribo/plots.py.
#pragma once

#include <string>

namespace tribo::app {

/// Draws the panels of a result file. The path of the picture, or "" where Python or matplotlib is missing: a message
/// on stderr then says how to get it.
std::string draw(const std::string& result, const std::string& picture);

}  // namespace tribo::app
