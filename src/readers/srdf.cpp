#include "readers/srdf.hpp"

#include <sstream>

#include "base/problems.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace {

using tinyxml2::XMLElement;

struct Reader {
  std::string path;

  [[noreturn]] void fail(const XMLElement& element, const std::string& reason) const {
    throw InvalidInput(path + ":" + std::to_string(element.GetLineNum()) + ": " + reason);
  }
  std::string text(const XMLElement& element, const char* name) const {
    const char* value = element.Attribute(name);
    if (value == nullptr) fail(element, std::string("<") + element.Name() + "> has no attribute '" + name + "'");
    return value;
  }
  std::vector<double> numbers(const XMLElement& element, const char* name) const {
    std::vector<double> out;
    std::istringstream words(text(element, name));
    for (std::string word; words >> word;) {
      double x = 0;
      if (!tinyxml2::XMLUtil::ToDouble(word.c_str(), &x))
        fail(element, std::string("attribute '") + name + "' has '" + word + "', which is no number");
      out.push_back(x);
    }
    return out;
  }
  double number(const XMLElement& element, const char* name) const {
    const std::vector<double> list = numbers(element, name);
    if (list.size() != 1) fail(element, std::string("attribute '") + name + "' must be one number");
    return list[0];
  }
  template <class F>
  void each(const XMLElement& parent, const char* name, F&& f) const {
    for (const XMLElement* e = parent.FirstChildElement(name); e != nullptr; e = e->NextSiblingElement(name)) f(*e);
  }
};

}  // namespace

Srdf read_srdf(const std::string& path) {
  const auto document = read_xml(path);
  const Reader read{path};
  Srdf out;
  const XMLElement& robot = *document->RootElement();
  read.each(robot, "group_state", [&](const XMLElement& state) {
    auto& pose = out.poses[read.text(state, "name")];
    read.each(state, "joint", [&](const XMLElement& joint) {
      pose.push_back({read.text(joint, "name"), read.numbers(joint, "value")});
    });
  });
  read.each(robot, "rotor_params", [&](const XMLElement& rotors) {
    read.each(rotors, "joint", [&](const XMLElement& joint) {
      const double ratio = read.number(joint, "gear_ratio");
      out.armature[read.text(joint, "name")] += read.number(joint, "mass") * ratio * ratio;
    });
  });
  return out;
}

}  // namespace tribo
