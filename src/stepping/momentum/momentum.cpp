// Steppers of the momentum family that solve for the impulses which bring the contact points to rest.
//
//   momentum:    1/2 |A p + b + k d|^2 + 1/2 lambda |p|^2 -> min, unilateral normals, by (program.1) to (program.6)
//                                                                              (momentum.7) [Wakisaka2014, 13, 14]
//   relaxed:     the same with k = 0, and soft spring-dampers along the normal, in parallel:
//                f_N += max(0, -K phi - B v_N),  K = m w^2, B = 2 m w, m = 1/A_NN, w dt = soft_spring   (momentum.8)
//                                                                              [Sugihara2006; Wakisaka2014, 11]
//   macroscopic: A p + b = 0, completely plastic, by pivoting or minimum norm                           (momentum.9)
// lambda = (relaxation tr A / n)^2 over the n unknowns of an island: it scales with the inverse square of mass, so that
// one relaxation suits every model. At rest the shortage of the relaxed impulse is what the displacement makes up for,
//   k d = -lambda A^-1 p, |d| about relaxation^2 |g| dt^2 / compensation                                (momentum.10)
// k = compensation / dt. A point that came in with the speed v leaves with at most compensation v.
//
// Friction: (program.2) to (program.5), with w(x) = 1 - exp(-k_w x)                                     (momentum.11)
// [Wakisaka2014, 18 to 23]. Departs from it: sliding friction acts while the normals are solved; taken as at rest, the
// points of a sliding box would be stopped within the step, the box would trip over them, and the normals be those of
// tripping. friction_in_program = false is the paper's order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stepping/momentum/contact_program.hpp"
#include "stepping/momentum/momentum.hpp"
#include "stepping/steppers.hpp"
#include "tribo/assembly.hpp"

namespace tribo {
namespace {

constexpr std::size_t most_trees = 64;         // of macroscopic by a dense A
constexpr int many_contacts = 20;              // in an island: from here on they are solved by bodies
constexpr double return_rate = 9.81;           // d is made up for at sqrt(9.81 d) at most [m/s^2], [rad/s^2]
constexpr double equality_compensation = 0.2;  // share of the error of an equality that a step undoes at least

enum class Variant { Momentum, Relaxed, Macroscopic };

// What the three variants are asked for.
struct Asked {
  ContactProgram::Rules program;
  double compensation = 0, soft_spring = 0;
};

class Impulses final : public MomentumFamily {
 public:
  Impulses(const Model& model, const ImpulseOptions& options, Variant variant, const Asked& asked)
      : MomentumFamily(model, options), asked_(asked), variant_(variant), model_(&model) {
    asked_.program.friction_in_program = options.friction_in_program;
    if (asked.program.solve == ProgramSolve::Pivoting && model.trees.size() > most_trees)
      throw InvalidInput("the model has " + std::to_string(model.trees.size()) +
                         " separate bodies and robots: the stepper 'macroscopic' with singular = \"pivoting\" keeps a "
                         "dense A and takes at most " +
                         std::to_string(most_trees) + "; singular = \"minimum-norm\" takes more");
    answers_.resize(model.trees.size());
    dof_body_.resize(at(model.nv));
    for (std::size_t b = 0; b < model.bodies.size(); ++b)
      for (int k = 0; k < nv_of(model.bodies[b].joint); ++k)
        dof_body_[at(model.bodies[b].iv + k)] = static_cast<int>(b);
  }

 private:
  void find_forces(const Start& start, Outcome& out) override {
    out.solve = {};
    out.status = StepStatus::Ok;
    contacts_.clear();
    rows_.clear();
    for (Touching& t : touching_) {
      contacts_.push_back(t.c);
      t.b = t.v + start.dt * point_acceleration(start.dynamics, t.c);  // (momentum.1), at the accelerations of x0
    }
    for (const JointForce& j : joints_) {
      Row& row = rows_.emplace_back();
      if (j.other >= 0)
        row.along = CoordinatePair{j.dof, j.other, j.slope};
      else
        row.along = Coordinate{j.dof, j.sign};
    }
    start.assembly.group(contacts_, rows_);
    out.island_count = start.assembly.islands();
    for (int i = 0; i < start.assembly.islands(); ++i) solve_island(start, start.assembly.island(i), out);
  }

  void solve_island(const Start& start, const Island& island, Outcome& out) {
    list_items(start.state, island, start.dt);
    if (goes_by_bodies(island))
      fill_bodies(start.dynamics, island);
    else
      fill_matrix(island);
    relax_by_the_heaviest(island);
    out.solve.iterations += program_.solve(asked_.program);
    if (!program_.converged()) out.status = StepStatus::Unconverged;
    take_forces(island, start.dt, out);
  }

