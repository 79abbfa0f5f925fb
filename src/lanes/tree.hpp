// The dynamics of one tree in lanes: (dyn.1) to (dyn.5) of dynamics.hpp, in world axes about the origin O of the tree.
// Included inside the namespace of a kernel, after pack.hpp.

struct Spatial6 {
  V3 lin, ang;
};
struct BodyInertia {
  Pack m;
  V3 mc;
  S3 I;
};
LANE_INLINE Spatial6 operator*(const BodyInertia& I, const Spatial6& s) {
  return {I.m * s.lin + cross(s.ang, I.mc), I.I * s.ang + cross(I.mc, s.lin)};
}
LANE_INLINE void add(Spatial6& a, const Spatial6& b) {
  a.lin = a.lin + b.lin;
  a.ang = a.ang + b.ang;
}

/// Working memory, one piece after another.
struct Room {
  Pack* next;
  template <class T>
  T* take(int n) {
    static_assert(sizeof(T) % sizeof(Pack) == 0);
    T* p = reinterpret_cast<T*>(next);
    next += (unsigned long)n * (sizeof(T) / sizeof(Pack));  // NOLINT(bugprone-sizeof-expression): T may be Pack
    return p;
  }
  /// n for each of several.
  template <class... T>
  void share(int n, T*&... each) {
    ((each = take<T>(n)), ...);
  }
};

struct TreeLanes {
  const Shape& s;
  const PackArrays& a;
  V3 O;
  M3* R;
  V3* r;            // from O to the origin of a body
  Spatial6 *S, *V;  // by velocity, by body
  Spatial6 *A, *F;
  BodyInertia *I, *C;  // of a body, and with all that it carries
  Pack *M, *L, *inverse, *dis, *h, *gravity;

  TreeLanes(const Shape& shape, const PackArrays& arrays, Room& room) : s(shape), a(arrays) {
    R = room.take<M3>(s.bodies);
    r = room.take<V3>(s.bodies);
    V = room.take<Spatial6>(s.bodies);
    A = room.take<Spatial6>(s.bodies);
    F = room.take<Spatial6>(s.bodies);
    I = room.take<BodyInertia>(s.bodies);
    C = room.take<BodyInertia>(s.bodies);
    S = room.take<Spatial6>(s.nv);
    M = room.take<Pack>(s.entries);
    L = room.take<Pack>(s.entries);
    inverse = room.take<Pack>(s.nv);
    dis = room.take<Pack>(s.nv);
    h = room.take<Pack>(s.nv);
    gravity = room.take<Pack>(s.nv);
  }
  static unsigned long packs(const Shape& s) {
    return (unsigned long)s.bodies * (9 + 3 + 18 + 20) + (unsigned long)s.nv * 10 + 2ul * (unsigned long)s.entries;
  }

  static const Pack& at(const double* x, int i) { return reinterpret_cast<const Pack*>(x)[i]; }

  /// Poses, axes and inertias at q.
  void place(const Pack* q) {
    for (int b = 0; b < s.bodies; ++b) {
      place_body(b, q);
      weigh(b);
    }
  }

  void place_body(int b, const Pack* q) {
    const double* X = s.placement + 12 * b;
    const int p = s.parent[b], k = s.iv[b], i = s.iq[b];
    M3 Rj;
    V3 rj;
    if (p < 0) {
      for (int c = 0; c < 3; ++c) Rj.c[c] = given(X + 3 * c);
      rj = V3{};
      O = given(X + 9);
    } else {
      const M3& Rp = R[p];
      if (s.turned[b])
        for (int c = 0; c < 3; ++c) Rj.c[c] = times(Rp, X + 3 * c);
      else
        Rj = Rp;
      rj = r[p] + times(Rp, X + 9);
    }
    switch (s.joint[b]) {
      case free_joint:
        O = O + Rj * V3{q[i], q[i + 1], q[i + 2]};
        R[b] = turn(Rj, q + i + 3);
        for (int c = 0; c < 3; ++c) {
          S[k + c] = {R[b].c[c], V3{}};
          S[k + 3 + c] = {V3{}, R[b].c[c]};
        }
        break;
      case prismatic: {
        R[b] = Rj;
        const V3 axis = times(Rj, s.axis + 3 * b);
        rj = rj + q[i] * axis;
        S[k] = {axis, V3{}};
        break;
      }
      default: {
        Pack sine, cosine;
        sin_cos(q[i], sine, cosine);
        const V3 axis = rotate(b, Rj, sine, cosine);
        S[k] = {cross(rj, axis), axis};
      }
    }
    r[b] = rj;
  }

