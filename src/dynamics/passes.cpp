// The passes over the bodies of a tree: poses, inertias, velocities and bias forces, M. See dynamics.hpp for the equations.
#include <algorithm>

#include "dynamics/chain.hpp"
#include "dynamics/pairs.hpp"
#include "dynamics/turns.hpp"
#include "linalg/clones.hpp"
#include "linalg/sines.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
// Poses of the bodies and axes of their joints, about the origin of the tree.
TRIBO_CLONES void Dynamics::place(const Tree& tree, const VecX& q) {
  const std::size_t first = at(tree.first_body), end = first + at(tree.bodies);
  const Body* const bodies = model_->bodies.data();
  for (std::size_t i = first; i < end; ++i) angle_[i] = bodies[i].joint == JointKind::Revolute ? q[bodies[i].iq] : 0.0;
  sines(&angle_[first], tree.bodies, &sine_[first], &cosine_[first]);
  const Quad O = given(origin_[at(bodies[first].tree)].data());
  for (std::size_t i = first; i < end; ++i) {
    const Body& body = bodies[i];
    const double* const J = body.X_PJ.R.data();
    Columns R;
    Quad r;
    if (body.parent < 0) {
      R = {given(J), given(J + 3), given(J + 6)};
      r = body.joint == JointKind::Free ? Quad{} : given(body.X_PJ.p.data()) - O;
    } else {
      const Frame& parent = frames_[at(body.parent)];
      R = load_columns(parent.R);
      r = load(parent.r) + times(R, body.X_PJ.p.data());
      if (!straight_[i]) R = product(R, J);
    }
    Spatial* const S = &S_[at(body.iv)];
    double turn[9];
    switch (body.joint) {
      case JointKind::Free:
        rotation(&q[body.iq + 3], turn);
        R = product(R, turn);
        put(S[0], {R.x, Quad{}});
        put(S[1], {R.y, Quad{}});
        put(S[2], {R.z, Quad{}});
        put(S[3], {Quad{}, R.x});
        put(S[4], {Quad{}, R.y});
        put(S[5], {Quad{}, R.z});
        break;
      case JointKind::Spherical:
        rotation(&q[body.iq], turn);
        R = product(R, turn);
        put(S[0], {cross(r, R.x), R.x});
        put(S[1], {cross(r, R.y), R.y});
        put(S[2], {cross(r, R.z), R.z});
        break;
      case JointKind::Prismatic: {
        const Quad a = times(R, body.axis.data());
        r += a * q[body.iq];
        put(S[0], {a, Quad{}});
        break;
      }
      case JointKind::Revolute:
      case JointKind::Continuous: {
        const bool angle = body.joint == JointKind::Revolute;
        const double c = angle ? cosine_[i] : q[body.iq], s = angle ? sine_[i] : q[body.iq + 1];
        const int axis = aligned_[i];
        const Quad a = axis == 2 ? R.z : axis == 1 ? R.y : axis == 0 ? R.x : times(R, body.axis.data());
        if (axis >= 0) {
          turn_about(axis, c, s, R);
        } else {
          rotation_about(body.axis, c, s, turn);
          R = product(R, turn);
        }
        put(S[0], {cross(r, a), a});
        break;
      }
    }
    store_columns(frames_[i].R, R);
    store(frames_[i].r, r);
    Placement& X = X_WB_[i];
    store(X.R.data(), R.x);
    store(X.R.data() + 3, R.y);
    store(X.R.data() + 6, R.z);
    store_three(X.p.data(), O + r);
  }
}

// Inertias about O in world axes, and the potential energy.
TRIBO_CLONES void Dynamics::weigh(const Tree& tree) {
  const std::size_t first = at(tree.first_body), end = first + at(tree.bodies);
  Quad all_mc{};
  for (std::size_t i = first; i < end; ++i) {
    const Frame& frame = frames_[i];
    all_mc += put_inertia(frame.R, load(frame.r), model_->bodies[i].inertia, I_[i]);
  }
  const int t = model_->bodies[first].tree;
  const Quad g = given(model_->gravity.data()), O = given(origin_[at(t)].data());
  potential_[at(t)] = -sum(g * (all_mc + each<3>(all_mc) * O));
  if (tree.carried > 0) potential_[at(t)] += carried_potential(tree);
}

