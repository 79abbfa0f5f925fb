// A contact that knows the names of what touches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/contact.hpp"
#include "tribo/model.hpp"

namespace tribo::python {

struct NamedContact : ContactReport {
  std::shared_ptr<const Model> model;

  const Geometry& geometry(int g) const { return model->geometries[static_cast<std::size_t>(g)]; }
  const std::string& name_a() const { return geometry(geometry_a).name; }
  const std::string& name_b() const { return geometry(geometry_b).name; }
  std::string body(int g) const {
    const int b = geometry(g).body, k = kinematic_index(b);
    if (b >= 0) return model->bodies[static_cast<std::size_t>(b)].name;
    return k >= 0 ? model->kinematic[static_cast<std::size_t>(k)].name : "world";
  }
};

inline std::vector<NamedContact> named(const std::vector<ContactReport>& contacts,
                                       const std::shared_ptr<const Model>& model) {
  std::vector<NamedContact> list;
  list.reserve(contacts.size());
  for (const ContactReport& c : contacts) list.push_back({c, model});
  return list;
}

}  // namespace tribo::python
