// Options of an entry of a table (solver, stepper, law, controller): a plain struct, and a table of its fields.
//
// The table alone drives the keys of a scene, `--set`, the settings of Python, `tribo list`, docs/options.md and the
// checks. A program uses the struct itself.
#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// Options structs that share a base name it as `Family`, so that the base alone can be set for any of them.
template <class T>
concept InFamily = requires {
  typename T::Family;
}
&&std::derived_from<T, typename T::Family>;

/// The options struct of some entry, or nothing: then the entry takes its defaults. Copies are deep.
class Options {
 public:
  Options() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, Options>) Options(T value)  // NOLINT: a struct is its options
      : value_(std::move(value)) {
    note<T>();
  }

  bool empty() const { return !value_.has_value(); }
  /// The struct T, made with its defaults where there is nothing yet. Options of the base of T become those of T.
  /// InvalidInput where the options are another entry's.
  template <class T>
  T& as() {
    if (empty()) {
      value_ = T{};
      note<T>();
    }
    if (T* own = std::any_cast<T>(&value_)) return *own;
    if (is_base<T>()) return *static_cast<T*>(base_of_mine_(value_));
    if constexpr (InFamily<T>)
      if (const auto* base = std::any_cast<typename T::Family>(&value_)) {
        T whole;
        static_cast<typename T::Family&>(whole) = *base;
        value_ = std::move(whole);
        note<T>();
        return *std::any_cast<T>(&value_);
      }
    throw InvalidInput("these are the options of another entry");
  }
  /// The struct T, or the base T of what is held; null where it is neither.
  template <class T>
  const T* find() const {
    if (const T* own = std::any_cast<T>(&value_)) return own;
    if (is_base<T>()) return static_cast<const T*>(base_(value_));
    return nullptr;
  }
  /// What an entry with the options T was given, its defaults where that is nothing. owner: "solver 'lemke'".
  template <class T>
  T taken(const std::string& owner) const {
    Options copy = *this;
    try {
      return copy.as<T>();
    } catch (const InvalidInput&) {
      throw InvalidInput(owner + ": the options given are those of another entry");
    }
  }

 private:
  /// Is T the base of what is held?
  template <class T>
  bool is_base() const {
    if constexpr (InFamily<T>)
      return std::same_as<T, typename T::Family> && family_ != nullptr && *family_ == typeid(T);
    return false;
  }
  template <class T>
  void note() {
    family_ = nullptr;
    if constexpr (InFamily<T>) {
      using Family = typename T::Family;
      family_ = &typeid(Family);
      base_ = [](const std::any& value) -> const void* { return static_cast<const Family*>(std::any_cast<T>(&value)); };
      base_of_mine_ = [](std::any& value) -> void* { return static_cast<Family*>(std::any_cast<T>(&value)); };
    }
  }

  std::any value_;
  const std::type_info* family_ = nullptr;
  const void* (*base_)(const std::any&) = nullptr;
  void* (*base_of_mine_)(std::any&) = nullptr;
};

/// The value of a field as a scene writes it; a choice is its name.
using OptionValue = std::variant<bool, int, double, std::string>;

/// What a number may be.
struct Range {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool open = false;      ///< least itself is not allowed
  bool infinite = false;  ///< inf is allowed
  std::vector<int> only;  ///< these whole numbers alone; empty: all in the range

  bool holds(double x) const;
  /// "> 0", "from 0 to 1", "4, 8 or 16"; "" where anything is allowed.
  std::string words() const;
};
inline Range any_number() { return {}; }
inline Range positive(double most = std::numeric_limits<double>::infinity()) { return {0, most, true, false, {}}; }
inline Range at_least(double least) { return {least, std::numeric_limits<double>::infinity(), false, false, {}}; }
inline Range within(double least, double most) { return {least, most, false, false, {}}; }
inline Range one_of(std::vector<int> numbers) {
  Range range;
  range.only = std::move(numbers);
  return range;
}

/// One option: its name in scenes, what it may be, what it means.
struct Field {
  enum class Kind { Flag, Integer, Number, Choice, Text, Other };  ///< Other: read by the entry itself
  std::string name;
  Kind kind = Kind::Number;
  std::string unit;                               ///< "" where it has none
  Range range;                                    ///< of numbers
  std::vector<std::string> choices;               ///< of a choice
  std::string text;                               ///< one line
  std::string allowed_words;                      ///< of Kind::Other: what it may be
  OptionValue fallback;                           ///< the default
  std::string fallback_words;                     ///< what a default of NaN stands for
  std::pair<std::string, std::string> only_with;  ///< it has a meaning only where this other choice is so
  std::vector<std::string> formerly;              ///< names that it had
  std::function<OptionValue(const Options&)> get;
  std::function<void(Options&, const OptionValue&)> set;

