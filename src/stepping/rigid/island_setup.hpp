// The problem of an island: what its contacts and rows ask for, and the forces that its solve starts from.
//
//   c = J v' / dt = G f + g,  g = J v_f / dt  and, on the normal rows,
//       g_N += max(phi, 0) / dt^2                     no force before the gap closes                       (rigid.2)
//       g_N -= c' / dt                                at an impact: c' = -e (J v)_N, or by impacts.hpp     (rigid.3)
//       g_N += phi / (dt s), R_N = compliance / (dt s)    instead, where the surface is compliant; s = dt where phi > 0,
//                                                     else dt + tau with its relaxation time [Castro2022]  (rigid.4)
// Equality constraints are rows without bounds. Redundant ones leave G singular, so they have a compliance of 1e-10 of
// the diagonal of G.
// Velocity targets have priority below the laws of contact: the row of joint k has the compliance eps G_kk, so a step
// always has a solution where the contacts alone have one. Where they or the limits of torque oppose the targets, what
// is left of them is least in the norm sum (v'_k - target_k)^2 / (eps dt G_kk), beside the motion itself (rigid.10)
#pragma once

#include "model/sizes.hpp"
#include "stepping/rigid/impacts.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/touching.hpp"
#include "tribo/rigid.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// IslandSolution::impact of a contact whose speed impacts.hpp found.
constexpr double shared_impact = 2;

/// Forces that the step found with the list of contacts before: better guesses than what the state remembers.
class KeptForces {
 public:
  struct Found {
    std::uint64_t id;
    Vec3 f;
  };

  void keep(std::span<const ContactReport> contacts, const StepRows& rows);
  /// Has room for so many contacts, and for the rows of the last step.
  void forget(std::size_t contacts, const StepRows& rows);
  const std::vector<Found>& contacts() const { return contacts_; }
  const std::vector<RowMemory>& rows() const { return rows_; }

 private:
  std::vector<Found> contacts_;
  std::vector<RowMemory> rows_;
};

class IslandSetup {
 public:
  IslandSetup(const Model& model, const ContactOptions& contact, const RigidOptions& own, bool closures);

  /// A contact that does not act before it touches (rigid.17).
  bool waits(const Contact& contact) const { return touch_ && contact.gap > gap_of_touch(sizes_, contact); }
  const Sizes& sizes() const { return sizes_; }

  /// Fills g, R, bounds, friction and the first guess of f. G, `before` and `free` must stand; without a factor of G for what
  /// IslandMotion takes. bounce: by (rigid.3).
  /// True where every guess was kept.
  bool set(const Start& start, const StepRows& rows, const KeptForces& kept, bool bounce, IslandSolution& s);

 private:
  bool set_contact(const Start& start, int i, const KeptForces& kept, bool bounce, IslandSolution& s);
  void share_impact(const Start& start, IslandSolution& s);
  void set_rows(const Start& start, const StepRows& rows, const KeptForces& kept, IslandSolution& s);
  void soften_closures(const StepRows& rows, IslandSolution& s) const;

  bool warm_start_, closures_, touch_;
  ImpactLaw impact_;
  double target_compliance_;
  Impacts impacts_;
  Sizes sizes_;
  VectorBuffer diagonal_;                        // of G
  std::size_t next_contact_ = 0, next_row_ = 0;  // in the memory of the state
  std::size_t next_kept_ = 0, next_kept_row_ = 0;
  bool known_ = false;  // every guess so far was kept
};

}  // namespace tribo
