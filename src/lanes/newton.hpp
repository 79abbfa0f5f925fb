// Newton's method of contact/solvers/newton.cpp in lanes: (newton.1) to (newton.5), each lane with modes of its own. What a lane
// does not ask for is an identity row, whose answer is known: it changes no bit of the others. One method for all, Gauss
// without pivots: a lane that would need them does not converge, and is left.
// Included inside the namespace of a kernel, after problem.hpp.

struct SlipLanes {
  Mask on;
  Pack rN[4];
};

struct NewtonLanes {
  const Shape& s;
  ProblemLanes& p;
  Pack *A, *rhs, *left, *scale, *inverse, *sigma, *trial_f, *trial_c;
  Mask* active;
  SlipLanes* slip;
  int *order, *fixed;  // unknowns that some lane asks for; rows that some lane holds at a bound
  int m = 0, fixed_rows = 0;

  NewtonLanes(const Shape& shape, ProblemLanes& problem, Room& room) : s(shape), p(problem) {
    const int n = ProblemLanes::most(s);
    A = room.take<Pack>(n * n);
    room.share(n, rhs, left, scale, inverse, sigma, trial_f, trial_c);
    active = room.take<Mask>(n);
    slip = room.take<SlipLanes>(ProblemLanes::most_slots(s) + 1);
    order = reinterpret_cast<int*>(room.take<Pack>(n));
    fixed = order + n;  // a pack has room for two
  }
  static unsigned long packs(const Shape& s) {
    const unsigned long n = (unsigned long)ProblemLanes::most(s);
    return n * n + 9 * n + ((unsigned long)ProblemLanes::most_slots(s) + 1) * 5;
  }

  /// Scales of the blocks and the proximal term; one for all contacts of a body.
  void set_scales() {
    const int n = p.n, nc = p.nc;
    for (int i = 0; i < nc; ++i) {
      Pack d{};
      for (int k = 3 * i; k < 3 * i + 3; ++k) d = max(d, p.G[k * n + k] + p.R[k]);
      scale[i] = max(d, 1e-300);
    }
    for (int j = 0; j < p.nr; ++j) {
      const int o = 3 * nc + j;
      scale[nc + j] = max(p.G[o * n + o] + p.R[o], 1e-300);
    }
    for (int i = 0; i < nc; ++i) {
      Pack largest = scale[i];
      for (int k = 0; k < nc; ++k)
        if (p.contact[k].body == p.contact[i].body) largest = max(largest, scale[k]);
      sigma[i] = 1e-9 * largest;
    }
    for (int j = nc; j < nc + p.nr; ++j) sigma[j] = 1e-9 * scale[j];
    for (int i = 0; i < nc + p.nr; ++i) inverse[i] = 1.0 / scale[i];
  }
  Pack sigma_of(int i) const { return sigma[i < 3 * p.nc ? i / 3 : i - 2 * p.nc]; }

  /// What a guess leaves of accelerations that shall vanish.
  Pack guess_noise(const Pack* f, const Pack* c) const {
    Pack noise{};
    for (int i = 0; i < p.nc; ++i) noise = max(noise, only(f[3 * i + 2] > 0.0, abs(c[3 * i + 2])));
    for (int j = 0; j < p.nr; ++j) {
      const int o = 3 * p.nc + j;
      noise = max(noise, only((f[o] > p.row[j].lower) & (f[o] < p.row[j].upper), abs(c[o])));
    }
    return noise;
  }

