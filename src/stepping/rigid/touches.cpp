#include "stepping/rigid/touches.hpp"

#include "dynamics/group.hpp"

namespace tribo {

Touches::Touches(const Model& model, bool divides) : divides_(divides) { way_.setZero(model.nv); }

void Touches::begin(const Start& start, const IslandSetup& setup) {
  open_.clear();
  if (!divides_) return;
  for (const Contact& c : start.contacts) {
    if (!setup.waits(c)) continue;
    const Vec3 moves = start.dynamics.point_velocity(c.body_b, c.p_WC + c.arm_b) -
                       start.dynamics.point_velocity(c.body_a, c.p_WC + c.arm_a) + c.v_given;
    open_.push_back({c.id, c.gap, moves.dot(c.R_WC.col(2))});
  }
}

Start Touches::from_here(const Start& start) {
  if (!divides_ || start.state.q == start.q_control) return start;
  Member all;
  all.bodies = static_cast<int>(start.model.bodies.size());
  difference(start.model, all, start.q_control, start.state.q, way_);
  moved_ = start.actuation;
  moved_.error -= way_;
  return {.model = start.model,
          .state = start.state,
          .dynamics = start.dynamics,
          .contacts = start.contacts,
          .assembly = start.assembly,
          .actuation = moved_,
          .q_control = start.q_control,
          .v_control = start.v_control,
          .dt = start.dt,
          .step = start.step,
          .audited = start.audited,
          .times = start.times};
}

}  // namespace tribo
