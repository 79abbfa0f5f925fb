// A step of a pack: Rigid::solve and Crossing::commit of the rigid stepper (docs/theory/rigid.md), a mask where they have a
// branch. A lane that meets what is rare is left: nothing of it is written, and the caller steps its world by itself.
// Included inside the namespace of a kernel, after free.hpp.

struct StepLanes {
  static constexpr int most_listings = 3;  // as Crossing has it
  const Shape& s;
  const PackArrays& a;
  TreeLanes tree;
  ProblemLanes problem;
  NewtonLanes newton;
  FreeLanes motion;
  OverlapLanes overlap;
  ListLanes list;
  Pack *v_end, *correction, *w, *q_next, *v_next;
  Pack *end, *held_mu;            // velocities of contacts at the end, and their friction
  Pack *kept_row_f, *kept_row_c;  // of lanes that need no further pass, by kind
  Mask* slipped;
  Mask going;       // lanes that take the step here
  Mask held;        // lanes on which a contact acts
  Mask open;        // lanes that need another pass
  Mask listing;     // lanes whose list of contacts may lack some
  bool bias_known;  // in the passes after the first
  ResidualLanes residual;
  V3 origin;  // of the tree at the start

  StepLanes(const Shape& shape, const PackArrays& arrays, const Finder* looks, Room room)
      : s(shape),
        a(arrays),
        tree(shape, arrays, room),
        problem(shape, tree, room),
        newton(shape, problem, room),
        motion(shape, arrays, tree, problem, room),
        overlap(shape, arrays, tree, problem, newton, motion, room),
        list(shape, arrays, looks, tree, problem, going, room) {
    room.share(s.nv, v_end, correction, w, v_next);
    q_next = room.take<Pack>(s.nq);
    room.share(ProblemLanes::most(s), end, held_mu);
    room.share(ProblemLanes::most_rows(s), kept_row_f, kept_row_c);
    slipped = room.take<Mask>(ProblemLanes::most_slots(s));
  }
  static unsigned long packs(const Shape& s) {
    return TreeLanes::packs(s) + ProblemLanes::packs(s) + NewtonLanes::packs(s) + FreeLanes::packs(s) +
           OverlapLanes::packs(s) + ListLanes::packs(s) + 4ul * (unsigned long)s.nv + (unsigned long)s.nq +
           3ul * (unsigned long)ProblemLanes::most(s) + 2ul * (unsigned long)ProblemLanes::most_rows(s);
  }

  unsigned run(unsigned running) {
    going = lanes_of(running);
    tree.place(motion.q);
    tree.move(motion.v, tree.h);
    tree.sum_masses();
    origin = tree.O;
    check_angles();
    list.begin();
    motion.begin(~none());
    problem.weight = TreeLanes::at(a.total_mass, 0) * gravity();
    open = listing = going;
    bias_known = false;
    for (int round = 0; find_motion() && round < most_listings && list_again(); ++round) motion.begin(open);
    if (!any(going)) return 0;
    remove_overlap();
    move();
    if (s.floats && any(going & ~held)) keep_momentum(~held);
    return commit();
  }

  // The motion of all lanes that are open; false where none is left.
  bool find_motion() {
    for (int pass = 0; any(open & going); ++pass) {
      if (pass == 6) going &= ~open;
      solve();
      Mask again = motion.wrong(v_end);
      again |= motion.torques(v_end);
      again |= motion.overrun(v_end);
      keep(open & ~again);
      open &= again;
    }
    if (!any(going)) return false;
    motion.hold_joints(1e-8 * s.dt * residual.motion, v_end);
    look_back();
    return true;
  }

  // The next pass begins with the forces of this one, and leaves lanes that are done as they are.
  void keep(Mask done) {
    const int nc = problem.nc;
    for (int i = 0; i < 3 * nc; ++i) {
      list.guess[i] = problem.f[i];
      list.kept_c[i] = select(done, problem.c[i], list.kept_c[i]);
    }
    for (int j = 0; j < problem.nr; ++j) {
      const int i = problem.row[j].kind * s.nv + problem.row[j].dof, o = 3 * nc + j;
      kept_row_f[i] = select(done, problem.f[o], kept_row_f[i]);
      kept_row_c[i] = select(done, problem.c[o], kept_row_c[i]);
    }
  }

