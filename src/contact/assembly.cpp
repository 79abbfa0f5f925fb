#include "tribo/assembly.hpp"

#include <numeric>

#include "contact/block_product.hpp"
#include "contact/side_kernel.hpp"
#include "dynamics/tendons.hpp"

namespace tribo {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

constexpr int small_island = 36, of_few_bodies = 72;  // unknowns
constexpr std::size_t few_bodies =
    3;  // with many points each, as cans on their caps: Newton's method shares their loads
constexpr int dense_limit = 240;

}  // namespace

Assembly::Assembly(const Model& model) : model_(&model) {
  parent_.resize(model.trees.size());
  base_.resize(model.trees.size());
  node_.resize(model.trees.size());
  island_of_.resize(model.trees.size());
  touched_.assign(model.trees.size(), 0);
  dof_body_.resize(at(model.nv));
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (int k = 0; k < nv_of(model.bodies[b].joint); ++k) dof_body_[at(model.bodies[b].iv + k)] = static_cast<int>(b);
}

int Assembly::root(int tree) {
  while (parent_[at(tree)] != tree) {
    parent_[at(tree)] = parent_[at(parent_[at(tree)])];
    tree = parent_[at(tree)];
  }
  return tree;
}

void Assembly::join(int a, int b) {
  a = root(a);
  b = root(b);
  parent_[at(std::max(a, b))] = std::min(a, b);
}

// All that a tendon pulls on, and a tree.
void Assembly::join_tendon(int tree, int index) {
  const Tendon& tendon = model_->tendons[at(index)];
  for (const TendonJoint& j : tendon.joints) join(tree, model_->bodies[at(j.body)].tree);
  for (const TendonSegment& s : tendon.path)
    for (int body : {s.body_a, s.body_b})
      if (body >= 0 && s.body_a != s.body_b) join(tree, model_->bodies[at(body)].tree);
}

// The trees that a row acts on.
void Assembly::join_row(const Row& row) {
  const int tree = model_->bodies[at(body_of(row))].tree;
  if (const auto* length = std::get_if<TendonLength>(&row.along)) {
    join_tendon(tree, length->tendon);
  } else if (const auto* tendons = std::get_if<TendonPair>(&row.along)) {
    for (int i : {tendons->tendon, tendons->other}) join_tendon(tree, i);
  } else if (const auto* pair = std::get_if<CoordinatePair>(&row.along)) {
    join(tree, model_->bodies[at(dof_body_[at(pair->other)])].tree);
  } else if (const BodyAxis* bodies = row.bodies(); bodies && bodies->body_a >= 0) {
    join(tree, model_->bodies[at(bodies->body_a)].tree);
  }
}

void Assembly::group(std::span<const Contact> contacts, std::span<const Row> rows) {
  std::iota(parent_.begin(), parent_.end(), 0);
  std::fill(island_of_.begin(), island_of_.end(), -1);
  auto tree_of = [&](int body) { return model_->bodies[at(body)].tree; };
  for (const Contact& c : contacts)
    if (c.body_a >= 0 && c.body_b >= 0) join(tree_of(c.body_a), tree_of(c.body_b));
  for (const Row& row : rows)
    if (!row.coordinate()) join_row(row);
  islands_ = 0;
  auto island_for = [&](int tree) -> Island& {
    const int r = root(tree);
    if (island_of_[at(r)] < 0) {
      island_of_[at(r)] = islands_++;
      if (groups_.size() < at(islands_)) groups_.emplace_back();
      Island& fresh = groups_[at(islands_ - 1)];
      fresh.contacts.clear();
      fresh.rows.clear();
      fresh.trees.clear();
    }
    return groups_[at(island_of_[at(r)])];
  };
  for (std::size_t i = 0; i < contacts.size(); ++i)
    island_for(tree_of(contacts[i].body_b >= 0 ? contacts[i].body_b : contacts[i].body_a))
        .contacts.push_back(static_cast<int>(i));
  for (std::size_t j = 0; j < rows.size(); ++j)
    island_for(tree_of(body_of(rows[j]))).rows.push_back(static_cast<int>(j));
  for (int t = 0; t < static_cast<int>(parent_.size()); ++t) {
    const int i = island_of_[at(root(t))];
    touched_[at(t)] = i >= 0;
    if (i >= 0) groups_[at(i)].trees.push_back(t);
  }
}

// Of a body, at the end of the factor.
FactorBlock Assembly::next_block(int body, const ContactFactor& factor) const {
  const Body& b = model_->bodies[at(body)];
  FactorBlock block;
  block.depth = static_cast<int>(b.chain.size());
  block.first = static_cast<int>(factor.y.size());
  block.index = static_cast<int>(factor.index.size());
  block.tree = b.tree;
  block.body = body;
  block.node = node_[at(b.tree)];
  return block;
}

