// The derivative of a step of implicit Euler: r(z; x, m, u) = 0 of (implicit.1) and the factor of dr/dz that the step has.
//
//   dr/dz dz = -dr/d(x, m, u):  by q+ and v+, which move with the start too, and by what the contact took from its start: with
// the core and the axes of the start, dp the motion of its point, turn = R+ R^T of a body and q+ held,
//   dp+ = turn (dp - doff - S(p - off)) + doff,  dx = dx_0 + C^T (dp+ - dp + …),  df = -P (K dx + B dc)         (deriv.24)
#pragma once

#include "derivatives/compliant_derivative.hpp"
#include "stepping/compliant/implicit_view.hpp"

namespace tribo {

class ImplicitDerivative final : public CompliantDerivative {
 public:
  ImplicitDerivative(const Model& model, const StepperOptions& options);

 private:
  /// A contact at the end of the step by q+ and v+, and by its start alone; x and c, in C.
  struct Slopes {
    MatX x_by_q, c_by_q, c_by_v;  // (3 x nv)
    RowMatrix x, c, point[2];     // (3; all columns); point+ of b and a in W
  };

  const char* cross(const Start& start, const Outcome& out) override;
  void add_contact(const Start& start, std::size_t i);
  void end_slopes(const Start& start, std::size_t i);
  void start_slopes(const Start& start, std::size_t i);
  void force_of(const Start& start, std::size_t i);
  void add_parameters(const Start& start, const Outcome& out);
  Vec3 rubbed(std::size_t i, int parameter) const;

  ImplicitView& view_;
  RowMatrix r_;  // -dr/d(x, m, u), then dz (nv; all columns)
  Slopes at_;
  VecX column_;
};

}  // namespace tribo
