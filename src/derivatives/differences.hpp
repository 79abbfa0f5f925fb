// The derivative of any step by central differences, and which columns a change of mode disturbs.
//
//   D(h) = (x+(h) - x+(-h)) / 2h,  (4 D(h/2) - D(h)) / 3 along each coordinate                                (lin.2)
#pragma once

#include <array>

#include "derivatives/step_map.hpp"

namespace tribo {

class Differences {
 public:
  /// Of the contacts and rows of a step, as hashes.
  struct Modes {
    std::uint64_t act = 0;  ///< which act, and how
    std::uint64_t ask = 0;  ///< whether gaps count (rigid.2), (rigid.6)
  };

  Differences(const Model& model, const std::string& stepper, const StepperOptions& options);

  void compute(const StepInput& input, Linearization& out);
  /// Along column j a mode changes within the difference, or the two sides have different slopes.
  bool disturbed(int j) const { return disturbed_[at(j)]; }

 private:
  bool side(const StepInput& input, int column, double h, VecX& dx);
  void widen(const StepInput& input, int j, double h, double apart, Linearization& out, Eigen::Ref<VecX> column);
  double difference(const StepInput& input, int column, double h, Linearization& out, Eigen::Ref<VecX> slope);
  void skip_points(const Memory& memory, int column);
  void store(Linearization& out) const;
  double& shifted(int column);

  const Model& model_;
  StepMap map_;
  Shift shift_;
  std::vector<int> inputs_;
  std::vector<char> disturbed_;
  Modes modes_, seen_;
  bool refines_ = false;
  VecX q_, v_, m_, first_, seen_m_;
  MatX whole_;  // (2 nv + m+; 2 nv, inputs, memory)
  std::array<VecX, 4> x_;
};

/// Solvers to 1e-12, nothing audited.
StepperOptions precise(StepperOptions options);

/// Coordinates that have a motor.
std::vector<int> list_inputs(const Model& model);

/// Sizes for the model, and nothing known yet: A and B are to be filled.
void reset(const Model& model, const std::vector<int>& inputs, Linearization& out);

}  // namespace tribo
