#include "derivatives/compliant_derivative.hpp"

#include <algorithm>
#include <cmath>

#include "derivatives/edges.hpp"

namespace tribo {
namespace {

constexpr double spread_of_length = 3e-3;  // of a substep: the differences that F_h is
constexpr double short_substep = 1e-5;     // of the step: a substep that is shorter is at a kink
constexpr double grazes = 1e-6;            // a touch that is slower than this share of F_h is no crossing

}  // namespace

CompliantDerivative::CompliantDerivative(const Model& model, std::unique_ptr<Scheme> scheme,
                                         const StepperOptions& options)
    : model_(model),
      margin_(options.contact.margin),
      scheme_(std::move(scheme)),
      compliant_(dynamic_cast<Compliant&>(*scheme_)),
      inputs_(list_inputs(model)),
      input_of_(at(model.nv), -1),
      joint_end_(at(model.nv), 0),
      motion_(model),
      inverse_(model),
      trees_(model),
      work_(model),
      state_(State::neutral(model)),
      crossing_(model, *scheme_, options),
      substeps_(model, scheme_->substeps()) {
  for (VecX* x : {&still_.q, &still_.v, &still_.u, &zero_, &moved_}) x->setZero(model.nv);
  for (std::size_t c = 0; c < inputs_.size(); ++c) input_of_[at(inputs_[c])] = static_cast<int>(c);
  for (const Body& b : model.bodies)
    for (int k = b.iv; k < b.iv + nv_of(b.joint); ++k) joint_end_[at(k)] = b.iv + nv_of(b.joint);
}

const char* CompliantDerivative::compute(const StepInput& step, Linearization& out) {
  if (!model_.medium.boxes.empty()) return "the forces of a fluid follow the velocities";
  if (!compliant_.linear()) return "the law of contact is not linear";
  if (compliant_.rules().accuracy > 0) return "steps of a wanted accuracy are chosen anew";
  if (const char* why = unsupported()) return why;
  StepReport report;
  StepMap::start(model_, step, still_, state_, work_);
  crossing_.open(state_, work_, step.dt, report);
  if (!substeps_.run(crossing_)) return "the step cannot be taken";
  lengths_ = substeps_.lengths();
  StepMap::start(model_, step, still_, state_, work_);
  crossing_.open(state_, work_, step.dt, report);
  return join(step, report, out);
}

// The state moves on over the substeps of the step.
const char* CompliantDerivative::join(const StepInput& step, StepReport& report, Linearization& out) {
  const bool divided = lengths_.size() > 1;
  if (divided && !model_.kinematic.empty()) return "kinematic bodies move with the time of a touch";
  if (divided && scheme_->substeps().events) return "a step that ends substeps at events";
  if (divided && !step.forces.empty()) return "pushes in a step that is divided";
  const int nu = static_cast<int>(inputs_.size() + parameters_.size());
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const double h = lengths_[i];
    list_memory(state_, i > 0 || out.memory);
    if (i == 0) {
      first_memory_ = columns_.memory;
      sum_.setZero(columns_.state(), columns_.all());
      sum_.leftCols(columns_.state()).setIdentity();
      when_.setZero(columns_.all());
    }
    applied_ = step.forces;
    if (divided && !slope_by_length(h)) return "a substep cannot be taken";
    crossing_.begin();
    const auto open = crossing_.open_contacts();
    open_before_.assign(open.begin(), open.end());
    if (!crossing_.solve(h)) return "a solve that did not converge";
    const auto slips = [](const CompliantContact& s) { return s.mode == ContactMode::Slip; };
    if (divided && std::any_of(compliant_.active().begin(), compliant_.active().end(), slips))
      return "a contact slips in a step that is divided";
    const Start start = crossing_.start(h);
    if (const char* why = differentiate(start, crossing_.outcome(), i == 0, out)) return why;
    through_.noalias() = whole_.map().leftCols(columns_.state()) * sum_;
    through_.rightCols(nu) += whole_.map().rightCols(nu);
    if (divided) through_.noalias() -= by_length_ * when_;
    if (h < short_substep * step.dt) ++out.weak;
    const bool last = i + 1 == lengths_.size();
    for (const CompliantContact& s : compliant_.active())
      if (last)
        out.contacts.push_back({acting(at(static_cast<int>(&s - compliant_.active().data()))).id, s.mode, false});
    note_weak(crossing_.outcome(), out);
    out.status = crossing_.outcome().status;
    if (!crossing_.commit()) return "the step cannot be taken";
    if (!last)
      if (const char* why = find_touch(out)) return why;
    sum_.swap(through_);
  }
  report.substeps = static_cast<int>(lengths_.size());
  store(step, out);
  return nullptr;
}

