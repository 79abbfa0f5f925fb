// The derivative of a rigid step, from what the step left behind: islands, forces, modes.
//
// A step finds v' from  r(q, v, u; v', f) = 0,
//   r = M (v' - v) + dt (b + D v' + k (s + dt v') - tau - f_ext) - dt J^T f,   dr/dv' = Mt of (rigid.1)       (deriv.1)
// and from the laws of its contacts and rows, each in the mode that it is in. With dx the move of start and inputs,
//   Mt dv' = -r_x dx + J_B^T dp                                   dp: change of the impulses that act           (deriv.2)
//   J_C dv' + K dx + R dp = 0                                     rows that hold                               (deriv.3)
// K dx has what moves while v' stays: d(J v'), with the contact's point and axes, and the gap of (rigid.2) to (rigid.4).
// Stick: both tangents and the normal hold, J_B = J_C = J. Slip along d = c_T/|c_T|, e across it:
//   normal:  J_C = J_N (ncp) or J_N - mu d J_T (ccp),  J_B = J_N - mu d J_T                                  (deriv.4)
//   across:  J_C = J_B = e J_T,  R = |c_T| / (dt mu f_N): df_T = -mu f_N/|c_T| e e^T dc_T                     (deriv.5)
// Torsional and rolling friction alike, on the same normal. Rows that hold without R are taken as far as they are
// independent, by their whitened Y (a rank-revealing factor): dv' is unique where forces are not.
// The bias b of (rigid.12) is differentiated as it was found, pass by pass (rigid_smooth.cpp), flights as they flew
// (flight_derivative.cpp), the removal of overlap as the frictionless problem that it is, with the rows that act in it.
#pragma once

#include <algorithm>

#include "contact/solvers/interior_point.hpp"
#include "derivatives/contact_motion.hpp"
#include "derivatives/differences.hpp"
#include "derivatives/outputs.hpp"
#include "derivatives/smoothing.hpp"
#include "derivatives/tree_solve.hpp"
#include "dynamics/derivatives.hpp"
#include "linalg/pivoted_qr.hpp"
#include "stepping/crossing.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/rigid_view.hpp"
#include "stepping/substeps.hpp"

namespace tribo {

struct TendonLine;

class RigidDerivative {
 public:
  RigidDerivative(const Model& model, const StepperOptions& options);

  /// Are touches within steps to be found to the last digit?
  void find_exactly(bool exactly) { substeps_.find_exactly(exactly); }
  /// Whose slopes follow those of the inputs in B.
  void set_parameters(std::span<const Parameter> parameters);
  /// Null, or why slopes by these parameters are not analytic.
  const char* why_differences(const StepInput& step, std::span<const Parameter> parameters) const;
  /// Null, or why this step has no analytic derivative: out is then as it was.
  const char* compute(const StepInput& step, Linearization& out);
  /// Are the slopes of forces wanted? They stand after compute, by the columns of A and B.
  void want_forces(bool wanted) { wants_forces_ = wanted; }
  const ContactForces& forces() const { return forces_out_; }
  /// Forces are means over the whole step: where it was divided they have no slope.
  bool divided() const { return lengths_.size() > 1; }

 private:
  using Vec6 = Eigen::Matrix<double, 6, 1>;

  /// Trees that are solved together. Locally their coordinates follow each other; columns: dq, dv, then du.
  struct Group {
    std::vector<int> trees, dofs, inputs;         // dofs: coordinates; inputs: columns of B
    std::vector<std::pair<int, int>> parameters;  // index, and column; the last of the inputs
    int n() const { return static_cast<int>(dofs.size()); }
    int columns() const { return 2 * n() + static_cast<int>(inputs.size()); }
  };

  using Velocities = BodyVelocities;

  /// Forces between two bodies, and how they change with the coordinates that move their contacts.
  struct Pull {
    struct Side {
      Spatial total;    // on the body, about the origin of its tree
      RowMatrix moved;  // (6 x dofs): its change where contacts move
    };
    int body_a = -1, body_b = -1;
    bool turns = false;         // axes of a contact do
    std::vector<int> dofs;      // in the group
    std::array<Side, 2> sides;  // b, a
    RowMatrix turned;
    VectorBuffer row;
  };