  double gravity() const {
    const double* g = s.gravity;
    return __builtin_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  }

  void check_angles() {
    for (int b = 0; b < s.bodies; ++b)
      if (s.joint[b] == revolute) going &= abs(motion.q[s.iq[b]]) < largest_angle;
  }

  // Free motion, contact forces and the velocity at the end.
  void solve() {
    motion.list();
    going &= motion.driven();
    motion.solve(!bias_known);
    bias_known = true;
    going &= ~(motion.turned > 1e-4);  // dt does not resolve the motion (flight.7)
    problem.build(motion.v, motion.v_free);
    set_problem();
    residual = {};
    residual.motion = all(1);
    if (problem.n > 0) find_forces();
    if (problem.nc > 0) going &= ~jammed();
    problem.to_tree(problem.f, w);
    tree.unwhiten(w);
    for (int k = 0; k < s.nv; ++k) v_end[k] = motion.v_free[k] + s.dt * w[k];  // (rigid.5)
  }

  // g, R, mu and the first guess: (rigid.2).
  void set_problem() {
    constexpr double touching = 2e-6, carried = 1e-6;
    const double rate = 1 / s.dt;
    for (int i = 0; i < problem.nc; ++i) {
      ContactSlot& x = problem.contact[i];
      const int o = 3 * i, point = x.point;
      for (int k = 0; k < 3; ++k) {
        problem.g[o + k] = problem.free[o + k] * rate;
        problem.R[o + k] = Pack{};
        problem.f[o + k] = list.guess[o + k];
      }
      const Mask bounces = (TreeLanes::at(a.restitution, point) > 0.0) &
                           (problem.before[o + 2] < -TreeLanes::at(a.restitution_speed, point)) &
                           ~(TreeLanes::at(a.touched, point) > 0.0) & (x.gap + s.dt * problem.free[o + 2] < 0.0);
      going &= ~(x.listed & bounces);
      const Mask carries = (x.gap > 0.0) & (x.gap < touching * TreeLanes::at(a.size, point)) & x.still &
                           (pressed(point) > carried * problem.weight);
      problem.g[o + 2] += select(carries, 0.0, max(x.gap, 0.0) * (rate * rate));
      const Mask slips = TreeLanes::at(a.slips, point) > 0.0;
      x.mu = only(x.listed, select(slips, TreeLanes::at(a.mu_dynamic, point), TreeLanes::at(a.mu_static, point)));
    }
    for (int j = 0; j < problem.nr; ++j) {
      const RowSlot& x = problem.row[j];
      const int o = 3 * problem.nc + j;
      problem.g[o] = problem.free[o] * rate + x.bias;
      problem.R[o] = x.compliance;
      const Pack memory = packed(a.row_f)[x.kind * s.nv + x.dof];
      problem.f[o] =
          only(x.listed, select(open, min(max(memory, x.lower), x.upper), kept_row_f[x.kind * s.nv + x.dof]));
    }
  }

  // The largest normal force that the shape of a point had on its ground in the last step.
  Pack pressed(int point) const {
    if (s.finds) return TreeLanes::at(a.pressed, point);
    Pack most{};
    const Point& x = s.point[point];
    for (int i = 0; i < s.points; ++i)
      if (s.point[i].geometry == x.geometry && s.point[i].ground == x.ground) most = max(most, packed(a.f)[3 * i + 2]);
    return most;
  }

