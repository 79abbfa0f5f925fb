#include "contact/side_kernel.hpp"

#include "linalg/clones.hpp"
#include "linalg/quad.hpp"

namespace tribo {

TRIBO_CLONES void side_jacobian(const SideOfContact& side, double* J, double* before, double* free) {
  const double *const R = side.R, s = side.sign;
  const Columns to_contact{s * Quad{R[0], R[3], R[6], 0}, s * Quad{R[1], R[4], R[7], 0}, s * Quad{R[2], R[5], R[8], 0}};
  const Quad point = given(side.r.data());
  Quad b{}, f{};
  for (int a = 0; a < side.depth; ++a) {
    const int k = side.path[a];
    const Spatial& S = side.axes[k];
    const Quad u = load(S.lin.data()) + cross(load(S.ang.data()), point), column = times(to_contact, u);
    b += side.v[k] * column;
    f += side.v_free[k] * column;
    store(J + 4 * a, column);
  }
  for (int r = 0; r < 3; ++r) {
    before[r] += b[r];
    free[r] += f[r];
  }
}

TRIBO_CLONES void pack_columns(double* J, int columns) {
  for (int a = 1; a < columns; ++a) store(J + 3 * a, load(J + 4 * a));
}

}  // namespace tribo
