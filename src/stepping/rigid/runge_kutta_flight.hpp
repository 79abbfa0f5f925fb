// A flight by the classic method of order four, in the coordinates of (chart.1):
//   (d, u)' = (rate of d at u,  M^-1 (tau - D v - K s - b + fluid))  at four stages                       (flight.8)
// It is explicit: a tree whose dampers or springs are stiff beside its inertia, dt (D + dt K) > M_kk, flies as flight.hpp
// has it.
#pragma once

#include <vector>

#include "dynamics/chart.hpp"
#include "tribo/step.hpp"

namespace tribo {

class RungeKuttaFlight {
 public:
  explicit RungeKuttaFlight(const Model& model);

  bool soft_enough(const Start& start, int tree) const;
  /// Crosses the step with the given trees; force (nv): torques and pushes without those of a fluid, which are held. Sets their v_end and v_mean,
  /// and adds their work where the step is audited.
  void cross(const Start& start, const std::vector<char>& trees, const VecX& force, Outcome& out, Work& work);

 private:
  void rates(const Start& start, const std::vector<char>& trees, const VecX& force, double time, Work& work);

  Dynamics stage_;
  Chart chart_;
  bool springs_;
  VecX zero_, q_, move_, u_, v_, a_, k_move_, k_u_, sum_move_, sum_u_, deflection_, inertial_, fluid_;
};

}  // namespace tribo
