#include "io/problem_file.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "io/npy.hpp"
#include "scratch_folder.hpp"

#ifdef TRIBO_HDF5
#include <hdf5.h>
#endif

using namespace tribo;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

const std::string sliding =
    R"({"G": [[2, 0.5, 0.25], [0.5, 3, 0.125], [0.25, 0.125, 4]], "g": [1, -2, -9.81], "mu": [0.5], "dt": 1e-3})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Two contacts and two rows, with unlike numbers everywhere.
ProblemFile busy_problem() {
  ProblemFile file;
  file.name = "busy";
  file.dt = 0.002;
  file.facets = 8;
  ContactProblem& p = file.problem;
  p.resize(2, 2, true);
  const MatX A =
      MatX::NullaryExpr(8, 8, [](Eigen::Index i, Eigen::Index j) { return std::sin(3.0 * i + 7.0 * j + 1); });
  p.G() = A * A.transpose();
  p.G() = (0.5 * (p.G() + p.G().transpose())).eval();
  for (int i = 0; i < 8; ++i) p.g()[i] = i - 4.5;
  for (int i = 0; i < 8; ++i) p.R()[i] = 0.001 * i;
  p.mu() << 0, 0.8;
  p.lower() << -inf, -3;
  p.upper() << 2, inf;
  p.weight = 24.5;
  file.lambda0 = VecX::LinSpaced(8, 1, 2);
  return file;
}

}  // namespace

TEST_CASE("problem file: JSON as documented") {
  ScratchFolder folder;
  const ProblemFile file = read_problem(folder.write("sliding.json", sliding));
  CHECK(file.name == "sliding");
  CHECK(file.problem.nc() == 1);
  CHECK(file.problem.nr() == 0);
  CHECK(file.problem.G()(0, 1) == 0.5);
  CHECK(file.problem.G()(2, 2) == 4);
  CHECK(file.problem.g()[2] == -9.81);
  CHECK(file.problem.R().norm() == 0);
  CHECK(file.dt == 1e-3);
  CHECK(file.lambda0.size() == 0);
}

TEST_CASE("problem file: written and read, in both formats, every number is the same") {
  ScratchFolder folder;
  const ProblemFile file = busy_problem();
  for (const char* name : {"busy.json", "busy.npz"}) {
    CAPTURE(name);
    write_problem(file, folder.file(name));
    const ProblemFile back = read_problem(folder.file(name));
    CHECK(back.problem.G() == file.problem.G());
    CHECK(back.problem.g() == file.problem.g());
    CHECK(back.problem.R() == file.problem.R());
    CHECK(back.problem.mu() == file.problem.mu());
    CHECK(back.problem.lower() == file.problem.lower());
    CHECK(back.problem.upper() == file.problem.upper());
    CHECK(back.problem.weight == 24.5);
    CHECK(back.lambda0 == file.lambda0);
    CHECK(back.dt == file.dt);
    CHECK(back.facets == 8);
  }
}

