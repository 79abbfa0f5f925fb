// What slips, in Newton's method on the contact problem.
#pragma once

#include <cmath>
#include <vector>

#include "tribo/contact_solver.hpp"

namespace tribo {

/// Forces and accelerations are far from overflow: no need of hypot's care.
inline double norm(double x, double y) { return std::sqrt(x * x + y * y); }

/// A disc that slips: the tangential force of a contact, or a torque of torsional or rolling friction.
struct Slip {
  int row, normal;    ///< among the unknowns: its first row, and the normal force that bounds it
  int size;           ///< rows
  double y[2], f[2];  ///< trial point and force
  double mu, n, r;    ///< coefficient or length, normal part of the trial point, inverse scale
  double rN[4] = {};  ///< r N, row by row
};

/// Its two rows of the matrix by (newton.3).
void slip_rows(Slip& slip, MatrixBuffer& matrix, VectorBuffer& rhs);
/// The row of torsional friction (newton.6).
void torsional_row(Slip& slip, MatrixBuffer& matrix, VectorBuffer& rhs);
/// Of m unknowns those of contacts that hold a velocity: normals, and what sticks.
const std::vector<int>& held_rows(const ContactProblem& problem, const std::vector<int>& active, int m,
                                  const std::vector<Slip>& slips, std::vector<int>& held);

}  // namespace tribo
