// Which speed a contact leaves an impact with, where several contacts of an island share it.
//
//   newton:      c' = -e c                    c the speed that it came with                                  (impacts.1)
//   poisson:     c' = c_0 + e G f_0           f_0 >= 0 the impulse that stops all contacts, c_0 = c + G f_0 >= 0  (impacts.2)
//   sequential:  one pair after the other, in the order in which they meet, each by (impacts.1) alone         (impacts.3)
// A pair that an impact within the step sends against the next one meets it at a time of its own: contacts with a gap are
// taken one after the other under Newton's law too, those that touch together. Normal speeds only; friction acts in the step that follows, which
// has the speeds as its targets (rigid.3).
#pragma once

#include <vector>

#include "tribo/assembly.hpp"
#include "tribo/rigid.hpp"

namespace tribo {

class Impacts {
 public:
  /// Beyond as many contacts in an island every one has the speed of the start.
  static constexpr int most_contacts = 64;
  /// Room for them, where a surface of the model bounces.
  explicit Impacts(const Model& model);

  struct Pair {
    double gap = 0;          ///< [m]
    double touching = 0;     ///< a smaller gap is none [m]
    double restitution = 0;  ///< 0: takes no part
    double slowest = 0;      ///< slower ones do not bounce [m/s]
    bool bounces = false;    ///< by the speeds of the start alone
  };
  /// Pairs of an island, to be filled before find().
  std::vector<Pair>& pairs() { return pairs_; }
  /// Speeds after the impact of the contacts that take part, NaN for the others, from normal speeds `before` (3 nc,
  /// contact-major). False where the speeds of the start say it all, or there are too many contacts.
  bool find(ImpactLaw law, const ContactProblem& problem, const double* before, double dt);
  double target(int contact) const { return target_[static_cast<std::size_t>(contact)]; }

 private:
  bool one_by_one(ImpactLaw law, double dt);
  bool all_at_once(double dt);
  bool together();
  template <class TakesPart, class Shift>
  bool sweep(TakesPart takes_part, Shift shift);
  void push(int contact, double impulse);

  std::vector<Pair> pairs_;
  std::vector<double> target_, c_, came_, f_, first_gap_, G_;  // G: of the normals (nc x nc)
  std::vector<char> hit_;
  int n_ = 0;
};

}  // namespace tribo
