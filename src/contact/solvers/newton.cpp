// Semismooth Newton on the nonlinear complementarity problem: the default solver.
//
// Each contact is open, stuck or slipping by the trial point y = f - r c, r the inverse scale of its block of G:
//   open   y_N <= 0:                 f+ = 0                                                     (newton.1)
//   stick  |y_T| <= mu y_N:          c+ = 0                                                     (newton.2)
//   slip   otherwise:                c+_N = 0,                                                  (newton.3)
//          (I - N) f+_T + r N c+_T - mu y^ f+_N = f'_T - mu y_N y^,   N = e I - f'_T y^T / |y_T|^2
//          with y^ = y_T/|y_T|, e = mu y_N/|y_T|, f'_T = f_T shortened to mu y_N
// (the map of [AlartCurnier1991] with the derivative of [Hueeber2008, eq. 4.12 ff.], which keeps the slip block from
// turning indefinite). Without friction f_T = 0 is no unknown. Rows are boxes: at a bound by y, else c+ = 0    (newton.4)
// Torsional and rolling friction stick or slip likewise, each disc by itself, with the length r for mu; the one row of
// torsional friction has N = 0: f+ = r y^ f+_N                                       (newton.6)
//
// G may be rank-deficient, so c+ carries sigma (f+ - f_k), sigma = 1e-9 of the block's scale; the first iteration
// has 0 for f_k: it picks the forces of least norm. All contacts of a pair of bodies have one sigma, that of the largest
// scale, so that they share what they can share in equal parts. What sigma leaves is removed with the factor at hand,
//   (A + sigma) df = sigma (f+ - f_k)                                                            (newton.5)
// Where nothing slips the matrix is symmetric and Cholesky's factor serves.
// Where something slips, how contacts share a load that they could share otherwise changes the motion. Then their forces
// are those of a bed of equal springs, z = Q Q^T f (load_share.hpp), clipped at zero: c+ carries rho (f+ - z) until f = z
//                                                                                              (newton.7)
// If this does not reach the tolerance within a few iterations, the interior-point method is called and its answer
// polished here. What neither solves is hard or without a solution: infeasibility.cpp tells, last_resort.cpp takes the hard.
#include <cmath>

#include "contact/solvers/contact_sweeps.hpp"
#include "contact/solvers/infeasibility.hpp"
#include "contact/solvers/last_resort.hpp"
#include "contact/solvers/load_share.hpp"
#include "contact/solvers/newton_slip.hpp"
#include "contact/solvers/newton_sparse.hpp"
#include "contact/solvers/parts_solver.hpp"
#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

// Of Gauss-Seidel on a large problem with a poor guess: they cost as much as an iteration of the interior point, save two to
// three of thirteen on 300 balls, and most of the starts that stall.
constexpr int sweeps_first = 8;
constexpr double in_motion = 1e-3;  // relative residual that Newton's method leaves: then something moves
// Asked for as much, the tolerance is met with one step to spare: the work of friction is flat at the direction of a slip,
// whose error is the root of what the judge sees.
constexpr double exact = 1e-11;
// Newton's method that has not come to an end by now wanders, and where to is a matter of rounding: it leaves its place to
// the interior point, which begins where the first step led.
constexpr int most_first = 10;
// Of (newton.7): springs over sigma, steps, and of the largest force what may still change, and what may carry.
constexpr double firmest = 1e5, softest = 10, settled_share = 1e-10, may_carry = 1e-3;
constexpr int most_bed_steps = 12;
constexpr double most_products = 1e11;      // of numbers, in factors of the interior point: some 15 s
constexpr double certificate_share = 0.25;  // of those, beside them, to tell that there is no solution
constexpr int most_dense = 400;             // unknowns that the matrix is made for where nothing else helped

class Newton final : public ContactSolver {
 public:
  explicit Newton(const SolverOptions& options, bool shares = true)
      : options_(options), parts_(options), shares_(shares) {}