  /// "true or false", "a number > 0 [s]", "surface, detected or surface-unsplit"
  std::string allowed() const;
  /// The default as a scene would write it.
  std::string default_text() const;
  /// "" where the value is allowed; else "NAME = VALUE, must be …".
  std::string defect(const OptionValue& value) const;
};

/// The fields of an options struct.
class OptionTable {
 public:
  const std::vector<Field>& fields() const { return fields_; }
  const Field* find(const std::string& name) const;
  /// The struct with its defaults; empty where the entry has no options.
  Options defaults() const { return take_ ? take_({}, "") : Options(); }
  /// InvalidInput names the owner, the field, its value and bound; the nearest name where it is unknown.
  void set(Options& options, const std::string& name, const OptionValue& value, const std::string& owner) const;
  /// InvalidInput where a value is out of its bounds, or the options are another entry's. owner: "solver 'lemke'".
  void check(const Options& options, const std::string& owner) const;

 protected:
  std::vector<Field> fields_;
  std::function<Options(const Options&, const std::string&)> take_;  // those given as the struct of this table
};

/// A table under construction: FieldTable<MyOptions> table; table.add("gain", &MyOptions::gain, positive(), "1/s", "…").
/// Access is a pointer to a member, or a function that returns a reference to it.
template <class T>
class FieldTable : public OptionTable {
 public:
  FieldTable() {
    take_ = [](const Options& options, const std::string& owner) { return Options(options.taken<T>(owner)); };
  }

  template <class Access>
  Field& add(const std::string& name, Access access, const Range& range, const std::string& unit,
             const std::string& text) {
    using V = Value<Access>;
    static_assert(std::same_as<V, double> || std::same_as<V, int>, "bounds belong to numbers");
    Field& field = begin<Access>(name, access, text);
    field.kind = std::same_as<V, int> ? Field::Kind::Integer : Field::Kind::Number;
    field.unit = unit;
    field.range = range;
    return field;
  }
  template <class Access>
  Field& add(const std::string& name, Access access, const std::string& text) {
    using V = Value<Access>;
    static_assert(std::same_as<V, bool> || std::same_as<V, std::string>, "a number needs bounds, a choice its names");
    Field& field = begin<Access>(name, access, text);
    field.kind = std::same_as<V, bool> ? Field::Kind::Flag : Field::Kind::Text;
    return field;
  }
  /// A key that the entry reads itself: it is listed and belongs to the entry, and is not read here.
  Field& mention(const std::string& name, const std::string& allowed, const std::string& fallback,
                 const std::string& text) {
    fields_.emplace_back();
    Field& field = fields_.back();
    field.name = name;
    field.kind = Field::Kind::Other;
    field.text = text;
    field.allowed_words = allowed;
    field.fallback_words = fallback;
    return field;
  }
  template <class Access, class E = std::remove_reference_t<std::invoke_result_t<Access, T&>>>
  requires std::is_enum_v<E> Field& add(const std::string& name, Access access,
                                        const std::vector<std::pair<std::string, E>>& choices,
                                        const std::string& text) {
    fields_.emplace_back();
    Field& field = fields_.back();
    field.name = name;
    field.kind = Field::Kind::Choice;
    field.text = text;
    for (const auto& choice : choices) field.choices.push_back(choice.first);
    field.get = [access, choices](const Options& options) -> OptionValue {
      T held = *options.find<T>();
      const E value = std::invoke(access, held);
      for (const auto& choice : choices)
        if (choice.second == value) return choice.first;
      return std::string();
    };
    field.set = [access, choices](Options& options, const OptionValue& value) {
      for (const auto& choice : choices)
        if (choice.first == std::get<std::string>(value)) std::invoke(access, options.as<T>()) = choice.second;
    };
    field.fallback = field.get(Options(T{}));
    return field;
  }

 private:
  template <class Access>
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, T&>>;

  template <class Access>
  Field& begin(const std::string& name, Access access, const std::string& text) {
    using V = Value<Access>;
    fields_.emplace_back();
    Field& field = fields_.back();
    field.name = name;
    field.text = text;
    field.get = [access](const Options& options) -> OptionValue {
      T held = *options.find<T>();
      return std::invoke(access, held);
    };
    field.set = [access](Options& options, const OptionValue& value) {
      std::invoke(access, options.as<T>()) = std::get<V>(value);
    };
    field.fallback = field.get(Options(T{}));
    return field;
  }
};

/// docs/options.md: every entry with its options. Made by `tribo list options --page`.
std::string option_page();

}  // namespace tribo
