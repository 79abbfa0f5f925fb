#include <algorithm>
#include <cmath>

#include "derivatives/differences.hpp"
#include "derivatives/exponential_derivative.hpp"
#include "derivatives/implicit_derivative.hpp"
#include "derivatives/outputs.hpp"
#include "derivatives/parameters.hpp"
#include "derivatives/rigid_derivative.hpp"
#include "derivatives/rotations.hpp"
#include "dynamics/group.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/linearization.hpp"

namespace tribo {
namespace {

constexpr int most_coordinates = 2000;  // A then has 128 MB
constexpr double beside = 1e-6;         // how far on one side [m], [rad], [m/s], …
// What rounding makes of (4 D(h/2) - D(h))/3, of how far the levels are apart: the same error of one end adds e/h and e/2h to them.
constexpr double extrapolated = 7.0 / 3;
constexpr double wanted =
    1e-6;  // where a column is farther off, a solver that is less accurate than its slip may be why
constexpr double not_compared = -1;   // error of a column that modes disturb
constexpr double least_block = 1e-3;  // scale of a block of zeros: velocities by q or v [1/s], [-]; times dt those of q

}  // namespace

VecX Linearization::jvp(const VecX& dx, const VecX& du) const {
  if (dx.size() != A.cols() || (du.size() != 0 && du.size() != B.cols()))
    throw InvalidInput("jvp: dx has " + std::to_string(dx.size()) + " entries and du " + std::to_string(du.size()) +
                       ", must have " + std::to_string(A.cols()) + " and " + std::to_string(B.cols()));
  VecX y = A * dx;
  if (du.size() != 0) y += B * du;
  return y;
}

VecX Linearization::vjp(const VecX& w) const {
  if (w.size() != A.rows())
    throw InvalidInput("vjp: w has " + std::to_string(w.size()) + " entries, must have " + std::to_string(A.rows()));
  VecX y(A.cols() + B.cols() + static_cast<Eigen::Index>(parameters.size()));
  y.head(A.cols()).noalias() = A.transpose() * w;
  y.segment(A.cols(), B.cols()).noalias() = B.transpose() * w;
  if (!parameters.empty()) y.tail(P.cols()).noalias() = P.transpose() * w;
  return y;
}

std::string Linearization::row_name(int row) const {
  const SensorRow& r = rows[at(row)];
  const std::string& sensor = sensors[at(r.sensor)];
  const std::string kind = sensor.substr(0, sensor.find(':'));
  const std::string axis = std::string(".") + "xyz"[r.component];
  if (kind == "contacts") return "contact:" + std::to_string(r.contact) + axis;
  return kind == "accelerometer" || kind == "gyroscope" ? sensor + axis : sensor;
}

std::string to_string(Linearization::Method method) {
  return method == Linearization::Method::Analytic ? "analytic" : "differences";
}

void add_forces(const Dynamics& dynamics, std::span<const AppliedForce> forces, VecX& tau) {
  for (const AppliedForce& f : forces) {
    dynamics.add_force(f.body, dynamics.X_WB(f.body) * f.point, f.force, tau);
    if (!f.torque.isZero(0)) dynamics.add_torque(f.body, f.torque, tau);
  }
}

struct Linearizer::Impl {
  Impl(const Model& m, const std::string& name, const StepperOptions& o)
      : model(m), stepper(name), options(o), inputs(list_inputs(m)) {
    if (m.nv > most_coordinates)
      throw InvalidInput("the model has " + std::to_string(m.nv) +
                         " velocity coordinates; derivatives are dense matrices, of " +
                         std::to_string(most_coordinates) + " at most");
    if (name == "rigid") rigid = std::make_unique<RigidDerivative>(m, o);
    if (name == "exponential") compliant = std::make_unique<ExponentialDerivative>(m, precise(o));
    if (name == "implicit-euler") compliant = std::make_unique<ImplicitDerivative>(m, precise(o));
  }

  struct ColumnError {
    double error;  ///< relative to the largest entry of the block
    int row;       ///< where
  };
  std::vector<ColumnError> errors;  ///< of the check
  bool difference(const StepInput& step, double accuracy, DerivativeCheck& check);
  void compare(const Differences& differences, double dt, DerivativeCheck& check);

  /// With touches found to the last digit: the 1e-7 m of a step are a hundredth of what differences move it by.
  Differences& by_differences() {
    if (!differences) {
      differences = std::make_unique<Differences>(model, stepper, precise(options));
      differences->find_exactly();
    }
    return *differences;
  }

