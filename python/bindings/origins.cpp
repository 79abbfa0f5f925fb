#include "origins.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/hash.hpp"

namespace tribo::python {
namespace {

std::mutex door;
using Known = std::map<std::uint64_t, std::vector<SceneOrigin>>;
Known& of_scenes() {
  static Known known;
  return known;
}
Known& of_models() {
  static Known known;
  return known;
}

/// What a program does not change of a scene after loading it.
std::uint64_t fingerprint(const Scene& scene) {
  Hash hash;
  hash.add(scene.model->hash()).add(scene.name).add(scene.source);
  for (const ControllerSpec& spec : scene.controllers) {
    hash.add(spec.name).add(spec.member);
    if (spec.pd) hash.add(static_cast<int>(spec.pd->weight != nullptr));
    if (spec.pd)
      for (const VecX* x : {&spec.pd->q_ref, &spec.pd->kp, &spec.pd->kd, &spec.pd->tau_ff})
        for (double y : *x) hash.add(y);
  }
  return hash.value();
}

std::string chosen(const Scene& s) {
  return s.stepper + "/" + s.stepper_options.contact.model + "/" + s.stepper_options.contact.solver + "/" +
         std::to_string(s.dt) + "/" + std::to_string(s.duration);
}

bool same(const SceneOrigin& a, const SceneOrigin& b) {
  return a.scene == b.scene && a.text == b.text && a.controller == b.controller &&
         std::equal(a.settings.begin(), a.settings.end(), b.settings.begin(), b.settings.end(),
                    [](const Override& x, const Override& y) { return x.path == y.path && x.value == y.value; });
}

void keep(Known& known, std::uint64_t key, const SceneOrigin& origin) {
  constexpr std::size_t most = 4096;  // a program that makes more does not send all of them
  if (known.size() >= most) known.clear();
  std::vector<SceneOrigin>& list = known[key];
  if (std::none_of(list.begin(), list.end(), [&](const SceneOrigin& o) { return same(o, origin); }))
    list.push_back(origin);
}

std::vector<SceneOrigin> find(const Known& known, std::uint64_t key) {
  const std::lock_guard lock(door);
  const auto found = known.find(key);
  return found == known.end() ? std::vector<SceneOrigin>{} : found->second;
}

}  // namespace

void remember_origin(const Scene& scene, SceneOrigin origin) {
  const std::lock_guard lock(door);
  origin.chosen = chosen(scene);
  keep(of_scenes(), fingerprint(scene), origin);
  keep(of_models(), scene.model->hash(), origin);
}

std::vector<SceneOrigin> origins_of(const Scene& scene) {
  std::vector<SceneOrigin> list = find(of_scenes(), fingerprint(scene)), alike;
  for (const SceneOrigin& origin : list)
    if (origin.chosen == chosen(scene)) alike.push_back(origin);
  return alike.size() == 1 ? alike : list;
}

std::vector<SceneOrigin> origins_of(const Model& model) {
  std::vector<SceneOrigin> list = find(of_models(), model.hash());
  if (list.size() > 1) list.resize(1);  // each of them makes this model
  return list;
}

}  // namespace tribo::python
