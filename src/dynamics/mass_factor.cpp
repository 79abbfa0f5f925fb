// The factor M + extra = L^T D L and products with it. Rows of a chain run from the root: six of a free base, if there is one,
// which stay in registers, and those beyond it, by four where rows are padded (lay_out_rows).
#include <algorithm>
#include <cmath>

#include "dynamics/chain.hpp"
#include "linalg/clones.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

// L and D of the triangle of a base (rows of 1 to 6): the strict rows of L in its place.
QUAD_INLINE void factor_base(double* triangle, const double* extra, double* dis) {
  double x[base_size][base_size];
#pragma GCC unroll 6
  for (int k = 0; k < base_size; ++k)
#pragma GCC unroll 6
    for (int j = 0; j <= k; ++j) x[k][j] = triangle[k * (k + 1) / 2 + j];
#pragma GCC unroll 6
  for (int k = base_size - 1; k >= 0; --k) {
    const double inverse = 1.0 / (x[k][k] + extra[k]);
    dis[k] = std::sqrt(inverse);
#pragma GCC unroll 6
    for (int a = k - 1; a >= 0; --a) {
      const double coef = x[k][a] * inverse;
#pragma GCC unroll 6
      for (int b = 0; b <= a; ++b) x[a][b] -= coef * x[k][b];
      triangle[k * (k + 1) / 2 + a] = coef;
    }
  }
}

}  // namespace

TRIBO_CLONES void Dynamics::factor(int t, const VecX& extra) {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) dis_[k] = 1.0 / std::sqrt(row(k)[depth_[at(k)]] + extra[k]);
    return;
  }
  const int base = base_of(*model_, tree), last = tree.iv + tree.nv - 1;
  const std::size_t first = row_[at(tree.iv)], end = row_[at(last)] + at(depth_[at(last)]) + 1;
  double* const L = L_.data();
  std::copy(M_.data() + first, M_.data() + end, L + first);
  double* const triangle = L + first;
  Quad r0{}, r1{}, r2{}, r3{}, r4{}, r5{};  // rows of the base, and what they have beyond the fourth
  double r44 = 0, r54 = 0, r55 = 0;
  if (base > 0) {
    r0 = load(triangle), r1 = load(triangle + 1), r2 = load(triangle + 3), r3 = load(triangle + 6);
    r4 = load(triangle + 10), r5 = load(triangle + 15);
    r44 = triangle[14], r54 = triangle[19], r55 = triangle[20];
  }
  // (dyn.5), by four: what stands behind a row, and its diagonal, is of no use afterwards.
  for (int k = last; k >= tree.iv + base; --k) {
    double* const rk = L + row_[at(k)];
    const int d = depth_[at(k)];
    const int* const path = chain(k);
    const double inverse = 1.0 / (rk[d] + extra[k]);
    dis_[k] = std::sqrt(inverse);
    if (base > 0) {
      const Quad s = inverse * load(rk);
      const double x4 = rk[4], x5 = rk[5], s4 = inverse * x4;
      r0 -= rk[0] * s, r1 -= rk[1] * s, r2 -= rk[2] * s, r3 -= rk[3] * s, r4 -= x4 * s, r5 -= x5 * s;
      r44 -= s4 * x4, r54 -= s4 * x5, r55 -= inverse * x5 * x5;
    }
    for (int a = d - 1; a >= base; --a) {
      const double coef = rk[a] * inverse;
      double* const ri = L + row_[at(path[a])];
      for (int b = 0; b <= a; b += 4) store(ri + b, load(ri + b) - coef * load(rk + b));
    }
    for (int a = 0; a < d; a += 4) store(rk + a, inverse * load(rk + a));
  }
  if (base == 0) return;
  store(triangle, r0), store(triangle + 1, r1), store(triangle + 3, r2), store(triangle + 6, r3);
  store(triangle + 10, r4), triangle[14] = r44, store(triangle + 15, r5);
  triangle[19] = r54, triangle[20] = r55;
  factor_base(triangle, &extra[tree.iv], &dis_[tree.iv]);
}

