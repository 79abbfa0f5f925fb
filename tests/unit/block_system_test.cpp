// f + D G f = e by block elimination, against the dense I + D G of the same factor, on random graphs of trees.
#include "contact/block_system.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "contact/factor.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

struct Graph {
  std::vector<int> sizes;                  ///< coordinates of each tree
  std::vector<std::pair<int, int>> pairs;  ///< trees that a contact lies between; the second may be -1, the ground
  int rows = 0;                            ///< scalar rows, on trees in turn
  bool discs = false;                      ///< instead: a torsional and a rolling disc for each contact
};

double draw(Random& random) { return 2 * random.uniform() - 1; }

/// A problem whose factor has random numbers on the blocks of the graph.
void fill(const Graph& graph, Random& random, bool dense, ContactProblem& problem) {
  const int nc = static_cast<int>(graph.pairs.size()), nr = graph.discs ? 3 * nc : graph.rows;
  problem.resize(nc, nr, dense);
  problem.discs.clear();
  ContactFactor& factor = problem.factor;
  factor = {};
  for (int size : graph.sizes) {
    factor.node_start.push_back(factor.nw);
    factor.nw += size;
  }
  factor.node_start.push_back(factor.nw);
  const auto add = [&](int tree, int rows) {
    FactorBlock block;
    block.first = static_cast<int>(factor.y.size());
    block.index = static_cast<int>(factor.index.size());
    block.tree = block.node = tree;
    // Chains touch some coordinates of their tree, not all.
    for (int k = 0; k < graph.sizes[at(tree)]; ++k)
      if (graph.sizes[at(tree)] == 6 || k == 0 || random.uniform() < 0.7) {
        factor.index.push_back(factor.node_start[at(tree)] + k);
        for (int r = 0; r < rows; ++r) factor.y.push_back(draw(random));
        ++block.depth;
      }
    factor.blocks.push_back(block);
  };
  for (const auto& [a, b] : graph.pairs) {
    factor.start.push_back(static_cast<int>(factor.blocks.size()));
    add(a, 3);
    if (b >= 0 && b != a) add(b, 3);
  }
  for (int j = 0; j < nr; ++j) {
    factor.start.push_back(static_cast<int>(factor.blocks.size()));
    if (!graph.discs) {
      add(j % static_cast<int>(graph.sizes.size()), 1);
      continue;
    }
    const auto& [a, b] = graph.pairs[at(j / 3)];
    add(a, 1);
    if (b >= 0 && b != a) add(b, 1);
    if (j % 3 < 2) problem.discs.push_back({j / 3, j, 1 + j % 3, 0.1});
  }
  factor.start.push_back(static_cast<int>(factor.blocks.size()));
  if (dense) problem.densify();
}

/// Y as a dense matrix, from the products with unit forces.
MatX whole_factor(const ContactProblem& problem) {
  MatX Y(problem.size(), problem.factor.nw);
  for (int i = 0; i < problem.size(); ++i) {
    const VecX unit = VecX::Unit(problem.size(), i);
    VecX w = VecX::Zero(problem.factor.nw);
    to_bodies(problem, unit.data(), w.data());
    Y.row(i) = w.transpose();
  }
  return Y;
}

/// Blocks of D: symmetric and positive semidefinite of the given rank, as the slopes of projections are; plus a turn.
std::vector<double> draw_blocks(const ContactProblem& problem, Random& random, int rank, double turn) {
  std::vector<double> D(at(D_size(problem)), 0.0);
  for (int i = 0; i < problem.blocks(); ++i) {
    double* block = D.data() + block_offset(problem, i);
    if (i >= problem.nc()) {
      block[0] = rank > 0 ? 10 * random.uniform() : 0;
      continue;
    }
    Mat3 A = Mat3::Zero();
    for (int k = 0; k < rank; ++k) {
      const Vec3 x{draw(random), draw(random), draw(random)};
      A += 10 * x * x.transpose();
    }
    A += turn * skew(Vec3{draw(random), draw(random), draw(random)});
    Mat3::Map(block) = A;
  }
  for (int k = disc_offset(problem, 0); k < D_size(problem); ++k) D[at(k)] = 0.3 * draw(random);
  return D;
}

MatX whole_blocks(const ContactProblem& problem, const std::vector<double>& D) {
  MatX whole = MatX::Zero(problem.size(), problem.size());
  for (int i = 0; i < problem.blocks(); ++i) {
    const int n = problem.block_size(i), o = problem.offset(i);
    whole.block(o, o, n, n) = Eigen::Map<const MatX>(D.data() + block_offset(problem, i), n, n);
  }
  for (int k = 0; k < static_cast<int>(problem.discs.size()); ++k) {
    const FrictionDisc& disc = problem.discs[at(k)];
    const double* d = D.data() + disc_offset(problem, k);
    const int o = 3 * problem.nc() + disc.row, normal = 3 * disc.contact + 2;
    for (int r = 0; r < disc.size; ++r) whole(o + r, normal) = d[2 + r];
    if (disc.size == 2) {
      whole(o, o + 1) = d[0];
      whole(o + 1, o) = d[1];
    }
  }
  return whole;
}

Graph random_graph(int trees, int contacts, int rows, Random& random) {
  Graph graph;
  const auto pick = [&](int n) { return static_cast<int>(random.uniform() * n); };
  for (int t = 0; t < trees; ++t) graph.sizes.push_back(random.uniform() < 0.6 ? 6 : 1 + pick(12));
  for (int i = 0; i < contacts; ++i) graph.pairs.push_back({pick(trees), pick(trees + 1) - 1});
  graph.rows = rows;
  return graph;
}

