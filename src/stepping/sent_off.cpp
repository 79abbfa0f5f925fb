#include "stepping/sent_off.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {

SentOff::SentOff(const Model& model, double margin) : margin_(margin), sizes_(model), reach_(VecX::Ones(model.nv)) {
  std::vector<double> extent(model.bodies.size(), 0);  // of a body and all that it carries, about its origin
  for (const Geometry& g : model.geometries)
    if (g.body >= 0 && std::isfinite(g.radius))
      extent[at(g.body)] = std::max(extent[at(g.body)], g.X_BG.p.norm() + g.radius);
  for (std::size_t b = model.bodies.size(); b-- > 0;) {
    const Body& body = model.bodies[b];
    if (body.parent >= 0) extent[at(body.parent)] = std::max(extent[at(body.parent)], body.X_PJ.p.norm() + extent[b]);
    const int first = body.joint == JointKind::Free ? 3 : body.joint == JointKind::Prismatic ? 1 : 0;
    for (int k = first; k < nv_of(body.joint); ++k) reach_[body.iv + k] = extent[b];
  }
}

bool SentOff::operator()(const Start& start, const Outcome& outcome) const {
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const double length = 0.5 * (margin_ < 0 ? default_margin * sizes_.of(r.geometry_a, r.geometry_b) : margin_);
    if (!(r.f.z() > 0 && start.dt * (r.c.z() - r.c_start.z()) > length)) continue;
    const Contact& contact = start.contacts[i];
    if (farther(start, outcome, contact.body_a, length) || farther(start, outcome, contact.body_b, length)) return true;
  }
  return false;
}

bool SentOff::farther(const Start& start, const Outcome& outcome, int body, double length) const {
  if (body < 0) return false;
  const Tree& tree = start.model.trees[at(start.model.bodies[at(body)].tree)];
  double way = 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    if (start.actuation.has_target(k)) return false;
    way += reach_[k] * std::abs(outcome.v_end[k] - start.state.v[k]);
  }
  return start.dt * way > length;
}

}  // namespace tribo
