// What sensors measure at the end of a step, and how that moves with its start, inputs and parameters:
//   dy = C dx + D du + E dp                                                                                   (output.1)
// With the end x+ of the step, R and v of the place of an inertial unit, w the turning of its body, and
//   a = R+^T ((v+ - v)/dt - g):   da = R+^T ((dv+ - dv)/dt + ((v+ - v)/dt - g) x dr+)                        (output.2)
//   R+^T w+:                       R+^T (dw+ + w+ x dr+)                                                      (output.3)
// where dv and dw of a body are those of (deriv.7). Positions and velocities of joints are rows of A, B and P. Forces are those
// of the step, in W, so that it does not matter how axes turn about the normal.
#pragma once

#include "derivatives/parameters.hpp"

namespace tribo {

/// Forces of the contacts of a step, and their slopes by (x, u, p).
struct ContactForces {
  struct One {
    std::uint64_t id = 0;
    int geometry_a = -1, geometry_b = -1;
    Vec3 f_W = Vec3::Zero();  ///< on b, mean over the step [N]
    Vec3 n_W = Vec3::UnitZ();
    bool unique = true, unique_normal = true;
  };
  std::vector<One> all;
  MatX slopes;  ///< a column for each row: three in W, the normal force (2 nv + nu + parameters; 4 a contact)

  void clear(Eigen::Index columns) {
    all.clear();
    columns_ = columns;
  }
  /// Room for one more: its columns are zero.
  One& add() {
    const auto n = static_cast<Eigen::Index>(4 * (all.size() + 1));
    if (slopes.rows() != columns_ || slopes.cols() < n)
      slopes.conservativeResize(columns_, std::max(n, 2 * slopes.cols()));
    slopes.middleCols(n - 4, 4).setZero();
    return all.emplace_back();
  }

 private:
  Eigen::Index columns_ = 0;
};

class Outputs {
 public:
  explicit Outputs(const Model& model) : model_(model), start_(model), end_(model) {}

  /// LinearizationRequest::sensors; InvalidInput for others.
  void know(const std::vector<std::string>& names);
  bool any() const { return !sensors_.empty(); }
  bool wants_forces() const { return forces_; }
  /// C, D and E from A, B and P of `lin`, whose B may have the parameters behind the inputs; rows, y.
  void differentiate(const StepInput& step, const Linearization& lin, int inputs, const ContactForces& forces,
                     Linearization& out);
  /// By differences of steps: D and E too. E alone where C and D stand.
  void difference(const std::string& stepper, const StepperOptions& options, const StepInput& step,
                  const std::vector<int>& inputs, Linearization& out);
  /// y of a step, with rows as they stand.
  void measure(const State& start, const State& end, double dt, std::span<const ContactReport> contacts, VecX& y);
  int rows() const { return static_cast<int>(rows_.size()); }

 private:
  enum class Kind : char { Accelerometer, Gyroscope, Position, Velocity, Force, Contacts };
  struct Sensor {
    Kind kind = Kind::Contacts;
    int index = -1;  // body, geometry
    Placement X_BI;
    int iq = -1, iv = -1;
  };

  static Sensor parse(const Model& model, const std::string& name);
  void list(std::span<const ContactForces::One> contacts);
  void list_reports(std::span<const ContactReport> reports);
  void point_slopes(const Dynamics& dynamics, const VecX& v, int body, const Vec3& p_W);
  Vec3 specific_force(const Sensor& s, double dt) const;
  void add_inertial(const Sensor& s, const StepInput& step, const Linearization& lin, int row);

  const Model& model_;
  Dynamics start_, end_;
  std::vector<std::string> names_;
  std::vector<Sensor> sensors_;
  std::vector<SensorRow> rows_;
  std::vector<ContactForces::One> seen_;
  bool forces_ = false;
  MatX by_q_, by_v_, turn_, turn_rate_;  // of a point and of a body (3 x nv)
  MatX slopes_;                          // (ny x 2 nv + nu + parameters)
};

}  // namespace tribo
