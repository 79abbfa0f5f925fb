#include "readers/toml_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include "base/names.hpp"
#include "base/problems.hpp"

namespace tribo {
namespace {

const TomlValue empty_table;
constexpr int most_nested = 16;  // parts of a dotted key, and brackets in brackets; each level is a call on the stack

/// Where the string that begins at `at` ends: beyond its last quote, or at the end of a line that does not close it.
std::size_t end_of_string(const std::string& text, std::size_t at) {
  const char quote = text[at];
  const bool long_one = text.compare(at, 3, std::string(3, quote)) == 0;
  const std::string closing(long_one ? 3 : 1, quote);
  for (at += closing.size(); at < text.size(); ++at) {
    if (!long_one && (text[at] == '\n' || text[at] == '\r')) return at;
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.compare(at, closing.size(), closing) == 0) {
      at += closing.size();
      // Up to two quotes of its own may stand before the three that close it.
      for (int k = 0; long_one && k < 2 && at < text.size() && text[at] == quote; ++k) ++at;
      return at;
    }
  }
  return text.size();
}

/// Bounds what nests, before the parser and its destructors follow it down the stack.
void check_depth(const std::string& text, const std::string& file) {
  int line = 1, dots = 0, brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, i);
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end - 1;
      continue;
    }
    if (c == '#') i = std::min(text.find_first_of("\r\n", i), text.size()) - 1;
    if (c == '\n') ++line;
    if (c == '.') ++dots;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    if (std::string_view("=,[]{}\r\n").find(c) != std::string_view::npos) dots = 0;
    if (dots >= most_nested || brackets > most_nested)
      throw InvalidInput(file + ":" + std::to_string(line) + ": nested deeper than " + std::to_string(most_nested) +
                         " levels");
  }
}

/// Whether a quote or a bracket opens something where it stands: a key or a value can begin there. In a bare value, as in
/// `0["x`, it is a letter like others.
class Openings {
 public:
  bool here() const {
    return std::string_view("=,[{\r\n").find(last_) != std::string_view::npos || (last_ == '.' && key_);
  }
  /// Takes the next character that is no space, or the quote of a string that is over.
  void pass(char c) {
    const bool opens = here();
    last_ = c;
    if (c == '[' || c == '{') {
      if (!opens)
        last_ = 'x';
      else
        open_ += c, key_ = key_ || c == '{';
    } else if ((c == ']' || c == '}') && !open_.empty()) {
      open_.pop_back();
    } else if (c == '=') {
      key_ = false;
    } else if (c == ',') {
      key_ = !open_.empty() && open_.back() == '{';
    } else if (c == '\n' || c == '\r') {
      key_ = open_.empty();
    }
  }

 private:
  char last_ = '\n';
  bool key_ = true;  // a key is being read, or begins: its parts may be strings
  std::string open_;
};

/// First character beyond ASCII where TOML has none, or its end: outside of strings and comments, and what follows a backslash.
/// (toml++ 3.3 asks there whether letters are spaces, by code that C++ leaves undefined.)
std::size_t misplaced_letter(const std::string& text) {
  const auto beyond = [&](std::size_t i) { return i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80; };
  Openings openings;
  for (std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; i < text.size(); ++i) {
    if (beyond(i)) return i;
    const bool string = (text[i] == '"' || text[i] == '\'') && openings.here();
    if (text[i] == '#') {
      i = std::min(text.find_first_of("\r\n", i), text.size()) - 1;
      continue;
    }
    if (text[i] != ' ' && text[i] != '\t') openings.pass(text[i]);
    if (!string) continue;
    const std::size_t end = end_of_string(text, i);
    for (std::size_t at = text[i] == '"' ? text.find('\\', i) : end; at < end; at = text.find('\\', at + 2))
      if (const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1); next < end && beyond(next)) return next;
    i = end - 1;
  }
  return text.size();
}

toml::table parsed(const std::string& text, const std::string& file) {
  check_depth(text, file);
  if (const std::size_t at = misplaced_letter(text); at < text.size()) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw InvalidInput(file + ":" + std::to_string(line) +
                       ": characters beyond ASCII stand in quotes and comments only");
  }
  return toml::parse(text);
}

TomlValue convert(const toml::node& node, const std::string& file) {
  TomlValue value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::Table;
    for (const auto& [key, item] : *table) {
      value.keys.emplace_back(key.str());
      value.items.push_back(convert(item, file));
      TomlValue& added = value.items.back();
      if (added.line == 0) added.line = static_cast<int>(key.source().begin.line);
    }
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::Array;
    for (const auto& item : *array) value.items.push_back(convert(item, file));
  } else if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::Text;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::Integer;
    value.number = static_cast<double>(integer->get());
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = TomlValue::Kind::Real;
    value.number = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.kind = TomlValue::Kind::Flag;
    value.flag = flag->get();
  } else {
    throw InvalidInput(file + ":" + std::to_string(value.line) + ": dates and times mean nothing here");
  }
  return value;
}

