// A law of contact in one file: a spring that stiffens with the overlap d, f_N = K d (1 + d / d0) - B c_N.
#include <tribo/contact_law.hpp>

namespace {

using namespace tribo;

struct StiffeningOptions {
  double depth = 1e-3;  // d0: where the spring is twice as strong [m]
};

class Stiffening final : public ContactLaw {
 public:
  explicit Stiffening(const StiffeningOptions& options) : depth_(options.depth) {}

  Vec3 force(const LawPoint& p) const override {
    const double d = -p.x.z(), K = p.surface.stiffness, B = p.surface.damping;
    return {-K * p.x.x() - B * p.c.x(), -K * p.x.y() - B * p.c.y(), K * d * (1 + d / depth_) - B * p.c.z()};
  }
  LawSlope slope(const LawPoint& p) const override {
    const double d = -p.x.z(), K = p.surface.stiffness, B = p.surface.damping;
    return {{K, K, K * (1 + 2 * d / depth_)}, {B, B, B}};
  }
  double energy(const LawPoint& p) const override {
    const double d = -p.x.z(), K = p.surface.stiffness;
    return 0.5 * K * p.x.head<2>().squaredNorm() + K * d * d * (0.5 + d / (3 * depth_));
  }

 private:
  double depth_;
};

OptionTable keys() {
  FieldTable<StiffeningOptions> table;
  table.add("stiffening_depth", &StiffeningOptions::depth, positive(), "m", "where the spring is twice as strong");
  return table;
}

const bool registered =
    (register_contact_law({"stiffening", "a spring that stiffens with the overlap",
                           [](const Options& options) {
                             return std::make_unique<Stiffening>(options.taken<StiffeningOptions>("law 'stiffening'"));
                           },
                           keys()}),
     true);

}  // namespace
