// Which contacts the lanes of a pack have, and the forces that they begin with: Collision::detect and detect_more, on planes in
// lanes, elsewhere by the search of the scalar step.
// Included inside the namespace of a kernel, after ground.hpp.

LANE_INLINE Pack* packed(double* x) { return reinterpret_cast<Pack*>(x); }

struct ListLanes {
  const Shape& s;
  const PackArrays& a;
  const Finder* finder;
  TreeLanes& tree;
  GroundLanes ground;
  ProblemLanes& problem;
  Mask& going;   // lanes that take the step here
  Pack* guess;   // forces of contacts that a pass begins with
  Pack* kept_c;  // of lanes that need no further pass

  ListLanes(const Shape& shape, const PackArrays& arrays, const Finder* looks, TreeLanes& lanes, ProblemLanes& contacts,
            Mask& all_going, Room& room)
      : s(shape),
        a(arrays),
        finder(looks),
        tree(lanes),
        ground{shape, arrays, lanes},
        problem(contacts),
        going(all_going) {
    room.share(ProblemLanes::most(s), guess, kept_c);
  }
  static unsigned long packs(const Shape& s) { return 2ul * (unsigned long)ProblemLanes::most(s); }

  /// At the velocities of the start.
  void begin() {
    if (s.finds) {
      take_found();
    } else {
      going = ground.clear(going);
      list_points();
    }
    for (int i = 0; i < problem.nc; ++i) recall(i, problem.contact[i].listed);
  }

  /// What these lanes lack at the velocities that stand is listed on planes; which of them that are. The others are left.
  Mask more(Mask lanes) {
    if (s.finds) {
      going &= ~lanes_of(finder->more(finder->self, motions(), bits(lanes)));
      return none();
    }
    going &= ground.clear(going) | ~lanes;
    return list_more_points(lanes);
  }

  // The forces that a contact begins with: those of the last step, in lanes that have just listed it.
  void recall(int i, Mask fresh) {
    const ContactSlot& x = problem.contact[i];
    for (int k = 0; k < 3; ++k)
      guess[3 * i + k] = select(fresh, packed(a.f)[3 * x.point + k], only(x.listed, guess[3 * i + k]));
  }

  void list_points() {
    problem.nc = 0;
    Pack count{};
    const int room = ProblemLanes::most_slots(s);
    for (int i = 0; i < s.points; ++i) {
      const GroundLanes::Near near = ground.near(i);
      const Mask listed = going & near.listed;
      if (!any(listed)) continue;
      if (problem.nc == room) {  // cannot be: no lane has more than its part of the room
        going &= ~listed;
        continue;
      }
      count += only(listed, all(1));
      going &= count <= (double)s.most_contacts;
      ContactSlot& slot = problem.contact[problem.nc++];
      set_slot(i, near, listed & going, slot);
      slot.still = is_still(slot);
      leave_covered(problem.nc - 1, slot.listed);
    }
  }

  // What these lanes have not listed, at the velocities that stand; which lanes that are.
  Mask list_more_points(Mask lanes) {
    Pack count{};
    for (int k = 0; k < problem.nc; ++k) count += only(problem.contact[k].listed, all(1));
    Mask found = none();
    for (int i = 0, k = 0; i < s.points; ++i) {
      const bool present = k < problem.nc && problem.contact[k].point == i;
      const GroundLanes::Near near = ground.near(i);
      Mask more = lanes & going & near.listed;
      if (present) more &= ~problem.contact[k].listed;
      count += only(more, all(1));
      going &= count <= (double)s.most_contacts;
      if (!any(more)) {
        k += present;
        continue;
      }
      if (!present) insert(k);
      ContactSlot& slot = problem.contact[k];
      set_slot(i, near, (more & going) | (present ? slot.listed : none()), slot);
      if (!present) slot.still = none();
      leave_covered(k, more);
      recall(k++, more);
      found |= more;
    }
    return found & going;
  }

