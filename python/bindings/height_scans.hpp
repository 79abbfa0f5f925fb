// Height scans and points on bodies as Python asks for them.
#pragma once

#include "arrays.hpp"
#include "tribo/batch.hpp"

namespace tribo::python {

/// Geometries of a robot or object, of a body, or the one that is called so; "world": all that is fixed.
std::vector<int> geometries(const Model& model, const std::string& name);

/// 1 for each geometry of these names; empty where there are none.
std::vector<char> ignored_geometries(const Model& model, const std::vector<std::string>& names);

HeightScan height_scan_of(const Model& model, const std::string& name, const MatrixIn& points, double above,
                          double most, const std::vector<std::string>& ignored);

/// Points (n x 3) of so many bodies, in their frames.
std::vector<Place> places_of(const Model& model, const std::vector<int>& bodies, const MatrixIn& points);

}  // namespace tribo::python
