// The diagonal block of G + R that belongs to one contact or row.
#pragma once

#include "tribo/contact_problem.hpp"

namespace tribo {

/// D: column-major, 3 x 3 for a contact, 1 x 1 for a row. From the dense G, or from the factor where there is none.
void diagonal_block(const ContactProblem& problem, int block, double* D);
/// The same of G alone, by its factor: (rows x rows), cross terms of two sides in one tree included.
void factor_block(const ContactFactor& factor, int block, int rows, double* D);

}  // namespace tribo
