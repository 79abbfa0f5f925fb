// What is remembered of contacts from step to step, so that forces, tangents and anchors find their contact again. Part of
// the State. Every family of steppers has fields of its own; one that reads another's would misread them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tribo/contact.hpp"

namespace tribo {

/// The steppers that remember contacts in the same way.
enum class MemoryFamily : std::uint8_t {
  Unknown,    ///< no stepper has written it
  Rigid,      ///< forces of joint rows
  Compliant,  ///< anchors, and the gap at which they carry no load
  Momentum    ///< referential points, and where open contacts were
};
std::string to_string(MemoryFamily family);

/// Of a contact, by every family.
struct ContactMemory {
  std::uint64_t id = 0;
  Vec3 f = Vec3::Zero();    ///< last force, in C [N]
  Vec3 t1 = Vec3::UnitX();  ///< last first tangent, in W
  ContactMode mode = ContactMode::Open;
  bool touched = false;  ///< carried force, or was closed, in the last step
};

/// Rigid: of a scalar row beside the contacts (a joint limit, a friction, a closure). Compliant: of dry friction.
struct RowMemory {
  std::uint64_t id = 0;
  double f = 0;         ///< last force or torque [N] or [N m]
  double patience = 0;  ///< of dry friction: steps for which the row stays
};

/// Compliant: of a contact that touched; zeros where it was open.
struct AnchorMemory {
  Vec3 anchor = Vec3::Zero();  ///< on a: in its frame, in W where a is fixed [m]
  Vec3 point = Vec3::Zero();   ///< what the anchor holds: a point of b, in its frame [m]
  double rest = 0;             ///< gap at which the contact carries no load [m]
};

/// Momentum: of a contact, the first two where it touched, the others where it was open.
struct ReferenceMemory {
  Vec3 reference = Vec3::Zero();  ///< referential point on a: in its frame, in W where a is fixed [m]
  Vec3 point = Vec3::Zero();      ///< what it refers to: a point of b, in its frame [m]
  Vec3 last = Vec3::Zero();       ///< where the contact was at the start of the last step, in the frame of a [m]
  double last_gap = 0;            ///< its gap there [m]
};

struct Memory {
  MemoryFamily family = MemoryFamily::Unknown;  ///< of the stepper that wrote it; says nothing where it is empty
  std::vector<ContactMemory> contacts;          ///< sorted by id
  std::vector<RowMemory> rows;                  ///< sorted by id; rigid, compliant
  std::vector<AnchorMemory> anchors;            ///< one a contact, in their order; compliant
  std::vector<ReferenceMemory> references;      ///< one a contact, in their order; momentum

  bool empty() const { return contacts.empty() && rows.empty(); }
  std::size_t size() const { return contacts.size() + rows.size(); }  ///< contacts and rows remembered
  void clear() {
    contacts.clear();
    rows.clear();
    anchors.clear();
    references.clear();
  }
  /// Anew: n contacts of which nothing is known, of this family.
  void begin(MemoryFamily written_by, std::size_t n) {
    family = written_by;
    clear();
    contacts.resize(n);
    if (family == MemoryFamily::Compliant) anchors.resize(n);
    if (family == MemoryFamily::Momentum) references.resize(n);
  }
  /// Room for as much as the other has grown to.
  void reserve(const Memory& other) {
    contacts.reserve(other.contacts.capacity());
    rows.reserve(other.rows.capacity());
    anchors.reserve(other.anchors.capacity());
    references.reserve(other.references.capacity());
  }
};

/// InvalidInput where the lists are not sorted, or are not those of its family.
void check_memory(const Memory& memory);

}  // namespace tribo
