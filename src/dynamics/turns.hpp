// Rotation matrices for kernels; include it after clones.hpp.
#pragma once

#include "linalg/quad.hpp"
#include "tribo/types.hpp"

namespace tribo {

/// By columns, of the quaternion at q.
QUAD_INLINE void rotation(const double* q, double* R) {
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  const double xx = 2 * x * x, yy = 2 * y * y, zz = 2 * z * z, xy = 2 * x * y, xz = 2 * x * z, yz = 2 * y * z;
  const double wx = 2 * w * x, wy = 2 * w * y, wz = 2 * w * z;
  R[0] = 1 - (yy + zz);
  R[1] = xy + wz;
  R[2] = xz - wy;
  R[3] = xy - wz;
  R[4] = 1 - (xx + zz);
  R[5] = yz + wx;
  R[6] = xz + wy;
  R[7] = yz - wx;
  R[8] = 1 - (xx + yy);
}

/// The same, of a turn by the angle of this cosine and sine about a.
QUAD_INLINE void rotation_about(const Vec3& a, double c, double s, double* R) {
  const double x = (1 - c) * a[0], y = (1 - c) * a[1], z = (1 - c) * a[2];
  R[0] = c + x * a[0];
  R[1] = x * a[1] + s * a[2];
  R[2] = x * a[2] - s * a[1];
  R[3] = x * a[1] - s * a[2];
  R[4] = c + y * a[1];
  R[5] = y * a[2] + s * a[0];
  R[6] = x * a[2] + s * a[1];
  R[7] = y * a[2] - s * a[0];
  R[8] = c + z * a[2];
}

/// The same about a unit vector of the frame, whose axes are turned.
QUAD_INLINE void turn_about(int axis, double c, double s, Columns& R) {
  const Columns r = R;
  switch (axis) {
    case 0:
      R.y = r.y * c + r.z * s;
      R.z = r.z * c - r.y * s;
      break;
    case 1:
      R.z = r.z * c + r.x * s;
      R.x = r.x * c - r.z * s;
      break;
    default:
      R.x = r.x * c + r.y * s;
      R.y = r.y * c - r.x * s;
  }
}

}  // namespace tribo
