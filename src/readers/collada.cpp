#include "readers/collada.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "readers/xml_file.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

using Element = tinyxml2::XMLElement;

constexpr int deepest = 500;         // levels of reference; elements within elements are bounded alike
constexpr double node_bytes = 5000;  // that a node takes in memory, about

std::string attribute(const Element& e, const char* name) {
  const char* value = e.Attribute(name);
  return value != nullptr ? value : "";
}
/// "#id" without its sign.
std::string reference(const Element& e, const char* name) {
  const std::string url = attribute(e, name);
  return url.empty() ? url : url.substr(1);
}
bool is(const Element& e, const char* name) { return std::strcmp(e.Name(), name) == 0; }

std::string text_of(const Element& e) {
  std::string text;
  for (const tinyxml2::XMLNode* child = e.FirstChild(); child != nullptr; child = child->NextSibling())
    if (child->ToText() != nullptr) text += child->Value();
  return text;
}

/// Things that use others, each with all that it unfolds to.
class References {
 public:
  explicit References(std::string name) : name_(std::move(name)) {}

  int add(const Element& e, std::string label, double bytes) {
    things_.push_back({std::move(label), e.GetLineNum(), bytes, {}, 0, false});
    return static_cast<int>(things_.size()) - 1;
  }
  void use(int user, int used) { at(user).uses.push_back(used); }
  void add_bytes(int user, double bytes) { at(user).bytes += bytes; }

  /// Bytes with all that is used, as often as it is. Asked once of a thing, remembered afterwards.
  double unfold(int index, int depth = 1) {
    Thing& thing = at(index);
    if (thing.open) fail(thing, "refers to itself");
    if (thing.height == 0) {
      thing.open = true;
      thing.height = 1;
      for (int used : thing.uses) {
        if (depth > deepest) break;
        thing.bytes += unfold(used, depth + 1);
        thing.height = std::max(thing.height, 1 + at(used).height);
      }
      thing.open = false;
    }
    if (std::max(thing.height, depth) > deepest)
      fail(thing, "refers to others more than " + std::to_string(deepest) + " levels deep");
    return thing.bytes;
  }
  [[noreturn]] void fail(int index, const std::string& message) const {
    fail(things_[static_cast<std::size_t>(index)], message);
  }
  int size() const { return static_cast<int>(things_.size()); }

 private:
  struct Thing {
    std::string label;
    int line;
    double bytes;
    std::vector<int> uses;
    int height;  ///< levels of reference from it down; 0: not known yet
    bool open;   ///< being unfolded
  };
  Thing& at(int index) { return things_[static_cast<std::size_t>(index)]; }
  [[noreturn]] void fail(const Thing& thing, const std::string& message) const {
    throw InvalidInput(name_ + ":" + std::to_string(thing.line) + ": " + thing.label + " " + message);
  }

  std::string name_;
  std::vector<Thing> things_;
};

/// Bytes of the numbers of each geometry, by its id; those of a controller are those of the geometry that it moves.
std::map<std::string, double> mesh_bytes(const Element& root) {
  std::map<std::string, double> bytes;
  for_each_element(&root, [&](const Element& e) {
    if (!is(e, "geometry")) return;
    double& sum = bytes[attribute(e, "id")];
    for_each_element(e.FirstChildElement(),
                     [&](const Element& part) { sum += static_cast<double>(text_of(part).size()); });
  });
  for_each_element(&root, [&](const Element& e) {
    const Element* parent = e.Parent()->ToElement();
    if ((is(e, "skin") || is(e, "morph")) && parent != nullptr)
      bytes[attribute(*parent, "id")] += bytes[reference(e, "source")];
  });
  return bytes;
}

