// Solutions to contact problems by a route of their own: what each contact does is taken from a solution at hand, and
// the equations that follow are solved in long double by Newton's method with minimum-norm steps.
#pragma once

#include <string>

#include "tribo/contact_problem.hpp"

namespace tribo::experiments {

struct Reference {
  VecX f, c;            ///< (n) [N], [m/s^2]
  std::string modes;    ///< one letter a contact: o open, k stick, l slip, f closed without friction; rows: i, a, b
  double residual = 0;  ///< relative, of the NCP, judged in long double
};

/// near: forces close to a solution, for the modes and the start.
Reference refine(const ContactProblem& problem, const VecX& near);

/// The relative NCP residual of f and c in long double; c as given is checked against G f + g too.
double exact_residual(const ContactProblem& problem, const VecX& f, const VecX& c);

}  // namespace tribo::experiments