  // Items of the program: contacts first, then joints.
  void list_items(const State& state, const Island& island, double dt) {
    const int nc = static_cast<int>(island.contacts.size()), nr = static_cast<int>(island.rows.size());
    program_.resize(3 * nc + nr);
    program_.items.resize(at(nc + nr));
    const double k = variant_ == Variant::Momentum ? asked_.compensation / dt : 0;
    for (int i = 0; i < nc; ++i) {
      const Touching& t = touching_[at(island.contacts[at(i)])];
      ProgramItem& item = program_.items[at(i)];
      item = {};
      item.first = 3 * i;
      item.mu_rest = t.surface.mu_static;
      item.mu_slide = t.surface.mu_dynamic;
      item.slid = t.slid;
      item.fresh = t.fresh;
      item.idle = !t.fresh && !t.loaded;
      const Vec3 w = t.b + held_back(k, t.d.norm()) * t.d;
      program_.w.map().segment<3>(item.first) = w;
      program_.p.map().segment<3>(item.first) = dt * t.f;
      const double speed = t.v.head<2>().norm(), drift = w.head<2>().norm();
      item.ramp = t.slid ? ramp(speed) : 1;
      if (speed > 0)
        item.heading = -t.v.head<2>() / speed;
      else if (drift > 0)
        item.heading = -w.head<2>() / drift;
    }
    for (int r = 0; r < nr; ++r) {
      const JointForce& j = joints_[at(island.rows[at(r)])];
      ProgramItem& item = program_.items[at(nc + r)];
      item = {};
      item.kind = j.friction > 0 ? ProgramItem::Kind::Friction : ProgramItem::Kind::Limit;
      item.first = 3 * nc + r;
      item.bound = dt * j.friction;
      // Errors of equalities are taken back in every variant.
      const double back = j.equality() ? std::max(k, equality_compensation / dt) : k;
      program_.w[item.first] = j.sign * (state.v[j.dof] + dt * x0_[j.dof]) + held_back(back, std::abs(j.d)) * j.d;
      if (j.other >= 0) program_.w[item.first] += j.slope * (state.v[j.other] + dt * x0_[j.other]);
    }
  }

  // k, or what it may be at so large a displacement (momentum.12).
  static double held_back(double k, double d) { return k * k * d > return_rate ? std::sqrt(return_rate / d) : k; }

  // Whether the program is relaxed, or of minimum norm in a model of many trees, has many contacts, and no row of two
  // joints.
  bool goes_by_bodies(const Island& island) const {
    const bool apt = asked_.program.solve == ProgramSolve::Relaxed ||
                     (asked_.program.solve == ProgramSolve::MinimumNorm && model_->trees.size() > most_trees);
    return apt && static_cast<int>(island.contacts.size()) >= many_contacts &&
           std::ranges::none_of(island.rows, [&](int r) { return joints_[at(r)].other >= 0; });
  }

  void fill_bodies(const Dynamics& dynamics, const Island& island) {
    number_bodies(island);
    ProgramBodies& bodies = program_.bodies();
    bool linked = false;
    for (int t : island.trees) {
      const Tree& tree = model_->trees[at(t)];
      if (tree.single) continue;
      linked = true;
      for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
        const Body& body = model_->bodies[at(i)];
        const int node = node_[at(i)];
        bodies.link(node, body.parent < 0 ? -1 : node_[at(body.parent)], i, dynamics.body_inertia(i));
        for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
          bodies.add_axis(node, k, dynamics.axis(k), model_->joints.armature[k] + extra_[k]);
      }
    }
    for (int i : island.contacts) {
      const Contact& c = contacts_[at(i)];
      bodies.add(side(dynamics, c.body_a, c, -1), side(dynamics, c.body_b, c, 1));
    }
    for (int r : island.rows) {
      const JointForce& j = joints_[at(r)];
      bodies.add_row(node_[at(dof_body_[at(j.dof)])], j.dof, j.sign);
    }
    bodies.prepare(linked ? &articulated_ : nullptr);
    for (std::size_t i = 0; i < island.contacts.size() && island.trees.size() > 1; ++i) {
      const Contact& c = contacts_[at(island.contacts[i])];
      for (int s = 0; s < 2; ++s)
        if (const int tree = tree_of(s == 0 ? c.body_a : c.body_b); tree >= 0)
          answers_[at(tree)].add(bodies.side_entry(static_cast<int>(i), s), 3);
    }
  }

  // lambda goes by the tree that answers least to its contacts: what is light beside it must carry its weight.
  void relax_by_the_heaviest(const Island& island) {
    if (island.trees.size() < 2) return;
    double least = std::numeric_limits<double>::infinity();
    for (int t : island.trees) {
      if (answers_[at(t)].count > 0) least = std::min(least, answers_[at(t)].sum / answers_[at(t)].count);
      answers_[at(t)] = {};
    }
    if (std::isfinite(least)) program_.relax_by(least);
  }

