// State, contacts, reports, audit.
#include <cstring>

#include "arrays.hpp"
#include "io/state_bytes.hpp"
#include "named_contact.hpp"
#include "tribo/simulation.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

std::string line(const char* label, const std::string& text) {
  std::string out = label;
  out.resize(15, ' ');
  return out + text + "\n";
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string shown(const Audit& a) {
  const double n = a.steps ? static_cast<double>(a.steps) : 1.0;
  const EnergyLines& e = a.energy;
  std::string text = line("simulated", number(a.time) + " s in " + std::to_string(a.steps) + " steps, " +
                                           (a.status == StepStatus::Ok ? "done" : to_string(a.status)));
  text += line("contact laws", !a.laws.judged() ? "not judged"
                                                : "residuals: signorini " + number(a.laws.signorini) + ", coulomb " +
                                                      number(a.laws.coulomb) + ", dissipation " +
                                                      number(a.laws.dissipation) + " (worst step, relative)");
  text += line("overlap", number(a.penetration) + " m at most");
  text += line("solver", number(static_cast<double>(a.iterations) / n) + " iterations a step, residual " +
                             number(a.worst_residual) + " at most (relative)");
  text +=
      line("steps", "unconverged " + std::to_string(a.unconverged) + ", infeasible " + std::to_string(a.infeasible) +
                        ", wedged " + std::to_string(a.wedged) + ", escalated " + std::to_string(a.escalated));
  if (a.sleeping > 0) text += line("sleeping", std::to_string(a.sleeping) + " bodies in the last step");
  if (a.unresolved > 0)
    text += line("turning", "too fast for dt at " + std::to_string(a.unresolved) +
                                " steps: what the scheme added to the energy was taken off");
  if (a.gained > 0.01)
    text += line("gain",
                 "the scheme added " + number(100 * a.gained) + " % of the energy within a second: take a smaller dt");
  if (a.unsolved > 0)
    text += line("control", "found no torque at " + std::to_string(a.unsolved) + " steps, and kept the last one");
  if (a.forgotten > 0)
    text +=
        line("contact memory", "of " + std::to_string(a.forgotten) + " contacts and joints was dropped at the start");
  text += line("energy", "kinetic " + number(e.kinetic) + ", potential " + number(e.potential) + ", elastic " +
                             number(e.elastic) + ", start " + number(a.energy_start) + " J");
  text += line("work", "actuators " + number(e.actuators) + ", damping " + number(e.damping) + ", contacts " +
                           number(e.contacts) + ", constraints " + number(e.constraints) + ", external " +
                           number(e.external) + ", recovery " + number(e.recovery) + ", integrator " +
                           number(e.integrator) + " J");
  return text + line("energy balance", "error " + number(a.ledger_error) + " (relative to the largest energy or work)");
}

void bind_enums(nb::module_& m) {
  nb::enum_<ContactMode>(m, "ContactMode", "What a contact does.")
      .value("Open", ContactMode::Open, "carries no force")
      .value("Stick", ContactMode::Stick, "presses, and does not move along the surface")
      .value("Slip", ContactMode::Slip, "presses, and slides")
      .value("Impact", ContactMode::Impact, "closed within the step");
  nb::enum_<StepStatus>(m, "StepStatus", "How a step went.")
      .value("Ok", StepStatus::Ok)
      .value("Unconverged", StepStatus::Unconverged, "the contact solve missed its tolerance; the step was taken")
      .value("Infeasible", StepStatus::Infeasible, "no contact forces satisfy the laws")
      .value("Wedged", StepStatus::Wedged, "the overlap cannot be undone")
      .value("NotFinite", StepStatus::NotFinite, "the step was not taken")
      .value("Stopped", StepStatus::Stopped, "the solve failed and the policy is to stop");
}

void bind_contact(nb::module_& m) {
  nb::class_<NamedContact>(m, "Contact", "A contact in the last step.")
      .def_ro("id", &NamedContact::id, "survives steps")
      .def_ro("geometry_a", &NamedContact::geometry_a, "index in Model.geometries")
      .def_ro("geometry_b", &NamedContact::geometry_b, "index in Model.geometries")
      .def_prop_ro(
          "body_a", [](const NamedContact& c) { return c.body(c.geometry_a); },
          "name of the body; 'world' where it is fixed")
      .def_prop_ro(
          "body_b", [](const NamedContact& c) { return c.body(c.geometry_b); },
          "name of the body; 'world' where it is fixed")
      .def_prop_ro(
          "name_a", [](const NamedContact& c) { return c.name_a(); }, "of the geometry")
      .def_prop_ro(
          "name_b", [](const NamedContact& c) { return c.name_b(); }, "of the geometry")
      .def_prop_ro(
          "point", [](const NamedContact& c) { return copied(c.p_WC); }, "in the world (3) [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "frame", [](const NamedContact& c) { return copied(c.R_WC); },
          "axes t1, t2, n as columns, n from a to b (3 x 3)", nb::rv_policy::automatic)
      .def_prop_ro(
          "normal", [](const NamedContact& c) { return copied(Vec3(c.R_WC.col(2))); }, "from a to b (3)",
          nb::rv_policy::automatic)
      .def_ro("gap", &NamedContact::gap, "negative where the surfaces overlap [m]")
      .def_prop_ro(
          "force", [](const NamedContact& c) { return copied(Vec3(c.R_WC * c.f)); },
          "mean over the step, on b, in the world (3) [N]", nb::rv_policy::automatic)
      .def_prop_ro(
          "force_C", [](const NamedContact& c) { return copied(c.f); }, "the same in (t1, t2, n) (3) [N]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "velocity", [](const NamedContact& c) { return copied(c.c); },
          "of b relative to a at the end of the step, in (t1, t2, n) (3) [m/s]", nb::rv_policy::automatic)
      .def_ro("mode", &NamedContact::mode)
      .def_ro("cone_margin", &NamedContact::cone_margin, "mu f_N - |f_T| [N]")
      .def("__repr__", [](const NamedContact& c) {
        return "Contact('" + c.name_a() + "', '" + c.name_b() + "', gap=" + number(c.gap) +
               " m, force_n=" + number(c.f.z()) + " N)";
      });
}

void bind_audit(nb::module_& m) {
  nb::class_<LawResiduals>(m, "Laws", "How far each law was from holding, relative to the step's own scales.")
      .def_ro("signorini", &LawResiduals::signorini, "NaN: not judged")
      .def_ro("coulomb", &LawResiduals::coulomb)
      .def_ro("dissipation", &LawResiduals::dissipation);
  nb::class_<EnergyLines>(m, "Energy", "Energies and work, line by line [J].")
      .def_ro("kinetic", &EnergyLines::kinetic)
      .def_ro("potential", &EnergyLines::potential)
      .def_ro("elastic", &EnergyLines::elastic, "in the springs of compliant contacts and joint limits")
      .def_ro("actuators", &EnergyLines::actuators)
      .def_ro("damping", &EnergyLines::damping)
      .def_ro("contacts", &EnergyLines::contacts)
      .def_ro("constraints", &EnergyLines::constraints)
      .def_ro("external", &EnergyLines::external)
      .def_ro("recovery", &EnergyLines::recovery, "put in by the removal of overlap")
      .def_ro("integrator", &EnergyLines::integrator, "what the scheme itself added")
      .def_prop_ro("work", &EnergyLines::work, "sum of all but the first three");
  nb::class_<Audit>(m, "Audit", "What a run amounted to. print() shows it.")
      .def("__copy__", [](const Audit& a) { return a; })
      .def(
          "__deepcopy__", [](const Audit& a, nb::handle) { return a; }, "memo"_a)
      .def("__getstate__",
           [](const Audit& a) {
             static_assert(std::is_trivially_copyable_v<Audit>);
             return nb::bytes(reinterpret_cast<const char*>(&a), sizeof a);
           })
      .def("__setstate__",
           [](Audit& self, const nb::bytes& bytes) {
             if (bytes.size() != sizeof self) throw InvalidInput("Audit: the bytes are of another version");
             Audit read;
             std::memcpy(&read, bytes.c_str(), sizeof read);
             if (static_cast<int>(read.status) < 0 || read.status > StepStatus::Stopped)
               throw InvalidInput("Audit: the bytes are broken");
             new (&self) Audit(read);
           })
      .def_ro("steps", &Audit::steps)
      .def_ro("time", &Audit::time, "simulated [s]")
      .def_ro("laws", &Audit::laws, "worst step")
      .def_ro("penetration", &Audit::penetration, "deepest [m]")
      .def_ro("energy", &Audit::energy)
      .def_ro("energy_start", &Audit::energy_start, "[J]")
      .def_ro("energy_scale", &Audit::energy_scale, "largest energy or line of work seen [J]")
      .def_ro("ledger_error", &Audit::ledger_error, "now - start - work, over energy_scale [-]")
      .def_ro("iterations", &Audit::iterations, "of the contact solver")
      .def_ro("worst_residual", &Audit::worst_residual, "relative")
      .def_ro("unconverged", &Audit::unconverged, "steps")
      .def_ro("infeasible", &Audit::infeasible, "steps")
      .def_ro("wedged", &Audit::wedged, "steps")
      .def_ro("escalated", &Audit::escalated, "steps")
      .def_ro("sleeping", &Audit::sleeping, "bodies that slept in the last step")
      .def_ro("unresolved", &Audit::unresolved, "steps at which a tree turned too fast for dt")
      .def_ro(
          "gained", &Audit::gained,
          "most that the scheme itself added within a second, over the largest kinetic and elastic energy in it [-]")
      .def_ro("unsolved", &Audit::unsolved, "steps at which a controller found no answer")
      .def_ro("forgotten", &Audit::forgotten, "memories of contacts that a stepper of another family had written")
      .def_ro("status", &Audit::status, "NotFinite, Stopped: the run ended there")
      .def("__str__", [](const Audit& a) { return shown(a); })
      .def("__repr__", [](const Audit& a) {
        return "Audit(time=" + number(a.time) + " s, steps=" + std::to_string(a.steps) + ")";
      });
  nb::class_<StepReport>(m, "StepReport", "What a stepper says of the step it took.")
      .def_ro("status", &StepReport::status)
      .def_ro("t", &StepReport::t, "at the end of the step [s]")
      .def_ro("contacts", &StepReport::contacts, "in the list")
      .def_ro("closed", &StepReport::closed, "with force")
      .def_ro("penetration", &StepReport::penetration, "deepest at the start of the step [m]")
      .def_ro("sleeping", &StepReport::sleeping, "bodies that sleep: at rest, and not solved")
      .def_ro("unresolved", &StepReport::unresolved,
              "trees that turned too fast for dt: energy that the scheme had added was taken off")
      .def_ro("unsolved", &StepReport::unsolved, "controllers that found no answer and went on with their last torque")
      .def_ro("laws", &StepReport::laws)
      .def_ro("energy", &StepReport::energy)
      .def_ro("substeps", &StepReport::substeps)
      .def_prop_ro("iterations", [](const StepReport& r) { return r.solve.iterations; })
      .def_prop_ro(
          "residual", [](const StepReport& r) { return r.solve.residual.relative(); }, "relative");
}

}  // namespace

