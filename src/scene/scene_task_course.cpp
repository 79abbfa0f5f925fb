// The course of a task-space controller, from its file.
#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "scene/knots.hpp"
#include "tribo/task_space.hpp"

namespace tribo {
namespace {

std::shared_ptr<const Reference> course_of(double dt, MatX places) {
  SampledMotion motion;
  motion.dt = dt;
  motion.q = std::move(places);
  return make_sampled(std::move(motion));
}

// (n, 3): places; (n, 7): with quaternions x, y, z, w behind them.
TaskCourse::Way read_way(const NpyArray& array, double dt) {
  const bool turns = array.shape.size() == 2 && array.shape[1] == 7;
  const MatX numbers = knots_of(array, turns ? 7 : 3, "a place, or a place and a quaternion x, y, z, w with 7 columns");
  TaskCourse::Way way;
  way.place = course_of(dt, numbers.topRows(3));
  for (Eigen::Index k = 0; turns && k < numbers.cols(); ++k) {
    const Eigen::Vector4d q = numbers.col(k).tail(4);
    if (!(std::abs(q.norm() - 1) < 1e-3))
      throw InvalidInput(array.owner + ": the quaternion of knot " + std::to_string(k) + " has length " +
                         shown(q.norm()) + ", must be 1");
    way.turns.push_back(Quat(q).normalized());
  }
  return way;
}

std::vector<char> read_phases(const NpyArray& array) {
  if (array.shape.size() != 1 || array.shape[0] == 0)
    throw InvalidInput(array.owner + " has shape " + array.shape_text() +
                       ", must be (knots): 1 where the foot stands, 0 "
                       "where it does not");
  std::vector<char> stands;
  for (double x : array.finite_numbers()) {
    if (x != 0 && x != 1) throw InvalidInput(array.owner + " has an entry " + shown(x) + ", must be 0 or 1");
    stands.push_back(x == 1);
  }
  return stands;
}

// Names behind a prefix: "FL_FOOT" of "frame.FL_FOOT". Empty where the array is another.
std::string behind(const std::string& array, const std::string& prefix) {
  return array.compare(0, prefix.size(), prefix) == 0 ? array.substr(prefix.size()) : "";
}

std::size_t frame_task(const std::string& array, const std::string& name, const Model& model,
                       const std::vector<FrameTask>& frames) {
  const int frame = model.frame(name);
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i].frame == frame) return i;
  throw InvalidInput(array + ": there is no [[controller.frame]] of that name, which would say how much it counts");
}

std::size_t foot(const std::string& array, const std::string& name, const Model& model, const Member& member,
                 const std::vector<int>& feet) {
  const int body = model.place(member.name + "/" + name).body;
  const auto found = std::find(feet.begin(), feet.end(), body);
  if (found == feet.end()) throw InvalidInput(array + ": '" + name + "' carries no foot of '" + member.name + "'");
  return static_cast<std::size_t>(found - feet.begin());
}

}  // namespace

std::vector<int> foot_bodies(const Model& model, const Member& member) {
  std::vector<int> bodies;
  for (int g : member.feet)
    if (const int body = model.geometries[at(g)].body; std::find(bodies.begin(), bodies.end(), body) == bodies.end())
      bodies.push_back(body);
  return bodies;
}

TaskCourse load_task_course(const std::string& path, const Model& model, const Member& member,
                            const std::vector<FrameTask>& frames) {
  const NpzReader file(path, std::uint64_t{1} << 28);
  const std::vector<int> feet = foot_bodies(model, member);
  TaskCourse course;
  course.dt = time_between_knots(file);
  course.frames.resize(frames.size());
  std::uint64_t knots = 0;
  for (const std::string& array : file.names()) {
    if (array == "dt") continue;
    const NpyArray read = file.read(array);
    if (array == "com") {
      course.com = course_of(course.dt, knots_of(read, 3, "the centre of mass in the world"));
    } else if (array == "posture") {
      course.posture = course_of(course.dt, joints_of_knots(file, array, model, member));
    } else if (const std::string frame = behind(array, "frame."); !frame.empty()) {
      course.frames[frame_task(read.owner, frame, model, frames)] = read_way(read, course.dt);
    } else if (const std::string name = behind(array, "stands."); !name.empty()) {
      course.stands.resize(feet.size());
      course.stands[foot(read.owner, name, model, member, feet)] = read_phases(read);
    } else {
      throw InvalidInput(read.owner + " is unknown; a course has dt, com, posture, frame.NAME and stands.NAME");
    }
    if (knots != 0 && read.shape[0] != knots)
      throw InvalidInput(read.owner + " has " + std::to_string(read.shape[0]) + " knots, the others have " +
                         std::to_string(knots));
    knots = read.shape[0];
  }
  if (knots == 0) throw InvalidInput(path + ": has no array beside dt");
  return course;
}

}  // namespace tribo
