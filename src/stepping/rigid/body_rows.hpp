// Rows of a step along more than one coordinate: tendons, the angle of a spherical joint, dry friction of a free joint.
//
//   limit of a tendon         sign ldot' + max(distance, 0) / dt >= 0                                     (tendon.4)
//   its spring and damper     f = -k (d + dt ldot') - b ldot', with l at the end of the step              (tendon.5)
//   its dry friction          |f| <= friction, opposed to ldot'                                           (tendon.6)
//   a spherical joint         turn . w' <= max(upper - angle, 0) / dt along the axis of its turn          (swing.1)
//   a free joint              |f| <= friction along each axis of W                                        (free.1)
#pragma once

#include <vector>

#include "tribo/step.hpp"

namespace tribo {

/// What limits a spherical joint: the axis that brings it back from its largest angle, and how far that is [rad].
struct Swing {
  BodyTurns along;
  double distance = 0;
  bool turned = false;  ///< else there is no axis
};
Swing swing_of(const Model& model, const VecX& q, const Dynamics& dynamics, int body);

class BodyRows {
 public:
  explicit BodyRows(const Model& model);
  /// margin: limits that are nearer, and those within reach of the step, are listed.
  /// all: every limit.
  void list(const Start& start, double margin, bool all, std::vector<Row>& rows) const;
  /// Do the velocities v_end take anything beyond a limit that is not within reach?
  bool overrun(const Start& start, double margin, const VecX& v_end) const;

  const std::vector<int>& tendons() const { return tendons_; }  ///< that act
  const std::vector<int>& swings() const { return swings_; }    ///< bodies of spherical joints with a largest angle
  const std::vector<int>& frees() const { return frees_; }      ///< bodies of free joints with dry friction

 private:
  static void list_tendon(const Start& start, int tendon, double margin, bool all, std::vector<Row>& rows);
  static void list_swing(const Start& start, int body, double margin, bool all, std::vector<Row>& rows);

  std::vector<int> tendons_, swings_, frees_;
};

}  // namespace tribo