  // The forces of the last step where they hold, else by Newton's method: Rigid::stands.
  void find_forces() {
    constexpr double in_motion = 2e-3, at_rest = 1e-3;
    constexpr int most_iterations = 16;
    problem.velocity_by_factor(problem.f, w, problem.c);
    residual = problem.judge(problem.f, problem.c);
    Pack fastest{};
    for (int i = 0; i < problem.nc; ++i) {
      const Pack* b = problem.before + 3 * i;
      fastest = max(fastest, only(problem.f[3 * i + 2] > 0.0, max(max(abs(b[0]), abs(b[1])), abs(b[2]))));
    }
    const Mask stands = met(residual, at_rest * s.tolerance_abs, at_rest * s.tolerance_rel) |
                        (met(residual, in_motion * s.tolerance_abs, in_motion * s.tolerance_rel) &
                         (fastest > 0.1 * s.dt * residual.relative() * residual.motion));
    for (int i = 0; i < 3 * problem.nc; ++i) problem.c[i] = select(open, problem.c[i], list.kept_c[i]);
    for (int j = 0; j < problem.nr; ++j) {
      Pack& c = problem.c[3 * problem.nc + j];
      c = select(open | ~problem.row[j].listed, c, kept_row_c[problem.row[j].kind * s.nv + problem.row[j].dof]);
    }
    const Mask asked = NewtonLanes::exactly(s.tolerance_rel) ? open & going : open & going & ~stands;
    if (!any(asked)) return;
    problem.gram();
    const Mask found = newton.solve(asked, s.tolerance_abs, s.tolerance_rel, most_iterations, residual);
    going &= ~(asked & ~found);
  }

  // Forces that friction jams, to which the scalar step gives way (rigid.15).
  Mask jammed() const {
    constexpr double lever = 100;
    Pack most{};
    for (int i = 0; i < problem.nc; ++i) most = max(most, problem.f[3 * i + 2]);
    const Mask m = going & (most > lever * problem.weight);
    if (!any(m)) return m;
    const Pack moves = sqrt(TreeLanes::at(a.total_mass, 0) * tree.twice_kinetic(motion.v_free)) * (1 / s.dt);
    return m & (most > lever * (moves + problem.weight));
  }

  // Velocities at the end: what the solve saw, less what (rigid.2) added.
  void look_back() {
    held = none();
    for (int i = 0; i < problem.nc; ++i) {
      const int o = 3 * i;
      const Pack *f = problem.f + o, *c = problem.c + o, mu = problem.contact[i].mu;
      for (int k = o; k < o + 3; ++k)
        end[k] = s.dt * (problem.c[k] - problem.g[k] - problem.R[k] * problem.f[k]) + problem.free[k];
      held |= (f[0] != 0.0) | (f[1] != 0.0) | (f[2] != 0.0);
      const Pack ft = sqrt(f[0] * f[0] + f[1] * f[1]), ct = sqrt(c[0] * c[0] + c[1] * c[1]);
      slipped[i] = (f[2] > 0.0) & (ft >= mu * f[2] * (1 - 1e-9)) & (ct > 1e-7 * residual.motion);
      held_mu[i] = mu;
    }
  }

  // Impacts and motors may send bodies against what was not listed with the velocities of the start. It is listed then, and
  // those lanes are solved again: Crossing::list_again.
  bool list_again() {
    Pack bad{};
    for (int k = 0; k < s.nv; ++k) bad += 0.0 * v_end[k];
    going &= bad == 0.0;
    const Mask far = listing & going & sent_off();
    if (!any(far)) return false;
    tree.velocities(v_end);
    open = listing = list.more(far);
    return any(open);
  }

  // Lanes in which a point may end where it was not foreseen: SentOff of the scalar step.
  Mask sent_off() const {
    Pack way{}, turned{};
    for (int k = 0; k < s.nv; ++k) {
      way += s.reach[k] * abs(v_end[k] - motion.v[k]);
      turned += (s.turning[k] * s.reach[k]) * abs(v_end[k]);
    }
    way = s.dt * way, turned = s.dt * turned;
    Mask m = way > s.astray;
    for (int i = 0; i < problem.nc; ++i) {
      const int n = 3 * i + 2;
      const Pack half = 0.5 * TreeLanes::at(a.margin, problem.contact[i].point);
      const Mask thrown = (s.dt * (end[n] - problem.before[n]) > half) & (way > half);
      m |= (problem.f[n] > 0.0) & ((turned > half) | thrown);
    }
    return m;
  }