// Jacobian of one side, its velocities, then whitened in place in the factor.
void Assembly::add_side(int body, const Vec3& p_W, const Mat3& R_WC, double sign, const Dynamics& dynamics,
                        const VecX& v, const VecX& v_free, ContactFactor& factor, double* before, double* free) {
  const Body& b = model_->bodies[at(body)];
  const FactorBlock block = next_block(body, factor);
  const int shift = base_[at(b.tree)] - model_->trees[at(b.tree)].iv;
  factor.y.resize(at(block.first + 4 * block.depth));
  factor.index.resize(at(block.index + block.depth));
  double* y = factor.y.data() + block.first;
  side_jacobian({&dynamics.axis(0), b.chain.data(), block.depth, p_W - dynamics.origin(b.tree), R_WC.data(), sign,
                 v.data(), v_free.data()},
                y, before, free);
  dynamics.whiten<4>(body, y);
  pack_columns(y, block.depth);
  factor.y.resize(at(block.first + 3 * block.depth));
  int* index = factor.index.data() + block.index;
  for (int k = 0; k < block.depth; ++k) index[k] = b.chain[at(k)] + shift;
  factor.blocks.push_back(block);
}

/// A body that the row acts on.
int Assembly::body_of(const Row& row) const {
  return std::visit(Overloaded{[&](const Coordinate& c) { return dof_body_[at(c.dof)]; },
                               [&](const CoordinatePair& c) { return dof_body_[at(c.dof)]; },
                               [&](const TendonLength& l) { return tribo::body_of(model_->tendons[at(l.tendon)]); },
                               [&](const TendonPair& l) { return tribo::body_of(model_->tendons[at(l.tendon)]); },
                               [](const BodyAxis& b) { return b.body_b >= 0 ? b.body_b : b.body_a; }},
                    row.along);
}

void Assembly::add_row(const Row& row, const Dynamics& dynamics, const VecX& v, const VecX& v_free,
                       ContactFactor& factor, double& before, double& free) {
  before = free = row.given();
  auto add = [&](int body, auto&& jacobian) {
    const Body& b = model_->bodies[at(body)];
    const FactorBlock block = next_block(body, factor);
    factor.y.resize(at(block.first + block.depth));
    factor.index.resize(at(block.index + block.depth));
    double* const y = factor.y.data() + block.first;
    int* const index = factor.index.data() + block.index;
    const int shift = base_[at(b.tree)] - model_->trees[at(b.tree)].iv;
    for (int a = 0; a < block.depth; ++a) {
      const int dof = b.chain[at(a)];
      const double J = y[a] = jacobian(dof);
      index[a] = dof + shift;
      before += J * v[dof];
      free += J * v_free[dof];
    }
    dynamics.whiten<1>(body, y);
    factor.blocks.push_back(block);
  };
  auto pull = [&](int body, const Vec3& p, const Vec3& axis, bool turn) {
    if (body < 0) return;
    const Vec3 lever = (p - dynamics.origin(model_->bodies[at(body)].tree)).cross(axis);
    add(body, [&](int dof) {
      const Spatial& S = dynamics.axis(dof);
      return turn ? axis.dot(S.ang) : axis.dot(S.lin) + lever.dot(S.ang);
    });
  };
  auto add_coordinate = [&](int k, double share) {
    add(dof_body_[at(k)], [&](int dof) { return dof == k ? share : 0.0; });
  };
  auto add_tendon = [&](int index, double scale) {
    const Tendon& tendon = model_->tendons[at(index)];
    for (const TendonJoint& j : tendon.joints) {
      const int iv = model_->bodies[at(j.body)].iv;
      add(j.body, [&](int dof) { return dof == iv ? scale * j.coefficient : 0.0; });
    }
    for (const TendonSegment& s : tendon.path) {
      if (s.body_a == s.body_b) continue;
      const TendonLine line = line_of(s, dynamics);
      pull(s.body_b, line.p_b, scale * line.along, false);
      pull(s.body_a, line.p_a, -scale * line.along, false);
    }
  };
  std::visit(Overloaded{[&](const Coordinate& c) { add_coordinate(c.dof, c.sign); },
                        [&](const CoordinatePair& c) {
                          add_coordinate(c.dof, 1);
                          add_coordinate(c.other, c.slope);
                        },
                        [&](const TendonLength& l) { add_tendon(l.tendon, l.sign); },
                        [&](const TendonPair& l) {
                          add_tendon(l.tendon, 1);
                          add_tendon(l.other, l.slope);
                        },
                        [&](const BodyPoints& b) {
                          const Vec3 axis = b.axis;
                          pull(b.body_b, b.p_b, axis, false);
                          pull(b.body_a, b.p_a, -axis, false);
                        },
                        [&](const BodyTurns& b) {
                          const Vec3 axis = b.axis;
                          pull(b.body_b, Vec3::Zero(), axis, true);
                          pull(b.body_a, Vec3::Zero(), -axis, true);
                        }},
             row.along);
}

