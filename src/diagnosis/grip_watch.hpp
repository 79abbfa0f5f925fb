// What robots hold between their links: a grip that slides along its object, or that the arm above cannot lift.
#pragma once

#include <optional>
#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

class GripWatch {
 public:
  /// limits: of the torques of the motors (nv); they must outlive the watch.
  GripWatch(const Scene& scene, const VecX& limits);
  /// After each step.
  void observe(const Simulation& simulation, double t);

  /// A grip that slid while it pressed: by centimetres along what is too heavy for it, or along all of its object.
  const std::optional<Finding>& slid() const { return slid_; }
  /// An object that left a grip that had next to no friction.
  const std::optional<Finding>& lost() const { return lost_; }
  /// A motor at its limit that stands still, between the base and a grip.
  const std::optional<Finding>& stalled() const { return stalled_; }

 private:
  struct Grip {
    double pressed = 0;       ///< sum of the normal forces of this step [N]
    double friction = 0;      ///< what they carry at most [N]
    Vec3 sum = Vec3::Zero();  ///< of the normal forces [N]
    double speed = 0;         ///< the least along a contact that presses [m/s]
    std::vector<int> bodies;  ///< of robots
    double way = 0;           ///< that it slid by now [m]
    double since = 0;         ///< when it began to slide [s]
    double mu = 0;            ///< of friction at the last grip; 0 where there was none [-]
    Vec3 p = Vec3::Zero();    ///< where the object then was [m]
    bool gripped = false;     ///< was it ever
    double still = 0;         ///< how long a motor above it was at its limit at rest [s]
  };
  void gather(const Simulation& simulation);
  void see_slide(Grip& grip, int object, double t);
  void see_loss(Grip& grip, int object, const Simulation& simulation, double t);
  void see_stall(Grip& grip, int object, const Simulation& simulation, double t);
  std::string held(const Grip& grip, int object) const;
  double weight(int object) const;
  double radius(int object) const;

  const Model& model_;
  double dt_;
  const VecX& limits_;
  std::vector<Grip> grips_;  ///< by member; robots have none
  std::optional<Finding> slid_, stalled_, lost_;
};

}  // namespace tribo
