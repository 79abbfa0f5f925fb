#include "readers/urdf_inspect.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/names.hpp"
#include "linalg/decompositions.hpp"
#include "readers/robots.hpp"
#include "readers/xml_file.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

using tinyxml2::XMLElement;

constexpr double largest = 1e9;  // no length, mass or torque of a robot is beyond it
constexpr std::size_t most_errors = 100;
constexpr std::size_t most_links = 5000;
constexpr int most_levels = 1000;  // the parsers that follow call themselves for each link on a link

class Inspection {
 public:
  Inspection(const std::string& file, const MeshSearch& search, bool meshes)
      : file_(file), search_(search), meshes_(meshes) {}

  UrdfFindings run(const XMLElement& root) {
    if (std::string(root.Name()) != "robot") {
      error(root, "the first element of a URDF is <robot>, this is <" + std::string(root.Name()) + ">");
      return found_;
    }
    if (const XMLElement* macro = first_macro(root)) {
      error(*macro, "<" + std::string(macro->Name()) + "> " + xacro_refusal(file_));
      return found_;
    }
    for (const XMLElement* e = root.FirstChildElement("link"); e; e = e->NextSiblingElement("link")) link(*e);
    for (const XMLElement* e = root.FirstChildElement("joint"); e; e = e->NextSiblingElement("joint")) joint(*e);
    if (links_.empty()) error(root, "has no <link>");
    if (links_.size() > most_links) {
      error(root,
            "has " + std::to_string(links_.size()) + " links; at most " + std::to_string(most_links) + " are read");
      return found_;
    }
    tree(root);
    points();
    mimics();
    return found_;
  }

 private:
  static const XMLElement* first_macro(const XMLElement& root) {
    const XMLElement* found = nullptr;
    for_each_element(root.FirstChildElement(), [&](const XMLElement& e) {
      if (found == nullptr && std::string(e.Name()).rfind("xacro:", 0) == 0) found = &e;
    });
    return found;
  }

  struct Joint {
    const XMLElement* element = nullptr;
    std::string parent, child, mimic;
    bool fixed = false;
  };

  void error(const XMLElement& e, const std::string& text) {
    if (!enough()) found_.errors.push_back(told(e, text));
  }
  /// A file that is wrong in so many places is not told of more.
  bool enough() const { return found_.errors.size() >= most_errors; }
  void warn(const XMLElement& e, const std::string& text) { found_.warnings.push_back(told(e, text)); }
  std::string told(const XMLElement& e, const std::string& text) const {
    return file_ + ":" + std::to_string(e.GetLineNum()) + ": " + (owner_.empty() ? "" : owner_ + ": ") + text;
  }

  // Numbers of an attribute; nothing, with a word, where they are not `count` finite ones.
  // Numbers of a <limit> may be as large as they like: that is how files leave a joint open.
  std::optional<std::vector<double>> numbers(const XMLElement& e, const char* attribute, std::size_t count) {
    const char* text = e.Attribute(attribute);
    if (text == nullptr) return std::nullopt;
    const std::string what = "<" + std::string(e.Name()) + " " + attribute + "=\"" + text + "\">";
    std::vector<double> list;
    const char *at = text, *end = text + std::strlen(text);
    while (true) {
      while (at < end && (std::isspace(static_cast<unsigned char>(*at)) || *at == '+')) ++at;
      if (at == end) break;
      double x = 0;
      const auto [stop, failed] = std::from_chars(at, end, x);
      if (failed == std::errc::result_out_of_range) {
        error(e, what + ": a number is too large");
        return std::nullopt;
      }
      if (failed != std::errc{}) {
        error(e, what + ": is not made of numbers");
        return std::nullopt;
      }
      list.push_back(x);
      at = stop;
    }
    if (list.size() != count) {
      error(e, what + ": has " + std::to_string(list.size()) + " numbers, must have " + std::to_string(count));
      return std::nullopt;
    }
    for (double x : list) {
      if (!std::isfinite(x)) {
        error(e, what + ": is not finite");
        return std::nullopt;
      }
      if (std::abs(x) > largest && std::string(e.Name()) != "limit") {
        error(e, what + ": " + shown(x) + " is beyond 1e9, which no robot is");
        return std::nullopt;
      }
    }
    return list;
  }

  std::optional<double> number(const XMLElement& e, const char* attribute) {
    const auto list = numbers(e, attribute, 1);
    return list ? std::optional((*list)[0]) : std::nullopt;
  }