  void take(Crew& crew) { parts_.take(crew); }

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    if (problem.size() == 0) return {};
    SolveReport report = find(problem, tolerance, f);
    const bool found = report.status == SolveStatus::Converged && report.iterations > 0;
    if (shares_ && found && problem.dense() && problem.discs.empty() && problem.nc() > 2 && !slips_.empty() &&
        touches_often(problem))
      share_load(problem, tolerance, f, report);
    return report;
  }

 private:
  SolveReport find(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
    SolveReport report;
    if (!problem.mu().allFinite()) {  // what else is not finite shows in the residual of the guess
      report.status = SolveStatus::Invalid;
      return report;
    }
    report = iterate(problem, tolerance, f, std::min(options_.max_iterations, most_first));
    if (report.status == SolveStatus::Converged || report.status == SolveStatus::Invalid) return report;

    const SolveReport first = report;
    double allowed = most_products;
    saved_.resize(problem.size());
    if (!problem.dense() && first.residual.relative() > in_motion) {
      sweeps_.run(problem, sweeps_first, f);
      if (problem.discs.empty()) {
        report = parts_.solve(problem, tolerance, allowed, f);
        if (report.status == SolveStatus::Converged) return report;
      }
    }
    if (problem.dense() && first.iterations > 0) f = early_.map();
    interior_point_.allow(allowed);
    const SolveReport interior = interior_point_.solve(problem, tolerance, f);
    saved_.map() = f;
    // One step more where the tolerance is met already: what sticks then sticks to rounding. Not for heaps that move.
    const bool moves = !problem.dense() && first.residual.relative() > poor_guess;
    if (!(moves && interior.status == SolveStatus::Converged))
      report = iterate(problem, tolerance, f, interior.status == SolveStatus::Converged ? 3 : 8, true);
    int iterations = first.iterations + interior.iterations + report.iterations;
    if (report.status != SolveStatus::Converged && !(report.residual.relative() < interior.residual.relative())) {
      f = saved_.map();
      report = interior;
    }
    if (report.status != SolveStatus::Converged && problem.dense()) {  // great mass ratios: as if each bore the weight
      const SolveReport before = report;
      saved_.map() = f;
      for (int i = 0; i < problem.size(); ++i) f[i] = i < 3 * problem.nc() && i % 3 == 2 ? problem.weight : 0.0;
      report = iterate(problem, tolerance, f, 16);
      iterations += report.iterations;
      if (!(report.residual.relative() < before.residual.relative())) {
        f = saved_.map();
        report = before;
      }
    }
    if (report.status != SolveStatus::Converged) {
      if (infeasibility_.certify(problem, certificate_share * most_products)) {
        report.status = SolveStatus::Infeasible;
      } else {
        // What the factor did not solve: by the matrix too, if that is not too large.
        const bool again = !problem.dense() && problem.size() <= most_dense;
        report =
            again ? solve(by_matrix(problem, dense_problem_), tolerance, f) : last_resort_.solve(problem, tolerance, f);
        iterations += report.iterations;
        if (interior_point_.spent() && report.status == SolveStatus::Stalled)
          report.status = SolveStatus::IterationLimit;
      }
    }
    report.iterations = iterations;
    report.escalated = true;
    return report;
  }

  // (newton.7), with less and less spring where contacts contradict each other by a little.
  void share_load(const ContactProblem& problem, const Tolerance& tolerance, VecRef f, SolveReport& report) {
    prepare(problem);
    set_scales(problem);
    saved_.resize(problem.size());
    saved_.map() = f;
    for (spring_ = firmest; spring_ >= softest; spring_ *= 1e-2) {
      const Bed bed = settle_on_bed(problem, f, report);
      const Residual residual = judge_afresh(problem, options_.model, f.data(), c_);
      if (bed == Bed::Settled && tolerance.met(residual)) {
        report.residual = residual;
        return;
      }
      f = saved_.map();
      if (bed == Bed::NotNeeded) return;
    }
  }

  enum class Bed { NotNeeded, Settled, Unsettled };

  Bed settle_on_bed(const ContactProblem& problem, VecRef f, SolveReport& report) {
    share_.begin();
    problem.velocity(f.data(), c_.data());
    const double size = f.cwiseAbs().maxCoeff();
    bed_.resize(problem.size());
    bed_.map() = f;
    for (int i = 0; i < problem.nc(); ++i) bed_[3 * i + 2] += may_carry * size;
    sharing_ = true;
    double change = size;
    bool needed = false;
    for (int k = 0; k < most_bed_steps && change > settled_share * size; ++k) {
      best_.map() = f;
      const int m = count_active(problem, f, 0);
      f = best_.map();
      needed |= !slips_.empty() && share_.find(problem, held_rows(problem, active_, m, slips_, held_));
      if (!needed || slips_.empty()) break;
      share_.of(f, bed_);
      for (const Slip& slip : slips_)
        for (int i = 0; i < slip.size; ++i) bed_[active_[at(slip.row + i)]] = f[active_[at(slip.row + i)]];
      if (!newton_step(problem, f, false)) break;
      ++report.iterations;
      change = (f - best_.map()).cwiseAbs().maxCoeff();
      problem.velocity(f.data(), c_.data());
    }
    sharing_ = false;
    return !needed ? Bed::NotNeeded : change > settled_share * size ? Bed::Unsettled : Bed::Settled;
  }

  void prepare(const ContactProblem& problem) {
    const int n = problem.size();
    active_.resize(at(n));
    normal_.resize(at(problem.nc()));
    slips_.reserve(at(problem.nc()) + problem.discs.size());
    trial_.resize(problem.nc());
    c_.resize(n);
    rhs_.resize(n);
    best_.resize(n);
    early_.resize(n);
    scale_.resize(problem.blocks());
  }

  // Looks at G.
  void set_scales(const ContactProblem& problem) {
    for (int i = 0; i < problem.nc(); ++i) {
      const int o = 3 * i;
      double d = 0;
      for (int k = 0; k < 3; ++k) d = std::max(d, diagonal(problem, o + k));
      scale_[i] = std::max(d, 1e-300);
    }
    for (int j = 0; j < problem.nr(); ++j)
      scale_[problem.nc() + j] = std::max(diagonal(problem, 3 * problem.nc() + j), 1e-300);
    for (const FrictionDisc& d : problem.discs)
      if (d.size == 2) {
        double* s = scale_.data() + problem.nc() + d.row;
        s[0] = s[1] = std::max(s[0], s[1]);
      }
    set_sigma(problem);
  }

  void set_sigma(const ContactProblem& problem) {
    sigma_.resize(problem.blocks());
    for (int i = 0; i < problem.blocks(); ++i) sigma_[i] = 1e-9 * scale_[i];
    for (int first = 0, end = 0; first < problem.nc(); first = end) {
      for (end = first; end < problem.nc() && same_bodies(problem.factor, first, end);) ++end;
      const double largest = sigma_.map().segment(first, end - first).maxCoeff();
      sigma_.map().segment(first, end - first).setConstant(largest);
    }
  }

  // Contacts of a pair follow each other.
  static bool same_bodies(const ContactFactor& factor, int i, int j) {
    if (i == j) return true;
    if (factor.empty()) return false;
    const int a = factor.start[at(i)], b = factor.start[at(j)], count = factor.start[at(i) + 1] - a;
    if (factor.start[at(j) + 1] - b != count) return false;
    for (int k = 0; k < count; ++k)
      if (factor.blocks[at(a + k)].body != factor.blocks[at(b + k)].body) return false;
    return true;
  }

  static double diagonal(const ContactProblem& problem, int i) { return problem.G()(i, i) + problem.R()[i]; }

  // Newton steps until the judge is content; f holds the best point seen.
  SolveReport iterate(const ContactProblem& problem, const Tolerance& tolerance, VecRef f, int most,
                      bool polish = false) {
    if (!problem.dense()) return sparse_.iterate(problem, tolerance, most, f, options_.trace);
    prepare(problem);
    SolveReport report;
    report.residual = judge_afresh(problem, options_.model, f.data(), c_);
    if (!std::isfinite(report.residual.absolute())) {
      report.status = SolveStatus::Invalid;
      return report;
    }
    double least = report.residual.relative();
    best_.map() = f;
    const bool met = tolerance.met(report.residual), spare = tolerance.rel <= exact;
    if (!polish && !spare && within(tolerance, guess_share).met(report.residual)) return report;
    if (met && !polish) most = 1;
    set_scales(problem);
    report.status = met ? SolveStatus::Converged : SolveStatus::IterationLimit;
    for (int k = 0; k < most; ++k) {
      if (!newton_step(problem, f, k == 0)) {
        if (!met) report.status = SolveStatus::Stalled;
        break;
      }
      if (k == 0 && !polish) early_.map() = f;
      const Residual residual = judge_afresh(problem, options_.model, f.data(), c_);
      report.iterations = k + 1;
      if (options_.trace) options_.trace->push_back(residual.absolute());
      if (residual.relative() < least) {
        least = residual.relative();
        best_.map() = f;
        report.residual = residual;
      }
      const bool last = report.status == SolveStatus::Converged && !met;
      if (tolerance.met(residual) && (!met || spare)) {
        best_.map() = f;
        report.residual = residual;
        report.status = SolveStatus::Converged;
        if (!spare) return report;
      }
      if (last) break;
    }
    f = best_.map();
    return report;
  }

  // Classifies, assembles and solves for f+ in place; false where the matrix is singular.
  bool newton_step(const ContactProblem& problem, VecRef f, bool first) {
    // f becomes the fixed part: zero where open, the bound where a row is at one.
    const double noise = first && problem.nr() > 0 ? guess_noise(problem, f) : 0;
    const int m = count_active(problem, f, noise);
    if (m == 0) return true;
    const bool slips = !slips_.empty();
    matrix_.resize(m, m);
    assemble(problem, f, first);
    if (slips) {
      for (Slip& slip : slips_) slip.size == 1 ? torsional_row(slip, matrix_, rhs_) : slip_rows(slip, matrix_, rhs_);
      pivot_.resize(at(m));
      if (!dense::lu(matrix_.data(), m, pivot_.data())) return false;
    } else if (!dense::cholesky(matrix_.data(), m)) {
      return false;
    }
    back_substitute(slips, m, rhs_.data());
    if (!sharing_) refine(problem, f, first, slips, m);
    for (int a = 0; a < m; ++a) f[active_[at(a)]] = rhs_[a];
    return true;
  }

  void back_substitute(bool slips, int m, double* b) {
    if (slips)
      dense::lu_solve(matrix_.data(), m, pivot_.data(), b);
    else
      dense::cholesky_solve(matrix_.data(), m, b);
  }

  // (newton.5); the rows of a slipping contact carry sigma as they carry c: through r N.
  void refine(const ContactProblem& problem, const VecRef& f, bool first, bool slips, int m) {
    left_.resize(m);
    for (int a = 0; a < m; ++a) {
      const int i = active_[at(a)];
      left_[a] = sigma(problem, i) * (rhs_[a] - (first ? 0.0 : f[i]));
    }
    for (const Slip& slip : slips_) {
      double* left = left_.data() + slip.row;
      const double x = left[0], y = slip.size == 2 ? left[1] : 0;
      left[0] = slip.rN[0] * x + slip.rN[1] * y;
      if (slip.size == 2) left[1] = slip.rN[2] * x + slip.rN[3] * y;
    }
    back_substitute(slips, m, left_.data());
    for (int a = 0; a < m; ++a) rhs_[a] += left_[a];
  }

  double sigma(const ContactProblem& problem, int i) const {
    const bool contact = i < 3 * problem.nc();
    return sigma_[contact ? i / 3 : i - 2 * problem.nc()] * (sharing_ && contact ? spring_ : 1.0);
  }

  // What a guess leaves of accelerations that shall vanish: below it the sign of another one tells nothing.
  double guess_noise(const ContactProblem& problem, const VecRef& f) const {
    double noise = 0;
    for (int i = 0; i < problem.nc(); ++i)
      if (f[3 * i + 2] > 0) noise = std::max(noise, std::abs(c_[3 * i + 2]));
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      if (f[o] > problem.lower()[j] && f[o] < problem.upper()[j]) noise = std::max(noise, std::abs(c_[o]));
    }
    return noise;
  }

  // Lists the unknowns and what of them slips, and writes into f the values of the others. Rows leave a bound where they
  // would go faster than noise; contacts share their load, and one without force may have to take its part.
  int count_active(const ContactProblem& problem, VecRef f, double noise) {
    int m = 0;
    slips_.clear();
    for (int i = 0; i < problem.nc(); ++i) {
      const int o = 3 * i;
      const double r = 1.0 / scale_[i], mu = problem.mu()[i];
      const double x = f[o] - r * c_[o], y = f[o + 1] - r * c_[o + 1];
      const double n = f[o + 2] - r * c_[o + 2] - (sharing_ ? r * sigma(problem, o + 2) * (f[o + 2] - bed_[o + 2]) : 0);
      trial_[i] = n;
      normal_[at(i)] = mu > 0 ? m + 2 : m;
      if (n <= 0) {
        f.segment<3>(o).setZero();
        continue;
      }
      if (mu > 0 && norm(x, y) > mu * n) slips_.push_back({m, m + 2, 2, {x, y}, {f[o], f[o + 1]}, mu, n, r});
      if (!(mu > 0)) f[o] = f[o + 1] = 0;
      for (int k = mu > 0 ? 0 : 2; k < 3; ++k) active_[at(m++)] = o + k;
    }
    int j = 0;
    for (const FrictionDisc& disc : problem.discs) {
      m = box_rows(problem, j, disc.row, m, f, noise);
      m = disc_rows(problem, disc, m, f);
      j = disc.row + disc.size;
    }
    return box_rows(problem, j, problem.nr(), m, f, noise);
  }

  // (newton.4) for rows [first, end), of m unknowns so far.
  int box_rows(const ContactProblem& problem, int first, int end, int m, VecRef f, double noise) {
    for (int j = first; j < end; ++j) {
      const int o = 3 * problem.nc() + j;
      const double y = f[o] - c_[o] / scale_[problem.nc() + j];
      const double low = problem.lower()[j], high = problem.upper()[j];
      if (y <= low || (f[o] == low && -c_[o] <= noise))
        f[o] = low;
      else if (y >= high || (f[o] == high && c_[o] <= noise))
        f[o] = high;
      else
        active_[at(m++)] = o;
    }
    return m;
  }

  // (newton.6)
  int disc_rows(const ContactProblem& problem, const FrictionDisc& disc, int m, VecRef f) {
    const int o = 3 * problem.nc() + disc.row;
    const double n = trial_[disc.contact], r = 1 / scale_[problem.nc() + disc.row];
    Slip slip{m, normal_[at(disc.contact)], disc.size, {0, 0}, {0, 0}, disc.length, n, r};
    for (int k = 0; k < disc.size; ++k) {
      if (n <= 0) {
        f[o + k] = 0;
        continue;
      }
      slip.y[k] = f[o + k] - r * c_[o + k];
      slip.f[k] = f[o + k];
      active_[at(m++)] = o + k;
    }
    if (n > 0 && !(disc.length > 0 && norm(slip.y[0], slip.y[1]) <= disc.length * n)) slips_.push_back(slip);
    return m;
  }

  // c+ = 0 for every active unknown: (G + R + sigma) f+ = sigma f_k - b, b what the fixed ones and g give.
  void assemble(const ContactProblem& problem, const VecRef& f, bool first) {
    const auto G = problem.G();
    auto A = matrix_.map();
    const int m = static_cast<int>(A.rows());
    const bool fixed = problem.nr() > 0;
    for (int a = 0; a < m; ++a) {
      const int i = active_[at(a)];
      const double* column = G.data() + static_cast<std::ptrdiff_t>(i) * problem.size();
      double* out = A.data() + static_cast<std::ptrdiff_t>(a) * m;
      for (int b = 0; b < m; ++b) out[b] = column[active_[at(b)]];
      const double shift = sigma(problem, i);
      out[a] += problem.R()[i] + shift;
      rhs_[a] = -problem.g()[i] + (first ? 0.0 : shift * (sharing_ && i < 3 * problem.nc() ? bed_[i] : f[i]));
    }
    if (!fixed) return;
    for (int j = 0, a = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      while (a < m && active_[at(a)] < o) ++a;
      if ((a < m && active_[at(a)] == o) || f[o] == 0) continue;
      for (int b = 0; b < m; ++b) rhs_[b] -= G(active_[at(b)], o) * f[o];
    }
  }

  SolverOptions options_;
  ContactSweeps sweeps_;
  InteriorPoint interior_point_;
  Infeasibility infeasibility_;
  LastResort last_resort_;
  SparseNewton sparse_;
  std::vector<Slip> slips_;
  std::vector<int> active_, pivot_;
  std::vector<int> normal_;  // place of a contact's normal force among the unknowns
  VectorBuffer trial_;       // normal part of its trial point
  VectorBuffer c_, rhs_, left_, best_, scale_, sigma_, saved_;
  MatrixBuffer matrix_;
  LoadShare share_;
  std::vector<int> held_;
  VectorBuffer bed_, early_;
  bool sharing_ = false;
  double spring_ = 1;
  PartsSolver parts_;
  ContactProblem dense_problem_;
  bool shares_;  // (newton.7)
};

}  // namespace

std::unique_ptr<ContactSolver> make_newton(const SolverOptions& options) { return std::make_unique<Newton>(options); }

std::unique_ptr<ContactSolver> make_newton_of_parts(const SolverOptions& options) {
  return std::make_unique<Newton>(options, false);
}

void share_parts(ContactSolver& solver, Crew& crew) {
  if (auto* newton = dynamic_cast<Newton*>(&solver)) newton->take(crew);
}

}  // namespace tribo
