// NumPy arrays over memory that C++ owns, and the other way.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tribo/types.hpp"

namespace tribo {
struct State;
}

namespace tribo::python {

namespace nb = nanobind;

using View = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;
using ConstView = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>;
using MatrixView = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;
using ConstMatrixView = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;
/// What a function takes: anything that NumPy can make into doubles, without a copy where it is that already.
using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// No copy: the array keeps its owner alive.
inline ConstView view(const VecX& x, nb::handle owner) {
  return ConstView(x.data(), {static_cast<std::size_t>(x.size())}, owner);
}
inline View view(VecX& x, nb::handle owner) { return View(x.data(), {static_cast<std::size_t>(x.size())}, owner); }

/// An array that owns a copy.
inline View copied(const double* x, std::size_t n) {
  auto* data = new double[n];
  std::copy(x, x + n, data);
  return View(data, {n}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<double*>(p); }));
}
inline View copied(const VecX& x) { return copied(x.data(), static_cast<std::size_t>(x.size())); }
inline View copied(const Vec3& x) { return copied(x.data(), 3); }
inline MatrixView copied_rows(const double* x, std::size_t rows, std::size_t cols) {
  auto* data = new double[rows * cols];
  std::copy(x, x + rows * cols, data);
  return MatrixView(data, {rows, cols}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<double*>(p); }));
}
/// Eigen's columns become NumPy's rows.
inline MatrixView copied(const Mat3& x) {
  const Mat3 rows = x.transpose();
  return copied_rows(rows.data(), 3, 3);
}

inline VecX vector(const VectorIn& x) {
  return Eigen::Map<const VecX>(x.data(), static_cast<Eigen::Index>(x.shape(0)));
}
/// InvalidInput where the size is another one.
inline VecX vector(const VectorIn& x, int n, const std::string& name) {
  if (static_cast<int>(x.shape(0)) != n)
    throw InvalidInput(name + " has " + std::to_string(x.shape(0)) + " entries, must have " + std::to_string(n));
  return vector(x);
}
inline Vec3 vec3(const VectorIn& x, const std::string& name) { return vector(x, 3, name); }
inline Mat3 mat3(const MatrixIn& x, const std::string& name) {
  if (x.shape(0) != 3 || x.shape(1) != 3) throw InvalidInput(name + " must be a 3 x 3 matrix");
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.data());
}

/// A placement as a 4 x 4 matrix by rows.
inline void write_homogeneous(const Placement& X, double* m) {
  std::fill_n(m, 16, 0.0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) m[4 * i + j] = X.R(i, j);
    m[4 * i + 3] = X.p[i];
  }
  m[15] = 1;
}
inline MatrixView homogeneous(const Placement& X) {
  double m[16];
  write_homogeneous(X, m);
  return copied_rows(m, 4, 4);
}

/// A pose out of a 4 x 4 matrix. InvalidInput where it is none.
inline Placement placement(const MatrixIn& x, const std::string& name) {
  if (x.shape(0) != 4 || x.shape(1) != 4) throw InvalidInput(name + " must be a 4 x 4 matrix");
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> m(x.data());
  const Placement X{m.topLeftCorner<3, 3>(), m.topRightCorner<3, 1>()};
  if (!m.allFinite() || !((X.R * X.R.transpose() - Mat3::Identity()).norm() < 1e-6) || X.R.determinant() < 0)
    throw InvalidInput(name + ": its upper left 3 x 3 block is not a rotation, or it is not finite");
  return X;
}

std::string hex(std::uint64_t value);
/// A UserWarning where the stepper forgets what contacts of the state remember.
void warn_forgotten(const State& state, const std::string& stepper);

// One for each file of bindings.
void bind_model(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_state(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_hand(nb::module_& m);

}  // namespace tribo::python