void forget_lines(TomlValue& value) {
  value.line = 0;
  for (TomlValue& item : value.items) forget_lines(item);
}

TomlValue parse_override(const std::string& path, const std::string& text) {
  const auto as_word = [&] {
    TomlValue word;
    word.kind = TomlValue::Kind::Text;
    word.text = text;
    return word;
  };
  if (misplaced_letter(text) < text.size()) return as_word();
  try {
    TomlValue table = convert(parsed("x = " + text, "--set " + path), "--set");
    if (table.keys.size() != 1) throw InvalidInput("--set " + path + "=" + text + ": give one value");
    forget_lines(table.items[0]);
    return table.items[0];
  } catch (const toml::parse_error&) {
    return as_word();
  }
}

// What f reads; where that is wrong and the errors are being collected, the fallback, so that reading goes on.
template <class T, class F>
T kept(const T& fallback, F&& f) {
  T value = fallback;
  attempt([&] { value = f(); });
  return value;
}

}  // namespace

std::string kind_name(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::Table:
      return "a table";
    case TomlValue::Kind::Array:
      return "an array of " + std::to_string(value.items.size());
    case TomlValue::Kind::Text:
      return "the text '" + value.text + "'";
    case TomlValue::Kind::Integer:
    case TomlValue::Kind::Real:
      return "the number " + shown(value.number);
    case TomlValue::Kind::Flag:
      return value.flag ? "true" : "false";
  }
  return "";
}

