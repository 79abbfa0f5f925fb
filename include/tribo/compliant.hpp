// Options of the compliant steppers: explicit-euler and runge-kutta (CompliantOptions), implicit-euler, exponential.
#pragma once

#include "tribo/contact_law.hpp"
#include "tribo/stepper.hpp"

namespace tribo {

/// Where the anchor of a compliant contact is set at first touch.
enum class AnchorRule {
  Surface,        ///< on the surface; the step is split at the crossing time of each new contact
  Detected,       ///< where the overlap is first seen, depth included [Hammoud2022]
  SurfaceUnsplit  ///< on the surface, however deep the point already is: creates energy
};

/// How the anchor of a slipping contact moves.
enum class SlipAnchor {
  Drawn,       ///< as spring and damper together draw it: friction has one limit for small steps
  Set,         ///< each step to where the spring alone gives the friction; the damper acts beside it
  SetUndamped  ///< the same, without the damper
};

struct CompliantOptions {
  using Family = CompliantOptions;
  AnchorRule anchor = AnchorRule::Surface;
  SlipAnchor slip = SlipAnchor::Drawn;
  bool bilateral = false;             ///< contacts pull as they push, without a friction cone
  double accuracy = 0;                ///< largest error of q or v by a step, from two half steps; 0: fixed steps
  double limit_stiffness = 1e3;       ///< of joint limits [N m/rad] or [N/m], > 0
  double limit_damping = 1;           ///< [N m s/rad] or [N s/m], >= 0
  double friction_deflection = 1e-3;  ///< of a joint with dry friction that is about to slip [rad] or [m], > 0
  double stribeck_speed = 0.01;       ///< a contact that slips slower keeps mu_static [m/s], >= 0
  double closure_stiffness = 1e5;     ///< of equality constraints [N/m]; about an axis times (0.1 m)^2, > 0
  double closure_damping = 300;       ///< [N s/m], >= 0
  std::string law = "spring-damper";  ///< force of a contact, see contact_laws()
  Options law_options;                ///< its own; empty: its defaults
};

enum class ExponentialMethod {
  Auto,    ///< Modal where damping is proportional to stiffness, else Full
  Modal,   ///< closed form in the modes of K^1/2 G K^1/2
  Full,    ///< scaling and squaring of the augmented matrix
  Reduced  ///< one Pade approximant of fixed order, no scaling
};

struct ExponentialOptions : CompliantOptions {
  ExponentialMethod method = ExponentialMethod::Auto;
  int order = 3;              ///< of ExponentialMethod::Reduced: 1, 2, 3, 5 or 7
  bool project_only = false;  ///< forces outside the cone are cut, and nothing is solved again
  bool midpoint = false;      ///< M, J and the bias are those of the middle of the step: order 2
  bool events = false;        ///< a substep ends where a contact slips, sticks again or lets go
};

struct ImplicitEulerOptions : CompliantOptions {
  int max_newton = 30;             ///< iterations a step
  int max_halvings = 20;           ///< of the line search
  double regularisation = 1e-10;   ///< first tried where the matrix is singular; up to 1e-3, relative
  double newton_tolerance = 1e-6;  ///< largest error of a velocity [m/s] or [rad/s]
  FailurePolicy failure = FailurePolicy::Substep;
};

}  // namespace tribo
