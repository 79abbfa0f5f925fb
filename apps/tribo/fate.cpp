// A robot fell where its base, while it touches something, is lower above it than half of its height at the start, or
// turned by more than 60 degrees from the vertical of the start; or where its base is below the ground.
// Overlap is allowed up to 1 % of a robot's size and 10 % of an object's thickness (springs give way, and fast things
// are met late), 1 mm at least.
#include "fate.hpp"

#include <cmath>
#include <cstdio>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "dynamics/clearance.hpp"
#include "tribo/dynamics.hpp"

namespace tribo::app {
namespace {

constexpr double low_share = 0.5;
constexpr double steepest = M_PI / 3;  // [rad]
constexpr double wild = 50;            // [m/s]; faster than robots and what they throw
}  // namespace

Fate::Fate(const Scene& scene) : model_(*scene.model), up_(Vec3::Zero()), v_start_(scene.start.v) {
  const VecX& q = scene.start.q;
  if (model_.gravity.norm() > 0) up_ = -model_.gravity.normalized();
  for (const Geometry& g : model_.geometries)
    if (g.kind == ShapeKind::HalfSpace && g.body == -1 && g.X_BG.R.col(2).dot(up_) > std::cos(steepest) && !ground_)
      ground_ = up_.dot(g.X_BG.p);
  Dynamics dynamics(model_);
  dynamics.compute(q, VecX::Zero(model_.nv));
  for (int m = 0; m < static_cast<int>(model_.members.size()); ++m) {
    const Member& member = model_.members[at(m)];
    if (!member.robot || member.bodies == 0 || up_.isZero()) continue;
    const Body& base = model_.bodies[at(member.first_body)];
    if (base.joint != JointKind::Free) continue;
    const double height = up_.dot(q.segment<3>(base.iq)) - lowest_points(model_, dynamics, m, up_).moving;
    const Quat R(Eigen::Vector4d(q.segment<4>(base.iq + 3)));
    walkers_.push_back({m, height, R.inverse() * up_});
  }
}

void Fate::watch(Walker& walker, const Simulation& simulation) const {
  if (walker.fall) return;
  const Body& base = model_.bodies[at(model_.members[at(walker.member)].first_body)];
  const VecX& q = simulation.state().q;
  const double z = up_.dot(q.segment<3>(base.iq));
  double level = inf;  // what it touches
  for (const ContactReport& c : simulation.contacts()) {
    const bool mine = model_.geometries[at(c.geometry_a)].member == walker.member ||
                      model_.geometries[at(c.geometry_b)].member == walker.member;
    if (mine && c.f.z() > 0) level = std::min(level, up_.dot(c.p_WC));
  }
  const bool touches = std::isfinite(level);
  if (!touches && ground_ && z < *ground_) level = *ground_;
  if (!std::isfinite(level)) return;
  const Quat R(Eigen::Vector4d(q.segment<4>(base.iq + 3)));
  const double tilt = std::acos(std::clamp(up_.dot(R * walker.up_B), -1.0, 1.0));
  const bool low = !touches || z - level < low_share * walker.height;
  if (low || tilt > steepest) walker.fall = Walker::Fall{simulation.state().t, z - level, tilt, low};
}

void Fate::observe(Simulation& simulation, const StepReport& report) {
  overlaps_.observe(simulation, report);
  for (Walker& walker : walkers_) watch(walker, simulation);
  for (std::size_t m = 0; m < model_.members.size() && !thrown(); ++m) {
    const Member& member = model_.members[m];
    if (member.bodies == 0) continue;
    const Body& base = model_.bodies[at(member.first_body)];
    if (base.joint != JointKind::Free) continue;
    const double speed = simulation.state().v.segment<3>(base.iv).norm();
    if (speed > wild && speed > 3 * v_start_.segment<3>(base.iv).norm())
      throw_ = {static_cast<int>(m), speed, simulation.state().t};
  }
}

void Fate::add_to(Json& summary) const {
  summary["falls"] = Json::array();
  for (const Walker& walker : walkers_)
    if (walker.fall)
      summary["falls"].push_back({{"robot", model_.members[at(walker.member)].name},
                                  {"time", walker.fall->t},
                                  {"why", !walker.fall->low              ? "tilted"
                                          : std::isfinite(walker.height) ? "low"
                                                                         : "below"},
                                  {"height", walker.fall->height},
                                  {"start_height", walker.height},
                                  {"tilt", walker.fall->tilt}});
  summary["thrown"] = Json::array();
  if (thrown())
    summary["thrown"].push_back(
        {{"name", model_.members[at(throw_.member)].name}, {"speed", throw_.speed}, {"time", throw_.t}});
  const OverlapWatch::Overlap& overlap = overlaps_.worst();
  summary["overlap"] = {{"too_deep", overlap.share() > 1}};
  if (overlap.geometry_a >= 0)
    summary["overlap"].update({{"depth", overlap.depth},
                               {"allowed", overlap.allowed},
                               {"time", overlap.t},
                               {"between", Json::array({model_.geometries[at(overlap.geometry_a)].name,
                                                        model_.geometries[at(overlap.geometry_b)].name})}});
}

void print_fate(const Json& summary) {
  const auto text = [](const Json& x) { return shown(x.get<double>()); };
  for (const Json& fall : summary["falls"]) {
    const double degrees = std::round(fall["tilt"].get<double>() * 180 / M_PI);
    const std::string why = fall["why"] == "below" ? "below the ground: nothing of it touches"
                            : fall["why"] == "low" ? "at " + text(fall["height"]) + " m, below half of the " +
                                                         text(fall["start_height"]) + " m of the start"
                                                   : "tilted by " + shown(degrees) + " degrees";
    std::printf("%-14s '%s' at t = %s s: base %s\n", "FELL", fall["robot"].get<std::string>().c_str(),
                text(fall["time"]).c_str(), why.c_str());
  }
  for (const Json& flung : summary["thrown"])
    std::printf("%-14s '%s' at t = %s s: it moves at %s m/s\n", "THROWN", flung["name"].get<std::string>().c_str(),
                text(flung["time"]).c_str(), text(flung["speed"]).c_str());
  if (summary["status"] == to_string(StepStatus::NotFinite))
    std::printf("%-14s at t = %s s: the next step has no finite answer\n", "DIVERGED",
                text(summary["end_time"]).c_str());
  const Json& overlap = summary["overlap"];
  if (overlap["too_deep"].get<bool>())
    std::printf("%-14s '%s' and '%s' by %s m at t = %s s; contact allows for %s m\n", "OVERLAP",
                overlap["between"][0].get<std::string>().c_str(), overlap["between"][1].get<std::string>().c_str(),
                text(overlap["depth"]).c_str(), text(overlap["time"]).c_str(), text(overlap["allowed"]).c_str());
}

}  // namespace tribo::app
