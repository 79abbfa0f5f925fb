// A double in each lane. Included by every kernel inside its own namespace: nothing here has the same name twice in the
// program, so that no linker can mix instruction sets.

using Pack = double __attribute__((vector_size(8 * TRIBO_LANES)));
using Mask = decltype(Pack{} < Pack{});

#define LANE_INLINE inline __attribute__((always_inline))

LANE_INLINE Pack all(double x) { return x - Pack{}; }
LANE_INLINE Mask none() { return Pack{} < Pack{}; }
LANE_INLINE Pack select(Mask m, Pack a, Pack b) { return m ? a : b; }
LANE_INLINE Pack select(Mask m, Pack a, double b) { return m ? a : all(b); }
LANE_INLINE Pack select(Mask m, double a, Pack b) { return m ? all(a) : b; }
LANE_INLINE Pack only(Mask m, Pack a) { return m ? a : Pack{}; }
LANE_INLINE Pack max(Pack a, Pack b) { return a < b ? b : a; }
LANE_INLINE Pack max(Pack a, double b) { return max(a, all(b)); }
LANE_INLINE Pack min(Pack a, Pack b) { return b < a ? b : a; }
LANE_INLINE Pack abs(Pack a) { return a < 0.0 ? -a : a; }

#if TRIBO_LANES == 4 && defined(__AVX__)
LANE_INLINE Pack sqrt(Pack a) { return (Pack)_mm256_sqrt_pd((__m256d)a); }
LANE_INLINE unsigned bits(Mask m) { return (unsigned)_mm256_movemask_pd((__m256d)m); }
#elif TRIBO_LANES == 8 && defined(__AVX512DQ__)
LANE_INLINE Pack sqrt(Pack a) { return (Pack)_mm512_maskz_sqrt_pd(0xff, (__m512d)a); }
LANE_INLINE unsigned bits(Mask m) { return (unsigned)_mm512_movepi64_mask((__m512i)m); }
#elif TRIBO_LANES == 2 && defined(__SSE2__)
LANE_INLINE Pack sqrt(Pack a) { return (Pack)_mm_sqrt_pd((__m128d)a); }
LANE_INLINE unsigned bits(Mask m) { return (unsigned)_mm_movemask_pd((__m128d)m); }
#else
LANE_INLINE Pack sqrt(Pack a) {
  for (int l = 0; l < TRIBO_LANES; ++l) a[l] = __builtin_sqrt(a[l]);
  return a;
}
LANE_INLINE unsigned bits(Mask m) {
  unsigned x = 0;
  for (int l = 0; l < TRIBO_LANES; ++l) x |= (m[l] ? 1u : 0u) << l;
  return x;
}
#endif
LANE_INLINE bool any(Mask m) { return bits(m) != 0; }
/// The lanes whose bit is set.
LANE_INLINE Mask lanes_of(unsigned set) {
  Pack x{};
  for (int l = 0; l < TRIBO_LANES; ++l) x[l] = (set >> l) & 1u ? 1.0 : 0.0;
  return x > 0.0;
}

/// Beyond this angle sin_cos loses digits, and lanes are left [rad].
constexpr double largest_angle = 1e4;

/// By the series of both on [-pi/4, pi/4], to rounding; pi/2 in three parts takes the quarter turns off.
LANE_INLINE void sin_cos(Pack x, Pack& s, Pack& c) {
  constexpr double shift = 6755399441055744.0;  // 1.5 2^52: adding it rounds to a whole number
  constexpr double a = 1.5707963267341256142, b = 6.0771005063039659e-11, d = 2.0222662487959505e-21;
  const Pack n = (x * 0.63661977236758134308 + shift) - shift;
  const Pack r = ((x - n * a) - n * b) - n * d, z = r * r;
  Pack p = all(-7.6471637318198164759e-13);
  p = p * z + 1.6059043836821614599e-10;
  p = p * z - 2.5052108385441718775e-8;
  p = p * z + 2.7557319223985890653e-6;
  p = p * z - 1.9841269841269841270e-4;
  p = p * z + 8.3333333333333333333e-3;
  p = p * z - 0.16666666666666666667;
  const Pack sine = r + r * z * p;
  Pack u = all(4.7794773323873852974e-14);
  u = u * z - 1.1470745597729724714e-11;
  u = u * z + 2.0876756987868098979e-9;
  u = u * z - 2.7557319223985890653e-7;
  u = u * z + 2.4801587301587301587e-5;
  u = u * z - 1.3888888888888888889e-3;
  u = u * z + 4.1666666666666666667e-2;
  const Pack cosine = (1.0 - 0.5 * z) + z * z * u;
  const Pack q = n - 4.0 * ((0.25 * n - 0.375 + shift) - shift);  // n mod 4
  const Mask odd = (q == 1.0) | (q == 3.0), s_minus = q > 1.5, c_minus = (q == 1.0) | (q == 2.0);
  const Pack s0 = select(odd, cosine, sine), c0 = select(odd, sine, cosine);
  s = select(s_minus, -s0, s0);
  c = select(c_minus, -c0, c0);
}

