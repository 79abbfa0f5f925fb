// MuJoCo's C loop over an exported scene, with its state and mass matrix in Tribo's coordinates.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mjcf_export.hpp"

namespace tribo::bench {

class MujocoPeer {
 public:
  MujocoPeer(const Scene& scene, const MjcfOptions& options);
  ~MujocoPeer();

  void step();
  void set_state(const State& state);  ///< q and v; warm starts are forgotten
  void get_state(State& state) const;  ///< q and v
  /// mjd_transitionFD: A and B of the next step by its differences, centred or forward.
  void differentiate(bool centred);
  /// Keeps everything, warm starts too; restore() goes back to it.
  void keep();
  void restore();

  double mass() const;
  MatX mass_matrix() const;  ///< at the last state set, in Tribo's velocity coordinates (nv x nv)
  Vec3 center_of_mass() const;
  int contacts() const;
  double overlap() const;        ///< of the deepest contact [m]
  std::string warnings() const;  ///< "" where there was none: a reset after an explosion is one
  static std::string version();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo::bench