  void remove_overlap() {
    for (int k = 0; k < s.nv; ++k) correction[k] = Pack{};
    if (!s.recovers) return;
    const Mask asked = going & overlap.needed(end, v_end);
    if (any(asked)) going &= ~asked | overlap.solve(asked, correction);
  }

  // q moved along v_end and the correction (group.1); v_end in the axes of the end.
  void move() {
    for (int b = 0; b < s.bodies; ++b) {
      const int k = s.iv[b], i = s.iq[b];
      if (s.joint[b] == free_joint)
        move_base(k, i);
      else
        q_next[i] = motion.q[i] + s.dt * (v_end[k] + correction[k]);
    }
    for (int k = s.floats ? 6 : 0; k < s.nv; ++k) v_next[k] = v_end[k];
  }

  void move_base(int k, int i) {
    const auto at3 = [](const Pack* x, int j) { return V3{x[j], x[j + 1], x[j + 2]}; };
    const Pack* q = motion.q;
    const V3 fix = at3(correction, k + 3), u = at3(v_end, k) + at3(correction, k),
             turn = s.dt * (at3(v_end, k + 3) + fix);
    const V3 p = at3(q, i) + rotated(q + i + 3, s.dt * u);
    q_next[i] = p.x, q_next[i + 1] = p.y, q_next[i + 2] = p.z;
    Pack e[4];
    exponential(turn, e);
    const Pack x = q[i + 3], y = q[i + 4], z = q[i + 5], o = q[i + 6];
    const Pack X = o * e[0] + x * e[3] + y * e[2] - z * e[1], Y = o * e[1] + y * e[3] + z * e[0] - x * e[2];
    const Pack Z = o * e[2] + z * e[3] + x * e[1] - y * e[0], W = o * e[3] - x * e[0] - y * e[1] - z * e[2];
    const Pack per = 1.0 / sqrt(X * X + Y * Y + Z * Z + W * W);
    q_next[i + 3] = X * per, q_next[i + 4] = Y * per, q_next[i + 5] = Z * per, q_next[i + 6] = W * per;
    for (int c = 0; c < 3; ++c) e[c] = -e[c];
    const V3 lin = rotated(e, at3(v_end, k)), ang = rotated(e, at3(v_end, k + 3));
    v_next[k] = lin.x, v_next[k + 1] = lin.y, v_next[k + 2] = lin.z;
    const Mask turned = (fix.x != 0.0) | (fix.y != 0.0) | (fix.z != 0.0);  // what is corrected turns the body alone
    v_next[k + 3] = select(turned, ang.x, v_end[k + 3]);
    v_next[k + 4] = select(turned, ang.y, v_end[k + 4]);
    v_next[k + 5] = select(turned, ang.z, v_end[k + 5]);
  }

  // What no contact acts on keeps its momenta, but for the weight: what the step lost of them is given back to the base, so
  // that all bodies move on together (rigid.9). Poses and velocities are then those of the end.
  void keep_momentum(Mask free) {
    BodyInertia whole;
    tree.velocities(motion.v);
    const Spatial6 before = tree.momentum(whole);
    const V3 P = before.lin + (s.dt * whole.m) * given(s.gravity);
    const V3 about_centre = before.ang - (1.0 / whole.m) * cross(whole.mc, before.lin);
    tree.place(q_next);
    tree.velocities(v_next);
    const Spatial6 after = tree.momentum(whole);
    const Pack per = 1.0 / whole.m;
    const V3 c = per * whole.mc, lin = P - after.lin;
    const V3 ang = about_centre + cross(c, P) - after.ang - cross(c, lin);  // about the mass centre
    const Pack cc = dot(c, whole.mc);
    const V3& mc = whole.mc;
    const S3& I = whole.I;
    const V3 turn = solved({I.xx - cc + c.x * mc.x, I.xy + c.x * mc.y, I.xz + c.x * mc.z, I.yy - cc + c.y * mc.y,
                            I.yz + c.y * mc.z, I.zz - cc + c.z * mc.z},
                           ang);
    const V3 u = turned_back(tree.R[0], per * lin - cross(turn, c)), w = turned_back(tree.R[0], turn);
    const Pack give[6] = {u.x, u.y, u.z, w.x, w.y, w.z};
    for (int k = 0; k < 6; ++k) v_next[k] += only(free, give[k]);
  }