void compare(BlockSystem& system, const ContactProblem& problem, const std::vector<double>& D, Random& random) {
  const MatX Y = whole_factor(problem), G = Y * Y.transpose();
  const MatX A = MatX::Identity(problem.size(), problem.size()) + whole_blocks(problem, D) * G;
  VecX e(problem.size());
  for (int i = 0; i < e.size(); ++i) e[i] = draw(random);
  const VecX expected = A.fullPivLu().solve(e);
  system.analyse(problem);
  REQUIRE(system.factor(problem, D.data()));
  VecX f = e, Gf(problem.size());
  system.solve(problem, D.data(), f.data(), Gf.data());
  const double condition = A.cwiseAbs().maxCoeff() * static_cast<double>(A.rows());
  CHECK((f - expected).cwiseAbs().maxCoeff() < 1e-11 * condition * (1 + expected.cwiseAbs().maxCoeff()));
  CHECK((Gf - G * f).cwiseAbs().maxCoeff() < 1e-11 * condition * (1 + Gf.cwiseAbs().maxCoeff()));
}

}  // namespace

TEST_CASE("block system: random graphs of trees, as the dense system has it") {
  Random random;
  BlockSystem system;  // one for all: patterns change under it, and come back
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const int trees = 1 + trial % 12;
    const Graph graph = random_graph(trees, trial % 3 == 0 ? 3 * trees : trees + 1, trial % 4, random);
    ContactProblem problem;
    fill(graph, random, false, problem);
    compare(system, problem, draw_blocks(problem, random, 3, 0), random);
    compare(system, problem, draw_blocks(problem, random, 3, 0.2), random);  // the same pattern, D not symmetric
  }
}

TEST_CASE("block system: chains, rings, stars and towers, whatever order elimination takes") {
  Random random;
  BlockSystem system;
  for (int n : {1, 2, 3, 10, 30}) {
    Graph chain, ring, star;
    for (Graph* g : {&chain, &ring, &star}) g->sizes.assign(at(n), 6);
    for (int i = 0; i + 1 < n; ++i) chain.pairs.push_back({i, i + 1});
    chain.pairs.push_back({0, -1});
    ring = chain;
    ring.pairs.push_back({n - 1, 0});
    for (int i = 1; i < n; ++i) star.pairs.push_back({0, i});
    star.pairs.push_back({0, -1});
    for (const Graph& graph : {chain, ring, star}) {
      CAPTURE(n);
      ContactProblem problem;
      fill(graph, random, false, problem);
      compare(system, problem, draw_blocks(problem, random, 3, 0), random);
    }
  }
}

TEST_CASE("block system: singular and absent blocks of D") {
  Random random;
  BlockSystem system;
  for (int rank : {0, 1, 2}) {
    CAPTURE(rank);
    ContactProblem problem;
    fill(random_graph(6, 10, 3, random), random, false, problem);
    compare(system, problem, draw_blocks(problem, random, rank, 0), random);
  }
}

TEST_CASE("block system: friction discs couple their rows with each other and with the normal of their contact") {
  Random random;
  BlockSystem system;
  for (int trial = 0; trial < 12; ++trial) {
    CAPTURE(trial);
    Graph graph = random_graph(1 + trial % 5, 2 + trial, 0, random);
    graph.discs = true;
    ContactProblem problem;
    fill(graph, random, trial % 2 == 1, problem);
    compare(system, problem, draw_blocks(problem, random, 3, 0.1), random);
  }
}

TEST_CASE("block system: a problem with a dense G, with and without a factor") {
  Random random;
  BlockSystem system;
  for (int trial = 0; trial < 10; ++trial) {
    CAPTURE(trial);
    ContactProblem problem;
    fill(random_graph(4, 2 + trial, 2, random), random, true, problem);
    const std::vector<double> D = draw_blocks(problem, random, 3, 0.1);
    compare(system, problem, D, random);
    const MatX Y = whole_factor(problem), G = Y * Y.transpose();
    ContactProblem bare;
    bare.resize(problem.nc(), problem.nr(), true);
    bare.G() = G;
    VecX e = VecX::LinSpaced(bare.size(), -1, 1);
    const MatX A = MatX::Identity(bare.size(), bare.size()) + whole_blocks(bare, D) * G;
    const VecX expected = A.fullPivLu().solve(e);
    system.analyse(bare);
    REQUIRE(system.factor(bare, D.data()));
    system.solve(bare, D.data(), e.data());
    CHECK((e - expected).cwiseAbs().maxCoeff() < 1e-9 * (1 + expected.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("block system: a singular matrix is refused") {
  Graph graph;
  graph.sizes = {3};
  graph.pairs = {{0, -1}};
  Random random;
  ContactProblem problem;
  do fill(graph, random, false, problem);
  while (problem.factor.y.size() != 9);  // until the contact touches all three coordinates
  Mat3::Map(problem.factor.y.data()).setIdentity();
  std::vector<double> D(9, 0.0);
  Mat3::Map(D.data()) = -Mat3::Identity();  // I + Y^T D Y = 0
  BlockSystem system;
  system.analyse(problem);
  CHECK_FALSE(system.factor(problem, D.data()));
  D[0] = D[4] = D[8] = 1;
  CHECK(system.factor(problem, D.data()));
}
