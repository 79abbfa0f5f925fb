// Names of rows from step to step, by which a state remembers their forces. No contact has such an id.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tribo {

/// What a row of a coordinate or of a tendon does. States on disk hold these numbers.
enum class RowRole : std::uint64_t {
  Limit = 0,
  Friction = 1,
  Target = 2,
  Drive = 3,
  FreeFriction = 5,
  Swing = 7,
  Spring = 8
};

constexpr std::uint64_t row_id(std::uint64_t family, int number, RowRole role, bool upper) {
  return family << 61 | static_cast<std::uint64_t>(number) << 8 | static_cast<std::uint64_t>(role) << 1 |
         (upper ? 1 : 0);
}

constexpr std::uint64_t coordinate_row_id(int dof, RowRole role, bool upper = false) {
  return row_id(4, dof, role, upper);
}

/// The velocity whose drive has this row, or -1.
constexpr int driven_by_row(std::uint64_t id) {
  const int dof = static_cast<int>(id >> 8 & 0xffffffff);
  return id == coordinate_row_id(dof, RowRole::Drive) ? dof : -1;
}

constexpr std::uint64_t tendon_row_id(int tendon, RowRole role, bool upper = false) {
  return row_id(5, tendon, role, upper);
}

constexpr std::uint64_t equality_row_id(int element, int component) {
  return std::uint64_t{6} << 61 | static_cast<std::uint64_t>(element) << 8 | static_cast<std::uint64_t>(component);
}

/// Of no row: how long a tree has rested (sleep.hpp).
constexpr std::uint64_t rest_id(int tree) { return std::uint64_t{3} << 61 | static_cast<std::uint64_t>(tree); }
constexpr bool is_rest_id(std::uint64_t id) { return id >> 61 == 3; }
constexpr std::size_t rest_tree(std::uint64_t id) { return id & 0xffffffff; }

/// Of torsional (component 0) and rolling friction. A contact's id has no room for more: spread, then cut.
constexpr std::uint64_t turn_row_id(std::uint64_t contact, int component) {
  const std::uint64_t mixed = (contact * 4 + static_cast<std::uint64_t>(component)) * 0x9e3779b97f4a7c15ull;
  return std::uint64_t{7} << 61 | mixed >> 3;
}

}  // namespace tribo