  /// One step from (f, c) to trial_f, trial_c; first: see (newton.5).
  void step(const Pack* f, const Pack* c, bool first) {
    classify(f, c, first && p.nr > 0 ? guess_noise(f, c) : Pack{});
    choose();
    assemble(f, first);
    eliminate();
    substitute(rhs);
    for (int a = 0; a < m; ++a) {
      const int i = order[a];
      left[a] = only(active[i], sigma_of(i) * (rhs[a] - (first ? Pack{} : f[i])));
    }
    for (int a = 0; a < m; ++a) {
      const int i = order[a];
      if (i >= 3 * p.nc || i % 3 != 0 || !any(slip[i / 3].on)) continue;
      const SlipLanes& x = slip[i / 3];
      const Pack u = left[a], v = left[a + 1];
      left[a] = select(x.on, x.rN[0] * u + x.rN[1] * v, u);
      left[a + 1] = select(x.on, x.rN[2] * u + x.rN[3] * v, v);
    }
    substitute(left);
    for (int a = 0; a < m; ++a) trial_f[order[a]] = select(active[order[a]], rhs[a] + left[a], trial_f[order[a]]);
    p.velocity(trial_f, trial_c);
  }

  // Modes by the trial points; trial_f: what is no unknown.
  void classify(const Pack* f, const Pack* c, Pack noise) {
    for (int i = 0; i < p.nc; ++i) {
      const int o = 3 * i;
      const Pack r = inverse[i], mu = p.contact[i].mu;
      const Pack x = f[o] - r * c[o], y = f[o + 1] - r * c[o + 1], z = f[o + 2] - r * c[o + 2];
      const Mask closed = p.contact[i].listed & (z > 0.0), rough = closed & (mu > 0.0);  // (newton.1)
      active[o] = active[o + 1] = rough;
      active[o + 2] = closed;
      slip[i].on = rough & (x * x + y * y > (mu * z) * (mu * z));
      for (int k = 0; k < 3; ++k) trial_f[o + k] = Pack{};
      if (any(slip[i].on)) linearise(i, f + o, x, y, z);
    }
    for (int j = 0; j < p.nr; ++j) {
      const int o = 3 * p.nc + j;
      const Pack low = p.row[j].lower, high = p.row[j].upper, y = f[o] - c[o] * inverse[p.nc + j];
      const Mask at_low = (y <= low) | ((f[o] == low) & (-c[o] <= noise));  // (newton.4)
      const Mask at_high = (y >= high) | ((f[o] == high) & (c[o] <= noise));
      trial_f[o] = only(p.row[j].listed, select(at_low, low, select(at_high, high, Pack{})));
      active[o] = p.row[j].listed & ~at_low & ~at_high;
    }
  }

  // r N of (newton.3), and what the right side gets: kept in left until the rows are made.
  void linearise(int i, const Pack* f, Pack x, Pack y, Pack z) {
    const Pack mu = p.contact[i].mu, r = inverse[i], bound = mu * z;
    const Pack length = sqrt(x * x + y * y), per = select(length > 0.0, 1.0 / length, 0.0);
    const Pack yx = x * per, yy = y * per, e = bound * per;
    const Pack t = sqrt(f[0] * f[0] + f[1] * f[1]), shorten = select(t > bound, bound / t, 1.0);
    const Pack fx = f[0] * shorten, fy = f[1] * shorten;
    Pack* rN = slip[i].rN;
    rN[0] = r * (e - fx * yx * per), rN[1] = r * (-fx * yy * per);
    rN[2] = r * (-fy * yx * per), rN[3] = r * (e - fy * yy * per);
    left[3 * i] = fx - bound * yx, left[3 * i + 1] = fy - bound * yy;
    trial_c[3 * i] = mu * yx, trial_c[3 * i + 1] = mu * yy;
  }

  // Unknowns of any lane, all three of a contact that is closed; and rows that any lane holds at a bound that is not zero.
  void choose() {
    m = fixed_rows = 0;
    for (int i = 0; i < 3 * p.nc; i += 3)
      if (any(active[i + 2]))
        for (int k = p.frictionless ? 2 : 0; k < 3; ++k) order[m++] = i + k;
    for (int o = 3 * p.nc; o < p.n; ++o) {
      if (any(active[o])) order[m++] = o;
      if (any(trial_f[o] != 0.0)) fixed[fixed_rows++] = o;
    }
  }