  /// Momenta of a floating tree: what the step must arrive with, and its slopes by dq and dv (3 x 2 nv of the tree).
  struct Kept {
    Vec3 P, L;  // linear; angular about the mass centre
    MatX dP, dL;
    MatX by_parameter;  // (6 x parameters)
  };
  /// Which motion of two bodies a row of a contact that sticks sees: of the point p along the axis, both in W.
  struct SeenRow {
    int pair;
    Vec3 axis, p;
  };

  /// Velocities with which contacts were listed again, and their slopes by dq, dv and du (nv x 2 nv + nu).
  struct Listing {
    VecX v;
    Velocities at;
    MatX slope;
  };
  enum class Side { Constraint, Force, Both };
  enum class Half { First, Second, Both };  // of a solve

  /// What a smoothed contact gives way by, of three rows that hold (smooth.1).
  struct Block {
    int row;
    Mat3 W;
  };

  // rigid_derivative.cpp
  const char* differentiate(const StepInput& step, Linearization& out);
  const char* unsupported(const Start& start, const Outcome& out) const;
  void set_group(std::span<const int> trees);
  const char* solve_group(const StepInput& step, const Start& start, const Outcome& out, const IslandSolution* island,
                          Linearization& lin);
  const char* solve_velocities(const StepInput& step, const Start& start, const IslandSolution* island,
                               Linearization& lin);
  /// f for each island, and with null for each tree that is in none; the first complaint.
  template <class F>
  const char* each_group(const Outcome& out, F f);
  const char* recover(const Start& start, const Outcome& out, const IslandSolution& s, Linearization& lin);
  bool removes(const IslandSolution& s, int row, Linearization& lin) const;
  void add_recovered(const Start& start, const Outcome& out, const IslandSolution& s, int contact);
  void add_softness(const Start& start, const Contact* contact, int row, double force, double compliance,
                    const TendonLength* tendon = nullptr);
  void keep();
  void clear_active();
  void begin_recovery();
  void open(const StepInput& step);
  void move_configuration(double dt);
  void move_free(const Body& body, double dt);
  void turn_velocities(double dt, const Outcome& out);
  void store(Linearization& lin);
  /// Of the input of a coordinate in the columns of the group, or -1.
  int input_column(int dof) const { return input_place_[at(dof)] < 0 ? -1 : 2 * group_.n() + input_place_[at(dof)]; }

  // rigid_smooth.cpp
  void add_tree(const Start& start, int tree, int first);
  void add_bias(const Start& start, const VecX& v_end, int tree, int first);
  void add_turned(const Tree& tree, double factor);
  void add_gyroscope(const Start& start, const VecX& v_end, int tree, int first);
  void add_drives(const Start& start, int tree, int first);
  void add_applied(const Start& start, int tree, double time);
  void add_held_force(const Start& start, int body, const Vec3& p, const Spatial& impulse, RowMatrix& X);

  // rigid_lists.cpp
  const char* through_lists(const StepInput& step, Linearization& out);
  const char* differentiate_listing(const StepInput& step, Linearization& out);
  const char* follow(const Start& start, const Contact& contact);
  void add_rates(const Contact& contact, const Velocities& at_v, const Vec3& u, MatX& K);
  void add_by_velocity(double* row, int dof, double x) const;
  void add_force_rates(const Start& start, int body, double sign, const Vec3& f, const Vec3& torque, const Vec3& r,
                       RowMatrix& X);

