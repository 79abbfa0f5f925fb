// Reference motions: sinusoids, poses, knots joined by cubics.
//   between knots, with s in [0, 1] and the velocities m of the ends:
//   q = (2s^3 - 3s^2 + 1) q0 + (s^3 - 2s^2 + s) dt m0 + (3s^2 - 2s^3) q1 + (s^3 - s^2) dt m1       (reference.1)
#include "tribo/reference.hpp"

#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

void refuse_not_finite(const MatX& x, const std::string& owner, const char* field) {
  for (Eigen::Index k = 0; k < x.size(); ++k)
    if (!std::isfinite(x.data()[k]))
      throw InvalidInput(owner + ": " + field + " of coordinate " + std::to_string(k % x.rows()) + " is not finite");
}

class SinusoidReference final : public Reference {
 public:
  explicit SinusoidReference(const Sinusoid& s) : s_(s) {
    const std::string owner = "sinusoid";
    for (const auto& [x, field] : {std::pair{&s.center, "center"}, std::pair{&s.amplitude, "amplitude"},
                                   std::pair{&s.frequency, "frequency"}, std::pair{&s.phase, "phase"}}) {
      if (x->size() != s.center.size())
        throw InvalidInput(owner + ": " + field + " has " + std::to_string(x->size()) + " entries, must have " +
                           std::to_string(s.center.size()));
      refuse_not_finite(*x, owner, field);
    }
    sine_of_phase_ = s.phase.unaryExpr([](double x) { return std::sin(x); });
  }

  int nv() const override { return static_cast<int>(s_.center.size()); }

  void at(double t, JointMotion& out) const override {
    double angle = 0, sine = 0, cosine = 1;  // joints that swing together share them
    for (Eigen::Index k = 0; k < s_.center.size(); ++k) {
      const double w = 2 * M_PI * s_.frequency[k], A = s_.amplitude[k], x = w * t + s_.phase[k];
      if (x != angle) {
        angle = x;
        sine = std::sin(x);
        cosine = std::cos(x);
      }
      out.q[k] = s_.center[k] + A * (sine - sine_of_phase_[k]);
      out.v[k] = A * w * cosine;
      out.a[k] = -A * w * w * sine;
    }
  }

 private:
  Sinusoid s_;
  VecX sine_of_phase_;
};

class ConstantReference final : public Reference {
 public:
  explicit ConstantReference(const VecX& q) : q_(q) { refuse_not_finite(q, "pose", "q"); }
  int nv() const override { return static_cast<int>(q_.size()); }
  bool moves() const override { return false; }
  void at(double, JointMotion& out) const override {
    out.q = q_;
    out.v.setZero();
    out.a.setZero();
  }

 private:
  VecX q_;
};

class SampledReference final : public Reference {
 public:
  explicit SampledReference(SampledMotion motion) : m_(std::move(motion)) {
    const std::string owner = "motion";
    if (!(m_.dt > 0) || !std::isfinite(m_.dt))
      throw InvalidInput(owner + ": dt = " + shown(m_.dt) + " s, must be finite and > 0");
    if (m_.q.cols() < 2) throw InvalidInput(owner + ": needs at least two knots");
    refuse_not_finite(m_.q, owner, "q");
    if (m_.v.size() == 0) differences();
    if (m_.v.rows() != m_.q.rows() || m_.v.cols() != m_.q.cols())
      throw InvalidInput(owner + ": v must have the shape of q");
    refuse_not_finite(m_.v, owner, "v");
  }

  int nv() const override { return static_cast<int>(m_.q.rows()); }

  void at(double t, JointMotion& out) const override {
    const Eigen::Index last = m_.q.cols() - 1;
    const double place = t / m_.dt;
    if (!(place < static_cast<double>(last))) {
      out.q = m_.q.col(last);
      out.v.setZero();
      out.a.setZero();
      return;
    }
    const Eigen::Index k = std::max<Eigen::Index>(static_cast<Eigen::Index>(place), 0);
    const double s = std::max(place - static_cast<double>(k), 0.0), dt = m_.dt;
    const auto q0 = m_.q.col(k), q1 = m_.q.col(k + 1), v0 = m_.v.col(k), v1 = m_.v.col(k + 1);
    out.q = (2 * s * s * s - 3 * s * s + 1) * q0 + (s * s * s - 2 * s * s + s) * dt * v0 +
            (3 * s * s - 2 * s * s * s) * q1 + (s * s * s - s * s) * dt * v1;  // (reference.1)
    out.v = (6 * s * s - 6 * s) / dt * (q0 - q1) + (3 * s * s - 4 * s + 1) * v0 + (3 * s * s - 2 * s) * v1;
    out.a = (12 * s - 6) / (dt * dt) * (q0 - q1) + ((6 * s - 4) * v0 + (6 * s - 2) * v1) / dt;
  }

 private:
  void differences() {
    const Eigen::Index n = m_.q.cols();
    m_.v.resize(m_.q.rows(), n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const Eigen::Index a = std::max<Eigen::Index>(k - 1, 0), b = std::min(k + 1, n - 1);
      m_.v.col(k) = (m_.q.col(b) - m_.q.col(a)) / (static_cast<double>(b - a) * m_.dt);
    }
  }

  SampledMotion m_;
};

}  // namespace

std::shared_ptr<const Reference> make_sinusoid(const Sinusoid& sinusoid) {
  return std::make_shared<SinusoidReference>(sinusoid);
}

std::shared_ptr<const Reference> make_constant(const VecX& q) { return std::make_shared<ConstantReference>(q); }

std::shared_ptr<const Reference> make_sampled(SampledMotion motion) {
  return std::make_shared<SampledReference>(std::move(motion));
}

VecX joint_positions(const Model& model, const Member& member, const VecX& q) {
  VecX out = VecX::Zero(member.nv);
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    if (nv_of(body.joint) != 1) continue;
    const int i = body.iq - member.iq;
    out[body.iv - member.iv] = body.joint == JointKind::Continuous ? std::atan2(q[i + 1], q[i]) : q[i];
  }
  return out;
}

double joint_error(const Body& body, double reference, const VecX& q) {
  if (body.joint != JointKind::Continuous) return reference - q[body.iq];
  const double c = q[body.iq], s = q[body.iq + 1], cr = std::cos(reference), sr = std::sin(reference);
  return std::atan2(sr * c - cr * s, cr * c + sr * s);
}

}  // namespace tribo
