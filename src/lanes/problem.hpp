// The contact problem of a step in lanes: contacts and rows of any lane of the pack, each with a mask. Where a lane has not
// listed one its entries are zeros, so that they add nothing, to the bit.
// Included inside the namespace of a kernel, after tree.hpp.

struct ResidualLanes {
  Pack primal{}, dual{}, complementarity{}, force{}, motion{};
  Pack absolute() const { return max(max(primal, dual), complementarity); }
  Pack relative() const { return max(max(primal / force, dual / motion), complementarity / (force * motion)); }
};
LANE_INLINE Mask met(const ResidualLanes& r, double abs_tolerance, double rel_tolerance) {
  return (r.absolute() <= abs_tolerance) | (r.relative() <= rel_tolerance);
}

constexpr double large = 1e300;  // bounds beyond it are none

struct ContactSlot {
  int point, body;
  Mask listed, still;  // still: neither slides nor rolls
  Pack gap, mu;
  Pack round;        // radius of what touches, 0 of a corner
  V3 rc, t1, t2, n;  // from O to the contact; axes
  Pack* Y;           // 3 x depth, by columns
};
struct RowSlot {
  int dof, kind;
  Mask listed;
  Pack sign, bias, compliance, lower, upper, error;
  Pack* Y;  // along the chain
};

struct ProblemLanes {
  const Shape& s;
  TreeLanes& tree;
  int nc = 0, nr = 0, n = 0;
  bool frictionless = false;  // of the removal of overlap: normal forces alone
  bool summed = false;        // G stands
  ContactSlot* contact;
  RowSlot* row;
  Pack *y_room, *y_next;
  Pack *G, *g, *R, *f, *c, *before, *free;  // (n x n), (n)
  Pack weight;                              // [N]

  static int most_slots(const Shape& s) {
    return s.points < TRIBO_LANES * s.most_contacts ? s.points : TRIBO_LANES * s.most_contacts;
  }
  static int most_rows(const Shape& s) { return row_kinds * s.nv; }
  static int most(const Shape& s) { return 3 * most_slots(s) + most_rows(s); }
  static int deepest(const Shape& s) {
    int d = 1;
    for (int b = 0; b < s.bodies; ++b) d = s.body_depth[b] > d ? s.body_depth[b] : d;
    return d;
  }

  ProblemLanes(const Shape& shape, TreeLanes& lanes, Room& room) : s(shape), tree(lanes) {
    const int m = most(s);
    contact = room.take<ContactSlot>(most_slots(s));
    row = room.take<RowSlot>(most_rows(s));
    y_room = room.take<Pack>(m * deepest(s));
    G = room.take<Pack>(m * m);
    room.share(m, g, R, f, c, before, free);
  }
  static unsigned long packs(const Shape& s) {
    const unsigned long m = (unsigned long)most(s);
    return (unsigned long)most_slots(s) * (sizeof(ContactSlot) / sizeof(Pack)) +
           (unsigned long)most_rows(s) * (sizeof(RowSlot) / sizeof(Pack)) + m * (unsigned long)deepest(s) + m * m +
           6 * m;
  }

  const int* chain_of(int body) const {
    const int last = s.iv[body] + (s.joint[body] == free_joint ? 5 : 0);
    return s.chain + s.chain_start[last];
  }

  /// Whitened Jacobians, and velocities of contacts and rows at v and at v_free.
  void build(const Pack* v, const Pack* v_free) {
    n = 3 * nc + nr;
    summed = false;
    y_next = y_room;
    for (int i = 0; i < nc; ++i) build_contact(contact[i], v, v_free, before + 3 * i, free + 3 * i);
    for (int j = 0; j < nr; ++j) build_row(row[j], v, v_free, before[3 * nc + j], free[3 * nc + j]);
  }

  void build_contact(ContactSlot& x, const Pack* v, const Pack* v_free, Pack* was, Pack* comes) {
    const int depth = s.body_depth[x.body];
    const int* chain = chain_of(x.body);
    x.Y = y_next;
    y_next += 3 * depth;
    Pack b0{}, b1{}, b2{}, e0{}, e1{}, e2{};
    for (int k = 0; k < depth; ++k) {
      const Spatial6& S = tree.S[chain[k]];
      const V3 J = S.lin + cross(S.ang, x.rc);
      const Pack a = dot(x.t1, J), b = dot(x.t2, J), d = dot(x.n, J);
      x.Y[3 * k] = only(x.listed, a);
      x.Y[3 * k + 1] = only(x.listed, b);
      x.Y[3 * k + 2] = only(x.listed, d);
      const Pack vk = v[chain[k]], fk = v_free[chain[k]];
      b0 += a * vk, b1 += b * vk, b2 += d * vk;
      e0 += a * fk, e1 += b * fk, e2 += d * fk;
    }
    tree.whiten<3>(chain, depth, x.Y);
    was[0] = only(x.listed, b0), was[1] = only(x.listed, b1), was[2] = only(x.listed, b2);
    comes[0] = only(x.listed, e0), comes[1] = only(x.listed, e1), comes[2] = only(x.listed, e2);
  }

