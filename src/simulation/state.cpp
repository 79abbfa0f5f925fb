#include "tribo/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/names.hpp"

namespace tribo {

std::uint64_t Random::next() {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

void Clock::set(double t, double step) {
  if (step != dt || t != time()) *this = {t, step, 0};
}

std::int64_t Clock::period_number(double period) const {
  constexpr double eps = std::numeric_limits<double>::epsilon(), most = 0x1p52;
  const double ratio = period / dt, whole = std::round(ratio), first = start / dt;
  if (whole >= 1 && std::abs(ratio - whole) <= 1e-12 * whole && whole < most && std::abs(first) < most) {
    const double slop = std::max(1e-6, 4 * eps * std::abs(first));
    const auto index = static_cast<std::int64_t>(std::floor(first + slop)) + static_cast<std::int64_t>(steps);
    const auto n = static_cast<std::int64_t>(whole);
    return index >= 0 ? index / n : -((n - 1 - index) / n);
  }
  const double t = time(), slop = std::max(1e-6 * dt, 4 * eps * std::abs(t));
  return static_cast<std::int64_t>(std::clamp(std::floor((t + slop) / period), -most, most));
}

std::string to_string(MemoryFamily family) {
  switch (family) {
    case MemoryFamily::Unknown:
      return "unknown";
    case MemoryFamily::Rigid:
      return "rigid";
    case MemoryFamily::Compliant:
      return "compliant";
    case MemoryFamily::Momentum:
      return "momentum";
  }
  return "";
}

void check_memory(const Memory& m) {
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  if (!std::is_sorted(m.contacts.begin(), m.contacts.end(), by_id) ||
      !std::is_sorted(m.rows.begin(), m.rows.end(), by_id))
    throw InvalidInput("what the state remembers of contacts is not sorted by id");
  const auto require = [&](const char* what, std::size_t is, bool own) {
    const std::size_t must = own ? m.contacts.size() : 0;
    if (is != must)
      throw InvalidInput("the state holds " + std::to_string(is) + " " + what + " for " +
                         std::to_string(m.contacts.size()) + " contacts of the " + to_string(m.family) +
                         " family, must be " + std::to_string(must));
  };
  require("anchors", m.anchors.size(), m.family == MemoryFamily::Compliant);
  require("referential points", m.references.size(), m.family == MemoryFamily::Momentum);
  if (!m.rows.empty() && m.family == MemoryFamily::Momentum)
    throw InvalidInput("the state holds forces of joint rows, and its memory is of the " + to_string(m.family) +
                       " family");
}

State State::neutral(const Model& model) {
  State state;
  state.model = model.hash();
  state.q = model.neutral();
  state.v.setZero(model.nv);
  return state;
}

void State::move_kinematic(const Model& m, int k, const Placement& to, double time, double dt) {
  if (k < 0 || k >= static_cast<int>(m.kinematic.size()))
    throw InvalidInput("there is no kinematic body " + std::to_string(k) + " of " + std::to_string(m.kinematic.size()));
  const std::string& name = m.kinematic[at(k)].name;
  if (!(time >= 0) || !std::isfinite(time))
    throw InvalidInput("kinematic body '" + name + "' moves within " + shown(time) + " s, must be finite and >= 0");
  const double end = t + std::max(1.0, std::round(time / dt)) * dt;
  const KinematicCommand command{k, t, end, kinematic_pose(m, k, kinematic_time()), to};
  check_commands(m, {&command, 1});
  const auto place = std::lower_bound(kinematic.begin(), kinematic.end(), k,
                                      [](const KinematicCommand& c, int body) { return c.body < body; });
  if (place != kinematic.end() && place->body == k)
    *place = command;
  else
    kinematic.insert(place, command);
}

std::uint64_t hash(const State& state) {
  Hash hash;
  hash.add(state.model).add(state.step).add(state.t).add(state.q).add(state.v);
  hash.add(state.clock.start).add(state.clock.dt).add(state.clock.steps);
  const Memory& m = state.memory;
  if (!m.empty()) hash.add(static_cast<int>(m.family)).add(m.contacts.size()).add(m.rows.size());
  for (const ContactMemory& c : m.contacts)
    hash.add(c.id).add(c.f).add(c.t1).add(static_cast<int>(c.mode)).add(static_cast<int>(c.touched));
  for (const RowMemory& r : m.rows) hash.add(r.id).add(r.f).add(r.patience);
  for (const AnchorMemory& a : m.anchors) hash.add(a.anchor).add(a.point).add(a.rest);
  for (const ReferenceMemory& r : m.references) hash.add(r.reference).add(r.point).add(r.last).add(r.last_gap);
  for (double x : state.control) hash.add(x);
  for (const KinematicCommand& c : state.kinematic) {
    hash.add(c.body).add(c.start).add(c.end);
    for (const Placement* X : {&c.from, &c.to}) hash.add(X->R).add(X->p);
  }
  return hash.add(state.random.state).value();
}

}  // namespace tribo
