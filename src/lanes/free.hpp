// Drives, joint limits and dry friction of a lane step, and its motion before contacts act: rows.hpp, joint_friction.hpp and
// free_motion.hpp of the rigid stepper, with a mask where they have a branch.
// Included inside the namespace of a kernel, after newton.hpp.

struct FreeLanes {
  const Shape& s;
  const PackArrays& a;
  TreeLanes& tree;
  ProblemLanes& problem;
  const Pack *q, *v;
  Pack *torque, *gain;         // of the drives that are no row (drive.2)
  Pack *asked, *asked_gain;    // of all of them
  Pack *direction, *patience;  // of dry friction
  Mask *saturated, *rubbed, *held, *row_rubs;
  Mask* clamped;  // drives that are taken to be at a limit, which is `clamp`
  Pack* clamp;
  Pack *extra, *force, *bias, *h, *v_free, *middle, *last, *last_bias, *out_torque, *reached;
  Pack turned;  // what the first pass of (rigid.12) changed
  int rounds[TRIBO_LANES];
  Mask any_held;

  FreeLanes(const Shape& shape, const PackArrays& arrays, TreeLanes& lanes, ProblemLanes& rows, Room& room)
      : s(shape), a(arrays), tree(lanes), problem(rows) {
    q = reinterpret_cast<const Pack*>(a.q);
    v = reinterpret_cast<const Pack*>(a.v);
    room.share(s.nv, torque, gain, asked, asked_gain, direction, patience, extra, force, bias, h, v_free, middle, last,
               last_bias, out_torque, reached, clamp);
    room.share(s.nv, saturated, rubbed, held, row_rubs, clamped);
  }
  static unsigned long packs(const Shape& s) { return 22ul * (unsigned long)s.nv; }

  /// What the drives ask for, and the guesses of dry friction, in lanes that begin.
  void begin(Mask fresh) {
    for (int k = 0; k < s.nv; ++k) {
      const Pack kp = TreeLanes::at(a.kp, k), kd = TreeLanes::at(a.kd, k);
      const int i = s.dof_iq[k];
      const Pack error = i >= 0 ? TreeLanes::at(a.target, k) - q[i] : Pack{};
      asked[k] = TreeLanes::at(a.tau, k) + kp * error;
      asked_gain[k] = kd + s.dt * kp;
      saturated[k] &= ~fresh;
      begin_at_limit(k, fresh);
      reached[k] = only(~fresh, reached[k]);
      rubbed[k] &= ~fresh, held[k] &= ~fresh, row_rubs[k] &= ~fresh;
      direction[k] = only(~fresh, direction[k]), patience[k] = only(~fresh, patience[k]);
      if (s.rubs) begin_friction(k, fresh);
    }
    const unsigned set = bits(fresh);
    for (int l = 0; l < TRIBO_LANES; ++l)
      if ((set >> l) & 1u) rounds[l] = 0;
  }

  void begin_friction(int k, Mask fresh) {
    constexpr double at_rest = 1e-10;
    const Mask has = fresh & (TreeLanes::at(a.friction, k) > 0.0);
    patience[k] = select(has, max(TreeLanes::at(a.patience, k) - 1.0, 0.0), patience[k]);
    direction[k] = select(fresh, select(v[k] > 0.0, all(1), all(-1)), direction[k]);
    const Mask row = has & (patience[k] > 0.0), rests = has & ~row & (abs(v[k]) <= at_rest);
    row_rubs[k] |= row;
    held[k] |= rests;
    rubbed[k] |= has & ~row & ~rests;
  }

  // A drive that was a row in the last step, and would be beyond a limit at the velocity of the start, is taken to be there.
  void begin_at_limit(int k, Mask fresh) {
    const Pack asks = asked[k] - asked_gain[k] * v[k];
    const Pack lower = TreeLanes::at(a.effort_lower, k), upper = TreeLanes::at(a.effort_upper, k);
    const Mask was = TreeLanes::at(a.row_known, drive_row * s.nv + k) > 0.0, high = asks > upper;
    const Mask limited = was & (high | (asks < lower)) & (asked_gain[k] != 0.0) & ~known(k);
    clamped[k] = (clamped[k] & ~fresh) | (limited & fresh);
    clamp[k] = select(fresh, select(high, upper, lower), clamp[k]);
  }

