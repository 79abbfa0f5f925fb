#include "readers/urdf_tree.hpp"

#include <urdf_parser/urdf_parser.h>

#include "readers/xml_file.hpp"
#include "tribo/types.hpp"

namespace tribo {

using tinyxml2::XMLElement;

::urdf::ModelInterfaceSharedPtr urdf_tree(tinyxml2::XMLDocument& document) {
  XMLElement* root = document.RootElement();
  if (root == nullptr) return nullptr;
  bool capsules = false;
  for_each_element(root, [&](const XMLElement& e) { capsules |= std::string(e.Name()) == "capsule"; });
  if (capsules) root->SetAttribute("version", "1.1");
  tinyxml2::XMLPrinter text;
  document.Print(&text);
  return ::urdf::parseURDF(text.CStr());
}

void check_complete(const tinyxml2::XMLDocument& document, const ::urdf::ModelInterface& tree,
                    const std::string& path) {
  const XMLElement* e = document.RootElement()->FirstChildElement("link");
  for (; e != nullptr; e = e->NextSiblingElement("link")) {
    const char* name = e->Attribute("name");
    const auto link = tree.links_.find(name != nullptr ? name : "");
    std::size_t shapes = 0;
    for (const XMLElement* c = e->FirstChildElement("collision"); c; c = c->NextSiblingElement("collision")) ++shapes;
    const bool heavy = e->FirstChildElement("inertial") != nullptr;
    const bool kept = link != tree.links_.end() && link->second->collision_array.size() == shapes &&
                      (!heavy || link->second->inertial);
    if (!kept)
      throw InvalidInput(path + ":" + std::to_string(e->GetLineNum()) + ": link '" + (name != nullptr ? name : "") +
                         "': a part of it was not understood by the parser of URDF files");
  }
}

}  // namespace tribo
