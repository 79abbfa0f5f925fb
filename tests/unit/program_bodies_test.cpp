// The relaxed program by bodies against the same least squares in dense form.
#include "stepping/momentum/program_bodies.hpp"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

using Part = ProgramBodies::Part;

struct Problem {
  ProgramBodies bodies;
  MatX Y;  // (3 contacts, 6 nodes)
  std::vector<Part> parts;
  VecX w;
};

Part draw_part(Random& random) {
  auto draw = [&] { return 2 * random.uniform() - 1; };
  Part part;
  const double kind = random.uniform();
  part.kind = kind < 0.2 ? Part::Kind::Out : kind < 0.6 ? Part::Kind::Rest : Part::Kind::Tied;
  part.along = Vec3{draw(), draw(), 1};
  return part;
}

Problem draw_problem(int nodes, int contacts, Random& random) {
  auto draw = [&] { return 2 * random.uniform() - 1; };
  Problem it;
  it.bodies.resize(nodes);
  it.Y.setZero(3 * contacts, 6 * nodes);
  it.w.setZero(3 * contacts);
  for (int i = 0; i < contacts; ++i) {
    ProgramBodies::Side side[2];
    side[0].node = static_cast<int>(random.uniform() * (nodes + 1)) - 1;  // -1: the ground
    side[1].node = (side[0].node + 1 + static_cast<int>(random.uniform() * (nodes - 1))) % nodes;
    if (side[0].node == side[1].node) side[0].node = -1;
    for (ProgramBodies::Side& s : side) {
      for (double& y : s.y.reshaped()) y = draw();
      if (s.node >= 0) it.Y.block<3, 6>(3 * i, 6 * s.node) = s.y;
    }
    it.bodies.add(side[0], side[1]);
    it.parts.push_back(draw_part(random));
    for (int k = 0; k < 3; ++k) it.w[3 * i + k] = draw();
  }
  it.bodies.prepare(nullptr);
  return it;
}

// argmin |R (A E x + w)|^2 + eps^2 |x|^2 by Householder's QR of the stacked system; p = E x. Rows stand behind the contacts.
VecX dense_impulses(const MatX& A, const std::vector<Part>& parts, const VecX& w, double eps, int contacts) {
  const int n = static_cast<int>(w.size());
  MatX E = MatX::Zero(n, n), R = MatX::Zero(n, n);
  int unknowns = 0;
  for (int i = contacts; i < n - 2 * contacts; ++i)
    if (parts[static_cast<std::size_t>(i)].kind == Part::Kind::Rest)
      E(2 * contacts + i, unknowns) = R(unknowns, 2 * contacts + i) = 1, ++unknowns;
  for (int i = 0; i < contacts; ++i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    if (part.kind == Part::Kind::Rest)
      for (int k = 0; k < 3; ++k) E(3 * i + k, unknowns) = R(unknowns, 3 * i + k) = 1, ++unknowns;
    if (part.kind != Part::Kind::Tied) continue;
    E.block<3, 1>(3 * i, unknowns) = part.along;
    R(unknowns++, 3 * i + 2) = 1;
  }
  const MatX B = R.topRows(unknowns) * A * E.leftCols(unknowns);
  MatX stacked(2 * unknowns, unknowns);
  stacked << B, eps * MatX::Identity(unknowns, unknowns);
  VecX right = VecX::Zero(2 * unknowns);
  right.head(unknowns) = -R.topRows(unknowns) * w;
  return E.leftCols(unknowns) * VecX(stacked.householderQr().solve(right));
}

}  // namespace

TEST_CASE("program by bodies: the impulses are those of the dense least squares") {
  Random random;
  for (int trial = 0; trial < 60; ++trial) {
    const int nodes = 2 + trial % 9, contacts = 1 + trial % 37;
    Problem it = draw_problem(nodes, contacts, random);
    for (const double eps : {1.0, 1e-1, 1e-2}) {  // A is of the order of 1
      CAPTURE(trial);
      CAPTURE(eps);
      VecX p(3 * contacts);
      REQUIRE(it.bodies.solve(it.parts, it.w.data(), eps, p.data()));
      const VecX expected = dense_impulses(it.Y * it.Y.transpose(), it.parts, it.w, eps, contacts);
      // The normal equations of the two agree; rounding is magnified by the condition of the stacked matrix, |A|/eps.
      CHECK((p - expected).norm() <= 1e-9 / eps * (1 + expected.norm()));
    }
  }
}