  Mask known(int k) const { return TreeLanes::at(a.effort_lower, k) == TreeLanes::at(a.effort_upper, k); }

  void make_row(int k, Mask m) {
    row_rubs[k] |= m;
    held[k] &= ~m;
    rubbed[k] &= ~m;
  }

  /// Rows of this pass, in the order of the scalar step; drives that are none.
  void list() {
    problem.nr = 0;
    any_held = none();
    for (int k = 0; k < s.nv; ++k) {
      const Pack lower = TreeLanes::at(a.effort_lower, k), upper = TreeLanes::at(a.effort_upper, k);
      const Mask driven = saturated[k] & ~known(k), fixed = known(k);
      const Pack within = min(max(asked[k], lower), upper);
      torque[k] =
          select(fixed, lower, select(driven | clamped[k], 0.0, select(asked_gain[k] == 0.0, within, asked[k])));
      gain[k] = select(fixed | driven | clamped[k], 0.0, asked_gain[k]);
      const Mask limited = s.dof_iq[k] >= 0 ? list_limits(k) : none();
      const Pack rub = TreeLanes::at(a.friction, k);
      if (s.rubs) {
        make_row(k, (rub > 0.0) & (limited | driven | clamped[k]));
        any_held |= held[k];
        if (any(row_rubs[k])) add(k, friction_row, row_rubs[k], {1, all(0), all(0), -rub, rub, all(0)});
      }
      if (!any(driven)) continue;
      const Pack per = 1.0 / (asked_gain[k] * s.dt);
      add(k, drive_row, driven, {1, -asked[k] * per, per, lower, upper, all(0)});
    }
  }

  struct RowData {
    double sign;
    Pack bias, compliance, lower, upper, error;
  };
  void add(int k, int kind, Mask listed, const RowData& d) {
    RowSlot& x = problem.row[problem.nr++];
    x.dof = k;
    x.kind = kind;
    x.listed = listed;
    x.sign = all(d.sign);
    x.bias = only(listed, d.bias);
    x.compliance = only(listed, d.compliance);
    x.lower = only(listed, d.lower);
    x.upper = only(listed, d.upper);
    x.error = select(listed, d.error, large);
  }

  /// Bias of a limit; none where a joint with dry friction rests at it (rests() of rows.cpp, with its numbers).
  Pack gap_rate(int k, int kind, Pack distance) const {
    constexpr double touching = 1e-6, still = 1e-7, carried = 0.1;
    const Pack rub = TreeLanes::at(a.friction, k), memory = TreeLanes::at(a.row_f, kind * s.nv + k);
    const Mask rests =
        (rub > 0.0) & (distance > 0.0) & (distance < touching) & (s.dt * abs(v[k]) < still) & (memory > carried * rub);
    return select(rests, 0.0, max(distance, 0.0) / (s.dt * s.dt));
  }

  Mask list_limits(int k) {
    const Pack reach = s.joint_margin + (2 * s.dt) * max(abs(v[k]), reached[k]), x = q[s.dof_iq[k]];
    const Pack below = x - TreeLanes::at(a.lower, k), above = TreeLanes::at(a.upper, k) - x;
    const Mask low = below < reach, high = above < reach;
    const Pack none_above = all(__builtin_inf());
    if (any(low)) add(k, lower_limit, low, {1, gap_rate(k, lower_limit, below), all(0), all(0), none_above, below});
    if (any(high)) add(k, upper_limit, high, {-1, gap_rate(k, upper_limit, above), all(0), all(0), none_above, above});
    return low | high;
  }