const TomlValue* TomlValue::find(const std::string& key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

TomlValue* TomlValue::find(const std::string& key) {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

TomlValue parse_toml(const std::string& text, const std::string& file) {
  try {
    return convert(parsed(text, file), file);
  } catch (const toml::parse_error& error) {
    throw InvalidInput(file + ":" + std::to_string(error.source().begin.line) + ": " +
                       std::string(error.description()));
  }
}

void apply_override(TomlValue& root, const std::string& path, const std::string& value) {
  const std::string owner = "--set " + path + "=" + value;
  if (std::count(path.begin(), path.end(), '.') >= most_nested)
    throw InvalidInput("--set " + path.substr(0, 40) + "…: the path has more than " + std::to_string(most_nested) +
                       " parts");
  TomlValue* at = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    begin = end + 1;
    if (key.empty()) throw InvalidInput(owner + ": empty key in the path");
    if (at->kind == TomlValue::Kind::Array) {
      char* rest = nullptr;
      const long index = std::strtol(key.c_str(), &rest, 10);
      if (*rest != '\0' || index < 0 || static_cast<std::size_t>(index) >= at->items.size())
        throw InvalidInput(owner + ": '" + key + "' must be an index from 0 to " +
                           std::to_string(at->items.size() - 1));
      at = &at->items[static_cast<std::size_t>(index)];
      continue;
    }
    if (at->kind != TomlValue::Kind::Table) throw InvalidInput(owner + ": there is no table to put '" + key + "' in");
    if (at->find(key) == nullptr) {
      at->keys.push_back(key);
      at->items.emplace_back();
    }
    at = at->find(key);
  }
  *at = parse_override(path, value);
}

Section::Section(const TomlValue& table, std::string file, std::string label)
    : table_(&table), file_(std::move(file)), label_(std::move(label)) {
  if (table.kind != TomlValue::Kind::Table) fail(table, "must be a table, is " + kind_name(table));
}

std::string Section::place(const TomlValue& value) const {
  return value.line > 0 ? file_ + ":" + std::to_string(value.line) : file_ + " with settings";
}

void Section::fail(const TomlValue& at, const std::string& message) const {
  throw InvalidInput(place(at) + ": " + (label_.empty() ? "" : label_ + " ") + message);
}

void Section::fail(const std::string& key, const std::string& message) const {
  const TomlValue* found = table_->find(key);
  fail(found ? *found : *table_, message);
}

void Section::rethrow(const std::string& key, const InvalidInput& error) const {
  const std::string text = error.what();
  // It names the file already, or, where a robot file is run as a scene, it is the file.
  if (text.compare(0, file_.size() + 1, file_ + ":") == 0 || text.compare(0, file_.size() + 5, file_ + " with") == 0 ||
      text.compare(0, 12 + file_.size(), "robot file '" + file_) == 0)
    throw error;
  fail(key, text);
}

const TomlValue* Section::value(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return table_->find(key);
}

bool Section::has(const std::string& key) { return value(key) != nullptr; }

double Section::number_of(const TomlValue& value, const std::string& key, Bound bound) const {
  if (!value.is_number()) fail(value, key + " must be a number, is " + kind_name(value));
  const double x = value.number;
  if (!std::isfinite(x)) fail(value, key + " = " + shown(x) + ", must be finite");
  if (bound == Bound::NonNegative && x < 0) fail(value, key + " = " + shown(x) + ", must be >= 0");
  if (bound == Bound::Positive && !(x > 0)) fail(value, key + " = " + shown(x) + ", must be > 0");
  return x;
}

double Section::number(const std::string& key, double fallback, Bound bound) {
  const TomlValue* found = value(key);
  return found ? kept(fallback, [&] { return number_of(*found, key, bound); }) : fallback;
}

double Section::number(const std::string& key, Bound bound) {
  return kept(1.0, [&] {
    if (!has(key)) fail(*table_, "needs '" + key + "', a number");
    return number(key, 1, bound);
  });
}

int Section::integer(const std::string& key, int fallback, int least, int most) {
  return kept(fallback, [&]() -> int {
    const TomlValue* found = value(key);
    if (found == nullptr) return fallback;
    if (found->kind != TomlValue::Kind::Integer || found->number < least || found->number > most)
      fail(*found, key + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                       ", is " + kind_name(*found));
    return static_cast<int>(found->number);
  });
}

bool Section::flag(const std::string& key, bool fallback) {
  return kept(fallback, [&]() -> bool {
    const TomlValue* found = value(key);
    if (found == nullptr) return fallback;
    if (found->kind != TomlValue::Kind::Flag) fail(*found, key + " must be true or false, is " + kind_name(*found));
    return found->flag;
  });
}

std::string Section::text(const std::string& key, const std::string& fallback) {
  return kept(fallback, [&]() -> std::string {
    const TomlValue* found = value(key);
    if (found == nullptr) return fallback;
    if (found->kind != TomlValue::Kind::Text) fail(*found, key + " must be a text, is " + kind_name(*found));
    return found->text;
  });
}

std::string Section::text(const std::string& key) {
  if (!has(key)) fail(*table_, "needs '" + key + "', a text");
  return text(key, "");
}

std::string Section::choice(const std::string& key, const std::string& fallback,
                            const std::vector<std::string>& choices) {
  return kept(fallback, [&]() -> std::string {
    std::string chosen = text(key, fallback);
    if (std::find(choices.begin(), choices.end(), chosen) == choices.end())
      fail(key, unknown_name(key, chosen, choices));
    return chosen;
  });
}

Vec3 Section::vec3(const std::string& key, const Vec3& fallback) {
  return kept(fallback, [&]() -> Vec3 {
    if (!has(key)) return fallback;
    const std::vector<double> x = numbers(key, "three numbers");
    if (x.size() != 3) fail(key, key + " must have three numbers, has " + std::to_string(x.size()));
    return Vec3(x[0], x[1], x[2]);
  });
}

std::vector<double> Section::numbers(const std::string& key, const std::string& of_what) {
  const TomlValue* found = value(key);
  if (found == nullptr) return {};
  if (found->kind != TomlValue::Kind::Array)
    fail(*found, key + " must be an array of " + of_what + ", is " + kind_name(*found));
  std::vector<double> list;
  for (const TomlValue& item : found->items) list.push_back(number_of(item, key));
  return list;
}

std::vector<std::string> Section::texts(const std::string& key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return {};
  if (found->kind != TomlValue::Kind::Array) fail(*found, key + " must be an array of texts, is " + kind_name(*found));
  std::vector<std::string> list;
  for (const TomlValue& item : found->items) {
    if (item.kind != TomlValue::Kind::Text) fail(item, key + " must be an array of texts, holds " + kind_name(item));
    list.push_back(item.text);
  }
  return list;
}

std::string Section::path(const std::string& key) const {
  const std::size_t first = label_.find_first_not_of('[');
  if (first == std::string::npos) return key;
  return label_.substr(first, label_.find(']') - first) + "." + key;
}

Section Section::inner(const std::string& key) {
  const TomlValue* found = value(key);
  return Section(found ? *found : empty_table, file_, "[" + path(key) + "]");
}

std::vector<Section> Section::tables(const std::string& key) {
  const TomlValue* found = value(key);
  std::vector<Section> list;
  if (found == nullptr) return list;
  if (found->kind != TomlValue::Kind::Array) {
    list.emplace_back(*found, file_, "[" + path(key) + "]");
    return list;
  }
  for (const TomlValue& item : found->items) list.emplace_back(item, file_, "[[" + path(key) + "]]");
  return list;
}

void Section::finish(const std::function<std::string(const std::string&)>& hint) const {
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < table_->keys.size(); ++i) {
    const std::string& key = table_->keys[i];
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const auto now =
        std::find_if(renamed_.begin(), renamed_.end(), [&](const auto& names) { return names.first == key; });
    if (now != renamed_.end()) {
      wrong.push_back(place(table_->items[i]) + ": '" + key + "' is called '" + now->second + "' now");
      continue;
    }
    std::string message = hint ? hint(key) : "";
    if (!message.empty()) {
      wrong.push_back(place(table_->items[i]) + ": " + label_ + " " + message);
      continue;
    }
    message = unknown_name(label_.empty() ? "section or key" : "key", key, known_);
    if (!label_.empty()) message.insert(message.find('\'') + key.size() + 2, " in " + label_);
    wrong.push_back(place(table_->items[i]) + ": " + message);
  }
  attempt([&] { note_all(wrong); });
}

}  // namespace tribo