  void build_row(RowSlot& x, const Pack* v, const Pack* v_free, Pack& was, Pack& comes) {
    const int depth = s.depth[x.dof] + 1;
    x.Y = y_next;
    y_next += depth;
    for (int k = 0; k < depth; ++k) x.Y[k] = Pack{};
    x.Y[depth - 1] = only(x.listed, x.sign);
    tree.whiten<1>(s.chain + s.chain_start[x.dof], depth, x.Y);
    was = only(x.listed, x.sign * v[x.dof]);
    comes = only(x.listed, x.sign * v_free[x.dof]);
  }

  int body_of_row(const RowSlot& x) const { return s.dof_body[x.dof]; }

  /// G = Y Y^T. Two chains share what is before they part.
  void gram() {
    if (summed) return;
    summed = true;
    for (int i = 0; i < nc; ++i) {
      for (int j = 0; j <= i; ++j) {
        const int depth = s.shared[contact[i].body * s.bodies + contact[j].body];
        gram_block(contact[i].Y, contact[j].Y, depth, 3 * i, 3 * j);
      }
    }
    for (int i = 0; i < nr; ++i) {
      const int o = 3 * nc + i, body = body_of_row(row[i]);
      for (int j = 0; j < nc; ++j) {
        const int depth = s.shared[body * s.bodies + contact[j].body];
        const Pack *x = row[i].Y, *y = contact[j].Y;
        Pack a{}, b{}, d{};
        for (int k = 0; k < depth; ++k) a += x[k] * y[3 * k], b += x[k] * y[3 * k + 1], d += x[k] * y[3 * k + 2];
        set(o, 3 * j, a), set(o, 3 * j + 1, b), set(o, 3 * j + 2, d);
      }
      for (int j = 0; j <= i; ++j) {
        const int depth = s.shared[body * s.bodies + body_of_row(row[j])];
        Pack sum{};
        for (int k = 0; k < depth; ++k) sum += row[i].Y[k] * row[j].Y[k];
        set(o, 3 * nc + j, sum);
      }
    }
  }
  void set(int i, int j, Pack x) { G[i * n + j] = G[j * n + i] = x; }

