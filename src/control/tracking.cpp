// Tracking of a reference motion by feed-forward and linear feedback:
//   u = u_ff + gain (x_ref - x),   x_ref - x = (log(q^-1 q_ref), v_ref - v)                                  (track.1)
// The reference state is interpolated between its knots along the group; u_ff and gain are held over each. After the
// last knot its state is the reference, at rest, and the last u_ff and gain stay.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"
#include "dynamics/group.hpp"
#include "tribo/tracking.hpp"

namespace tribo {
namespace {

class Tracking final : public Controller {
 public:
  Tracking(const Model& model, const TrackingOptions& options)
      : options_(options), member_(model.members[at(options.member)]) {
    const std::string owner = "tracking controller of '" + member_.name + "'";
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (nv_of(body.joint) == 1) driven_.push_back(body.iv);
    }
    const PlannedMotion& m = *options.motion;
    const auto n = static_cast<Eigen::Index>(m.controls.cols());
    const auto nu = static_cast<Eigen::Index>(driven_.size());
    auto sized = [&](const MatX& x, const char* field, Eigen::Index rows, Eigen::Index cols, const char* why) {
      if (x.rows() != rows || x.cols() != cols)
        throw InvalidInput(owner + ": " + field + " is (" + std::to_string(x.cols()) + ", " + std::to_string(x.rows()) +
                           "), must be (" + std::to_string(cols) + ", " + std::to_string(rows) + "): " + why);
      if (!x.allFinite()) throw InvalidInput(owner + ": " + field + " has an entry that is not finite");
    };
    if (n < 1) throw InvalidInput(owner + ": controls has no entry");
    sized(m.states, "states", member_.nq + member_.nv, n + 1, "one more than controls, by nq + nv of the robot");
    sized(m.controls, "controls", nu, n, "by the robot's joints");
    sized(m.gains, "gains", nu * 2 * member_.nv, n, "as controls, by the robot's joints times 2 nv");
    if (!(m.dt > 0) || !std::isfinite(m.dt)) throw InvalidInput(owner + ": dt = " + shown(m.dt) + " s, must be > 0");
    if (!(options.period >= 0) || !std::isfinite(options.period))
      throw InvalidInput(owner + ": period = " + shown(options.period) + " s, must be >= 0");
    refuse_broken_rotations(model, owner);
    q_ref_ = model.neutral();
    for (VecX* x : {&v_ref_, &move_}) x->setZero(model.nv);
    q_next_ = q_ref_;
    error_.setZero(2 * member_.nv);
    u_.setZero(nu);
  }

  double period() const override { return options_.period; }

  void control(const Model& model, const State& state, const Dynamics&, std::span<double>, Actuation& a) override {
    const PlannedMotion& m = *options_.motion;
    const Eigen::Index last = m.controls.cols();
    // The tolerance forgives the rounding of t: a tick at a knot belongs to the knot.
    const double slop = std::max(1e-9, 4 * std::numeric_limits<double>::epsilon() * std::abs(state.t) / m.dt);
    const double place = std::max(0.0, (state.t - options_.start) / m.dt + slop);
    const Eigen::Index knot = std::min(static_cast<Eigen::Index>(std::min(place, 1e15)), last - 1);
    const double share = std::min(place - static_cast<double>(knot), 1.0);
    interpolate(model, knot, share);
    if (place >= static_cast<double>(last)) v_ref_.setZero();
    difference(model, member_, state.q, q_ref_, move_);
    error_.head(member_.nv) = move_.segment(member_.iv, member_.nv);
    error_.tail(member_.nv) = (v_ref_ - state.v).segment(member_.iv, member_.nv);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> gain(m.gains.col(knot).data(), u_.size(), error_.size());
    u_ = m.controls.col(knot);
    u_.noalias() += gain * error_;  // (track.1)
    for (std::size_t j = 0; j < driven_.size(); ++j) a.tau[driven_[j]] += u_[static_cast<Eigen::Index>(j)];
  }

 private:
  void interpolate(const Model& model, Eigen::Index knot, double share) {
    const MatX& states = options_.motion->states;
    q_ref_.segment(member_.iq, member_.nq) = states.col(knot).head(member_.nq);
    q_next_.segment(member_.iq, member_.nq) = states.col(knot + 1).head(member_.nq);
    difference(model, member_, q_ref_, q_next_, move_);
    integrate(model, move_, share, q_ref_);
    const auto v0 = states.col(knot).tail(member_.nv), v1 = states.col(knot + 1).tail(member_.nv);
    v_ref_.segment(member_.iv, member_.nv) = v0 + share * (v1 - v0);
  }

  void refuse_broken_rotations(const Model& model, const std::string& owner) const {
    const MatX& states = options_.motion->states;
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      const int n = body.joint == JointKind::Free || body.joint == JointKind::Spherical ? 4
                    : body.joint == JointKind::Continuous                               ? 2
                                                                                        : 0;
      if (n == 0) continue;
      const int first = body.iq - member_.iq + (body.joint == JointKind::Free ? 3 : 0);
      for (Eigen::Index k = 0; k < states.cols(); ++k)
        if (const double size = states.col(k).segment(first, n).norm(); std::abs(size - 1) > 1e-3)
          throw InvalidInput(owner + ": states: the rotation of '" + body.name + "' at knot " + std::to_string(k) +
                             " has length " + shown(size) + ", must be 1");
    }
  }

  TrackingOptions options_;
  Member member_;
  std::vector<int> driven_;  // velocity coordinates of the joints
  VecX q_ref_, q_next_, v_ref_, move_, error_, u_;
};

}  // namespace

std::unique_ptr<Controller> make_tracking(const Model& model, const TrackingOptions& options) {
  return std::make_unique<Tracking>(model, options);
}

}  // namespace tribo