void check_nodes(const Element& root, const std::string& name, double most) {
  References nodes(name);
  std::map<const Element*, int> index;
  std::map<std::string, std::vector<int>> called;  // readers find a node by its id or by its name
  for_each_element(&root, [&](const Element& e) {
    if (!is(e, "node") && !is(e, "visual_scene")) return;
    const std::string id = attribute(e, "id"), title = attribute(e, "name");
    const std::string label = std::string(e.Name()) + " '" + (id.empty() ? title : id) + "'";
    const int node = index[&e] = nodes.add(e, label, node_bytes);
    called[id].push_back(node);
    if (title != id) called[title].push_back(node);
  });
  std::map<std::string, double> bytes = mesh_bytes(root);
  for_each_element(&root, [&](const Element& e) {
    const tinyxml2::XMLNode* around = e.Parent();
    while (around != nullptr && !index.count(around->ToElement())) around = around->Parent();
    if (around == nullptr) return;
    const int node = index[around->ToElement()];
    if (const auto own = index.find(&e); own != index.end()) nodes.use(node, own->second);
    if (is(e, "instance_node"))
      for (int used : called[reference(e, "url")]) nodes.use(node, used);
    if (is(e, "instance_geometry") || is(e, "instance_controller")) nodes.add_bytes(node, bytes[reference(e, "url")]);
  });
  for (int node = 0; node < nodes.size(); ++node)
    if (nodes.unfold(node) > most)
      nodes.fail(node, "instances more than " + std::to_string(static_cast<int>(most / 1e6)) + " MB");
}

/// Parameters of an effect name others: a texture its sampler, that its surface, that its image.
void check_effect(const Element& effect, const std::string& name) {
  References parameters(name);
  std::map<std::string, std::vector<int>> called;
  std::vector<const Element*> found;
  for_each_element(effect.FirstChildElement(), [&](const Element& e) {
    if (!is(e, "newparam")) return;
    found.push_back(&e);
    const std::string sid = attribute(e, "sid");
    called[sid].push_back(parameters.add(e, "parameter '" + sid + "'", 0));
  });
  for (std::size_t k = 0; k < found.size(); ++k)
    for_each_element(found[k]->FirstChildElement(), [&](const Element& e) {
      for (const std::string& other : {text_of(e), reference(e, "url")})
        if (const auto used = called.find(other); used != called.end() && !other.empty())
          for (int parameter : used->second) parameters.use(static_cast<int>(k), parameter);
    });
  for (int k = 0; k < parameters.size(); ++k) parameters.unfold(k);
}

}  // namespace

namespace {

template <class T>
bool is_number(std::string_view word) {
  T x;
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  return error == std::errc{} && end == word.data() + word.size();
}

/// Assimp takes what is no number for a zero, without end.
void check_numbers(const Element& e, const std::string& name) {
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* list) { return is(e, list); });
  };
  const bool whole = any({"p", "v", "h", "vcount", "int_array"});
  if (!whole && !any({"float_array", "matrix", "translate", "rotate", "scale", "lookat", "skew"})) return;
  constexpr std::string_view spaces = " \t\r\n";
  const std::string text = text_of(e);
  const std::string_view all = text;
  for (std::size_t at = all.find_first_not_of(spaces); at != all.npos; at = all.find_first_not_of(spaces, at)) {
    const std::size_t end = std::min(all.find_first_of(spaces, at), all.size());
    const std::string_view word = all.substr(at, end - at);
    if (whole ? !is_number<std::int64_t>(word) : !is_number<double>(word))
      throw InvalidInput(name + ":" + std::to_string(e.GetLineNum()) + ": <" + e.Name() + "> is not made of " +
                         (whole ? "whole " : "") + "numbers");
    at = end;
  }
}

}  // namespace

void check_collada(const std::string& text, const std::string& name, double most) {
  const auto document = parse_xml(text, name);
  const Element& root = *document->RootElement();
  for_each_element(&root, [&](const Element& e) { check_numbers(e, name); });
  for_each_element(&root, [&](const Element& e) {  // readers make room for as many as are claimed
    for (const char* claim : {"count", "stride"})
      if (e.DoubleAttribute(claim, 0) > static_cast<double>(text.size()))
        throw InvalidInput(name + ":" + std::to_string(e.GetLineNum()) + ": <" + e.Name() + "> claims a " + claim +
                           " of " + attribute(e, claim) + ", the file has " + std::to_string(text.size()) + " bytes");
  });
  check_nodes(root, name, most);
  for_each_element(&root, [&](const Element& e) {
    if (is(e, "effect")) check_effect(e, name);
  });
}

}  // namespace tribo