  void gram_block(const Pack* x, const Pack* y, int depth, int i, int j) {
    Pack m[9] = {};
    for (int k = 0; k < depth; ++k, x += 3, y += 3)
#pragma GCC unroll 3
      for (int a = 0; a < 3; ++a)
#pragma GCC unroll 3
        for (int b = 0; b < 3; ++b) m[3 * a + b] += x[a] * y[b];
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) set(i + a, j + b, m[3 * a + b]);
  }

  /// w = Y^T f, (nv).
  void to_tree(const Pack* force, Pack* w) const {
    for (int k = 0; k < s.nv; ++k) w[k] = Pack{};
    for (int i = 0; i < nc; ++i) {
      const int* chain = chain_of(contact[i].body);
      const Pack *y = contact[i].Y, a = force[3 * i], b = force[3 * i + 1], d = force[3 * i + 2];
      for (int k = 0; k < s.body_depth[contact[i].body]; ++k)
        w[chain[k]] += y[3 * k] * a + y[3 * k + 1] * b + y[3 * k + 2] * d;
    }
    for (int j = 0; j < nr; ++j) {
      const int* chain = s.chain + s.chain_start[row[j].dof];
      for (int k = 0; k <= s.depth[row[j].dof]; ++k) w[chain[k]] += row[j].Y[k] * force[3 * nc + j];
    }
  }

  /// c = (G + R) f + g by the factor, w (nv) (problem.1).
  void velocity_by_factor(const Pack* force, Pack* w, Pack* out) const {
    to_tree(force, w);
    for (int i = 0; i < nc; ++i) {
      const int* chain = chain_of(contact[i].body);
      const Pack* y = contact[i].Y;
      Pack a = g[3 * i], b = g[3 * i + 1], d = g[3 * i + 2];
      for (int k = 0; k < s.body_depth[contact[i].body]; ++k) {
        const Pack x = w[chain[k]];
        a += y[3 * k] * x, b += y[3 * k + 1] * x, d += y[3 * k + 2] * x;
      }
      out[3 * i] = a, out[3 * i + 1] = b, out[3 * i + 2] = d;
    }
    for (int j = 0; j < nr; ++j) {
      const int *chain = s.chain + s.chain_start[row[j].dof], o = 3 * nc + j;
      Pack sum = g[o] + R[o] * force[o];
      for (int k = 0; k <= s.depth[row[j].dof]; ++k) sum += row[j].Y[k] * w[chain[k]];
      out[o] = sum;
    }
  }

  /// The same by G, four lines at a time.
  void velocity(const Pack* force, Pack* out) const {
    int i = 0;
    for (; i + 4 <= n; i += 4) lines_of_velocity<4>(i, force, out);
    for (; i < n; ++i) lines_of_velocity<1>(i, force, out);
  }
  template <int Lines>
  void lines_of_velocity(int i, const Pack* force, Pack* out) const {
    Pack sum[Lines];
    const Pack* line = G + i * n;
#pragma GCC unroll 4
    for (int l = 0; l < Lines; ++l) sum[l] = g[i + l] + R[i + l] * force[i + l];
    for (int k = 0; k < n; ++k) {
      const Pack x = force[k];
#pragma GCC unroll 4
      for (int l = 0; l < Lines; ++l) sum[l] += line[l * n + k] * x;
    }
#pragma GCC unroll 4
    for (int l = 0; l < Lines; ++l) out[i + l] = sum[l];
  }

  /// The judge of residuals.cpp (problem.2), (problem.3).
  ResidualLanes judge(const Pack* force, const Pack* speed) const {
    constexpr double pressing = 1e-8;
    ResidualLanes r;
    Pack bad{}, largest{}, motion{};
    for (int i = 0; i < n; ++i) {
      largest = max(largest, abs(force[i]));
      bad += 0.0 * (force[i] + speed[i]);
    }
    r.force = max(max(largest, weight), 1e-300);
    const Pack least = pressing * r.force;
    for (int i = 0; i < nc; ++i) {
      judge_contact(force + 3 * i, speed + 3 * i, contact[i].mu, r);
      const Pack most = max(max(abs(g[3 * i]), abs(g[3 * i + 1])), abs(g[3 * i + 2]));
      motion = max(motion, only(force[3 * i + 2] > least, most));
    }
    for (int j = 0; j < nr; ++j) {
      const int o = 3 * nc + j;
      judge_row(force[o], speed[o], row[j].lower, row[j].upper, r);
      motion = max(motion, only(abs(force[o]) > least, abs(g[o])));
    }
    r.motion = motion + 9.81;
    r.primal = select(bad == 0.0, r.primal, __builtin_inf());
    return r;
  }

  static void judge_contact(const Pack* x, const Pack* y, Pack mu, ResidualLanes& r) {
    const Pack t2 = x[0] * x[0] + x[1] * x[1], ft = sqrt(t2), ct = sqrt(y[0] * y[0] + y[1] * y[1]), fn = x[2];
    const Mask inside = (fn >= 0.0) & (ft <= mu * fn), polar = mu * ft <= -fn;
    if (any(~inside)) {  // distances to the cone
      const Pack far = sqrt(t2 + fn * fn), side = abs(ft - mu * fn) / sqrt(1.0 + mu * mu);
      r.primal = max(r.primal, select(inside, 0.0, select(polar, far, side)));
    }
    r.dual = max(r.dual, -y[2]);
    r.complementarity = max(r.complementarity, abs(x[0] * y[0] + x[1] * y[1] + fn * (y[2] + mu * ct)));
  }

  static void judge_row(Pack x, Pack y, Pack lower, Pack upper, ResidualLanes& r) {
    r.primal = max(r.primal, max(lower - x, x - upper));
    const Pack up = max(y, 0.0), down = max(-y, 0.0);
    const Mask no_lower = lower<-large, no_upper = upper> large;
    r.dual = max(r.dual, only(no_lower, up));
    r.complementarity = max(r.complementarity, select(no_lower, 0.0, up * abs(x - select(no_lower, 0.0, lower))));
    r.dual = max(r.dual, only(no_upper, down));
    r.complementarity = max(r.complementarity, select(no_upper, 0.0, down * abs(select(no_upper, 0.0, upper) - x)));
  }
};
