// Projected Gauss-Seidel: one sweep (see sweep.hpp), and the block update of each model.
//
// NCP [LeLidec2024, alg. 6]:
//   f_N <- max(0, f_N - c_N / G_NN)                                                                 (pgs.1)
//   f_T <- project onto the disc of radius mu f_N:  f_T - c_T / (largest eigenvalue of G_TT)        (pgs.2)
// Departs from it: c_T is renewed after (pgs.1); the paper's tangential step 1 / min(G_xx, G_yy) overshoots where the
// block is far from isotropic.
//
// LCP [alg. 1]: (pgs.1), then axis by axis, c renewed after each:
//   f_x <- clamp(f_x - c_x / G_xx, -mu f_N, mu f_N)                                                 (pgs.3)
// Departs from it: each axis divides by its own diagonal entry, which is the exact minimum along it.
//
// CCP [alg. 2]: all three at once,
//   f <- P_K(f - t c),   t = min(3 / tr G_ii, 1.5 / largest eigenvalue of G_ii)                     (pgs.4)
// the projection in the Euclidean metric. Departs from it: the second bound. The paper's 3 / tr alone can exceed
// 2 / largest eigenvalue, beyond which a projected gradient step may climb.
//
// steps = "paper" has the paper's own: 1 / min(G_xx, G_yy) in (pgs.2), and for both axes at once in (pgs.3); 3 / tr in
// (pgs.4). relaxation is the w of (sweep.1), which the paper calls over-relaxation.
#include "contact/solvers/sweep.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

double new_normal(const double* D, const Vec3& c, const Vec3& f) {  // (pgs.1)
  if (!(D[8] > 0)) return c.z() > 0 ? 0.0 : std::max(0.0, f.z());
  return std::max(0.0, f.z() - c.z() / D[8]);
}

struct Rules {
  PgsOptions own = {};

  double relaxation(int) const { return own.relaxation; }
  bool paper() const { return own.steps == SweepSteps::Paper; }
  static double paper_step(const double* D) { return 1.0 / std::max(std::min(D[0], D[4]), 1e-300); }
};

struct NcpUpdate : Rules {
  double prepare(const double* D, double) const {
    if (paper()) return paper_step(D);
    const double mean = 0.5 * (D[0] + D[4]), half = 0.5 * (D[0] - D[4]);
    return 1.0 / std::max(mean + std::hypot(half, D[1]), 1e-300);
  }
  Vec3 operator()(const SweepBlock& block, const Vec3& c, const Vec3& f) const {
    const double n = new_normal(block.D, c, f), dn = n - f.z();
    double x = f.x() - block.prepared * (c.x() + block.D[6] * dn);
    double y = f.y() - block.prepared * (c.y() + block.D[7] * dn);
    const double t = std::hypot(x, y), bound = block.mu * n;
    if (t > bound) {  // (pgs.2)
      x *= bound / t;
      y *= bound / t;
    }
    return {x, y, n};
  }
};

struct LcpUpdate : Rules {
  double prepare(const double* D, double) const { return paper() ? paper_step(D) : 0; }
  Vec3 operator()(const SweepBlock& block, const Vec3& c, const Vec3& f) const {
    const double* D = block.D;
    const double n = new_normal(D, c, f), dn = n - f.z(), bound = block.mu * n;
    const double cx = c.x() + D[6] * dn;
    if (paper())
      return {std::clamp(f.x() - block.prepared * cx, -bound, bound),
              std::clamp(f.y() - block.prepared * (c.y() + D[7] * dn), -bound, bound), n};
    const double x = std::clamp(D[0] > 0 ? f.x() - cx / D[0] : f.x(), -bound, bound);
    const double cy = c.y() + D[7] * dn + D[1] * (x - f.x());
    const double y = std::clamp(D[4] > 0 ? f.y() - cy / D[4] : f.y(), -bound, bound);  // (pgs.3)
    return {x, y, n};
  }
};

// Of a symmetric positive semidefinite 3 x 3 matrix, by the trigonometric solution of its characteristic cubic.
double largest_eigenvalue(const double* D) {
  const double mean = (D[0] + D[4] + D[8]) / 3, x = D[0] - mean, y = D[4] - mean, z = D[8] - mean;
  const double off = D[1] * D[1] + D[2] * D[2] + D[5] * D[5];
  const double p = std::sqrt((x * x + y * y + z * z + 2 * off) / 6);
  if (!(p > 1e-14 * mean)) return mean;
  const double det = x * (y * z - D[5] * D[5]) - D[1] * (D[1] * z - D[5] * D[2]) + D[2] * (D[1] * D[5] - y * D[2]);
  const double cosine = std::clamp(det / (2 * p * p * p), -1.0, 1.0);
  return mean + 2 * p * std::cos(std::acos(cosine) / 3);
}

struct CcpUpdate : Rules {
  double prepare(const double* D, double) const {
    const double trace = D[0] + D[4] + D[8];
    if (paper()) return trace > 0 ? 3 / trace : 0.0;
    return trace > 0 ? std::min(3 / trace, 1.5 / largest_eigenvalue(D)) : 0.0;
  }
  Vec3 operator()(const SweepBlock& block, const Vec3& c, const Vec3& f) const {
    if (block.prepared == 0) return c.z() > 0 ? Vec3::Zero().eval() : project_cone(f, block.mu);
    return project_cone(f - block.prepared * c, block.mu);  // (pgs.4)
  }
};

}  // namespace

OptionTable pgs_options() {
  FieldTable<PgsOptions> table;
  table.add("steps", &PgsOptions::steps, {{"bounded", SweepSteps::Bounded}, {"paper", SweepSteps::Paper}},
            "along the tangents: as long as the block allows, or those of [LeLidec2024]");
  table.add("relaxation", &PgsOptions::relaxation, within(0.01, 1.99), "", "share of each update that is taken");
  return table;
}

std::unique_ptr<ContactSolver> make_pgs(const SolverOptions& options) {
  const auto own = options.own.taken<PgsOptions>("solver 'pgs'");
  switch (options.model) {
    case ContactModel::Lcp:
      return std::make_unique<Sweep<LcpUpdate>>(options, LcpUpdate{{own}});
    case ContactModel::Ccp:
      return std::make_unique<Sweep<CcpUpdate>>(options, CcpUpdate{{own}});
    default:
      return std::make_unique<Sweep<NcpUpdate>>(options, NcpUpdate{{own}});
  }
}

}  // namespace tribo
