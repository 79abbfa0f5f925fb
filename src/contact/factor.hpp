// Products with the factor of G = Y Y^T: from forces to whitened velocities and back.
#pragma once

#include "tribo/contact_problem.hpp"

namespace tribo {

/// w = Y^T f, f (n) -> w (nw).
void to_bodies(const ContactProblem& problem, const double* f, double* w);
/// c = Y w, w (nw) -> c (n).
void to_contacts(const ContactProblem& problem, const double* w, double* c);
/// The same of one block alone: w += Y_i^T f_i, and c_i += Y_i w.
void add_to_bodies(const ContactProblem& problem, int block, const double* f, double* w);
void add_to_contact(const ContactProblem& problem, int block, const double* w, double* c);
/// G = Y Y^T (n x n).
void gram(const ContactProblem& problem, VectorBuffer& work, double* G);

}  // namespace tribo