  // rigid_contacts.cpp
  void set_velocities(const Start& start, const VecX& v, bool given, Velocities& out) const;
  void contact_slopes(const Start& start, const Contact& contact, const Velocities& at_v, MatX& J, MatX& K);
  void turn_slopes(const Start& start, const Contact& contact, const Vec3& axis, const Velocities& at_v, VecX& K);
  void force_slopes(const Start& start, const Contact& contact, const Vec3& f_W, const Vec3& torque_W, double time,
                    RowMatrix& X);
  void add_pulls(const Start& start, RowMatrix& X);
  int new_row(double compliance, bool slips, int coordinate = -1);
  int open_row(double compliance, bool slips);
  void make_room(int rows);
  void see(const Contact& contact, int normal);
  void drop_repeated();
  void keep_independent(std::size_t first, std::size_t last);
  static void add_whitened(RowMatrix& Y, int a, const ContactProblem& problem, int unknown, double share);
  void add_whitened(int a, const ContactProblem& problem, int unknown, double share, Side side);
  void add_share(int a, const ContactProblem& problem, int contact, int r, double share, Side side);
  void take_forces(const IslandSolution& s);
  void sharpen(const IslandSolution& s);
  bool slips(const IslandSolution& s, int contact) const;
  void list_laws(const IslandSolution& s);
  bool share_evenly(const IslandSolution& s);
  void share_joints(const IslandSolution& s);
  bool moves_truly(const IslandSolution& s) const;
  bool list_holding(const IslandSolution& s);
  void move_inside(const IslandSolution& s, double* d) const;
  bool within_cones(const IslandSolution& s) const;
  bool any_weak(const IslandSolution& s) const;
  const char* list_active(const Start& start, const IslandSolution& s, Linearization& lin);
  const char* add_contact(const Start& start, const IslandSolution& s, int i, Linearization& lin);
  bool add_gap(const Start& start, const IslandSolution& s, int i, int normal);
  void add_disc(const Start& start, const IslandSolution& s, const FrictionDisc& disc, int normal, Linearization& lin);
  void add_rows(const Start& start, const IslandSolution& s, Linearization& lin);
  void add_row_slopes(const Start& start, const Row& row, int active);
  void smooth_solve(RowMatrix& X, int columns, Half half = Half::Both);
  bool solve_active(RowMatrix& X, int columns, Linearization& lin);
  bool choose_rows(Linearization& lin);
  void gather(const std::vector<int>& rows);

  // rigid_equalities.cpp
  void add_equality(const Start& start, const IslandSolution& s, int row, double f, const Velocities& at_v,
                    RowMatrix& X);
  void add_polynomial(const Start& start, const Row& row, int active, double f, const Velocities& at_v, RowMatrix& X);
  void add_joined(const Start& start, const Row& row, int active, double f, const Velocities& at_v, RowMatrix& X);
  void close(const Start& start, Linearization& lin);

  // rigid_touch.cpp
  const char* follow_touches(const StepInput& step, Linearization& out);
  bool slope_by_length(double h);
  const char* find_touch(Linearization& out);
  void note_open();
  void mark_late_touch(Linearization& out);
  template <class F>
  void each_touch(F f);

  // rigid_smoothed.cpp
  const char* smooth(const Start& start, const Outcome& out);
  const char* list_smoothed(const Start& start, const IslandSolution& s, Linearization& lin);
  const char* add_smoothed(const Start& start, const IslandSolution& s, int i, Linearization& lin);
  void add_smoothed_rows(const Start& start, const IslandSolution& s);
  /// Trees that a smoothed contact acts on do not fly.
  bool flies(int tree) const {
    return !listing_now_ && view_->flight().flies(tree) && !(smoothing_ > 0 && touched_[at(tree)]);
  }
  bool keeps(int tree) const { return view_->flight().keeps(tree) && !(smoothing_ > 0 && touched_[at(tree)]); }

  /// The rows of a contact that acts.
  struct ForceRows {
    std::size_t contact;  // in forces_out_
    int normal;           // the first of its rows
    bool slips;
    double mu, along[2];  // of a contact that slips
    Mat3 R;
    int surface;
  };

  // rigid_forces.cpp
  void note_forces(const Start& start, const IslandSolution& s, int i, int normal, bool slips);
  void store_forces(const Start& start, bool unique);
  void share_impulses();
  void store_force(const ForceRows& rows, double dt);

  // rigid_tendons.cpp
  void tendon_slopes(const Start& start, const TendonLength& along, double impulse, const Velocities& at_v,
                     RowMatrix& X);
  void add_segment(const Start& start, const TendonSegment& segment, const TendonLine& line, double sign,
                   double impulse, const Velocities& at_v, RowMatrix& X);
  void add_tendon(const Start& start, const IslandSolution& s, int j, double f, bool holds);
  void add_recovered_tendon(const Start& start, const IslandSolution& s, int j, double share);
  int new_tendon_row(const IslandSolution& s, int j);

