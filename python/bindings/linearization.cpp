// The derivative of a step.
#include "tribo/linearization.hpp"

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "extras.hpp"
#include "linalg/backward_pass.hpp"
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

nb::list sensors(const Linearization& lin) {
  nb::list list;
  for (std::size_t i = 0; i < lin.rows.size(); ++i)
    list.append(nb::make_tuple(lin.row_name(static_cast<int>(i)), lin.rows[i].unique));
  return list;
}

using CubeIn = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Sizes are those of tribo.mpc, which alone calls it.
nb::object backward(const CubeIn& A, const CubeIn& B, const MatrixIn& l_x, const CubeIn& l_xx, const MatrixIn& l_u,
                    const CubeIn& l_uu, double regularisation) {
  const std::size_t T = A.shape(0), n = A.shape(1), m = B.shape(2);
  const bool fits = A.shape(2) == n && B.shape(0) == T && B.shape(1) == n && l_x.shape(0) == T + 1 &&
                    l_x.shape(1) == n && l_xx.shape(0) == T + 1 && l_xx.shape(1) == n && l_xx.shape(2) == n &&
                    l_u.shape(0) == T && l_u.shape(1) == m && l_uu.shape(0) == T && l_uu.shape(1) == m &&
                    l_uu.shape(2) == m;
  if (!fits) throw InvalidInput("backward pass: the shapes of the stages do not go together");
  StageArrays in{static_cast<int>(T), static_cast<int>(n), static_cast<int>(m)};
  in.A = A.data(), in.B = B.data(), in.l_x = l_x.data(), in.l_xx = l_xx.data(), in.l_u = l_u.data();
  in.l_uu = l_uu.data(), in.regularisation = regularisation;
  std::vector<double> K(T * m * n), k(T * m);
  double expected = 0;
  bool found = false;
  {
    nb::gil_scoped_release release;
    found = backward_pass(in, K.data(), k.data(), expected);
  }
  if (!found) return nb::none();
  return nb::make_tuple(copied_rows(K.data(), T * m, n), copied_rows(k.data(), T, m), expected);
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
      .def_prop_ro(
          "P", [](const Linearization& l) { return matrix(l.P); },
          "(2 nv x parameters), by the parameters that were asked for", nb::rv_policy::automatic)
      .def_ro("parameters", &Linearization::parameters, "names of the columns of P and E")
      .def_prop_ro(
          "C", [](const Linearization& l) { return matrix(l.C); },
          "(ny x 2 nv): dy = C dx + D du + E dp, y of the sensors that were asked for at the end of the step",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "D", [](const Linearization& l) { return matrix(l.D); }, "(ny x nu)", nb::rv_policy::automatic)
      .def_prop_ro(
          "E", [](const Linearization& l) { return matrix(l.E); }, "(ny x parameters)", nb::rv_policy::automatic)
      .def_prop_ro(
          "y", [](const Linearization& l) { return copied(l.y); }, "what the sensors measure (ny)",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "sensors", sensors, nb::sig("def sensors(self) -> list[tuple[str, bool]]"),
          "name of each row of y, C, D and E, and whether its slope is unique: a force that is not has that of "
          "least change")
      .def_prop_ro(
          "parameters_reason", [](const Linearization& l) { return std::string(l.parameters_reason); },
          "why P is by differences; '': it is analytic")
      .def_prop_ro(
          "sensors_reason", [](const Linearization& l) { return std::string(l.sensors_reason); },
          "why C, D and E are by differences; '': they are analytic")
      .def_prop_ro(
          "whole_A", [](const Linearization& l) { return matrix(l.whole_A); },
          "with memory=True: from (x, m) to (x+, m+), where m is what compliant contacts remember: of each one that "
          "touched, "
          "its anchor in the frame of body a, its point in that of b, and its gap without load; then the forces of dry "
          "friction. The m+ of a step are the m of the next one",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "whole_B", [](const Linearization& l) { return matrix(l.whole_B); }, "the same by u",
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
            const auto part = [&](Eigen::Index first, Eigen::Index n) {
              return copied(x.data() + first, static_cast<std::size_t>(n));
            };
            const Eigen::Index n = l.A.cols(), m = l.B.cols();
            if (l.parameters.empty()) return nb::make_tuple(part(0, n), part(n, m));
            return nb::make_tuple(part(0, n), part(n, m), part(n + m, x.size() - n - m));
          },
          "w"_a, nb::sig("def vjp(self, w: numpy.typing.ArrayLike) -> tuple[numpy.ndarray, ...]"),
          "A^T w (2 nv) and B^T w (nu); and P^T w, where parameters were asked for.");
  nb::class_<DerivativeCheck>(m, "DerivativeCheck", "A linearisation beside central differences of the same step.")
      .def_ro("error", &DerivativeCheck::error, "largest difference, relative to the largest entry of its block")
      .def_ro("row", &DerivativeCheck::row, "where")
      .def_ro("column", &DerivativeCheck::column, "where; columns of B count on from those of A")
      .def_ro("columns", &DerivativeCheck::columns, "compared")
      .def_ro("disturbed", &DerivativeCheck::disturbed,
              "columns that were not: a contact, a row or a drive changes its mode within the difference")
      .def_ro("linearization", &DerivativeCheck::linearization)
      .def_ro("differences", &DerivativeCheck::differences);
  m.def("_backward_pass", backward, "A"_a, "B"_a, "l_x"_a, "l_xx"_a, "l_u"_a, "l_uu"_a, "regularisation"_a,
        nb::sig("def _backward_pass(A: object, B: object, l_x: object, l_xx: object, l_u: object, l_uu: object, "
                "regularisation: float) -> tuple[object, object, float] | None"));
}

}  // namespace tribo::python
