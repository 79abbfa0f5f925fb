// One set of rules for names, and what a push makes of them.
#include "base/names.hpp"

#include <doctest/doctest.h>

#include "base/legible.hpp"
#include "tribo/robot.hpp"
#include "tribo/scene.hpp"
#include "unit/scratch_folder.hpp"

using namespace tribo;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Model robots(const std::vector<std::string>& names) {
  ModelBuilder builder;
  const int material = builder.add_material({});
  for (const std::string& name : names) {
    RobotOptions options;
    options.model = "solo12";
    options.name = name;
    add_robot(builder, options);
  }
  builder.add_object("box", ShapeKind::Box, {0.1, 0.1, 0.1}, 1, material);
  KinematicBody lift;
  lift.name = "lift";
  builder.add_kinematic_body(lift);
  return builder.build();
}

}  // namespace

TEST_CASE("names: the full name always, its end where one alone ends so, both listed where not") {
  const Model one = robots({"solo"}), two = robots({"left", "right"});
  for (const char* name : {"FL_FOOT", "solo/FL_FOOT"}) {
    CHECK(one.frames[at(one.frame(name))].name == "solo/FL_FOOT");
    CHECK(one.place(name).frame);
  }
  CHECK(two.frames[at(two.frame("right/FL_FOOT"))].name == "right/FL_FOOT");
  const std::string both = "'FL_FOOT' could be left/FL_FOOT, right/FL_FOOT: say which";
  CHECK(refusal([&] { two.frame("FL_FOOT"); }) == both);
  CHECK(refusal([&] { two.place("FL_FOOT"); }) == both);
  CHECK(one.body("FL_HFE") == one.body("solo/FL_HFE"));
  CHECK(has(refusal([&] { two.body("FL_HFE"); }), "left/FL_HFE, right/FL_HFE: say which"));
  CHECK(one.geometries[at(one.geometry("FL_FOOT"))].name == "solo/FL_FOOT");
  CHECK(has(refusal([&] { two.geometry("FL_FOOT"); }), both));
  CHECK(one.body("lift") == kinematic_body(0));
  // A part of a name is no name; the nearest is found by its end too.
  CHECK(has(refusal([&] { one.frame("FOOT"); }), "unknown frame 'FOOT'"));
  CHECK(has(refusal([&] { one.frame("FL_FOT"); }), "did you mean 'solo/FL_FOOT'?"));
  CHECK(has(refusal([&] { one.frame(""); }), "unknown frame ''"));
  CHECK(has(refusal([&] { one.frame("/FL_FOOT"); }), "unknown frame"));
}

TEST_CASE("names: a robot or an object comes before a body, a body before a frame") {
  const Model model = robots({"left", "right"});
  CHECK(model.place("right").body == model.members[1].first_body);
  CHECK_FALSE(model.place("right").frame);
  CHECK(model.place("box").body == model.members[2].first_body);
  // A joint moves a body, and is a frame of the file as well: the body is meant.
  const Place knee = model.place("left/FL_KFE");
  CHECK_FALSE(knee.frame);
  CHECK(knee.body == model.body("left/FL_KFE"));
}

// What a star stands for is found in time that does not double with each star.
TEST_CASE("names: patterns") {
  const std::string long_name(60, 'a');
  std::string stars;
  for (int k = 0; k < 20; ++k) stars += "*a";
  CHECK(matches_name((stars + "*").c_str(), long_name.c_str()));
  CHECK_FALSE(matches_name((stars + "b").c_str(), long_name.c_str()));
  for (const auto& [pattern, name, matches] : {std::tuple{"", "", true},
                                               {"*", "", true},
                                               {"**", "a", true},
                                               {"", "a", false},
                                               {"a", "", false},
                                               {"a*", "a", true},
                                               {"*_knee", "left_knee", true},
                                               {"*_knee", "left_knees", false},
                                               {"l*k*e", "left_knee", true},
                                               {"*aab", "aaab", true},
                                               {"a*b*c", "abcb", false},
                                               {"*ab*ab", "abab", true},
                                               {"*ab*ab", "aab", false},
                                               {"left", "left_knee", false}})
    CHECK(matches_name(pattern, name) == matches);
}

