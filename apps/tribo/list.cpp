// tribo list KIND: what there is to choose from.
#include <algorithm>
#include <cstdio>

#include "base/names.hpp"
#include "common.hpp"
#include "tribo/contact_law.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/stepper.hpp"

namespace tribo::app {
namespace {

struct Item {
  std::string name, summary;
  Json more = Json::object();  ///< what the kind has beside
  const OptionTable* options = nullptr;
};

std::vector<Item> scene_items() {
  std::vector<Item> items;
  for (const SceneEntry& s : known_scenes()) items.push_back({s.name, s.summary, {{"path", s.path}}});
  return items;
}

std::vector<Item> stepper_items() {
  std::vector<Item> items;
  for (const StepperEntry& s : steppers()) items.push_back({s.name, s.summary, Json::object(), &s.options});
  return items;
}

std::vector<Item> contact_model_items() {
  return {
      {"ncp", "Signorini and Coulomb as they are: the contact opens or presses, friction opposes slip"},
      {"ccp", "cone complementarity: convex; sliding contacts separate at mu times the slip speed"},
      {"lcp", "linear complementarity: the cone is a pyramid along the tangents"},
      {"raisim", "per-contact law of RaiSim: maximum dissipation with the normal velocity held at zero"},
  };
}

std::vector<Item> solver_items() {
  std::vector<Item> items;
  for (const SolverEntry& s : contact_solvers()) {
    Json models = Json::array();
    for (ContactModel m : s.models) models.push_back(to_string(m));
    items.push_back({s.name, s.summary, {{"models", models}, {"rows", s.rows}}, &s.options});
  }
  return items;
}

std::vector<Item> law_items() {
  std::vector<Item> items;
  for (const LawEntry& l : contact_laws()) items.push_back({l.name, l.summary, Json::object(), &l.options});
  return items;
}

std::vector<Item> controller_items() {
  std::vector<Item> items = {{"none", "joints move freely"}};
  for (const ControllerEntry& c : controllers()) items.push_back({c.name, c.summary, Json::object(), &c.options});
  return items;
}

std::vector<Item> robot_items() {
  std::vector<Item> items;
  for (const RobotEntry& r : robots()) {
    items.push_back({r.name, r.summary, {{"urdf", r.urdf}, {"floating", r.floating}}});
  }
  return items;
}

std::vector<Item> feature_items() {
  std::vector<Item> items;
  for (const FeatureEntry& f : features()) {
    Json used = Json::array(), refused = Json::array();
    for (const StepperEntry& s : steppers())
      (std::find(s.uses.begin(), s.uses.end(), f.feature) != s.uses.end() ? used : refused).push_back(s.name);
    items.push_back({f.name, f.summary, {{"used", used}, {"refused", refused}}});
  }
  return items;
}

// What every scene may set, beside what its stepper, solver and controllers have.
std::vector<Item> option_items() {
  return {{"contact", "[contact] of a scene, beside the options of the solver", Json::object(), &contact_options()},
          {"stepper", "[stepper] of a scene, beside the options of the stepper", Json::object(), &stepper_options()}};
}

struct Kind {
  const char* name;
  std::vector<Item> (*items)();
};
constexpr Kind kinds[] = {
    {"scenes", scene_items},   {"steppers", stepper_items},       {"contact-models", contact_model_items},
    {"solvers", solver_items}, {"controllers", controller_items}, {"robots", robot_items},
    {"laws", law_items},       {"options", option_items},         {"features", feature_items}};

Json options_json(const OptionTable& table) {
  Json all = Json::array();
  for (const Field& f : table.fields())
    all.push_back({{"name", f.name},
                   {"unit", f.unit},
                   {"default", f.default_text()},
                   {"allowed", f.allowed()},
                   {"summary", f.text}});
  return all;
}

void print_options(const OptionTable& table) {
  for (const Field& f : table.fields())
    std::printf("    %-20s %s (%s; default %s)\n", f.name.c_str(), f.text.c_str(), f.allowed().c_str(),
                f.default_text().empty() ? "none" : f.default_text().c_str());
}

std::string beside(const Item& item) {
  std::string text;
  if (item.more.contains("models")) {
    for (const Json& m : item.more["models"]) text += (text.empty() ? " [" : ", ") + m.get<std::string>();
    text += "]";
  }
  if (item.more.contains("used")) {
    for (const Json& s : item.more["used"]) text += (text.empty() ? " [used by " : ", ") + s.get<std::string>();
    text += text.empty() ? " [refused by all]" : "]";
  }
  return text;
}

void print_items(const std::vector<Item>& items, bool options) {
  std::size_t width = 0;
  for (const Item& item : items) width = std::max(width, item.name.size());
  for (const Item& item : items) {
    std::printf("%-*s  %s%s\n", static_cast<int>(width), item.name.c_str(), item.summary.c_str(), beside(item).c_str());
    if (options && item.options) print_options(*item.options);
  }
}

Json items_json(const std::vector<Item>& items, bool options) {
  Json all = Json::array();
  for (const Item& item : items) {
    Json one = {{"name", item.name}, {"summary", item.summary}};
    one.update(item.more);
    if (options && item.options) one["options"] = options_json(*item.options);
    all.push_back(one);
  }
  return all;
}

/// Entries of any kind that have options and this name.
std::vector<std::pair<std::string, Item>> entries_named(const std::string& name) {
  std::vector<std::pair<std::string, Item>> found;
  for (const Kind& kind : kinds)
    for (const Item& item : kind.items())
      if (item.name == name && item.options) found.emplace_back(kind.name, item);
  return found;
}

int list(const std::string& name, bool json, bool options) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds) known.emplace_back(kind.name);
  const auto found = std::find(known.begin(), known.end(), name);
  std::vector<std::pair<std::string, std::vector<Item>>> shown;
  if (found != known.end()) {
    shown.emplace_back(name, kinds[found - known.begin()].items());
  } else {
    options = true;
    for (const auto& [kind, item] : entries_named(name)) shown.emplace_back(kind, std::vector<Item>{item});
  }
  if (shown.empty()) {
    for (const Kind& kind : kinds)
      for (const Item& item : kind.items())
        if (item.options) known.push_back(item.name);
    throw InvalidInput(unknown_name("kind or entry", name, known));
  }
  Json all = Json::object();
  for (const auto& [kind, items] : shown) {
    if (json)
      all[kind] = items_json(items, options);
    else
      print_items(items, options);
  }
  if (json) print_json(all);
  return done;
}

int page(const std::string& name) {
  if (name != "features" && name != "options")
    throw InvalidInput("--page belongs to `tribo list features` and `tribo list options`");
  std::fputs((name == "features" ? feature_page() : option_page()).c_str(), stdout);
  return done;
}

}  // namespace

void add_list(CommandLine& command, Action& action) {
  struct ListOptions {
    std::string kind;
    bool json = false, page = false, with_options = false;
  };
  auto options = std::make_shared<ListOptions>();
  command
      .add_option(
          "KIND", options->kind,
          "scenes, steppers, contact-models, solvers, laws, controllers, options, robots or features; or the name of "
          "a stepper, solver, law or controller, whose options are shown")
      ->required();
  command.add_flag("--options", options->with_options, "with the options of each");
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_flag("--page", options->page, "features, options: the page docs/features.md, docs/options.md");
  command.callback([options, &action] {
    action = [options] {
      return options->page ? page(options->kind) : list(options->kind, options->json, options->with_options);
    };
  });
}

}  // namespace tribo::app