  void find_exactly(bool exactly) {
    if (rigid) rigid->find_exactly(exactly);
    if (compliant) compliant->find_exactly(exactly);
  }

  const Model& model;
  std::string stepper;
  StepperOptions options;
  std::vector<int> inputs;
  // d/ds of the tangent from q moved by r to q moved by r + s dx: the right Jacobian where joints turn.
  VecX carried(const VecX& dx, const VecX& r) const {
    VecX moved = dx;
    for (const Body& b : model.bodies) {
      if (b.joint != JointKind::Free && b.joint != JointKind::Spherical) continue;
      const int w = b.joint == JointKind::Free ? b.iv + 3 : b.iv;
      const Vec3 turn = r.segment<3>(w);
      moved.segment<3>(w) = right_jacobian(turn) * Vec3(dx.segment<3>(w));
      if (b.joint == JointKind::Free) moved.segment<3>(b.iv) = rotation_exponential(-turn) * Vec3(dx.segment<3>(b.iv));
    }
    return moved;
  }

  /// The parameters of these names.
  void know(const std::vector<std::string>& names) {
    if (names == parameter_names) return;
    parameters.clear();
    parameter_names.clear();
    for (const std::string& name : names) parameters.push_back(parse_parameter(model, name));
    parameter_names = names;
  }

  /// Why slopes by them are by differences, or "".
  const char* defect(const StepInput& step) const {
    if (parameters.empty()) return "";
    if (!rigid && !compliant) return "the stepper has no analytic derivative";
    const char* why = rigid ? rigid->why_differences(step, parameters) : compliant->why_differences(step, parameters);
    return why == nullptr ? "" : why;
  }

  /// Parameters are further columns of B until they are split off.
  void begin(Linearization& lin, const Linearization& asked, bool with) const {
    reset(model, inputs, lin);
    if (!with) return;
    lin.smoothing = asked.smoothing;
    lin.memory = asked.memory;
    lin.B.resize(2 * model.nv, static_cast<Eigen::Index>(inputs.size() + parameters.size()));
  }

  void split(const Linearization& lin, Linearization& out) const {
    reset(model, inputs, out);
    out.A = lin.A;
    out.B = lin.B.leftCols(out.B.cols());
    out.P = lin.B.rightCols(static_cast<Eigen::Index>(parameters.size()));
    if (lin.memory) {
      out.whole_A = lin.whole_A;
      out.whole_B = lin.whole_B.leftCols(out.B.cols());
    }
    out.q_next = lin.q_next;
    out.v_next = lin.v_next;
    out.contacts = lin.contacts;
    out.weak = lin.weak;
    out.margin = lin.margin;
    out.unique = lin.unique;
    out.finite = lin.finite;
    out.status = lin.status;
  }

  void want_forces(bool wanted) {
    if (rigid) rigid->want_forces(wanted);
    if (compliant) compliant->want_forces(wanted);
  }

  /// C, D and E, from a derivative that is analytic.
  void measure(const StepInput& step, const Linearization& lin, Linearization& out) {
    const bool divided = rigid ? rigid->divided() : compliant->divided();
    out.sensors_reason = "";
    if (divided && outputs.wants_forces())
      difference_outputs(step, "forces are means over a step that was divided", out);
    else if (lin.smoothing > 0 && outputs.wants_forces())
      throw InvalidInput("sensors of forces with smoothing: they have the slopes of the hard law alone");
    else
      outputs.differentiate(step, lin, static_cast<int>(inputs.size()), rigid ? rigid->forces() : compliant->forces(),
                            out);
  }

  void difference_outputs(const StepInput& step, const char* why, Linearization& out) {
    outputs.difference(stepper, options, step, inputs, out);
    out.sensors_reason = why;
  }

