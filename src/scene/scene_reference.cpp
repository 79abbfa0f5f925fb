// The keys of a reference motion and of effort limits, and the controllers that take them beside pd.
#include <cmath>
#include <filesystem>

#include "scene/knots.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

std::shared_ptr<const Reference> read_sinusoid(Section& section, const Model& model, const Member& member,
                                               const VecX& center) {
  Sinusoid s;
  s.center = center;
  s.amplitude = per_joint(section, "amplitude", model, member, Bound::Any, 0);
  s.frequency = per_joint(section, "frequency", model, member, Bound::NonNegative, 0.5);
  s.phase = per_joint(section, "phase", model, member, Bound::Any, 0);
  section.finish();
  return section.at("", [&] { return make_sinusoid(s); });
}

Trot read_trot(Section& section, const Scene& scene) {
  Trot trot;
  trot.period = section.number("period", trot.period, Bound::Positive);
  trot.swing = section.number("swing", trot.swing, Bound::Positive);
  trot.height = section.number("height", trot.height, Bound::NonNegative);
  trot.speed = section.number("speed", trot.speed);
  trot.ramp = section.number("ramp", trot.ramp, Bound::NonNegative);
  trot.duration = section.number("duration", scene.duration, Bound::Positive);
  section.finish();
  return trot;
}

// A .npz with dt (one number) and q, or v beside it: one row a knot, one column a joint, in the order of the robot.
std::shared_ptr<const Reference> read_motion(Section& section, const Model& model, const Member& member) {
  namespace fs = std::filesystem;
  fs::path path = section.text("motion");
  if (path.is_relative()) path = fs::path(section.file()).parent_path() / path;
  return section.at("motion", [&] {
    const NpzReader file(path.string(), std::uint64_t{1} << 28);
    SampledMotion motion;
    motion.dt = time_between_knots(file);
    motion.q = joints_of_knots(file, "q", model, member);
    if (file.has("v")) motion.v = joints_of_knots(file, "v", model, member);
    return make_sampled(std::move(motion));
  });
}

TargetOptions read_target(Section& section) {
  TargetOptions target;
  target.law =
      section.choice("target", "position", {"position", "velocity"}) == "velocity" ? TargetLaw::Velocity : target.law;
  target.share = section.number("share", target.share, Bound::NonNegative);
  return target;
}

// What controllers of a reference have in common.
template <class Own>
Own read_followed(Section& section, const Scene& scene, const ControllerSpec& spec) {
  const Model& model = *scene.model;
  const Member& member = model.members[at(spec.member)];
  Own options = plain_keys<Own>(section, spec.name);
  options.member = spec.member;
  const VecX q_ref = read_pose(section, model, member, scene.start.q.segment(member.iq, member.nq));
  options.reference = read_reference(section, scene, spec.member, q_ref);
  options.target = read_target(section);
  options.limits = read_limits(section, model, member);
  return options;
}

}  // namespace

VecX per_joint(Section& section, const std::string& key, const Model& model, const Member& member, Bound bound,
               double fallback) {
  VecX out = VecX::Zero(member.nv);
  auto set = [&](const Body& body, double value) { out[body.iv - member.iv] = value; };
  const TomlValue* given = section.value(key);
  const double all = given != nullptr && given->is_number() ? section.number_of(*given, key, bound) : fallback;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
    if (nv_of(model.bodies[at(b)].joint) == 1) set(model.bodies[at(b)], all);
  if (given != nullptr && !given->is_number()) by_joint(section, key, model, member, bound, set);
  return out;
}

std::shared_ptr<const Reference> read_reference(Section& section, const Scene& scene, int member_index,
                                                const VecX& q_ref) {
  const Model& model = *scene.model;
  const Member& member = model.members[at(member_index)];
  const int given = section.has("sinusoid") + section.has("trot") + section.has("motion");
  if (given > 1) section.fail(section.table(), "takes one of 'sinusoid', 'trot' and 'motion'");
  const VecX center = joint_positions(model, member, q_ref);
  if (section.has("sinusoid")) {
    Section inner = section.inner("sinusoid");
    return read_sinusoid(inner, model, member, center);
  }
  if (section.has("trot")) {
    Section inner = section.inner("trot");
    const Trot trot = read_trot(inner, scene);
    return inner.at("", [&] { return make_trot(model, member_index, scene.start.q, trot); });
  }
  return section.has("motion") ? read_motion(section, model, member) : make_constant(center);
}

EffortLimits read_limits(Section& section, const Model& model, const Member& member) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EffortLimits limits;
  if (!section.has("effort") && !section.has("effort_lower") && !section.has("effort_upper")) return limits;
  limits.upper = per_joint(section, "effort", model, member, Bound::NonNegative, inf);
  limits.lower = -limits.upper;
  if (section.has("effort_upper")) limits.upper = per_joint(section, "effort_upper", model, member, Bound::Any, inf);
  if (section.has("effort_lower")) limits.lower = per_joint(section, "effort_lower", model, member, Bound::Any, -inf);
  return limits;
}

void read_velocity_constraint(Section& section, const Scene& scene, ControllerSpec& spec) {
  const Model& model = *scene.model;
  const Member& member = model.members[at(spec.member)];
  auto options = read_followed<VelocityConstraintOptions>(section, scene, spec);
  if (section.has("driven")) {
    options.driven.setZero(member.nv);
    by_joint(section, "driven", model, member, Bound::NonNegative,
             [&](const Body& body, double value) { options.driven[body.iv - member.iv] = value; });
  }
  spec.make = [options](const Model& m) { return make_velocity_constraint(m, options); };
}

void read_trot_constraint(Section& section, const Scene& scene, ControllerSpec& spec) {
  const Model& model = *scene.model;
  auto options = plain_keys<TrotConstraintOptions>(section, spec.name);
  options.member = spec.member;
  if (section.has("trot")) {
    Section inner = section.inner("trot");
    options.trot = read_trot(inner, scene);
  }
  options.q_stand = scene.start.q;
  options.limits = read_limits(section, model, model.members[at(spec.member)]);
  spec.make = [options](const Model& m) { return make_trot_constraint(m, options); };
}

void read_inverse_dynamics(Section& section, const Scene& scene, ControllerSpec& spec) {
  auto options = read_followed<InverseDynamicsOptions>(section, scene, spec);
  spec.make = [options](const Model& m) { return make_inverse_dynamics(m, options); };
}

}  // namespace tribo
