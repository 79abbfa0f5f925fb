// One body that turns freely: about its mass centre, or about the pivot of a spherical joint.
//
//   I (x - w) + k/2 x × I x = 0,   w' = 2 x - w                                                       (gyroscope.1)
// is the implicit midpoint rule over a time k. It keeps w . I w and |I w| exactly for any k: it can only be ahead of or
// behind its time on the curve of body momenta. By the modified equation of the rule it is ahead by the share c dt^2,
//   c = f . (f'f'f/12 - f''(f, f)/24) / f . f,   f = -I^-1 (x × I x),   k = dt (1 - c dt^2)            (gyroscope.2)
// The rotation then follows from L = R I w, which must stay, up to an angle about L, and that angle is known: turning
// about L goes on at the rate 2T/|L|, the rest carries l = I w/|L| over to l' without twist along its path,
//   R' = R exp((2T dt/|L| - A) l) G                                                                   (gyroscope.3)
// with G the smallest rotation that takes l' to l, and A the area between the path and its chord, s^2 (a + a')/12 from
// the chord s and its angles with the path at both ends. Energy and momentum exact, w and R of fourth order, a body on a
// principal axis at its true rate, symmetric in time, smooth.
#pragma once

#include "tribo/model.hpp"

namespace tribo {

/// A tree of one body whose rotation has no inertia of other bodies in it.
struct Gyroscope {
  Mat3 I;             ///< about the centre, body axes [kg m^2]
  Mat3 M;             ///< the same with the joint's armature
  Vec3 c;             ///< from the body's origin to the mass centre; 0 where it turns about a pivot [m]
  bool plain = true;  ///< no armature

  /// x of (gyroscope.1) over a time: the mean angular velocity.
  Vec3 mean(const Vec3& w, double time) const { return mean(w, time, w); }

  struct Flown {
    Vec3 w;     ///< at the end, body axes [rad/s]
    Vec3 turn;  ///< rotation vector from the start to the end, body axes [rad]
  };
  /// Free for a time: (gyroscope.1) to (gyroscope.3).
  Flown fly(const Vec3& w, double dt) const;

 private:
  Vec3 mean(const Vec3& w, double time, Vec3 x) const;
  double lead(const Vec3& x) const;
};

/// Does a tree turn so? One body on a free or a spherical joint.
bool is_gyroscope(const Model& model, const Tree& tree);
Gyroscope make_gyroscope(const Model& model, const Tree& tree);

}  // namespace tribo
