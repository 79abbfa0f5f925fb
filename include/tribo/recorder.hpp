// Recording to .npz that NumPy reads, with bounded memory, readable after an interruption.
//
// While a run goes on, OUT/recording.partial/ holds one .npy file an array, each valid after every flush. finish()
// packs them into OUT/recording.npz (written to a temporary name and renamed) and removes the folder. After a kill, the
// first len(time.npy) rows of every array are whole; the next run, or `tribo recover OUT`, packs them. OUT/tribo.lock
// stands as long as the recorder lives.
//
// Arrays of n records and m contacts in all: time, q, v, tau, kinematic_pose (where there are such bodies), status, solver_iterations, residual, penetration, the
// laws (signorini, coulomb, dissipation), the energy lines, contact_start (n + 1), contact_* (m), and meta (JSON as
// bytes). With a period longer than the step, work and iterations are summed and residuals are the worst since the last
// record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/run.hpp"
#include "tribo/scene.hpp"

namespace tribo {

/// How the scene was asked for beside its `source`, so that it can be found again from the recording.
struct RecordingRequest {
  std::string controller;
  std::vector<Override> settings;
};

class Recorder : public Observer {
 public:
  /// InvalidInput where the folder cannot be made, or another writes to it: the message names who does, and since when.
  /// A recording.partial that a killed run left is packed as recording.N.npz, with the first N that is free.
  Recorder(const std::string& folder, const Scene& scene, const RecordingRequest& request = {});
  ~Recorder() override;
  Recorder(Recorder&&) noexcept;

  /// Records the step where its time has come.
  void observe(Simulation& simulation, const StepReport& report) override {
    push(simulation.state(), simulation.torque(), simulation.contacts(), report);
  }
  void push(const State& state, const VecX& torque, const std::vector<ContactReport>& contacts,
            const StepReport& report);
  /// Where the recording of a killed run is kept that was found in the folder; "" where there was none.
  const std::string& rescued() const;
  /// Returns the path of the .npz.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
