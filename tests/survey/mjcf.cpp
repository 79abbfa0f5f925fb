// mjcf_survey FILE FOLDER: loads an MJCF file, which may name others below the folder, in MuJoCo and in Tribo, compares
// the two at random configurations, and prints one JSON object. scripts/mjcf runs it over folders.
#include <iostream>
#include <nlohmann/json.hpp>

#include "mujoco_pair.hpp"

using namespace tribo;

namespace {

[[noreturn]] void on_error(const char* message) { throw std::runtime_error(message); }

nlohmann::json compare(const std::string& path, const std::string& folder) {
  nlohmann::json said;
  try {
    mujoco_pair::Pair pair(path, {}, {folder});
    said["warnings"] = pair.notes.warnings;
    said["nv"] = pair.model->nv;
    double M = 0, bias = 0, passive = 0, pose = 0, shape = 0, actuator = 0;
    const bool driven = pair.m->nu > 0 && pair.m->nu == pair.m->nactuator &&
                        pair.model->members[0].actuators.size() == static_cast<std::size_t>(pair.m->nu);
    for (int trial = 0; trial < 5; ++trial) {
      pair.randomize();
      M = std::max(M, pair.mass_matrix_error());
      bias = std::max(bias, pair.bias_error());
      passive = std::max(passive, pair.passive_error());
      pose = std::max(pose, pair.pose_error());
      if (trial == 0) shape = pair.shape_error();
      if (driven) actuator = std::max(actuator, pair.actuator_error());
    }
    said["errors"] = {{"mass matrix", M}, {"bias", bias}, {"passive", passive}, {"poses", pose}, {"shapes", shape}};
    if (driven) said["errors"]["actuators"] = actuator;
    if (pair.m->ngeom <= 80) said["filter"] = pair.filter_differences();
  } catch (const InvalidInput& refused) {
    said["refused"] = refused.what();
  } catch (const std::logic_error& wrong) {
    said["wrong"] = wrong.what();
  } catch (const std::runtime_error& invalid) {
    said["invalid"] = invalid.what();
  }
  return said;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  mju_user_error = on_error;
  mju_user_warning = [](const char*) {};
  std::cout << compare(argv[1], argv[2]).dump() << "\n";
}
