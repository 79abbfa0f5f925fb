#include "tribo/state.hpp"

#include "base/hash.hpp"

namespace tribo {

std::uint64_t Random::next() {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

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

State State::neutral(const Model& model) {
  State state;
  state.model = model.hash();
  state.q = model.neutral();
  state.v.setZero(model.nv);
  state.tau.setZero(model.nv);
  return state;
}

std::uint64_t hash(const State& state) {
  Hash hash;
  hash.add(state.model).add(state.step).add(state.t).add(state.q).add(state.v).add(state.tau);
  if (!state.contacts.empty()) hash.add(static_cast<int>(state.family));
  for (const ContactMemory& c : state.contacts) {
    hash.add(c.id).add(c.f).add(c.t1).add(c.anchor).add(c.point).add(c.rest);
    hash.add(static_cast<int>(c.mode)).add(static_cast<int>(c.touched));
  }
  for (double x : state.control) hash.add(x);
  return hash.add(state.random.state).value();
}

}  // namespace tribo
