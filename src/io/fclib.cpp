// Local problems of the frictional-contact library FCLIB [Acary2014]: W r + q = u, each contact with its normal first
// (n, t1, t2).
#include <algorithm>

#include "io/hdf5.hpp"
#include "io/problem_file.hpp"

namespace tribo {
namespace {

constexpr int most_size = 16000;  ///< unknowns: the dense matrix takes 2 GB

/// Position in (t1, t2, n) of component i in (n, t1, t2).
std::size_t reordered(std::size_t i) { return i - i % 3 + (i % 3 + 2) % 3; }

/// The sparse W, dense by rows and in our order. nz: -1 compressed columns, -2 compressed rows, else triplets.
std::vector<double> dense_matrix(const Hdf5File& in, const std::string& group) {
  const int m = in.integer(group + "/m"), n = in.integer(group + "/n"), nz = in.integer(group + "/nz");
  if (m != n || n < 3 || n > most_size || n % 3 != 0) {
    in.refuse(group, "is " + std::to_string(m) + " x " + std::to_string(n) +
                         "; must be square, with three rows a contact, up to " + std::to_string(most_size));
  }
  const std::vector<int> p = in.integers(group + "/p"), i = in.integers(group + "/i");
  const std::vector<double> x = in.numbers(group + "/x");
  const auto size = static_cast<std::size_t>(n);
  // A matrix of few numbers may be large; one that is made of hardly any is a mistake, or worse.
  constexpr std::size_t small = 8'000'000, share = 400;  // numbers; those for each byte that is stored
  if (size * size > small + share * in.stored(group + "/x"))
    in.refuse(group, "is " + std::to_string(n) + " x " + std::to_string(n) + " and stores " +
                         std::to_string(in.stored(group + "/x")) + " bytes of numbers: it is not made dense");
  std::vector<double> W(size * size, 0.0);
  const auto add = [&](int row, int column, double value) {
    if (row < 0 || row >= n || column < 0 || column >= n) in.refuse(group, "has an index outside of the matrix");
    W[reordered(static_cast<std::size_t>(row)) * size + reordered(static_cast<std::size_t>(column))] += value;
  };
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    if (p.size() < count || i.size() < count || x.size() < count) in.refuse(group, "has fewer triplets than nz says");
    for (std::size_t k = 0; k < count; ++k) add(i[k], p[k], x[k]);
    return W;
  }
  if (nz != -1 && nz != -2) in.refuse(group + "/nz", "is " + std::to_string(nz) + "; known are -2, -1 and >= 0");
  if (p.size() < size + 1) in.refuse(group + "/p", "has " + std::to_string(p.size()) + " numbers; must have n + 1");
  for (int k = 0; k < n; ++k) {
    const int first = p[static_cast<std::size_t>(k)], last = p[static_cast<std::size_t>(k) + 1];
    if (first < 0 || last < first || static_cast<std::size_t>(last) > std::min(i.size(), x.size())) {
      in.refuse(group + "/p", "points outside of the numbers of the matrix");
    }
    for (int e = first; e < last; ++e) {
      const int other = i[static_cast<std::size_t>(e)];
      nz == -1 ? add(other, k, x[static_cast<std::size_t>(e)]) : add(k, other, x[static_cast<std::size_t>(e)]);
    }
  }
  return W;
}

}  // namespace

RawProblem read_fclib(const std::string& path) {
  const Hdf5File in(path);
  const std::string root = "/fclib_local";
  if (!in.has(root)) {
    in.refuse(root, in.has("/fclib_global") ? "is missing: this is a global problem; only local ones (W, q) are read"
                                            : "is missing: this is no problem of the FCLIB");
  }
  if (in.has(root + "/spacedim") && in.integer(root + "/spacedim") != 3) in.refuse(root + "/spacedim", "is not 3");
  if (in.has(root + "/V")) in.refuse(root + "/V", "is present: problems with equalities (V, R) are not read");
  const std::string vectors = in.has(root + "/vectors") ? root + "/vectors" : root;
  RawProblem raw;
  raw.G = dense_matrix(in, root + "/W");
  const std::vector<double> q = in.numbers(vectors + "/q");
  if (q.size() * q.size() != raw.G.size()) {
    in.refuse(vectors + "/q", "has " + std::to_string(q.size()) + " numbers; W has another size");
  }
  raw.g.resize(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) raw.g[reordered(i)] = q[i];
  raw.mu = in.numbers(vectors + "/mu");
  if (3 * raw.mu.size() != q.size()) {
    in.refuse(vectors + "/mu", "has " + std::to_string(raw.mu.size()) + " numbers; q has " + std::to_string(q.size()) +
                                   ", three a contact");
  }
  return raw;
}

}  // namespace tribo
