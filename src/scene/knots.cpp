#include "scene/knots.hpp"

#include <cmath>

#include "base/names.hpp"

namespace tribo {

double time_between_knots(const NpzReader& file) {
  const NpyArray dt = file.read("dt");
  if (dt.size() != 1) throw InvalidInput(dt.owner + " has shape " + dt.shape_text() + ", must be one number");
  const double x = dt.number(0);
  if (!(x > 0) || !std::isfinite(x)) throw InvalidInput(dt.owner + " is " + shown(x) + " s, must be finite and > 0");
  return x;
}

MatX knots_of(const NpyArray& array, std::uint64_t columns, const std::string& meaning) {
  if (array.shape.size() != 2 || array.shape[1] != columns || array.shape[0] < 2)
    throw InvalidInput(array.owner + " has shape " + array.shape_text() + ", must be (knots, " +
                       std::to_string(columns) + "): " + meaning);
  const std::vector<double> numbers = array.finite_numbers();
  return Eigen::Map<const MatX>(numbers.data(), static_cast<Eigen::Index>(columns),
                                static_cast<Eigen::Index>(array.shape[0]));
}

MatX joints_of_knots(const NpzReader& file, const std::string& name, const Model& model, const Member& member) {
  std::vector<int> joints;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
    if (nv_of(model.bodies[at(b)].joint) == 1) joints.push_back(model.bodies[at(b)].iv - member.iv);
  const MatX numbers = knots_of(file.read(name), joints.size(), "one column a joint");
  MatX x = MatX::Zero(member.nv, numbers.cols());
  for (std::size_t j = 0; j < joints.size(); ++j) x.row(joints[j]) = numbers.row(static_cast<Eigen::Index>(j));
  return x;
}

}  // namespace tribo