  void assemble(const Pack* f, bool first) {
    const int n = p.n;
    Mask whole = ~none();
    for (int a = 0; a < m; ++a) whole &= active[order[a]];
    for (int a = 0; a < m; ++a) {
      const int i = order[a];
      const Mask on = active[i];
      Pack* line = A + a * m;
      const Pack* from = p.G + i * n;
      if (any(~whole))
        for (int b = 0; b < m; ++b) line[b] = only(on & active[order[b]], from[order[b]]);
      else
        for (int b = 0; b < m; ++b) line[b] = from[order[b]];
      const Pack shift = sigma_of(i);
      line[a] = select(on, line[a] + (p.R[i] + shift), 1.0);
      Pack known = first ? -p.g[i] : shift * f[i] - p.g[i];
      for (int k = 0; k < fixed_rows; ++k) known -= from[fixed[k]] * trial_f[fixed[k]];
      rhs[a] = select(on, known, trial_f[i]);
    }
    for (int a = 0; a < m; ++a) {
      const int i = order[a];
      if (i < 3 * p.nc && i % 3 == 0 && any(slip[i / 3].on)) slip_rows(i / 3, a);
    }
  }

  // (newton.3)
  void slip_rows(int i, int a) {
    const SlipLanes& x = slip[i];
    Pack *u = A + a * m, *v = A + (a + 1) * m;
    for (int b = 0; b < m; ++b) {
      const Pack p0 = u[b], p1 = v[b];
      u[b] = select(x.on, x.rN[0] * p0 + x.rN[1] * p1, p0);
      v[b] = select(x.on, x.rN[2] * p0 + x.rN[3] * p1, p1);
    }
    const Pack per = scale[i];
    u[a] += only(x.on, 1.0 - x.rN[0] * per);
    u[a + 1] -= only(x.on, x.rN[1] * per);
    v[a] -= only(x.on, x.rN[2] * per);
    v[a + 1] += only(x.on, 1.0 - x.rN[3] * per);
    u[a + 2] -= only(x.on, trial_c[3 * i]);
    v[a + 2] -= only(x.on, trial_c[3 * i + 1]);
    const Pack b0 = rhs[a], b1 = rhs[a + 1];
    rhs[a] = select(x.on, left[3 * i] + x.rN[0] * b0 + x.rN[1] * b1, b0);
    rhs[a + 1] = select(x.on, left[3 * i + 1] + x.rN[2] * b0 + x.rN[3] * b1, b1);
  }

  // A = L U in place, L with ones on its diagonal; the diagonal of U inverted. Two columns at a time: each entry sees the same
  // operations in the same order as one by one.
  void eliminate() {
    int k = 0;
    for (; k + 1 < m; k += 2) {
      Pack *top = A + k * m, *next = top + m;
      const Pack first = top[k] = 1.0 / top[k];
      clear_left(top, k, first, next);
      const Pack second = next[k + 1] = 1.0 / next[k + 1];
      int i = k + 2;
      for (; i + 1 < m; i += 2) clear_lines<2>(top, k, first, second, A + i * m);
      if (i < m) clear_lines<1>(top, k, first, second, A + i * m);
    }
    if (k < m) A[k * m + k] = 1.0 / A[k * m + k];
  }
  // Columns k and k + 1 of some lines, by the two lines from top on.
  template <int Lines>
  void clear_lines(const Pack* top, int k, Pack first, Pack second, Pack* line) const {
    const Pack* next = top + m;
    Pack x[Lines], y[Lines];
    for (int l = 0; l < Lines; ++l) {
      Pack* at = line + l * m;
      x[l] = at[k] = at[k] * first;
      y[l] = at[k + 1] = (at[k + 1] - x[l] * top[k + 1]) * second;
    }
    for (int j = k + 2; j < m; ++j) {
      const Pack u = top[j], v = next[j];
#pragma GCC unroll 2
      for (int l = 0; l < Lines; ++l) {
        const Pack once = line[l * m + j] - x[l] * u;
        line[l * m + j] = once - y[l] * v;
      }
    }
  }
  void clear_left(const Pack* top, int k, Pack inverse, Pack* line) const {
    const Pack x = line[k] = line[k] * inverse;
    for (int j = k + 1; j < m; ++j) line[j] -= x * top[j];
  }

