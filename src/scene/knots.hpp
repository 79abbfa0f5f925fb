// Arrays of motion files: one row a knot.
#pragma once

#include <string>

#include "io/npy.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// The array `dt`: one number, finite and > 0 [s].
double time_between_knots(const NpzReader& file);
/// An array (n, columns) as one column a knot. InvalidInput says what the columns mean.
MatX knots_of(const NpyArray& array, std::uint64_t columns, const std::string& meaning);
/// An array (n, joints) as one column a knot, on the velocity coordinates of the joints (nv of the member).
MatX joints_of_knots(const NpzReader& file, const std::string& name, const Model& model, const Member& member);

}  // namespace tribo
