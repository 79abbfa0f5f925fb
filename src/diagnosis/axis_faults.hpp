// Joints whose axes do not fit those of their like.
#pragma once

#include <functional>
#include <optional>

#include "tribo/explain.hpp"

namespace tribo {

/// Joints that are called alike on several limbs ("FL_knee", "FR_knee", …) with the same range have parallel axes, or axes
/// that are mirrored two by two: one that is alone with its own is wrong. And of joints that mirror each other, left and
/// right, the axes do, or the ranges.
/// trusted: members that are not looked at.
std::optional<Finding> axis_fault(const Model& model, const std::function<bool(const Member&)>& trusted);

}  // namespace tribo
