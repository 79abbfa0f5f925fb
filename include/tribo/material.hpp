// What surfaces are made of. A contact asks for the pair of its two materials.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace tribo {

/// How two surfaces meet. All in SI units.
struct SurfacePair {
  double mu_static = 0.7;           ///< friction while a contact sticks [-], >= 0
  double mu_dynamic = 0.7;          ///< friction while it slips [-], 0 <= mu_dynamic <= mu_static
  double restitution = 0.0;         ///< e: normal speed after over before an impact [-], 0 to 1
  double restitution_speed = 0.01;  ///< impacts slower than this do not bounce [m/s]
  double compliance = 0.0;          ///< C: normal displacement for a force, rigid steppers [m/N], >= 0
  double relaxation_time = 0.0;     ///< tau of a compliant surface, C f = -(phi + tau phi') [s], >= 0
  double torsional = 0.0;           ///< r_t: torque about the normal is at most r_t f_N [m], >= 0
  double rolling = 0.0;             ///< r_r: torque along the surface is at most r_r f_N [m], >= 0
  double stiffness = 1e5;           ///< K of the visco-elastic law [N/m], > 0
  double damping = 300.0;           ///< B of the visco-elastic law [N s/m], >= 0
  /// K and B along the surface; NaN: as along the normal.
  double stiffness_tangential = std::numeric_limits<double>::quiet_NaN();  ///< [N/m], > 0
  double damping_tangential = std::numeric_limits<double>::quiet_NaN();    ///< [N s/m], >= 0

  /// In which the velocity at the end of a step would close a gap, or an overlap of a compliant surface (rigid.4) [s].
  double closing_time(double gap, double dt) const { return gap > 0 ? dt : dt + relaxation_time; }
};

/// A named surface: the pair that it makes with its own kind, and so its share in mixed pairs.
struct Material {
  std::string name = "default";
  SurfacePair surface;
};

/// How the coefficients of two different materials become those of their pair, where the pair is not given.
enum class MixingRule { Minimum, Average, GeometricMean, Maximum };
std::string to_string(MixingRule rule);

}  // namespace tribo
