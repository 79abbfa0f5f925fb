// The options that all compliant steppers have, as fields of the options of each.
#pragma once

#include "tribo/compliant.hpp"

namespace tribo {

template <class T>
FieldTable<T> compliant_fields() {
  FieldTable<T> table;
  table.add(
      "anchor", &T::anchor,
      {{"surface", AnchorRule::Surface},
       {"detected", AnchorRule::Detected},
       {"surface-unsplit", AnchorRule::SurfaceUnsplit}},
      "where the spring of a new contact rests: on the surface, the step split there; where overlap is first seen; "
      "on the surface without a split, which creates energy");
  table.add("slip_anchor", &T::slip,
            {{"drawn", SlipAnchor::Drawn}, {"set", SlipAnchor::Set}, {"set-undamped", SlipAnchor::SetUndamped}},
            "how the anchor of a slipping contact moves: drawn by spring and damper, set each step, the same undamped");
  table.add("law", &T::law, "force of a contact: see `tribo list laws`; its options stand beside");
  table.add("bilateral", &T::bilateral, "contacts pull as they push, without a friction cone");
  table.add("accuracy", &T::accuracy, at_least(0), "",
            "largest error of q or v by a step, from two half steps; 0: fixed steps");
  table.add("limit_stiffness", &T::limit_stiffness, positive(), "N m/rad or N/m", "of joint limits");
  table.add("limit_damping", &T::limit_damping, at_least(0), "N m s/rad or N s/m", "of joint limits");
  table.add("friction_deflection", &T::friction_deflection, positive(), "rad or m",
            "way that a joint with dry friction gives, like a spring, before it slips");
  table.add("stribeck_speed", &T::stribeck_speed, at_least(0), "m/s",
            "a contact that slips slower than this keeps its static friction");
  table.add("closure_stiffness", &T::closure_stiffness, positive(), "N/m",
            "of equality constraints; about an axis times (0.1 m)^2");
  table.add("closure_damping", &T::closure_damping, at_least(0), "N s/m",
            "of equality constraints; about an axis times (0.1 m)^2");
  return table;
}

}  // namespace tribo
