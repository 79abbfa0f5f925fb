// The four motions of the compliant experiments, and runs of them under each integrator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "scenes.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {

/// A motion, and the time over which its torque is held (Hammoud2022, table I).
struct MotionCase {
  std::string name;            ///< of the scene
  double dt_c = 0;             ///< [s]
  double from = 0;             ///< window of the accuracy runs [s]
  double quick = 0, full = 0;  ///< its length [s]
};
const std::vector<MotionCase>& motion_cases();
const MotionCase& motion_case(const std::string& name);

/// An integrator as the tables call it.
struct Integrator {
  std::string label, stepper;
  std::string method = {};  ///< of the exponential one; empty: auto
  int order = 0;            ///< of its reduced form
  bool midpoint = false, events = false;
  double accuracy = 0;  ///< tolerance of a step; 0: fixed steps
};
const Integrator& integrator(const std::string& label);

/// Keys of the scene that a run changes.
struct Setting {
  Integrator integrator;
  double dt = 1e-3;
  std::string anchor = "surface";
  double stiffness = 1e5, damping = 300;
  bool project_only = false;  ///< as the paper does it
  std::string slip_anchor = "drawn";
  double tick = 0;  ///< period of control instead of the scene's [s]; 0: the scene's
};
Scene motion_scene(const ExperimentOptions& options, const MotionCase& motion, const Setting& setting);

/// States at every control step of a window, from a run with a tiny step.
std::vector<State> truth(const ExperimentOptions& options, const MotionCase& motion, Setting setting);

/// Mean over control steps of the largest error of a coordinate or velocity after one control step, begun at the truth
/// with its contact memory and its control. Not finite where a run broke.
struct LocalError {
  double mean = 0, worst = 0;
  double eventful = 0;   ///< what control steps add to the mean in which a contact is made, broken or begins to slip
  double time = 0;       ///< CPU time of the steps, the least of some repeats [s]
  double real_time = 0;  ///< simulated over CPU time [-]
  double step = 0;       ///< CPU time of one step [s]
};
LocalError local_error(const ExperimentOptions& options, const MotionCase& motion, const Setting& setting,
                       const std::vector<State>& truth);

}  // namespace tribo::experiments
