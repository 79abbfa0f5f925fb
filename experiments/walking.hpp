// A quadruped under the walking controller, contact model by contact model.
#pragma once

#include "experiment.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {

/// One way to simulate the walk.
struct WalkMethod {
  std::string label, key, method;
  double tolerance =
      1e-9;  ///< relative, of products; Newton is asked for more, which costs it nothing: a force f of 1e-4 F
             ///< may part at tolerance/f
};
const std::vector<WalkMethod>& walk_methods();

/// One run, until the robot falls: only its feet collide, and what a fallen robot does tells nothing. Series have an entry
/// every 10 ms.
struct Stroll {
  std::vector<double> t;          ///< [s]
  std::vector<double> forward;    ///< velocity of the base along its heading, the mean over a gait period [m/s]
  std::vector<double> command;    ///< that it should have [m/s]
  std::vector<double> violation;  ///< the worst law of contact in any step of these 10 ms
  std::vector<double> micros;     ///< contact solve of a step, mean of these 10 ms [us]
  double error = 0;               ///< mean of |forward - command| [m/s]
  double turn_error = 0;          ///< the same of the turning [rad/s]
  double distance = 0;            ///< along the way that the commands describe [m]
  double worst = 0;               ///< violation in any step
  double slipping = 0;            ///< mean violation over the steps in which a foot slips; 0 where none does
  double slip_share = 0;          ///< of the steps
  double solve = 0;    ///< contact solve of a step, mean without the slowest tenth: others use the machine too [us]
  bool stands = true;  ///< until the end
};

/// A velocity from a time on, as [[controller.command]] has it.
struct Pace {
  double t, forward, turning;
};

/// Solo on flat ground, or on blocks of 10 cm whose heights are uniform in [0, roughness]; the first half metre is flat.
struct Course {
  std::vector<Pace> paces;
  double mu = 0.9, duration = 10, roughness = 0;
  unsigned seed = 0;
};
/// As a scene file, with the default method.
void write_course(const Course& course, const std::string& path);
Stroll stroll(const Course& course, const WalkMethod& method, double disturbance);

/// When the velocities of two runs first differ by more than 0.05 m/s, or one of them falls; the duration where they never
/// do [s].
double departure(const Stroll& a, const Stroll& b);

struct Spread {
  double mean = 0, deviation = 0;  ///< of the values, not of their mean
  double least = 0, most = 0;
  double error() const;  ///< of the mean
  std::size_t n = 0;
};
Spread spread_of(const std::vector<double>& x);
/// Mean of a - b, pair by pair, over its standard error; 0 where all pairs agree.
double told_apart(const std::vector<double>& a, const std::vector<double>& b);
double median_of(std::vector<double> x);
/// Without the largest tenth.
double trimmed_mean(std::vector<double> x);

}  // namespace tribo::experiments
