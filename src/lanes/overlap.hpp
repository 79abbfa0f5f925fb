// Removal of overlap in lanes: recovery.hpp of the rigid stepper (rigid.6), the frictionless problem on positions.
// Included inside the namespace of a kernel, after free.hpp.

struct OverlapLanes {
  const Shape& s;
  const PackArrays& a;
  TreeLanes& tree;
  ProblemLanes& p;
  NewtonLanes& newton;
  FreeLanes& motion;
  Pack *g, *R, *f, *c, *gap, *w;

  OverlapLanes(const Shape& shape, const PackArrays& arrays, TreeLanes& lanes, ProblemLanes& problem,
               NewtonLanes& solver, FreeLanes& free, Room& room)
      : s(shape), a(arrays), tree(lanes), p(problem), newton(solver), motion(free) {
    room.share(ProblemLanes::most(s), g, R, f, c, gap);
    w = room.take<Pack>(s.nv);
  }
  static unsigned long packs(const Shape& s) {
    return 5ul * (unsigned long)ProblemLanes::most(s) + (unsigned long)s.nv;
  }

  static constexpr double joint_slop = 1e-7, begins = 1.05, overlap_share = 1e-6, wedged_share = 2e-3,
                          deep_share = 5e-4, most_way = 2;
  static constexpr double compliance = 1e-4, most_tolerance = 1e-6, default_tolerance = 1e-8;

  /// Gaps at the end of the step as v_end has them; lanes with an overlap that is to be removed.
  Mask needed(const Pack* end, const Pack* v_end) {
    Mask overlaps = none();
    for (int i = 0; i < p.nc; ++i) {
      const ContactSlot& x = p.contact[i];
      gap[i] = x.gap + s.dt * end[3 * i + 2];
      overlaps |= x.listed & (gap[i] < (-begins * overlap_share) * TreeLanes::at(a.size, x.point));
    }
    for (int j = 0; j < p.nr; ++j) {
      const RowSlot& x = p.row[j];
      if (x.kind > upper_limit) continue;
      gap[p.nc + j] = x.error + s.dt * x.sign * v_end[x.dof];
      overlaps |= x.listed & (gap[p.nc + j] < -begins * joint_slop);
    }
    return overlaps;
  }

  /// The velocity that removes overlap, (nv); lanes in which it was found. Forces of the step are lost.
  Mask solve(Mask asked, Pack* correction) {
    if (any(asked & motion.any_held)) {  // held joints may move to make room
      motion.release();
      p.build(motion.v, motion.v);
    }
    p.gram();
    set(asked);
    exchange();
    p.frictionless = true;
    p.velocity(p.f, p.c);
    ResidualLanes residual = p.judge(p.f, p.c);
    const double asked_for = most_tolerance / default_tolerance * s.tolerance_rel;  // as recovery.cpp
    const double tolerance = asked_for < most_tolerance ? asked_for : most_tolerance;
    const Mask stands = met(residual, 0, 1e-3 * tolerance);
    Mask found = newton.solve(asked & ~stands, 0, tolerance, 16, residual) | stands;
    p.to_tree(p.f, w);
    tree.unwhiten(w);
    found &= ~(wedged() | leads_elsewhere());
    for (int k = 0; k < s.nv; ++k) correction[k] = only(asked, s.dt * w[k]);
    p.frictionless = false;
    exchange();
    return found;
  }

  void exchange() { swap(p.g, g), swap(p.R, R), swap(p.f, f), swap(p.c, c); }
  static void swap(Pack*& x, Pack*& y) {
    Pack* z = x;
    x = y;
    y = z;
  }

  Mask deep() const {
    Mask m = none();
    for (int i = 0; i < p.nc; ++i)
      m |= p.contact[i].listed & (gap[i] < -(deep_share + overlap_share) * TreeLanes::at(a.size, p.contact[i].point));
    return m;
  }