  // rigid_parameters.cpp
  int inputs_and_parameters() const { return static_cast<int>(inputs_.size() + parameters_.size()); }
  void list_parameters();
  template <class F>
  void each_parameter(int tree, F f);
  void add_moved(const Dynamics& dynamics, int tree, const VecX& a, double factor, RowMatrix& X, int first,
                 int column = -1);
  double extra_slope(const Parameter& p, int dof, double dt) const;
  double extra_slope(const Parameter& p, int dof, double dt, bool gain) const;
  void add_moved_bias(const Start& start, int tree);
  void add_parameter_drives(const Start& start, const VecX& v_end, int tree, int first);
  void add_parameter_rows(const Start& start, const Row& row, int active);
  void add_bounds(const Start& start, const Row& row, double f);
  void add_friction(const Start& start, const IslandSolution& s, int i, int normal);
  void add_recovered_parameters(const Start& start, const VecX& correction, int tree, int first);
  void add_recovered_size(const Start& start, int listed, double gap, double* K);
  void add_softness_parameters(const Start& start, int tree, double share, double* K);
  void add_gyroscope_parameters(const Start& start, const Gyroscope& body, const Vec3& x, const Vec3& turned, int tree,
                                int first);
  void kick_parameters(const Dynamics& dynamics, int tree, double time, const VecX& v);
  void kick_inertia(const Dynamics& dynamics, int tree, int k, double slope);
  void add_spin_parameters(int tree, int first, const Gyroscope& body, double dt);
  void keep_parameters(const Start& start, int tree, const Mat3& R);
  Vec3 arm_slope(const Dynamics& dynamics, const Parameter& p) const;
  Vec3 move_kept(const Dynamics& dynamics, int tree, Eigen::Index parameter, const VecX& v, Vec6& momentum);

  // flight_derivative.cpp
  static void share_at_end(double z, double& share, double& slope);
  void fly(const Start& start, int tree, int first);
  void spin(const Start& start, int tree, int first);
  void factor_kick(const Start& start, Dynamics& dynamics, int tree, double time);
  void kick(Dynamics& dynamics, int tree, double time, const VecX& q, const VecX& v, const VecX& m);
  void keep_before(const Start& start);
  void arrive(const Start& start, Linearization& lin);
  void kick_at_end(const Start& start, int tree, Linearization& lin);
  void keep_momentum(int tree, Linearization& lin);

