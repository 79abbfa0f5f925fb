// Primal-dual interior-point method for the nonlinear complementarity problem. See interior_point.cpp.
#pragma once

#include <cmath>
#include <vector>

#include "contact/block_system.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

class InteriorPoint {
 public:
  /// f: guess in, best point out.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f);

  /// From the guess alone, no closer than asked, and given up where steps stay short; again: farther from the boundaries.
  SolveReport approach(const ContactProblem& problem, const Tolerance& tolerance, bool again, VecRef f);
  /// Products of numbers that factors may take from now on; what would take more stalls.
  void allow(double work) { allowed_ = work; }
  double allowed() const { return allowed_; }
  bool spent() const { return allowed_ < 0; }

 private:
  struct Point {                    // scaled iterate, or a direction
    VectorBuffer f, c, psi;         // (n), (n), (cones)
    VectorBuffer z_lower, z_upper;  // multipliers of the bounds of the rows (nr)

    void add(double a, const Point& other);
    void scale(double a);
  };

  struct Cone {        // a disc that a normal force bounds
    int first, size;   // unknowns [first, first + size)
    int normal, disc;  // unknown of the normal force; which friction disc, -1: tangential force of a contact
    double mu;         // scaled
  };
  struct ConePoint {  // (mu f_N, f) and (psi, c) of a cone, the second component 0 where there is none
    double a0, a[2], psi, c[2];
    double product() const { return a0 * psi + a[0] * c[0] + a[1] * c[1]; }
  };

  struct Path {          // where follow() stands
    double s = 0;        // log kappa
    double change = -1;  // of s in the last step
    double h = 0.5;      // length of the next step
    int steps = 0;
  };

  enum class Way { Warm, Brief, Again, Cold, Path };

  SolveReport run(const ContactProblem& problem, const Tolerance& tolerance, Way way, VecRef f);
  double step(const ContactProblem& problem);
  SolveReport follow(const ContactProblem& problem, const Tolerance& tolerance, VecRef f);
  bool centre(const ContactProblem& problem, double kappa);
  bool walk(const ContactProblem& problem, Path& path);
  bool advance(const ContactProblem& problem, double h, double slope, double& s);
  bool differentiate(const ContactProblem& problem, double kappa);
  void measure(const ContactProblem& problem);
  double along(const Point& a, const Point& b) const;
  double eccentricity(const ContactProblem& problem, double kappa) const;
  void scale(const ContactProblem& problem);
  void list_cones(const ContactProblem& problem);
  int cones() const { return static_cast<int>(cones_.size()); }
  ConePoint view(const Point& p, int k) const {
    const Cone& cone = cones_[at(k)];
    const double *f = p.f.data() + cone.first, *c = p.c.data() + cone.first;
    const bool two = cone.size == 2;
    return {cone.mu * p.f[cone.normal], {f[0], two ? f[1] : 0}, p.psi[k], {c[0], two ? c[1] : 0}};
  }
  static Eigen::Matrix2d divisor(const ConePoint& x);
  void fix_rows(int rows);
  bool fixed(int j) const { return std::isfinite(fixed_[j]); }
  void multiply(const ContactProblem& problem, const double* x, double* y);
  void start(const ContactProblem& problem);
  void start_cold(const ContactProblem& problem);
  void start_warm(const ContactProblem& problem, const double* guess, double kappa);
  static double first_kappa(Way way, double residual);
  void start_cone(const Cone& cone, double kappa, double& psi);
  double complementarity(const ContactProblem& problem) const;
  bool factor(const ContactProblem& problem);
  void factor_cone(const ContactProblem& problem, int cone);
  void aim(const ContactProblem& problem, double target, double on);
  void direction(const ContactProblem& problem, double target, bool corrector);
  double longest_step(const ContactProblem& problem) const;
  void move(double alpha);
  void take_forces(const ContactProblem& problem, VecRef f) const;
  void residual(const ContactProblem& problem);
  void residual_of_judged(const ContactProblem& problem);
  void subtract_velocities(const ContactProblem& problem);

  Point x_, d_, affine_;
  Point kept_, tangent_, rate_, secant_;          // of the path
  VectorBuffer d_scale_, g_, R_, lower_, upper_;  // the scaled problem
  std::vector<Cone> cones_;
  VectorBuffer fixed_;  // force of a row without room, else infinite
  VectorBuffer start_, r_, rho_, work_, c_true_, best_, D_, metric_;
  BlockSystem system_;
  double allowed_ = HUGE_VAL;
  double last_step_ = 1;
  bool turning_ = false;  // (ip.7) is on
  int corrections_ = 0;   // of the last advance along the path
  double beta_ = 1;       // forces and velocities are divided by this beside the scaling by blocks
};

}  // namespace tribo
