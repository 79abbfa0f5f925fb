#include "pinocchio_peer.hpp"

#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/algorithm/solvers/pgs-solver.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>

namespace tribo::bench {

namespace pin = pinocchio;

struct PinocchioPeer::Inside {
  pin::Model model;
  std::vector<pin::ConstraintModel> models;
  std::vector<pin::ConstraintData> datas;
  pin::DelassusOperatorDense G;
  Eigen::VectorXd g;
  pin::ADMMConstraintSolver admm;
  pin::PGSConstraintSolver pgs;
  pin::ADMMSolverResult admm_result;
  pin::PGSSolverResult pgs_result;
  VecX f;

  template <class Solver, class Settings, class Result>
  void run(Solver& solver, const Settings& settings, Result& result, const VecX& guess) {
    result.reset();
    result.setConstraintImpulseGuess(guess);
    solver.solve(G, g, models, datas, settings, result);
    result.retrieveConstraintImpulses(f);
  }
};

PinocchioPeer::PinocchioPeer(const ContactProblem& problem) : inside_(std::make_unique<Inside>()) {
  Inside& in = *inside_;
  // Only the cones count: the motion is in G and g.
  const pin::JointIndex joint = in.model.addJoint(0, pin::JointModelFreeFlyer(), pin::SE3::Identity(), "body");
  for (int i = 0; i < problem.nc(); ++i) {
    pin::PointContactConstraintModel contact(in.model, 0, pin::SE3::Identity(), joint, pin::SE3::Identity());
    contact.setFriction(problem.mu()[i]);
    in.models.emplace_back(contact);
    in.datas.emplace_back(contact.createData());
  }
  in.G = pin::DelassusOperatorDense(MatX(problem.G()));
  in.g = problem.g();
  in.f.setZero(problem.size());
}

PinocchioPeer::~PinocchioPeer() = default;

void PinocchioPeer::solve(Method method, double tolerance, const VecX& guess) {
  Inside& in = *inside_;
  if (method == Method::Pgs) {
    pin::PGSSolverSettings settings(10000, tolerance, tolerance, tolerance, tolerance);
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0;
    in.run(in.pgs, settings, in.pgs_result, guess);
    return;
  }
  pin::ADMMSolverSettings settings(10000, tolerance, tolerance, tolerance, tolerance);
  settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0;
  if (method == Method::AdmmSpectral) settings.admm_update_rule = pin::ADMMUpdateRule::SPECTRAL;
  in.run(in.admm, settings, in.admm_result, guess);
}

const VecX& PinocchioPeer::forces() const { return inside_->f; }

}  // namespace tribo::bench
