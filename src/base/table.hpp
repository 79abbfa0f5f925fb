// A table of entries by name, to which a program may add its own.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "tribo/types.hpp"

namespace tribo {

template <class Entry>
std::vector<std::string> names_of(const std::deque<Entry>& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const Entry& entry : table) names.push_back(entry.name);
  return names;
}

/// InvalidInput lists what is known. what: "stepper".
template <class Entry>
const Entry& find_entry(const std::deque<Entry>& table, const std::string& name, const std::string& what) {
  for (const Entry& entry : table)
    if (entry.name == name) return entry;
  throw InvalidInput(unknown_name(what, name, names_of(table)));
}

/// InvalidInput where the name is taken, or is none that a scene and a command line can write.
template <class Entry>
void add_entry(std::deque<Entry>& table, Entry entry, const std::string& what) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  if (entry.name.empty() || !std::all_of(entry.name.begin(), entry.name.end(), plain))
    throw InvalidInput(what + " '" + entry.name + "': a name is made of a to z, 0 to 9, '-' and '_'");
  for (const Entry& other : table)
    if (other.name == entry.name) throw InvalidInput("there is a " + what + " '" + entry.name + "' already");
  if (!entry.make) throw InvalidInput(what + " '" + entry.name + "' has no function that makes it");
  table.push_back(std::move(entry));  // a deque: references to entries stay
}

}  // namespace tribo
