// A few sweeps of projected Gauss-Seidel (pgs.cpp, sweep.hpp) on whitened velocities, for a better start of another method:
// nobody judges them.
#pragma once

#include "tribo/contact_solver.hpp"

namespace tribo {

class ContactSweeps {
 public:
  /// The problem must have a factor. f: guess in, forces out; torques of friction discs stay as they are.
  void run(const ContactProblem& problem, int sweeps, VecRef f);

 private:
  void gather(const ContactProblem& problem);
  void row(const ContactProblem& problem, int j, VecRef f);

  VectorBuffer w_, diagonal_;
  std::vector<double> y_rows_;
  std::vector<int> rows_;    // of block s of the factor: where its rows lie in y_rows_, else -1
  std::vector<int> chosen_;  // contacts that a sweep goes over
  std::vector<char> held_;   // rows of friction discs
};

}  // namespace tribo
