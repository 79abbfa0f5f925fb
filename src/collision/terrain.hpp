// Terrain by its cells, for the sources of the narrow phase.
#pragma once

#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {

/// Corner of the grid, and the two triangles of a cell: (i, j), (i + 1, j), (i, j + 1) and the other half.
struct Cells {
  const Terrain& terrain;
  const HeightField& h = *terrain.field;

  int index(int i, int j) const { return j * h.nx + i; }
  double z(int k) const { return h.heights[at(k)]; }
  Vec3 corner(int i, int j) const {
    return {i * h.spacing_x - terrain.half_x, j * h.spacing_y - terrain.half_y, z(index(i, j))};
  }
  int cell_x(double x) const { return cell(x + terrain.half_x, h.spacing_x, h.nx); }
  int cell_y(double y) const { return cell(y + terrain.half_y, h.spacing_y, h.ny); }
  static int cell(double x, double spacing, int points) {
    return static_cast<int>(std::clamp(std::floor(x / spacing), 0.0, static_cast<double>(points - 2)));
  }
  bool over(const Vec3& x) const { return std::abs(x.x()) <= terrain.half_x && std::abs(x.y()) <= terrain.half_y; }

  /// Height and normal of the surface in the column of x, which is over the grid.
  double column(const Vec3& x, Vec3& n) const {
    const int i = cell_x(x.x()), j = cell_y(x.y());
    const double u = (x.x() + terrain.half_x) / h.spacing_x - i, v = (x.y() + terrain.half_y) / h.spacing_y - j;
    const double z00 = z(index(i, j)), z10 = z(index(i + 1, j)), z01 = z(index(i, j + 1)), z11 = z(index(i + 1, j + 1));
    const bool first = u + v <= 1;
    const double dx = first ? z10 - z00 : z11 - z01, dy = first ? z01 - z00 : z11 - z10;
    n = Vec3(-dx / h.spacing_x, -dy / h.spacing_y, 1).normalized();
    return first ? z00 + u * dx + v * dy : z11 - (1 - u) * dx - (1 - v) * dy;
  }
};

/// How far a solid that is no ball has to be lifted, along the z of the terrain, to be free of it (terrain.7) [m].
double lift(const Query& query);

/// How long a ball over terrain that is fixed cannot touch what is within its reach, at least [s].
double free_time(const Query& query);

/// Contacts of a solid that is no ball with faces, ridges and peaks, into scratch.candidates.
void add_solid(const Query& query);

}  // namespace tribo
