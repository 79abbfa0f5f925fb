#include "tribo/model.hpp"
#include "tribo/model_numbers.hpp"

namespace tribo {

Model Model::scaled(const ModelFactors& factors) const {
  OwnNumbers numbers(*this);
  numbers.scale(factors);
  Model model = *this;
  set_numbers(model, *this, numbers.rows());
  return model;
}

}  // namespace tribo
