// XML files of robots, read with suspicion: sizes, depth and entities are bounded before anybody else parses them.
#pragma once

#include <tinyxml2.h>

#include <memory>
#include <string>
#include <vector>

namespace tribo {

/// InvalidInput "FILE:LINE: reason" for a file that is missing, a folder, too large, not XML, nested too deep, or that
/// declares entities.
std::unique_ptr<tinyxml2::XMLDocument> read_xml(const std::string& path);
/// The same for a text; `name` stands for the file in messages.
std::unique_ptr<tinyxml2::XMLDocument> parse_xml(const std::string& text, const std::string& name);

/// Calls f(element) for an element and all below it, in the order of the file.
template <class F>
void for_each_element(const tinyxml2::XMLElement* element, F&& f) {
  for (; element != nullptr; element = element->NextSiblingElement()) {
    f(*element);
    for_each_element(element->FirstChildElement(), f);
  }
}

/// Folders that a robot file may name files in: its own and up to three above it (but neither the root of the file
/// system nor what lies directly in it), and those given.
std::vector<std::string> allowed_roots(const std::string& file, const std::vector<std::string>& given);
/// Is the path, with its ".." taken out, in one of the folders?
bool is_inside(const std::string& path, const std::vector<std::string>& roots);

}  // namespace tribo
