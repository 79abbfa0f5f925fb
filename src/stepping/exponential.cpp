// Exponential integration of visco-elastic contact [Hammoud2022].
//   x = (p - p0, c),  x' = A x + b,  A = [0 I; -G K  -G B],  b = (0, J vdot_free + Jdot v), held over the part (expo.3)
//   f1 = int f / h,  f2 = 2 int int f / h^2,  both into the cone                                               (expo.4)
//   v' = v + h (vdot_free + M^-1 J^T f1),  q+ = q moved along h v + h^2/2 (vdot_free + M^-1 J^T f2) (expo.5)
// Where f1 leaves the cone the contact slips, and the step is solved again without its springs along the surface, with
// friction mu f_N against the slip as a known force, until f_N is settled; then (expo.4) (expo.6) The paper cuts f1 and
// f2 and stops there (project_only); the stick forces that are cut have then tilted the body already, and a box that
// slides at a long step is lifted. Where damping is proportional to stiffness in an island, the integrals come
// from a polynomial in K^1/2 G K^1/2 if a short one is exact, or from its modes; else from the exponential of an
// augmented matrix. Gains are taken at the start of the step;
// joint damping at its end, in M. Joint limits are unknowns beside the contacts.
#include <cmath>

#include "model/names.hpp"
#include "stepping/compliant.hpp"
#include "stepping/matrix_exponential.hpp"
#include "stepping/modal.hpp"
#include "stepping/polynomial.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Exponential final : public Compliant {
 public:
  Exponential(const Model& model, const StepperOptions& options)
      : Compliant(model, options), damped_(!model.joints.damping.isZero(0)) {
    for (VecX* x : {&extra_, &vdot_}) x->setZero(model.nv);
    if (options.compliant.method == ExponentialMethod::Modal) refuse_unequal_damping(model);
  }

 private:
  // The modal route alone was asked for: damping must be proportional to stiffness everywhere.
  static void refuse_unequal_damping(const Model& model) {
    const SurfacePair& first = model.surface(0);
    const double beta = first.damping / first.stiffness;
    auto check = [&](double K, double B, const char* stiffness, const char* damping, int i) {
      if (std::abs(B - beta * K) <= 1e-12 * B) return;
      throw InvalidInput(model.surface_name(i) + ": " + damping + " / " + stiffness + " = " + shown(B / K) +
                         " s, must be " + shown(beta) +
                         " s as elsewhere for method = \"modal\" (use \"auto\" or \"full\")");
    };
    for (int i = 0; i < model.surfaces(); ++i) {
      const SurfacePair& s = model.surface(i);
      check(s.stiffness, s.damping, "stiffness", "damping", i);
      check(std::isnan(s.stiffness_tangential) ? s.stiffness : s.stiffness_tangential,
            std::isnan(s.damping_tangential) ? s.damping : s.damping_tangential, "stiffness_tangential",
            "damping_tangential", i);
    }
  }

  bool implicit_damping() const override { return true; }

  bool solve(const Model& model, const State& state, Workspace& work, double h, StepReport& report) override {
    if (!factored_ || damped_) {
      if (damped_) extra_ = h * model.joints.damping;
      work.dynamics.factor(extra_);
    }
    factored_ = true;
    applied(model, state, work, vdot_);
    to_acceleration(model, work.dynamics, vdot_);
    v_new_ = state.v + h * vdot_;
    v_mean_ = state.v + 0.5 * h * vdot_;
    if (springs_.empty() && limits_.empty()) return true;
    work.assembly.group(contacts_, rows_);
    report.islands = work.assembly.islands();
    bool good = true;
    for (int i = 0; i < work.assembly.islands(); ++i) good &= solve_island(state, work, work.assembly.island(i), h);
    return good;
  }

  bool solve_island(const State& state, Workspace& work, const Island& island, double h) {
    work.assembly.build(island, contacts_, rows_, work.dynamics, state.v, vdot_, true, problem_, before_, free_);
    if (!problem_.dense()) {
      problem_.resize(problem_.nc(), problem_.nr(), true);
      problem_.densify();
    }
    gather(work, island);
    if (!integrate_forces(h, true)) return false;
    if (!options_.compliant.bilateral && !options_.compliant.project_only && !let_slip(island, h)) return false;
    scatter(island);
    work.assembly.apply(island, work.dynamics, problem_, f1_.data(), h, zero_, v_new_);
    work.assembly.apply(island, work.dynamics, problem_, f2_.data(), 0.5 * h, zero_, v_mean_);  // (expo.5)
    return true;
  }

  // x0, b, K and B of the island. (expo.3)
  void gather(const Workspace& work, const Island& island) {
    const int n = problem_.size(), nc = problem_.nc();
    for (VectorBuffer* x : {&K_, &B_, &x_, &c_, &f1_, &f2_}) x->resize(n);
    for (int i = 0; i < nc; ++i) {
      const Spring& s = springs_[at(island.contacts[at(i)])];
      const Contact& contact = contacts_[at(island.contacts[at(i)])];
      const Dynamics& d = work.dynamics;
      const Vec3 bias = d.point_bias(contact.body_b, contact.p_WC) - d.point_bias(contact.body_a, contact.p_WC);
      K_.map().segment<3>(3 * i) = s.K;
      B_.map().segment<3>(3 * i) = s.B;
      x_.map().segment<3>(3 * i) = s.x;
      c_.map().segment<3>(3 * i) = s.c;
      free_.map().segment<3>(3 * i) += contact.R_WC.transpose() * bias;
    }
    for (int j = 0; j < problem_.nr(); ++j) {
      const LimitSpring& l = limits_[at(island.rows[at(j)])];
      K_[3 * nc + j] = options_.compliant.limit_stiffness;
      B_[3 * nc + j] = options_.compliant.limit_damping;
      x_[3 * nc + j] = l.gap;
      c_[3 * nc + j] = l.c;
    }
  }

  // Is B = beta K? The ratio, or -1.
  double proportion() const {
    double beta = 0;
    bool known = false;
    for (Eigen::Index i = 0; i < K_.size(); ++i) {
      if (K_[i] == 0) continue;
      if (known && std::abs(B_[i] - beta * K_[i]) > 1e-12 * B_[i]) return -1;
      if (!known) beta = B_[i] / K_[i];
      known = true;
    }
    return beta;
  }

  // f1 and f2 of the springs that hold, before the cone (expo.4). changed: K, B or G are new.
  bool integrate_forces(double h, bool changed) {
    const int n = problem_.size();
    const ExponentialMethod method = options_.compliant.method;
    const double* G = problem_.G().data();
    auto f1 = f1_.map(), f2 = f2_.map();
    if (changed) beta_ = proportion();
    if (beta_ >= 0 && (method == ExponentialMethod::Auto || method == ExponentialMethod::Modal)) {
      // Parts of a step differ in length: for them the coefficients would be found in vain.
      if (changed)
        few_terms_ =
            method == ExponentialMethod::Auto && h == whole_step() && polynomial_.prepare(G, K_.data(), n, beta_, h);
      if (changed && !few_terms_ && !modal_.decompose(G, K_.data(), n)) return false;
      if (few_terms_)
        polynomial_.integrate(x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
      else
        modal_.integrate(beta_, h, x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
    } else {
      const int order = method == ExponentialMethod::Reduced ? options_.compliant.order : 0;
      if (!exponential_.integrate(G, K_.data(), B_.data(), n, h, order, x_.data(), c_.data(), free_.data(), f1_.data(),
                                  f2_.data()))
        return false;
    }
    f1 /= h;
    f2 *= 2 / (h * h);
    return true;
  }

  // (expo.6)
  bool let_slip(const Island& island, double h) {
    const int nc = problem_.nc();
    hold_.assign(at(nc), Hold::Stick);
    known_.setZero(problem_.size());
    against_.resize(problem_.size());
    for (int pass = 0; pass < most_passes; ++pass) {
      bool other_springs = false, other_forces = false;
      for (int i = 0; i < nc; ++i) classify(springs_[at(island.contacts[at(i)])], i, other_springs, other_forces);
      if (!other_springs && !other_forces) break;
      if (!integrate_forces(h, other_springs)) return false;
    }
    for (int i = 0; i < nc; ++i)
      if (hold_[at(i)] != Hold::Stick)
        for (VectorBuffer* f : {&f1_, &f2_}) f->map().segment<2>(3 * i) = known_.map().segment<2>(3 * i);
    return true;
  }

  // Takes the springs along the surface away where a contact slips or pulls, and keeps its friction up with f_N.
  void classify(const Spring& s, int i, bool& other_springs, bool& other_forces) {
    const int o = 3 * i;
    Hold& hold = hold_[at(i)];
    const Vec3 f = f1_.map().segment<3>(o);
    Eigen::Vector2d friction = Eigen::Vector2d::Zero();
    if (hold == Hold::Stick) {
      const double tangential = std::hypot(f.x(), f.y()), mu = s.slipping ? s.mu_slip : s.mu_stick;
      if (f.z() > 0 && tangential <= mu * f.z()) return;
      hold = Hold::Slip;
      K_[o] = K_[o + 1] = B_[o] = B_[o + 1] = 0;
      other_springs = true;
      const double normal = f.z() > 0 ? f.z() : s.f.z();
      // Kept while the normal force is sought: it may vanish on the way and come back.
      auto against = against_.map().segment<2>(o);
      against.setZero();
      if (tangential > 0) against = f.head<2>() / tangential;
      friction = s.mu_slip * normal * against;
    } else if (f.z() > 0) {
      friction = s.mu_slip * f.z() * against_.map().segment<2>(o);
    }
    const Eigen::Vector2d change = friction - known_.map().segment<2>(o);
    if (change.norm() <= 1e-6 * friction.norm()) return;
    other_forces = true;
    known_.map().segment<2>(o) = friction;
    for (int k = 0; k < 2; ++k) free_.map() += change[k] * problem_.G().col(o + k);
  }

  // Into the cone (expo.4).
  void scatter(const Island& island) {
    const int nc = problem_.nc();
    auto f1 = f1_.map(), f2 = f2_.map();
    for (int i = 0; i < nc; ++i) {
      Spring& s = springs_[at(island.contacts[at(i)])];
      ContactMode second;
      s.mean = project(s, f1.segment<3>(3 * i), s.mode);
      f1.segment<3>(3 * i) = s.mean;
      f2.segment<3>(3 * i) = project(s, f2.segment<3>(3 * i), second);
    }
    for (int j = 0; j < problem_.nr(); ++j) {
      f1[3 * nc + j] = std::max(f1[3 * nc + j], 0.0);
      f2[3 * nc + j] = std::max(f2[3 * nc + j], 0.0);
      limits_[at(island.rows[at(j)])].mean = f1[3 * nc + j];
    }
  }

  enum class Hold : char { Stick, Slip };
  static constexpr int most_passes = 12;

  bool damped_;
  double beta_ = 0;
  std::vector<Hold> hold_;
  ContactProblem problem_;
  VectorBuffer against_;  // unit vectors against the slip, where contacts slip
  VectorBuffer before_, free_, known_, K_, B_, x_, c_, f1_, f2_;
  VecX extra_, vdot_;
  Modal modal_;
  Polynomial polynomial_;
  bool few_terms_ = false;  // the polynomial is in use
  MatrixExponential exponential_;
};

}  // namespace

std::unique_ptr<Stepper> make_exponential(const Model& model, const StepperOptions& options) {
  return std::make_unique<Exponential>(model, options);
}

}  // namespace tribo