namespace {

// The chain of a body, and the rows of L and D^-1/2 by coordinate.
struct Chain {
  const double *L, *dis;
  const std::size_t* row;
  const int* path;
  int depth, base;
  [[gnu::always_inline]] const double* l(int a) const { return L + row[path[a]]; }
};

// Columns of four numbers, those of the base in registers.
TRIBO_CLONES void whiten_contact(const Chain& x, double* J) {
  Quad j[base_size] = {};
  if (x.base > 0) {
#pragma GCC unroll 6
    for (int c = 0; c < base_size; ++c) j[c] = load(J + 4 * c);
  }
  for (int a = x.depth - 1; a >= x.base; --a) {
    const double* const l = x.l(a);
    const Quad y = load(J + 4 * a);
    for (int c = x.base; c < a; ++c) store(J + 4 * c, load(J + 4 * c) - l[c] * y);
    if (x.base > 0) {
#pragma GCC unroll 6
      for (int c = 0; c < base_size; ++c) j[c] -= l[c] * y;
    }
    store(J + 4 * a, x.dis[x.path[a]] * y);
  }
  if (x.base == 0) return;
#pragma GCC unroll 6
  for (int a = base_size - 1; a >= 0; --a) {
    const double* const l = x.l(a);
#pragma GCC unroll 6
    for (int c = 0; c < a; ++c) j[c] -= l[c] * j[a];
    store(J + 4 * a, x.dis[x.path[a]] * j[a]);
  }
}

// The numbers that are known stand aside: where they stood is read and written by four.
TRIBO_CLONES void whiten_row(const Chain& x, double* J) {
  constexpr int most = 64;
  if (x.depth > most) {
    for (int a = x.depth - 1; a > 0; --a)
      for (int c = 0; c < a; ++c) J[c] -= J[a] * x.l(a)[c];
    for (int a = 0; a < x.depth; ++a) J[a] *= x.dis[x.path[a]];
    return;
  }
  alignas(32) double y[most];
  for (int a = 0; a < x.depth; a += 4) {
    const auto at_end = [&](int i) { return i < x.depth ? J[i] : 0.0; };
    store(y + a, Quad{at_end(a), at_end(a + 1), at_end(a + 2), at_end(a + 3)});
  }
  for (int a = x.depth - 1; a >= 0; --a) {
    const double* const l = x.l(a);
    const double known = y[a];
    J[a] = known * x.dis[x.path[a]];
    for (int c = 0; c < a; c += 4) store(y + c, load(y + c) - known * load(l + c));
  }
}

// A tree and its rows.
struct Rows {
  const double *L, *dis;
  const std::size_t* row;
  const int *depth, *chains;
  const std::size_t* chain;
  int first, last, base;
  [[gnu::always_inline]] const double* l(int k) const { return L + row[k]; }
  [[gnu::always_inline]] const int* path(int k) const { return chains + chain[k]; }
};

TRIBO_CLONES void unwhiten_tree(const Rows& t, double* w, double* x) {
  Base y{};
  if (t.base > 0) {
    double c[base_size];
    const double* const l = t.l(t.first);
#pragma GCC unroll 6
    for (int k = 0; k < base_size; ++k) {
      c[k] = w[t.first + k] * t.dis[t.first + k];
#pragma GCC unroll 6
      for (int a = 0; a < k; ++a) c[k] -= l[k * (k + 1) / 2 + a] * c[a];
      w[t.first + k] = c[k];
      x[t.first + k] += c[k];
    }
    y = base_of(c);
  }
  for (int k = t.first + t.base; k < t.last; ++k) {
    const double* const l = t.l(k);
    double sum = along(l, t.path(k), t.base, t.depth[k], w);
    if (t.base > 0) sum += dot(y, base_at(l));
    w[k] = w[k] * t.dis[k] - sum;
    x[k] += w[k];
  }
}

TRIBO_CLONES void solve_tree(const Rows& t, double* b) {
  const int inner = t.first + t.base;  // the first beyond the base
  Base y{};
  if (t.base > 0) y = base_at(b + t.first);
  for (int k = t.last - 1; k >= inner; --k) {
    const double* const l = t.l(k);
    const double minus = -b[k];
    if (t.base > 0) add(y, minus, base_at(l));
    add_along(l, t.path(k), t.base, t.depth[k], minus, b);
  }
  if (t.base > 0) {
    const double *const l = t.l(t.first), *const dis = t.dis + t.first;
    double c[base_size] = {y.a[0], y.a[1], y.a[2], y.a[3], y.b[2], y.b[3]};
#pragma GCC unroll 6
    for (int k = base_size - 1; k > 0; --k)
#pragma GCC unroll 6
      for (int a = 0; a < k; ++a) c[a] -= l[k * (k + 1) / 2 + a] * c[k];
#pragma GCC unroll 6
    for (int k = 0; k < base_size; ++k) {
      c[k] *= dis[k] * dis[k];
#pragma GCC unroll 6
      for (int a = 0; a < k; ++a) c[k] -= l[k * (k + 1) / 2 + a] * c[a];
      b[t.first + k] = c[k];
    }
    y = base_of(c);
  }
  for (int k = inner; k < t.last; ++k) {
    const double* const l = t.l(k);
    double sum = along(l, t.path(k), t.base, t.depth[k], b);
    if (t.base > 0) sum += dot(y, base_at(l));
    b[k] = b[k] * t.dis[k] * t.dis[k] - sum;
  }
}

// By the rows of M instead of those of L.
TRIBO_CLONES void multiply_tree(const Rows& t, const double* x, double* y) {
  Base of_base{}, b{};
  if (t.base > 0) b = once(base_at(x + t.first));
  for (int k = t.first + t.base; k < t.last; ++k) y[k] = 0;
  for (int k = t.first + t.base; k < t.last; ++k) {
    const double* const r = t.l(k);
    double sum = r[t.depth[k]] * x[k] + along(r, t.path(k), t.base, t.depth[k], x);
    if (t.base > 0) {
      const Base m = base_at(r);
      add(of_base, x[k], m);
      sum += dot(b, m);
    }
    add_along(r, t.path(k), t.base, t.depth[k], x[k], y);
    y[k] += sum;
  }
  if (t.base == 0) return;
  const double *const r = t.l(t.first), *const u = x + t.first;
  double c[base_size] = {of_base.a[0], of_base.a[1], of_base.a[2], of_base.a[3], of_base.b[2], of_base.b[3]};
#pragma GCC unroll 6
  for (int k = 0; k < base_size; ++k) {
#pragma GCC unroll 6
    for (int a = 0; a < k; ++a) {
      c[k] += r[k * (k + 1) / 2 + a] * u[a];
      c[a] += r[k * (k + 1) / 2 + a] * u[k];
    }
    c[k] += r[k * (k + 1) / 2 + k] * u[k];
  }
#pragma GCC unroll 6
  for (int k = 0; k < base_size; ++k) y[t.first + k] = c[k];
}

}  // namespace

