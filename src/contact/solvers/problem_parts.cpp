// In what falls or is poured most contacts are merely listed: no force, and none comes nearer. They tie bodies together that
// do not meet, and fill the factor. Without them a large problem falls into parts, each solved by itself; what was left out is
// looked at afterwards, with the velocities found.
#include "contact/solvers/problem_parts.hpp"

#include <algorithm>
#include <numeric>

namespace tribo {
namespace {

constexpr int small_part = 36, dense_limit = 240;  // unknowns, as in the assembly

}  // namespace

void ProblemParts::choose(const ContactProblem& problem, const double* f, const double* c, double least) {
  kept_.assign(at(problem.blocks()), 1);
  fresh_.assign(at(problem.blocks()), 1);
  for (int i = 0; i < problem.nc(); ++i) kept_[at(i)] = f[3 * i + 2] > 0 || c[3 * i + 2] < least;
}

bool ProblemParts::choose_more(const ContactProblem& problem, const double* c, double least) {
  bool any = false;
  std::fill(fresh_.begin(), fresh_.end(), 0);
  for (int i = 0; i < problem.nc(); ++i) {
    if (kept_[at(i)] || !(c[3 * i + 2] < least)) continue;
    kept_[at(i)] = fresh_[at(i)] = 1;
    any = true;
  }
  return any;
}

int ProblemParts::root(int node) {
  while (parent_[at(node)] != node) {
    parent_[at(node)] = parent_[at(parent_[at(node)])];
    node = parent_[at(node)];
  }
  return node;
}

void ProblemParts::split(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  const int nodes = static_cast<int>(factor.node_start.size()) - 1, blocks = problem.blocks();
  parent_.resize(at(nodes));
  std::iota(parent_.begin(), parent_.end(), 0);
  for (int i = 0; i < blocks; ++i) {
    if (!kept_[at(i)]) continue;
    const int start = factor.start[at(i)], a = root(factor.blocks[at(start)].node);
    for (int s = start + 1; s < factor.start[at(i + 1)]; ++s) {
      const int b = root(factor.blocks[at(s)].node);
      parent_[at(std::max(a, b))] = std::min(a, b);
    }
  }
  group_.assign(at(nodes), -1);
  first_.assign(1, 0);
  for (int i = 0; i < blocks; ++i) {  // parts in the order of their first block; how many blocks each has
    if (!kept_[at(i)]) continue;
    int& group = group_[at(root(factor.blocks[at(factor.start[at(i)])].node))];
    if (group < 0) {
      group = static_cast<int>(first_.size()) - 1;
      first_.push_back(0);
    }
    ++first_[at(group) + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  blocks_.resize(at(first_.back()));
  place_ = first_;
  for (int i = 0; i < blocks; ++i)
    if (kept_[at(i)]) blocks_[at(place_[at(group_[at(root(factor.blocks[at(factor.start[at(i)])].node))])]++)] = i;
}

bool ProblemParts::fresh(int k) const {
  return std::any_of(blocks_.begin() + first_[at(k)], blocks_.begin() + first_[at(k + 1)],
                     [&](int i) { return fresh_[at(i)] != 0; });
}

// The trees of a part, in the order of the problem.
void ProblemParts::number(const ContactProblem& problem, int k, Numbers& x, ContactFactor& factor) const {
  const ContactFactor& whole = problem.factor;
  const std::size_t nodes = whole.node_start.size() - 1;
  if (x.stamp.size() < nodes) x.stamp.resize(nodes, 0);
  x.place.resize(nodes);
  x.shift.resize(nodes);
  ++x.now;
  x.nodes.clear();
  for (int b = first_[at(k)]; b < first_[at(k + 1)]; ++b) {
    const int i = blocks_[at(b)];
    for (int s = whole.start[at(i)]; s < whole.start[at(i + 1)]; ++s) {
      const int node = whole.blocks[at(s)].node;
      if (x.stamp[at(node)] == x.now) continue;
      x.stamp[at(node)] = x.now;
      x.nodes.push_back(node);
    }
  }
  std::sort(x.nodes.begin(), x.nodes.end());
  factor.nw = 0;
  factor.node_start.clear();
  for (std::size_t n = 0; n < x.nodes.size(); ++n) {
    const int node = x.nodes[n];
    x.place[at(node)] = static_cast<int>(n);
    x.shift[at(node)] = factor.nw - whole.node_start[at(node)];
    factor.node_start.push_back(factor.nw);
    factor.nw += whole.node_start[at(node) + 1] - whole.node_start[at(node)];
  }
  factor.node_start.push_back(factor.nw);
}

void ProblemParts::extract(const ContactProblem& problem, int k, const double* f, Numbers& numbers,
                           ContactProblem& part, VectorBuffer& part_f) const {
  const ContactFactor& whole = problem.factor;
  ContactFactor& factor = part.factor;
  number(problem, k, numbers, factor);
  const int first = first_[at(k)], end = first_[at(k + 1)];
  const int nc = static_cast<int>(std::lower_bound(blocks_.begin() + first, blocks_.begin() + end, problem.nc()) -
                                  (blocks_.begin() + first));
  const int nr = end - first - nc, n = 3 * nc + nr;
  const bool small = n <= small_part || (factor.nw >= n && n <= dense_limit);
  part.resize(nc, nr, small);
  part.weight = problem.weight;
  part_f.resize(n);
  factor.y.clear();
  factor.index.clear();
  factor.blocks.clear();
  factor.start.clear();
  for (int b = 0; b < end - first; ++b) {
    const int i = blocks_[at(first + b)], rows = problem.block_size(i), o = problem.offset(i), to = part.offset(b);
    factor.start.push_back(static_cast<int>(factor.blocks.size()));
    for (int s = whole.start[at(i)]; s < whole.start[at(i + 1)]; ++s) {
      FactorBlock block = whole.blocks[at(s)];
      const double* y = whole.y.data() + block.first;
      const int *index = whole.index.data() + block.index, shift = numbers.shift[at(block.node)];
      block.first = static_cast<int>(factor.y.size());
      block.index = static_cast<int>(factor.index.size());
      block.node = numbers.place[at(block.node)];
      factor.y.insert(factor.y.end(), y, y + rows * block.depth);
      for (int j = 0; j < block.depth; ++j) factor.index.push_back(index[j] + shift);
      factor.blocks.push_back(block);
    }
    for (int r = 0; r < rows; ++r) {
      part.g()[to + r] = problem.g()[o + r];
      part.R()[to + r] = problem.R()[o + r];
      part_f[to + r] = f[o + r];
    }
    if (i < problem.nc()) {
      part.mu()[b] = problem.mu()[i];
    } else {
      part.lower()[b - nc] = problem.lower()[i - problem.nc()];
      part.upper()[b - nc] = problem.upper()[i - problem.nc()];
    }
  }
  factor.start.push_back(static_cast<int>(factor.blocks.size()));
  if (small) part.densify();
}

void ProblemParts::put_back(const ContactProblem& problem, int k, const VectorBuffer& part_f, double* f) const {
  int from = 0;
  for (int b = first_[at(k)]; b < first_[at(k + 1)]; ++b) {
    const int i = blocks_[at(b)], o = problem.offset(i);
    for (int r = 0; r < problem.block_size(i); ++r) f[o + r] = part_f[from++];
  }
}

void ProblemParts::clear_others(const ContactProblem& problem, double* f) const {
  for (int i = 0; i < problem.nc(); ++i)
    if (!kept_[at(i)]) std::fill_n(f + 3 * i, 3, 0.0);
}

const ContactProblem& by_matrix(const ContactProblem& problem, ContactProblem& dense) {
  dense.resize(problem.nc(), problem.nr(), true);
  dense.g() = problem.g();
  dense.R() = problem.R();
  dense.mu() = problem.mu();
  dense.lower() = problem.lower();
  dense.upper() = problem.upper();
  dense.discs = problem.discs;
  dense.factor = problem.factor;
  dense.weight = problem.weight;
  dense.densify();
  return dense;
}

}  // namespace tribo
