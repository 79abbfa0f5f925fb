#include <doctest/doctest.h>

#include <random>

#include "tribo/contact_solver.hpp"

using namespace tribo;

namespace {

constexpr ContactModel models[] = {ContactModel::Ncp, ContactModel::Ccp, ContactModel::Lcp, ContactModel::Raisim};
constexpr double mus[] = {0.0, 1e-12, 1e-6, 1.0, 1e6};

// Distance of (t, n), t >= 0, from the ray along (a, b) and what lies between it and the axis of n: by the definition,
// the least over the ray where the point is beyond it.
double distance_from(long double t, long double n, long double a, long double b) {
  const long double length = std::sqrt(a * a + b * b);
  a /= length, b /= length;
  if (n >= 0 && t * b <= a * n) return 0;
  long double low = 0, high = t + std::abs(n);
  for (int k = 0; k < 300; ++k) {
    const long double third = (high - low) / 3, x = low + third, y = high - third;
    const auto square = [&](long double r) { return (t - r * a) * (t - r * a) + (n - r * b) * (n - r * b); };
    (square(x) < square(y) ? high : low) = square(x) < square(y) ? y : x;
  }
  return static_cast<double>(std::hypot(t - low * a, n - low * b));
}

double from_cone(const Vec3& f, double mu) { return distance_from(std::hypot(f.x(), f.y()), f.z(), mu, 1); }
double from_dual(const Vec3& c, double mu) { return distance_from(std::hypot(c.x(), c.y()), c.z(), 1, mu); }

std::vector<Vec3> samples(double mu) {
  std::vector<Vec3> points;
  for (double n : {-3.0, -1e-3, 0.0, 1e-3, 3.0})
    for (double t : {0.0, 1e-6, 1.0, 2.0}) points.push_back({0.6 * t, -0.8 * t, n});
  for (double n : {-1.0, 1.0}) points.push_back({0.6 * mu, 0.8 * mu, n});
  return points;
}

Residual judge_one(ContactModel model, double mu, const Vec3& f, const Vec3& c) {
  ContactProblem problem;
  problem.resize(1, 0, true);
  problem.G().setIdentity();
  problem.g() = c - f;
  problem.mu()[0] = mu;
  return judge(problem, model, f.data(), c.data());
}

}  // namespace

TEST_CASE("projection onto the friction cone: the variational inequality, at every mu, on its axes and edges too") {
  // p = P_K(x) iff p in K, x - p in the polar cone and <x - p, p> = 0: no other formula is needed to judge it.
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  for (double mu : {0.0, 1e-6, 0.3, 1.0, 10.0, 1e6}) {
    std::vector<Vec3> points = {Vec3::Zero(), {0, 0, 1}, {0, 0, -302}, {1, 0, 0}, {0, -1, 0}, {mu, 0, 1}, {1, 0, -mu}};
    for (int k = 0; k < 200; ++k) points.push_back({normal(rng), normal(rng), normal(rng)});
    for (const Vec3& x : points) {
      const Vec3 p = project_cone(x, mu), r = x - p;
      const double size = 1e-14 * (1 + mu) * (1 + x.norm());
      CAPTURE(mu);
      CAPTURE(x.transpose());
      CHECK(std::hypot(p.x(), p.y()) <= mu * p.z() + size);
      CHECK(p.z() >= 0);
      CHECK(r.z() <= -mu * std::hypot(r.x(), r.y()) + size);  // polar cone
      CHECK(std::abs(r.dot(p)) <= size * (1 + x.norm()));
      const Vec3 d = project_dual_cone(x, mu);
      CHECK(d.z() >= mu * std::hypot(d.x(), d.y()) - size);
      if (x.z() >= mu * std::hypot(x.x(), x.y())) CHECK((d - x).norm() <= size);  // feasible points stay
    }
  }
}

TEST_CASE("the judge: distances from both cones by their definition, at every mu and both signs of the normal") {
  for (const double mu : mus)
    for (const Vec3& f : samples(mu))
      for (const Vec3& c : samples(mu)) {
        CAPTURE(mu);
        CAPTURE(f.transpose());
        CAPTURE(c.transpose());
        const double rounding = 1e-9 * (1 + f.norm() + c.norm());  // the search is good to the root of rounding
        const Residual ncp = judge_one(ContactModel::Ncp, mu, f, c), ccp = judge_one(ContactModel::Ccp, mu, f, c);
        CHECK(std::abs(ncp.primal - from_cone(f, mu)) <= rounding);
        CHECK(std::abs(ccp.primal - from_cone(f, mu)) <= rounding);
        CHECK(std::abs(ccp.dual - from_dual(c, mu)) <= rounding);
        CHECK(ncp.dual == std::max(-c.z(), 0.0));
        CHECK(ncp.dual >= from_dual({c.x(), c.y(), c.z() + mu * std::hypot(c.x(), c.y())}, mu) - rounding);
      }
}

TEST_CASE("the judge: no model calls a contact that pulls, or that bodies pass through, solved") {
  for (const double mu : mus)
    for (const ContactModel model : models) {
      CAPTURE(mu);
      CAPTURE(to_string(model));
      for (double ft : {0.0, 0.5}) CHECK(judge_one(model, mu, {ft, 0, -2}, Vec3::Zero()).primal >= 2);
      if (model == ContactModel::Ccp) continue;  // a sliding contact lifts there, by its law
      for (double ct : {0.0, 5.0}) CHECK(judge_one(model, mu, Vec3::Zero(), {ct, 0, -2}).dual >= 2);
    }
}

TEST_CASE("the judge: what satisfies Signorini badly has a residual of that size squared") {
  // f_N c_N is part of the complementarity, beside terms that are >= 0 for forces in the cone.
  for (const double mu : mus)
    for (const ContactModel model : {ContactModel::Ncp, ContactModel::Lcp, ContactModel::Raisim})
      for (const Vec3& f : samples(mu))
        for (const Vec3& c : samples(mu)) {
          const Residual r = judge_one(model, mu, f, c);
          const double signorini = std::abs(std::min(f.z() / r.force_scale, c.z() / r.motion_scale));
          CAPTURE(mu);
          CAPTURE(to_string(model));
          CAPTURE(f.transpose());
          CAPTURE(c.transpose());
          CHECK(r.relative() >= 0.1 * std::min(signorini, signorini * signorini));
        }
}
