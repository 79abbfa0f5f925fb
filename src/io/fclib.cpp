// Local problems of the frictional-contact library FCLIB [Acary2014]: W r + q = u, each contact with its normal first
// (n, t1, t2).
#include "io/problem_file.hpp"

#ifdef TRIBO_HDF5
#include <hdf5.h>

#include <algorithm>
#endif

namespace tribo {

#ifndef TRIBO_HDF5

RawProblem read_fclib(const std::string& path) {
  throw InvalidInput(path +
                     ": this build reads no HDF5; wheels do not, 'make build' does where libhdf5-dev is installed");
}

#else

namespace {

constexpr hsize_t most_numbers = hsize_t{1} << 28;
constexpr int most_size = 16000;  ///< unknowns: the dense matrix takes 2 GB
/// Bytes that a stored byte can unpack to: deflate makes at most 1032 of one.
constexpr hsize_t most_ratio = 1032;

/// An HDF5 identifier, closed with the object.
struct Handle {
  hid_t id = -1;
  herr_t (*close)(hid_t) = nullptr;
  Handle(hid_t i, herr_t (*c)(hid_t)) : id(i), close(c) {}
  ~Handle() {
    if (id >= 0) close(id);
  }
  Handle(const Handle&) = delete;
};

struct Source {
  const std::string& path;
  hid_t file;
  hsize_t bytes;  ///< of the file

  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    throw InvalidInput(path + ": '" + name + "' " + why);
  }
  /// Every part of the name must exist before HDF5 may be asked for the last.
  bool has(const std::string& name) const {
    for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      if (!linked(name.substr(0, slash))) return false;
    }
    return linked(name);
  }
  /// Is there a link of that name? Those into other files are refused.
  bool linked(const std::string& name) const {
    if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t info;
    if (H5Lget_info(file, name.c_str(), &info, H5P_DEFAULT) < 0) return false;
    if (info.type != H5L_TYPE_HARD) refuse(name, "is a link to elsewhere, which is not followed");
    return true;
  }
  /// Numbers that are not in the file would be made up by HDF5, or taken from another file; what is stored, and the
  /// pieces that HDF5 unpacks it in, are no larger than the file has room for.
  void check_storage(const std::string& name, hid_t set, hsize_t n) const {
    const Handle creation(H5Dget_create_plist(set), H5Pclose);
    if (creation.id < 0) refuse(name, "cannot be read");
    const H5D_layout_t layout = H5Pget_layout(creation.id);
    if (H5Pget_external_count(creation.id) != 0 || layout == H5D_VIRTUAL)
      refuse(name, "lies in another file, which is not opened");
    const hsize_t stored = H5Dget_storage_size(set);
    const hsize_t room = std::min(stored, bytes), packed = H5Pget_nfilters(creation.id) > 0 ? most_ratio : 1;
    const Handle type(H5Dget_type(set), H5Tclose);
    const hsize_t size = type.id < 0 ? 0 : H5Tget_size(type.id);
    const auto fits = [&](hsize_t numbers) { return numbers <= room * packed / std::max<hsize_t>(size, 1); };
    if (size == 0 || stored > bytes || !fits(n))
      refuse(name, "claims " + std::to_string(n) + " numbers of " + std::to_string(size) + " bytes and stores " +
                       std::to_string(stored) + " bytes in a file of " + std::to_string(bytes));
    if (layout != H5D_CHUNKED || n == 0) return;
    hsize_t chunk[H5S_MAX_RANK], numbers = 1;
    const int rank = H5Pget_chunk(creation.id, H5S_MAX_RANK, chunk);
    for (int k = 0; k < rank; ++k) numbers = chunk[k] < most_numbers ? std::min(numbers * chunk[k], most_numbers) : most_numbers;
    if (!fits(numbers)) refuse(name, "claims chunks of " + std::to_string(numbers) + " numbers, more than it stores");
  }
  std::size_t stored(const std::string& name) const {
    const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    return set.id < 0 ? 0 : static_cast<std::size_t>(H5Dget_storage_size(set.id));
  }
  template <class T>
  std::vector<T> read(const std::string& name, hid_t type, hsize_t most = most_numbers) const {
    if (!has(name)) refuse(name, "is missing");
    const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (set.id < 0) refuse(name, "is not a data set");
    const Handle space(H5Dget_space(set.id), H5Sclose);
    const hssize_t n = space.id < 0 ? -1 : H5Sget_simple_extent_npoints(space.id);
    if (n < 0 || static_cast<hsize_t>(n) > most) refuse(name, "has an impossible size");
    check_storage(name, set.id, static_cast<hsize_t>(n));
    std::vector<T> values(static_cast<std::size_t>(n));
    if (n > 0 && H5Dread(set.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      refuse(name, "cannot be read");
    return values;
  }
  std::vector<int> integers(const std::string& name) const { return read<int>(name, H5T_NATIVE_INT); }
  std::vector<double> numbers(const std::string& name) const { return read<double>(name, H5T_NATIVE_DOUBLE); }
  int integer(const std::string& name) const {
    const std::vector<int> x = read<int>(name, H5T_NATIVE_INT, 1);
    if (x.empty()) refuse(name, "is empty; must be one number");
    return x[0];
  }
};

/// Position in (t1, t2, n) of component i in (n, t1, t2).
std::size_t reordered(std::size_t i) { return i - i % 3 + (i % 3 + 2) % 3; }

/// The sparse W, dense by rows and in our order. nz: -1 compressed columns, -2 compressed rows, else triplets.
std::vector<double> dense_matrix(const Source& in, const std::string& group) {
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
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its own messages would go to stderr
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file.id < 0) throw InvalidInput(path + ": is missing or is not an HDF5 file");
  hsize_t bytes = 0;
  if (H5Fget_filesize(file.id, &bytes) < 0) throw InvalidInput(path + ": its size cannot be told");
  const Source in{path, file.id, bytes};
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

#endif

}  // namespace tribo
