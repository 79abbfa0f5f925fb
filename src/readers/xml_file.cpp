#include "readers/xml_file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/legible.hpp"
#include "readers/mjcf.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_robot_file = 20'000'000;  // [bytes]

std::string text_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw InvalidInput("robot file '" + path + "' does not exist");
  if (fs::is_directory(status)) throw InvalidInput("robot file '" + path + "' is a folder");
  if (!fs::is_regular_file(status)) throw InvalidInput("robot file '" + path + "' is not a regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw InvalidInput("robot file '" + path + "' cannot be read (" + error.message() + ")");
  if (size > largest_robot_file) throw InvalidInput("robot file '" + path + "' is larger than 20 MB");
  return read_text(path, largest_robot_file);
}

int line_of(const std::string& text, std::size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

}  // namespace

std::unique_ptr<tinyxml2::XMLDocument> parse_xml(const std::string& text, const std::string& name) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw InvalidInput("robot file '" + name + "' is empty");
  for (const char* trick : {"<!ENTITY", "<!DOCTYPE"})
    if (const std::size_t at = text.find(trick); at != std::string::npos)
      throw InvalidInput(name + ":" + std::to_string(line_of(text, at)) + ": document types and entities are not read");
  if (const std::size_t at = text.find('\0'); at != std::string::npos)
    throw InvalidInput(name + ":" + std::to_string(line_of(text, at)) + ": a zero byte: this is not a text file");
  auto document = std::make_unique<tinyxml2::XMLDocument>();
  if (document->Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    const std::string reason = document->ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED
                                   ? "elements are nested too deep"
                                   : std::string("is not XML: ") + document->ErrorName();
    throw InvalidInput(name + ":" + std::to_string(std::max(document->ErrorLineNum(), 1)) + ": " + reason);
  }
  if (document->RootElement() == nullptr) throw InvalidInput(name + ":1: has no element");
  if (const tinyxml2::XMLElement* const second = document->RootElement()->NextSiblingElement())
    throw InvalidInput(name + ":" + std::to_string(second->GetLineNum()) + ": <" + second->Name() +
                       "> stands beside the first element; all of a file stands within one");
  for_each_element(document->RootElement(), [&](const tinyxml2::XMLElement& e) {
    if (const char* given = e.Attribute("name"))
      check_name(name + ":" + std::to_string(e.GetLineNum()) + ": <" + e.Name() + ">", given);
  });
  return document;
}

std::unique_ptr<tinyxml2::XMLDocument> read_xml(const std::string& path) { return parse_xml(text_of(path), path); }

bool is_mjcf(const std::string& path) {
  const fs::path extension = fs::path(path).extension();
  if (extension != ".xml" && extension != ".mjcf") return false;
  return std::string(read_xml(path)->RootElement()->Name()) == "mujoco";
}

std::vector<std::string> allowed_roots(const std::string& file, const std::vector<std::string>& given) {
  constexpr int above = 3;
  auto depth = [](const fs::path& p) { return std::distance(p.begin(), p.end()); };  // "/" has 1, "/home" 2
  std::error_code error;
  const auto root_of = [&](const fs::path& path) {
    fs::path root = path.lexically_normal().parent_path();
    for (int k = 0; k < above && depth(root.parent_path()) > 2; ++k) root = root.parent_path();
    return root.string();
  };
  std::vector<std::string> roots{root_of(fs::absolute(file, error))};
  // The file that is given may be a link to one that lies among its meshes.
  const fs::path target = fs::canonical(file, error);
  if (!error && root_of(target) != roots[0]) roots.push_back(root_of(target));
  for (const std::string& folder : given) roots.push_back(fs::absolute(folder, error).lexically_normal().string());
  return roots;
}

namespace {

bool begins_with(const fs::path& full, const fs::path& folder) {
  auto part = full.begin();
  for (const fs::path& name : folder) {
    if (name.empty()) continue;  // a slash at the end
    if (part == full.end() || *part != name) return false;
    ++part;
  }
  return true;
}

/// With links followed, as far as there is anything.
fs::path real(const std::string& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::absolute(path, error).lexically_normal() : found;
}

}  // namespace

bool is_inside(const std::string& path, const std::vector<std::string>& roots) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error).lexically_normal(), target = real(path);
  const auto any = [&](auto&& inside) { return std::any_of(roots.begin(), roots.end(), inside); };
  return any([&](const std::string& root) { return begins_with(full, fs::path(root).lexically_normal()); }) &&
         any([&](const std::string& root) { return begins_with(target, real(root)); });
}

}  // namespace tribo
