// tribo list KIND: what there is to choose from.
#include <algorithm>
#include <cstdio>

#include "base/names.hpp"
#include "common.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/stepper.hpp"

namespace tribo::app {
namespace {

struct Item {
  std::string name, summary;
  Json more = Json::object();  ///< what the kind has beside
};

std::vector<Item> scene_items() {
  std::vector<Item> items;
  for (const SceneEntry& s : known_scenes()) items.push_back({s.name, s.summary, {{"path", s.path}}});
  return items;
}

std::vector<Item> stepper_items() {
  std::vector<Item> items;
  for (const StepperEntry& s : steppers()) items.push_back({s.name, s.summary});
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
    items.push_back({s.name, s.summary, {{"models", models}, {"rows", s.rows}}});
  }
  return items;
}

std::vector<Item> controller_items() {
  std::vector<Item> items = {{"none", "joints move freely"}};
  for (const ControllerEntry& c : controllers()) items.push_back({c.name, c.summary});
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

struct Kind {
  const char* name;
  std::vector<Item> (*items)();
};
constexpr Kind kinds[] = {
    {"scenes", scene_items},    {"steppers", stepper_items},       {"contact-models", contact_model_items},
    {"solvers", solver_items},  {"controllers", controller_items}, {"robots", robot_items},
    {"features", feature_items}};

int list(const std::string& name, bool json) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds) known.emplace_back(kind.name);
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) throw InvalidInput(unknown_name("kind", name, known));
  const std::vector<Item> items = kinds[found - known.begin()].items();
  if (json) {
    Json all = Json::array();
    for (const Item& item : items) {
      Json one = {{"name", item.name}, {"summary", item.summary}};
      one.update(item.more);
      all.push_back(one);
    }
    print_json({{name, all}});
    return done;
  }
  std::size_t width = 0;
  for (const Item& item : items) width = std::max(width, item.name.size());
  for (const Item& item : items) {
    std::string models;
    if (item.more.contains("models")) {
      for (const Json& m : item.more["models"]) models += (models.empty() ? " [" : ", ") + m.get<std::string>();
      models += "]";
    }
    if (item.more.contains("used")) {
      for (const Json& s : item.more["used"]) models += (models.empty() ? " [used by " : ", ") + s.get<std::string>();
      models += models.empty() ? " [refused by all]" : "]";
    }
    std::printf("%-*s  %s%s\n", static_cast<int>(width), item.name.c_str(), item.summary.c_str(), models.c_str());
  }
  return done;
}

int page(const std::string& name) {
  if (name != "features") throw InvalidInput("--page belongs to `tribo list features`");
  std::fputs(feature_page().c_str(), stdout);
  return done;
}

}  // namespace

void add_list(CommandLine& command, Action& action) {
  struct Options {
    std::string kind;
    bool json = false, page = false;
  };
  auto options = std::make_shared<Options>();
  command
      .add_option("KIND", options->kind, "scenes, steppers, contact-models, solvers, controllers, robots or features")
      ->required();
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_flag("--page", options->page, "features: the page docs/features.md");
  command.callback([options, &action] {
    action = [options] { return options->page ? page(options->kind) : list(options->kind, options->json); };
  });
}

}  // namespace tribo::app