  void number_bodies(const Island& island) {
    node_.resize(model_->bodies.size(), -1);
    int nodes = 0;
    for (int t : island.trees) {
      const Tree& tree = model_->trees[at(t)];
      for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) node_[at(i)] = nodes++;
    }
    program_.solve_by_bodies(nodes);
  }

  ProgramBodies::Side side(const Dynamics& dynamics, int body, const Contact& c, double sign) const {
    ProgramBodies::Side s;
    if (body < 0) return s;
    s.node = node_[at(body)];
    const Body& b = model_->bodies[at(body)];
    if (!model_->trees[at(b.tree)].single) {
      const Mat3 turn = sign * c.R_WC.transpose();
      s.y << turn, -turn * skew(c.p_WC - dynamics.origin(b.tree));
      return s;
    }
    dynamics.point_jacobian(body, c.p_WC, c.R_WC, s.y.data());
    for (int k = 0; k < 6; ++k) {  // Y = J (M + extra)^-1/2: M is diagonal
      const double inertia = k < 3 ? b.inertia.mass : b.inertia.about_com(k - 3, k - 3);
      s.y.col(k) *= sign / std::sqrt(inertia + model_->joints.armature[b.iv + k] + extra_[b.iv + k]);
    }
    return s;
  }

  // Column by column: the response to a unit force, by articulated-body passes (momentum.1).
  void fill_matrix(const Island& island) {
    watched_.clear();
    for (int i : island.contacts)
      for (int body : {contacts_[at(i)].body_a, contacts_[at(i)].body_b})
        if (body >= 0) watched_.push_back(body);
    for (int r : island.rows) {
      watched_.push_back(dof_body_[at(joints_[at(r)].dof)]);
      if (joints_[at(r)].other >= 0) watched_.push_back(dof_body_[at(joints_[at(r)].other)]);
    }
    articulated_.watch(watched_);
    const int nc = static_cast<int>(island.contacts.size()), n = program_.size();
    for (int column = 0; column < n; ++column) {
      int trees[2] = {-1, -1};  // that the force moves
      if (column < 3 * nc) {
        const Contact& c = contacts_[at(island.contacts[at(column / 3)])];
        const Vec3 axis = c.R_WC.col(column % 3);
        articulated_.respond({c.body_b, c.p_WC, axis}, {c.body_a, c.p_WC, -axis}, -1, 0);
        trees[0] = tree_of(c.body_b), trees[1] = tree_of(c.body_a);
      } else {
        const JointForce& j = joints_[at(island.rows[at(column - 3 * nc)])];
        articulated_.respond({}, {}, j.dof, j.sign, j.other, j.slope);
        trees[0] = tree_of(dof_body_[at(j.dof)]);
        if (j.other >= 0) trees[1] = tree_of(dof_body_[at(j.other)]);
      }
      auto moved = [&](int tree) { return tree >= 0 && (tree == trees[0] || tree == trees[1]); };
      for (int i = 0; i < nc; ++i) {
        const Contact& c = contacts_[at(island.contacts[at(i)])];
        if (!moved(tree_of(c.body_a)) && !moved(tree_of(c.body_b))) continue;
        const Vec3 a = c.R_WC.transpose() * (articulated_.point_acceleration(c.body_b, c.p_WC) -
                                             articulated_.point_acceleration(c.body_a, c.p_WC));
        for (int k = 0; k < 3; ++k) program_.add(3 * i + k, a[k]);
        if (column / 3 != i || trees[0] == trees[1]) continue;
        const Vec3 axis = c.R_WC.col(column % 3);
        if (trees[0] >= 0)
          answers_[at(trees[0])].add(axis.dot(articulated_.point_acceleration(c.body_b, c.p_WC)), 1);
        if (trees[1] >= 0)
          answers_[at(trees[1])].add(-axis.dot(articulated_.point_acceleration(c.body_a, c.p_WC)), 1);
      }
      for (int r = 3 * nc; r < n; ++r) {
        const JointForce& j = joints_[at(island.rows[at(r - 3 * nc)])];
        const int other = j.other >= 0 ? tree_of(dof_body_[at(j.other)]) : -1;
        if (!moved(tree_of(dof_body_[at(j.dof)])) && !moved(other)) continue;
        const double follows = j.other >= 0 ? j.slope * articulated_.acceleration_of(j.other) : 0;
        program_.add(r, j.sign * articulated_.acceleration_of(j.dof) + follows);
      }
      program_.end_column();
    }
  }

  int tree_of(int body) const { return body < 0 ? -1 : model_->bodies[at(body)].tree; }

