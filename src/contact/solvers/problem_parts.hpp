// A problem with some of its contacts left out falls into parts that share no tree. See problem_parts.cpp.
#pragma once

#include <vector>

#include "tribo/contact_solver.hpp"

namespace tribo {

class ProblemParts {
 public:
  /// What extract needs while it runs.
  struct Numbers {
    std::vector<int> place, shift;  // of nodes in the part: their number, and what its coordinates move by
    std::vector<int> stamp, nodes;
    int now = 0;
  };

  /// From the forces of a few sweeps: what presses, or opens slower than by `least`, is kept. The problem must have a factor.
  void choose(const ContactProblem& problem, const double* f, const double* c, double least);
  /// Keeps what opens slower than by `least`, too; false where there is none of it.
  bool choose_more(const ContactProblem& problem, const double* c, double least);
  /// Groups what is kept.
  void split(const ContactProblem& problem);

  int size() const { return static_cast<int>(first_.size()) - 1; }
  /// Was anything of part k chosen after the split before?
  bool fresh(int k) const;
  int blocks(int k) const { return first_[at(k + 1)] - first_[at(k)]; }
  /// Part k, and its forces. From several threads at once, each with numbers of its own.
  void extract(const ContactProblem& problem, int k, const double* f, Numbers& numbers, ContactProblem& part,
               VectorBuffer& part_f) const;
  void put_back(const ContactProblem& problem, int k, const VectorBuffer& part_f, double* f) const;
  /// Forces of what is left out are zero.
  void clear_others(const ContactProblem& problem, double* f) const;

 private:
  int root(int node);
  void number(const ContactProblem& problem, int k, Numbers& numbers, ContactFactor& factor) const;

  std::vector<char> kept_, fresh_;   // by block: kept; chosen after the last split
  std::vector<int> parent_, group_;  // of nodes: union by first; the part of a root
  std::vector<int> first_, blocks_;  // blocks of part k: [first_[k], first_[k + 1])
  std::vector<int> place_;           // where the next block of a part goes
};

/// The problem with the matrix of its contacts instead of the factor, in `dense`.
const ContactProblem& by_matrix(const ContactProblem& problem, ContactProblem& dense);

}  // namespace tribo