  Pack turned_in(const ContactSlot& x) const {
    const Spatial6 &V = tree.V[x.body], &A = tree.A[x.body];
    const V3 r = x.rc + x.round * x.n;
    const V3 bias = A.lin + given(s.gravity) + cross(A.ang, r) + cross(V.ang, V.lin + cross(V.ang, r));
    return max((-0.5 * s.dt * s.dt) * dot(x.n, bias), 0.0);
  }

  /// What is taken off an overlap (rigid.16).
  Pack removed(const ContactSlot& x, Pack over, bool turns) const {
    const Pack part = TreeLanes::at(a.share, x.point) * over;
    if (!turns) return part;
    const Pack deep = max(min(over / (deep_share * TreeLanes::at(a.size, x.point)) - 1.0, all(1)), 0.0);
    const Pack in = deep * turned_in(x);
    return max(part, min(over + in, 3.0 * in));
  }

  void set(Mask asked) {
    const double square = s.dt * s.dt;
    const bool turns = any(asked & deep());
    if (turns) tree.move(motion.v, w);  // velocities and accelerations of the start
    for (int i = 0; i < p.n; ++i) g[i] = R[i] = f[i] = Pack{};
    for (int i = 0; i < p.nc; ++i) {
      ContactSlot& x = p.contact[i];
      const int o = 3 * i + 2;
      const Mask on = x.listed & asked;
      const Pack left = overlap_share * TreeLanes::at(a.size, x.point);
      const Pack asks = select(gap[i] < -left, -removed(x, -(gap[i] + left), turns), max(gap[i], 0.0)) / square;
      g[o] = only(on, asks);
      R[o] = only(on, compliance * p.G[o * p.n + o]);
      x.mu = Pack{};
    }
    for (int j = 0; j < p.nr; ++j) {
      RowSlot& x = p.row[j];
      const int o = 3 * p.nc + j;
      const Mask on = x.listed & asked;
      const bool limit = x.kind <= upper_limit;
      x.lower = Pack{};
      x.upper = limit ? only(on, all(__builtin_inf())) : Pack{};
      if (!limit) continue;
      const Pack d = gap[p.nc + j];
      g[o] = only(on, select(d < 0.0, s.joint_share * min(d + joint_slop, Pack{}), d) / square);
      R[o] = only(on, compliance * max(p.G[o * p.n + o], 1e-300));
    }
  }

  // What opens only by sliding or turning far: the scalar step takes a part of it (rigid.18).
  Mask leads_elsewhere() const {
    Pack asked{}, way{}, size{};
    for (int i = 0; i < p.nc; ++i) {
      const Pack *x = p.g + 3 * i, *y = p.c + 3 * i;
      size = select(-x[2] > asked, TreeLanes::at(a.size, p.contact[i].point), size);
      asked = max(asked, -x[2]);
      const Mask opens = (x[2] < 0.0) & (p.f[3 * i + 2] > 0.0);
      way = max(way, select(opens, y[0] * y[0] + y[1] * y[1], Pack{}));
    }
    const Mask slides = way > (most_way * most_way) * asked * asked;
    Pack turn{};
    for (int k = s.floats ? 6 : 0; k < s.nv; ++k)
      if (s.turning[k] > 0) turn = max(turn, abs(w[k]));
    return (asked > 0.0) & (slides | (size * turn > most_way * asked));
  }

  // Did a deep contact open by less than half of what was asked?
  Mask wedged() const {
    Mask m = none();
    for (int i = 0; i < p.nc; ++i) {
      const int o = 3 * i + 2;
      const Pack asks = p.g[o], moved = p.c[o] - asks - p.R[o] * p.f[o];
      const Pack deep = TreeLanes::at(a.share, p.contact[i].point) * TreeLanes::at(a.size, p.contact[i].point);
      m |= (asks * (s.dt * s.dt) < -wedged_share * deep) & (moved < -0.5 * asks);
    }
    return m;
  }
};
