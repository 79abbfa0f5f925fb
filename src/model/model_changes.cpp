#include "tribo/model_changes.hpp"

#include "base/names.hpp"
#include "tribo/model_numbers.hpp"

namespace tribo {

Model changed(const Model& model, const ModelChanges& changes) {
  OwnNumbers numbers(model);
  numbers.change(model, changes);
  if (const std::string why = defect(model, numbers.rows()); !why.empty()) throw InvalidInput(why);
  Model other = model;
  set_numbers(other, model, numbers.rows());
  if (changes.without.empty() && changes.equalities.empty()) return other;
  std::vector<char> gone(model.equalities.size());
  for (int index : changes.without) {
    if (index < 0 || at(index) >= gone.size())
      throw InvalidInput("equality " + std::to_string(index) + " is not there");
    gone[at(index)] = 1;
  }
  other.equalities.clear();
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) other.equalities.push_back(model.equalities[i]);
  for (const Equality& more : changes.equalities) other.equalities.push_back(more);
  other.set_hash();
  return other;
}

}  // namespace tribo