  void take_forces(const Island& island, double dt, Outcome& out) {
    const int nc = static_cast<int>(island.contacts.size());
    Residual& residual = out.solve.residual;
    for (int i = 0; i < nc; ++i) {
      Touching& t = touching_[at(island.contacts[at(i)])];
      const ProgramItem& item = program_.items[at(i)];
      t.f = program_.p.map().segment<3>(item.first) / dt;
      const double left = program_.residual(item.first + 2);  // of the normal row [m/s]
      t.mode = item.out || !(t.f.z() > 0) ? ContactMode::Open : item.slides ? ContactMode::Slip : ContactMode::Stick;
      if (variant_ == Variant::Relaxed) add_spring(t, program_.entry(item.first + 2, item.first + 2), dt);
      if (t.mode == ContactMode::Open) t.f.setZero();
      if (!item.out) residual.dual = std::max(residual.dual, std::abs(left) / dt);
      residual.force_scale = std::max(residual.force_scale, t.f.cwiseAbs().maxCoeff());
      residual.motion_scale = std::max(residual.motion_scale, t.b.cwiseAbs().maxCoeff() / dt);
    }
    for (std::size_t r = 0; r < island.rows.size(); ++r)
      joints_[at(island.rows[r])].f = program_.p[3 * nc + static_cast<int>(r)] / dt;
  }

  // (momentum.8)
  void add_spring(Touching& t, double A_NN, double dt) const {
    if (!(A_NN > 0)) return;
    const double m = 1 / A_NN, frequency = asked_.soft_spring / dt;
    const double f = m * frequency * (-held_back(frequency, std::abs(t.d.z())) * t.d.z() - 2 * t.v.z());
    if (!(f > 0)) return;
    t.f.z() += f;
    if (t.mode == ContactMode::Open) t.mode = ContactMode::Stick;
  }

  // Diagonal entries of A that come from one tree.
  struct Answers {
    double sum = 0;
    int count = 0;
    void add(double x, int entries) {
      sum += x;
      count += entries;
    }
  };

  Asked asked_;
  Variant variant_;
  ContactProgram program_;
  std::vector<Answers> answers_;  // by tree, zero between islands
  const Model* model_;
  std::vector<Contact> contacts_;
  std::vector<Row> rows_;
  std::vector<int> watched_, dof_body_, node_;
};

}  // namespace

namespace {

template <class T>
FieldTable<T> impulse_fields() {
  FieldTable<T> table = momentum_fields<T>();
  table.add("friction_in_program", &T::friction_in_program,
            "sliding friction acts while the normal impulses are solved; false: it is set afterwards");
  return table;
}

template <class T>
void add_relaxation(FieldTable<T>& table) {
  table.add("relaxation", &T::relaxation, positive(1), "", "of the impulses, over the mean diagonal of A");
}

}  // namespace

OptionTable momentum_options() {
  auto table = impulse_fields<MomentumOptions>();
  add_relaxation(table);
  table.add("compensation", &MomentumOptions::compensation, within(0, 1), "",
            "share of a displacement that a step undoes");
  return table;
}

OptionTable relaxed_options() {
  auto table = impulse_fields<RelaxedOptions>();
  add_relaxation(table);
  table.add("soft_spring", &RelaxedOptions::soft_spring, within(0, 1), "", "frequency of the spring-dampers times dt");
  return table;
}

OptionTable macroscopic_options() {
  auto table = impulse_fields<MacroscopicOptions>();
  table.add("singular", &MacroscopicOptions::singular,
            {{"pivoting", SingularSolve::Pivoting}, {"minimum-norm", SingularSolve::MinimumNorm}},
            "how a singular system is taken: unknowns without a pivot are 0, or the shortest solution");
  return table;
}

std::unique_ptr<Scheme> make_momentum(const Model& model, const StepperOptions& options) {
  const auto own = options.own.taken<MomentumOptions>("stepper 'momentum'");
  Asked asked;
  asked.program.relaxation = own.relaxation;
  asked.compensation = own.compensation;
  return std::make_unique<Impulses>(model, own, Variant::Momentum, asked);
}

std::unique_ptr<Scheme> make_relaxed(const Model& model, const StepperOptions& options) {
  const auto own = options.own.taken<RelaxedOptions>("stepper 'relaxed'");
  Asked asked;
  asked.program.relaxation = own.relaxation;
  asked.soft_spring = own.soft_spring;
  return std::make_unique<Impulses>(model, own, Variant::Relaxed, asked);
}

std::unique_ptr<Scheme> make_macroscopic(const Model& model, const StepperOptions& options) {
  const auto own = options.own.taken<MacroscopicOptions>("stepper 'macroscopic'");
  Asked asked;
  asked.program.solve = own.singular == SingularSolve::Pivoting ? ProgramSolve::Pivoting : ProgramSolve::MinimumNorm;
  return std::make_unique<Impulses>(model, own, Variant::Macroscopic, asked);
}

}  // namespace tribo
