// Articulated-body passes against the dense mass matrix, at random states.
#include "dynamics/articulated.hpp"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

struct Sample {
  explicit Sample(const std::string& robot) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = robot;
    options.contact = "none";
    for (const RobotEntry& entry : robots())
      if (entry.name == robot) options.floating = entry.floating;
    add_robot(builder, options);
    builder.add_object("box", ShapeKind::Box, {0.1, 0.2, 0.3}, 2, builder.add_material({}));
    model = builder.build();
    for (int k = 0; k < model.nv; ++k) model.joints.armature[k] += k >= 6 ? 0.01 * (k % 3) : 0;
    draw();
  }
  double next() { return 2 * random.uniform() - 1; }
  void draw() {
    q = model.neutral();
    for (const Body& body : model.bodies) {
      for (int k = 0; k < nq_of(body.joint); ++k) q[body.iq + k] = next();
      if (body.joint == JointKind::Free) q.segment<4>(body.iq + 3).normalize();
      if (body.joint == JointKind::Spherical) q.segment<4>(body.iq).normalize();
      if (body.joint == JointKind::Continuous) q.segment<2>(body.iq).normalize();
    }
    for (VecX* x : {&v, &tau, &extra}) {
      x->resize(model.nv);
      for (int k = 0; k < model.nv; ++k) (*x)[k] = next();
    }
    extra = extra.cwiseAbs();
  }
  Model model;
  Random random;
  VecX q, v, tau, extra;
};

}  // namespace

TEST_CASE("motion without M has the same bias and energies") {
  for (const char* robot : {"solo12", "talos", "ur10"}) {
    CAPTURE(std::string(robot));
    Sample s(robot);
    Dynamics whole(s.model), motion(s.model);
    whole.compute(s.q, s.v);
    motion.compute_motion(s.q, s.v);
    CHECK((whole.h() - motion.h()).norm() == 0);  // the same sums in the same order
    CHECK(motion.kinetic() == doctest::Approx(whole.kinetic()).epsilon(1e-13));
    CHECK(motion.potential() == doctest::Approx(whole.potential()).epsilon(1e-13));
  }
}

TEST_CASE("accelerations of loads agree with the dense mass matrix") {
  for (const char* robot : {"solo12", "talos", "ur10", "allegro"}) {
    CAPTURE(std::string(robot));
    Sample s(robot);
    Dynamics whole(s.model), motion(s.model);
    ArticulatedBody articulated(s.model);
    for (int trial = 0; trial < 5; ++trial) {
      s.draw();
      whole.compute(s.q, s.v);
      motion.compute_motion(s.q, s.v);
      articulated.factor(motion, s.extra);
      VecX force = s.tau;
      const int nb = static_cast<int>(s.model.bodies.size());
      for (int b : {nb - 1, nb - 2, 0}) {
        const Vec3 p(s.next(), s.next(), s.next()), f(s.next(), s.next(), s.next());
        articulated.load(b, p, f);
        whole.add_force(b, p, f, force);
      }
      VecX x;
      articulated.solve(s.tau, x);
      const MatX M = whole.mass_matrix() + MatX(s.extra.asDiagonal());
      const VecX expected = M.ldlt().solve(force);
      CHECK((x - expected).norm() < 1e-10 * expected.norm());  // the condition number of M is about 1e4
      VecX diagonal;
      articulated.inverse_diagonal(diagonal);
      const VecX inverse = M.ldlt().solve(MatX::Identity(M.rows(), M.cols())).diagonal();
      CHECK((diagonal - inverse).cwiseQuotient(inverse).cwiseAbs().maxCoeff() < 1e-9);
      // Power of the inertial and bias forces, by the dense matrix.
      const double rate = s.v.dot(whole.mass_matrix() * x + whole.h());
      CHECK(articulated.energy_rate(s.v) == doctest::Approx(rate).epsilon(1e-9));
    }
  }
}

TEST_CASE("the response to a unit load is what a whole solve gives") {
  Sample s("talos");
  Dynamics motion(s.model);
  ArticulatedBody articulated(s.model), other(s.model);
  motion.compute_motion(s.q, s.v);
  articulated.factor(motion, s.extra);
  other.factor(motion, s.extra);
  VecX x;
  articulated.solve(s.tau, x);  // what a solve leaves behind must not show
  const int nb = static_cast<int>(s.model.bodies.size());
  const std::vector<int> bodies{5, nb - 1, nb - 3, 9};  // the last body is the box: another tree
  articulated.watch(bodies);
  const Vec3 p(0.1, -0.2, 0.3), f(1, 2, -0.5);
  const VecX zero = VecX::Zero(s.model.nv);
  for (int first : bodies)
    for (int second : {-1, 9, nb - 1}) {
      articulated.respond({first, p, f}, {second, p, -f}, second < 0 ? 8 : -1, 0.7);
      other.load(first, p, f);
      other.load(second, p, -f);
      VecX tau = zero;
      if (second < 0) tau[8] = 0.7;
      other.solve(tau, x);
      for (int b : bodies)
        CHECK((articulated.point_acceleration(b, p) - other.point_acceleration(b, p)).norm() <
              1e-10 * (1 + other.point_acceleration(b, p).norm()));
    }
}
