// The derivative of a step.
#include "tribo/linearization.hpp"

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "extras.hpp"
#include "runner.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

MatrixView matrix(const MatX& x) {
  const MatX rows = x.transpose();
  return copied_rows(rows.data(), static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols()));
}

nb::list contacts(const Linearization& lin) {
  nb::list list;
  for (const LinearizedContact& c : lin.contacts) list.append(nb::make_tuple(c.id, c.mode, c.weak));
  return list;
}

}  // namespace

void bind_linearization(nb::module_& m) {
  nb::class_<Linearization>(m, "Linearization",
                            "The derivative of a step: dx+ = A dx + B du, with x = (q, v) in the tangent of q.")
      .def_prop_ro(
          "A", [](const Linearization& l) { return matrix(l.A); }, "(2 nv x 2 nv)", nb::rv_policy::automatic)
      .def_prop_ro(
          "B", [](const Linearization& l) { return matrix(l.B); },
          "(2 nv x nu), by the torque of each coordinate with a motor, or by its velocity target where it has one",
          nb::rv_policy::automatic)
      .def_ro("inputs", &Linearization::inputs, "velocity coordinate of each column of B")
      .def_prop_ro(
          "q_next", [](const Linearization& l) { return copied(l.q_next); }, "at the end of the step (nq)",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "v_next", [](const Linearization& l) { return copied(l.v_next); }, "at the end of the step (nv)",
          nb::rv_policy::automatic)
      .def_prop_ro("contacts", contacts, nb::sig("def contacts(self) -> list[tuple[int, ContactMode, bool]]"),
                   "id, mode, and whether it is at the edge of its mode")
      .def_ro("weak", &Linearization::weak,
              "contacts and rows at the edge of their mode: A and B hold on one side of it")
      .def_ro("margin", &Linearization::margin, "how far the nearest one is from it, a share of the scales of the step")
      .def_ro("unique", &Linearization::unique,
              "False: contacts that slip share their load in more than one way, and A depends on it")
      .def_ro("finite", &Linearization::finite, "False: the step or its derivative is not finite, A and B are zero")
      .def_prop_ro(
          "method", [](const Linearization& l) { return to_string(l.method); }, "'analytic' or 'differences'")
      .def_prop_ro(
          "reason", [](const Linearization& l) { return std::string(l.reason); }, "why the method is not analytic")
      .def_ro("status", &Linearization::status, "of the step")
      .def(
          "jvp",
          [](const Linearization& l, const VectorIn& dx, std::optional<VectorIn> du) {
            return copied(l.jvp(vector(dx), du ? vector(*du) : VecX()));
          },
          "dx"_a, "du"_a = nb::none(), "A dx + B du (2 nv).", nb::rv_policy::automatic)
      .def(
          "vjp",
          [](const Linearization& l, const VectorIn& w) {
            const VecX x = l.vjp(vector(w));
            return nb::make_tuple(copied(x.data(), static_cast<std::size_t>(l.A.cols())),
                                  copied(x.data() + l.A.cols(), static_cast<std::size_t>(l.B.cols())));
          },
          "w"_a, nb::sig("def vjp(self, w: numpy.typing.ArrayLike) -> tuple[numpy.ndarray, numpy.ndarray]"),
          "A^T w (2 nv) and B^T w (nu).");
  nb::class_<DerivativeCheck>(m, "DerivativeCheck", "A linearisation beside central differences of the same step.")
      .def_ro("error", &DerivativeCheck::error, "largest difference, relative to the largest entry of its block")
      .def_ro("row", &DerivativeCheck::row, "where")
      .def_ro("column", &DerivativeCheck::column, "where; columns of B count on from those of A")
      .def_ro("columns", &DerivativeCheck::columns, "compared")
      .def_ro("disturbed", &DerivativeCheck::disturbed,
              "columns that were not: a contact, a row or a drive changes its mode within the difference")
      .def_ro("linearization", &DerivativeCheck::linearization)
      .def_ro("differences", &DerivativeCheck::differences);
}

}  // namespace tribo::python
