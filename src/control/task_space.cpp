// Task-space inverse dynamics, one quadratic program a tick.
//   unknowns: accelerations a and forces f of the feet, in world axes
//   min sum_i w_i |J_i a + bias_i - a_i|^2 + w_f |f|^2                                          (task.1)
//   M_b a + h_b = J_b^T f                                           the base is not driven      (task.2)
//   J_c a + bias_c = kp (c_0 - c) - kd v_c                          feet stay: the centre c of
//   J_w a + bias_w = kp log(R_0 R^T) - kd w                         those on a body, its turn   (task.3)
//   |f_x|, |f_y| <= mu/sqrt2 f_z, f_z >= least;  |M_j a + h_j - J_j^T f| <= limit               (task.4)
//   f = 0 in place of the rows of (task.3) for the points of a body that swings                  (task.5)
// The torque is M_j a + h_j - J_j^T f. Where the program has no solution the last torque stays, and the report says so.
// Feet on one body are held as one, where their centre is and about the axes that they span (a line: two, one foot:
// none): held one by one they would contradict each other by w x (w x r), and repeat each other.
#include "tribo/task_space.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "control/joints.hpp"
#include "control/quadratic_program.hpp"
#include "control/task_course.hpp"
#include "dynamics/group.hpp"
#include "linalg/decompositions.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

// The feet on one body.
struct Sole {
  int body = -1;
  Vec3 p_B = Vec3::Zero();         // their centre
  Mat3 axes_B = Mat3::Identity();  // the last `turns` columns are the axes about which they hold the body
  int turns = 0;
  Placement start;          // of the body
  std::vector<int> points;  // in the order of the feet
  bool stands = true;       // now
  Placement held;           // where it is to stay now
};

class TaskSpace final : public Controller {
 public:
  TaskSpace(const Model& model, const TaskSpaceOptions& options)
      : options_(options), member_(model.members[at(options.member)]) {
    check(model);
    tree_ = model.bodies[at(member_.first_body)].tree;
    nv_ = member_.nv;
    nc_ = static_cast<int>(member_.feet.size());
    M_.setZero(nv_, nv_);
    J_.setZero(3, nv_);
    contact_J_.setZero(nv_, 3 * nc_);
    for (VecX* x : {&unit_, &column_, &move_}) x->setZero(model.nv);
    error_.setZero(nv_);
    posture_now_ = JointMotion(nv_);
    // Where the tasks are held.
    q_ref_ = model.neutral();
    q_ref_.segment(member_.iq, member_.nq) = options.q_ref;
    Dynamics start(model);
    start.compute(q_ref_, VecX::Zero(model.nv));
    com_ = start.center_of_mass(tree_);
    gather_soles(model, start);
    for (const FrameTask& task : options.frames) {
      const Frame& frame = model.frames[at(task.frame)];
      frames_.emplace_back().X = start.X_WB(frame.body) * frame.X_BF;
    }
    limited_.clear();
    for (int k = 6; k < nv_; ++k)
      if (std::isfinite(model.joints.effort_limit[member_.iv + k])) limited_.push_back(k);
    equalities_ = 6;
    for (const Sole& sole : soles_) equalities_ += rows_of(sole);
    // Soles on legs of few joints hold directions in which no joint can move them.
    program_.leaves_contradictions_out = true;
    program_.resize(nv_ + 3 * nc_, equalities_, 5 * nc_ + 2 * static_cast<int>(limited_.size()));
  }