  const Model& model_;
  bool body_rows_;     // tendons and the like: see compute()
  bool fourth_order_;  // of flights
  double margin_;
  ContactModel law_;
  std::unique_ptr<Scheme> scheme_;
  const RigidView* view_;
  Workspace work_;
  State state_;
  Crossing crossing_;
  Substeps substeps_;
  Shift still_;
  std::vector<int> inputs_, input_of_;       // input_of: column of u of each coordinate, or -1
  std::vector<int> joint_end_, joint_body_;  // by coordinate: first one behind its joint, and the body of the joint
  std::vector<int> local_, input_place_;     // place of a coordinate, and of its input, in the group
  std::vector<char> row_driven_, grouped_;   // by coordinate; by tree
  std::vector<int> one_tree_;
  Group group_;
  std::span<const AppliedForce> applied_;  // of the step that is asked about
  InverseDynamics inverse_;
  ContactMotion motion_;
  Pull pull_;
  PivotedQr qr_;
  Dynamics end_;
  Closures closures_;
  TreeMotion bias_;
  Velocities at_end_, at_start_, at_move_, at_row_;
  VecX v_start_, q_start_, extra_, zero_, a_, m_, y_, work_v_, E_, dE_, deflection_, force_, w_, next_, u_;
  VecX spare_;     // a column that is in no matrix (2 nv)
  VecX v_turned_;  // at the end, before what happens there
  MatX J3_, K3_;
  MatX by_v_;  // beside K3_: the same by velocities, where a pair meets within the step
  StepReport report_;
  std::vector<Listing> listings_;
  int known_listings_ = 0;  // of this step
  int listed_ = -1;  // with the velocities of which of them the contact whose motion stands was; -1: of the start
  bool listing_now_ = false;  // velocities that contacts are listed again with: nothing flies yet
  bool wants_lists_ = false;  // a contact was listed again
  bool by_velocity_ = false;  // a contact of the group moves with velocities
  RowMatrix dm_, J1_;         // of the velocity that the bias is taken at; a product with it
  MatX dm_fly_, J1_fly_;
  MatX kick_q_, kick_m_, kick_v_;  // slopes of a kick, before its factor
  MatX kick_p_;                    // the same by parameters
  std::vector<int> tendon_dofs_;   // of the row whose slopes stand
  bool wants_forces_ = false;
  ContactForces forces_out_;
  std::vector<ForceRows> force_rows_;
  RowMatrix turned_rows_,
      impulses_;  // turns of contacts (3 each), impulses of the rows that hold (columns of the group)
  std::vector<char> unique_rows_;
  MatX shared_, grams_, shared_rows_, all_rows_;
  Eigen::LLT<MatX> gram_;
  std::vector<Parameter> parameters_;
  double kick_step_ = 0;    // dt of the step of the kick [s]
  std::vector<Kept> kept_;  // by tree
  VecX J_row_, K_row_;
  RowMatrix X_, D_;                     // (n x columns): right-hand side, then dv'; the same of what v_mean adds
  RowMatrix P_, turned_;                // dq+; rows of a free joint before they are turned
  RowMatrix Yc_, Yb_, K_;               // (rows that hold x n or columns); Y: whitened J_C, J_B
  RowMatrix U_, Q_, rhs_;               // Mt^-1 of a row, rows for the factor, right-hand sides
  std::vector<int> support_, nonzero_;  // coordinates of the rows that hold, one after the other; of a row of a product
  std::vector<int> support_first_;
  VectorBuffer R_, f_, c_, middle_, entry_;
  InteriorPoint interior_;
  TreeSolve trees_;
  bool recovers_ = false;  // D is not zero
  bool removes_ = false;   // overlap, in this group
  bool soft_ = false;      // the compliance of the removal of overlap moves with q
  double smoothing_ = 0;
  bool smoothed_rows_ = false;  // the rows that hold are those of the smoothed law
  SmoothedForces smoothed_;
  std::vector<Block> blocks_;
  std::vector<char> touched_;  // by tree
  Crossing::Saved saved_;
  std::vector<double> lengths_;  // of substeps [s]
  std::vector<OpenContact> open_before_;
  MatX sum_, through_;                                      // (2 nv x 2 nv + nu): dx_i by dx and du
  Eigen::RowVectorXd when_, tau_;                           // dt_i by dx and du
  VecX by_length_, moved_, q_side_[2], q_end_, v_side_[2];  // F_h (2 nv)
  VecX v_end_, v_mean_;                                     // of the step, or of the smoothed one
  MatrixBuffer S_;
  std::vector<int> chosen_, rigid_, pivot_;
  std::vector<char> slips_;  // by row that holds
  std::vector<SeenRow> seen_;
  std::vector<Vec6> seen_rows_;  // what is left of them beside those that were chosen
  std::vector<char> dropped_, joint_seen_, moved_by_;
  int seen_pairs_ = 0, seen_a_ = -1, seen_b_ = -1;
  int active_ = 0;
};

template <class F>
const char* RigidDerivative::each_group(const Outcome& out, F f) {
  std::fill(grouped_.begin(), grouped_.end(), 0);
  for (std::size_t i = 0; i < out.islands.size(); ++i) {
    set_group(out.islands[i].island->trees);
    if (const char* why = f(&out.islands[i])) return why;
  }
  for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) {
    if (grouped_[at(t)]) continue;
    one_tree_.assign(1, t);
    set_group(one_tree_);
    if (const char* why = f(nullptr)) return why;
  }
  return nullptr;
}

}  // namespace tribo
