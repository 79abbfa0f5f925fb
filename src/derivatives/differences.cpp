#include "derivatives/differences.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/compliant/compliant.hpp"

namespace tribo {
namespace {

constexpr double spread = 1e-5;  // of a difference [m], [rad], [m/s], [rad/s]; times the scale of torques for inputs
constexpr double beside = 3e-6;  // of a difference on one side
constexpr double same_slope = 1e-2;   // both sides of a difference, of the largest entry of the column
constexpr double least_slope = 1e-3;  // slopes of velocities below are rounding beside this one [1/s], [-]
constexpr double equal_slope = 1e-6;  // the same where a gap begins or ceases to count
constexpr double finer = 0.1, widest_speed = 1e3, widest_input = 1e5;
constexpr double still = 0.1;          // of the spread: what moves less over it is looked at over a larger one
constexpr double wider_inputs = 10;    // a torque moves anchors by the square of dt alone
constexpr double converges = 0.05;     // of the distance of the levels at h, that at h / 10: truncation, not rounding
constexpr double bent = 1e-5;          // between the two levels of a difference, of the same
constexpr double row_rounding = 1e-9;  // of the bound of a row
constexpr double resolved = 1e-7;      // distance of the levels, of the largest entry of the block: good enough
constexpr double unresolved = 1e-4;    // the same: nothing to compare with
constexpr double spreads[] = {10, 0.1, 100, 0.01, 1e-3};  // that are tried, of the first
constexpr double rounds_less = 0.3, bends_less = 0.1;     // a wider spread, a finer one: less than that is chance
constexpr double least_input_slope = 1e-12;
constexpr double rounding = 2e-16;  // of q, v [m], [rad], …
constexpr char skipped = 2;         // a column that is not looked at

void mix(std::uint64_t& hash, std::uint64_t x) { hash = (hash ^ x) * 0x100000001b3ull + 0x9e3779b97f4a7c15ull; }

// Which contacts, rows and overlaps act, and how.
Differences::Modes modes_of(const StepMap& map, double dt) {
  Differences::Modes modes;
  std::uint64_t& hash = modes.act;
  mix(hash, static_cast<std::uint64_t>(map.substeps()));  // as many touches within the step
  for (const ContactReport& r : map.contacts()) {
    if (r.mode == ContactMode::Open) continue;
    mix(hash, r.id);
    mix(hash, static_cast<std::uint64_t>(r.mode) * 2 + (r.gap > 0));
  }
  if (const auto* compliant = dynamic_cast<const Compliant*>(&map.scheme())) {
    for (const LimitSpring& l : compliant->limits()) mix(hash, l.mean > 0 ? 9 : 10);
    for (const JointSpring& s : compliant->joints().all())
      mix(hash, s.mean <= s.lower ? 11 : s.mean >= s.upper ? 12 : 13);
  }
  const Outcome& out = map.outcome();
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
    : model_(model), map_(model, stepper, options), inputs_(list_inputs(model)) {
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
  seen_ = modes_of(map_, input.dt);
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
  between_.setZero();
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
    const double between = 0.5 * (part(2) + part(3) - part(0) - part(1)).cwiseAbs().maxCoeff();
    const double rounded = half < 2 * nv ? rounding : rounding * std::max(1.0, m_.cwiseAbs().maxCoeff());
    between_[half / nv] = std::max(between, rounded / h);
    apart = std::max(apart, between / scale);
  }
  disturbed_[at(j)] = !same;
  spread_[j] = h;
  return same ? apart : 1;
}

// Where a velocity or an input moves next to nothing over h, as behind a gear or where targets say all velocities, a larger h
// has less rounding.
void Differences::widen(const StepInput& input, int j, double h, double apart, Linearization& out,
                        Eigen::Ref<VecX> column) {
  const double moved = h * column.segment(model_.nv, model_.nv).cwiseAbs().maxCoeff();
  if (!(moved > 0) || moved >= still * spread) return;
  keep(j, column);
  const double most = std::min(spread / moved, j < 2 * model_.nv ? widest_speed : widest_input);
  for (double share : {1.0, 0.1}) {
    const double wide = difference(input, j, share * most * h, out, column);
    if (disturbed_[at(j)] == 0 && out.finite && (wide <= apart || j >= 2 * model_.nv)) return;
    out.finite = true;  // as it was
  }
  go_back(j, column);
}

// A difference of column j, and going back to it.
void Differences::keep(int j, const Eigen::Ref<const VecX>& column) {
  kept_ = {column, between_, spread_[j], disturbed_[at(j)]};
}

void Differences::go_back(int j, Eigen::Ref<VecX> column) {
  column = kept_.column;
  between_ = kept_.between;
  spread_[j] = kept_.spread;
  disturbed_[at(j)] = kept_.disturbed;
}

// The step itself, and what it remembers. False where it has no end.
bool Differences::begin(const StepInput& input, Linearization& out) {
  reset(model_, inputs_, out);
  out.A.setZero();
  out.B.setZero();
  out.method = Linearization::Method::Differences;
  std::fill(disturbed_.begin(), disturbed_.end(), 0);
  out.finite = map_.step(input, shift_);
  out.status = map_.status();
  out.q_next = q_ = map_.end().q;
  out.v_next = v_ = map_.end().v;
  if (!out.finite) return false;
  modes_ = modes_of(map_, input.dt);
  for (const ContactReport& r : map_.contacts()) out.contacts.push_back({r.id, r.mode, false});
  m_.resize(0);
  shift_.m.resize(0);
  if (out.memory) {
    remembered(map_.end().memory, m_);
    remembered(input.state.memory, shift_.m);
    shift_.m.setZero();
  }
  return true;
}

void Differences::compute(const StepInput& input, Linearization& out, const Linearization* beside) {
  if (!begin(input, out)) return;
  const int nv = model_.nv;
  const int nu = static_cast<int>(inputs_.size()), columns = 2 * nv + nu + static_cast<int>(shift_.m.size());
  disturbed_.assign(at(columns), 0);
  whole_.setZero(2 * nv + m_.size(), columns);
  if (out.memory) skip_points(input.state.memory, 2 * nv + nu);
  const double torque = std::max(1.0, model_.mass()) * (out.memory ? wider_inputs : 1);
  apart_.setZero(3, columns);
  spread_.setZero(columns);
  const bool compares = beside && whole_of(*beside, beside_);
  for (int j = 0; j < columns && out.finite; ++j) {
    if (disturbed_[at(j)]) continue;
    const bool input_column = j >= 2 * nv && j < 2 * nv + nu;
    const bool is_force = input_column || j >= columns - static_cast<int>(input.state.memory.rows.size());
    const double h = is_force && (input_column || out.memory) ? spread * torque : spread;
    if (compares && agrees(input, j, h, beside_, out)) continue;
    first_spread(input, j, h, out);
    apart_.col(j) = between_;
  }
  if (beside && out.finite) resolve(input, out);
  shift_.m.resize(0);
  store(out);
}

// The columns of a derivative as they stand in whole_. False where it has others.
bool Differences::whole_of(const Linearization& lin, MatX& slopes) const {
  const int nv = model_.nv;
  const Eigen::Index m = whole_.cols() - 2 * nv - lin.B.cols();
  const bool memory = m > 0 || m_.size() > 0;
  const MatX &A = memory ? lin.whole_A : lin.A, &B = memory ? lin.whole_B : lin.B;
  if (!lin.finite || A.rows() != whole_.rows() || A.cols() != 2 * nv + m || B.rows() != whole_.rows()) return false;
  slopes.resize(whole_.rows(), whole_.cols());
  slopes << A.leftCols(2 * nv), B, A.rightCols(m);
  return true;
}

// The largest slopes of q, v and memory by what column j stands for: (q, v, inputs or memory).
Vec3 Differences::largest(const MatX& slopes, int j, double dt) const {
  const int nv = model_.nv, inputs_end = 2 * nv + static_cast<int>(inputs_.size());
  const int first = j < nv ? 0 : j < 2 * nv ? nv : j < inputs_end ? 2 * nv : inputs_end;
  const int last = j < nv ? nv : j < 2 * nv ? 2 * nv : j < inputs_end ? inputs_end : static_cast<int>(slopes.cols());
  const bool input = first == 2 * nv && last == inputs_end;
  Vec3 most = input ? Vec3(Vec3::Constant(least_input_slope)) : Vec3(least_slope * dt, least_slope, least_slope * dt);
  for (int r = 0; r < 3; ++r)
    if (rows_of(r) > 0)
      most[r] = std::max(most[r], slopes.block(r * nv, first, rows_of(r), last - first).cwiseAbs().maxCoeff());
  return most;
}

// Two ends say the same as the other derivative: that they would by chance is out of the question.
bool Differences::agrees(const StepInput& input, int j, double h, const MatX& beside, Linearization& out) {
  bool same = true;
  for (int i : {0, 1}) {
    out.finite = out.finite && side(input, j, i == 0 ? h : -h, x_[at(i)]);
    same = same && seen_.act == modes_.act && seen_.ask == modes_.ask;
    if (!out.finite || !same) return false;
  }
  const Vec3 most = largest(beside, j, input.dt);
  for (int r = 0; r < 3; ++r) {
    if (rows_of(r) == 0) continue;
    const auto part = [&](const auto& x) { return x.segment(r * model_.nv, rows_of(r)); };
    const double kink = (part(x_[0]) - part(x_[1])).cwiseAbs().maxCoeff();
    const double apart = (0.5 * (part(x_[0]) + part(x_[1])) - part(beside.col(j))).cwiseAbs().maxCoeff();
    const double least = r == 0 ? least_slope * input.dt : least_slope;
    const double scale = std::max(part(beside.col(j)).cwiseAbs().maxCoeff(), least);
    if (!(kink <= same_slope * scale && apart <= resolved * most[r])) return false;
  }
  whole_.col(j) = 0.5 * (x_[0] + x_[1]);
  spread_[j] = h;
  return true;
}

// From ends at h, 2 h, 3 h and 4 h, of order h^3: the step may jump at the state itself.
VecX Differences::one_sided(const StepInput& input, const VecX& dx, const VecX& du) {
  const int nv = model_.nv;
  VecX slope = VecX::Zero(2 * nv), end(2 * nv);
  Shift shift;
  shift.u.setZero(nv);
  if (!map_.step(input, shift_)) return slope;
  q_ = map_.end().q;
  v_ = map_.end().v;
  const double h = beside / std::sqrt(dx.squaredNorm() + du.squaredNorm());
  for (const auto& [far, weight] : {std::pair(1, -13.0 / 3), {2, 19.0 / 2}, {3, -7.0}, {4, 11.0 / 6}}) {
    shift.q = far * h * dx.head(nv);
    shift.v = far * h * dx.tail(nv);
    for (std::size_t i = 0; i < inputs_.size() && du.size() != 0; ++i)
      shift.u[inputs_[i]] = far * h * du[static_cast<Eigen::Index>(i)];
    if (!map_.step(input, shift)) return VecX::Zero(2 * nv);
    tangent(model_, q_, map_.end().q, end);
    end.tail(nv) = map_.end().v - v_;
    slope += weight / h * end;
  }
  return slope;
}

void Differences::first_spread(const StepInput& input, int j, double h, Linearization& out) {
  const int nv = model_.nv, inputs_end = 2 * nv + static_cast<int>(inputs_.size());
  auto column = whole_.col(j);
  const double apart = difference(input, j, h, out, column);
  if (!out.finite || !refines_) return;
  if (j >= nv && j < inputs_end) widen(input, j, h, apart, out, column);
  if (apart <= bent || (j >= 2 * nv && j < inputs_end)) return;  // steps are nearly linear in their inputs
  keep(j, column);  // the step bends within h: a smaller one may see less of it
  const double finer_apart = difference(input, j, finer * h, out, column);
  if (finer_apart <= (apart < 1 ? std::max(equal_slope, converges * apart) : equal_slope)) {
    keep_memory(j, column);
    return;
  }
  go_back(j, column);
}

// Over less than the first spread a point that rolls over its body may be the same one (roll_slop), and its anchor stays where it is.
void Differences::keep_memory(int j, Eigen::Ref<VecX> column) {
  if (m_.size() == 0) return;
  column.tail(m_.size()) = kept_.column.tail(m_.size());
  between_[2] = kept_.between[2];
  disturbed_[at(j)] = kept_.disturbed;
}

// Each block of rows of a column over the spread at which its two levels are nearest, where the first does not resolve it.
void Differences::resolve(const StepInput& input, Linearization& out) {
  const int nv = model_.nv, nu = static_cast<int>(inputs_.size()), columns = static_cast<int>(whole_.cols());
  const int ends[] = {0, nv, 2 * nv, 2 * nv + nu, columns};
  for (int c = 0; c < 4; ++c) {
    Vec3 largest(least_slope * input.dt, least_slope, least_slope * input.dt);
    if (c == 2) largest.setConstant(least_input_slope);
    for (int j = ends[c]; j < ends[c + 1]; ++j)
      for (int r = 0; r < 3 && !disturbed_[at(j)]; ++r)
        if (rows_of(r) > 0)
          largest[r] = std::max(largest[r], whole_.col(j).segment(r * nv, rows_of(r)).cwiseAbs().maxCoeff());
    for (int j = ends[c]; j < ends[c + 1] && out.finite; ++j)
      if (disturbed_[at(j)] != skipped) resolve_column(input, j, largest, out);
  }
}

void Differences::resolve_column(const StepInput& input, int j, const Vec3& largest, Linearization& out) {
  const double h = spread_[j];
  bool known = !disturbed_[at(j)];
  if (!known) apart_.col(j).setConstant(HUGE_VAL);
  VecX& other = kept_.column;
  other.resize(whole_.rows());
  for (double share : spreads) {
    if (known && (apart_.col(j).array() <= resolved * largest.array()).all()) break;
    if (!known && (share > 1 || m_.size() > 0)) continue;
    difference(input, j, share * h, out, other);
    if (!out.finite) return;
    if (disturbed_[at(j)]) continue;
    known = true;
    for (int r = 0; r < 3; ++r) {
      const double less = share > 1 ? rounds_less : bends_less;
      if (rows_of(r) > 0 && apart_(r, j) < HUGE_VAL && between_[r] >= less * apart_(r, j)) continue;
      if (r == 2 && share < 1) continue;  // as keep_memory
      apart_(r, j) = between_[r];
      whole_.col(j).segment(r * model_.nv, rows_of(r)) = other.segment(r * model_.nv, rows_of(r));
    }
  }
  disturbed_[at(j)] = !known || (apart_.col(j).array() > unresolved * largest.array()).any();
}

// A point that a contact keeps is a corner of its body: moved along the surface it would be taken anew.
void Differences::skip_points(const Memory& memory, int column) {
  const Memory& end = map_.end().memory;
  if (memory.family != MemoryFamily::Compliant) return;
  for (std::size_t i = 0; i < memory.anchors.size(); ++i) {
    if (!memory.contacts[i].touched) continue;
    for (std::size_t k = 0; k < end.anchors.size(); ++k)
      if (end.contacts[k].id == memory.contacts[i].id && end.anchors[k].point == memory.anchors[i].point)
        for (int a = 3; a < 6; ++a) disturbed_[at(column + a)] = skipped;
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
