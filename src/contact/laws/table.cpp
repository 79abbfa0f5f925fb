// Every law of compliant contact: one line each.
#include "base/table.hpp"
#include "contact/laws/laws.hpp"

namespace tribo {
namespace {

std::deque<LawEntry>& table_of_laws() {
  static std::deque<LawEntry> table = {
      {"spring-damper", "spring and damper of the surface, along the normal and along the surface", make_spring_damper},
      {"hunt-crossley", "along the normal a power of the overlap, damped in proportion to it", make_hunt_crossley,
       hunt_crossley_options()},
  };
  return table;
}

}  // namespace

const std::deque<LawEntry>& contact_laws() { return table_of_laws(); }

const LawEntry& contact_law_entry(const std::string& name) { return find_entry(contact_laws(), name, "law"); }

void register_contact_law(LawEntry entry) { add_entry(table_of_laws(), std::move(entry), "law"); }

std::unique_ptr<ContactLaw> make_contact_law(const std::string& name, const Options& options) {
  const LawEntry& entry = contact_law_entry(name);
  entry.options.check(options, "law '" + name + "'");
  return entry.make(options);
}

}  // namespace tribo
