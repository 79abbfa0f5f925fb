// TOML files as plain values that know their line, and sections of them that know which keys were asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

struct TomlValue {
  enum class Kind { Table, Array, Text, Integer, Real, Flag };
  Kind kind = Kind::Table;
  int line = 0;       ///< 0: given on the command line
  double number = 0;  ///< Integer and Real
  bool flag = false;
  std::string text;
  std::vector<std::string> keys;  ///< of a table: keys[i] names items[i]
  std::vector<TomlValue> items;   ///< of a table or an array

  const TomlValue* find(const std::string& key) const;
  TomlValue* find(const std::string& key);
  bool is_number() const { return kind == Kind::Integer || kind == Kind::Real; }
};

/// InvalidInput says "FILE:LINE: reason".
TomlValue parse_toml(const std::string& text, const std::string& file);
/// Sets root.path to the value, parsed as TOML; a bare word is a string. Items of an array go by their index.
void apply_override(TomlValue& root, const std::string& path, const std::string& value);

/// "the number 3", "an array of 2"
std::string kind_name(const TomlValue& value);

enum class Bound { Any, NonNegative, Positive };

/// A table of a file that is read key by key. What was not asked for is an error at finish().
class Section {
 public:
  Section(const TomlValue& table, std::string file, std::string label);

  const std::string& label() const { return label_; }
  const std::string& file() const { return file_; }
  const TomlValue& table() const { return *table_; }
  /// "FILE:LINE: [label] message"; the line of the key where it is there.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;
  [[noreturn]] void fail(const TomlValue& at, const std::string& message) const;

  bool has(const std::string& key);
  /// The old key of an earlier version: where it is used, finish() answers with the new one.
  void renamed(const std::string& old, const std::string& now) { renamed_.emplace_back(old, now); }
  const TomlValue* value(const std::string& key);

  double number(const std::string& key, double fallback, Bound bound = Bound::Any);
  double number(const std::string& key, Bound bound = Bound::Any);  ///< must be there
  int integer(const std::string& key, int fallback, int least, int most);
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key, const std::string& fallback);
  std::string text(const std::string& key);  ///< must be there
  /// One of the choices.
  std::string choice(const std::string& key, const std::string& fallback, const std::vector<std::string>& choices);
  Vec3 vec3(const std::string& key, const Vec3& fallback);
  std::vector<double> numbers(const std::string& key, const std::string& of_what);
  std::vector<std::string> texts(const std::string& key);
  Section inner(const std::string& key);                ///< an empty one where it is absent
  std::vector<Section> tables(const std::string& key);  ///< [key] or [[key]]

  /// Finite number of a value within the bound.
  double number_of(const TomlValue& value, const std::string& key, Bound bound = Bound::Any) const;
  /// InvalidInput for keys that nobody asked for: names the line, and the nearest known key where hint(key) has
  /// nothing better to say.
  void finish(const std::function<std::string(const std::string&)>& hint = {}) const;

  /// Runs f; an InvalidInput of it is told with the place of the key (or of the section).
  template <class F>
  decltype(auto) at(const std::string& key, F&& f) const {
    try {
      return f();
    } catch (const InvalidInput& error) {
      rethrow(key, error);
    }
  }

 private:
  std::string place(const TomlValue& value) const;
  std::string path(const std::string& key) const;  // with the sections around it
  [[noreturn]] void rethrow(const std::string& key, const InvalidInput& error) const;

  const TomlValue* table_;
  std::string file_, label_;
  std::vector<std::string> known_;
  std::vector<std::pair<std::string, std::string>> renamed_;
};

}  // namespace tribo
