#include "base/names.hpp"

#include <algorithm>
#include <cstdio>

namespace tribo {
namespace {

constexpr std::size_t longest = 100;  // of a name that is compared
constexpr std::size_t most_compared = 2000;

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// One that is near: half of its letters are right, or it begins so.
std::string nearest_name(const std::string& wrong, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = ~std::size_t{0};
  const std::string asked = wrong.substr(0, longest);
  std::size_t compared = 0;
  for (const std::string& name : known) {
    if (++compared > most_compared) break;
    for (const std::string& form : {name, name.substr(name.rfind('/') + 1)}) {  // rfind + 1 is 0 where there is none
      const std::size_t d = edit_distance(asked, form.substr(0, longest));
      const bool near = 2 * d <= std::max(asked.size(), form.size()) || (asked.size() > 1 && form.starts_with(asked));
      if (d >= least || !near || asked.empty()) continue;
      least = d;
      best = name;
    }
  }
  return best;
}

bool matches_name(const char* pattern, const char* name) {
  // What the last '*' stands for grows by a character where the rest does not fit: time in proportion to both lengths.
  const char *star = nullptr, *from = nullptr;
  while (*name != '\0') {
    if (*pattern == '*') {
      star = pattern++;
      from = name;
    } else if (*pattern == *name) {
      ++pattern;
      ++name;
    } else if (star != nullptr) {
      pattern = star + 1;
      name = ++from;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

bool ends_name(const std::string& full, const std::string& name) {
  return full.size() > name.size() && full[full.size() - name.size() - 1] == '/' &&
         full.compare(full.size() - name.size(), name.size(), name) == 0;
}

std::string ambiguous_name(const std::string& name, const std::vector<std::string>& meant) {
  std::string text = "'" + name + "' could be ";
  for (std::size_t i = 0; i < meant.size(); ++i) text += (i ? ", " : "") + meant[i];
  return text + ": say which";
}

std::string unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  std::string text = "unknown " + what + " '" + name + "'";
  if (known.empty()) return text + "; there are none";
  const std::string near = known.size() == 1 ? known[0] : nearest_name(name, known);
  text += near.empty() ? "; known: " : "; did you mean '" + near + "'? Known: ";
  constexpr std::size_t most = 40;
  for (std::size_t i = 0; i < known.size() && i < most; ++i) text += (i ? ", " : "") + known[i];
  if (known.size() > most) text += ", … (" + std::to_string(known.size()) + " in all)";
  return text;
}

}  // namespace tribo
