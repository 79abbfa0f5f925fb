// Equality constraints of the model as rows of a step, and their errors as positions.
//
//   connect:  e = p_b - p_a                            3 rows, axes of W                        (closures.1)
//   weld:     e = p_b - p_a, log(R_b (R_a R_AB)^T)     6 rows, axes of W                        (closures.2)
//   joint:    e = q_a - sum c_k (q_b - center)^k       1 row                                    (closures.3)
// Their velocities are held at zero by the step. What curvature leaves of e after it is taken out of q, and never
// enters v: Newton's method on the smallest motion, in the metric of M,
//   (J M^-1 J^T) f = -e,  dq = M^-1 J^T f                                                       (closures.4)
// Redundant closures leave J M^-1 J^T singular: a diagonal of 1e-12 of its largest entry picks f of least norm.
#pragma once

#include <vector>

#include "dynamics/chart.hpp"
#include "tribo/assembly.hpp"
#include "tribo/state.hpp"

namespace tribo {

class Closures {
 public:
  explicit Closures(const Model& model);

  bool empty() const { return empty_; }
  /// Appends the rows at a configuration; kinematic bodies go on for dt.
  static void list(const Model& model, const VecX& q, const Dynamics& dynamics, const KinematicTime& time, double dt,
                   std::vector<Row>& rows);

  struct Report {
    double error = 0;      ///< largest that was left [m] or [rad]
    double potential = 0;  ///< energy that moving q took from or gave to gravity, to first order [J]
  };
  /// Takes the errors at a time out of q, and turns v with the bodies.
  Report project(const Model& model, const KinematicTime& time, VecX& q, VecX& v);

 private:
  bool solve(const Island& island);

  bool empty_;
  Dynamics dynamics_;
  Chart chart_;
  Assembly assembly_;
  ContactProblem problem_;
  std::vector<Row> rows_;
  VectorBuffer before_, free_, f_;
  MatrixBuffer matrix_;
  VecX zero_, work_, dq_;
};

}  // namespace tribo
