#include "derivatives/parameters.hpp"

#include <array>
#include <cmath>

#include "base/names.hpp"
#include "tribo/model_changes.hpp"

namespace tribo {
namespace {

constexpr double relative_width = 1e-5;  // of a difference, relative

struct Parameter {
  bool mass = true;  // or friction
  int index = 0;     // of the body or the material
  double value = 0;

  ModelChanges at(double x) const {
    ModelChanges changes;
    (mass ? changes.mass : changes.friction)[index] = x;
    return changes;
  }
};

Parameter parse(const Model& model, const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon), of = colon == std::string::npos ? "" : name.substr(colon + 1);
  Parameter p;
  if (kind == "mass" && !of.empty()) {
    p.index = model.place(of).body;
    if (p.index < 0) throw InvalidInput("parameter '" + name + "': '" + of + "' does not move by forces");
    p.value = model.bodies[tribo::at(p.index)].inertia.mass;
    return p;
  }
  if (kind != "friction" || of.empty())
    throw InvalidInput("parameter '" + name + "', must be 'mass:BODY' or 'friction:MATERIAL'");
  p.mass = false;
  std::vector<std::string> known;
  for (const Material& m : model.materials) known.push_back(m.name);
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] == of) {
      p.index = static_cast<int>(i);
      p.value = model.surface(p.index, p.index).mu_static;
      return p;
    }
  std::string list;
  for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
  throw InvalidInput("parameter '" + name + "': there is no material '" + of + "'; there are: " + list);
}

}  // namespace

MatX parameter_slopes(const Model& model, const std::string& stepper, const StepperOptions& options,
                      const StepInput& step, const std::vector<std::string>& names) {
  const int nv = model.nv;
  StepperOptions precise = options;
  precise.audit = AuditLevel::Off;
  precise.contact.tolerance.rel = std::min(precise.contact.tolerance.rel, 1e-12);
  MatX slopes = MatX::Zero(2 * nv, static_cast<Eigen::Index>(names.size()));
  Shift still;
  for (VecX* x : {&still.q, &still.v, &still.u}) x->setZero(nv);
  StepMap nominal(model, stepper, precise);
  if (!nominal.step(step, still)) throw InvalidInput("the step cannot be taken, and has no derivative");
  VecX d(2 * nv);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Parameter p = parse(model, names[c]);
    const double h = relative_width * std::max(p.value, 1e-3);
    for (const auto& [share, weight] :
         {std::pair(1.0, -1.0 / 6), std::pair(-1.0, 1.0 / 6), std::pair(0.5, 4.0 / 3), std::pair(-0.5, -4.0 / 3)}) {
      const Model other = changed(model, p.at(p.value + share * h));
      StepMap map(other, stepper, precise);
      State state = step.state;
      state.model = other.hash();
      if (!map.step({state, step.actuation, step.forces, step.dt}, still))
        throw InvalidInput("the step cannot be taken with another " + names[c]);
      tangent(model, nominal.end().q, map.end().q, d);
      d.tail(nv) = map.end().v - nominal.end().v;
      slopes.col(static_cast<Eigen::Index>(c)) += weight / h * d;  // (lin.2)
    }
  }
  return slopes;
}

}  // namespace tribo
