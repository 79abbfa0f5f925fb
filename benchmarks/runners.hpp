// A side of the comparison: a simulator at a scene, stepped in equal blocks from one kept state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mujoco_peer.hpp"
#include "tribo/scene.hpp"

namespace tribo::bench {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void step(int steps) = 0;
  virtual void start(const State& state) = 0;  ///< q and v only
  virtual void keep() = 0;
  virtual void restore() = 0;
  virtual int contacts() const = 0;
  virtual double overlap() const = 0;  ///< of the deepest contact [m]
  virtual Vec3 center_of_mass() = 0;
  virtual std::string trouble() const = 0;  ///< "" where none
};

/// rigid, NCP, default solver, relative tolerance 1e-6.
StepperOptions tribo_options(AuditLevel audit, bool recovery = true);

class TriboRunner final : public Runner {
 public:
  TriboRunner(const Scene& scene, const StepperOptions& options);
  void step(int steps) override;
  void start(const State& state) override;
  void keep() override { kept_ = simulation_.state(); }
  void restore() override { simulation_.set_state(kept_); }
  int contacts() const override { return last_.contacts; }
  double overlap() const override { return last_.penetration; }
  Vec3 center_of_mass() override;
  std::string trouble() const override;
  void keep(const State& state) { kept_ = state; }
  const State& state() const { return simulation_.state(); }

 private:
  Simulation simulation_;
  State kept_;
  StepReport last_;
};

class MujocoRunner final : public Runner {
 public:
  /// divide: steps of MuJoCo in one of the scene.
  MujocoRunner(const Scene& scene, const MjcfOptions& options, int divide = 1)
      : peer(scene, options), divide_(divide) {}
  void step(int steps) override {
    for (int k = 0; k < divide_ * steps; ++k) peer.step();
  }
  void start(const State& state) override { peer.set_state(state); }
  void keep() override { peer.keep(); }
  void restore() override { peer.restore(); }
  int contacts() const override { return peer.contacts(); }
  double overlap() const override { return peer.overlap(); }
  Vec3 center_of_mass() override { return peer.center_of_mass(); }
  std::string trouble() const override { return peer.warnings(); }

  MujocoPeer peer;

 private:
  int divide_;
};

}  // namespace tribo::bench
