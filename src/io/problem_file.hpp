// Contact problems as files: .json and .npz with the keys below, and .hdf5 in the local format of the FCLIB.
//
//   G (n x n), g (n), mu (nc)       n = 3 nc + nr: contacts first, (t1, t2, n) each, then the rows
//   R (n), lambda0 (n)              diagonal compliance; a guess of the forces
//   rows {lower (nr), upper (nr)}   bounds of the rows; null: unbounded. In .npz: arrays lower, upper
//   dt, weight, facets              for the record; weight [N] enters the relative residual
//
// Units are those of contact_problem.hpp (forces and accelerations); any consistent set does.
#pragma once

#include <string>
#include <vector>

#include "tribo/contact_problem.hpp"

namespace tribo {

struct ProblemFile {
  std::string name;        ///< of the file, without folder and extension
  ContactProblem problem;  ///< dense
  VecX lambda0;            ///< guess (n) [N]; empty where none is given
  double dt = 0;           ///< [s]; 0: not given
  int facets = 0;          ///< of the polyhedral cone that the problem was made with; 0: not given
};

/// InvalidInput names the file and the key.
ProblemFile read_problem(const std::string& path);
/// By extension, .json or .npz; under a temporary name, then renamed.
void write_problem(const ProblemFile& file, const std::string& path);

/// Is this the name of a problem file, by its extension.
bool is_problem_file(const std::string& path);

/// The numbers of a file before they are checked against each other. G by rows.
struct RawProblem {
  std::vector<double> G, g, mu, R, lower, upper, lambda0;
  double dt = 0, weight = 0, facets = 0;
};
RawProblem read_fclib(const std::string& path);

}  // namespace tribo
