// Recording to .npz that NumPy reads, with bounded memory, readable after an interruption.
//
// While a run goes on, OUT/recording.partial/ holds one .npy file an array, each valid after every flush. finish()
// packs them into OUT/recording.npz (written to a temporary name and renamed) and removes the folder.
#pragma once

#include <memory>
#include <string>

#include "tribo/scene.hpp"

namespace tribo {

class Recorder {
 public:
  /// InvalidInput where the folder cannot be made.
  Recorder(const std::string& folder, const Model& model, const RecordOptions& options, double dt);
  ~Recorder();
  Recorder(Recorder&&) noexcept;

  /// Records the step where its time has come.
  void push(const Simulation& simulation, const StepReport& report);
  /// Returns the path of the .npz.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
