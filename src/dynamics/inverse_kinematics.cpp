// Levenberg and Marquardt's method on the configuration manifold, with the joint ranges as bounds.
//   e = (p* - p, length log(R* R^T)) over all targets,  E = |e|^2 / 2                                     (ik.1)
//   (J^T J + lambda I) d = J^T e over the joints that are free                                            (ik.2)
// A joint is free unless it stands at a bound and J^T e presses against it. The step is cut at the bounds, taken where E
// falls, and lambda follows [Nocedal2006, sec. 10.3].
#include "tribo/inverse_kinematics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/names.hpp"
#include "dynamics/group.hpp"
#include "linalg/decompositions.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

constexpr double largest_step = 0.5;  // of a joint in one iteration [rad] or [m]

class Solver {
 public:
  Solver(const Model& model, const std::vector<FrameTarget>& targets, const IkOptions& options)
      : model_(model), targets_(targets), options_(options), dynamics_(model), still_(VecX::Zero(model.nv)) {
    joints_ = options.joints.empty() ? on_the_way() : options.joints;
    const auto n = static_cast<Eigen::Index>(joints_.size());
    rows_ = 6 * static_cast<Eigen::Index>(targets.size());
    e_.setZero(rows_);
    J_.setZero(rows_, n);
  }

  /// Improves q; returns the iterations taken.
  int descend(VecX& q) {
    double lambda = 1e-3;
    double cost = errors(q);
    int k = 0;
    for (; k < options_.iterations && !converged(); ++k) {
      jacobians();
      const VecX gradient = J_.transpose() * e_;
      const VecX d = step(q, gradient, lambda);
      if (!(d.cwiseAbs().maxCoeff() > 1e-14)) break;
      const VecX before = q;
      move(d, q);
      const double now = errors(q);
      if (now < cost) {
        lambda = std::max(lambda * 0.2, 1e-12);
        cost = now;
      } else {
        q = before;
        errors(q);
        lambda *= 8;
        if (lambda > 1e8) break;
      }
    }
    return k;
  }

  double cost(const VecX& q) { return errors(q); }
  bool converged() const { return position_ <= options_.tolerance && orientation_ <= options_.tolerance; }
  double position() const { return position_; }
  double orientation() const { return orientation_; }

  /// Joints at random within their ranges; those without stay.
  void scatter(std::uint64_t& seed, VecX& q) const {
    for (int iv : joints_) {
      const Body& body = body_of(iv);
      seed += 0x9e3779b97f4a7c15ull;  // splitmix64
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      const double share = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
      if (body.joint == JointKind::Continuous) {
        const double angle = (2 * share - 1) * M_PI;
        q.segment<2>(body.iq) << std::cos(angle), std::sin(angle);
      } else if (nv_of(body.joint) == 1) {
        const double low = model_.joints.lower[iv], high = model_.joints.upper[iv];
        const bool ranged = std::isfinite(low) && std::isfinite(high);
        const double from = ranged ? std::max(low, -M_PI) : -M_PI, to = ranged ? std::min(high, M_PI) : M_PI;
        if (body.joint == JointKind::Revolute || ranged) q[body.iq] = from + share * (to - from);
      }
    }
  }

  /// Into the ranges.
  void clamp(VecX& q) const {
    for (int iv : joints_) {
      const Body& body = body_of(iv);
      if (bounded(body)) q[body.iq] = std::clamp(q[body.iq], model_.joints.lower[iv], model_.joints.upper[iv]);
    }
  }

 private:
  const Body& body_of(int iv) const {
    const auto after = std::upper_bound(model_.bodies.begin(), model_.bodies.end(), iv,
                                        [](int value, const Body& body) { return value < body.iv; });
    return *(after - 1);
  }
  static bool bounded(const Body& body) {
    return body.joint == JointKind::Revolute || body.joint == JointKind::Prismatic;
  }
  std::vector<int> on_the_way() const {
    std::set<int> found;
    for (const FrameTarget& target : targets_)
      if (target.place.body >= 0)
        for (int iv : model_.bodies[at(target.place.body)].chain)
          if (body_of(iv).joint != JointKind::Free) found.insert(iv);
    return {found.begin(), found.end()};
  }

