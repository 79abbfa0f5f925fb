// The force of a compliant contact: the face of every law, and the table of them.
//
// A law gives the force before the friction cone, in the axes of the contact (t1, t2, n). What it remembers is the
// anchor: x is measured from it, and the compliant steppers keep it, draw it along where the contact slips, and save it
// in the State. They cut the force to its cone: f_N >= 0, |f_T| <= mu f_N.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "tribo/material.hpp"
#include "tribo/options.hpp"
#include "tribo/types.hpp"

namespace tribo {

/// A contact at an instant.
struct LawPoint {
  const SurfacePair& surface;  ///< of the two materials
  Vec3 x;                      ///< from the anchor along the surface, and from the rest gap along the normal [m]
  Vec3 c;                      ///< velocity of b relative to a [m/s]
};

/// How the force falls with x and with c; a law couples no two axes.
struct LawSlope {
  Vec3 K;  ///< -df/dx [N/m]
  Vec3 B;  ///< -df/dc [N s/m]
};

class ContactLaw {
 public:
  virtual ~ContactLaw() = default;
  /// Force on b, without the cone [N]. x_N < 0 where the surfaces overlap.
  virtual Vec3 force(const LawPoint& point) const = 0;
  virtual LawSlope slope(const LawPoint& point) const = 0;
  /// Energy that can be had back from x [J].
  virtual double energy(const LawPoint& point) const = 0;
  /// Is the force -K x - B c with the slopes of x = c = 0? Then they are asked for once, and the exponential stepper
  /// takes the law too. Along the surface every law is to be so over a step: the anchor is drawn by these K and B.
  virtual bool linear() const { return false; }
};

struct LawEntry {
  std::string name = {};
  std::string summary = {};  ///< one line for `tribo list laws`
  std::function<std::unique_ptr<ContactLaw>(const Options&)> make = {};
  OptionTable options = {};
};

/// In the order in which they were registered, those of the library first; the first is the default.
const std::deque<LawEntry>& contact_laws();
const LawEntry& contact_law_entry(const std::string& name);
/// Adds a law to the table, for scenes, lists and pages. Before it is used, and not from two threads at once.
/// InvalidInput where the name is taken.
void register_contact_law(LawEntry entry);
/// InvalidInput lists what is known, and names options that are out of their bounds.
std::unique_ptr<ContactLaw> make_contact_law(const std::string& name, const Options& options = {});

/// Options of hunt-crossley.
struct HuntCrossleyOptions {
  double exponent = 1.5;     ///< n [-], >= 1; 1.5 for balls (Hertz)
  double dissipation = 0.5;  ///< a [s/m], >= 0
  double depth = 1e-3;       ///< d0: overlap at which the force is that of a spring of the surface's stiffness [m]
};

}  // namespace tribo