  /// The factor, and v_free (rigid.1), (rigid.12). first: else the bias stands.
  void solve(bool first) {
    constexpr double infinite = 1e30, slow_turn = 1e-4, settled_turn = 1e-6;
    Pack fastest{};
    for (int k = 0; k < s.nv; ++k) {
      const Pack soft = s.dt * (TreeLanes::at(a.damping, k) + gain[k]);
      extra[k] = soft + only(held[k], all(infinite));
      force[k] = s.dt * (torque[k] - only(rubbed[k], direction[k] * TreeLanes::at(a.friction, k)));
      force[k] -= only(~held[k], extra[k] * v[k]);
      if (first) bias[k] = tree.h[k];
      if (!s.floats || k >= 3) fastest = max(fastest, abs(v[k]));
    }
    tree.factor(extra);
    move();
    if (first) turned = Pack{};
    Mask turns = first && s.bodies > 1 ? s.dt * fastest >= slow_turn : none();
    const Pack energy = any(turns) ? max(tree.twice_kinetic(v), 1e-300) : Pack{};
    for (int pass = 0; pass < 2 && any(turns); ++pass) {
      const Pack change = turn_on_the_way(turns, energy);
      if (pass == 0) turned = only(turns, change);
      turns &= ~(change < settled_turn);
    }
    push_clamped();
  }

  // What drives at their limits do comes in after (rigid.12), as what rows do.
  void push_clamped() {
    Mask found = none();
    for (int k = 0; k < s.nv; ++k) {
      found |= clamped[k];
      middle[k] = s.dt * only(clamped[k], clamp[k]);
    }
    if (!any(found)) return;
    tree.solve(middle);
    for (int k = 0; k < s.nv; ++k) v_free[k] += only(found, middle[k]);
  }

  void move() {
    for (int k = 0; k < s.nv; ++k) v_free[k] = force[k] - s.dt * bias[k];
    tree.solve(v_free);
    for (int k = 0; k < s.nv; ++k) v_free[k] += only(~held[k], v[k]);
  }

  Pack turn_on_the_way(Mask turns, Pack energy) {
    for (int k = 0; k < s.nv; ++k) middle[k] = (-0.5 * s.dt) * (bias[k] - tree.gravity[k]);
    tree.solve(middle);
    for (int k = 0; k < s.nv; ++k) {
      middle[k] += v[k];
      last[k] = v_free[k];
      last_bias[k] = bias[k];
    }
    tree.move(middle, h);
    for (int k = 0; k < s.nv; ++k) bias[k] = select(turns, h[k], bias[k]);
    move();
    Pack change{};
    for (int k = 0; k < s.nv; ++k) {
      v_free[k] = select(turns, v_free[k], last[k]);
      change += (bias[k] - last_bias[k]) * (v_free[k] - last[k]);
    }
    return abs(s.dt * change) / max(energy, tree.twice_kinetic(v_free));
  }

  /// Were guesses of dry friction wrong? Those joints get rows; held ones stand.
  Mask wrong(Pack* v_end) {
    constexpr double infinite = 1e30, rounding = 1e-9, row_steps = 15;
    if (!s.rubs) return none();
    Mask again = none();
    for (int k = 0; k < s.nv; ++k) {
      const Pack rub = TreeLanes::at(a.friction, k);
      const Mask held_right = abs(v_end[k] * (infinite / s.dt)) <= (1 + rounding) * rub;  // (dry.1)
      const Mask rubbed_right = direction[k] * v_end[k] > 0.0;                            // (dry.2)
      v_end[k] = select(held[k], 0.0, v_end[k]);
      const Mask bad = (held[k] & ~held_right) | (rubbed[k] & ~rubbed_right);
      make_row(k, bad);
      patience[k] = select(bad, row_steps, patience[k]);
      again |= bad;
    }
    const unsigned set = bits(again);
    unsigned give_up = 0;
    for (int l = 0; l < TRIBO_LANES; ++l)
      if ((set >> l) & 1u && ++rounds[l] >= 2) give_up |= 1u << l;
    if (give_up == 0) return again;
    const Mask all_rows = lanes_of(give_up);
    for (int k = 0; k < s.nv; ++k) make_row(k, all_rows & (TreeLanes::at(a.friction, k) > 0.0));
    return again;
  }

