// Robots by name: their table is data, and a scene reads the file of each once.
#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <set>

#include "readers/robots.hpp"
#include "tribo/scene.hpp"
#include "unit/scratch_folder.hpp"

using namespace tribo;

namespace {

/// How often a file was opened since.
class Opened {
 public:
  explicit Opened(const std::string& path) : watch_(inotify_init1(IN_NONBLOCK)) {
    REQUIRE(watch_ >= 0);
    REQUIRE(inotify_add_watch(watch_, path.c_str(), IN_OPEN) >= 0);
  }
  ~Opened() { close(watch_); }
  int count() const {
    alignas(inotify_event) char buffer[4096];
    int opened = 0;
    for (ssize_t n; (n = read(watch_, buffer, sizeof buffer)) > 0;)
      for (const char* p = buffer; p < buffer + n;) {
        const auto* event = reinterpret_cast<const inotify_event*>(p);
        ++opened;
        p += sizeof(inotify_event) + event->len;
      }
    return opened;
  }

 private:
  int watch_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string refused(const std::string& text) {
  return refusal([&] { read_robot_records(text, "table"); });
}

const std::string plain = "[[robot]]\nname = \"r\"\nsummary = \"s\"\nurdf = \"r.urdf\"\n";

}  // namespace

TEST_CASE(
    "robots: a scene reads the file of a robot once, whether its base is free, or fixed and lifted above the ground") {
  for (const char* name : {"solo12", "ur10", "double_pendulum", "allegro"}) {
    CAPTURE(name);
    const Opened urdf(find_robot(name).urdf);
    const Scene scene = parse_scene("[robot]\nmodel = \"" + std::string(name) + "\"\n", "scene");
    CHECK(scene.model->nv > 0);
    CHECK(urdf.count() == 1);
  }
}

TEST_CASE("robots: the table has what it says") {
  std::set<std::string> names;
  for (const RobotRecord& record : robot_records()) {
    CHECK(names.insert(record.entry.name).second);
    CHECK(record.entry.summary != "");
    for (const Foot& foot : record.feet) CHECK_FALSE(foot.points.empty());
  }
  CHECK(names.size() >= 31);
  const auto record = [](const char* name) { return *find_robot(name).record; };
  CHECK(record("talos").feet.size() == 2);
  CHECK(record("talos").feet[1].points[3] == Vec3(-0.109, -0.062, 0));
  CHECK(record("go2").feet[0].radius == 0.022);
  CHECK(record("solo12").feet[3].frame == "HR_FOOT");
  CHECK(record("g1").walks);
  CHECK(record("g1").feet.empty());
  CHECK(record("g1").angles.size() == 10);
  CHECK_FALSE(record("ur10").entry.floating);
  CHECK_FALSE(record("ur10").walks);
  CHECK(record("double_pendulum").height == 0.5);
}

TEST_CASE("robots: what the table may not say is refused with its line") {
  CHECK(refused(plain) == "");
  CHECK(has(refused(plain + plain), "table:6: "));
  CHECK(has(refused(plain + plain), "robot 'r' is given twice"));
  CHECK(has(refused("[[robot]]\nname = \"r\"\nurdf = \"r.urdf\"\n"), "needs 'summary'"));
  CHECK(has(refused(plain + "bas = \"fixed\"\n"), "did you mean 'base'"));
  CHECK(has(refused(plain + "base = \"loose\"\n"), "table:5: "));
  CHECK(has(refused(plain + "feet = \"points\"\n"), "did you mean 'balls'"));
  CHECK(has(refused(plain + "feet = { radius = 0.1 }\n"), "feet need frames"));
  CHECK(has(refused(plain + "feet = { frames = [\"a\"], points = [[0, 0]] }\n"), "three numbers"));
  CHECK(has(refused(plain + "feet = { frames = [\"a\"], radius = -1 }\n"), "radius"));
  CHECK(has(refused(plain + "angles = { knee = \"bent\" }\n"), "must be a number"));
  CHECK(has(refused(plain + "height = -1\n"), "height"));
}