  void not_negative(const XMLElement& e, const char* attribute) {
    const auto x = number(e, attribute);
    if (x && *x < 0) error(e, "<" + std::string(e.Name()) + " " + attribute + "> is negative: " + shown(*x));
  }

  void origin(const XMLElement& e) {
    const XMLElement* o = e.FirstChildElement("origin");
    if (o == nullptr) return;
    numbers(*o, "xyz", 3);
    numbers(*o, "rpy", 3);
  }

  void misspelt(const XMLElement& e, const std::vector<std::string>& known) {
    for (const XMLElement* c = e.FirstChildElement(); c; c = c->NextSiblingElement())
      if (std::find(known.begin(), known.end(), c->Name()) == known.end()) {
        const std::string near = nearest_name(c->Name(), known);
        warn(*c, "element '" + std::string(c->Name()) + "' is not read" +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
      }
  }

  void inertial(const XMLElement& e) {
    origin(e);
    const XMLElement* mass = e.FirstChildElement("mass");
    if (mass == nullptr) return error(e, "<inertial> has no <mass>");
    const auto m = number(*mass, "value");
    if (mass->Attribute("value") == nullptr) error(*mass, "<mass> has no value");
    if (m && *m < 0) error(*mass, "mass is negative: " + shown(*m) + " kg");
    if (m) mass_[name_] = *m;
    const XMLElement* I = e.FirstChildElement("inertia");
    if (I == nullptr) return error(e, "<inertial> has no <inertia>");
    Mat3 tensor = Mat3::Zero();
    const char* names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    const int row[] = {0, 0, 0, 1, 1, 2}, column[] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; ++k) {
      const auto x = number(*I, names[k]);
      if (!x && I->Attribute(names[k]) != nullptr) return;  // told already
      tensor(row[k], column[k]) = tensor(column[k], row[k]) = x.value_or(0);
    }
    const double scale = tensor.cwiseAbs().maxCoeff();
    for (int k = 0; k < 3; ++k)
      if (tensor(k, k) < -1e-9 * scale - 1e-12)
        return error(*I, "moment of inertia is negative: " + shown(tensor(k, k)) + " kg m^2");
    const Vec3 p = principal_axes(tensor).values;
    const double size = p.cwiseAbs().maxCoeff();
    if (m && *m > 0 && size < 1e-12 * *m) {  // [m^2]: a radius of a micrometre
      points_[name_] = I;
      return;
    }
    if (p[0] < -1e-6 * size)
      warn(*I, "inertia is not positive: its principal moments are " + shown(p[0]) + ", " + shown(p[1]) + ", " +
                   shown(p[2]) + " kg m^2");
    else if (p[2] > (p[0] + p[1]) * (1 + 1e-3) + 1e-12)
      warn(*I, "inertia breaks the triangle inequality: the largest principal moment " + shown(p[2]) +
                   " is above the sum of the others, " + shown(p[0] + p[1]) + " kg m^2");
  }

  void collision(const XMLElement& e) {
    origin(e);
    const XMLElement* geometry = e.FirstChildElement("geometry");
    const XMLElement* shape = geometry != nullptr ? geometry->FirstChildElement() : nullptr;
    if (shape == nullptr) return error(e, "<collision> has no shape");
    const std::string kind = shape->Name();
    auto positive = [&](const char* attribute, std::size_t n) {
      if (shape->Attribute(attribute) == nullptr) return error(*shape, "<" + kind + "> has no " + attribute);
      const auto list = numbers(*shape, attribute, n);
      if (list && *std::min_element(list->begin(), list->end()) <= 0)
        error(*shape, "<" + kind + " " + attribute + "> must be > 0");
    };
    if (kind == "box") return positive("size", 3);
    if (kind == "sphere") return positive("radius", 1);
    if (kind == "cylinder" || kind == "capsule") {
      positive("radius", 1);
      return positive("length", 1);
    }
    if (kind != "mesh")
      return error(*shape, unknown_name("shape", kind, {"box", "sphere", "cylinder", "capsule", "mesh"}));
    const auto scale = numbers(*shape, "scale", 3);
    if (scale && std::any_of(scale->begin(), scale->end(), [](double x) { return x == 0; }))
      error(*shape, "<mesh scale> has a zero");
    const char* name = shape->Attribute("filename");
    if (name == nullptr) return error(*shape, "<mesh> has no filename");
    if (!meshes_) return;
    try {
      find_mesh(name, search_);
    } catch (const InvalidInput& missing) {
      error(*shape, missing.what());
    }
  }

