#include "tribo/inquiry.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "collision/narrowphase.hpp"
#include "collision/ray.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {

struct Inquiry::Impl {
  explicit Impl(std::shared_ptr<const Model> m) : model(std::move(m)), dynamics(*model) {
    for (const Geometry& g : model->geometries) solids.emplace_back(g);
  }

  Placement body(int b) const {
    if (b >= 0) return dynamics.X_WB(b);
    const int k = kinematic_index(b);
    return k < 0 ? Placement{} : kinematic_pose(*model, k, time());
  }
  Placement geometry(int g) const {
    const Geometry& shape = model->geometries[at(g)];
    return body(shape.body) * shape.X_BG;
  }

  Nearest pair(int a, int b, double most) const {
    const PlacedSolid x{&solids[at(a)], geometry(a), Vec3::Zero(), Vec3::Zero()};
    const PlacedSolid y{&solids[at(b)], geometry(b), Vec3::Zero(), Vec3::Zero()};
    const Query query{x, y, most, 0, most, &scratch};
    Nearest found;
    if (x.solid->convex && y.solid->convex) {
      const Separation s = separation(query);
      if (s.gap < most) found = {s.gap, a, b, s.p, s.n};
      return found;
    }
    Touches touches;
    touch(query, touches);
    for (int i = 0; i < touches.count; ++i) {
      const Touch& p = touches.items[at(i)];
      if (p.gap < found.distance) found = {p.gap, a, b, p.p, p.n};
    }
    return found;
  }

  std::shared_ptr<const Model> model;
  Dynamics dynamics;
  std::vector<Solid> solids;
  mutable Scratch scratch;
  double t = 0;
  std::vector<KinematicCommand> commands;
  KinematicTime time() const { return {t, commands}; }
};

Inquiry::Inquiry(std::shared_ptr<const Model> model) : impl_(std::make_unique<Impl>(std::move(model))) {
  look(impl_->model->neutral(), VecX::Zero(impl_->model->nv), {});
}
Inquiry::~Inquiry() = default;

void Inquiry::look(const VecX& q, const VecX& v, const KinematicTime& time) {
  const Model& m = *impl_->model;
  if (q.size() != m.nq || v.size() != m.nv)
    throw InvalidInput("q has " + std::to_string(q.size()) + " and v " + std::to_string(v.size()) +
                       " entries, must have " + std::to_string(m.nq) + " and " + std::to_string(m.nv));
  if (!q.allFinite() || !v.allFinite() || !std::isfinite(time.t)) throw InvalidInput("q, v or t is not finite");
  impl_->dynamics.compute(q, v);
  check_commands(m, time.commands);
  impl_->t = time.t;
  impl_->commands.assign(time.commands.begin(), time.commands.end());
}

const Model& Inquiry::model() const { return *impl_->model; }
Placement Inquiry::pose(const Place& place) const { return impl_->body(place.body) * place.X_BP; }

PointVelocity Inquiry::velocity(const Place& place) const {
  const int k = kinematic_index(place.body);
  if (k >= 0) {
    // The mean over a short time about t: the motions are smooth.
    const double dt = 1e-6;
    const Twist twist = kinematic_twist(*impl_->model, k, impl_->time().later(-dt / 2), dt);
    return {twist.v + twist.w.cross(pose(place).p - impl_->body(place.body).p), twist.w};
  }
  if (place.body < 0) return {};
  const Vec3 p = pose(place).p;
  return {impl_->dynamics.point_velocity(place.body, p), impl_->dynamics.body_velocity(place.body).ang};
}

MatX Inquiry::jacobian(const Place& place) const {
  MatX J = MatX::Zero(6, impl_->model->nv);
  if (place.body < 0) return J;
  const std::vector<int>& chain = impl_->model->bodies[at(place.body)].chain;
  Eigen::Matrix3Xd linear(3, static_cast<Eigen::Index>(chain.size()));
  impl_->dynamics.point_jacobian(place.body, pose(place).p, Mat3::Identity(), linear.data());
  for (std::size_t c = 0; c < chain.size(); ++c) {
    J.block<3, 1>(0, chain[c]) = linear.col(static_cast<Eigen::Index>(c));
    J.block<3, 1>(3, chain[c]) = impl_->dynamics.axis(chain[c]).ang;
  }
  return J;
}

MatX Inquiry::mass_matrix() const { return impl_->dynamics.mass_matrix(); }
const VecX& Inquiry::bias() const { return impl_->dynamics.h(); }
double Inquiry::kinetic() const { return impl_->dynamics.kinetic(); }
double Inquiry::potential() const { return impl_->dynamics.potential(); }

Vec3 Inquiry::center_of_mass(int member) const {
  const Model& m = *impl_->model;
  int first = 0, last = static_cast<int>(m.bodies.size());
  if (member >= 0) {
    first = m.members[at(member)].first_body;
    last = first + m.members[at(member)].bodies;
  }
  double mass = 0;
  Vec3 sum = Vec3::Zero();
  for (int b = first; b < last; ++b) {
    const Inertia& inertia = m.bodies[at(b)].inertia;
    mass += inertia.mass;
    sum += inertia.mass * (impl_->dynamics.X_WB(b) * inertia.com);
  }
  if (!(mass > 0)) throw InvalidInput("nothing that moves has a mass: there is no centre of mass");
  return sum / mass;
}

RayHit Inquiry::ray(const Vec3& p, const Vec3& d, double most, std::span<const char> ignored) const {
  if (!p.allFinite() || !d.allFinite() || !(d.norm() > 0) || !(most > 0))
    throw InvalidInput("a ray needs a finite origin, a direction and a length > 0 m");
  const Vec3 along = d.normalized();
  RayHit hit;
  for (int g = 0; g < static_cast<int>(impl_->model->geometries.size()); ++g) {
    if (!ignored.empty() && ignored[at(g)]) continue;
    const Geometry& shape = impl_->model->geometries[at(g)];
    const Placement X = impl_->geometry(g);
    if (std::isfinite(shape.radius)) {  // the bounding sphere first
      const Vec3 r = X.p - p;
      const double s = std::max(0.0, r.dot(along));
      if ((r - s * along).squaredNorm() > shape.radius * shape.radius ||
          s - shape.radius > std::min(most, hit.distance))
        continue;
    }
    const RayEntry entry = cast(shape, {X.R.transpose() * (p - X.p), X.R.transpose() * along}, most);
    if (entry.distance < hit.distance) hit = {entry.distance, g, p + entry.distance * along, X.R * entry.n};
  }
  return hit;
}

Nearest Inquiry::distance(std::span<const int> a, std::span<const int> b, double most) const {
  if (!(most > 0)) throw InvalidInput("a distance is looked for up to " + shown(most) + " m, must be > 0");
  Nearest best;
  const auto endless = [&](int g) { return !std::isfinite(impl_->model->geometries[at(g)].radius); };
  for (int i : a)
    for (int j : b) {
      if (i == j || (endless(i) && endless(j))) continue;
      const Nearest found = impl_->pair(i, j, std::min(most, best.distance));
      if (found.distance < best.distance) best = found;
    }
  return best;
}

}  // namespace tribo
