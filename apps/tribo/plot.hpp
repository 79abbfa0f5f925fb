// What Python draws: pictures, reports, the viewer. See python/tribo/__main__.py.
#pragma once

#include <string>
#include <vector>

namespace tribo::app {

/// Draws the panels of a result file. The path of the picture, or "" where Python or matplotlib is missing: a message
/// on stderr then says how to get it.
std::string draw(const std::string& result, const std::string& picture);
/// Writes a result file as one HTML page. Its path, or "" where Python or matplotlib is missing.
std::string report(const std::string& result, const std::string& page);
/// `python -m tribo WORDS`: its exit code. A clear message where the package is missing.
int call_python(std::vector<std::string> words);
/// The same as the last thing that a command does: Ctrl-C is left to Python.
int hand_to_python(std::vector<std::string> words);

}  // namespace tribo::app