// Columns of one number, or of a contact's three and another one.
template <int Rows>
void Dynamics::whiten(int body, double* J) const {
  const Body& b = model_->bodies[at(body)];
  const Tree& tree = model_->trees[at(b.tree)];
  const int depth = static_cast<int>(b.chain.size());
  if (tree.single) {
    const double* scale = &dis_[b.iv];
    for (int a = 0; a < 6; ++a)
      for (int r = 0; r < Rows; ++r) J[Rows * a + r] *= scale[a];
    return;
  }
  const Chain chain{L_.data(), dis_.data(), row_.data(), b.chain.data(), depth, base_of(*model_, tree)};
  if constexpr (Rows == 4) whiten_contact(chain, J);
  if constexpr (Rows == 1) whiten_row(chain, J);
}
template void Dynamics::whiten<1>(int, double*) const;
template void Dynamics::whiten<4>(int, double*) const;

template <int Columns>
void Dynamics::unwhiten_add(int t, double* w, const std::array<double*, Columns>& x) const {
  const Tree& tree = model_->trees[at(t)];
  if constexpr (Columns == 1) {
    if (!tree.single) {
      const int first = tree.iv;
      unwhiten_tree({L_.data(), dis_.data(), row_.data(), depth_.data(), chains_.data(), chain_.data(), first,
                     first + tree.nv, base_of(*model_, tree)},
                    w, x[0]);
      return;
    }
  }
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    double y[Columns];
    for (int c = 0; c < Columns; ++c) y[c] = w[Columns * k + c] * dis_[k];
    if (!tree.single) {
      const double* l = lrow(k);
      const int* const path = chain(k);
      for (int a = 0; a < depth_[at(k)]; ++a)
        for (int c = 0; c < Columns; ++c) y[c] -= l[a] * w[Columns * path[a] + c];
    }
    for (int c = 0; c < Columns; ++c) {
      w[Columns * k + c] = y[c];
      x[at(c)][k] += y[c];
    }
  }
}
template void Dynamics::unwhiten_add<1>(int, double*, const std::array<double*, 1>&) const;
template void Dynamics::unwhiten_add<2>(int, double*, const std::array<double*, 2>&) const;

void Dynamics::solve_in_place(int t, double* b) const {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) b[k] *= dis_[k] * dis_[k];
    return;
  }
  solve_tree({L_.data(), dis_.data(), row_.data(), depth_.data(), chains_.data(), chain_.data(), tree.iv,
              tree.iv + tree.nv, base_of(*model_, tree)},
             b);
}

void Dynamics::multiply(int t, const double* x, double* y) const {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) y[k] = inertia(k) * x[k];
    return;
  }
  multiply_tree({M_.data(), dis_.data(), row_.data(), depth_.data(), chains_.data(), chain_.data(), tree.iv,
                 tree.iv + tree.nv, base_of(*model_, tree)},
                x, y);
}

}  // namespace tribo
