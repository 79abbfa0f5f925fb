// The scenes of the experiments, and runs of them that keep what the figures need.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "method.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {

/// A scene of the scenes folder.
Scene scene_of(const ExperimentOptions& options, const std::string& name, const std::vector<Override>& overrides = {});

/// Robots of the timings of LeLidec2024 (IV-C).
/// 10 N sideways on the base: at mu 0.4 the feet slip, at 0.9 they stick.
Scene solo_pushed(const ExperimentOptions& options, double mu = 0.4);
Scene talos_pushed(const ExperimentOptions& options);  ///< 80 N sideways on the base
Scene allegro_drop(const ExperimentOptions& options);  ///< a ball falls into the hand

/// A box of ratio x 1 g on one of 1 g.
Scene stack_of_two(const ExperimentOptions& options, double ratio);
/// Boxes of 0.2 m on top of each other, from the bottom up.
Scene tower(const std::vector<double>& masses, double mu);
/// Such a tower with mu 0.4, pushed in the middle with more than friction holds.
Scene pushed_tower(const std::vector<double>& masses);

/// How a method is set up here: what the tables call it, and the detection margin [m].
struct Setup {
  std::string label;  ///< "ccp:admm, wide margin"
  std::string method;
  double margin = 1e-3;
  Tolerance tolerance = {};

  void apply(Scene& scene) const;
};

/// A run of one free body.
struct Path {
  double dt = 0;
  MatX q;                             ///< (7 x steps)
  std::vector<double> t, x, y, z;     ///< position of the centre [s], [m]
  std::vector<double> speed, energy;  ///< [m/s], [J], after each step
  std::vector<std::vector<Vec3>> f;   ///< forces of the contacts in W, by id [N]
  Audit audit;
};
Path follow(const Scene& scene);

/// sum |q - q_ref| dt, the reference taken at the same times [m s]; its step must divide the path's.
double integral_error(const Path& path, const Path& reference);

/// Every n-th point, so that at most most remain.
Series series_of(const std::string& label, const std::vector<double>& x, const std::vector<double>& y,
                 std::size_t most = 400);

/// NaN and infinity for runs that broke are kept: the claims then fail.
double largest(const std::vector<double>& values);

}  // namespace tribo::experiments
