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

class BodyRows {
 public:
  explicit BodyRows(const Model& model);
  /// margin: limits that are nearer, and those within reach of the step, are listed.
  void list(const Start& start, double margin, std::vector<Row>& rows) const;

 private:
  static void list_tendon(const Start& start, int tendon, double margin, std::vector<Row>& rows);
  static void list_swing(const Start& start, int body, double margin, std::vector<Row>& rows);

  std::vector<int> tendons_, swings_, frees_;  // that act; bodies of spherical and free joints
};

}  // namespace tribo