  unsigned commit() {
    constexpr double fastest = 3e8;
    Pack bad{};
    for (int i = 0; i < s.nq; ++i) bad += 0.0 * q_next[i];
    for (int k = 0; k < s.nv; ++k) going &= abs(v_next[k]) < fastest;
    going &= bad == 0.0;
    for (int i = 0; i < s.nq; ++i) put(a.q, i, q_next[i]);
    for (int k = 0; k < s.nv; ++k) {
      put(a.v, k, v_next[k]);
      put(a.torque, k, motion.out_torque[k]);
      if (s.rubs) put(a.patience, k, motion.patience[k]);
    }
    remember();
    return bits(going);
  }
  // Without negative zeros, which a neighbour's contact could make of others.
  void put(double* to, int i, Pack x) const { packed(to)[i] = select(going, x + 0.0, packed(to)[i]); }
  void put(double* to, int i, const V3& x) const { put(to, i, x.x), put(to, i + 1, x.y), put(to, i + 2, x.z); }

  void remember() {
    for (int i = 0, k = 0; i < (s.finds ? problem.nc : s.points); ++i) {
      if (k < problem.nc && problem.contact[k].point == i) {
        remember_contact(k++);
        continue;
      }
      put(a.known, i, Pack{}), put(a.slips, i, Pack{}), put(a.touched, i, Pack{}), put(a.f, 3 * i, V3{});
    }
    remember_rows();
  }

  // Drives at their limits too: the scalar step has rows of them.
  void remember_rows() {
    Pack count = all(problem.nr);
    for (int k = 0; k < s.nv; ++k) count += only(motion.clamped[k], all(1));
    if (!any(going & ((TreeLanes::at(a.rows, 0) > 0.0) | (count > 0.0)))) return;
    for (int i = 0; i < row_kinds * s.nv; ++i) put(a.row_known, i, Pack{}), put(a.row_f, i, Pack{});
    put(a.rows, 0, count);
    for (int k = 0; k < s.nv; ++k) {
      const int i = drive_row * s.nv + k;
      put(a.row_known, i, only(motion.clamped[k], all(1)));
      put(a.row_f, i, only(motion.clamped[k], motion.clamp[k]));
    }
    for (int j = 0; j < problem.nr; ++j) {
      const RowSlot& x = problem.row[j];
      const int i = x.kind * s.nv + x.dof;
      put(a.row_known, i, select(x.listed, 1.0, packed(a.row_known)[i]));
      put(a.row_f, i, select(x.listed, problem.f[3 * problem.nc + j], packed(a.row_f)[i]));
    }
  }

  void remember_contact(int k) {
    const ContactSlot& x = problem.contact[k];
    const int i = x.point, o = 3 * k;
    const Pack* f = problem.f + o;
    put(a.known, i, only(x.listed, all(1)));
    put(a.slips, i, only(slipped[k], all(1)));
    put(a.touched, i, only(f[2] > 0.0, all(1)));
    put(a.f, 3 * i, V3{f[0], f[1], f[2]});
    put(a.t1, 3 * i, x.t1);
    put(a.axis_n, 3 * i, x.n);
    put(a.gap, i, x.gap);
    put(a.mu, i, held_mu[k]);
    put(a.contact_p, 3 * i, origin + x.rc - (0.5 * max(x.gap, 0.0)) * x.n);
    put(a.c_start, 3 * i, V3{problem.before[o], problem.before[o + 1], problem.before[o + 2]});
    put(a.c_end, 3 * i, V3{end[o], end[o + 1], end[o + 2]});
  }
};
