// What crosses into the lane kernels: plain numbers and pointers, since each kernel is compiled for another instruction
// set and must share no inline function with the rest.
//
// Worlds of one model stand side by side, `width` of them in a pack. An array of a pack has its lanes innermost: entry i
// of lane l is x[i * width + l], aligned to a vector.
#pragma once

namespace tribo::lanes {

enum Joint : int { free_joint, revolute, prismatic };

/// A plane that points may touch.
struct Ground {
  double n[3], p[3];  ///< normal of the plane, and a point of it
  double t[3];        ///< first tangent of a contact that has none yet
};

/// A point or a ball of a body that may touch a ground: a foot, a corner of a box, an end of a capsule.
struct Point {
  int body, ground, geometry;  ///< geometry: in the order of the list, equal for all points of one shape
  double p[3];                 ///< in the frame of the body [m]
  double round;                ///< radius [m]
};

/// A shape that is only watched: where it comes near its ground, the lane is left. How far it reaches along n, with a_k the
/// products of n and its half axes: |a_0| + |a_1| + |a_2| of a box, |a_2| + |(a_0, a_1)| of a cylinder, |a| of an ellipsoid.
enum Form : int { in_box, in_cylinder, in_ellipsoid };
struct Watched {
  int body, ground, form;
  double center[3], axes[9];  ///< in the frame of the body; axes: three columns, each of its half length [m]
  double margin;              ///< [m]
  int first, vertices;        ///< of a hull: which of Shape::vertex, where the box comes near
};

/// What all worlds share.
struct Shape {
  int bodies, nq, nv, points, watched, grounds, entries;  ///< entries: of M, row by row along the chains
  int most_contacts;                                      ///< of one lane
  bool floats;                                            ///< the root has a free joint
  bool rubs;                                              ///< some joint may have dry friction
  bool finds;  ///< contacts are found by a Finder: `points` are its places, and `point`, `watch`, `ground` are empty
  double dt, gravity[3], tolerance_abs, tolerance_rel;
  bool recovers;                                           ///< overlap is removed
  double joint_share;                                      ///< of the overlap of a joint limit that a step removes
  double joint_margin;                                     ///< joint limits are listed from this distance on
  const int *parent, *joint, *iq, *iv, *aligned, *turned;  ///< by body; aligned: axis is a unit vector, or -1
  const double *placement, *axis;  ///< by body: rotation by columns and translation (12), axis (3)
  const int *dof_body, *dof_iq, *depth, *row, *chain_start;  ///< by velocity; depth: of the chain without it
  const int* chain;                                          ///< velocities from the root on
  const int* body_depth;                                     ///< length of the chain of a body
  const int* shared;                                         ///< (bodies x bodies) velocities that two chains share
  const Point* point;
  const Watched* watch;
  const double* vertex;  ///< (3 each) in the frame of the body [m]
  const Ground* ground;
  const int* together;  ///< (points x points) 1: shapes of one body that overlap, which may cover each other's contacts
  const double *reach, *turning;  ///< by velocity: of SentOff, turning 1 or 0
  double astray;                  ///< half of the least margin of the tree: what goes farther may meet more [m]
};

/// What one pack holds. (n) entries of `width` lanes each.
struct PackArrays {
  double *q, *v;                          ///< (nq), (nv)
  double *mass, *com, *inertia;           ///< (bodies), (3 bodies), (6 bodies: xx xy xz yy yz zz) about com
  double *damping, *armature, *friction;  ///< (nv)
  double *effort_lower, *effort_upper, *lower, *upper;  ///< (nv)
  double *kp, *kd, *feedforward, *target;               ///< (nv)
  double* tau;                                          ///< (nv) feedforward and the torque that is commanded
  double *mu_static, *mu_dynamic, *restitution, *restitution_speed, *size, *margin, *share;  ///< (points)
  double* total_mass;                                                                        ///< (1)

  // Memory of the last step, and its report.
  double *known, *slips, *touched;       ///< (points) 1 or 0
  double *f, *t1;                        ///< (3 points)
  double *row_f, *row_known, *patience;  ///< (4 nv) by kind: lower limit, upper limit, friction, drive; patience (nv)
  double* rows;                          ///< (1) how many rows are known, or more
  double* torque;                        ///< (nv)
  double *gap, *mu, *contact_p, *c_start, *c_end, *axis_n;  ///< (points), (points), (3 points)

  // Of what a Finder has listed, beside the arrays of points that it fills: its places are slots, not always of one pair.
  double *listed, *lever, *pressed,
      *round;  ///< (points), (3 points) from O, (points) as ProblemLanes has it, radius (points)
  const int* slot_body;
};

/// Where the bodies of a pack are and how they move, as TreeLanes has it.
struct Motions {
  const double *O, *R, *r, *V;  ///< (3), (9 bodies) by columns, (3 bodies) from O, (6 bodies) about O: linear, angular
};

/// Looks for contacts of lanes outside of a kernel, as the scalar step does: what one lane has depends on no other.
struct Finder {
  struct Listed {
    int slots;       ///< places in use; those of one body stand together, in the order of the bodies
    unsigned lanes;  ///< that have room for their contacts
  };
  void* self;
  Listed (*list)(void* self, const Motions&, unsigned lanes);
  /// Lanes in which these velocities lead to contacts that are not listed.
  unsigned (*more)(void* self, const Motions&, unsigned lanes);
};

/// Kinds of rows, as they stand in row_f.
enum RowKind : int { lower_limit, upper_limit, friction_row, drive_row, row_kinds };

struct Kernel {
  const char* name;
  int width;
  /// Doubles of working memory that step needs, aligned to 64 bytes.
  unsigned long (*memory)(const Shape&);
  /// A step of every lane of `running` that can take it here; the others are as they were. Bit l: lane l has moved.
  /// finder: where shape.finds.
  unsigned (*step)(const Shape&, const PackArrays&, double* memory, unsigned running, const Finder* finder);
  /// Of all lanes as they stand, in that memory.
  Motions (*motions)(const Shape&, const PackArrays&, double* memory);
};

/// Null where this machine does not have it.
const Kernel* kernel_avx512();
const Kernel* kernel_avx2();
const Kernel* kernel_base();
/// The widest that this machine has; or the one of this name, null where there is none.
const Kernel& best_kernel();
const Kernel* kernel_named(const char* name);

}  // namespace tribo::lanes
