#include "stepping/compliant/exponential.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "contact/factor.hpp"
#include "dynamics/group.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

constexpr int few = 6;                               // unknowns
constexpr int many = 24;                             // from here on other ways than modes pay
constexpr double settled = 1e-6, precisely = 1e-11;  // of friction; the same where solvers go beyond
constexpr double steady = 0.1;                       // relative change of forces and velocities that counts as going on

// The modal route alone was asked for: damping must be proportional to stiffness everywhere.
void refuse_unequal_damping(const Model& model) {
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

// Jdot v of a point that stays under the core of a round body while its surface passes by.
Vec3 surface_bias(const Dynamics& d, int body, const Vec3& p, const Vec3& off) {
  Vec3 bias = d.point_bias(body, p);
  if (body < 0 || off.isZero(0)) return bias;
  const Vec3& w = d.body_velocity(body).ang;
  return bias - w.cross(w.cross(off));
}

}  // namespace

Exponential::Exponential(const Model& model, const ExponentialOptions& options, double friction_settled)
    : Compliant(model, options),
      own_(options),
      settled_(friction_settled),
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

bool Exponential::cross(const Start& start, Outcome& out) {
  list_rows();
  if (!factored_ || damped_) {
    if (damped_) extra_ = (joints_.empty() ? start.dt : 0) * start.model.joints.damping;
    start.dynamics.factor(extra_);
  }
  factored_ = true;
  if (!own_.midpoint) return cross_with(start, start.dynamics, start.state.v, contacts_, out);
  if (!foresee(start, out) && !cross_with(start, start.dynamics, start.state.v, contacts_, out)) return false;
  return cross_from_middle(start, out);
}

// Of the joint springs, behind those of the limits.
void Exponential::list_rows() {
  rows_.resize(limits_.size());
  for (const JointSpring& s : joints_.all()) rows_.push_back({.along = Coordinate{s.dof}, .law = LimitedDrive{}});
  for (const RowSpring& s : row_springs_.all()) rows_.push_back(s.row);
}