TEST_CASE("problem file: every defect is refused by file and key") {
  ScratchFolder folder;
  const auto check = [&](const std::string& text, const std::string& part) {
    const std::string path = folder.write("bad.json", text);
    const std::string message = refusal([&] { read_problem(path); });
    CAPTURE(message);
    CHECK(message.find("bad.json") != std::string::npos);
    CHECK(message.find(part) != std::string::npos);
  };
  check("", "not JSON");
  check("[1, 2]", "must be an object");
  check("{\"G\": 3", "not JSON");
  check(std::string(100000, '['), "deep");
  check(replaced(sliding, "\"mu\"", "\"Mu\""), "did you mean 'mu'");
  check(replaced(sliding, "\"mu\": [0.5], ", ""), "'mu' is missing");
  check(replaced(sliding, "[0.5, 3, 0.125]", "[0.5, 3]"), "'G[1]' has 2");
  check(replaced(sliding, "[2, 0.5, 0.25]", "[2, 0.6, 0.25]"), "symmetric");
  check(replaced(sliding, "[2, 0.5, 0.25]", "[-2, 0.5, 0.25]"), "diagonal");
  check(replaced(sliding, "-9.81", "1e999"), "not JSON");
  check(replaced(sliding, "-9.81", "NaN"), "not JSON");
  check(replaced(sliding, "-9.81", "null"), "'g' holds null");
  check(replaced(sliding, "-9.81", "\"9\""), "'g' holds string");
  check(replaced(sliding, ", -9.81]", "]"), "'mu' has 1 contacts");
  check(replaced(sliding, "-9.81]", "-9.81, 4]"), "'G' has 9 numbers");
  check(replaced(sliding, "\"mu\": [0.5]", "\"mu\": []"), "'rows' is missing");
  check(replaced(sliding, "\"mu\": [0.5]", "\"mu\": [-0.5]"), "'mu[0]' is -0.5; must be >= 0");
  check(replaced(sliding, "1e-3", "-1"), "'dt[0]'");
  check(replaced(sliding, "1e-3", "1, \"R\": [0, 0, -1]"), "'R[2]'");
  check(replaced(sliding, "1e-3", "1, \"R\": [0, 0]"), "'R' has 2");
  check(replaced(sliding, "1e-3", "1, \"facets\": 2.5"), "facets");
  check(replaced(sliding, "1e-3", "1, \"rows\": {\"lower\": [1], \"upper\": [2]}"), "'rows.lower' has 1");
  check(R"({"G": [[1]], "g": [1], "mu": [], "rows": {"lower": [2], "upper": [1]}})", "must be <= rows.upper");
  check(R"({"G": [[1]], "g": [1], "mu": [], "rows": {"lower": [2]}})", "'rows.upper' is missing");
  check(R"({"G": [[1]], "g": [1], "mu": [], "rows": {"lower": [2], "uper": [3]}})", "did you mean 'upper'");
  CHECK(refusal([&] { read_problem(folder.file("none.json")); }).find("cannot be read") != std::string::npos);
  CHECK(refusal([&] { read_problem(folder.write("x.txt", "")); }).find("extension") != std::string::npos);
}

TEST_CASE("problem file: npz shapes are checked") {
  ScratchFolder folder;
  const double x[6] = {1, 0, 0, 0, 1, 0};
  const std::uint64_t flat[] = {2, 3}, three[] = {3}, one[] = {1};
  const auto write = [&](std::span<const std::uint64_t> G, double mu, const char* extra) {
    NpzWriter npz(folder.file("p.npz"));
    npz.add("G", NpyType::F64, G, x);
    npz.add("g", NpyType::F64, three, x);
    npz.add("mu", NpyType::F64, one, &mu);
    if (extra) npz.add(extra, NpyType::F64, one, x);
    npz.finish();
    return refusal([&] { read_problem(folder.file("p.npz")); });
  };
  CHECK(write(flat, 1, nullptr).find("'G' has shape (2, 3); must be square") != std::string::npos);
  CHECK(write(three, 1, nullptr).find("'G' has shape (3)") != std::string::npos);
  CHECK(write(flat, 1, "lamda0").find("did you mean 'lambda0'") != std::string::npos);
}

