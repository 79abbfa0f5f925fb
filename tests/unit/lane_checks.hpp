// How worlds in lanes are compared with the scalar step, and with themselves elsewhere.
#pragma once

#include <doctest/doctest.h>

#include <cmath>

#include "lanes/lanes.hpp"
#include "tribo/batch.hpp"

namespace tribo {

struct Noise {
  Random random;
  double operator()(double most) { return most * (2 * random.uniform() - 1); }
};

struct Difference {
  double q = 0, v = 0, force = 0;
  int moved = 0, steps = 0, limited = 0;  // limited: drives at a limit of effort at the end of a step
};

/// Steps of `worlds` worlds in lanes; before each, a simulation of its own gets the same state and commands. Targets jump
/// every ten steps.
inline Difference compare(const Scene& scene, const lanes::Kernel& kernel, int worlds, int steps, double jump) {
  const Model& model = *scene.model;
  std::vector<PdOptions> drives;
  for (const ControllerSpec& spec : scene.controllers) drives.push_back(*spec.pd);
  REQUIRE(lanes::uncovered(model, scene.stepper, scene.stepper_options, drives) == "");
  lanes::Lanes packs(model, scene.stepper_options, scene.dt, drives, worlds, 1, kernel);
  Batch beside(scene, worlds, 1);
  const std::vector<double> rest(beside.target().begin(), beside.target().end());
  for (int w = 0; w < worlds; ++w) packs.put(w, scene.start);
  Noise noise;
  Difference d;
  lanes::Lanes::Room room(packs);
  State state = scene.start;
  for (int i = 0; i < steps; ++i) {
    if (i % 10 == 0)
      for (std::size_t k = 0; k < rest.size(); ++k) beside.target()[k] = rest[k] + noise(jump);
    const std::vector<double> target(beside.target().begin(), beside.target().end());
    for (int w = 0; w < worlds; ++w) {
      packs.take(w, state);
      beside.set_state(w, state);  // clears the commands
    }
    std::copy(target.begin(), target.end(), beside.target().begin());
    for (int p = 0; p < packs.packs(); ++p) {
      packs.read_commands(p, {target.data(), beside.torque_in().data(), beside.gains().data()});
      const unsigned moved = packs.step(p, (1u << packs.worlds_of(p)) - 1, room);
      d.moved += __builtin_popcount(moved);
      d.steps += packs.worlds_of(p);
    }
    beside.step();
    for (int w = 0; w < worlds; ++w) {
      packs.take(w, state);
      const State alone = beside.state(w);
      if (state.step != alone.step) {  // left to the scalar step
        packs.put(w, alone);
        continue;
      }
      CHECK(state.t == alone.t);
      for (int k = 6; k < model.nv; ++k)
        d.limited +=
            std::abs(beside.torque()[static_cast<std::size_t>(w * model.nv + k)]) == model.joints.effort_limit[k];
      d.q = std::max(d.q, (state.q - alone.q).cwiseAbs().maxCoeff());
      d.v = std::max(d.v, (state.v - alone.v).cwiseAbs().maxCoeff());
      std::vector<ContactReport> contacts;
      packs.contacts(w, contacts);
      const std::vector<ContactReport> expected = beside.contacts(w);
      double sum = 0;
      for (const ContactReport& c : contacts) sum += c.f.z();
      for (const ContactReport& c : expected) sum -= c.f.z();
      d.force = std::max(d.force, std::abs(sum));
    }
  }
  return d;
}

inline std::vector<const lanes::Kernel*> kernels() {
  std::vector<const lanes::Kernel*> list;
  for (const char* name : {"base", "avx2", "avx512"})
    if (const lanes::Kernel* kernel = lanes::kernel_named(name)) list.push_back(kernel);
  return list;
}

/// Targets of each world from a seed of its own.
inline void aim(Batch& batch, int world, int seed, int round, double jump) {
  const std::size_t nq = batch.target().size() / static_cast<std::size_t>(batch.worlds());
  Noise noise{{static_cast<std::uint64_t>(1000 * seed + round + 1)}};
  const VecX& rest = batch.scene().start.q;
  for (std::size_t k = 7; k < nq; ++k)
    batch.target()[static_cast<std::size_t>(world) * nq + k] = rest[static_cast<Eigen::Index>(k)] + noise(jump);
}

/// World w plays the part seeds[w].
inline std::vector<std::uint64_t> play(const Scene& scene, const std::vector<int>& seeds, int threads, double jump) {
  Batch batch(scene, static_cast<int>(seeds.size()), threads, {}, {}, true);
  REQUIRE(batch.lanes().find("lanes") != std::string::npos);
  for (int round = 0; round < 12; ++round) {
    for (int w = 0; w < batch.worlds(); ++w) aim(batch, w, seeds[static_cast<std::size_t>(w)], round, jump);
    batch.step(7);
  }
  std::vector<std::uint64_t> hashes(seeds.size());
  for (int w = 0; w < batch.worlds(); ++w)
    hashes[static_cast<std::size_t>(seeds[static_cast<std::size_t>(w)])] = batch.hash(w);
  return hashes;
}

}  // namespace tribo
