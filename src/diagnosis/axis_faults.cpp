// A mirror at the plane with the normal n takes an axis a, which is turned about, to
//   a' = 2 (n . a) n - a                                                             (fault.3)
// A joint and its twin on the other side move alike where the axis of the twin is a' and the ranges are the same, or where it is
// -a' and the ranges are negated.
#include "diagnosis/axis_faults.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double parallel = 0.9;     // cosine of two axes
constexpr double one_sided = 0.3;    // of a range: so far its middle lies from zero
constexpr double same_place = 0.02;  // of the distance from the base

class AxisInspector {
 public:
  AxisInspector(const Model& model, const std::function<bool(const Member&)>& trusted)
      : model_(model), dynamics_(model) {
    dynamics_.compute(model_.neutral(), VecX::Zero(model_.nv));
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b) {
      const Body& body = model_.bodies[at(b)];
      const int robot = robot_of(b);
      if (body.joint == JointKind::Revolute && robot >= 0 && !trusted(model_.members[at(robot)]) &&
          std::isfinite(low(b)) && std::isfinite(high(b)))
        joints_[body.name] = b;
    }
  }

  std::optional<Finding> found() const {
    std::map<std::string, std::vector<int>> alike;
    for (const auto& [name, b] : joints_) {
      const std::size_t slash = name.find('/'), cut = name.find('_', slash + 1);
      if (cut == std::string::npos || cut - slash > 4) continue;  // a short word for the limb: FL, left_ is too long
      alike[name.substr(cut) + " " + shown(low(b)) + " " + shown(high(b))].push_back(b);
    }
    for (const auto& [key, bodies] : alike)
      if (std::optional<Finding> odd = odd_axis(bodies)) return odd;
    for (const auto& [name, b] : joints_)
      for (const std::string& other : twins(name))
        if (const auto twin = joints_.find(other); twin != joints_.end())
          if (std::optional<Finding> odd = odd_pair(b, twin->second)) return odd;
    return {};
  }

 private:
  double low(int b) const { return model_.joints.lower[model_.bodies[at(b)].iv]; }
  double high(int b) const { return model_.joints.upper[model_.bodies[at(b)].iv]; }
  bool leans(int b) const { return std::abs(low(b) + high(b)) > one_sided * (high(b) - low(b)); }
  const Vec3& axis(int b) const { return dynamics_.axis(model_.bodies[at(b)].iv).ang; }
  const Vec3& place(int b) const { return dynamics_.X_WB(b).p; }
  int robot_of(int b) const {
    for (std::size_t m = 0; m < model_.members.size(); ++m) {
      const Member& member = model_.members[m];
      if (b >= member.first_body && b < member.first_body + member.bodies)
        return member.robot ? static_cast<int>(m) : -1;
    }
    return -1;
  }
  const Vec3& root(int b) const { return place(model_.members[at(robot_of(b))].first_body); }

  // Names with one "left" or "l" of a word made "right" or "r".
  static std::vector<std::string> twins(const std::string& name) {
    std::vector<std::string> out;
    const auto apart = [&](std::size_t i) {
      return i >= name.size() || !std::isalpha(static_cast<unsigned char>(name[i]));
    };
    for (const auto& [left, right] : {std::pair{"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}})
      if (const std::size_t i = name.find(left, name.find('/') + 1); i != std::string::npos)
        out.push_back(std::string(name).replace(i, 4, right));
    for (std::size_t i = name.find('/') + 1; i < name.size(); ++i) {
      if ((name[i] != 'l' && name[i] != 'L') || !(apart(i - 1) || apart(i + 1))) continue;
      out.push_back(name);
      out.back()[i] = name[i] == 'l' ? 'r' : 'R';
    }
    return out;
  }

  std::optional<Finding> odd_axis(const std::vector<int>& bodies) const {
    std::vector<int> most;  // those whose axes are parallel
    for (int a : bodies) {
      std::vector<int> like;
      std::copy_if(bodies.begin(), bodies.end(), std::back_inserter(like),
                   [&](int b) { return axis(a).dot(axis(b)) > parallel; });
      if (like.size() > most.size()) most = like;
    }
    if (bodies.size() < 3 || 2 * most.size() <= bodies.size()) return {};
    for (int b : bodies) {
      const double c = axis(most[0]).dot(axis(b));
      const bool odd = c < -parallel && leans(b);  // the same range cannot be meant both ways
      if (c > parallel || !(odd || (bodies.size() > 3 && across(b, most[0])))) continue;
      return Finding{
          Cause::Axis,
          0,
          c,
          1,
          "-",
          "the axis of '" + model_.bodies[at(b)].name + "' " +
              (c < -parallel ? "points against" : "is not parallel to") + " those of the other " +
              std::to_string(most.size()) + " joints of its kind, which have the same range",
          c < -parallel ? "the other sign of its axis, or of its range" : "the axis of the other joints of its kind"};
    }
    return {};
  }
  // Are two joints of a robot as far to the front, to the side and below its base as each other?
  bool across(int a, int b) const {
    const Vec3 x = (place(a) - root(a)).cwiseAbs(), y = (place(b) - root(b)).cwiseAbs();
    return robot_of(a) == robot_of(b) && (x - y).norm() < same_place * std::max(x.norm(), y.norm());
  }

  std::optional<Finding> odd_pair(int a, int b) const {
    const Vec3 between = place(b) - place(a), middle = 0.5 * (place(a) + place(b)) - root(a);
    const double apart = between.norm(), size = (place(a) - root(a)).norm();
    if (robot_of(a) != robot_of(b) || !(apart > same_place)) return {};
    const Vec3 n = between / apart;
    if (std::abs(n.dot(middle)) > same_place * std::max(size, apart)) return {};
    const double c = (2 * n.dot(axis(a)) * n - axis(a)).dot(axis(b));  // (fault.3)
    const double width = high(a) - low(a), near = 0.05 * width;
    const bool same = std::abs(low(a) - low(b)) < near && std::abs(high(a) - high(b)) < near;
    const bool negated = std::abs(low(a) + high(b)) < near && std::abs(high(a) + low(b)) < near;
    const bool against = leans(a) && ((same && c < -parallel) || (negated && c > parallel));
    const bool skew = (same || negated) && std::abs(c) < parallel;
    if (!against && !skew) return {};
    return Finding{
        Cause::Axis,
        0,
        c,
        1,
        "-",
        "'" + model_.bodies[at(a)].name + "' and '" + model_.bodies[at(b)].name +
            "' lie on both sides of the robot, but their axes " +
            (skew ? "do not mirror each other" : "and ranges are those of joints that turn in opposite ways"),
        skew ? "the axis of the one that is wrong" : "the other sign of the axis of one, or of its range"};
  }

  const Model& model_;
  Dynamics dynamics_;
  std::map<std::string, int> joints_;
};

}  // namespace

std::optional<Finding> axis_fault(const Model& model, const std::function<bool(const Member&)>& trusted) {
  return AxisInspector(model, trusted).found();
}

}  // namespace tribo