  /// Lanes where v_end takes a joint beyond a limit that is not listed; then it is.
  Mask overrun(const Pack* v_end) {
    Mask again = none();
    for (int k = 0; k < s.nv; ++k) {
      if (s.dof_iq[k] < 0) continue;
      const Pack reach = s.joint_margin + (2 * s.dt) * max(abs(v[k]), reached[k]), x = q[s.dof_iq[k]];
      const Pack below = x - TreeLanes::at(a.lower, k), above = TreeLanes::at(a.upper, k) - x, end = s.dt * v_end[k];
      again |= ((below >= reach) & (below + end < 0.0)) | ((above >= reach) & (above - end < 0.0));
    }
    if (any(again))
      for (int k = 0; k < s.nv; ++k) reached[k] = select(again, max(reached[k], abs(v_end[k])), reached[k]);
    return again;
  }

  /// Torque of every drive at v_end; lanes where one is beyond its limits, or would not be where it was taken to be.
  Mask torques(const Pack* v_end) {
    Mask again = none();
    for (int k = 0; k < s.nv; ++k) {
      const Pack x = select(clamped[k], clamp[k], torque[k] - gain[k] * v_end[k]);
      out_torque[k] = x;
      again |= wrong_clamp(k, x, asked[k] - asked_gain[k] * v_end[k]);
    }
    for (int j = 0; j < problem.nr; ++j) {
      const RowSlot& x = problem.row[j];
      if (x.kind == drive_row) out_torque[x.dof] = select(x.listed, problem.f[3 * problem.nc + j], out_torque[x.dof]);
    }
    return again;
  }

  // A drive beyond its limits is taken to be at the one that it passed. Where it comes back from it, it is a row (rigid.7).
  Mask wrong_clamp(int k, Pack x, Pack asks) {
    const Pack lower = TreeLanes::at(a.effort_lower, k), upper = TreeLanes::at(a.effort_upper, k);
    const Mask beyond = (gain[k] != 0.0) & ((x < lower) | (x > upper));
    const Mask inside = clamped[k] & (((clamp[k] == upper) & (asks < upper)) | ((clamp[k] != upper) & (asks > lower)));
    saturated[k] |= inside;
    clamped[k] = (clamped[k] & ~inside) | beyond;
    clamp[k] = select(beyond, select(x > upper, upper, lower), clamp[k]);
    return beyond | inside;
  }

  /// Once the step is solved: what friction holds has no velocity left (dry.3).
  void hold_joints(Pack smallest, Pack* v_end) const {
    constexpr double rounding = 1e-9, energy_rounding = 1e-9;
    Pack twice_energy{};
    bool known = false;
    for (int j = 0; j < problem.nr; ++j) {
      const RowSlot& x = problem.row[j];
      if (x.kind != friction_row) continue;
      Mask holds =
          x.listed & (abs(problem.f[3 * problem.nc + j]) < (1 - rounding) * x.upper) & (abs(v_end[x.dof]) <= smallest);
      if (!any(holds)) continue;
      if (!known) twice_energy = tree.twice_kinetic(v_end);
      known = true;
      const Pack taken = abs(tree.momentum_along(x.dof, v_end) * v_end[x.dof]);
      holds &= taken <= energy_rounding * twice_energy + x.upper * smallest * s.dt;
      v_end[x.dof] = select(holds, 0.0, v_end[x.dof]);
    }
  }

  /// Lanes in which something drives a joint: the others may fly, see flight.hpp.
  Mask driven() const {
    Mask m = none();
    for (int k = 0; k < s.nv; ++k) m |= (gain[k] != 0.0) | (torque[k] != 0.0) | clamped[k] | held[k] | rubbed[k];
    return m;
  }

  /// The factor without the friction that holds joints.
  void release() {
    for (int k = 0; k < s.nv; ++k) extra[k] = select(held[k], s.dt * (TreeLanes::at(a.damping, k) + gain[k]), extra[k]);
    tree.factor(extra);
  }
};