void Assembly::build(const Island& island, std::span<const Contact> contacts, std::span<const Row> rows,
                     const Dynamics& dynamics, const VecX& v, const VecX& v_free, bool need_dense,
                     ContactProblem& problem, VectorBuffer& before, VectorBuffer& free) {
  const int nc = static_cast<int>(island.contacts.size()), nr = static_cast<int>(island.rows.size());
  int coordinates = 0;
  for (int t : island.trees) coordinates += model_->trees[at(t)].nv;
  const int n = 3 * nc + nr;
  const bool small = n <= (island.trees.size() <= few_bodies ? of_few_bodies : small_island) ||
                     (island.trees.size() == 1 && n <= 4 * coordinates) || (coordinates >= n && n <= dense_limit);
  problem.resize(nc, nr, need_dense || small);
  ContactFactor& factor = problem.factor;
  factor.y.clear();
  factor.index.clear();
  factor.blocks.clear();
  factor.start.clear();
  factor.node_start.clear();
  factor.nw = 0;
  double mass = 0;
  for (int t : island.trees) {
    base_[at(t)] = factor.nw;
    node_[at(t)] = static_cast<int>(factor.node_start.size());
    factor.node_start.push_back(factor.nw);
    factor.nw += model_->trees[at(t)].nv;
    mass += model_->trees[at(t)].mass;
  }
  factor.node_start.push_back(factor.nw);
  problem.weight = mass * model_->gravity.norm();
  before.setZero(problem.size());
  free.setZero(problem.size());
  for (int i = 0; i < nc; ++i) {
    const Contact& c = contacts[at(island.contacts[at(i)])];
    factor.start.push_back(static_cast<int>(factor.blocks.size()));
    double *b = before.data() + 3 * i, *f = free.data() + 3 * i;
    if (c.body_b >= 0) add_side(c.body_b, c.p_WC + c.arm_b, c.R_WC, 1, dynamics, v, v_free, factor, b, f);
    if (c.body_a >= 0) add_side(c.body_a, c.p_WC + c.arm_a, c.R_WC, -1, dynamics, v, v_free, factor, b, f);
    if (c.v_given.isZero(0)) continue;
    const Vec3 given = c.R_WC.transpose() * c.v_given;
    for (int k = 0; k < 3; ++k) {
      b[k] += given[k];
      f[k] += given[k];
    }
  }
  for (int j = 0; j < nr; ++j) {
    factor.start.push_back(static_cast<int>(factor.blocks.size()));
    add_row(rows[at(island.rows[at(j)])], dynamics, v, v_free, factor, before[3 * nc + j], free[3 * nc + j]);
  }
  factor.start.push_back(static_cast<int>(factor.blocks.size()));
  if (problem.dense()) problem.densify();
}

template <int Columns>
void Assembly::apply(const Island& island, const Dynamics& dynamics, const ContactProblem& problem,
                     const std::array<Impulse, Columns>& impulses, VecX& work) const {
  const ContactFactor& factor = problem.factor;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i), o = problem.offset(i);
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const int* chain = model_->bodies[at(b.body)].chain.data();
      const double* y = factor.y.data() + b.first;
      if (rows == 3) {
        for (int c = 0; c < Columns; ++c) {
          const double *f = impulses[at(c)].f + o, time = impulses[at(c)].time;
          const double p[3] = {time * f[0], time * f[1], time * f[2]};
          if (Columns == 1 && b.depth == 6 && chain[5] == chain[0] + 5) {
            add_transposed_3x6(y, p, work.data() + chain[0]);
            continue;
          }
          for (int k = 0; k < b.depth; ++k)
            work[Columns * chain[k] + c] += y[3 * k] * p[0] + y[3 * k + 1] * p[1] + y[3 * k + 2] * p[2];
        }
        continue;
      }
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < Columns; ++c)
            work[Columns * chain[k] + c] += impulses[at(c)].time * y[rows * k + r] * impulses[at(c)].f[o + r];
    }
  }
  std::array<double*, Columns> v;
  for (int c = 0; c < Columns; ++c) v[at(c)] = impulses[at(c)].v->data();
  for (int t : island.trees) {
    dynamics.unwhiten_add<Columns>(t, work.data(), v);
    const Tree& tree = model_->trees[at(t)];
    work.segment(Columns * tree.iv, Columns * tree.nv).setZero();
  }
}
template void Assembly::apply<1>(const Island&, const Dynamics&, const ContactProblem&, const std::array<Impulse, 1>&,
                                 VecX&) const;
template void Assembly::apply<2>(const Island&, const Dynamics&, const ContactProblem&, const std::array<Impulse, 2>&,
                                 VecX&) const;

}  // namespace tribo