TEST_CASE("program by bodies: products and local blocks are those of A") {
  Random random;
  Problem it = draw_problem(5, 12, random);
  const MatX A = it.Y * it.Y.transpose();
  VecX x = VecX::LinSpaced(36, -1, 2), y(36);
  it.bodies.multiply(x.data(), y.data());
  CHECK((y - A * x).norm() <= 1e-13 * y.norm());
  for (int i = 0; i < 12; ++i)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) CHECK(it.bodies.entry(3 * i + r, c) == doctest::Approx(A(3 * i + r, 3 * i + c)));
}

namespace {

// A robot and two boxes at a random state: contacts with the ground, with a box, between boxes and of the robot with
// itself, and rows on joints. J is dense, and M that of the whole model.
struct TreeProblem {
  TreeProblem(const std::string& robot, int contacts, int rows) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = robot;
    options.contact = "none";
    for (const RobotEntry& entry : robots())
      if (entry.name == robot) options.floating = entry.floating;
    add_robot(builder, options);
    const int material = builder.add_material({});
    for (const char* name : {"box", "brick"}) builder.add_object(name, ShapeKind::Box, {0.1, 0.2, 0.3}, 0.7, material);
    model = builder.build();
    for (int k = 6; k < model.nv; ++k) model.joints.armature[k] += 0.01 * (k % 3);
    VecX q = model.neutral();
    for (const Body& body : model.bodies) {
      for (int k = 0; k < nq_of(body.joint); ++k) q[body.iq + k] = draw();
      if (body.joint == JointKind::Free) q.segment<4>(body.iq + 3).normalize();
    }
    motion = std::make_unique<Dynamics>(model);
    motion->compute(q, VecX::Zero(model.nv));
    extra.setZero(model.nv);
    for (double& x : extra) x = 0.1 * random.uniform();
    articulated = std::make_unique<ArticulatedBody>(model);
    articulated->factor(*motion, extra);
    add_nodes();
    J.setZero(3 * contacts + rows, model.nv);
    for (int i = 0; i < contacts; ++i) add_contact(i);
    std::vector<int> joints;
    for (const Body& body : model.bodies)
      if (nv_of(body.joint) == 1) joints.push_back(body.iv);
    for (int r = 0; r < rows; ++r) {
      const int dof = joints[static_cast<std::size_t>(r * 7) % joints.size()];
      const double sign = r % 2 == 0 ? 1 : -1;
      J(3 * contacts + r, dof) = sign;
      bodies.add_row(node_of_dof(dof), dof, sign);
      parts.push_back({.kind = r % 3 == 0 ? Part::Kind::Out : Part::Kind::Rest});
    }
    bodies.prepare(articulated.get());
    A = J * (motion->mass_matrix() + MatX(extra.asDiagonal())).ldlt().solve(MatX(J.transpose()));
    w.resize(J.rows());
    for (double& x : w) x = draw();
  }

  void add_nodes() {
    bodies.resize(static_cast<int>(model.bodies.size()));
    for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
      const Body& body = model.bodies[static_cast<std::size_t>(b)];
      if (model.trees[static_cast<std::size_t>(body.tree)].single) continue;
      bodies.link(b, body.parent, b, motion->body_inertia(b));
      for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
        bodies.add_axis(b, k, motion->axis(k), model.joints.armature[k] + extra[k]);
    }
  }

  void add_contact(int i) {
    const int nb = static_cast<int>(model.bodies.size());
    int of[2] = {-1, static_cast<int>(random.uniform() * nb)};
    if (i % 3 > 0) of[0] = static_cast<int>(random.uniform() * nb);
    if (of[0] == of[1]) of[0] = -1;
    const Vec3 p{draw(), draw(), draw()};
    const Mat3 R = Eigen::Quaterniond{draw(), draw(), draw(), draw()}.normalized().toRotationMatrix();
    ProgramBodies::Side side[2];
    for (int s = 0; s < 2; ++s) {
      if (of[s] < 0) continue;
      const Body& body = model.bodies[static_cast<std::size_t>(of[s])];
      const double sign = s == 0 ? -1 : 1;
      MatX along(3, static_cast<Eigen::Index>(body.chain.size()));
      motion->point_jacobian(of[s], p, R, along.data());
      side[s].node = of[s];
      for (std::size_t k = 0; k < body.chain.size(); ++k)
        J.block<3, 1>(3 * i, body.chain[k]) += sign * along.col(static_cast<Eigen::Index>(k));
      if (model.trees[static_cast<std::size_t>(body.tree)].single) {
        for (int k = 0; k < 6; ++k)
          side[s].y.col(k) = sign * along.col(k) / std::sqrt(motion->inertia(body.iv + k) + extra[body.iv + k]);
        continue;
      }
      const Mat3 turn = sign * R.transpose();
      side[s].y << turn, -turn * skew(p - motion->origin(body.tree));
    }
    bodies.add(side[0], side[1]);
    parts.push_back(draw_part(random));
  }

  int node_of_dof(int dof) const {
    for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b)
      if (model.bodies[static_cast<std::size_t>(b)].iv == dof) return b;
    return -1;
  }
  double draw() { return 2 * random.uniform() - 1; }

  Model model;
  Random random;
  std::unique_ptr<Dynamics> motion;
  std::unique_ptr<ArticulatedBody> articulated;
  VecX extra, w;
  MatX J, A;
  ProgramBodies bodies;
  std::vector<Part> parts;
};

}  // namespace