void warn_forgotten(const State& state, const std::string& stepper) {
  const std::string text = forgotten_memory(state, stepper);
  if (!text.empty() && PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

void bind_state(nb::module_& m) {
  bind_enums(m);
  bind_contact(m);
  bind_audit(m);
  nb::class_<State>(m, "State", "All that changes: keep it, and the run goes on from it bit for bit.")
      .def_rw("t", &State::t, "[s]")
      .def_ro("step", &State::step, "steps taken")
      .def_prop_ro(
          "q", [](nb::handle self) { return view(nb::cast<State&>(self).q, self); },
          "coordinates (nq); a view that can be written", nb::rv_policy::automatic)
      .def_prop_ro(
          "v", [](nb::handle self) { return view(nb::cast<State&>(self).v, self); },
          "velocities (nv); a view that can be written", nb::rv_policy::automatic)
      .def_prop_rw(
          "seed", [](const State& s) { return s.random.state; }, [](State& s, std::uint64_t x) { s.random.state = x; },
          "of the random generator")
      .def_prop_ro(
          "family", [](const State& s) { return to_string(s.memory.family); },
          "of the stepper that wrote what its contacts remember: rigid, compliant, momentum or unknown")
      .def_prop_ro(
          "hash", [](const State& s) { return hex(hash(s)); }, "of every bit of the state")
      .def(
          "forget_contacts", [](State& s) { s.memory.clear(); }, "Anchors and warm starts are forgotten.")
      .def("copy", [](const State& s) { return s; })
      .def("__copy__", [](const State& s) { return s; })
      .def(
          "__deepcopy__", [](const State& s, nb::handle) { return s; }, "memo"_a)
      .def("__getstate__",
           [](const State& s) {
             const std::string bytes = state_bytes(s);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__",
           [](State& self, const nb::bytes& bytes) {
             new (&self) State(state_of_bytes(std::string(bytes.c_str(), bytes.size()), "State"));
           })
      .def(
          "save", [](const State& s, const std::string& path) { save_state(s, path); }, "path"_a,
          "Writes a file; load it with State.load(model, path).")
      .def_static(
          "load", [](const Model& model, const std::string& path) { return load_state(model, path); }, "model"_a,
          "path"_a, "Reads a file; InvalidInput where it is broken or belongs to another model.")
      .def_static("neutral", &State::neutral, "model"_a, "Every joint at zero, at rest.")
      .def("__repr__", [](const State& s) { return "State(t=" + number(s.t) + " s, hash=" + hex(hash(s)) + ")"; });
}

}  // namespace tribo::python