  Outputs outputs{model};
  std::vector<std::string> parameter_names;
  std::vector<Parameter> parameters;
  Linearization wide;     // with parameters
  Workspace work{model};  // of a point beside the state
  State state;
  Linearization lin;
  std::unique_ptr<RigidDerivative> rigid;
  std::unique_ptr<CompliantDerivative> compliant;
  std::unique_ptr<Differences> differences;
};

Linearizer::Linearizer(const Model& model, const std::string& stepper, const StepperOptions& options)
    : impl_(std::make_unique<Impl>(model, stepper, options)) {}
Linearizer::~Linearizer() = default;

void Linearizer::linearize(const StepInput& step, Linearization& out) {
  Impl& s = *impl_;
  if (!(out.smoothing >= 0) || (out.smoothing > 0 && !s.rigid))
    throw InvalidInput("smoothing = " + std::to_string(out.smoothing) + " with stepper '" + s.stepper +
                       "': must be 0, or positive with stepper 'rigid'");
  const std::vector<std::string>& names = out.parameters;
  s.know(names);
  if (!names.empty() && out.smoothing > 0)
    throw InvalidInput("parameters with smoothing: slopes by them are of the hard law");
  out.parameters_reason = s.defect(step);
  out.sensors_reason = "";
  if (names.empty()) out.P.resize(2 * s.model.nv, 0);
  if (!s.outputs.any()) {
    for (MatX* x : {&out.C, &out.D, &out.E}) x->resize(0, x->cols());
    out.rows.clear();
  }
  const bool with = !names.empty() && *out.parameters_reason == 0;
  s.outputs.know(out.sensors);
  s.want_forces(s.outputs.wants_forces());
  const std::span<const Parameter> asked(s.parameters.data(), with ? s.parameters.size() : 0);
  if (s.rigid) s.rigid->set_parameters(asked);
  if (s.compliant) s.compliant->set_parameters(asked);
  const char* reason = "the stepper has no analytic derivative";
  if (s.rigid || s.compliant) {
    Linearization& lin = with ? s.wide : out;
    s.begin(lin, out, with);
    reason = s.rigid ? s.rigid->compute(step, lin) : s.compliant->compute(step, lin);
    if (!reason && with) s.split(lin, out);
    if (!reason && s.outputs.any()) s.measure(step, lin, out);
    if (!reason && s.rigid && out.memory) {
      out.whole_A = out.A;
      out.whole_B = out.B;
    }
  }
  if (reason) {
    s.by_differences().compute(step, out);
    out.reason = out.parameters_reason = reason;
  }
  if (reason && s.outputs.any()) s.difference_outputs(step, reason, out);
  const bool beside = s.outputs.any() && *out.sensors_reason != 0;  // E by differences
  if (!names.empty() && (reason || !with || beside)) {
    const MatX both =
        tribo::parameter_slopes(s.model, s.stepper, s.options, step, names, s.outputs.any() ? &s.outputs : nullptr);
    if (reason || !with) out.P = both.topRows(2 * s.model.nv);
    out.E = both.bottomRows(both.rows() - 2 * s.model.nv);
  }
}

void Linearizer::difference(const StepInput& step, Linearization& out) {
  impl_->by_differences().compute(step, out);
  out.reason = "asked for";
}

VecX Linearizer::one_sided(const StepInput& step, const VecX& dx, const VecX& du) {
  Impl& s = *impl_;
  const int nv = s.model.nv, nu = static_cast<int>(s.inputs.size());
  if (dx.size() != 2 * nv || (du.size() != 0 && du.size() != nu))
    throw InvalidInput("one_sided: dx has " + std::to_string(dx.size()) + " entries and du " +
                       std::to_string(du.size()) + ", must have " + std::to_string(2 * nv) + " and " +
                       std::to_string(nu));
  const double length = std::sqrt(dx.squaredNorm() + du.squaredNorm());
  if (!(length > 0) || !std::isfinite(length)) return VecX::Zero(2 * nv);
  Shift shift;
  shift.u.setZero(nv);
  VecX sum = VecX::Zero(2 * nv);
  for (const auto& [far, weight] : {std::pair(1.0, 2.0), std::pair(2.0, -1.0)}) {
    const double share = far * beside / length;
    shift.q = share * dx.head(nv);
    shift.v = share * dx.tail(nv);
    for (int i = 0; i < nu && du.size() != 0; ++i) shift.u[s.inputs[at(i)]] = share * du[i];
    StepMap::start(s.model, {step.state, step.actuation, {}, step.dt}, shift, s.state, s.work);
    s.lin.parameters.clear();
    linearize({s.state, s.work.actuation, step.forces, step.dt}, s.lin);
    if (s.lin.method == Linearization::Method::Differences) return s.by_differences().one_sided(step, dx, du);
    // The tangents at q and at the point beside it differ: dq there is what dx is here, turned with it.
    sum += weight * s.lin.jvp(s.carried(dx, shift.q), du);  // (lin.3)
  }
  return sum;
}

MatX Linearizer::difference_parameters(const StepInput& step, const std::vector<std::string>& names) {
  return tribo::parameter_slopes(impl_->model, impl_->stepper, impl_->options, step, names, nullptr);
}

// Differences by a solver of this accuracy, or as the stepper has it where the step itself does not get there: false.
bool Linearizer::Impl::difference(const StepInput& step, double accuracy, DerivativeCheck& check) {
  StepperOptions asked = precise(options);
  asked.contact.tolerance.rel = std::min(asked.contact.tolerance.rel, accuracy);
  auto used = std::make_unique<Differences>(model, stepper, asked);
  const bool solved = used->solves(step);
  if (!solved) {
    asked.contact.tolerance = options.contact.tolerance;
    auto plain = std::make_unique<Differences>(model, stepper, asked);
    if (plain->solves(step)) used = std::move(plain);
  }
  used->find_exactly();
  used->compute(step, check.differences, &check.linearization);
  check.differences.reason = "asked for";
  compare(*used, step.dt, check);
  return solved;
}

// Columns count where they are nearest so far. Where the first differences did not see one, later ones do not.
void Linearizer::Impl::compare(const Differences& differences, double dt, DerivativeCheck& check) {
  const Linearization &a = check.linearization, &b = check.differences;
  if (!a.finite || !b.finite) return;
  const int nv = model.nv, nu = static_cast<int>(b.B.cols());
  const bool whole = a.memory && a.whole_A.rows() == b.whole_A.rows();
  const int rows = whole ? static_cast<int>(b.whole_A.rows()) : 2 * nv;
  const int columns = 2 * nv + nu + (whole ? static_cast<int>(b.whole_A.cols()) - 2 * nv : 0);
  const bool first = errors.empty();
  if (first) errors.assign(at(columns), {not_compared, 0});
  const auto value = [&](const Linearization& x, int i, int j) {
    const MatX &A = whole ? x.whole_A : x.A, &B = whole ? x.whole_B : x.B;
    return j < 2 * nv ? A(i, j) : j < 2 * nv + nu ? B(i, j - 2 * nv) : A(i, j - nu);
  };
  const int row_ends[] = {0, nv, 2 * nv, rows}, column_ends[] = {0, nv, 2 * nv, 2 * nv + nu, columns};
  std::vector<ColumnError> now(at(columns), {0, 0});
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 4; ++c) {
      const int begin = column_ends[c], end = column_ends[c + 1];
      double largest = c == 2 ? 1e-12 : r != 1 ? least_block * dt : least_block;
      for (int j = begin; j < end; ++j)
        for (int i = row_ends[r]; i < row_ends[r + 1]; ++i) largest = std::max(largest, std::abs(value(b, i, j)));
      for (int j = begin; j < end; ++j) {
        const double rounding = extrapolated * differences.apart(static_cast<int>(r), j);  // of the difference
        for (int i = row_ends[r]; i < row_ends[r + 1]; ++i) {
          const double error = (std::abs(value(a, i, j) - value(b, i, j)) - rounding) / largest;
          if (error > now[at(j)].error) now[at(j)] = {error, i};
        }
      }
    }
  for (int j = 0; j < columns; ++j) {
    const bool seen = !differences.disturbed(j), counts = first || errors[at(j)].error > now[at(j)].error;
    if (seen && counts) errors[at(j)] = now[at(j)];
  }
}

DerivativeCheck Linearizer::check(const StepInput& step) {
  DerivativeCheck check;
  check.linearization.memory = check.differences.memory = impl_->compliant != nullptr;
  impl_->find_exactly(true);
  linearize(step, check.linearization);
  impl_->find_exactly(false);
  impl_->errors.clear();
  for (double accuracy : {1e-12, 3e-13, 1e-13}) {  // of the solver
    const bool solved = impl_->difference(step, accuracy, check);
    check.error = 0;
    check.columns = 0;
    for (std::size_t j = 0; j < impl_->errors.size(); ++j) {
      const auto& [error, row] = impl_->errors[j];
      check.columns += error != not_compared;
      if (!(error > check.error)) continue;
      check.error = error;
      check.row = row;
      check.column = static_cast<int>(j);
    }
    check.disturbed = static_cast<int>(impl_->errors.size()) - check.columns;
    if (!solved || !(check.error > wanted) || check.linearization.method != Linearization::Method::Analytic) break;
  }
  return check;
}

}  // namespace tribo
