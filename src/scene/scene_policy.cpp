// The controller that runs a trained policy from a file.
#include <filesystem>
#include <sstream>

#include "io/npy.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/policy.hpp"

namespace tribo {
namespace {

constexpr std::uint64_t most_layers = 64;

VecX vector_of(const NpzReader& file, const std::string& name) {
  const NpyArray array = file.read(name);
  if (array.shape.size() != 1)
    throw InvalidInput(array.owner + " has shape " + array.shape_text() + ", must be one row of numbers");
  const std::vector<double> x = array.finite_numbers();
  return Eigen::Map<const VecX>(x.data(), static_cast<Eigen::Index>(x.size()));
}

MatX matrix_of(const NpzReader& file, const std::string& name) {
  const NpyArray array = file.read(name);
  if (array.shape.size() != 2)
    throw InvalidInput(array.owner + " has shape " + array.shape_text() + ", must have two dimensions");
  const std::vector<double> x = array.finite_numbers();
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Rows>(x.data(), static_cast<Eigen::Index>(array.shape[0]),
                                static_cast<Eigen::Index>(array.shape[1]));
}

std::vector<std::string> lines(const NpyArray& array) {
  std::istringstream text(std::string(array.bytes.begin(), array.bytes.end()));
  std::vector<std::string> list;
  for (std::string line; std::getline(text, line);) list.push_back(line);
  return list;
}

}  // namespace

Policy load_policy(const std::string& path) {
  const NpzReader file(path, std::uint64_t{1} << 28);
  for (const char* name : {"layers", "mean", "std", "pose", "lift", "stride", "phase", "numbers", "layout", "joints"})
    if (!file.has(name))
      throw InvalidInput(path + ": has no array '" + name + "'; a policy is written by tribo.Policy.save");
  Policy policy;
  policy.mean = vector_of(file, "mean");
  policy.std = vector_of(file, "std");
  policy.pose = vector_of(file, "pose");
  policy.lift = vector_of(file, "lift");
  policy.phase = vector_of(file, "phase");
  policy.stride = matrix_of(file, "stride");
  policy.joints = lines(file.read("joints"));
  const VecX numbers = vector_of(file, "numbers");
  if (numbers.size() != 5)
    throw InvalidInput(path + ": array 'numbers' has " + std::to_string(numbers.size()) +
                       " entries, must have 5: reach, kp, kd, period, frequency");
  policy.reach = numbers[0];
  policy.kp = numbers[1];
  policy.kd = numbers[2];
  policy.period = numbers[3];
  policy.frequency = numbers[4];
  for (double x : vector_of(file, "layout")) {
    if (!(x >= 0) || x > static_cast<double>(PolicyTerm::Clock))
      throw InvalidInput(path + ": array 'layout' names an observation that is not known");
    policy.layout.push_back(static_cast<PolicyTerm>(static_cast<int>(x)));
  }
  const NpyArray layers = file.read("layers");
  const double n = layers.size() == 1 ? layers.number(0) : 0;
  if (!(n >= 1) || n > static_cast<double>(most_layers))
    throw InvalidInput(layers.owner + " must be one number from 1 to " + std::to_string(most_layers));
  for (int i = 0; i < static_cast<int>(n); ++i) {
    policy.weights.push_back(matrix_of(file, "weight" + std::to_string(i)));
    policy.biases.push_back(vector_of(file, "bias" + std::to_string(i)));
  }
  return policy;
}

void read_policy(Section& section, const Scene&, ControllerSpec& spec) {
  namespace fs = std::filesystem;
  const std::string given = section.text("file");
  // Beside the scene file, as long as the path is relative.
  const std::string path = (fs::path(section.file()).parent_path() / given).string();
  auto options = plain_keys<PolicyOptions>(section, spec.name);
  options.member = spec.member;
  options.policy = section.at("file", [&] { return std::make_shared<const Policy>(load_policy(path)); });
  spec.make = [options](const Model& model) { return make_policy(model, options); };
}

}  // namespace tribo