// v_mean with the forces of the step before, where they go on as they were and velocities change little: good to the
// order that the middle needs.
bool Exponential::foresee(const Start& start, Outcome& out) {
  if (!rows_.empty()) return false;
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
bool Exponential::cross_with(const Start& start, const Dynamics& dynamics, const VecX& v,
                             const std::vector<Contact>& contacts, Outcome& out) {
  const double h = start.dt;
  if (joints_.empty())
    vdot_ = out.torque + start.actuation.external - dynamics.h() - start.model.joints.damping.cwiseProduct(v);
  else
    vdot_ = out.torque + start.actuation.external - dynamics.h();
  for (JointSpring& s : joints_.all()) {
    vdot_[s.dof] += s.a;
    s.bound = 0;
    s.released = false;
  }
  for (RowSpring& s : row_springs_.all()) {
    s.law.bound = 0;
    s.law.released = false;
  }
  to_acceleration(start.model, dynamics, vdot_);
  out.v_end = start.state.v + h * vdot_;
  out.v_mean = start.state.v + 0.5 * h * vdot_;
  out.held = 1;
  if (active_.empty() && rows_.empty()) return true;
  start.assembly.group(contacts, rows_);
  out.island_count = start.assembly.islands();
  for (int i = 0; i < start.assembly.islands(); ++i)
    if (!cross_island(start, dynamics, v, contacts, start.assembly.island(i), out)) return false;
  return true;
}

// The same at the middle of what was found first (expo.7).
bool Exponential::cross_from_middle(const Start& start, Outcome& out) {
  const Model& model = start.model;
  move_ = 0.5 * start.dt * out.v_mean;
  q_stage_ = start.state.q;
  integrate(model, move_, 1, q_stage_);
  v_stage_ = out.v_mean;
  chart_.turn(move_, -1, v_stage_);
  stage_.compute(q_stage_, v_stage_);
  extra_ = (joints_.empty() ? 0.5 * start.dt : 0) * model.joints.damping;
  stage_.factor(extra_);
  stage_contacts_ = contacts_;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Followed f = follow(i, start, stage_, 0.5 * start.dt);
    stage_contacts_[i].p_WC = contacts_[i].body_a < 0 ? f.p_b : Vec3(0.5 * (f.p_a + f.p_b));
  }
  if (!row_springs_.empty()) {
    const std::vector<Row>& rows =
        row_springs_.rows_at(q_stage_, stage_, start.state.kinematic_time().later(0.5 * start.dt));
    for (std::size_t j = 0; j < rows.size(); ++j)
      row_springs_.all()[j].at = rows_[rows_.size() - rows.size() + j] = rows[j];
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
void Exponential::charge(const Start& start, Outcome& out) {
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

bool Exponential::cross_island(const Start& start, const Dynamics& dynamics, const VecX& v,
                               const std::vector<Contact>& contacts, const Island& island, Outcome& out) {
  const double h = start.dt;
  start.assembly.build(island, contacts, rows_, dynamics, v, vdot_, false, problem_, before_, free_);
  gather(dynamics, contacts, island);
  whole_ = h == start.step;
  choose_method(island.trees.size(), h);
  const bool slips = !options_.bilateral && !own_.project_only;
  const bool watched = slips && (own_.events || options_.accuracy > 0);
  if (watched) before_.map() = free_.map();
  hold_.clear();
  if (!(slips || driven_ ? let_slip(island, h, slips) : integrate_forces(h, true))) return false;
  if (watched) out.held = std::min(out.held, watch(island, h));
  scatter(island);
  start.assembly.apply<2>(island, dynamics, problem_,
                          {{{f1_.data(), h, &out.v_end}, {f2_.data(), 0.5 * h, &out.v_mean}}}, pair_);  // (expo.5)
  return true;
}

// x0, b, K and B of the island. (expo.3)
void Exponential::gather(const Dynamics& d, const std::vector<Contact>& contacts, const Island& island) {
  const int n = problem_.size(), nc = problem_.nc();
  for (VectorBuffer* x : {&K_, &B_, &x_, &c_, &f1_, &f2_}) x->resize(n);
  for (int i = 0; i < nc; ++i) {
    const CompliantContact& s = active_[at(island.contacts[at(i)])];
    const Contact& contact = contacts[at(island.contacts[at(i)])];
    const Vec3 bias =
        surface_bias(d, contact.body_b, contact.p_WC, s.off_b) - surface_bias(d, contact.body_a, contact.p_WC, s.off_a);
    K_.map().segment<3>(3 * i) = s.K;
    B_.map().segment<3>(3 * i) = s.B;
    x_.map().segment<3>(3 * i) = s.x;
    c_.map().segment<3>(3 * i) = s.c;
    free_.map().segment<3>(3 * i) += contact.R_WC.transpose() * (bias - contact.v_given);  // the part of a velocity
  }
  driven_ = false;
  for (int j = 0; j < problem_.nr(); ++j) {
    if (const JointSpring* s = joint(island, j)) {
      driven_ = true;
      const int o = 3 * nc + j, row = island.rows[at(j)];
      const RowSpring* along = along_row(at(row) - limits_.size());
      K_[o] = s->K;
      B_[o] = s->B;
      x_[o] = along ? along->x : 0;
      c_[o] = before_[o];
      if (along) free_[o] += row_springs_.bias(rows_[at(row)], d) - along->row.given();
      continue;
    }
    const LimitSpring& l = limits_[at(island.rows[at(j)])];
    K_[3 * nc + j] = options_.limit_stiffness;
    B_[3 * nc + j] = l.B;
    x_[3 * nc + j] = l.gap;
    c_[3 * nc + j] = l.c;
  }
}

// Before the first integrals of an island.
void Exponential::choose_method(std::size_t trees, double h) {
  beta_ = proportion();
  const bool free_choice = own_.method == ExponentialMethod::Auto && !driven_;
  const auto length = whole_ ? Polynomial::Length::Usual : Polynomial::Length::Long;
  const int n = problem_.size();
  sparse_ = free_choice && n > many && trees > 1 && beta_ >= 0;
  if (sparse_) {
    stiffness_.assemble(problem_, K_.data());
    sparse_ = polynomial_.prepare(stiffness_.bound(), beta_, h, length);
  }
  if (sparse_) {
    pending_.setZero(n);
    return;
  }
  if (!problem_.dense()) {
    problem_.resize(problem_.nc(), problem_.nr(), true);
    problem_.densify();
  }
  reduced_ = driven_ || (free_choice && n > many && (beta_ < 0 || n > problem_.factor.nw));
  if (reduced_) spread_rows();
}

// f1 and f2 by (polynomial.4) with Z = K^1/2 Y.
void Exponential::integrate_sparse(bool changed) {
  const int n = problem_.size(), nw = problem_.factor.nw;
  Gf1_.resize(n);
  problem_.multiply(pending_.data(), Gf1_.data());
  free_.map() += Gf1_.map();
  pending_.setZero(n);
  scaled_.resize(n);
  in_.resize(3 * nw);
  double *y = in_.data(), *ydot = y + nw, *g = ydot + nw;
  const auto to_whitened = [&](const VectorBuffer& x, double* w) {
    scaled_.map() = K_.map().cwiseProduct(x.map());
    to_bodies(problem_, scaled_.data(), w);
  };
  if (changed) {
    stiffness_.assemble(problem_, K_.data());
    to_whitened(x_, y);
    to_whitened(c_, ydot);
  }
  to_whitened(free_, g);
  polynomial_.sum([this](const double* x, double* Sx) { stiffness_.times(x, Sx); }, nw, y, ydot, g, sums_, work_);
  w1_.w.resize(nw);
  w2_.w.resize(nw);
  for (int k = 0; k < nw; ++k) {
    w1_.w[k] = sums_[2 * k];
    w2_.w[k] = sums_[2 * k + 1];
  }
  to_contacts(problem_, w1_.w.data(), f1_.data());
  to_contacts(problem_, w2_.w.data(), f2_.data());
  polynomial_.add_free(n, x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
  f1_.map().array() *= -K_.map().array();
  f2_.map().array() *= -K_.map().array();
}

Vec3 Exponential::moved(int i, const VectorBuffer& f, Whitened& w) const {
  Vec3 c = Vec3::Zero();
  if (!sparse_) {
    for (int k = 0; k < 3; ++k) c[k] = problem_.G().col(3 * i + k).dot(f.map());
    return c;
  }
  if (!w.known) to_bodies(problem_, f.data(), w.w.data());
  w.known = true;
  add_to_contact(problem_, i, w.w.data(), c.data());
  return c;
}

// The whitened Jacobians of the island, row after row.
void Exponential::spread_rows() {
  const ContactFactor& factor = problem_.factor;
  Y_.setZero(static_cast<Eigen::Index>(problem_.size()) * factor.nw);
  for (int i = 0; i < problem_.blocks(); ++i) {
    const int rows = problem_.block_size(i), o = problem_.offset(i);
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r)
          Y_[static_cast<Eigen::Index>(o + r) * factor.nw + factor.index[at(b.index + k)]] +=
              factor.y[at(b.first + rows * k + r)];
    }
  }
}

// Is B = beta K? The ratio, or -1.
double Exponential::proportion() const {
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
bool Exponential::integrate_forces(double h, bool changed) {
  const int n = problem_.size();
  const ExponentialMethod method = own_.method;
  auto f1 = f1_.map(), f2 = f2_.map();
  if (sparse_) {  // springs that were taken away make S no larger
    integrate_sparse(changed);
    f1 /= h;
    f2 *= 2 / (h * h);
    w1_.known = w2_.known = false;
    return true;
  }
  const double* G = problem_.G().data();
  const bool exact = method == ExponentialMethod::Auto || method == ExponentialMethod::Modal;
  if (changed && !reduced_) beta_ = proportion();
  if (reduced_ && exact) {
    if (changed && !rational_.prepare(Y_.data(), K_.data(), B_.data(), n, problem_.factor.nw, h)) return false;
    rational_.integrate(x_.data(), c_.data(), free_.data(), f1_.data(), f2_.data());
  } else if (beta_ >= 0 && exact) {
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

// Into the cone (expo.4).
void Exponential::scatter(const Island& island) {
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
    if (JointSpring* s = joint(island, j)) {
      s->mean = s->bound != 0 ? s->at_bound() : s->within(s->a + f1[3 * nc + j]);
      f1[3 * nc + j] = s->mean - s->a;
      f2[3 * nc + j] = s->within(s->a + f2[3 * nc + j]) - s->a;
      continue;
    }
    f1[3 * nc + j] = std::max(f1[3 * nc + j], 0.0);
    f2[3 * nc + j] = std::max(f2[3 * nc + j], 0.0);
    limits_[at(island.rows[at(j)])].mean = f1[3 * nc + j];
  }
}

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
  const double tolerance = options.contact.tolerance.rel;
  return std::make_unique<Exponential>(model, options.own.taken<ExponentialOptions>("stepper 'exponential'"),
                                       tolerance <= precisely ? tolerance : settled);
}

}  // namespace tribo
