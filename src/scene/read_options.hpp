// The keys of a scene that a table of options describes.
#pragma once

#include <algorithm>
#include <deque>

#include "readers/toml_reader.hpp"
#include "tribo/controller.hpp"

namespace tribo {

/// Reads every field of the table that the section has. True where there was one; options then hold the whole struct.
bool read_options(Section& section, const OptionTable& table, Options& options);

/// The plain options of a controller of the library; it reads its other keys itself.
template <class T>
T plain_keys(Section& section, const std::string& controller) {
  Options options;
  read_options(section, controller_entry(controller).options, options);
  return options.taken<T>("controller '" + controller + "'");
}

/// What to say of a key that nobody asked for: its new name, or whose it is; "" where it is simply unknown.
/// kind: "solver"; name: the entry that was chosen, of this table of entries.
template <class Entry>
std::string hint_of(const std::string& key, const std::string& kind, const std::string& name,
                    const std::deque<Entry>& table) {
  std::string owners, renamed;
  for (const Entry& entry : table) {
    for (const Field& field : entry.options.fields()) {
      const bool old = std::find(field.formerly.begin(), field.formerly.end(), key) != field.formerly.end();
      if (old && (entry.name == name || renamed.empty())) renamed = "'" + key + "' is now called '" + field.name + "'";
    }
    if (entry.options.find(key) != nullptr) owners += (owners.empty() ? "" : ", ") + ("'" + entry.name + "'");
  }
  if (!owners.empty())
    return key + " belongs to " + kind + (owners.find(',') == std::string::npos ? " " : "s ") + owners +
           (name.empty() ? "" : ", and not to '" + name + "'");
  return renamed;
}

}  // namespace tribo
