#include "derivatives/differences.hpp"

#include <algorithm>
#include <cmath>

#include "tribo/step.hpp"

namespace tribo {
namespace {

constexpr double spread = 1e-5;  // of a difference [m], [rad], [m/s], [rad/s]; times the scale of torques for inputs
constexpr double same_slope = 1e-2;   // both sides of a difference, of the largest entry of the column
constexpr double least_slope = 1e-3;  // slopes of velocities below are rounding beside this one [1/s], [-]
constexpr double equal_slope = 1e-6;  // the same where a gap begins or ceases to count
constexpr double finer = 0.1, widest_speed = 1e3, widest_input = 1e5;
constexpr double still = 0.1;          // of the spread: what moves less over it is looked at over a larger one
constexpr double wider_inputs = 10;    // a torque moves anchors by the square of dt alone
constexpr double converges = 0.05;     // of the distance of the levels at h, that at h / 10: truncation, not rounding
constexpr double bent = 1e-5;          // between the two levels of a difference, of the same
constexpr double row_rounding = 1e-9;  // of the bound of a row

void mix(std::uint64_t& hash, std::uint64_t x) { hash = (hash ^ x) * 0x100000001b3ull + 0x9e3779b97f4a7c15ull; }

// Which contacts, rows and overlaps act, and how.
Differences::Modes modes_of(const Stepper& stepper, double dt) {
  Differences::Modes modes;
  std::uint64_t& hash = modes.act;
  for (const ContactReport& r : stepper.contacts()) {
    if (r.mode == ContactMode::Open) continue;
    mix(hash, r.id);
    mix(hash, static_cast<std::uint64_t>(r.mode) * 2 + (r.gap > 0));
  }
  const Outcome& out = stepper.outcome();
  for (const Pool<IslandSolution>* solved : {&out.islands, &out.recovery})
    for (std::size_t i = 0; i < solved->size(); ++i) {
      const IslandSolution& s = (*solved)[i];
      for (const FrictionDisc& disc : s.problem.discs) {
        const auto f = s.f.map().segment(3 * s.problem.nc() + disc.row, disc.size);
        mix(hash, f.norm() >= (1 - row_rounding) * disc.length * s.f[3 * disc.contact + 2] ? 4 : 5);
      }
      for (int j = 0; j < s.problem.nr(); ++j) {
        const bool disc = std::any_of(s.problem.discs.begin(), s.problem.discs.end(),
                                      [&](const FrictionDisc& d) { return j >= d.row && j < d.row + d.size; });
        if (disc) continue;
        const double f = s.f[3 * s.problem.nc() + j], lower = s.problem.lower()[j], upper = s.problem.upper()[j];
        const double edge = row_rounding * std::max(1.0, std::abs(f));
        mix(hash, f <= lower + edge ? 1 : f >= upper - edge ? 2 : 3);
      }
      mix(hash, solved == &out.recovery);
      for (int k = 0; k < s.problem.nc(); ++k) {
        const double g = s.problem.g()[3 * k + 2];
        if (!(s.f[3 * k + 2] > 0)) continue;
        mix(hash, at(k));
        if (solved == &out.recovery)
          mix(modes.ask, g < 0 ? 6 : g > 0 ? 7 : 8);
        else
          mix(modes.ask, g != s.free[3 * k + 2] / dt);
      }
    }
  return modes;
}

}  // namespace

StepperOptions precise(StepperOptions options) {
  options.audit = AuditLevel::Off;
  options.contact.tolerance.rel = std::min(options.contact.tolerance.rel, 1e-12);
  return options;
}

std::vector<int> list_inputs(const Model& model) {
  std::vector<int> inputs;
  for (int k = 0; k < model.nv; ++k)
    if (model.actuated(k)) inputs.push_back(k);
  return inputs;
}

void reset(const Model& model, const std::vector<int>& inputs, Linearization& out) {
  out.A.resize(2 * model.nv, 2 * model.nv);
  out.B.resize(2 * model.nv, static_cast<Eigen::Index>(inputs.size()));
  out.inputs = inputs;
  out.contacts.clear();
  out.weak = 0;
  out.margin = 1;
  out.unique = out.finite = true;
  out.method = Linearization::Method::Analytic;
  out.reason = "";
  out.status = StepStatus::Ok;
}

Differences::Differences(const Model& model, const std::string& stepper, const StepperOptions& options)
    : model_(model), map_(model, stepper, precise(options)), inputs_(list_inputs(model)) {
  for (VecX* x : {&shift_.q, &shift_.v, &shift_.u}) x->setZero(model.nv);
  for (VecX& x : x_) x.setZero(2 * model.nv);
  refines_ = stepper == "rigid" || stepper == "exponential" ||
             stepper == "implicit-euler";  // others find events only so exactly
  disturbed_.resize(at(2 * model.nv) + inputs_.size());
}

double& Differences::shifted(int column) {
  const int nv = model_.nv;
  return column < nv       ? shift_.q[column]
         : column < 2 * nv ? shift_.v[column - nv]
         : column < 2 * nv + static_cast<int>(inputs_.size())
             ? shift_.u[inputs_[at(column - 2 * nv)]]
             : shift_.m[column - 2 * nv - static_cast<int>(inputs_.size())];
}

// The end of a step beside that of the nominal one, over h.
bool Differences::side(const StepInput& input, int column, double h, VecX& dx) {
  double& x = shifted(column);
  x = h;
  const bool taken = map_.step(input, shift_);
  x = 0;
  if (!taken) return false;
  seen_ = modes_of(map_.stepper(), input.dt);
  const int nv = model_.nv;
  VecX& d = dx;
  d.setZero(2 * nv + m_.size());
  tangent(model_, q_, map_.end().q, d);
  d.segment(nv, nv) = map_.end().v - v_;
  if (m_.size() > 0) {
    remembered(map_.end().memory, seen_m_);
    if (seen_m_.size() == m_.size())
      d.tail(m_.size()) = seen_m_ - m_;
    else
      seen_.act = ~modes_.act;  // it remembers others
  }
  d /= h;
  return true;
}

// A column of (lin.2) into `column`. Returns how far its two levels are apart, of its largest entry.
double Differences::difference(const StepInput& input, int j, double h, Linearization& out, Eigen::Ref<VecX> column) {
  const int nv = model_.nv;
  bool same = true, asks = true;
  int i = 0;
  for (double share : {1.0, -1.0, 0.5, -0.5}) {
    out.finite = out.finite && side(input, j, share * h, x_[at(i++)]);
    same = same && seen_.act == modes_.act;
    asks = asks && seen_.ask == modes_.ask;
  }
  if (!out.finite) return 0;
  double apart = 0;
  for (int half : {0, nv, 2 * nv}) {
    const Eigen::Index size = half < 2 * nv ? nv : m_.size();
    if (size == 0) continue;
    const auto part = [&](int k) { return x_[at(k)].segment(half, size); };
    column.segment(half, size) = (2 * (part(2) + part(3)) - 0.5 * (part(0) + part(1))) / 3;  // (lin.2)
    const double scale =
        std::max(column.segment(half, size).cwiseAbs().maxCoeff(), half == 0 ? least_slope * input.dt : least_slope);
    same = same && (part(0) - part(1)).cwiseAbs().maxCoeff() <= same_slope * scale;
    // What curvature adds to the two sides is halved with h; a kink stays.
    same = same && (asks || (2 * (part(2) - part(3)) - part(0) + part(1)).cwiseAbs().maxCoeff() <= equal_slope * scale);
    apart = std::max(apart, 0.5 * (part(2) + part(3) - part(0) - part(1)).cwiseAbs().maxCoeff() / scale);
  }
  disturbed_[at(j)] = !same;
  return same ? apart : 1;
}

// Where a velocity or an input moves next to nothing over h, as behind a gear or where targets say all velocities, a larger h
// has less rounding.
void Differences::widen(const StepInput& input, int j, double h, double apart, Linearization& out,
                        Eigen::Ref<VecX> column) {
  const double moved = h * column.segment(model_.nv, model_.nv).cwiseAbs().maxCoeff();
  if (!(moved > 0) || moved >= still * spread) return;
  first_ = column;
  const char disturbed = disturbed_[at(j)];
  const double most = std::min(spread / moved, j < 2 * model_.nv ? widest_speed : widest_input);
  for (double share : {1.0, 0.1}) {
    const double wide = difference(input, j, share * most * h, out, column);
    if (disturbed_[at(j)] == 0 && out.finite && (wide <= apart || j >= 2 * model_.nv)) return;
    out.finite = true;  // as it was
  }
  column = first_;
  disturbed_[at(j)] = disturbed;
}

void Differences::compute(const StepInput& input, Linearization& out) {
  const int nv = model_.nv;
  reset(model_, inputs_, out);
  out.A.setZero();
  out.B.setZero();
  out.method = Linearization::Method::Differences;
  std::fill(disturbed_.begin(), disturbed_.end(), 0);
  out.finite = map_.step(input, shift_);
  out.status = map_.status();
  out.q_next = q_ = map_.end().q;
  out.v_next = v_ = map_.end().v;
  if (!out.finite) return;
  modes_ = modes_of(map_.stepper(), input.dt);
  for (const ContactReport& r : map_.stepper().contacts()) out.contacts.push_back({r.id, r.mode, false});
  m_.resize(0);
  shift_.m.resize(0);
  if (out.memory) {
    remembered(map_.end().memory, m_);
    remembered(input.state.memory, shift_.m);
    shift_.m.setZero();
  }
  const int nu = static_cast<int>(inputs_.size()), columns = 2 * nv + nu + static_cast<int>(shift_.m.size());
  disturbed_.assign(at(columns), 0);
  whole_.setZero(2 * nv + m_.size(), columns);
  if (out.memory) skip_points(input.state.memory, 2 * nv + nu);
  const double torque = std::max(1.0, model_.mass()) * (out.memory ? wider_inputs : 1);
  for (int j = 0; j < columns; ++j) {
    const bool input_column = j >= 2 * nv && j < 2 * nv + nu;
    const bool is_force = input_column || j >= columns - static_cast<int>(input.state.memory.rows.size());
    const double h = is_force && (input_column || out.memory) ? spread * torque : spread;
    if (disturbed_[at(j)]) continue;
    auto column = whole_.col(j);
    const double apart = difference(input, j, h, out, column);
    if (!out.finite) break;
    if (j >= nv && j < 2 * nv + nu && refines_) widen(input, j, h, apart, out, column);
    if (apart <= bent || !refines_ || input_column) continue;  // steps are nearly linear in their inputs
    first_ = column;  // the step bends within h: a smaller one may see less of it
    const char disturbed = disturbed_[at(j)];
    const double finer_apart = difference(input, j, finer * h, out, column);
    if (!out.finite) break;
    if (finer_apart <= (apart < 1 ? std::max(equal_slope, converges * apart) : equal_slope)) continue;
    column = first_;
    disturbed_[at(j)] = disturbed;
  }
  shift_.m.resize(0);
  store(out);
}

// A point that a contact keeps is a corner of its body: moved along the surface it would be taken anew.
void Differences::skip_points(const Memory& memory, int column) {
  const Memory& end = map_.end().memory;
  if (memory.family != MemoryFamily::Compliant) return;
  for (std::size_t i = 0; i < memory.anchors.size(); ++i) {
    if (!memory.contacts[i].touched) continue;
    for (std::size_t k = 0; k < end.anchors.size(); ++k)
      if (end.contacts[k].id == memory.contacts[i].id && end.anchors[k].point == memory.anchors[i].point)
        for (int a = 3; a < 6; ++a) disturbed_[at(column + a)] = 1;
    column += 7;
  }
}

void Differences::store(Linearization& out) const {
  const int nv = model_.nv;
  const Eigen::Index nu = out.B.cols(), m = whole_.cols() - 2 * nv - nu;
  out.finite = out.finite && whole_.allFinite();
  out.A.setZero();
  out.B.setZero();
  if (!out.finite) return;
  out.A = whole_.topLeftCorner(2 * nv, 2 * nv);
  out.B = whole_.block(0, 2 * nv, 2 * nv, nu);
  if (!out.memory) return;
  out.whole_A.resize(whole_.rows(), 2 * nv + m);
  out.whole_A << whole_.leftCols(2 * nv), whole_.rightCols(m);
  out.whole_B = whole_.middleCols(2 * nv, nu);
}

}  // namespace tribo