// A name goes to terminals, files and Python.
TEST_CASE("names: text of others is shown letter by letter, and names that cannot be are refused") {
  CHECK(legible("h\u00fcfte \u819d \U0001F9BF\n\t") == "h\u00fcfte \u819d \U0001F9BF\n\t");
  CHECK(legible("a\x1b[2J\x07\x7f\r") == "a\\x1b[2J\\x07\\x7f\\x0d");
  CHECK(legible("\xc2\x9b") == "\\xc2\\x9b");  // the other form of ESC [
  for (const std::string broken :
       {"\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    CHECK(legible(broken).size() == 4 * broken.size());
    CHECK_THROWS_AS(check_name("link", broken), InvalidInput);
  }
  CHECK_NOTHROW(check_name("link", "linke h\u00fcfte"));
  for (const std::string& name :
       {std::string("a\nb"), std::string("\x1b[2J"), std::string(501, 'a'), std::string(1, '\0')}) {
    CHECK_THROWS_AS(check_name("link", name), InvalidInput);
    ModelBuilder builder;
    CHECK_THROWS_AS(builder.add_object(name, ShapeKind::Sphere, {0.1, 0, 0}, 1, builder.add_material({})),
                    InvalidInput);
  }
}

TEST_CASE("push: on a robot, a body or a frame, at a point of it or where nothing is said") {
  const Model model = robots({"left", "right"});
  PushRequest asked{.where = "right", .force = Vec3(1, 2, 3), .duration = 0.5};
  Push push = make_push(model, asked);
  const int base = model.members[1].first_body;
  CHECK(push.body == base);
  CHECK(push.point == model.bodies[at(base)].inertia.com);
  CHECK(push.force_end == push.force);
  CHECK(push.torque == Vec3::Zero());
  CHECK(push.start == 0);
  asked.point = Vec3(0.1, 0.2, 0.3);  // in the frame of the body, not from its centre of mass
  CHECK(make_push(model, asked).point == *asked.point);
  asked.where = "left/FL_FOOT";
  const Frame& foot = model.frames[at(model.frame("left/FL_FOOT"))];
  push = make_push(model, asked);
  CHECK(push.body == foot.body);
  CHECK(push.point == foot.X_BF * *asked.point);
  asked.point.reset();
  CHECK(make_push(model, asked).point == foot.X_BF.p);
  asked.force.reset();
  asked.torque = Vec3(0, 0, 4);
  asked.torque_end = Vec3(0, 0, 8);
  asked.force_end = Vec3(5, 0, 0);
  push = make_push(model, asked);
  CHECK(push.force == Vec3::Zero());
  CHECK(push.force_end == Vec3(5, 0, 0));
  CHECK(push.torque_end == Vec3(0, 0, 8));
}

TEST_CASE("push: what makes no sense is refused by name") {
  const Model model = robots({"left", "right"});
  const PushRequest good{.where = "left", .force = Vec3(1, 0, 0), .duration = 1};
  const auto refused = [&](auto&& change) {
    PushRequest asked = good;
    change(asked);
    return refusal([&] { make_push(model, asked); });
  };
  CHECK(refused([](PushRequest&) {}) == "");
  CHECK(has(refused([](PushRequest& p) { p.where = "FL_FOOT"; }), "left/FL_FOOT, right/FL_FOOT"));
  CHECK(has(refused([](PushRequest& p) { p.where = "lef"; }), "did you mean 'left'"));
  CHECK(has(refused([](PushRequest& p) { p.where = "lift"; }), "kinematic"));
  CHECK(has(refused([](PushRequest& p) { p.force.reset(); }), "'force' [N] or 'torque' [N m]"));
  CHECK(has(refused([](PushRequest& p) { p.force->x() = NAN; }), "the force of a push is not finite"));
  CHECK(has(refused([](PushRequest& p) { p.torque_end = Vec3(INFINITY, 0, 0); }), "torque_end"));
  CHECK(has(refused([](PushRequest& p) { p.start = NAN; }), "starts at nan s"));
  CHECK(has(refused([](PushRequest& p) { p.duration = 0; }), "lasts 0 s"));
  CHECK(has(refused([](PushRequest& p) { p.duration = INFINITY; }), "lasts inf s"));
}

TEST_CASE("push: a scene says the same in TOML, with the place of what is wrong") {
  const std::string world =
      "[[robot]]\nname = \"left\"\nmodel = \"solo12\"\n[[robot]]\nname = \"right\"\nmodel = \"solo12\"\nposition = [2, "
      "0, 0.3]\n";
  const Scene scene = parse_scene(world +
                                      "[[push]]\nbody = \"right/FL_FOOT\"\npoint = [0.1, 0, 0]\nforce = [1, 2, 3]\n"
                                      "torque_end = [0, 0, 1]\nstart = 0.5\nduration = 0.25\n",
                                  "two");
  REQUIRE(scene.pushes.size() == 1);
  const Push made = make_push(*scene.model, {.where = "right/FL_FOOT",
                                             .point = Vec3(0.1, 0, 0),
                                             .force = Vec3(1, 2, 3),
                                             .torque_end = Vec3(0, 0, 1),
                                             .start = 0.5,
                                             .duration = 0.25});
  const Push& read = scene.pushes[0];
  CHECK(read.body == made.body);
  for (auto field : {&Push::point, &Push::force, &Push::force_end, &Push::torque, &Push::torque_end})
    CHECK(read.*field == made.*field);
  CHECK(read.start == made.start);
  CHECK(read.duration == made.duration);
  const std::string said =
      refusal([&] { parse_scene(world + "[[push]]\nbody = \"FL_FOOT\"\nforce = [1, 0, 0]\nduration = 1\n", "two"); });
  CHECK(has(said, "two:9: "));
  CHECK(has(said, "left/FL_FOOT, right/FL_FOOT: say which"));
}
