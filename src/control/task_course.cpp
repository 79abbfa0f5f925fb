#include "control/task_course.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/group.hpp"

namespace tribo {

std::size_t knot_at(const TaskCourse& course, double t) {
  return static_cast<std::size_t>(std::clamp(t / course.dt + 1e-9, 0.0, 1e15));
}

void at_time(const TaskCourse& course, const TaskCourse::Way& way, double t, JointMotion& now, LedFrame& frame) {
  if (way.place) {
    way.place->at(t, now);
    frame.X.p = now.q;
    frame.v = now.v;
    frame.a = now.a;
  }
  if (way.turns.empty()) return;
  const std::size_t knot = knot_at(course, t);
  if (knot + 1 >= way.turns.size()) {
    frame.X.R = way.turns.back().toRotationMatrix();
    frame.w.setZero();
    return;
  }
  const Quat &from = way.turns[knot], &to = way.turns[knot + 1];
  const Vec3 turn = rotation_logarithm(from.conjugate() * to);
  const double s = std::clamp(t / course.dt - static_cast<double>(knot), 0.0, 1.0);
  frame.X.R = (from * rotation_exponential(s * turn)).toRotationMatrix();  // (task.6)
  frame.w = from * turn / course.dt;
}

}  // namespace tribo
