#include "tribo/options.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

template <class List, class Words>
std::string either(const List& list, Words&& words) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "" : i + 1 == list.size() ? " or " : ", ") + words(list[i]);
  return text;
}

std::string in_words(const OptionValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const int* whole = std::get_if<int>(&value)) return std::to_string(*whole);
  if (const double* x = std::get_if<double>(&value)) return shown(*x);
  return "\"" + std::get<std::string>(value) + "\"";
}

}  // namespace

bool Range::holds(double x) const {
  if (!only.empty()) return std::find(only.begin(), only.end(), x) != only.end();
  if (std::isinf(x) && !infinite) return false;
  return open ? x > least && x <= most : x >= least && x <= most;
}

std::string Range::words() const {
  if (!only.empty()) return either(only, [](int x) { return std::to_string(x); });
  const bool below = std::isfinite(least), above = std::isfinite(most);
  if (below && above && !open) return "from " + shown(least) + " to " + shown(most);
  std::string text;
  if (below) text = (open ? "> " : ">= ") + shown(least);
  if (above) text += (below ? " and <= " : "<= ") + shown(most);
  return text;
}

std::string Field::allowed() const {
  switch (kind) {
    case Kind::Flag:
      return "true or false";
    case Kind::Choice:
      return either(choices, [](const std::string& x) { return x; });
    case Kind::Text:
      return "a text";
    case Kind::Other:
      return allowed_words;
    case Kind::Integer:
    case Kind::Number:
      break;
  }
  std::string words = range.words();
  if (range.only.empty())
    words = (kind == Kind::Integer ? "a whole number" : "a number") + (words.empty() ? "" : " " + words);
  return unit.empty() ? words : words + " [" + unit + "]";
}

std::string Field::default_text() const {
  if (kind == Kind::Other) return fallback_words;
  if (!fallback_words.empty()) return fallback_words;
  if (const auto* text = std::get_if<std::string>(&fallback)) return *text;
  return in_words(fallback);
}

std::string Field::defect(const OptionValue& value) const {
  if (kind == Kind::Other) return name + " cannot be set by its value alone";
  bool good = value.index() == fallback.index();
  if (good && kind == Kind::Choice)
    good = std::find(choices.begin(), choices.end(), std::get<std::string>(value)) != choices.end();
  if (good && kind == Kind::Integer) good = range.holds(std::get<int>(value));
  if (good && kind == Kind::Number) {
    const double x = std::get<double>(value);
    good = range.holds(x) || (std::isnan(x) && std::isnan(std::get<double>(fallback)));
  }
  if (good) return "";
  std::string bound = range.words();
  if (kind == Kind::Number && !range.infinite) bound = "finite" + (bound.empty() ? "" : " and " + bound);
  if (kind == Kind::Number && !unit.empty()) bound += " " + unit;
  return name + " = " + in_words(value) + ", must be " +
         (kind == Kind::Number && value.index() == 2 ? bound : allowed());
}

const Field* OptionTable::find(const std::string& name) const {
  for (const Field& field : fields_)
    if (field.name == name) return &field;
  return nullptr;
}

void OptionTable::set(Options& options, const std::string& name, const OptionValue& value,
                      const std::string& owner) const {
  const Field* field = find(name);
  if (field == nullptr) {
    std::vector<std::string> known;
    for (const Field& f : fields_) {
      if (std::find(f.formerly.begin(), f.formerly.end(), name) != f.formerly.end())
        throw InvalidInput(owner + ": '" + name + "' is now called '" + f.name + "'");
      known.push_back(f.name);
    }
    throw InvalidInput(owner + ": " + unknown_name("option", name, known));
  }
  OptionValue given = value;
  if (field->kind == Field::Kind::Number && std::holds_alternative<int>(given)) given = double(std::get<int>(given));
  const std::string defect = field->defect(given);
  if (!defect.empty()) throw InvalidInput(owner + ": " + defect);
  options = take_(options, owner);
  field->set(options, given);
}

void OptionTable::check(const Options& options, const std::string& owner) const {
  if (!take_) {
    if (!options.empty()) throw InvalidInput(owner + " has no options");
    return;
  }
  const Options own = take_(options, owner);
  for (const Field& field : fields_) {
    if (field.kind == Field::Kind::Other) continue;
    const std::string defect = field.defect(field.get(own));
    if (!defect.empty()) throw InvalidInput(owner + ": " + defect);
  }
}

}  // namespace tribo
