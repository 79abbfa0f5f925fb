// The derivative of a step that is divided at touches: of each substep, and of the times at which they end.
//
//   x_i = F_i(x_i-1, t_i - t_i-1),  gap_i(q_i) = 0 at t_i:  with g = d gap_i/dq and A_i, B_i of the substep alone
//   dy = A_i dx_i-1 + B_i du - F_h dt_i-1,  dt_i = -g dy / (g F_h),  dx_i = dy + F_h dt_i                    (deriv.16)
// The last substep ends with the step: its dt_i is 0. F_h, how its end moves with its length, is the difference of two solves.
#include <cmath>

#include "derivatives/edges.hpp"
#include "derivatives/rigid_derivative.hpp"

namespace tribo {
namespace {

constexpr double length_share = 1e-3;  // of a substep: the difference that F_h is
constexpr double least_length = 1e-5;  // of the step: a substep that is shorter is at a kink
constexpr double grazing = 1e-6;       // a touch that is slower than this share of F_h is no crossing

}  // namespace

// The state moves on over the substeps of the step.
const char* RigidDerivative::follow_touches(const StepInput& step, Linearization& out) {
  if (!model_.kinematic.empty()) return "kinematic bodies move with the time of a touch";
  if (!closures_.empty()) return "equality constraints in a step that is divided";
  if (!step.forces.empty()) return "pushes in a step that is divided";
  if (smoothing_ > 0) return "a smoothed law touches at no time";
  lengths_ = substeps_.lengths();
  open(step);
  const int nv = model_.nv, nu = static_cast<int>(out.B.cols());
  sum_.setZero(2 * nv, 2 * nv + nu);
  sum_.leftCols(2 * nv).setIdentity();
  when_.setZero(2 * nv + nu);
  moved_.setZero(nv);
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const double h = lengths_[i];
    const bool last = i + 1 == lengths_.size();
    if (!slope_by_length(h)) return "a substep cannot be taken";
    crossing_.begin();
    note_open();
    crossing_.solve(h);
    q_start_ = state_.q;
    v_start_ = state_.v;
    StepInput part{state_, work_.actuation, {}, h};
    if (const char* why = differentiate(part, out)) return why;
    if (!out.finite) return nullptr;
    through_.noalias() = out.A * sum_;
    through_.rightCols(nu) += out.B;
    through_.noalias() -= by_length_ * when_;
    if (h < least_length * step.dt) ++out.weak;
    if (!last)
      if (const char* why = find_touch(out)) return why;
    sum_.swap(through_);
  }
  mark_late_touch(out);
  out.A = sum_.leftCols(2 * nv);
  out.B = sum_.rightCols(nu);
  return nullptr;
}

void RigidDerivative::note_open() {
  const auto open = crossing_.open_contacts();
  open_before_.assign(open.begin(), open.end());
}

// What touches just at the end of a step strikes in the next one: dx decides.
void RigidDerivative::mark_late_touch(Linearization& out) {
  if (open_before_.empty()) return;
  crossing_.begin();
  each_touch([&](const Contact&) { ++out.weak; });
}

// Contacts that were open before the last substep, and touch now.
template <class F>
void RigidDerivative::each_touch(F f) {
  std::size_t was = 0;
  for (const Contact& c : crossing_.start(lengths_.empty() ? 0 : lengths_.back()).contacts) {
    while (was < open_before_.size() && open_before_[was].id < c.id) ++was;
    if (was == open_before_.size()) return;
    if (open_before_[was].id == c.id && c.gap <= substeps_.gap_of_touch(c)) f(c);
  }
}

// F_h of a substep from the present state into by_length_.
bool RigidDerivative::slope_by_length(double h) {
  const double d = length_share * h;
  crossing_.save(saved_);
  VecX* q[2] = {&q_side_[0], &q_side_[1]};
  VecX* v[2] = {&v_side_[0], &v_side_[1]};
  for (int k : {2, 0, 1}) {
    crossing_.begin();
    crossing_.solve(k == 2 ? h : h + (k == 0 ? d : -d));
    if (!crossing_.commit()) return false;
    if (k == 2) {
      q_end_ = state_.q;
    } else {
      *q[k] = state_.q;
      *v[k] = state_.v;
    }
    crossing_.restore(saved_);
  }
  by_length_.resize(2 * model_.nv);
  tangent(model_, q_end_, *q[0], moved_);  // at the end of the substep, as dx
  by_length_.head(model_.nv) = moved_ / (2 * d);
  tangent(model_, q_end_, *q[1], moved_);
  by_length_.head(model_.nv) -= moved_ / (2 * d);
  by_length_.tail(model_.nv) = (*v[0] - *v[1]) / (2 * d);
  return true;
}

// The contact that a substep ended at, and when it does: dt_i into when_, dx_i into through_.
const char* RigidDerivative::find_touch(Linearization& out) {
  crossing_.begin();
  const Start start = crossing_.start(lengths_.front());
  const Contact* touch = nullptr;
  each_touch([&](const Contact& c) {
    if (touch) ++out.weak;  // two at once: which comes first, dx decides
    if (!touch || std::abs(c.gap) < std::abs(touch->gap)) touch = &c;
  });
  if (!touch) return "a step is divided where nothing touches";
  if (!motion_.compute(start, *touch, margin_)) return "a contact changes its features within its query";
  double speed = 0, length = 0;
  tau_.setZero(through_.cols());
  for (std::size_t k = 0; k < motion_.dofs().size(); ++k) {
    const double g = motion_.gap(static_cast<int>(k)), rate = by_length_[motion_.dofs()[k]];
    speed += g * rate;
    length += std::abs(g * rate);
    tau_ -= g * through_.row(motion_.dofs()[k]);
  }
  if (!(std::abs(speed) > grazing * length)) return "a touch that grazes has no time";
  when_ = tau_ / speed;
  through_.noalias() += by_length_ * when_;  // (deriv.16)
  return nullptr;
}

}  // namespace tribo