  void link(const XMLElement& e) {
    name_ = e.Attribute("name") != nullptr ? e.Attribute("name") : "";
    owner_ = "link '" + name_ + "'";
    if (name_.empty()) error(e, "<link> has no name");
    if (!links_.insert({name_, &e}).second) error(e, "there are two links of this name");
    misspelt(e, {"inertial", "visual", "collision", "sensor", "self_collision_checking", "contact"});
    if (const XMLElement* i = e.FirstChildElement("inertial")) inertial(*i);
    for (const XMLElement* c = e.FirstChildElement("collision"); c; c = c->NextSiblingElement("collision"))
      collision(*c);
    owner_.clear();
  }

  void limits(const XMLElement& e, const std::string& type) {
    const XMLElement* limit = e.FirstChildElement("limit");
    if (limit == nullptr) {
      if (type == "revolute" || type == "prismatic") error(e, "a " + type + " joint needs <limit>");
      return;
    }
    const auto lower = number(*limit, "lower"), upper = number(*limit, "upper");
    if (lower && upper && *lower > *upper)
      error(*limit, "limits are reversed: lower " + shown(*lower) + " is above upper " + shown(*upper));
    not_negative(*limit, "effort");
    not_negative(*limit, "velocity");
  }

  void joint(const XMLElement& e) {
    Joint j;
    j.element = &e;
    const std::string name = e.Attribute("name") != nullptr ? e.Attribute("name") : "";
    const std::string type = e.Attribute("type") != nullptr ? e.Attribute("type") : "";
    owner_ = "joint '" + name + "'";
    if (name.empty()) error(e, "<joint> has no name");
    const std::vector<std::string> types{"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
    if (std::find(types.begin(), types.end(), type) == types.end())
      error(e, unknown_name("type of joint", type, types));
    if (type == "floating" || type == "planar") error(e, "a " + type + " joint is not supported");
    misspelt(e,
             {"origin", "axis", "parent", "child", "limit", "dynamics", "mimic", "calibration", "safety_controller"});
    auto end = [&](const char* tag) {
      const XMLElement* c = e.FirstChildElement(tag);
      const char* text = c != nullptr ? c->Attribute("link") : nullptr;
      if (text == nullptr) error(e, "has no <" + std::string(tag) + " link=…>");
      if (text != nullptr && !links_.count(text) && !enough()) error(*c, unknown_name("link", text, link_names()));
      return std::string(text != nullptr ? text : "");
    };
    j.parent = end("parent");
    j.child = end("child");
    j.fixed = type == "fixed";
    origin(e);
    if (const XMLElement* a = e.FirstChildElement("axis")) {
      const auto axis = numbers(*a, "xyz", 3);
      if (axis && !j.fixed && std::hypot((*axis)[0], (*axis)[1], (*axis)[2]) < 1e-9) error(*a, "axis must not be zero");
    }
    if (!j.fixed) limits(e, type);
    if (const XMLElement* d = e.FirstChildElement("dynamics")) {
      not_negative(*d, "damping");
      not_negative(*d, "friction");
    }
    if (const XMLElement* m = e.FirstChildElement("mimic")) {
      j.mimic = m->Attribute("joint") != nullptr ? m->Attribute("joint") : "";
      number(*m, "multiplier");
      number(*m, "offset");
    }
    if (!joints_.insert({name, j}).second) error(e, "there are two joints of this name");
    owner_.clear();
  }

  std::vector<std::string> link_names() const {
    std::vector<std::string> names;
    for (const auto& [name, e] : links_) names.push_back(name);
    return names;
  }

  // Every link but one hangs on one joint, and following them down from there finds all.
  void tree(const XMLElement& root) {
    std::map<std::string, const Joint*> above;
    std::map<std::string, std::vector<const std::string*>> below;
    for (const auto& [name, j] : joints_) {
      if (!above.insert({j.child, &j}).second)
        error(*j.element, "link '" + j.child + "' hangs on two joints: loops are not part of URDF");
      else
        below[j.parent].push_back(&j.child);
    }
    std::vector<std::pair<const std::string*, int>> order;  // parents first, each with its level
    for (const auto& [name, e] : links_)
      if (!above.count(name)) order.emplace_back(&name, 1);
    if (order.size() > 1)
      error(root, "has several roots, '" + *order[1].first + "' is one of them: links that hang on no joint");
    if (order.empty() && !links_.empty()) error(root, "has no root: the joints make a cycle");
    for (const auto& [child, j] : above)  // what hangs on a link that is not there was told already
      if (!links_.count(j->parent)) order.emplace_back(&child, 1);
    std::set<std::string> reached;
    for (std::size_t k = 0; k < order.size(); ++k) {  // it grows
      const auto [name, level] = order[k];
      if (level > most_levels)
        return error(root, "link '" + *name + "' hangs on more than " + std::to_string(most_levels) + " others");
      if (!reached.insert(*name).second) continue;
      for (const std::string* child : below[*name]) order.emplace_back(child, level + 1);
    }
    for (const auto& [name, e] : links_)
      if (!reached.count(name)) return error(*e, "link '" + name + "' hangs on itself: the joints make a cycle");
    if (!order.empty()) weigh_root(above, order);
    massless(above, order);
  }

  // Parents stand before their children.
  void weigh_root(const std::map<std::string, const Joint*>& above,
                  const std::vector<std::pair<const std::string*, int>>& order) {
    found_.root = *order.front().first;
    std::set<std::string> fixed{found_.root};
    found_.root_mass = mass_[found_.root];
    for (const auto& [name, level] : order)
      if (const auto j = above.find(*name); j != above.end() && j->second->fixed && fixed.count(j->second->parent)) {
        fixed.insert(*name);
        found_.root_mass += mass_[*name];
      }
  }

  // A point fixed to a link is a load on it; one that a joint moves is most likely a mistake.
  void points() {
    for (const auto& [name, j] : joints_) {
      const auto point = points_.find(j.child);
      if (j.fixed || point == points_.end()) continue;
      owner_ = "link '" + j.child + "'";
      warn(*point->second, "has a mass of " + shown(mass_[j.child]) + " kg and no moments of inertia: it is a point");
      owner_.clear();
    }
  }

  // A joint needs something to move: mass on its link or beyond.
  void massless(const std::map<std::string, const Joint*>& above,
                const std::vector<std::pair<const std::string*, int>>& order) {
    std::map<std::string, double> carried = mass_;
    for (auto link = order.rbegin(); link != order.rend(); ++link)
      if (const auto j = above.find(*link->first); j != above.end())
        carried[j->second->parent] += carried[*link->first];
    for (const auto& [name, j] : joints_)
      if (!j.fixed && !(carried[j.child] > 0))
        error(*j.element,
              "joint '" + name + "' moves bodies of no mass at all; give the link a mass or make the joint fixed");
  }

  void mimics() {
    std::vector<std::string> names;
    for (const auto& [name, j] : joints_) names.push_back(name);
    std::map<std::string, int> met;  // by the search of this number
    int number = 0;
    for (const auto& [name, j] : joints_) {
      if (j.mimic.empty() || j.fixed) continue;
      if (!joints_.count(j.mimic)) {
        if (enough()) return;
        error(*j.element, "joint '" + name + "' mimics an " + unknown_name("joint", j.mimic, names));
        continue;
      }
      int& own = met[name];
      if (own != 0) continue;
      own = ++number;
      const std::string* at = &j.mimic;  // on until one that was met, or that moves on its own
      for (auto next = joints_.find(*at); next != joints_.end() && !next->second.mimic.empty();
           next = joints_.find(*at)) {
        int& seen = met[*at];
        if (seen == number) error(*j.element, "joint '" + name + "' mimics itself, by way of others");
        if (seen != 0) break;
        seen = number;
        at = &next->second.mimic;
      }
    }
  }

  std::string file_;
  const MeshSearch& search_;
  bool meshes_;
  UrdfFindings found_;
  std::string owner_, name_;
  std::map<std::string, const XMLElement*> links_;
  std::map<std::string, Joint> joints_;
  std::map<std::string, const XMLElement*> points_;  ///< inertias of links that are points
  std::map<std::string, double> mass_;
};

}  // namespace

UrdfFindings inspect_urdf(const tinyxml2::XMLDocument& document, const std::string& file, const MeshSearch& search,
                          bool meshes) {
  return Inspection(file, search, meshes).run(*document.RootElement());
}

}  // namespace tribo