  // Room for a contact at k; what stands there and after it moves on by one.
  void insert(int k) {
    for (int i = problem.nc++; i > k; --i) {
      problem.contact[i] = problem.contact[i - 1];
      for (int c = 0; c < 3; ++c) {
        guess[3 * i + c] = guess[3 * i - 3 + c];
        kept_c[3 * i + c] = kept_c[3 * i - 3 + c];
      }
    }
    for (int c = 0; c < 3; ++c) kept_c[3 * k + c] = Pack{};
  }

  void set_slot(int i, const GroundLanes::Near& near, Mask listed, ContactSlot& slot) const {
    const Point& x = s.point[i];
    slot.point = i;
    slot.body = x.body;
    slot.listed = listed;
    slot.gap = only(listed, near.gap);
    slot.rc = near.rc;
    slot.round = all(x.round);
    slot.n = given(s.ground[x.ground].n);
    set_tangents(s.ground[x.ground], i, slot);
  }

  // Contacts that another one of the body may cover.
  void leave_covered(int k, Mask listed) {
    const int* together = s.together + problem.contact[k].point * s.points;
    for (int j = 0; j < problem.nc; ++j)
      if (together[problem.contact[j].point]) going &= ~(listed & problem.contact[j].listed);
  }

  Motions motions() const {
    const auto plain = [](const void* x) { return static_cast<const double*>(x); };
    return {plain(&tree.O), plain(tree.R), plain(tree.r), plain(tree.V)};
  }
  V3 vector(const double* x, int i) const {
    return {TreeLanes::at(x, 3 * i), TreeLanes::at(x, 3 * i + 1), TreeLanes::at(x, 3 * i + 2)};
  }

  // The list of the scalar step's own search.
  void take_found() {
    const Finder::Listed found = finder->list(finder->self, motions(), bits(going));
    going &= lanes_of(found.lanes);
    problem.nc = found.slots;
    for (int i = 0; i < found.slots; ++i) {
      ContactSlot& slot = problem.contact[i];
      slot.point = i;
      slot.body = a.slot_body[i];
      slot.listed = going & (TreeLanes::at(a.listed, i) > 0.0);
      slot.gap = TreeLanes::at(a.gap, i);
      slot.round = TreeLanes::at(a.round, i);
      slot.rc = vector(a.lever, i);
      slot.n = vector(a.axis_n, i);
      slot.t1 = vector(a.t1, i);
      slot.t2 = cross(slot.n, slot.t1);
      slot.still = is_still(slot);
    }
  }

  // The last tangent, turned as far as the normal turned; or a fresh one.
  void set_tangents(const Ground& plane, int i, ContactSlot& slot) const {
    const Pack* t = packed(a.t1) + 3 * i;
    const V3 fresh = given(plane.t), last{t[0], t[1], t[2]};
    const Pack along = dot(slot.n, last);
    const Mask known = TreeLanes::at(a.known, i) > 0.0, same = abs(along) < 1e-15;
    slot.t1 = select(known, last, fresh);
    if (any(known & ~same)) {
      const V3 flat = last - along * slot.n;
      const Pack length = sqrt(dot(flat, flat)), per = 1.0 / length;
      slot.t1 = select(known & ~same, select(length > 0.1, per * flat, fresh), slot.t1);
    }
    slot.t2 = cross(slot.n, slot.t1);
  }

  // Does a contact neither slide nor roll by 1e-6 of its size in the step?
  Mask is_still(const ContactSlot& x) const {
    const Pack size = TreeLanes::at(a.size, x.point), most = 1e-6 * (1 / s.dt) * size;
    const Spatial6& V = tree.V[x.body];
    const V3 u = V.lin + cross(V.ang, x.rc), above = u + cross(V.ang, size * x.n);
    return (dot(u, u) < most * most) & (dot(above, above) < most * most);
  }
};