// Velocities of the bodies, and the forces that their motion needs.
TRIBO_CLONES void Dynamics::move_bodies(const Tree& tree, const VecX& v, TreeMotion& motion) const {
  const std::size_t first = at(tree.first_body), end = first + at(tree.bodies);
  const Quad weightless = -given(model_->gravity.data());
  Pair momentum{};
  Quad twice_kinetic{};
  for (std::size_t i = first; i < end; ++i) {
    const Body& body = model_->bodies[i];
    const int n = dofs(body);
    Pair Sv = pair_at(S_[at(body.iv)]);
    Sv.lin *= v[body.iv];
    Sv.ang *= v[body.iv];
    for (int k = body.iv + 1; k < body.iv + n; ++k) {
      const Pair S = pair_at(S_[at(k)]);
      Sv.lin += S.lin * v[k];
      Sv.ang += S.ang * v[k];
    }
    Pair V = Sv, A{weightless, Quad{}};  // (dyn.1), (dyn.2)
    if (body.parent >= 0) {
      add(V, pair_at(motion.V[at(body.parent)]));
      A = pair_at(motion.A[at(body.parent)]);
    }
    if (body.joint == JointKind::Free)
      A.lin -= cross(V.ang, V.lin);
    else
      add(A, {cross(V.ang, Sv.lin) + cross(V.lin, Sv.ang), cross(V.ang, Sv.ang)});
    put(motion.V[i], V);
    put(motion.A[i], A);
    const Inertias I = inertia_at(I_[i]);
    const Pair P = momentum_of(I, V), IA = momentum_of(I, A);
    put(motion.F[i], {IA.lin + cross(V.ang, P.lin), IA.ang + cross(V.ang, P.ang) + cross(V.lin, P.lin)});  // (dyn.3)
    twice_kinetic += multiplied(P, V);
    add(momentum, P);
  }
  const int t = model_->bodies[first].tree;
  motion.kinetic[at(t)] = 0.5 * sum(twice_kinetic);
  put(motion.momentum[at(t)], momentum);
  if (tree.carried > 0) lift_carried(tree, motion);
}

// h: the forces of the bodies, on their joints.
TRIBO_CLONES void Dynamics::gather(const Tree& tree, const VecX& v, TreeMotion& motion) const {
  for (int i = tree.first_body + tree.bodies - 1; i >= tree.first_body; --i) {
    const Body& body = model_->bodies[at(i)];
    const Pair F = pair_at(motion.F[at(i)]);
    for (int k = body.iv; k < body.iv + dofs(body); ++k) motion.h[k] = sum(multiplied(pair_at(S_[at(k)]), F));
    if (body.parent < 0) continue;
    Spatial& parent = motion.F[at(body.parent)];
    Pair total = pair_at(parent);
    add(total, F);
    put(parent, total);
  }
  double rotors = 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) rotors += model_->joints.armature[k] * v[k] * v[k];
  motion.kinetic[at(model_->bodies[at(tree.first_body)].tree)] += 0.5 * rotors;
}

// M and the weight on each joint.
TRIBO_CLONES void Dynamics::sum_masses(const Tree& tree) {
  const std::size_t first = at(tree.first_body), end = first + at(tree.bodies);
  const Quad g = given(model_->gravity.data());
  const bool free_base = model_->bodies[first].joint == JointKind::Free;
  const double* const x = frames_[first].R;  // axes of a free base, whose origin is O
  const Columns transposed{Quad{x[0], x[4], x[8], 0}, Quad{x[1], x[5], x[9], 0}, Quad{x[2], x[6], x[10], 0}};
  for (std::size_t i = first; i < end; ++i) subtree_[i] = I_[i];
  for (std::size_t i = end; i-- > first;) {
    const Body& body = model_->bodies[i];
    const Inertias I = inertia_at(subtree_[i]);
    const Pair weight{-(each<3>(I.mc) * g), -cross(I.mc, g)};
    for (int k = body.iv; k < body.iv + dofs(body); ++k) {
      const Pair S = pair_at(S_[at(k)]), IS = momentum_of(I, S);
      gravity_force_[k] = sum(multiplied(S, weight));
      double* r = row(k);
      const int* const path = chain(k);
      const int depth = depth_[at(k)];
      int b = 0;
      if (free_base) {
        const Quad lin = times(transposed, IS.lin), ang = times(transposed, IS.ang);
        double base[8];
        double* const to = depth >= base_size ? r : base;
        store(to, lin);
        store(to + 3, ang);
        if (to == base) std::copy(base, base + depth + 1, r);
        b = std::min(base_size, depth + 1);
      }
      for (; b < depth - 1; b += 4) {  // (dyn.4), by four: a row has room for them, and its chain ends with zeros
        const Spatial* const s = S_.data();
        store(r + b, sums(multiplied(pair_at(s[path[b]]), IS), multiplied(pair_at(s[path[b + 1]]), IS),
                          multiplied(pair_at(s[path[b + 2]]), IS), multiplied(pair_at(s[path[b + 3]]), IS)));
      }
      for (; b <= depth; ++b) r[b] = sum(multiplied(pair_at(S_[at(path[b])]), IS));
      r[depth] += model_->joints.armature[k];
    }
    if (body.parent < 0) continue;
    add(subtree_[at(body.parent)], I);
  }
  if (tree.carried > 0) take_carried(tree);
}

}  // namespace tribo