struct V3 {
  Pack x, y, z;
};
LANE_INLINE V3 operator+(const V3& a, const V3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
LANE_INLINE V3 operator-(const V3& a, const V3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
LANE_INLINE V3 operator*(Pack k, const V3& a) { return {k * a.x, k * a.y, k * a.z}; }
LANE_INLINE V3 operator*(double k, const V3& a) { return {k * a.x, k * a.y, k * a.z}; }
LANE_INLINE V3 operator-(const V3& a) { return {-a.x, -a.y, -a.z}; }
LANE_INLINE Pack dot(const V3& a, const V3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
LANE_INLINE V3 cross(const V3& a, const V3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
LANE_INLINE V3 select(Mask m, const V3& a, const V3& b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}
LANE_INLINE V3 given(const double* p) { return {all(p[0]), all(p[1]), all(p[2])}; }

/// By columns.
struct M3 {
  V3 c[3];
};
LANE_INLINE V3 operator*(const M3& a, const V3& b) { return b.x * a.c[0] + b.y * a.c[1] + b.z * a.c[2]; }
LANE_INLINE V3 turned_back(const M3& a, const V3& b) { return {dot(a.c[0], b), dot(a.c[1], b), dot(a.c[2], b)}; }
/// Times numbers that all lanes share, by columns.
LANE_INLINE V3 times(const M3& a, const double* b) {
  return {a.c[0].x * b[0] + a.c[1].x * b[1] + a.c[2].x * b[2], a.c[0].y * b[0] + a.c[1].y * b[1] + a.c[2].y * b[2],
          a.c[0].z * b[0] + a.c[1].z * b[1] + a.c[2].z * b[2]};
}

/// A symmetric matrix.
struct S3 {
  Pack xx, xy, xz, yy, yz, zz;
};
LANE_INLINE V3 operator*(const S3& a, const V3& b) {
  return {a.xx * b.x + a.xy * b.y + a.xz * b.z, a.xy * b.x + a.yy * b.y + a.yz * b.z,
          a.xz * b.x + a.yz * b.y + a.zz * b.z};
}

/// A x = b by the columns of A, which are far from dependent: an inertia.
LANE_INLINE V3 solved(const S3& A, const V3& b) {
  const V3 x{A.xx, A.xy, A.xz}, y{A.xy, A.yy, A.yz}, z{A.xz, A.yz, A.zz}, yz = cross(y, z);
  const Pack per = 1.0 / dot(x, yz);
  return {per * dot(b, yz), per * dot(b, cross(z, x)), per * dot(b, cross(x, y))};
}

LANE_INLINE V3 rotated(const Pack* q, const V3& x) {
  const V3 u{q[0], q[1], q[2]}, t = 2.0 * cross(u, x);
  return x + q[3] * t + cross(u, t);
}

/// Quaternion of a rotation vector, smooth at 0.
LANE_INLINE void exponential(const V3& turn, Pack* e) {
  const Pack angle2 = 0.25 * dot(turn, turn), angle = sqrt(angle2);
  Pack sine, cosine;
  sin_cos(angle, sine, cosine);
  const Mask small = angle2 < 1e-8;
  const Pack sinc = select(small, 1.0 - angle2 / 6 + angle2 * angle2 / 120, sine / angle);
  e[0] = 0.5 * sinc * turn.x, e[1] = 0.5 * sinc * turn.y, e[2] = 0.5 * sinc * turn.z;
  e[3] = select(small, 1.0 - angle2 / 2 + angle2 * angle2 / 24, cosine);
}
