// tribo._core: the parts of the C++ library that Python holds.
#include "arrays.hpp"
#include "base/legible.hpp"
#include "base/version.hpp"
#include "extras.hpp"
#include "readers/data_folders.hpp"
#include "scene/find_scene.hpp"
#include "tribo/contact_law.hpp"

namespace tribo::python {
namespace {

/// Names and summaries of a table.
template <class Table>
nb::dict listed(const Table& table) {
  nb::dict names;
  for (const auto& entry : table) names[entry.name.c_str()] = entry.summary;
  return names;
}

nb::dict described(const Field& field) {
  nb::dict d;
  d["default"] = field.default_text();
  d["allowed"] = field.allowed();
  d["unit"] = field.unit;
  d["summary"] = field.text;
  return d;
}

}  // namespace

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace tribo::python

NB_MODULE(_core, m) {
  using namespace tribo;
  using namespace tribo::python;
  m.doc() = "The compiled core of tribo. Use the names of the package tribo.";
  // NOLINTNEXTLINE(bugprone-unused-raii): it is made for what its constructor does
  const nb::exception<InvalidInput> invalid(m, "InvalidInput", PyExc_ValueError);
  // A text that is not UTF-8 would become an error of another kind.
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const InvalidInput& error) {
          PyErr_SetString(static_cast<PyObject*>(type), legible(error.what()).c_str());
        }
      },
      invalid.ptr());
  bind_model(m);
  bind_builder(m);
  bind_state(m);
  bind_solve(m);
  bind_extras(m);
  bind_hand(m);
  bind_linearization(m);
  bind_simulation(m);
  bind_batch(m);
  m.def(
      "set_data_folders",
      [](const std::string& scenes, const std::string& robots) {
        data_folders().scenes = scenes;
        data_folders().robots = robots;
      },
      nb::arg("scenes"), nb::arg("robots"), "Where the package keeps its scenes, and example-robot-data its robots.");
  m.def(
      "version", [] { return version(); }, "Version of the library.");
  m.def(
      "scenes", [] { return listed(known_scenes()); }, nb::sig("def scenes() -> dict[str, str]"),
      "Known scenes: name -> summary.");
  m.def(
      "robots", [] { return listed(robots()); }, nb::sig("def robots() -> dict[str, str]"),
      "Known robots: name -> summary.");
  m.def(
      "steppers", [] { return listed(steppers()); }, nb::sig("def steppers() -> dict[str, str]"),
      "Known steppers: name -> summary.");
  m.def(
      "options",
      [](const std::string& name) {
        nb::dict all;
        bool found = false;
        const auto take = [&](const auto& table) {
          for (const auto& entry : table)
            if (entry.name == name) {
              found = true;
              for (const Field& f : entry.options.fields()) all[f.name.c_str()] = described(f);
            }
        };
        take(steppers());
        take(contact_solvers());
        take(contact_laws());
        take(controllers());
        if (!found) throw InvalidInput("no stepper, solver, law or controller is called '" + name + "'");
        return all;
      },
      nb::arg("name"), nb::sig("def options(name: str) -> dict[str, dict[str, str]]"),
      "Options of a stepper, contact solver, contact law or controller: name -> {default, allowed, unit, summary}.");
  m.def(
      "_option_page", [] { return option_page(); }, "docs/options.md.");
  m.def(
      "laws", [] { return listed(contact_laws()); }, nb::sig("def laws() -> dict[str, str]"),
      "Known laws of compliant contact: name -> summary.");
  m.def(
      "controllers", [] { return listed(controllers()); }, nb::sig("def controllers() -> dict[str, str]"),
      "Known controllers: name -> summary.");
  m.def(
      "solvers", [] { return listed(contact_solvers()); }, nb::sig("def solvers() -> dict[str, str]"),
      "Known contact solvers: name -> summary.");
}