TEST_CASE("program by bodies: trees, with links between their bodies, against the dense mass matrix") {
  for (const char* robot : {"solo12", "talos", "ur10", "allegro"})
    for (const int contacts : {3, 11, 40}) {
      CAPTURE(std::string(robot));
      CAPTURE(contacts);
      TreeProblem it(robot, contacts, 5);
      const int n = static_cast<int>(it.w.size());
      VecX x = VecX::LinSpaced(n, -1, 2), y(n), p(n);
      it.bodies.multiply(x.data(), y.data());
      CHECK((y - it.A * x).norm() <= 1e-9 * y.norm());  // the condition number of M is about 1e4
      for (int i = 0; i < n; ++i)
        CHECK(it.bodies.entry(i, i < 3 * contacts ? i % 3 : 0) == doctest::Approx(it.A(i, i)));
      const double scale = it.A.diagonal().mean();
      for (const double relaxation : {1.0, 1e-1, 1e-2}) {
        REQUIRE(it.bodies.solve(it.parts, it.w.data(), relaxation * scale, p.data()));
        const VecX expected = dense_impulses(it.A, it.parts, it.w, relaxation * scale, contacts);
        CHECK((p - expected).norm() <= 1e-9 / relaxation * (1 + expected.norm()));
      }
    }
}

TEST_CASE("program by bodies: rounding does not grow along a chain") {
  ModelBuilder builder;
  builder.begin_member("chain", true, "test");
  constexpr int links = 60;
  for (int i = 0; i < links; ++i) {
    Body body;
    body.name = "link" + std::to_string(i);
    body.parent = i - 1;
    body.joint = i == 0 ? JointKind::Free : JointKind::Revolute;
    body.axis = Vec3::UnitY();
    body.X_PJ.p = Vec3(i == 0 ? 0 : 0.1, 0, 0);
    body.inertia = {0.3, Vec3::Zero(), Vec3(8e-5, 2.9e-4, 2.9e-4).asDiagonal()};
    builder.add_body(body);
  }
  const Model model = builder.build();
  Dynamics motion(model);
  motion.compute_motion(model.neutral(), VecX::Zero(model.nv));
  ArticulatedBody articulated(model);
  articulated.factor(motion, VecX::Zero(model.nv));
  ProgramBodies bodies;
  bodies.resize(links);
  for (int i = 0; i < links; ++i) {
    bodies.link(i, i - 1, i, motion.body_inertia(i));
    const Body& body = model.bodies[static_cast<std::size_t>(i)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) bodies.add_axis(i, k, motion.axis(k), 0);
  }
  for (int i = 0; i < links; ++i)
    for (const double x : {-0.05, 0.05})
      for (const double y : {-0.02, 0.02}) {
        ProgramBodies::Side side{.node = i};
        side.y << Mat3::Identity(), -skew(motion.X_WB(i) * Vec3(x, y, -0.02) - motion.origin(0));
        bodies.add({}, side);
      }
  bodies.prepare(&articulated);
  const std::vector<Part> parts(4 * links, Part{.kind = Part::Kind::Rest, .along = Vec3::Zero()});
  VecX w(12 * links), p(12 * links), c(12 * links);
  for (int i = 0; i < 4 * links; ++i) w.segment<3>(3 * i) = Vec3(0, 0, -9.81e-3);
  // The weight of a step on four points each stops it: the points move on by what the relaxation leaves.
  REQUIRE(bodies.solve(parts, w.data(), 0.02, p.data()));
  bodies.multiply(p.data(), c.data());
  CHECK((c + w).norm() < 1e-3 * w.norm());
  for (int i = 0; i < 4 * links; ++i) CHECK(p[3 * i + 2] == doctest::Approx(0.3 * 9.81e-3 / 4).epsilon(1e-2));
}
