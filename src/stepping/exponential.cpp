// Exponential integration of visco-elastic contact [Hammoud2022].
//   x = (p - p0, c),  x' = A x + b,  A = [0 I; -G K  -G B],  b = (0, J vdot_free + Jdot v), held over the part (expo.3)
//   f1 = int f / h,  f2 = 2 int int f / h^2,  both into the cone                                               (expo.4)
//   v' = v + h (vdot_free + M^-1 J^T f1),  q+ = q moved along h v + h^2/2 (vdot_free + M^-1 J^T f2) (expo.5)
// Where f1 leaves the cone the contact slips, and the step is solved again without its springs along the surface, with
// friction mu f_N against the slip as a known force, until f_N is settled; then (expo.4) (expo.6) The paper cuts f1 and
// f2 and stops there (project_only); the stick forces that are cut have then tilted the body already, and a box that
// slides at a long step is lifted. Where damping is proportional to stiffness in an island, the integrals come
// from a polynomial in K^1/2 G K^1/2 if a short one is exact, or from its modes; else from the exponential of an
// augmented matrix. Gains are taken at the start of the step; joint damping at its end, in M. Joint limits are unknowns
// beside the contacts.
// Midpoint: with v_mean found so, M, J and b are taken again at q moved along h/2 v_mean and at v_mean, and the part is
// crossed from its start with those: order 2; joint damping is then that of the middle                       (expo.7)
// Events, accuracy: a part is halved while a contact slips, sticks again or lets go within it                (expo.8)
#include <algorithm>
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
      : Compliant(model, options), damped_(!model.joints.damping.isZero(0)), stage_(model) {
    for (VecX* x : {&extra_, &vdot_, &move_, &v_stage_}) x->setZero(model.nv);
    for (const Body& b : model.bodies)
      if (b.joint == JointKind::Free) free_joints_.push_back(b.iv);
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

  double damping_at() const override { return 1; }
  bool hides_event() const override { return hidden_; }

  bool solve(const Model& model, const State& state, Workspace& work, double h, StepReport& report) override {
    if (!factored_ || damped_) {
      if (damped_) extra_ = h * model.joints.damping;
      work.dynamics.factor(extra_);
    }
    factored_ = true;
    const bool midpoint = options_.compliant.midpoint;
    const bool foreseen = midpoint && foresee(model, state, work, h);
    if (!foreseen && !cross(model, state, work, work.dynamics, state.v, contacts_, h, report)) return false;
    return !midpoint || cross_from_middle(model, state, work, h, report);
  }

  // v_mean with the forces of the part before, where they go on as they were and velocities change little: good to the
  // order that the middle needs.
  bool foresee(const Model& model, const State& state, const Workspace& work, double h) {
    if (!limits_.empty()) return false;
    for (const Spring& s : springs_)
      if (s.fresh || !((s.f - s.last).norm() <= steady * s.last.norm())) return false;
    applied(model, state, work, vdot_);
    for (std::size_t i = 0; i < springs_.size(); ++i) {
      const Contact& c = contacts_[i];
      const Vec3 f_W = c.R_WC * springs_[i].last;
      work.dynamics.add_force(c.body_b, c.p_WC, f_W, vdot_);
      work.dynamics.add_force(c.body_a, c.p_WC, -f_W, vdot_);
    }
    to_acceleration(model, work.dynamics, vdot_);
    v_mean_ = state.v + 0.5 * h * vdot_;
    return h * vdot_.cwiseAbs().maxCoeff() <= steady * state.v.cwiseAbs().maxCoeff();
  }

  // The part with M, J and the bias of `dynamics` held; v is the velocity at the start, in its axes.
  bool cross(const Model& model, const State& state, Workspace& work, const Dynamics& dynamics, const VecX& v,
             const std::vector<Contact>& contacts, double h, StepReport& report) {
    vdot_ = torque_ + work.actuation.external - dynamics.h() - model.joints.damping.cwiseProduct(v);
    to_acceleration(model, dynamics, vdot_);
    v_new_ = state.v + h * vdot_;
    v_mean_ = state.v + 0.5 * h * vdot_;
    hidden_ = false;
    if (springs_.empty() && limits_.empty()) return true;
    work.assembly.group(contacts, rows_);
    report.islands = work.assembly.islands();
    for (int i = 0; i < work.assembly.islands(); ++i)
      if (!cross_island(state, work, dynamics, contacts, work.assembly.island(i), h)) return false;
    return true;
  }

  // The same at the middle of what was found first (expo.7).
  bool cross_from_middle(const Model& model, const State& state, Workspace& work, double h, StepReport& report) {
    move_ = 0.5 * h * v_mean_;
    q_stage_ = state.q;
    integrate(model, move_, 1, q_stage_);
    v_stage_ = v_mean_;
    for (int i : free_joints_) v_stage_.segment<3>(i) = turn(-1, i) * Vec3(v_stage_.segment<3>(i));
    stage_.compute(q_stage_, v_stage_);
    extra_ = 0.5 * h * model.joints.damping;
    stage_.factor(extra_);
    stage_contacts_ = contacts_;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const Followed f = follow(i, work, stage_);
      stage_contacts_[i].p_WC = contacts_[i].body_a < 0 ? f.p_b : Vec3(0.5 * (f.p_a + f.p_b));
    }
    v_stage_ = state.v;
    for (int i : free_joints_) v_stage_.segment<3>(i) = turn(-1, i) * Vec3(v_stage_.segment<3>(i));
    if (!cross(model, state, work, stage_, v_stage_, stage_contacts_, h, report)) return false;
    for (int i : free_joints_) {  // from the axes of the middle to those of the start
      const Quat forth = turn(1, i);
      for (VecX* v : {&v_new_, &v_mean_}) {
        const Vec3 u = state.v.segment<3>(i), change = v->segment<3>(i) - u;
        v->segment<3>(i) = u + forth * change;
      }
    }
    return true;
  }

  // In the middle, where M, J and the bias were taken.
  void charge(const Model& model, const State& state, const Workspace& work, double h) override {
    if (!options_.compliant.midpoint) return Compliant::charge(model, state, work, h);
    power_ = {};
    v_stage_ = 0.5 * (state.v + v_new_);
    vdot_ = (v_new_ - state.v) / h;
    for (int i : free_joints_)
      for (VecX* x : {&v_stage_, &vdot_}) x->segment<3>(i) = turn(-1, i) * Vec3(x->segment<3>(i));
    add_moment(model, work, {stage_, v_stage_, vdot_, v_stage_});
    add_mean_forces(model, stage_, stage_contacts_, v_stage_);
  }

  // Rotation of a free joint over half of the part.
  Quat turn(double sign, int i) const { return rotation_exponential(sign * move_.segment<3>(i + 3)); }

  bool cross_island(const State& state, Workspace& work, const Dynamics& dynamics, const std::vector<Contact>& contacts,
                    const Island& island, double h) {
    work.assembly.build(island, contacts, rows_, dynamics, state.v, vdot_, true, problem_, before_, free_);
    if (!problem_.dense()) {
      problem_.resize(problem_.nc(), problem_.nr(), true);
      problem_.densify();
    }
    gather(dynamics, contacts, island);
    const bool slips = !options_.compliant.bilateral && !options_.compliant.project_only;
    const bool watched = slips && (options_.compliant.events || options_.compliant.accuracy > 0);
    if (watched) before_.map() = free_.map();
    if (!integrate_forces(h, true)) return false;
    if (slips && !let_slip(island, h)) return false;
    if (watched) watch(island, h);
    scatter(island);
    work.assembly.apply(island, dynamics, problem_, f1_.data(), h, zero_, v_new_);
    work.assembly.apply(island, dynamics, problem_, f2_.data(), 0.5 * h, zero_, v_mean_);  // (expo.5)
    return true;
  }

  // Jdot v of a point that stays under the core of a round body while its surface passes by.
  static Vec3 surface_bias(const Dynamics& d, int body, const Vec3& p, const Vec3& off) {
    const Vec3 bias = d.point_bias(body, p);
    if (body < 0 || off.isZero(0)) return bias;
    const Vec3& w = d.body_velocity(body).ang;
    return bias - w.cross(w.cross(off));
  }

  // x0, b, K and B of the island. (expo.3)
  void gather(const Dynamics& d, const std::vector<Contact>& contacts, const Island& island) {
    const int n = problem_.size(), nc = problem_.nc();
    for (VectorBuffer* x : {&K_, &B_, &x_, &c_, &f1_, &f2_}) x->resize(n);
    for (int i = 0; i < nc; ++i) {
      const Spring& s = springs_[at(island.contacts[at(i)])];
      const Contact& contact = contacts[at(island.contacts[at(i)])];
      const Vec3 bias = surface_bias(d, contact.body_b, contact.p_WC, s.off_b) -
                        surface_bias(d, contact.body_a, contact.p_WC, s.off_a);
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

  // Does one law hold for each contact over the whole part? Judged by its start, its mean and its end. (expo.8)
  void watch(const Island& island, double h) {
    const int n = problem_.size();
    const auto G = problem_.G();
    for (VectorBuffer* x : {&end_x_, &end_c_}) x->resize(n);
    end_c_.map() = c_.map() + h * before_.map();
    end_x_.map() = x_.map() + h * c_.map() + 0.5 * h * h * before_.map();
    for (int j = 0; j < n; ++j) {
      end_c_.map() += h * f1_[j] * G.col(j);
      end_x_.map() += 0.5 * h * h * f2_[j] * G.col(j);
    }
    for (int i = 0; i < problem_.nc(); ++i) hidden_ |= changes(springs_[at(island.contacts[at(i)])], i, h);
  }

  bool changes(const Spring& s, int i, double h) const {
    const Vec3 mean = f1_.map().segment<3>(3 * i), c = end_c_.map().segment<3>(3 * i);
    const Vec3 begin = -s.K.cwiseProduct(s.x) - s.B.cwiseProduct(s.c);
    const Vec3 end = -s.K.cwiseProduct(Vec3(end_x_.map().segment<3>(3 * i))) - s.B.cwiseProduct(c);
    ContactMode at_begin, at_end;
    const Vec3 b = project(s, begin, at_begin), e = project(s, end, at_end);
    const double small = 0.02 * std::max({mean.norm(), b.norm(), 1e-3 * problem_.weight});
    if (!(mean.z() > 0)) return b.norm() > small || e.norm() > small;
    if (hold_[at(i)] == Hold::Stick) return (b - begin).norm() > small || (e - end).norm() > small;
    const bool stuck = at_begin == ContactMode::Stick && std::hypot(b.x(), b.y()) < s.mu_stick * b.z() - small;
    const bool turned = c.head<2>().dot(against_.map().segment<2>(3 * i)) * h * s.K.x() > small;
    return at_begin == ContactMode::Open || stuck || turned || end.z() < -small;
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
  static constexpr double steady = 0.1;  // relative change of forces and velocities that counts as going on

  bool damped_;
  bool hidden_ = false;  // a contact changes within the part
  Dynamics stage_;       // at the middle of the part
  std::vector<Contact> stage_contacts_;
  VecX move_, q_stage_, v_stage_;
  std::vector<int> free_joints_;
  double beta_ = 0;
  std::vector<Hold> hold_;
  ContactProblem problem_;
  VectorBuffer against_;  // unit vectors against the slip, where contacts slip
  VectorBuffer before_, free_, known_, K_, B_, x_, c_, f1_, f2_, end_x_, end_c_;
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
