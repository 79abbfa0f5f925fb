// docs/options.md, from the tables.
#include "tribo/contact_law.hpp"
#include "tribo/scene.hpp"

namespace tribo {
namespace {

// "|" would end a cell.
std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

void add_table(const OptionTable& table, std::string& page) {
  if (table.fields().empty()) {
    page += "No options of its own.\n\n";
    return;
  }
  page += "| key | default | allowed | |\n|---|---|---|---|\n";
  for (const Field& f : table.fields())
    page += "| `" + f.name + "` | " + cell(f.default_text()) + " | " + cell(f.allowed()) + " | " + cell(f.text) +
            (f.only_with.first.empty() ? "" : "; only with " + f.only_with.first + " = " + f.only_with.second) + " |\n";
  page += "\n";
}

template <class Entries>
void add_entries(const Entries& entries, const std::string& section, std::string& page) {
  for (const auto& entry : entries) {
    page += "### " + entry.name + "\n" + section + " `" + entry.name + "`: " + entry.summary + ".\n\n";
    add_table(entry.options, page);
  }
}

}  // namespace

std::string option_page() {
  std::string page =
      "# Options\n"
      "Every stepper, contact solver and controller with its options: keys of a scene ([scene.md](scene.md)), of "
      "`--set`, and of\n"
      "`settings` in Python. Made by `tribo list options --page` from the tables that also read and check them; `tribo "
      "list NAME`\n"
      "shows those of one entry. A key that belongs to another entry is refused, and the message says whose it is.\n\n"
      "## `[contact]`\n";
  add_table(contact_options(), page);
  page += "`mixing` and the materials: [scene.md](scene.md). Beside these, the keys of the solver:\n\n";
  add_entries(contact_solvers(), "`solver =`", page);
  page += "## `[stepper]`\n`name`, `dt` and `duration`: [scene.md](scene.md).\n\n";
  add_table(stepper_options(), page);
  add_entries(steppers(), "`name =`", page);
  page += "The laws of contact of the compliant steppers; their keys stand in `[stepper]` too:\n\n";
  add_entries(contact_laws(), "`law =`", page);
  page += "## `[controller]`\n`name` and `robot`: [scene.md](scene.md).\n\n";
  add_entries(controllers(), "`name =`", page);
  page.pop_back();
  return page;
}

}  // namespace tribo