  // (ik.1); poses are those of q afterwards.
  double errors(const VecX& q) {
    dynamics_.compute_motion(q, still_);
    position_ = orientation_ = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const FrameTarget& target = targets_[i];
      const Placement X = dynamics_.X_WB(target.place.body) * target.place.X_BP;
      const Eigen::Index row = 6 * static_cast<Eigen::Index>(i);
      if (target.position) {
        e_.segment<3>(row) = target.X_W.p - X.p;
        position_ = std::max(position_, e_.segment<3>(row).norm());
      }
      if (target.orientation) {
        const Vec3 turn = rotation_logarithm(Quat(target.X_W.R * X.R.transpose()));
        e_.segment<3>(row + 3) = options_.length * turn;
        orientation_ = std::max(orientation_, turn.norm());
      }
    }
    return 0.5 * e_.squaredNorm();
  }

  void jacobians() {
    J_.setZero();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const FrameTarget& target = targets_[i];
      const std::vector<int>& chain = model_.bodies[at(target.place.body)].chain;
      const Vec3 p = dynamics_.X_WB(target.place.body) * target.place.X_BP.p;
      Eigen::Matrix3Xd J(3, static_cast<Eigen::Index>(chain.size()));
      dynamics_.point_jacobian(target.place.body, p, Mat3::Identity(), J.data());
      const Eigen::Index row = 6 * static_cast<Eigen::Index>(i);
      for (std::size_t c = 0; c < joints_.size(); ++c) {
        const auto found = std::lower_bound(chain.begin(), chain.end(), joints_[c]);
        if (found == chain.end() || *found != joints_[c]) continue;
        const auto column = static_cast<Eigen::Index>(c);
        if (target.position) J_.block<3, 1>(row, column) = J.col(found - chain.begin());
        if (target.orientation) J_.block<3, 1>(row + 3, column) = options_.length * dynamics_.axis(joints_[c]).ang;
      }
    }
  }

  // (ik.2)
  VecX step(const VecX& q, const VecX& gradient, double lambda) const {
    const auto n = static_cast<Eigen::Index>(joints_.size());
    std::vector<Eigen::Index> open;
    for (Eigen::Index c = 0; c < n; ++c) {
      const int iv = joints_[static_cast<std::size_t>(c)];
      const Body& body = body_of(iv);
      const bool held = bounded(body) && ((q[body.iq] <= model_.joints.lower[iv] && gradient[c] <= 0) ||
                                          (q[body.iq] >= model_.joints.upper[iv] && gradient[c] >= 0));
      if (!held) open.push_back(c);
    }
    VecX d = VecX::Zero(n);
    if (open.empty()) return d;
    const MatX J = J_(Eigen::all, open);
    MatX H = J.transpose() * J;
    H.diagonal().array() += lambda;
    const VecX part = solve_symmetric(H, J.transpose() * e_);
    const double most = part.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < open.size(); ++i)
      d[open[i]] = part[static_cast<Eigen::Index>(i)] * (most > largest_step ? largest_step / most : 1);
    return d;
  }

  void move(const VecX& d, VecX& q) const {
    VecX v = VecX::Zero(model_.nv);
    for (std::size_t c = 0; c < joints_.size(); ++c) v[joints_[c]] = d[static_cast<Eigen::Index>(c)];
    integrate(model_, v, 1.0, q);
    clamp(q);
  }

  const Model& model_;
  const std::vector<FrameTarget>& targets_;
  const IkOptions& options_;
  Dynamics dynamics_;
  VecX still_;
  std::vector<int> joints_;
  Eigen::Index rows_ = 0;
  VecX e_;
  MatX J_;
  double position_ = 0, orientation_ = 0;
};

void check(const Model& model, const VecX& q, const std::vector<FrameTarget>& targets, const IkOptions& o) {
  if (q.size() != model.nq || !q.allFinite())
    throw InvalidInput("inverse kinematics: q must be finite and have " + std::to_string(model.nq) + " entries");
  if (targets.empty()) throw InvalidInput("inverse kinematics: no frame is given");
  for (const FrameTarget& target : targets) {
    if (target.place.body < 0) throw InvalidInput("inverse kinematics: a frame is on no body that joints move");
    if (!target.X_W.p.allFinite() || !target.X_W.R.allFinite() ||
        !((target.X_W.R * target.X_W.R.transpose() - Mat3::Identity()).norm() < 1e-6))
      throw InvalidInput("inverse kinematics: a target is not a pose");
    if (!target.position && !target.orientation)
      throw InvalidInput("inverse kinematics: a target asks for neither position nor orientation");
  }
  for (int iv : o.joints)
    if (iv < 0 || iv >= model.nv)
      throw InvalidInput("inverse kinematics: joint " + std::to_string(iv) + " is not there");
  if (!(o.tolerance > 0) || !(o.length > 0) || o.iterations < 1 || o.starts < 1)
    throw InvalidInput("inverse kinematics: tolerance, length, iterations and starts must be > 0");
}

}  // namespace

IkResult inverse_kinematics(const Model& model, const VecX& q, const std::vector<FrameTarget>& targets,
                            const IkOptions& options) {
  check(model, q, targets, options);
  Solver solver(model, targets, options);
  IkResult best;
  double least = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
  for (int start = 0; start < options.starts; ++start) {
    VecX x = q;
    if (start > 0) solver.scatter(seed, x);
    solver.clamp(x);
    best.iterations += solver.descend(x);
    const double cost = solver.cost(x);
    if (cost < least) {
      least = cost;
      best.q = x;
      best.converged = solver.converged();
      best.position_error = solver.position();
      best.orientation_error = solver.orientation();
    }
    if (best.converged) break;
  }
  return best;
}

}  // namespace tribo
