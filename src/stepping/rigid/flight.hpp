// Trees that nothing acts on but weight, dampers and springs: half a kick, a flight, half a kick.
//
//   h = dt/2,  E = h theta D + h dt theta' K - e,  F(q, v) = tau - D v - K s(q)
//   (M + E) (w - v) = h (F(q, v) - b(q, w))           kick at the start, b implicit                          (flight.1)
//   q+ = q moved along w over dt                      flight                                                 (flight.2)
//   (M+ + E) (v+ - w) = h (F(q+, w) - b(q+, w))       kick at the end, b explicit                            (flight.3)
// b is the bias with the weight. The kick at the end of one step and that at the start of the next are together the
// trapezoidal rule in b: of second order, symmetric in time, and M+ is what the next step begins with.
//   theta = 1/(1 - exp(-z)) - 1/z,  z = h D/M_kk;  theta' with z = h dt K/M_kk                               (flight.4)
//   e = min(dt^2 K/6, a/2),  a: armature; 0 where the kick is a whole step                                  (flight.9)
// makes each kick exact for one damped joint: of second order, and stable however stiff D and K are. By theta' K alone a
// spring swings too slowly by w^2 dt^2/12; e makes that order four, as far as the rotor alone keeps it stable. The b of
// (flight.1) is found by fixed point, |dt db . dw| / 4T being what a pass changed: up to 3, until below 1e-6  (flight.5)
// A single body (gyroscope.hpp) has no b but its weight; its flight is (gyroscope.2). A free one takes its whole kick at
// the start, as a ball that bounces does, unless second order is asked for                                 (flight.6)
// Floating trees that no force from outside acts on keep their linear and angular momentum, whether they fly or have
// gains and joint limits at work: what a step lost of it is given back to the base, so that all bodies move on
// together; that of the weight is added                                                                    (rigid.9)
// Where a pass still changes more than 1e-4 of the kinetic energy, dt does not resolve the motion. What the scheme then
// adds to the energy beyond 1e-3 T is taken from the motion within the tree, and the step says so          (flight.7)
#pragma once

#include <memory>
#include <vector>

#include "stepping/rigid/gyroscope.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/rigid/runge_kutta_flight.hpp"
#include "tribo/rigid.hpp"
#include "tribo/step.hpp"

namespace tribo {

class Flight {
 public:
  /// The first pass changes more (flight.5): dt is too long for the motion.
  static constexpr double unresolved = 1e-4;

  Flight(const Model& model, SmoothScheme smooth);

  /// Which trees may fly: no pushes, no gains, no dry friction, no rows in the place of drives. Groups must stand.
  void begin(const Start& start, const StepRows& rows);
  /// It flies for certain: no contact and no row is listed on it, and nothing pushes it.
  bool alone(int tree) const { return alone_[static_cast<std::size_t>(tree)]; }
  /// The scale of (flight.5): at the start, or at v where it is faster then. What begins at rest is no gain [J].
  double twice_kinetic(const Start& start, int tree, const VecX& v);
  /// The bias of a single body over a step that something acts in: gyroscopic moment by (gyroscope.1), and weight.
  void turn_in_place(const Start& start, int tree, VecX& bias);
  bool gyroscope(int tree) const { return gyroscope_[static_cast<std::size_t>(tree)]; }
  /// Once forces stand: trees that they do not act on take off, v_end and v_mean are theirs.
  void depart(const Start& start, const StepRows& rows, Outcome& out);
  bool flies(int tree) const { return flies_[static_cast<std::size_t>(tree)]; }
  /// Has a flight of it half kicks at both ends?
  bool late(int tree) const { return late_[static_cast<std::size_t>(tree)]; }
  /// Are its momenta kept (rigid.9)?
  bool keeps(int tree) const {
    return floats_[static_cast<std::size_t>(tree)] && !held_[static_cast<std::size_t>(tree)];
  }
  /// Passes of (flight.5) that the last flight took.
  int passes(int tree) const { return passes_[static_cast<std::size_t>(tree)]; }
  /// A tree that takes the step otherwise: what a pass changed (flight.5), and the work that its motion needs [J].
  void watch(int tree, double change, double motion);

  /// The second kick at the end (q, v) of the step, momenta and (flight.7); how many trees were not resolved.
  int arrive(const Start& start, const VecX& q, VecX& v);
  /// e of coordinate k in a kick of that time (flight.9).
  static double relief(const JointProperties& p, int k, double dt, double time);
  /// Dynamics at the end of the step, where arrive needed them; else null.
  Dynamics* end() { return arrived_ ? &end_ : nullptr; }
  /// Work of the flying trees.
  void charge(Work& work) const;

 private:
  void take_off(const Start& start, int tree, Outcome& out);
  void spin(const Start& start, int tree, double time, Outcome& out);
  void kick(const Start& start, Dynamics& dynamics, int tree, double time, const VecX& v, const VecX& bias, VecX& to);
  void factor(const Start& start, Dynamics& dynamics, int tree, double time);
  void add_work(const Start& start, const Dynamics& dynamics, int tree, double time, const VecX& v, const VecX& bias,
                const VecX& to);
  /// moved: is v another than that of end_?
  void keep_momentum(const Start& start, int tree, bool moved, VecX& v);
  bool calm(const Start& start, int tree, const VecX& q, VecX& v);

  // held: a force from outside the tree acts on it, beside its weight.
  bool second_order_, springs_, arrived_ = false, in_fluid_alone_ = false;  // stages: of trees in a fluid alone
  std::vector<char> gyroscope_, floats_, may_, alone_, flies_, late_, held_, rubs_;  // by tree
  std::vector<int> passes_;                                                          // by tree
  std::vector<double> change_, needed_;       // by tree: e, and work of the motion [J]
  std::unique_ptr<RungeKuttaFlight> fourth_;  // where it is asked for, or a fluid asks for it
  std::vector<char> by_stages_;               // by tree: this flight is
  Dynamics end_;
  TreeMotion motion_;
  VecX theta_, spring_, extra_, force_, deflection_, w_, trial_, rate_, lock_;
  VecX fluid_;  // its force at the start, where stages follow it; else 0
  Work work_;
};

}  // namespace tribo
