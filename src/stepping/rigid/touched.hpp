// Which contacts of a step touched: those do not bounce in the next one.
#pragma once

#include <algorithm>
#include <vector>

#include "model/sizes.hpp"
#include "stepping/contact_report.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// What carried, and what lay there without force beside others of its pair that did. A force of rounding, under a contact
/// that is open at the end of the step, is none: which of them there are depends on the order of the contacts.
class Touched {
 public:
  explicit Touched(const Model& model) : sizes_(model) {}

  void begin(std::size_t contacts) { faint_.assign(contacts, 0); }

  /// Forces that an island found.
  void note(const IslandSolution& s) {
    constexpr double faint = 1e-6;  // of the largest force of an island
    double most = 0;
    for (int i = 0; i < s.problem.nc(); ++i) most = std::max(most, s.f[3 * i + 2]);
    for (int i = 0; i < s.problem.nc(); ++i)
      faint_[at(s.island->contacts[at(i)])] = !(s.f[3 * i + 2] > faint * most);
  }

  bool operator()(const std::vector<ContactReport>& contacts, std::size_t i, double dt) const {
    const ContactReport& r = contacts[i];
    const bool closed = r.gap + dt * r.c.z() < touching_share * sizes_.of(r);
    if (carries(r) && (!faint_[i] || closed)) return true;
    if (!closed) return false;
    for (std::size_t k = i; k-- > 0 && contacts[k].id >> 16 == r.id >> 16;)
      if (carries(contacts[k])) return true;
    for (std::size_t k = i + 1; k < contacts.size() && contacts[k].id >> 16 == r.id >> 16; ++k)
      if (carries(contacts[k])) return true;
    return false;
  }

 private:
  static bool carries(const ContactReport& r) { return r.mode != ContactMode::Open; }

  Sizes sizes_;
  std::vector<char> faint_;  // by contact of the list
};

}  // namespace tribo
