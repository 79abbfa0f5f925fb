// Where the frames of a task-space controller are led, over the knots of a course.
#pragma once

#include "tribo/task_space.hpp"

namespace tribo {

/// Where a frame is to be, and how it moves there, in the world.
struct LedFrame {
  Placement X;
  Vec3 v = Vec3::Zero(), a = Vec3::Zero(), w = Vec3::Zero();
};

/// Index of the last knot at or before t; the tolerance forgives the rounding of t: a tick at a knot belongs to the knot.
std::size_t knot_at(const TaskCourse& course, double t);
/// What the way says at t; the rest of `frame` stays. now: working memory (3).
///   R = R_k exp(s w dt), w = log(R_k^T R_k+1)/dt                                                            (task.6)
void at_time(const TaskCourse& course, const TaskCourse::Way& way, double t, JointMotion& now, LedFrame& frame);

}  // namespace tribo
