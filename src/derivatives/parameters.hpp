// Parameters by name: what a step depends on beside its start and its inputs.
#pragma once

#include "derivatives/step_map.hpp"
#include "dynamics/derivatives.hpp"

namespace tribo {

struct Parameter {
  enum class Kind : char { Mass, Com, Inertia, Friction, Kp, Kd, Damping, Armature, DryFriction };
  Kind kind = Kind::Mass;
  int index = -1;                  ///< of the body, or of the material
  int row = 0, column = 0;         ///< of a centre of mass, of a tensor of inertia
  int tree = -1;                   ///< -1: of materials
  int first_dof = 0, end_dof = 0;  ///< coordinates of the joint

  bool of_body() const { return kind <= Kind::Inertia; }
  /// Does it move the inertia of its tree?
  bool moves_inertia() const { return of_body() || kind == Kind::Armature; }
  bool acts_on(int dof) const { return dof >= first_dof && dof < end_dof; }
};

/// LinearizationRequest::parameters; InvalidInput for other names.
Parameter parse_parameter(const Model& model, const std::string& name);

/// Of the inertia of its body, in the body's axes: of the mass, of mass times centre, of the tensor about the centre.
struct InertiaSlope {
  double mass = 0;
  Vec3 com = Vec3::Zero();  ///< of the centre itself [m]
  Mat3 about_com = Mat3::Zero();
};
InertiaSlope inertia_slope(const Model& model, const Parameter& p);

/// Adds factor d(M a + h)/dp to a column of the tree's coordinates, one every `stride`; M and h as `inverse` was last asked for
/// them, with the accelerations a:  S_k . (dI A + V x* dI V),  a_k of armature                              (param.1)
void add_moved_inertia(const Model& model, const Parameter& p, const Dynamics& dynamics, const InverseDynamics& inverse,
                       const VecX& a, double factor, double* column, int stride);

/// Is a friction coefficient of the pair that of the parameter?
bool rubs_on(const Model& model, const Parameter& p, int surface);

class Outputs;

/// A column for each parameter (2 nv x n); by (lin.2) over models and gains that are changed a little, on the upper side alone where
/// the value is next to 0. Behind them the rows of the outputs as they stand, or null.
MatX parameter_slopes(const Model& model, const std::string& stepper, const StepperOptions& options,
                      const StepInput& step, const std::vector<std::string>& names, Outputs* outputs);

}  // namespace tribo