const char* CompliantDerivative::differentiate(const Start& start, const Outcome& out, bool first, Linearization& lin) {
  if (!first)
    for (const JointSpring& s : compliant_.joints().all())
      if (s.kind == JointSpring::Kind::Drive && !s.target && s.K != 0)
        for (const Body& b : model_.bodies)
          if (s.dof >= b.iv && s.dof < b.iv + nv_of(b.joint) && nv_of(b.joint) > 1)
            return "gains of a joint that turns freely, in a step that is divided";
  if (!compliant_.row_springs().empty()) return "springs along rows of many coordinates";
  if (const char* why = move_contacts(start)) return why;
  int rubbing = 0;
  for (const JointSpring& s : compliant_.joints().all()) rubbing += s.kind == JointSpring::Kind::Friction;
  whole_.set_zero(2 * model_.nv + 7 * contacts() + rubbing, columns_.all());
  damper_slopes(start);
  parameter_springs();
  if (const char* why = cross(start, out)) return why;
  move_configuration(start, out);
  if (const char* why = remember(start, out)) return why;
  remember_friction(start, out);
  if (wants_forces_) store_forces();
  (void)lin;
  return nullptr;
}

// Columns of what the state remembers, where they are wanted.
void CompliantDerivative::list_memory(const State& state, bool wanted) {
  columns_ = {model_.nv, 0, static_cast<int>(inputs_.size() + parameters_.size())};
  column_of_.clear();
  if (!wanted || state.memory.family != MemoryFamily::Compliant) return;
  const Memory& memory = state.memory;
  int column = 2 * model_.nv;
  for (std::size_t i = 0; i < memory.anchors.size(); ++i) {
    if (!memory.contacts[i].touched) continue;
    column_of_.push_back({memory.contacts[i].id, column});
    column += 7;
  }
  for (const RowMemory& r : memory.rows) column_of_.push_back({r.id, column++});
  columns_.memory = column - 2 * model_.nv;
}

int CompliantDerivative::memory_column(std::uint64_t id) const {
  for (const auto& [known, column] : column_of_)
    if (known == id) return column;
  return -1;
}

// F_h of a substep from the present state into by_length_: differences of order four.
bool CompliantDerivative::slope_by_length(double h) {
  const int nv = model_.nv;
  const double d = spread_of_length * h;
  crossing_.save(saved_);
  std::size_t k = 0;
  for (double share : {0.0, 1.0, -1.0, 2.0, -2.0}) {
    crossing_.begin();
    crossing_.solve(h + share * d);
    if (!crossing_.commit()) return false;
    if (share == 0) {
      q_end_ = state_.q;
    } else {
      tangent(model_, q_end_, state_.q, moved_);  // at the end of the substep, not at its start
      remembered(state_.memory, m_);
      VecX& x = side_[k++];
      x.resize(2 * nv + m_.size());
      x << moved_, state_.v, m_;
    }
    crossing_.restore(saved_);
  }
  for (const VecX& x : side_)
    if (x.size() != side_[0].size()) return false;
  by_length_ = (8 * (side_[0] - side_[1]) - (side_[2] - side_[3])) / (12 * d);
  return true;
}

// The contact that a substep ended at, and when it does: dt_i into when_, dx_i into through_ (deriv.16).
const char* CompliantDerivative::find_touch(Linearization& out) {
  crossing_.begin();
  const Start start = crossing_.start(lengths_.front());
  const Contact* touch = nullptr;
  std::size_t was = 0;
  for (const Contact& c : start.contacts) {
    while (was < open_before_.size() && open_before_[was].id < c.id) ++was;
    if (was == open_before_.size()) break;
    if (open_before_[was].id != c.id || !(c.gap <= substeps_.gap_of_touch(c))) continue;
    if (touch) ++out.weak;  // two at once: which comes first, dx decides
    if (!touch || std::abs(c.gap) < std::abs(touch->gap)) touch = &c;
  }
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
  if (!(std::abs(speed) > grazes * length)) return "a touch that grazes has no time";
  when_ = tau_ / speed;
  through_.noalias() += by_length_ * when_;
  return nullptr;
}

// Contacts whose force is at the edge of its cone.
void CompliantDerivative::note_weak(const Outcome& out, Linearization& lin) const {
  (void)out;
  double weight = 1e-12;
  for (const CompliantContact& s : compliant_.active()) weight = std::max(weight, s.mean.norm());
  const double stretch = edge_ / weight;
  lin.margin = std::min(lin.margin, stretch);
  lin.weak += stretch < weak_share;
  for (const CompliantContact& s : compliant_.active()) {
    if (s.mode != ContactMode::Stick || compliant_.rules().bilateral) continue;
    const double room = std::min(s.mu() * s.mean.z() - s.mean.head<2>().norm(), s.mean.z()) / weight;
    lin.margin = std::min(lin.margin, std::max(room, 0.0));
    lin.weak += room < weak_share;
  }
}

void CompliantDerivative::store(const StepInput& step, Linearization& out) const {
  (void)step;
  const int nv = model_.nv, nu = columns_.inputs, states = 2 * nv + first_memory_;
  out.A = sum_.topLeftCorner(2 * nv, 2 * nv);
  out.B = sum_.block(0, states, 2 * nv, nu);
  if (out.memory) {
    out.whole_A = sum_.leftCols(states);
    out.whole_B = sum_.rightCols(nu);
  }
  out.q_next = state_.q;
  out.v_next = state_.v;
  out.finite = sum_.allFinite();
  if (out.finite) return;
  out.A.setZero();
  out.B.setZero();
}

}  // namespace tribo
