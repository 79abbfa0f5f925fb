// Classes of contact as MuJoCo has them, made into groups: one bit for each class, from the highest down.
#include <algorithm>

#include "tribo/model.hpp"

namespace tribo {

void ModelBuilder::set_contact_class(int geometry, std::uint32_t type, std::uint32_t affinity) {
  check_geometry(geometry, "class of contact");
  classes_[geometry] = {type, affinity};
}

void ModelBuilder::group_contact_classes() {
  const ContactClass plain{1, 1};  // bit 0, that of geometries without a class
  std::vector<ContactClass> all;
  for (const auto& [geometry, own] : classes_)
    if (own != plain && std::find(all.begin(), all.end(), own) == all.end()) all.push_back(own);
  if (all.size() > 24)
    throw InvalidInput("the geometries have " + std::to_string(all.size()) +
                       " different pairs of contype and conaffinity, at most 24 can be told apart");
  auto meet = [](const ContactClass& a, const ContactClass& b) {
    return (a.first & b.second) != 0 || (b.first & a.second) != 0;
  };
  std::uint32_t others = ~0u;  // bits of no class
  for (std::size_t k = 0; k < all.size(); ++k) others &= ~(1u << (31 - k));
  for (const auto& [geometry, own] : classes_) {
    Geometry& g = model_.geometries[static_cast<std::size_t>(geometry)];
    g.group = 1;
    g.collides_with = meet(own, plain) ? others : 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k] == own) g.group = 1u << (31 - k);
      if (meet(own, all[k])) g.collides_with |= 1u << (31 - k);
    }
  }
}

}  // namespace tribo
