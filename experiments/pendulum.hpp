// Runs of the six-link pendulum and what is read off them.
#pragma once

#include <array>
#include <vector>

#include "experiment.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {

struct PendulumMethod {
  std::string key, label, stepper;
  double dt = 1e-3;                 ///< [s]
  Options options = {};             ///< of the stepper
  std::vector<Override> keys = {};  ///< of the scene, where they are others
};

/// A vertex of the last link.
struct VertexSample {
  double normal = 0, friction = 0;  ///< friction along +x counts as positive [N]
  double speed = 0;                 ///< along the ground [m/s]
  ContactMode mode = ContactMode::Open;
};

/// Sampled every millisecond.
struct PendulumRun {
  std::vector<double> t, kinetic, depth;  ///< [s], [J], deepest overlap of any contact [m]
  std::vector<std::array<VertexSample, 8>> vertices;
  std::vector<std::array<Vec3, 8>> corner;  ///< [m]
  std::vector<std::vector<Vec3>> shape;     ///< hinge, joints, tip [m]
  std::array<int, 4> chosen{};              ///< the vertices that lie on the ground at the end
  double cpu = 0;                           ///< of the steps [s]
  double gained = 0;                        ///< most that the energy rose above its start [J]
  double weight = 0;                        ///< [N]
  double passes = 0;
  bool finite = true;
  Audit audit;

  /// Finite; and none of these beyond 1 % of m g L: energy gained above the start, what the scheme itself added or
  /// took, kinetic energy in the last half second.
  bool stable() const;
  /// Total variation of the second difference of the normal forces from 4 s to 5 s, over the weight, all four summed.
  double chatter() const;
  double travel() const;            ///< farthest that a vertex is from where it was at 4 s, along the ground [m]
  double depth_at_rest() const;     ///< deepest from 4 s on [m]
  double friction_at_rest() const;  ///< of the four vertices at the end, summed [N]
  double share_at_rest() const;     ///< of the touching samples from 4 s on, those that stick
};

PendulumRun swing(const ExperimentOptions& options, const PendulumMethod& method, double dt, double duration);
void record_shape(Simulation& simulation, PendulumRun& run);
void choose_vertices(PendulumRun& run);

}  // namespace tribo::experiments
