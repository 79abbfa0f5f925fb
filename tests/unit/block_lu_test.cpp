// Block elimination against Eigen's dense factorisation, on a random unsymmetric matrix over a graph of trees.
#include "contact/block_lu.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <vector>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

// A random unsymmetric matrix on a graph, solved by blocks and densely.
void compare(const std::vector<int>& sizes, const std::vector<int>& pairs) {
  std::vector<int> start{0};
  for (int size : sizes) start.push_back(start.back() + size);
  const int n = start.back();
  Random random;
  const auto draw = [&] { return 2 * random.uniform() - 1; };
  BlockLu lu;
  lu.analyse(pairs, start);
  MatX dense = MatX::Zero(n, n);
  lu.set_zero();
  const auto fill = [&](int a, int b) {
    const BlockLu::Block block = lu.block(a, b);
    for (int j = 0; j < sizes[at(b)]; ++j)
      for (int i = 0; i < sizes[at(a)]; ++i) {
        const double x = draw() + (a == b && i == j ? 40 : 0);  // no exchange between blocks is needed
        block(i, j) = dense(start[at(a)] + i, start[at(b)] + j) = x;
      }
  };
  for (int a = 0; a < static_cast<int>(sizes.size()); ++a) fill(a, a);
  for (std::size_t k = 0; k < pairs.size(); k += 2) {
    fill(pairs[k], pairs[k + 1]);
    fill(pairs[k + 1], pairs[k]);
  }
  VecX b(n);
  for (int i = 0; i < n; ++i) b[i] = draw();
  const VecX expected = dense.partialPivLu().solve(b);
  REQUIRE(lu.factor());
  lu.solve(b.data());
  CHECK((b - expected).cwiseAbs().maxCoeff() < 1e-13);  // rounding: the condition is about 3
}

}  // namespace

TEST_CASE("block LU: bodies that touch the same others are eliminated together, also beside blocks of other sizes") {
  std::vector<int> all;
  for (int i = 0; i < 11; ++i)
    for (int j = i + 1; j < 11; ++j) all.insert(all.end(), {i, j});
  compare(std::vector<int>(11, 6), all);                        // a clique: runs of four, four and three
  compare({6, 6, 6, 9, 6, 6, 6, 6, 6, 3, 6}, all);              // links to what is no free body
  compare({6, 6, 6, 6, 6, 6}, {0, 1, 1, 2, 2, 3, 3, 4, 4, 5});  // a chain: no runs but at its end
  compare({6, 6, 6, 6, 9, 6}, {0, 1, 1, 2, 0, 2, 2, 4, 1, 4, 0, 4, 3, 5});
}

TEST_CASE("block LU: unsymmetric blocks of any size, against a dense factorisation") {
  const std::vector<int> sizes{6, 1, 18, 6, 3, 6, 7}, pairs{0, 3, 3, 5, 5, 0, 1, 2, 2, 6, 4, 0, 6, 5};
  compare(sizes, pairs);
  // A block that is singular by itself is told.
  std::vector<int> start{0};
  for (int size : sizes) start.push_back(start.back() + size);
  BlockLu lu;
  lu.analyse(pairs, start);
  lu.set_zero();
  CHECK_FALSE(lu.factor());
}
