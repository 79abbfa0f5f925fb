// Spring and damper of the surface, along every axis: f = -K x - B c, see (compliant.1).
#include <cmath>

#include "contact/laws/laws.hpp"

namespace tribo {

LawSlope surface_slope(const SurfacePair& surface) {
  const double Kt = std::isnan(surface.stiffness_tangential) ? surface.stiffness : surface.stiffness_tangential;
  const double Bt = std::isnan(surface.damping_tangential) ? surface.damping : surface.damping_tangential;
  return {Vec3(Kt, Kt, surface.stiffness), Vec3(Bt, Bt, surface.damping)};
}

namespace {

class SpringDamper final : public ContactLaw {
 public:
  Vec3 force(const LawPoint& p) const override {
    const LawSlope s = surface_slope(p.surface);
    return -s.K.cwiseProduct(p.x) - s.B.cwiseProduct(p.c);
  }
  LawSlope slope(const LawPoint& p) const override { return surface_slope(p.surface); }
  double energy(const LawPoint& p) const override {
    return 0.5 * p.x.cwiseProduct(surface_slope(p.surface).K).dot(p.x);
  }
  bool linear() const override { return true; }
};

}  // namespace

std::unique_ptr<ContactLaw> make_spring_damper(const Options&) { return std::make_unique<SpringDamper>(); }

}  // namespace tribo
