// Explanations and sensors, as Python holds them.
#pragma once

#include "arrays.hpp"
#include "tribo/explain.hpp"
#include "tribo/sensors.hpp"

namespace tribo::python {

struct Explanation {
  std::vector<Finding> findings;
  std::string text;
};

void bind_extras(nb::module_& m);
void bind_linearization(nb::module_& m);
void bind_batch(nb::module_& m);

}  // namespace tribo::python
