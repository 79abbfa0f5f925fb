// Gauss-Seidel over contacts with their torques, for the NCP: where the intervals of rolling.hpp do not settle.
//   f_N, f_T as in pgs.1 and pgs.2, then
//   f_spin <- clamp(f_spin - c_spin / G, -r_t f_N, r_t f_N)                                       (sweep.3)
//   f_roll <- project onto the disc of radius r_r f_N:  f_roll - c_roll / (2 largest diagonal)    (sweep.4)
// and every other row within its bounds. It works on whitened velocities w = Y^T f.
#pragma once

#include <span>
#include <vector>

#include "tribo/assembly.hpp"
#include "tribo/contact_problem.hpp"

namespace tribo {

class RollingSweep {
 public:
  /// Takes the island's lists; nothing is allocated once one as large was taken before.
  void begin(const Island& island, std::span<const Row> rows, const ContactProblem& problem, const double* f);
  /// Sweeps over the island, forward and backward in turn.
  void run(const ContactProblem& problem, int sweeps, double* f);

 private:
  void sweep(const ContactProblem& problem, int block, double* f);
  void turn(const ContactProblem& problem, int contact, double* f);
  void velocity(const ContactProblem& problem, int block, const double* f, double* c) const;
  void change(const ContactProblem& problem, int block, const double* df);
  void move(const ContactProblem& problem, int row, double to, double* f);
  double step(int nc, int row) const { return 1 / std::max(diagonal_[9 * nc + row], 1e-300); }

  /// Torques of a contact: their rows, or -1; the second of roll follows the first.
  struct Turn {
    int spin = -1, roll = -1;
    double torsional = 0, rolling = 0;  ///< [m]
  };
  std::vector<Turn> turns_;  ///< by contact
  std::vector<char> alone_;  ///< by row: not of a contact
  VectorBuffer w_, diagonal_;
};

}  // namespace tribo
