// When a contact touches, where a step is divided at a touch: a share of the smaller shape, so that a scene means the
// same in any unit.
#pragma once

#include "model/sizes.hpp"
#include "tribo/contact.hpp"

namespace tribo {

/// A contact with a smaller gap touches [m].
inline double gap_of_touch(const Sizes& sizes, const Contact& contact) { return 2e-6 * sizes.of(contact); }

}  // namespace tribo