  // Four lines at a time: no sum waits for another. Each is added up from the first unknown on, or from the last, wherever
  // the four begin: no bit depends on what neighbours ask for.
  void substitute(Pack* b) const {
    constexpr int block = 4;
    int i = 0;
    for (; i + block <= m; i += block) {
      less<block>(i, 0, i, 1, b);
      for (int r = i + 1; r < i + block; ++r) less<1>(r, i, r, 1, b);
    }
    for (; i < m; ++i) less<1>(i, 0, i, 1, b);
    for (i = m - block; i >= 0; i -= block) {
      less<block>(i, m - 1, i + block - 1, -1, b);
      for (int r = i + block - 1; r >= i; --r) finish(r, i + block - 1, b);
    }
    for (int r = i + block - 1; r >= 0; --r) finish(r, m - 1, b);
  }
  void finish(int r, int from, Pack* b) const {
    less<1>(r, from, r, -1, b);
    b[r] *= A[r * m + r];
  }
  // Takes what columns from first to end, without it, make of b off some lines of it.
  template <int Lines>
  void less(int i, int first, int end, int by, Pack* b) const {
    Pack sum[Lines];
    const Pack* line = A + i * m;
#pragma GCC unroll 4
    for (int l = 0; l < Lines; ++l) sum[l] = b[i + l];
    for (int k = first; k != end; k += by) {
      const Pack x = b[k];
#pragma GCC unroll 4
      for (int l = 0; l < Lines; ++l) sum[l] -= line[l * m + k] * x;
    }
#pragma GCC unroll 4
    for (int l = 0; l < Lines; ++l) b[i + l] = sum[l];
  }

  /// Asked for as much, the tolerance is met with one step to spare, as by the scalar method.
  static bool exactly(double rel_tolerance) { return rel_tolerance <= 1e-11; }

  /// Forces of every lane of `asked` in p.f, p.c; which of them reached the tolerance.
  Mask solve(Mask asked, double abs_tolerance, double rel_tolerance, int most, ResidualLanes& residual) {
    const bool spare = exactly(rel_tolerance);
    Mask reached = met(residual, abs_tolerance, rel_tolerance), open = asked, found = asked & reached;
    set_scales();
    for (int k = 0; k < most && any(open); ++k) {
      step(p.f, p.c, k == 0);
      const ResidualLanes next = p.judge(trial_f, trial_c);
      // What meets the tolerance gets one step, and stays where that is no better.
      const Mask good = met(next, abs_tolerance, rel_tolerance), better = next.relative() < residual.relative();
      const Mask take = open & (~reached | better | (spare ? good : none()));
      for (int i = 0; i < p.n; ++i) {
        p.f[i] = select(take, trial_f[i], p.f[i]);
        p.c[i] = select(take, trial_c[i], p.c[i]);
      }
      keep(take, next, residual);
      found |= open & good;
      open &= ~(spare ? reached : good | reached);
      reached |= good;
    }
    return found & ~open;  // not what met the tolerance with the last step, if one was to be spared
  }

  static void keep(Mask m, const ResidualLanes& from, ResidualLanes& to) {
    to.primal = select(m, from.primal, to.primal);
    to.dual = select(m, from.dual, to.dual);
    to.complementarity = select(m, from.complementarity, to.complementarity);
    to.force = select(m, from.force, to.force);
    to.motion = select(m, from.motion, to.motion);
  }
};
