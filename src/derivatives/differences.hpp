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

  /// The options are taken as they are: see precise().
  Differences(const Model& model, const std::string& stepper, const StepperOptions& options);

  /// From now on touches within steps are found to the last digit.
  void find_exactly() { map_.find_exactly(); }
  /// beside: another derivative of the step. Columns that do not agree with it over the first spread are taken over the one
  /// that resolves them best.
  void compute(const StepInput& input, Linearization& out, const Linearization* beside = nullptr);
  /// The step itself meets the tolerance.
  bool solves(const StepInput& input) { return map_.step(input, shift_) && map_.status() == StepStatus::Ok; }
  /// On the side that (dx, du) points to, of the step itself.
  VecX one_sided(const StepInput& input, const VecX& dx, const VecX& du);
  /// Along column j a mode changes within the difference, or the two sides have different slopes.
  bool disturbed(int j) const { return disturbed_[at(j)]; }
  /// How far the two levels of column j are apart, in the rows of q (0), v (1) or memory (2): what the difference is good for.
  double apart(int rows, int j) const { return apart_(rows, j); }

 private:
  bool side(const StepInput& input, int column, double h, VecX& dx);
  void widen(const StepInput& input, int j, double h, double apart, Linearization& out, Eigen::Ref<VecX> column);
  double difference(const StepInput& input, int column, double h, Linearization& out, Eigen::Ref<VecX> slope);
  bool begin(const StepInput& input, Linearization& out);
  bool agrees(const StepInput& input, int column, double h, const MatX& beside, Linearization& out);
  void first_spread(const StepInput& input, int column, double h, Linearization& out);
  void resolve(const StepInput& input, Linearization& out);
  void resolve_column(const StepInput& input, int column, const Vec3& largest, Linearization& out);
  void keep(int j, const Eigen::Ref<const VecX>& column);
  void go_back(int j, Eigen::Ref<VecX> column);
  void keep_memory(int j, Eigen::Ref<VecX> column);
  Vec3 largest(const MatX& slopes, int column, double dt) const;
  bool whole_of(const Linearization& lin, MatX& slopes) const;
  int rows_of(int block) const { return block < 2 ? model_.nv : static_cast<int>(m_.size()); }
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
  VecX q_, v_, m_, seen_m_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> apart_;  // (columns)
  Vec3 between_;                                    // the same of the last difference
  VecX spread_;                                     // h of the columns as they stand
  struct {
    VecX column;
    Vec3 between;
    double spread;
    char disturbed;
  } kept_;
  MatX whole_, beside_;  // (2 nv + m+; 2 nv, inputs, memory)
  std::array<VecX, 4> x_;
};

/// Solvers to 1e-12, nothing audited.
StepperOptions precise(StepperOptions options);

/// Coordinates that have a motor.
std::vector<int> list_inputs(const Model& model);

/// Sizes for the model, and nothing known yet: A and B are to be filled.
void reset(const Model& model, const std::vector<int>& inputs, Linearization& out);

}  // namespace tribo
