// Exponential integration of visco-elastic contact [Hammoud2022].
//   x = (p - p0, c),  x' = A x + b,  A = [0 I; -G K  -G B],  b = (0, J vdot_free + Jdot v), held over the step (expo.3)
//   f1 = int f / h,  f2 = 2 int int f / h^2,  both into the cone                                               (expo.4)
//   v' = v + h (vdot_free + M^-1 J^T f1),  q+ = q moved along h v + h^2/2 (vdot_free + M^-1 J^T f2) (expo.5)
// Where f1 leaves the cone the contact slips, and the step is solved again without its springs along the surface, with
// friction mu f_N as a known force, until f_N is settled; then once more with friction as spring and damper point in
// the middle of the step, order 2. What pulls is taken out with all its springs (expo.6). The paper cuts f1 and f2 and
// stops there (project_only); the stick forces that are cut have then tilted the body already, and a box that slides at
// a long step is lifted. Where damping is proportional to stiffness in an island, the integrals come from a polynomial
// in K^1/2 G K^1/2 if a short one is exact, or from its modes; else from the exponential of an augmented matrix. Gains
// are taken at the start of the step; joint damping at its end, in M. Joint limits are unknowns beside the contacts.
// Midpoint: with v_mean found so, M, J and b are taken again at q moved along h/2 v_mean and at v_mean, and the step is
// crossed from its start with those: order 2; joint damping is then that of the middle                       (expo.7)
// Events, accuracy: a substep ends where a contact begins to slip, sticks again, lets go or presses             (expo.8)
#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "dynamics/chart.hpp"
#include "dynamics/group.hpp"
#include "linalg/matrix_exponential.hpp"
#include "linalg/modal.hpp"
#include "linalg/polynomial.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class Exponential final : public Compliant {
 public:
  Exponential(const Model& model, const ExponentialOptions& options)
      : Compliant(model, options),
        own_(options),
        damped_(!model.joints.damping.isZero(0)),
        stage_(model),
        chart_(model) {
    for (VecX* x : {&extra_, &vdot_, &move_, &v_stage_}) x->setZero(model.nv);
    pair_.setZero(2 * model.nv);
    if (!linear())
      throw InvalidInput("stepper 'exponential' takes laws of contact that are linear; '" + options.law +
                         "' is not: use implicit-euler, runge-kutta or explicit-euler");
    if (options.method == ExponentialMethod::Modal) refuse_unequal_damping(model);
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
  int order() const override { return own_.midpoint ? 2 : 1; }
  bool events() const override { return own_.events; }

  bool cross(const Start& start, Outcome& out) override {
    if (!factored_ || damped_) {
      if (damped_) extra_ = start.dt * start.model.joints.damping;
      start.dynamics.factor(extra_);
    }
    factored_ = true;
    if (!own_.midpoint) return cross_with(start, start.dynamics, start.state.v, contacts_, out);
    if (!foresee(start, out) && !cross_with(start, start.dynamics, start.state.v, contacts_, out)) return false;
    return cross_from_middle(start, out);
  }

  // v_mean with the forces of the step before, where they go on as they were and velocities change little: good to the
  // order that the middle needs.
  bool foresee(const Start& start, Outcome& out) {
    if (!limits_.empty()) return false;
    for (const CompliantContact& s : active_)
      if (s.fresh || !((s.f - s.last).norm() <= steady * s.last.norm())) return false;
    applied(start, out.torque, vdot_);
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const Contact& c = contacts_[i];
      const Vec3 f_W = c.R_WC * active_[i].last;
      start.dynamics.add_force(c.body_b, c.p_WC, f_W, vdot_);
      start.dynamics.add_force(c.body_a, c.p_WC, -f_W, vdot_);
    }
    to_acceleration(start.model, start.dynamics, vdot_);
    out.v_mean = start.state.v + 0.5 * start.dt * vdot_;
    return start.dt * vdot_.cwiseAbs().maxCoeff() <= steady * start.state.v.cwiseAbs().maxCoeff();
  }

  // The step with M, J and the bias of `dynamics` held; v is the velocity at the start, in its axes.
  bool cross_with(const Start& start, const Dynamics& dynamics, const VecX& v, const std::vector<Contact>& contacts,
                  Outcome& out) {
    const double h = start.dt;
    vdot_ = out.torque + start.actuation.external - dynamics.h() - start.model.joints.damping.cwiseProduct(v);
    to_acceleration(start.model, dynamics, vdot_);
    out.v_end = start.state.v + h * vdot_;
    out.v_mean = start.state.v + 0.5 * h * vdot_;
    out.held = 1;
    if (active_.empty() && limits_.empty()) return true;
    start.assembly.group(contacts, rows_);
    out.island_count = start.assembly.islands();
    for (int i = 0; i < start.assembly.islands(); ++i)
      if (!cross_island(start, dynamics, contacts, start.assembly.island(i), out)) return false;
    return true;
  }

  // The same at the middle of what was found first (expo.7).
  bool cross_from_middle(const Start& start, Outcome& out) {
    const Model& model = start.model;
    move_ = 0.5 * start.dt * out.v_mean;
    q_stage_ = start.state.q;
    integrate(model, move_, 1, q_stage_);
    v_stage_ = out.v_mean;
    chart_.turn(move_, -1, v_stage_);
    stage_.compute(q_stage_, v_stage_);
    extra_ = 0.5 * start.dt * model.joints.damping;
    stage_.factor(extra_);
    stage_contacts_ = contacts_;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const Followed f = follow(i, start, stage_);
      stage_contacts_[i].p_WC = contacts_[i].body_a < 0 ? f.p_b : Vec3(0.5 * (f.p_a + f.p_b));
    }
    v_stage_ = start.state.v;
    chart_.turn(move_, -1, v_stage_);
    if (!cross_with(start, stage_, v_stage_, stage_contacts_, out)) return false;
    for (VecX* v : {&out.v_end, &out.v_mean}) {  // their changes from the axes of the middle to those of the start
      change_ = *v - start.state.v;
      chart_.turn(move_, 1, change_);
      for (int i : chart_.free()) v->segment<3>(i) = start.state.v.segment<3>(i) + change_.segment<3>(i);
    }
    return true;
  }

  // In the middle, where M, J and the bias were taken.
  void charge(const Start& start, Outcome& out) override {
    if (!own_.midpoint) return Compliant::charge(start, out);
    const VecX& v = start.state.v;
    v_stage_ = 0.5 * (v + out.v_end);
    vdot_ = (out.v_end - v) / start.dt;
    chart_.turn(move_, -1, v_stage_);
    chart_.turn(move_, -1, vdot_);
    const Instant middle{stage_, v_stage_, vdot_, v_stage_, start.dt};
    add_instant(start, out.torque, middle, out.work);
    add_mean_forces(start, stage_contacts_, middle, out.work);
  }

  bool cross_island(const Start& start, const Dynamics& dynamics, const std::vector<Contact>& contacts,
                    const Island& island, Outcome& out) {
    const double h = start.dt;
    start.assembly.build(island, contacts, rows_, dynamics, start.state.v, vdot_, true, problem_, before_, free_);
    if (!problem_.dense()) {
      problem_.resize(problem_.nc(), problem_.nr(), true);
      problem_.densify();
    }
    gather(dynamics, contacts, island);
    const bool slips = !options_.bilateral && !own_.project_only;
    const bool watched = slips && (own_.events || options_.accuracy > 0);
    if (watched) before_.map() = free_.map();
    hold_.clear();
    whole_ = h == start.step;
    if (!(slips ? let_slip(island, h) : integrate_forces(h, true))) return false;
    if (watched) out.held = std::min(out.held, watch(island, h));
    scatter(island);
    start.assembly.apply<2>(island, dynamics, problem_,
                            {{{f1_.data(), h, &out.v_end}, {f2_.data(), 0.5 * h, &out.v_mean}}}, pair_);  // (expo.5)
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
      const CompliantContact& s = active_[at(island.contacts[at(i)])];
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
      K_[3 * nc + j] = options_.limit_stiffness;
      B_[3 * nc + j] = options_.limit_damping;
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
    const ExponentialMethod method = own_.method;
    const double* G = problem_.G().data();
    auto f1 = f1_.map(), f2 = f2_.map();
    if (changed) beta_ = proportion();
    if (beta_ >= 0 && (method == ExponentialMethod::Auto || method == ExponentialMethod::Modal)) {
      // Substeps differ in length: for few unknowns their modes are found sooner than coefficients.
      const auto length = whole_ ? Polynomial::Length::Usual : Polynomial::Length::Single;
      if (changed)
        few_terms_ = method == ExponentialMethod::Auto && (whole_ || n > few) &&
                     polynomial_.prepare(G, K_.data(), n, beta_, h, length);
      if (changed && !few_terms_ && !modal_.decompose(G, K_.data(), n)) return false;
      if (few_terms_)
        polynomial_.integrate(x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
      else
        modal_.integrate(beta_, h, x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
    } else {
      const int order = method == ExponentialMethod::Reduced ? own_.order : 0;
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
    pushed_.assign(at(nc), false);
    known_.setZero(problem_.size());
    against_.setZero(problem_.size());
    auto contact = [&](int i) -> const CompliantContact& { return active_[at(island.contacts[at(i)])]; };
    for (int i = 0; i < nc; ++i)
      if (!(contact(i).f.z() > 0) && !contact(i).fresh) let_go(i);  // it pulls at the start
    if (!integrate_forces(h, true)) return false;
    bool turned = false;  // since a contact last changed its law
    for (int pass = 0; pass < most_passes; ++pass) {
      other_springs_ = other_forces_ = false;
      for (int i = 0; i < nc; ++i) classify(contact(i), i, h);
      if (other_springs_) turned = false;
      if (!other_springs_ && !other_forces_) {
        if (turned) break;
        turned = true;
        for (int i = 0; i < nc; ++i)
          if (hold_[at(i)] == Hold::Slip) turn_friction(contact(i), i, h);
        if (!other_forces_) break;
      }
      if (!integrate_forces(h, other_springs_)) return false;
    }
    for (int i = 0; i < nc; ++i) settle(contact(i), i);
    return true;
  }

  // Takes the springs along the surface away where a contact slips, and keeps its friction up with f_N; all springs
  // where it pulls.
  void classify(const CompliantContact& s, int i, double h) {
    const int o = 3 * i;
    Hold& hold = hold_[at(i)];
    const Vec3 f = f1_.map().segment<3>(o);
    auto against = against_.map().segment<2>(o);
    if (hold == Hold::Stick) {
      const double tangential = f.head<2>().norm(), mu = s.slipping ? s.mu_slip : s.mu_stick;
      if (f.z() > 0 && tangential <= mu * f.z()) return;
      hold = Hold::Slip;
      K_[o] = K_[o + 1] = B_[o] = B_[o + 1] = 0;
      other_springs_ = true;
      if (tangential > 0) against = f.head<2>() / tangential;
      // The stick forces of others may have pulled at it: the normal force is sought once more.
      set_friction(s.mu_slip * (f.z() > 0 ? f.z() : s.f.z()) * against, i);
    } else if (hold == Hold::Slip && f.z() > 0) {
      set_friction(s.mu_slip * f.z() * against, i);
    } else if (hold == Hold::Slip) {
      let_go(i);
    } else if (!pushed_[at(i)] && would_push(s, i, h)) {
      pushed_[at(i)] = true;  // once, so that the passes end
      hold = Hold::Stick;
      K_.map().segment<3>(o) = s.K;
      B_.map().segment<3>(o) = s.B;
      other_springs_ = true;
    }
  }

  void let_go(int i) {
    hold_[at(i)] = Hold::Open;
    K_.map().segment<3>(3 * i).setZero();
    B_.map().segment<3>(3 * i).setZero();
    other_springs_ = true;
    set_friction(Eigen::Vector2d::Zero(), i);
  }

  void set_friction(const Eigen::Vector2d& friction, int i) {
    const Eigen::Vector2d change = friction - known_.map().segment<2>(3 * i);
    if (change.norm() <= 1e-6 * friction.norm()) return;
    other_forces_ = true;
    known_.map().segment<2>(3 * i) = friction;
    for (int k = 0; k < 2; ++k) free_.map() += change[k] * problem_.G().col(3 * i + k);
  }

  // Mean velocity of a contact over the step, as forces and known friction have it.
  Vec3 mean_velocity(int i, double h) const {
    Vec3 c;
    for (int k = 0; k < 3; ++k) {
      const int j = 3 * i + k;
      c[k] = c_[j] + 0.5 * h * (free_[j] + problem_.G().col(j).dot(f2_.map()));
    }
    return c;
  }

  // Friction along what spring and damper would give in the middle of the step, where that is about the way it had.
  void turn_friction(const CompliantContact& s, int i, double h) {
    auto against = against_.map().segment<2>(3 * i);
    Eigen::Vector2d x = s.x.head<2>();
    const Eigen::Vector2d f = known_.map().segment<2>(3 * i);
    if (draws(s)) x += std::expm1(-0.5 * h * s.K.x() / s.B.x()) * (x + f / s.K.x());
    const Eigen::Vector2d wanted = -s.K.x() * x - s.B.x() * mean_velocity(i, h).head<2>();
    const double size = wanted.norm();
    if (wanted.dot(against) <= 0.5 * size) return;
    against = wanted / size;
    set_friction(f.norm() * against, i);
  }

  // Would the springs of an open contact press in the mean?
  bool would_push(const CompliantContact& s, int i, double h) const {
    const int j = 3 * i + 2;
    const double a = free_[j] + problem_.G().col(j).dot(f1_.map());
    const double x = s.x.z() + 0.5 * h * s.c.z() + h * h * a / 6, c = s.c.z() + 0.5 * h * a;
    return -s.K.z() * x - s.B.z() * c > 1e-9 * problem_.weight;
  }

  // Forces of what slips or is open, once the passes are over.
  void settle(const CompliantContact& s, int i) {
    if (hold_[at(i)] == Hold::Stick) return;
    auto f1 = f1_.map().segment<3>(3 * i), f2 = f2_.map().segment<3>(3 * i);
    f1.z() = std::max(f1.z(), 0.0);
    f2.z() = std::max(f2.z(), 0.0);
    const Eigen::Vector2d against = s.mu_slip * against_.map().segment<2>(3 * i);
    f1.head<2>() = f1.z() * against;
    f2.head<2>() = f2.z() * against;
  }

  // Does one law hold for each contact over the whole step? Judged by its start and its end. (expo.8)
  double watch(const Island& island, double h) {
    const int n = problem_.size();
    const auto G = problem_.G();
    for (VectorBuffer* x : {&end_x_, &end_c_}) x->resize(n);
    end_c_.map() = c_.map() + h * before_.map();
    end_x_.map() = x_.map() + h * c_.map() + 0.5 * h * h * before_.map();
    for (int j = 0; j < n; ++j) {
      end_c_.map() += h * f1_[j] * G.col(j);
      end_x_.map() += 0.5 * h * h * f2_[j] * G.col(j);
    }
    double held = 1;
    for (int i = 0; i < problem_.nc(); ++i)
      held = std::min(held, share_held(active_[at(island.contacts[at(i)])], i, h));
    return held;
  }

  // Share of the step after which a margin passes 0; the mean gives its bend.
  static double root(double begin, double end, double mean) {
    const double b = 3 * (begin + end) - 6 * mean, a = end - begin - b, d = std::sqrt(a * a - 4 * b * begin);
    const double q = -0.5 * (a + std::copysign(d, a)), t = q != 0 ? begin / q : 0;
    return t > 0 && t < 1 ? t : q / b;
  }

  // 1 where the law that was taken holds at both ends, to within small; else the share up to the change.
  static double up_to_change(double begin, double end, double mean, double small) {
    if (begin >= -small && end >= -small) return 1;
    if (begin < -small && end < -small) return 0.5;
    const double beyond = begin < end ? -0.5 * small : 0.5 * small;  // so that the change lies behind
    return root(begin + beyond, end + beyond, mean + beyond);
  }

  double share_held(const CompliantContact& s, int i, double h) const {
    const Hold hold = hold_[at(i)];
    const Vec3 mean = f1_.map().segment<3>(3 * i), c = end_c_.map().segment<3>(3 * i);
    Vec3 x = end_x_.map().segment<3>(3 * i);
    if (hold != Hold::Stick) {  // the anchor has come along
      const Eigen::Vector2d goal = -mean.head<2>() / s.K.x();
      x.head<2>() = goal;
      if (draws(s)) x.head<2>() += std::exp(-h * s.K.x() / s.B.x()) * (s.x.head<2>() - goal);
    }
    const Vec3 begin = -s.K.cwiseProduct(s.x) - s.B.cwiseProduct(s.c);
    const Vec3 end = -s.K.cwiseProduct(x) - s.B.cwiseProduct(c);
    const double small = event_slop * std::max({mean.norm(), s.f.norm(), 1e-3 * problem_.weight});
    if (hold == Hold::Open) return up_to_change(-begin.z(), -end.z(), -0.5 * (begin.z() + end.z()), small);
    const double mu = s.slipping || hold == Hold::Slip ? s.mu_slip : s.mu_stick;
    auto margin = [&](const Vec3& f) { return mu * f.z() - f.head<2>().norm(); };
    const double presses = up_to_change(begin.z(), end.z(), mean.z(), small);
    if (hold == Hold::Stick) return std::min(presses, up_to_change(margin(begin), margin(end), margin(mean), small));
    const double middle = -0.5 * (margin(begin) + margin(end));
    return std::min(presses, up_to_change(-margin(begin), -margin(end), middle, small));
  }

  // Into the cone (expo.4).
  void scatter(const Island& island) {
    const int nc = problem_.nc();
    auto f1 = f1_.map(), f2 = f2_.map();
    const bool known = !hold_.empty();
    for (int i = 0; i < nc; ++i) {
      CompliantContact& s = active_[at(island.contacts[at(i)])];
      if (known && hold_[at(i)] != Hold::Stick) {
        s.mean = f1.segment<3>(3 * i);
        s.mode = s.mean.z() > 0 ? ContactMode::Slip : ContactMode::Open;
        continue;
      }
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

  enum class Hold : char { Stick, Slip, Open };
  static constexpr int most_passes = 12;
  static constexpr double event_slop = 1e-3;  // of the force: a law broken by so little still holds
  static constexpr int few = 6;               // unknowns
  static constexpr double steady = 0.1;       // relative change of forces and velocities that counts as going on

  ExponentialOptions own_;
  bool damped_;
  bool whole_ = true;  // the step is not divided
  Dynamics stage_;     // at the middle of the step
  Chart chart_;
  std::vector<Contact> stage_contacts_;
  VecX move_, q_stage_, v_stage_, change_;
  double beta_ = 0;
  std::vector<Hold> hold_;  // empty: forces are only cut
  std::vector<char> pushed_;
  bool other_springs_ = false, other_forces_ = false;
  ContactProblem problem_;
  VectorBuffer against_;  // unit vectors against the slip, where contacts slip
  VectorBuffer before_, free_, known_, K_, B_, x_, c_, f1_, f2_, end_x_, end_c_;
  VecX extra_, vdot_, pair_;
  Modal modal_;
  Polynomial polynomial_;
  bool few_terms_ = false;  // the polynomial is in use
  MatrixExponential exponential_;
};

}  // namespace

OptionTable exponential_options() {
  using Own = ExponentialOptions;
  auto table = compliant_fields<Own>();
  table.add(
      "method", &Own::method,
      {{"auto", ExponentialMethod::Auto},
       {"modal", ExponentialMethod::Modal},
       {"full", ExponentialMethod::Full},
       {"reduced", ExponentialMethod::Reduced}},
      "of the exponential: modes where damping is proportional to stiffness, else the full matrix; modes; the full "
      "matrix; one Pade approximant without scaling");
  table.add("order", &Own::order, one_of({1, 2, 3, 5, 7}), "", "of the Pade approximant").only_with = {"method",
                                                                                                       "reduced"};
  table.add("project_only", &Own::project_only, "forces outside the cone are cut, and nothing is solved again");
  table.add("midpoint", &Own::midpoint, "M, J and the bias are those of the middle of the step: order two");
  table.add("events", &Own::events, "a substep ends where a contact slips, sticks again or lets go");
  return table;
}

std::unique_ptr<Scheme> make_exponential(const Model& model, const StepperOptions& options) {
  return std::make_unique<Exponential>(model, options.own.taken<ExponentialOptions>("stepper 'exponential'"));
}

}  // namespace tribo
