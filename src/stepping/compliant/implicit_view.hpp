// What a step of implicit Euler leaves behind for its derivative: the residual's slopes at the end of it.
#pragma once

#include "dynamics/derivatives.hpp"
#include "stepping/compliant/compliant.hpp"

namespace tribo {

class ImplicitView {
 public:
  /// Slopes of the last residual, and the factor of dr/dz (implicit.2). False: it has none.
  virtual bool factor_end(const Model& model, double h) = 0;
  /// x <- (dr/dz)^-1 x, after factor_end (nv).
  virtual void solve_end(double* x) = 0;
  /// r by q+, contacts and all, after factor_end (nv x nv).
  virtual const MatX& slope_by_q() const = 0;
  /// M and what the dynamics alone make of q+ and v+. They stand until the next solve.
  virtual const InverseDynamics& end() const = 0;
  virtual const Dynamics& end_dynamics_view() const = 0;
  /// Contact i at the end.
  virtual const Followed& followed(std::size_t i) const = 0;
  /// d(force)/d(force before the cone) there.
  virtual Mat3 cone_slope(std::size_t i) const = 0;

 protected:
  ~ImplicitView() = default;
};

}  // namespace tribo
