// Options of the momentum family: momentum, relaxed, macroscopic, microscopic. Times dt and over the model's own
// inertias, so that the defaults hold for masses from grams to tons.
#pragma once

#include <limits>

namespace tribo {

/// Of all four.
struct MomentumFamilyOptions {
  using Family = MomentumFamilyOptions;
  double ramp = std::numeric_limits<double>::quiet_NaN();  ///< k_w [s/m], > 0; inf: none; NaN: the stepper's own
};

/// Of those that find impulses by a program.
struct ImpulseOptions : MomentumFamilyOptions {
  bool friction_in_program = true;  ///< sliding friction acts while the normals are solved; false: it is set afterwards
};

struct MomentumOptions : ImpulseOptions {
  double relaxation = 1e-2;   ///< sqrt(lambda) over the mean diagonal of A [-], > 0, <= 1
  double compensation = 0.1;  ///< k dt: share of a displacement that a step undoes [-], 0 to 1
};

struct RelaxedOptions : ImpulseOptions {
  double relaxation = 1e-2;  ///< as of momentum
  double soft_spring = 0.1;  ///< frequency of the spring-dampers times dt [-], 0 to 1
};

/// How the macroscopic stepper takes a singular system.
enum class SingularSolve {
  Pivoting,    ///< elimination without regularisation: unknowns without a pivot are 0
  MinimumNorm  ///< the shortest of all solutions
};

struct MacroscopicOptions : ImpulseOptions {
  SingularSolve singular = SingularSolve::MinimumNorm;
};

struct MicroscopicOptions : MomentumFamilyOptions {
  double limit_stiffness = 1e3;  ///< of joint limits [N m/rad] or [N/m], > 0
  double limit_damping = 1;      ///< [N m s/rad] or [N s/m], >= 0
};

}  // namespace tribo