  double period() const override { return options_.period; }
  // The last torque; with a course that lifts feet, of each body with feet whether it stands, and where since when it landed.
  int memory() const override { return member_.nv + (lifts() ? of_sole * static_cast<int>(soles_.size()) : 0); }

  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
               Actuation& a) override {
    program_.resize(nv_ + 3 * nc_, equalities_, 5 * nc_ + 2 * static_cast<int>(limited_.size()));
    read_dynamics(model, dynamics);
    if (options_.course) follow(model, *options_.course, state.t, dynamics, memory);
    add_com(model, state, dynamics);
    add_posture(model, state);
    for (std::size_t i = 0; i < frames_.size(); ++i) add_frame(model, dynamics, i);
    program_.H.diagonal().tail(3 * nc_).array() += options_.force_weight;
    constrain(model, dynamics);
    if (program_.solve()) {
      const VecX& x = program_.x();
      error_.noalias() = M_ * x.head(nv_);
      error_ += h_;
      error_.noalias() -= contact_J_ * x.tail(3 * nc_);
      Eigen::Map<VecX>(memory.data(), nv_) = error_;
    } else {
      ++a.unsolved;
    }
    for (int k = 6; k < nv_; ++k) a.tau[member_.iv + k] += memory[at(k)];
  }

 private:
  static constexpr int of_sole = 8;                  // numbers in the memory
  static constexpr double landed = 1, swinging = 2;  // the first of them; 0: as at the start

  bool lifts() const { return options_.course && !options_.course->stands.empty(); }
  int rows_of(const Sole& sole) const {
    return std::max(3 + sole.turns, lifts() ? 3 * static_cast<int>(sole.points.size()) : 0);
  }

  // The references at t, and which feet stand.
  void follow(const Model& model, const TaskCourse& course, double t, const Dynamics& dynamics,
              std::span<double> memory) {
    if (course.com) course.com->at(t, com_now_);
    if (course.posture) {
      course.posture->at(t, posture_now_);
      set_joints(model, member_, posture_now_.q, q_ref_);
    }
    for (std::size_t i = 0; i < course.frames.size(); ++i) at_time(course, course.frames[i], t, way_now_, frames_[i]);
    if (!lifts()) return;
    const std::size_t knot = knot_at(course, t);
    for (std::size_t s = 0; s < soles_.size(); ++s) {
      Sole& sole = soles_[s];
      double* own = memory.data() + member_.nv + of_sole * static_cast<int>(s);
      const std::vector<char>& stands = course.stands[s];
      sole.stands = stands.empty() || stands[std::min(knot, stands.size() - 1)] != 0;
      if (!sole.stands) {
        own[0] = swinging;
      } else if (own[0] == swinging) {
        const Placement& X = dynamics.X_WB(sole.body);
        own[0] = landed;
        Eigen::Map<Vec3>(own + 1) = X.p;
        Eigen::Map<Eigen::Vector4d>(own + 4) = Quat(X.R).coeffs();
      }
      sole.held = own[0] == landed ? Placement{Quat(own + 4).toRotationMatrix(), Vec3(own + 1)} : sole.start;
    }
  }

  void check(const Model& model) const {
    const std::string owner = "task-space controller of '" + member_.name + "'";
    if (model.bodies[at(member_.first_body)].joint != JointKind::Free)
      throw InvalidInput(owner + ": its base is fixed; the controller is for floating robots");
    if (member_.feet.empty()) throw InvalidInput(owner + ": it has no feet");
    if (options_.q_ref.size() != member_.nq)
      throw InvalidInput(owner + ": q_ref has " + std::to_string(options_.q_ref.size()) + " entries, must have " +
                         std::to_string(member_.nq));
    auto positive = [&](double x, const char* field) {
      if (!(x >= 0) || !std::isfinite(x))
        throw InvalidInput(owner + ": " + field + " = " + shown(x) + ", must be finite and >= 0");
    };
    positive(options_.com.weight, "com weight");
    positive(options_.com.kp, "com kp");
    positive(options_.posture.kp, "posture kp");
    positive(options_.contact_kp, "contact kp");
    positive(options_.mu, "mu");
    positive(options_.least_force, "least force");
    positive(options_.period, "period");
    for (const FrameTask& task : options_.frames) {
      positive(task.gain.weight, "frame weight");
      positive(task.gain.kp, "frame kp");
    }
    if (!(options_.posture.weight > 0) || !(options_.force_weight > 0))
      throw InvalidInput(owner +
                         ": posture weight and force weight must be > "
                         "0, so that the program has one solution");
  }

  static Vec3 foot(const Model& model, const Dynamics& dynamics, int g) {
    const Geometry& geometry = model.geometries[at(g)];
    return dynamics.X_WB(geometry.body) * geometry.X_BG.p;
  }

  void gather_soles(const Model& model, const Dynamics& start) {
    for (int g : member_.feet) {
      const int body = model.geometries[at(g)].body;
      if (std::any_of(soles_.begin(), soles_.end(), [&](const Sole& s) { return s.body == body; })) continue;
      Sole sole;
      sole.body = body;
      sole.start = sole.held = start.X_WB(body);
      std::vector<Vec3> points;
      for (int c = 0; c < nc_; ++c) {
        const Geometry& other = model.geometries[at(member_.feet[at(c)])];
        if (other.body != body) continue;
        points.push_back(other.X_BG.p);
        sole.points.push_back(c);
      }
      for (const Vec3& p : points) sole.p_B += p / static_cast<double>(points.size());
      Mat3 spread = Mat3::Zero();
      for (const Vec3& p : points) spread += skew(p - sole.p_B).transpose() * skew(p - sole.p_B);
      const PrincipalAxes eigen = principal_axes(spread);
      sole.axes_B = eigen.axes;
      for (int k = 0; k < 3; ++k) sole.turns += eigen.values[k] > 1e-6 * eigen.values[2] ? 1 : 0;
      soles_.push_back(sole);
    }
  }

  static double damping(const TaskGain& gain) { return gain.kd < 0 ? 2 * std::sqrt(gain.kp) : gain.kd; }

  // M, h and the transposed Jacobian of the feet.
  void read_dynamics(const Model& model, const Dynamics& dynamics) {
    for (int k = 0; k < nv_; ++k) {
      unit_[member_.iv + k] = 1;
      dynamics.multiply(tree_, unit_.data(), column_.data());
      unit_[member_.iv + k] = 0;
      M_.col(k) = column_.segment(member_.iv, nv_);
    }
    h_ = dynamics.h().segment(member_.iv, nv_);
    contact_J_.setZero();
    for (int c = 0; c < nc_; ++c) {
      const Geometry& geometry = model.geometries[at(member_.feet[at(c)])];
      point(model, dynamics, geometry.body, foot(model, dynamics, member_.feet[at(c)]));
      contact_J_.middleCols<3>(3 * c) = J_.transpose();
    }
  }

  // J_ <- Jacobian of a point, in world axes.
  void point(const Model& model, const Dynamics& dynamics, int body, const Vec3& p_W) {
    J_.setZero();
    const Vec3 r = p_W - dynamics.origin(tree_);
    for (int k : model.bodies[at(body)].chain) {
      const Spatial& S = dynamics.axis(k);
      J_.col(k - member_.iv) = S.lin + S.ang.cross(r);
    }
  }

  // The task J_ a = target counts with a weight.
  void add_task(double weight, const Vec3& target) {
    for (int j = 0; j < nv_; ++j) {  // element by element: a product of matrices would allocate
      const Vec3 column = weight * J_.col(j);
      for (int i = 0; i < nv_; ++i) program_.H(i, j) += J_.col(i).dot(column);
      program_.g[j] -= column.dot(target);
    }
  }

  void add_com(const Model& model, const State& state, const Dynamics& dynamics) {
    if (options_.com.weight == 0) return;
    auto& sum = com_J_;
    sum.setZero(3, nv_);
    Vec3 bias = Vec3::Zero();
    const double mass = model.trees[at(tree_)].mass;
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Inertia& inertia = model.bodies[at(b)].inertia;
      const Vec3 c = dynamics.X_WB(b) * inertia.com;
      point(model, dynamics, b, c);
      sum += inertia.mass / mass * J_;
      bias += inertia.mass / mass * dynamics.point_bias(b, c);
    }
    J_ = sum;
    if (!options_.course || !options_.course->com) swing_com(state.t);
    const Vec3 wanted = com_now_.a + options_.com.kp * (com_now_.q - dynamics.center_of_mass(tree_)) +
                        damping(options_.com) * (com_now_.v - dynamics.linear_momentum(tree_) / mass);
    add_task(options_.com.weight, wanted - bias);
  }

  void swing_com(double t) {
    const double rate = options_.com_rate, s = std::sin(rate * t), c = std::cos(rate * t);
    com_now_.q = com_ + s * options_.com_amplitude;
    com_now_.v = rate * c * options_.com_amplitude;
    com_now_.a = -rate * rate * s * options_.com_amplitude;
  }

  void add_posture(const Model& model, const State& state) {
    difference(model, member_, state.q, q_ref_, move_);
    for (int k = 6; k < nv_; ++k) {
      const double wanted = posture_now_.a[k] + options_.posture.kp * move_[member_.iv + k] +
                            damping(options_.posture) * (posture_now_.v[k] - state.v[member_.iv + k]);
      program_.H(k, k) += options_.posture.weight;
      program_.g[k] -= options_.posture.weight * wanted;
    }
    program_.H.diagonal().head(6).array() += 1e-9 * options_.posture.weight;  // the base has no posture
  }

  void add_frame(const Model& model, const Dynamics& dynamics, std::size_t i) {
    const FrameTask& task = options_.frames[i];
    const LedFrame& to = frames_[i];
    const Frame& frame = model.frames[at(task.frame)];
    const Placement X = dynamics.X_WB(frame.body) * frame.X_BF;
    const Vec3 bias = dynamics.point_bias(frame.body, X.p);
    if (task.position) {
      point(model, dynamics, frame.body, X.p);
      const Vec3 v = dynamics.point_velocity(frame.body, X.p);
      add_task(task.gain.weight, to.a + task.gain.kp * (to.X.p - X.p) + damping(task.gain) * (to.v - v) - bias);
    }
    if (!task.rotation) return;
    J_.setZero();
    for (int k : model.bodies[at(frame.body)].chain) J_.col(k - member_.iv) = dynamics.axis(k).ang;
    const Vec3 w = dynamics.body_velocity(frame.body).ang;
    const Vec3 error = turn(X, to.X);
    add_task(task.gain.weight,
             task.gain.kp * error + damping(task.gain) * (to.w - w) - dynamics.angular_bias(frame.body));
  }

  // Rotation vector in W that takes one placement to another.
  static Vec3 turn(const Placement& from, const Placement& to) {
    return rotation_logarithm(Quat(Mat3(to.R * from.R.transpose())));
  }

  // The rows of (task.3), and of (task.5). Rows that are left over stay empty.
  void hold(const Model& model, const Dynamics& dynamics) {
    const double kp = options_.contact_kp, kd = 2 * std::sqrt(kp);
    int first = 6;
    for (const Sole& sole : soles_) {
      int row = first;
      first += rows_of(sole);
      if (!sole.stands) {
        for (int c : sole.points)
          for (int i = 0; i < 3; ++i, ++row) program_.A(nv_ + 3 * c + i, row) = 1;
        continue;
      }
      const Placement& X = dynamics.X_WB(sole.body);
      const Vec3 c = X * sole.p_B;
      point(model, dynamics, sole.body, c);
      const Vec3 lin = kp * (sole.held * sole.p_B - c) - kd * dynamics.point_velocity(sole.body, c) -
                       dynamics.point_bias(sole.body, c);
      for (int i = 0; i < 3; ++i, ++row) {
        program_.A.col(row).head(nv_) = J_.row(i);
        program_.b[row] = lin[i];
      }
      const Vec3 ang =
          kp * turn(X, sole.held) - kd * dynamics.body_velocity(sole.body).ang - dynamics.angular_bias(sole.body);
      for (int i = 3 - sole.turns; i < 3; ++i, ++row) {
        const Vec3 axis = X.R * sole.axes_B.col(i);
        for (int k : model.bodies[at(sole.body)].chain)
          program_.A(k - member_.iv, row) = axis.dot(dynamics.axis(k).ang);
        program_.b[row] = axis.dot(ang);
      }
    }
  }

  void keep_in_cone(int c) {  // (task.4)
    QuadraticProgram& p = program_;
    const int f = nv_ + 3 * c;
    const double mu = options_.mu * M_SQRT1_2;
    for (int side = 0; side < 4; ++side) {
      p.C(f + side / 2, 5 * c + side) = side % 2 == 0 ? 1 : -1;
      p.C(f + 2, 5 * c + side) = mu;
      p.d[5 * c + side] = 0;
    }
    p.C(f + 2, 5 * c + 4) = 1;
    p.d[5 * c + 4] = options_.least_force;
  }

  void constrain(const Model& model, const Dynamics& dynamics) {
    QuadraticProgram& p = program_;
    for (int k = 0; k < 6; ++k) {  // (task.2)
      p.A.col(k).head(nv_) = M_.row(k);
      p.A.col(k).tail(3 * nc_) = -contact_J_.row(k);
      p.b[k] = -h_[k];
    }
    hold(model, dynamics);
    for (const Sole& sole : soles_)
      for (int c : sole.points)
        if (sole.stands) keep_in_cone(c);
    for (std::size_t j = 0; j < limited_.size(); ++j) {
      const int k = limited_[j], row = 5 * nc_ + 2 * static_cast<int>(j);
      const double limit = model.joints.effort_limit[member_.iv + k];
      for (int side = 0; side < 2; ++side) {
        const double sign = side == 0 ? 1 : -1;
        p.C.col(row + side).head(nv_) = sign * M_.row(k);
        p.C.col(row + side).tail(3 * nc_) = -sign * contact_J_.row(k);
        p.d[row + side] = -limit - sign * h_[k];
      }
    }
  }

  TaskSpaceOptions options_;
  Member member_;
  int tree_ = 0, nv_ = 0, nc_ = 0, equalities_ = 0;
  Vec3 com_ = Vec3::Zero();
  std::vector<Sole> soles_;
  std::vector<LedFrame> frames_;  // where the frame tasks lead now
  std::vector<int> limited_;      // joints with a finite torque limit
  MatX M_, contact_J_;
  Eigen::Matrix<double, 3, Eigen::Dynamic> J_, com_J_;
  JointMotion com_now_{3}, way_now_{3}, posture_now_;
  VecX q_ref_, h_, unit_, column_, move_, error_;
  QuadraticProgram program_;
};

}  // namespace

std::unique_ptr<Controller> make_task_space(const Model& model, const TaskSpaceOptions& options) {
  return std::make_unique<TaskSpace>(model, options);
}

}  // namespace tribo