#ifdef TRIBO_HDF5
namespace {

/// A file of the FCLIB, made with HDF5 itself.
struct FclibFile {
  hid_t file;
  explicit FclibFile(const std::string& path) : file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
    for (const char* group : {"/fclib_local", "/fclib_local/W", "/fclib_local/vectors"}) {
      H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
  }
  ~FclibFile() { H5Fclose(file); }
  template <class T>
  void add(const std::string& name, const std::vector<T>& x) {
    const hid_t type = std::is_same_v<T, int> ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
    const hsize_t n = x.size();
    const hid_t space = H5Screate_simple(1, &n, nullptr);
    const hid_t set =
        H5Dcreate2(file, ("/fclib_local/" + name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data());
    H5Dclose(set);
    H5Sclose(space);
  }
};

/// W in (n, t1, t2): one contact, coupling of n and t1 only.
///   [4 1 0]
///   [1 3 0]
///   [0 0 2]
void write_fclib(const std::string& path, int nz, std::vector<int> p, std::vector<int> i, std::vector<double> x) {
  FclibFile out(path);
  out.add<int>("spacedim", {3});
  out.add<int>("W/m", {3});
  out.add<int>("W/n", {3});
  out.add<int>("W/nz", {nz});
  out.add<int>("W/nzmax", {static_cast<int>(x.size())});
  out.add<int>("W/p", p);
  out.add<int>("W/i", i);
  out.add<double>("W/x", x);
  out.add<double>("vectors/q", {-9.81, 1, 2});
  out.add<double>("vectors/mu", {0.7});
}

}  // namespace

TEST_CASE("problem file: FCLIB in its three sparse forms, normal moved from first to last") {
  ScratchFolder folder;
  const std::string path = folder.file("local.hdf5");
  Mat3 expected;  // in (t1, t2, n)
  expected << 3, 0, 1, 0, 2, 0, 1, 0, 4;
  const auto check = [&] {
    const ProblemFile file = read_problem(path);
    CHECK(file.problem.G() == expected);
    CHECK(file.problem.g() == Vec3(1, 2, -9.81));
    CHECK(file.problem.mu()[0] == 0.7);
  };
  write_fclib(path, -1, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  check();
  write_fclib(path, -2, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  check();
  write_fclib(path, 5, {2, 0, 1, 0, 1}, {2, 0, 0, 1, 1}, {2, 4, 1, 1, 3});
  check();
}

// libhdf5 writes what our own reader reads: chunks, packed or not, other widths, compact data sets, groups of both kinds.
TEST_CASE("problem file: FCLIB numbers in every way that is read") {
  ScratchFolder folder;
  const std::string path = folder.file("local.hdf5");
  std::vector<double> x(200), q(3 * 200), mu(200, 0.7);
  std::vector<int> p(200), i(200);
  for (int k = 0; k < 200; ++k) {
    x[at(k)] = 1 + 0.25 * (k % 7);
    p[at(k)] = i[at(k)] = 3 * k % 600;
    q[at(3 * k)] = -k;
  }
  const auto write = [&](bool recent, hid_t creation, hid_t real, hid_t whole) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (recent) H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (const char* group : {"/fclib_local", "/fclib_local/W", "/fclib_local/vectors"})
      H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const auto add = [&](const char* name, const auto& values, hid_t memory, hid_t stored, hid_t how) {
      const hsize_t n = values.size();
      const hid_t space = H5Screate_simple(1, &n, nullptr);
      const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, how, H5P_DEFAULT);
      H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
      H5Dclose(set);
      H5Sclose(space);
    };
    for (const auto& [name, value] : {std::pair{"m", 600}, {"n", 600}, {"nz", 200}})
      add((std::string("/fclib_local/W/") + name).c_str(), std::vector<int>{value}, H5T_NATIVE_INT, whole, H5P_DEFAULT);
    add("/fclib_local/W/p", p, H5T_NATIVE_INT, whole, creation);
    add("/fclib_local/W/i", i, H5T_NATIVE_INT, whole, creation);
    add("/fclib_local/W/x", x, H5T_NATIVE_DOUBLE, real, creation);
    add("/fclib_local/vectors/q", q, H5T_NATIVE_DOUBLE, real, creation);
    add("/fclib_local/vectors/mu", mu, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, H5P_DEFAULT);
    H5Fclose(file);
    H5Pclose(access);
  };
  const hid_t chunks = H5Pcreate(H5P_DATASET_CREATE), packed = H5Pcreate(H5P_DATASET_CREATE),
              compact = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t seventy = 70;  // which divides neither 200 nor 600
  H5Pset_chunk(chunks, 1, &seventy);
  H5Pset_chunk(packed, 1, &seventy);
  H5Pset_deflate(packed, 6);
  H5Pset_layout(compact, H5D_COMPACT);
  for (const bool recent : {false, true})  // the older and the newer form of groups and headers
    for (const hid_t creation : {static_cast<hid_t>(H5P_DEFAULT), chunks, packed, compact})
      for (const auto& [real, whole] : {std::pair{H5T_IEEE_F64LE, H5T_STD_I32LE},
                                        {H5T_IEEE_F32LE, H5T_STD_I64LE},
                                        {H5T_IEEE_F64LE, H5T_STD_U16LE}}) {
        write(recent, creation, real, whole);
        const ContactProblem problem = read_problem(path).problem;
        REQUIRE(problem.nc() == 200);
        bool same = problem.mu()[199] == 0.7;
        for (int k = 0; k < 200; ++k)
          same = same && problem.G()(3 * k + 2, 3 * k + 2) == x[at(k)] && problem.g()[3 * k + 2] == -k;
        CHECK(same);
      }
  write(false, H5P_DEFAULT, H5T_IEEE_F64BE, H5T_STD_I32LE);
  CHECK(refusal([&] { read_problem(path); }).find("little-endian") != std::string::npos);
  for (const hid_t list : {chunks, packed, compact}) H5Pclose(list);
}

// The heap of a group's names claims to be larger than memory: libhdf5 asks for it, and goes on with nothing.
TEST_CASE("problem file: FCLIB files that are cut or claim too much are refused, at any byte") {
  ScratchFolder folder;
  const std::string path = folder.file("local.hdf5");
  write_fclib(path, -1, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  const std::string right = folder.read("local.hdf5");
  int refused = 0, tried = 0;
  const auto attempt = [&](const std::string& bytes) {
    folder.write("local.hdf5", bytes);
    ++tried;
    try {
      read_problem(path);
    } catch (const InvalidInput&) {
      ++refused;
    }
  };
  for (std::size_t k = 0; k < right.size(); k += 97) attempt(right.substr(0, k));
  CHECK(refused > tried / 2);  // its end is not used
  for (std::size_t k = 0; k + 8 < right.size(); k += 8)
    for (const char fill : {'\x7f', '\xff', '\x00'})
      attempt(right.substr(0, k) + std::string(8, fill) + right.substr(k + 8));
  CHECK(refused > 300);
}

TEST_CASE("problem file: FCLIB indices that point outside are refused") {
  ScratchFolder folder;
  const std::string path = folder.file("bad.hdf5");
  const auto message = [&] { return refusal([&] { read_problem(path); }); };
  write_fclib(path, -1, {0, 2, 4, 500}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  CHECK(message().find("W/p' points outside") != std::string::npos);
  write_fclib(path, -1, {0, 2, 4, 5}, {0, 1, 0, 1, 3}, {4, 1, 1, 3, 2});
  CHECK(message().find("index outside") != std::string::npos);
  write_fclib(path, 9, {2, 0, 1, 0, 1}, {2, 0, 0, 1, 1}, {2, 4, 1, 1, 3});
  CHECK(message().find("fewer triplets") != std::string::npos);
  write_fclib(path, -3, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  CHECK(message().find("W/nz' is -3") != std::string::npos);
  folder.write("bad.hdf5", "not HDF5");
  CHECK(message().find("not an HDF5 file") != std::string::npos);
}

TEST_CASE("problem file: FCLIB numbers that are not in the file are refused") {
  ScratchFolder folder;
  const std::string path = folder.file("bad.hdf5"), right = folder.file("right.hdf5");
  const auto message = [&] { return refusal([&] { read_problem(path); }); };
  const auto write = [&](int n, hid_t creation, hsize_t count) {
    FclibFile out(path);
    out.add<int>("W/m", {n});
    out.add<int>("W/n", {n});
    out.add<int>("W/nz", {0});
    out.add<int>("W/i", {0});
    out.add<double>("W/x", {1});
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    H5Dclose(H5Dcreate2(out.file, "/fclib_local/W/p", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
  };
  write(3, H5P_DEFAULT, 200'000'000);  // of which none is stored: HDF5 would give zeros
  CHECK(message().find("claims 200000000 numbers of 4 bytes and stores 0 bytes") != std::string::npos);
  folder.write("numbers", std::string(400, 'x'));
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(external, folder.file("numbers").c_str(), 0, 400);
  write(3, external, 100);
  H5Pclose(external);
  CHECK(message().find("lies in another file") != std::string::npos);
  write(15'999, H5P_DEFAULT, 1);
  CHECK(message().find("W/p' claims 1 numbers of 4 bytes and stores 0 bytes") != std::string::npos);
  {
    FclibFile out(path);
    out.add<int>("W/m", {15'999});
    out.add<int>("W/n", {15'999});
    out.add<int>("W/nz", {1});
    out.add<int>("W/p", {0});
    out.add<int>("W/i", {0});
    out.add<double>("W/x", {1});
  }
  CHECK(message().find("it is not made dense") != std::string::npos);  // 2 GB
  write_fclib(right, -1, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {4, 1, 1, 3, 2});
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external(right.c_str(), "/fclib_local", file, "/fclib_local", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  CHECK(message().find("is a link to elsewhere") != std::string::npos);
}
#endif
