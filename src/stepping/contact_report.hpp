// What every stepper says of a contact in the same way.
#pragma once

#include <cmath>

#include "stepping/contact_points.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// As collision lists it; what happened to it is added by add_action or leave_open.
inline void list_contact(const Contact& contact, ContactReport& r) {
  r.id = contact.id;
  r.geometry_a = contact.geometry_a;
  r.geometry_b = contact.geometry_b;
  r.p_WC = contact.p_WC;
  r.R_WC = contact.R_WC;
  r.gap = contact.gap;
}

/// A contact that did not act, and moved as v_end has it.
inline void leave_open(const Start& start, const Contact& contact, const VecX& v_end, ContactReport& r) {
  r.f.setZero();
  r.c_start = contact_velocity(start.model, start.dynamics, contact, start.state.v);
  r.c = contact_velocity(start.model, start.dynamics, contact, v_end);
  r.mode = ContactMode::Open;
  r.mu = r.cone_margin = 0;
}

/// Adds force, velocities at both ends and mode of a contact that acts, under the friction mu.
inline void add_action(const Vec3& f, const Vec3& c_start, const Vec3& c, ContactMode mode, double mu,
                       ContactReport& r) {
  r.f = f;
  r.c_start = c_start;
  r.c = c;
  r.mode = mode;
  r.mu = mu;
  r.cone_margin = mu * f.z() - std::sqrt(f.x() * f.x() + f.y() * f.y());
}

}  // namespace tribo
