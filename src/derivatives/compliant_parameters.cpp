// The slope of a compliant step by parameters: further columns behind those of the inputs. Inertia moves vdot, the tensor dG of
// (deriv.25) and N_k as a coordinate does, by (param.1); gains and damping are K and B of joint springs, which (flow.2) has;
// friction that slips,
//   ds = f1_N d dmu  beside (deriv.28)                                                                        (param.5)
#include "derivatives/compliant_derivative.hpp"

namespace tribo {

const char* CompliantDerivative::why_differences(const StepInput& step, std::span<const Parameter> parameters) const {
  const Actuation& a = step.actuation;
  for (const Parameter& p : parameters) {
    if (p.kind == Parameter::Kind::DryFriction) return "dry friction is a spring with a stiffness of its own";
    for (int k = 0; k < model_.nv; ++k)
      if (p.moves_inertia() && a.has_target(k)) return "the gains of velocity targets follow the inertia";
    for (int k = p.first_dof; k < p.end_dof; ++k) {
      const bool none = p.kind == Parameter::Kind::Kp ? a.kp[k] == 0 : a.kp[k] == 0 && a.kd[k] == 0;
      if ((p.kind == Parameter::Kind::Kp || p.kind == Parameter::Kind::Kd) && none && !a.has_target(k))
        return "a gain of a drive that has none";
      if (p.kind == Parameter::Kind::Damping && model_.joints.damping[k] == 0)
        return "damping of a joint that has none";
    }
  }
  return nullptr;
}

// a, K and B of (joint.1), of drives and dampers.
void CompliantDerivative::parameter_springs() {
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  each_parameter([&](const Parameter& p, int i, int) {
    for (std::size_t j = 0; j < springs.size(); ++j) {
      const JointSpring& s = springs[j];
      const int row = static_cast<int>(j), column = model_.nv + i;
      if (!p.acts_on(s.dof) || p.of_body()) continue;
      const bool drive = s.kind == JointSpring::Kind::Drive && !s.target;
      if (p.kind == Parameter::Kind::Damping && s.kind == JointSpring::Kind::Damping) dampers_(row, column) = 1;
      if (p.kind == Parameter::Kind::Kd && drive) dampers_(row, column) = 1;
      if (p.kind == Parameter::Kind::Kp && drive) stiffeners_(row, column) = 1;
    }
  });
}

// In W: df_W = R df + dw x f_W (force.1).
void CompliantDerivative::store_forces() {
  const int nv = model_.nv;
  forces_out_.clear(2 * nv + columns_.inputs);
  for (int i = 0; i < contacts(); ++i) {
    const Contact& contact = acting(at(i));
    ContactForces::One& one = forces_out_.add();
    one.id = contact.id;
    one.geometry_a = contact.geometry_a;
    one.geometry_b = contact.geometry_b;
    one.f_W = contact.R_WC * active(at(i)).mean;
    one.n_W = contact.R_WC.col(2);
    for (int c = 0; c < columns_.all(); ++c) {
      if (c >= 2 * nv && c < columns_.state()) continue;  // memory
      const Vec3 df(forces_(3 * i, c), forces_(3 * i + 1, c), forces_(3 * i + 2, c));
      Vec3 df_W = contact.R_WC * df;
      if (c < nv) df_W += Vec3(dw_(3 * i, c), dw_(3 * i + 1, c), dw_(3 * i + 2, c)).cross(one.f_W);
      auto row = forces_out_.slopes.row(c < 2 * nv ? c : c - columns_.memory);
      for (int r = 0; r < 3; ++r) row[4 * i + r] = df_W[r];
      row[4 * i + 3] = df[2];
    }
  }
}

}  // namespace tribo
