// Hunt and Crossley's law along the normal, with the overlap d = -x_N and its rate d' = -c_N:
//   f_N = k d^n (1 + a d'),  d > 0;  k = K d0^(1 - n)                                              (hunt.1)
// [HuntCrossley1975]. Departs from it: k is given by the surface's stiffness K and the overlap d0 at which both
// agree. Damping vanishes with the overlap, so that the force does not jump at a touch. Along the surface: (compliant.1).
//   -df/dx = n k d^(n-1) (1 + a d'),  -df/dc = a k d^n,  energy k d^(n+1) / (n + 1)                (hunt.2)
#include <cmath>

#include "contact/laws/laws.hpp"

namespace tribo {
namespace {

class HuntCrossley final : public ContactLaw {
 public:
  explicit HuntCrossley(const HuntCrossleyOptions& options) : o_(options) {}

  Vec3 force(const LawPoint& p) const override {
    const LawSlope s = surface_slope(p.surface);
    Vec3 f = -s.K.cwiseProduct(p.x) - s.B.cwiseProduct(p.c);
    const double d = -p.x.z();
    f.z() = d > 0 ? spring(p.surface) * std::pow(d, o_.exponent) * (1 - o_.dissipation * p.c.z()) : 0;  // (hunt.1)
    return f;
  }

  LawSlope slope(const LawPoint& p) const override {
    LawSlope s = surface_slope(p.surface);
    const double d = std::max(-p.x.z(), 0.0), k = spring(p.surface);
    s.K.z() = o_.exponent * k * std::pow(d, o_.exponent - 1) * (1 - o_.dissipation * p.c.z());  // (hunt.2)
    s.B.z() = o_.dissipation * k * std::pow(d, o_.exponent);
    return s;
  }

  double energy(const LawPoint& p) const override {
    const LawSlope s = surface_slope(p.surface);
    const double d = std::max(-p.x.z(), 0.0);
    return 0.5 * (s.K.x() * p.x.x() * p.x.x() + s.K.y() * p.x.y() * p.x.y()) +
           spring(p.surface) * std::pow(d, o_.exponent + 1) / (o_.exponent + 1);
  }

 private:
  double spring(const SurfacePair& surface) const { return surface.stiffness * std::pow(o_.depth, 1 - o_.exponent); }

  HuntCrossleyOptions o_;
};

}  // namespace

OptionTable hunt_crossley_options() {
  using Own = HuntCrossleyOptions;
  FieldTable<Own> table;
  table.add("exponent", &Own::exponent, within(1, 10), "", "of the overlap; 1.5 for balls");
  table.add("dissipation", &Own::dissipation, at_least(0), "s/m", "share of the force by the speed of the overlap");
  table.add("depth", &Own::depth, positive(), "m", "overlap at which the force is that of the surface's stiffness");
  return table;
}

std::unique_ptr<ContactLaw> make_hunt_crossley(const Options& options) {
  return std::make_unique<HuntCrossley>(options.taken<HuntCrossleyOptions>("law 'hunt-crossley'"));
}

}  // namespace tribo
