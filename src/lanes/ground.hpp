// How near shapes are to planes, in lanes: points that may touch, and shapes that are only watched.
// Included inside the namespace of a kernel, after problem.hpp.

struct GroundLanes {
  const Shape& s;
  const PackArrays& a;
  const TreeLanes& tree;

  /// Shapes that have no points here must be away from the ground, at the velocities that stand.
  Mask clear(Mask away) const {
    for (int i = 0; i < s.watched; ++i) {
      const Watched& x = s.watch[i];
      const Ground& ground = s.ground[x.ground];
      const V3 n = given(ground.n), center = tree.r[x.body] + times(tree.R[x.body], x.center);
      Pack reach[3], around{};
      for (int k = 0; k < 3; ++k) {
        const V3 axis = times(tree.R[x.body], x.axes + 3 * k);
        reach[k] = dot(n, axis);
        around += dot(axis, axis);
      }
      const Pack gap = dot(n, tree.O + center - given(ground.p)) - reaches(x.form, reach);
      const Spatial6& V = tree.V[x.body];
      const Pack speed = dot(n, V.lin + cross(V.ang, center)) - sqrt(dot(V.ang, V.ang) * around);
      const Mask far = (gap >= x.margin) & (gap + s.dt * speed >= 0.0);
      away &= x.vertices > 0 && any(away & ~far) ? far | vertices_clear(x) : far;
    }
    return away;
  }

  static Pack reaches(int form, const Pack* a) {
    if (form == in_box) return abs(a[0]) + abs(a[1]) + abs(a[2]);
    const Pack flat = a[0] * a[0] + a[1] * a[1];
    return form == in_cylinder ? sqrt(flat) + abs(a[2]) : sqrt(flat + a[2] * a[2]);
  }

  // The same of every vertex of a hull. Height and speed along the normal are linear in the frame of the body.
  Mask vertices_clear(const Watched& x) const {
    const Ground& ground = s.ground[x.ground];
    const Spatial6& V = tree.V[x.body];
    const V3 n = given(ground.n), turning = cross(n, V.ang), r = tree.r[x.body];
    const V3 up = turned_back(tree.R[x.body], n), faster = turned_back(tree.R[x.body], turning);
    const Pack height = dot(n, tree.O + r - given(ground.p)), rate = dot(n, V.lin) + dot(turning, r);
    Pack lowest = all(large), closest = all(large);
    const double* p = s.vertex + 3 * x.first;
    for (int k = 0; k < x.vertices; ++k, p += 3) {
      const Pack gap = height + p[0] * up.x + p[1] * up.y + p[2] * up.z;
      const Pack speed = rate + p[0] * faster.x + p[1] * faster.y + p[2] * faster.z;
      lowest = min(lowest, gap);
      closest = min(closest, gap + s.dt * speed);
    }
    return (lowest >= x.margin) & (closest >= 0.0);
  }

  struct Near {
    Pack gap;
    V3 rc;
    Mask listed;
  };
  // A point at the velocities that stand: nearer than the margin, or closing within the step.
  Near near(int i) const {
    const Point& x = s.point[i];
    const Ground& ground = s.ground[x.ground];
    const V3 n = given(ground.n), p = tree.r[x.body] + times(tree.R[x.body], x.p);
    const Pack gap = dot(n, tree.O + p - given(ground.p)) - x.round;  // (half_space.1)
    const V3 rc = p - (x.round + 0.5 * min(gap, all(0))) * n;         // the point itself, while it is above
    const Spatial6& V = tree.V[x.body];
    const Pack speed = dot(n, V.lin + cross(V.ang, rc));
    return {gap, rc, (gap < TreeLanes::at(a.margin, i)) | (gap + s.dt * speed < 0.0)};
  }
};
