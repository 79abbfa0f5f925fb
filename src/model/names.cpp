// What a model calls by name: one set of rules for bodies, frames, geometries and members.
#include "base/names.hpp"

#include "tribo/model.hpp"

namespace tribo {
namespace {

template <class Items>
int find(const Items& items, const std::string& name, const std::string& what) {
  return find_name(what, name, items.size(), [&](std::size_t i) -> const std::string& { return items[i].name; });
}

}  // namespace

int Model::member(const std::string& name) const { return find(members, name, "robot or object"); }
int Model::frame(const std::string& name) const { return find(frames, name, "frame"); }
int Model::geometry(const std::string& name) const { return find(geometries, name, "geometry"); }

int Model::body(const std::string& name) const {
  const std::size_t n = bodies.size();
  const int found = find_name("body", name, n + kinematic.size(), [&](std::size_t i) -> const std::string& {
    return i < n ? bodies[i].name : kinematic[i - n].name;
  });
  return found < static_cast<int>(n) ? found : kinematic_body(found - static_cast<int>(n));
}

Place Model::place(const std::string& name) const {
  const std::size_t m = members.size(), b = m + bodies.size(), k = b + kinematic.size();
  const auto name_of = [&](std::size_t i) -> const std::string& {
    return i < m ? members[i].name : i < b ? bodies[i - m].name : i < k ? kinematic[i - b].name : frames[i - k].name;
  };
  const auto i = static_cast<std::size_t>(find_name("robot, object, body or frame", name, k + frames.size(), name_of));
  if (i < m) return {members[i].first_body, {}, false};
  if (i < b) return {static_cast<int>(i - m), {}, false};
  if (i < k) return {kinematic_body(static_cast<int>(i - b)), {}, false};
  return {frames[i - k].body, frames[i - k].X_BF, true};
}

}  // namespace tribo
