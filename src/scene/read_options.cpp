#include "scene/read_options.hpp"

#include <cmath>

#include "base/names.hpp"
#include "base/problems.hpp"

namespace tribo {
namespace {

// A value of the file as the field has it; what is of another kind fails.
OptionValue value_of(Section& section, const Field& field, const TomlValue& value) {
  switch (field.kind) {
    case Field::Kind::Flag:
      if (value.kind == TomlValue::Kind::Flag) return value.flag;
      break;
    case Field::Kind::Integer:
      if (value.kind == TomlValue::Kind::Integer && std::abs(value.number) <= 2147483647.0)
        return static_cast<int>(value.number);
      break;
    case Field::Kind::Number:
      if (value.is_number()) return value.number;
      break;
    case Field::Kind::Choice:
      if (value.kind != TomlValue::Kind::Text) break;
      if (!field.defect(value.text).empty()) section.fail(value, unknown_name(field.name, value.text, field.choices));
      return value.text;
    case Field::Kind::Text:
      if (value.kind == TomlValue::Kind::Text) return value.text;
      break;
    case Field::Kind::Other:
      break;
  }
  section.fail(value, field.name + " must be " + field.allowed() + ", is " + kind_name(value));
}

void read_field(Section& section, const OptionTable& table, const Field& field, Options& options) {
  const TomlValue& value = *section.value(field.name);
  const OptionValue given = value_of(section, field, value);
  if (const std::string defect = field.defect(given); !defect.empty()) section.fail(value, defect);
  const auto& [other, choice] = field.only_with;
  if (!other.empty() && std::get<std::string>(table.find(other)->get(options)) != choice)
    section.fail(value, field.name + " belongs to " + other + " = \"" + choice + "\"");
  field.set(options, given);
}

}  // namespace

bool read_options(Section& section, const OptionTable& table, Options& options) {
  Options read = options.empty() ? table.defaults() : options;
  bool any = false;
  for (const Field& field : table.fields()) {
    if (field.kind == Field::Kind::Other || !section.has(field.name)) continue;
    any = true;
    attempt([&] { read_field(section, table, field, read); });
  }
  if (any) options = std::move(read);
  return any;
}

}  // namespace tribo
