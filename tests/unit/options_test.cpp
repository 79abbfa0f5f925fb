// Options and the tables of their fields: what they read, refuse and say.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tribo/compliant.hpp"
#include "tribo/momentum.hpp"
#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"
#include "tribo/solver_options.hpp"

using namespace tribo;

namespace {

const std::string cube = "[[object]]\nname = \"cube\"\nsize = 0.2\nmass = 1.0\n";

std::string refusal(const std::string& text) {
  try {
    parse_scene(cube + text, "x.toml");
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

struct Plain {
  double length = 2;
  int count = 3;
  bool flag = true;
  std::string word = "a";
};

FieldTable<Plain> plain() {
  FieldTable<Plain> t;
  t.add("length", &Plain::length, positive(10), "m", "a length").formerly = {"size"};
  t.add("count", &Plain::count, one_of({3, 5}), "", "a count");
  t.add("flag", &Plain::flag, "a flag");
  t.add("word", &Plain::word, "a word");
  return t;
}

}  // namespace

TEST_CASE("options of a family: the base is set for any of its members, those of another entry are refused") {
  Options options;
  options.as<CompliantOptions>().bilateral = true;
  CHECK(options.taken<ExponentialOptions>("x").bilateral);  // the base alone, the rest by default
  options.as<ExponentialOptions>().midpoint = true;         // now those of exponential
  CHECK(options.as<CompliantOptions>().bilateral);
  CHECK(options.find<CompliantOptions>()->bilateral);
  CHECK(options.find<ImplicitEulerOptions>() == nullptr);
  CHECK_THROWS_AS(options.as<ImplicitEulerOptions>(), InvalidInput);
  CHECK_THROWS_AS(options.as<RigidOptions>(), InvalidInput);
  CHECK_THROWS_WITH_AS(options.taken<LemkeOptions>("solver 'lemke'"), doctest::Contains("solver 'lemke'"),
                       InvalidInput);
  Options copy = options;
  copy.as<CompliantOptions>().bilateral = false;
  CHECK(options.as<ExponentialOptions>().bilateral);  // copies are deep
}

TEST_CASE("a table of fields: values, bounds, defaults and words") {
  const OptionTable table = plain();
  Options options;
  table.set(options, "length", 5.0, "thing 'x'");
  table.set(options, "count", 5, "thing 'x'");
  table.set(options, "flag", false, "thing 'x'");
  const Plain& set = options.as<Plain>();
  CHECK(set.length == 5);
  CHECK(set.count == 5);
  CHECK(!set.flag);
  CHECK(set.word == "a");
  for (const auto& [name, value, says] :
       {std::tuple<std::string, OptionValue, std::string>{"length", 0.0, "length = 0, must be finite and > 0"},
        {"length", std::numeric_limits<double>::quiet_NaN(), "length = nan"},
        {"length", std::numeric_limits<double>::infinity(), "length = inf"},
        {"count", 4, "count = 4, must be 3 or 5"},
        {"flag", 1, "flag = 1, must be true or false"},
        {"lenght", 1.0, "did you mean 'length'"},
        {"size", 1.0, "'size' is now called 'length'"}})
    CHECK_THROWS_WITH_AS(table.set(options, name, value, "thing 'x'"), doctest::Contains(says.c_str()), InvalidInput);
  options.as<Plain>().count = 4;  // by the struct, past the table
  CHECK_THROWS_WITH_AS(table.check(options, "thing 'x'"), doctest::Contains("thing 'x': count = 4"), InvalidInput);
  CHECK(table.find("length")->default_text() == "2");
  CHECK(table.find("length")->allowed() == "a number > 0 and <= 10 [m]");
}

TEST_CASE("every entry: the defaults of its options are within their bounds, and every field has a meaning") {
  auto check = [](const auto& entries, const std::string& kind) {
    for (const auto& entry : entries) {
      CAPTURE(entry.name);
      CHECK_NOTHROW(entry.options.check({}, kind + " '" + entry.name + "'"));
      for (const Field& field : entry.options.fields()) {
        CAPTURE(field.name);
        CHECK(!field.text.empty());
        CHECK(!field.allowed().empty());
      }
    }
  };
  check(steppers(), "stepper");
  check(contact_solvers(), "solver");
  check(contact_laws(), "law");
  check(controllers(), "controller");
}

TEST_CASE("a key of another entry says whose it is; an unknown one has a nearest name") {
  has(refusal("[contact]\nfacets = 8\n"), "x.toml:6: [contact] facets belongs to solver 'lemke', and not to 'newton'");
  has(refusal("[contact]\nline_search = \"exact\"\n"),
      "line_search belongs to solvers 'primal-newton-mujoco', 'primal-newton-sap'");
  has(refusal("[stepper]\nmidpoint = true\n"), "midpoint belongs to stepper 'exponential', and not to 'rigid'");
  has(refusal("[stepper]\nname = \"exponential\"\nmax_newton = 3\n"), "max_newton belongs to stepper 'implicit-euler'");
  has(refusal("[stepper]\nname = \"implicit-euler\"\nexponent = 2\n"), "exponent belongs to law 'hunt-crossley'");
  has(refusal("[stepper]\nname = \"exponential\"\norder = 5\n"), "order belongs to method = \"reduced\"");
  has(refusal("[stepper]\nname = \"exponential\"\nmethod = \"reduced\"\norder = 4\n"),
      "order = 4, must be 1, 2, 3, 5 or 7");
  has(refusal("[stepper]\nname = \"exponential\"\nmidpont = true\n"), "did you mean 'midpoint'");
  has(refusal("[stepper]\nname = \"exponential\"\nlaw = \"hunt-crossley\"\n"), "takes laws of contact that are linear");
  has(refusal("[stepper]\nname = \"runge-kutta\"\nlaw = \"hunt\"\n"), "did you mean 'hunt-crossley'");
  has(refusal("[stepper]\nsmooth = 3\n"), "smooth must be euler, midpoint or runge-kutta, is the number 3");
  has(refusal("[contact]\ntolerance = -1\n"), "tolerance = -1, must be finite and >= 0");
}

TEST_CASE("keys of solvers, steppers and laws reach their options") {
  const Scene lemke =
      parse_scene(cube + "[contact]\nmodel = \"lcp\"\nsolver = \"lemke\"\nfacets = 8\nmargin = 2e-3\n", "x.toml");
  CHECK(lemke.stepper_options.contact.solver_options.find<LemkeOptions>()->facets == 8);
  CHECK(lemke.stepper_options.contact.margin == 2e-3);
  CHECK(lemke.stepper_options.own.empty());
  const Scene law = parse_scene(
      cube + "[stepper]\nname = \"runge-kutta\"\nlaw = \"hunt-crossley\"\nexponent = 2.0\naudit = \"laws\"\n",
      "x.toml");
  const CompliantOptions& own = *law.stepper_options.own.find<CompliantOptions>();
  CHECK(own.law_options.find<HuntCrossleyOptions>()->exponent == 2);
  CHECK(law.stepper_options.audit == AuditLevel::Laws);
  const Scene ramp = parse_scene(cube + "[stepper]\nname = \"momentum\"\nramp = inf\n", "x.toml");
  CHECK(std::isinf(ramp.stepper_options.own.find<MomentumOptions>()->ramp));
}

TEST_CASE("another stepper or solver of a scene begins with its own defaults") {
  Scene scene = parse_scene(cube + "[stepper]\nname = \"exponential\"\nmidpoint = true\n", "x.toml");
  scene.stepper = "rigid";  // past set_stepper: the options are still those of exponential
  CHECK_THROWS_WITH_AS(make_simulation(scene), doctest::Contains("those of another entry"), InvalidInput);
  scene.stepper = "exponential";
  scene.set_stepper("exponential");
  CHECK(scene.stepper_options.own.find<ExponentialOptions>()->midpoint);
  scene.set_stepper("rigid");
  CHECK(scene.stepper_options.own.empty());
  CHECK_NOTHROW(make_simulation(scene));
  CHECK_THROWS_WITH_AS(scene.set_stepper("rgid"), doctest::Contains("did you mean 'rigid'"), InvalidInput);
}

TEST_CASE("what is registered twice, or has no name that a scene can write, is refused") {
  StepperEntry twice = steppers().front();
  twice.name = "rigid";
  CHECK_THROWS_WITH_AS(register_stepper(twice), doctest::Contains("'rigid' already"), InvalidInput);
  CHECK_THROWS_AS(register_contact_law({"Big Name", "", contact_laws().front().make}), InvalidInput);
  CHECK_THROWS_AS(register_controller({"nothing", "has no maker"}), InvalidInput);
}

TEST_CASE("docs/options.md is what `tribo list options --page` prints") {
  std::ifstream file(TRIBO_SCENES "/../docs/options.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == option_page());
}
