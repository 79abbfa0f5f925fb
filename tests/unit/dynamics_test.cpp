// Mass matrix and bias force against Pinocchio's CRBA and RNEA, at random configurations.
#include "tribo/dynamics.hpp"

#include <doctest/doctest.h>

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "readers/robots.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

struct Pair {
  Model ours;
  pinocchio::Model theirs;
};

Pair load(const std::string& name) {
  const RobotFiles files = find_robot(name);
  Pair pair;
  ModelBuilder builder;
  RobotOptions options;
  options.model = name;
  options.contact = "none";
  options.floating = files.record->entry.floating;
  add_robot(builder, options);
  pair.ours = builder.build();
  if (options.floating)
    pinocchio::urdf::buildModel(files.urdf, pinocchio::JointModelFreeFlyer(), pair.theirs);
  else
    pinocchio::urdf::buildModel(files.urdf, pair.theirs);
  return pair;
}

VecX random_configuration(const Model& model, Random& random) {
  auto draw = [&] { return 2 * random.uniform() - 1; };
  VecX q = model.neutral();
  for (const Body& body : model.bodies) {
    const int n = nq_of(body.joint);
    for (int k = 0; k < n; ++k) q[body.iq + k] = draw();
    if (body.joint == JointKind::Free) q.segment<4>(body.iq + 3).normalize();
    if (body.joint == JointKind::Spherical) q.segment<4>(body.iq).normalize();
    if (body.joint == JointKind::Continuous) q.segment<2>(body.iq).normalize();
  }
  return q;
}

}  // namespace

TEST_CASE("dynamics: M and h agree with Pinocchio") {
  Random random;
  for (const char* name : {"solo12", "talos", "allegro", "ur10", "panda", "kinova"}) {
    INFO(std::string(name));
    Pair pair = load(name);
    const Model& model = pair.ours;
    REQUIRE(model.nq == pair.theirs.nq);
    REQUIRE(model.nv == pair.theirs.nv);
    pinocchio::Data data(pair.theirs);
    Dynamics dynamics(model);
    for (int trial = 0; trial < 20; ++trial) {
      const VecX q = random_configuration(model, random);
      VecX v(model.nv);
      for (int k = 0; k < model.nv; ++k) v[k] = 4 * random.uniform() - 2;
      const ConstVecRef q_ref(q), v_ref(v);
      dynamics.compute(q, v);
      pinocchio::crba(pair.theirs, data, q_ref, pinocchio::Convention::LOCAL);
      const MatX M = data.M.selfadjointView<Eigen::Upper>();
      VecX h = pinocchio::nonLinearEffects(pair.theirs, data, q_ref, v_ref);
      // Pinocchio's free joint has the body-axes derivative of v as its acceleration; ours the classical one,
      // a = vdot + w x v on the linear rows. M vdot + h_pin = M a + h, hence h = h_pin - M (w x v).
      if (model.bodies[0].joint == JointKind::Free) {
        VecX shift = VecX::Zero(model.nv);
        shift.head<3>() = Vec3(v.segment<3>(3)).cross(Vec3(v.head<3>()));
        h -= M * shift;
      }
      // Two routes through the same few hundred operations: rounding only.
      CHECK((dynamics.mass_matrix() - M).lpNorm<Eigen::Infinity>() < 1e-12 * M.lpNorm<Eigen::Infinity>());
      CHECK((dynamics.h() - h).lpNorm<Eigen::Infinity>() < 1e-12 * h.lpNorm<Eigen::Infinity>());
    }
  }
}