  // The rotation of a revolute joint; its axis in W.
  V3 rotate(int b, const M3& Rj, Pack sine, Pack cosine) {
    M3& out = R[b];
    const int z = s.aligned[b];
    if (z >= 0) {
      const int x = (z + 1) % 3, y = (z + 2) % 3;
      out.c[z] = Rj.c[z];
      out.c[x] = cosine * Rj.c[x] + sine * Rj.c[y];
      out.c[y] = cosine * Rj.c[y] - sine * Rj.c[x];
      return Rj.c[z];
    }
    const double* u = s.axis + 3 * b;  // exp: column c is cos e_c + sin u x e_c + (1 - cos) u u_c
    const V3 axis = times(Rj, u);
    const Pack rest = 1.0 - cosine;
    for (int c = 0; c < 3; ++c) {
      const double e[3] = {c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0};
      const double cr[3] = {u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0]};
      out.c[c] = cosine * Rj.c[c] + sine * times(Rj, cr) + (rest * u[c]) * axis;
    }
    return axis;
  }

  // Rj times the rotation of a quaternion (x, y, z, w).
  static M3 turn(const M3& Rj, const Pack* q) {
    const Pack x = q[0], y = q[1], z = q[2], w = q[3];
    const Pack tx = x + x, ty = y + y, tz = z + z;
    const V3 a{1.0 - (ty * y + tz * z), ty * x + tz * w, tz * x - ty * w};
    const V3 b{ty * x - tz * w, 1.0 - (tx * x + tz * z), tz * y + tx * w};
    const V3 c{tz * x + ty * w, tz * y - tx * w, 1.0 - (tx * x + ty * y)};
    return {{Rj * a, Rj * b, Rj * c}};
  }

  // Inertia about O in world axes.
  void weigh(int b) {
    const M3& Rb = R[b];
    const Pack m = at(a.mass, b);
    const V3 c = r[b] + Rb * V3{at(a.com, 3 * b), at(a.com, 3 * b + 1), at(a.com, 3 * b + 2)};
    const Pack* J = reinterpret_cast<const Pack*>(a.inertia) + 6 * b;
    // T = R J, then T R^T
    const V3 t0 = J[0] * Rb.c[0] + J[1] * Rb.c[1] + J[2] * Rb.c[2];
    const V3 t1 = J[1] * Rb.c[0] + J[3] * Rb.c[1] + J[4] * Rb.c[2];
    const V3 t2 = J[2] * Rb.c[0] + J[4] * Rb.c[1] + J[5] * Rb.c[2];
    const V3 mc = m * c;
    const Pack d = dot(mc, c);
    BodyInertia& out = I[b];
    out.m = m;
    out.mc = mc;
    out.I.xx = t0.x * Rb.c[0].x + t1.x * Rb.c[1].x + t2.x * Rb.c[2].x - mc.x * c.x + d;
    out.I.xy = t0.x * Rb.c[0].y + t1.x * Rb.c[1].y + t2.x * Rb.c[2].y - mc.x * c.y;
    out.I.xz = t0.x * Rb.c[0].z + t1.x * Rb.c[1].z + t2.x * Rb.c[2].z - mc.x * c.z;
    out.I.yy = t0.y * Rb.c[0].y + t1.y * Rb.c[1].y + t2.y * Rb.c[2].y - mc.y * c.y + d;
    out.I.yz = t0.y * Rb.c[0].z + t1.y * Rb.c[1].z + t2.y * Rb.c[2].z - mc.y * c.z;
    out.I.zz = t0.z * Rb.c[0].z + t1.z * Rb.c[1].z + t2.z * Rb.c[2].z - mc.z * c.z + d;
  }

  /// Velocities of the bodies at v, and the bias (dyn.1) to (dyn.3).
  void move(const Pack* v, Pack* bias) {
    for (int b = 0; b < s.bodies; ++b) move_body(b, v);
    for (int b = s.bodies - 1; b >= 0; --b) {
      const int n = s.joint[b] == free_joint ? 6 : 1;
      for (int k = s.iv[b]; k < s.iv[b] + n; ++k) bias[k] = dot(S[k].lin, F[b].lin) + dot(S[k].ang, F[b].ang);
      if (s.parent[b] >= 0) add(F[s.parent[b]], F[b]);
    }
  }

  void move_body(int b, const Pack* v) {
    const int k = s.iv[b], p = s.parent[b];
    const V3 g = given(s.gravity);
    if (s.joint[b] == free_joint) {
      V[b] = {R[b] * V3{v[k], v[k + 1], v[k + 2]}, R[b] * V3{v[k + 3], v[k + 4], v[k + 5]}};  // (dyn.1)
      A[b] = {-(g + cross(V[b].ang, V[b].lin)), V3{}};
    } else {
      const Spatial6 Sv{v[k] * S[k].lin, v[k] * S[k].ang};
      V[b] = Sv;
      A[b] = {-g, V3{}};  // (dyn.2)
      if (p >= 0) {
        add(V[b], V[p]);
        A[b] = A[p];
      }
      add(A[b], {cross(V[b].ang, Sv.lin) + cross(V[b].lin, Sv.ang), cross(V[b].ang, Sv.ang)});
    }
    const Spatial6 P = I[b] * V[b], IA = I[b] * A[b];
    F[b] = {IA.lin + cross(V[b].ang, P.lin), IA.ang + cross(V[b].ang, P.ang) + cross(V[b].lin, P.lin)};  // (dyn.3)
  }

  /// Velocities of the bodies at v alone (dyn.1).
  void velocities(const Pack* v) {
    for (int b = 0; b < s.bodies; ++b) {
      const int k = s.iv[b], p = s.parent[b];
      if (s.joint[b] == free_joint) {
        V[b] = {R[b] * V3{v[k], v[k + 1], v[k + 2]}, R[b] * V3{v[k + 3], v[k + 4], v[k + 5]}};
        continue;
      }
      V[b] = {v[k] * S[k].lin, v[k] * S[k].ang};
      if (p >= 0) add(V[b], V[p]);
    }
  }

  /// Momentum about O of the whole tree at the velocities of its bodies, and its inertia.
  Spatial6 momentum(BodyInertia& whole) const {
    Spatial6 sum{};
    whole = BodyInertia{};
    for (int b = 0; b < s.bodies; ++b) {
      add(sum, I[b] * V[b]);
      gather(whole, I[b]);
    }
    return sum;
  }

  static void gather(BodyInertia& to, const BodyInertia& from) {
    to.m += from.m;
    to.mc = to.mc + from.mc;
    to.I.xx += from.I.xx, to.I.xy += from.I.xy, to.I.xz += from.I.xz;
    to.I.yy += from.I.yy, to.I.yz += from.I.yz, to.I.zz += from.I.zz;
  }

  /// M and the weight on each joint.
  void sum_masses() {
    for (int b = 0; b < s.bodies; ++b) C[b] = I[b];
    const V3 g = given(s.gravity);
    for (int b = s.bodies - 1; b >= 0; --b) {
      const BodyInertia& c = C[b];
      const V3 moment = cross(g, c.mc), force = -(c.m * g);
      const int n = s.joint[b] == free_joint ? 6 : 1;
      for (int k = s.iv[b]; k < s.iv[b] + n; ++k) {
        gravity[k] = dot(S[k].lin, force) + dot(S[k].ang, moment);
        mass_row(k, c * S[k]);
      }
      if (s.parent[b] >= 0) gather(C[s.parent[b]], c);
    }
  }

  void mass_row(int k, const Spatial6& IS) {
    Pack* out = M + s.row[k];
    const int* chain = s.chain + s.chain_start[k];
    const int depth = s.depth[k];
    int c = 0;
    if (s.floats && depth >= 6) {
      const V3 lin = turned_back(R[0], IS.lin), ang = turned_back(R[0], IS.ang);
      out[0] = lin.x, out[1] = lin.y, out[2] = lin.z;
      out[3] = ang.x, out[4] = ang.y, out[5] = ang.z;
      c = 6;
    }
    for (; c <= depth; ++c) {
      const Spatial6& Sj = S[chain[c]];
      out[c] = dot(Sj.lin, IS.lin) + dot(Sj.ang, IS.ang);  // (dyn.4)
    }
    out[depth] += at(a.armature, k);
  }

  /// L and D of M + diag(extra) (dyn.5).
  void factor(const Pack* extra) {
    for (int i = 0; i < s.entries; ++i) L[i] = M[i];
    for (int k = s.nv - 1; k >= 0; --k) {
      Pack* rk = L + s.row[k];
      const int d = s.depth[k];
      const int* chain = s.chain + s.chain_start[k];
      const Pack one_over = 1.0 / (rk[d] + extra[k]);
      int base = 0;
      if (s.floats && d >= 6) {
        base = 6;
        subtract_from_base(rk, one_over);
      }
      for (int i = d - 1; i >= base; --i) {
        const Pack coef = rk[i] * one_over;
        Pack* ri = L + s.row[chain[i]];
        for (int c = 0; c <= i; ++c) ri[c] -= coef * rk[c];
      }
      for (int i = 0; i < d; ++i) rk[i] *= one_over;
      inverse[k] = one_over;
      dis[k] = sqrt(one_over);
    }
  }

  void subtract_from_base(const Pack* x, Pack one_over) {
    Pack* triangle = L;  // rows of 1 to 6
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      const Pack coef = x[i] * one_over;
#pragma GCC unroll 6
      for (int c = 0; c <= i; ++c) triangle[i * (i + 1) / 2 + c] -= coef * x[c];
    }
  }

  /// The six velocities of a free base stand first in every chain: they are held in registers.
  struct Base {
    Pack x[6];
    explicit Base(const Pack* from) {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) x[i] = from[i];
    }
    LANE_INLINE void subtract(const Pack* l, Pack y) {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) x[i] -= l[i] * y;
    }
    LANE_INLINE Pack less(const Pack* l, Pack y) const {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) y -= l[i] * x[i];
      return y;
    }
    void store(Pack* to) const {
      for (int i = 0; i < 6; ++i) to[i] = x[i];
    }
  };

  /// b <- (M + extra)^-1 b.
  void solve(Pack* b) const {
    const int first = s.floats ? 6 : 0;
    Base base(b);
    for (int k = s.nv - 1; k >= first; --k) {
      const Pack* l = L + s.row[k];
      const int* chain = s.chain + s.chain_start[k];
      const Pack y = b[k];
      if (s.floats) base.subtract(l, y);
      for (int i = first; i < s.depth[k]; ++i) b[chain[i]] -= l[i] * y;
    }
    if (s.floats) base.store(b);
    for (int k = first - 1; k >= 0; --k) {
      const Pack* l = L + s.row[k];
      for (int i = 0; i < k; ++i) b[i] -= l[i] * b[k];
    }
    for (int k = 0; k < s.nv; ++k) b[k] *= inverse[k];
    substitute(b);
  }

  /// w <- L^-1 D^-1/2 w.
  void unwhiten(Pack* w) const {
    for (int k = 0; k < s.nv; ++k) w[k] *= dis[k];
    substitute(w);
  }

  /// b <- L^-1 b, from the root on.
  void substitute(Pack* b) const {
    const int first = s.floats ? 6 : 0;
    for (int k = 0; k < first; ++k)
      for (int i = 0; i < k; ++i) b[k] -= L[s.row[k] + i] * b[i];
    const Base base(b);
    for (int k = first; k < s.nv; ++k) {
      const Pack* l = L + s.row[k];
      const int* chain = s.chain + s.chain_start[k];
      Pack y = s.floats ? base.less(l, b[k]) : b[k];
      for (int i = first; i < s.depth[k]; ++i) y -= l[i] * b[chain[i]];
      b[k] = y;
    }
  }

  /// J -> J L^-1 D^-1/2 along a chain of n velocities, Rows of J side by side.
  template <int Rows>
  void whiten(const int* chain, int n, Pack* J) const {
    for (int i = n - 1; i > 0; --i) {
      const Pack* l = L + s.row[chain[i]];
      Pack y[Rows];
      for (int r = 0; r < Rows; ++r) y[r] = J[Rows * i + r];
      for (int c = 0; c < i; ++c)
        for (int r = 0; r < Rows; ++r) J[Rows * c + r] -= l[c] * y[r];
    }
    for (int i = 0; i < n; ++i)
      for (int r = 0; r < Rows; ++r) J[Rows * i + r] *= dis[chain[i]];
  }

  /// v . M v: twice the kinetic energy at v.
  Pack twice_kinetic(const Pack* v) const {
    Pack sum{};
    for (int k = 0; k < s.nv; ++k) {
      const Pack* m = M + s.row[k];
      const int* chain = s.chain + s.chain_start[k];
      const int d = s.depth[k];
      Pack off{};
      for (int i = 0; i < d; ++i) off += m[i] * v[chain[i]];
      sum += v[k] * (m[d] * v[k] + 2.0 * off);
    }
    return sum;
  }

  /// (M v)_k
  Pack momentum_along(int k, const Pack* v) const {
    const int d = s.depth[k], *above = s.chain + s.chain_start[k];
    Pack sum{};
    for (int i = 0; i <= d; ++i) sum += (M + s.row[k])[i] * v[above[i]];
    for (int j = k + 1; j < s.nv; ++j)
      if (s.depth[j] > d && s.chain[s.chain_start[j] + d] == k) sum += (M + s.row[j])[d] * v[j];
    return sum;
  }
};
