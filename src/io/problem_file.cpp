#include "io/problem_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/limits.hpp"
#include "base/names.hpp"
#include "io/npy.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;

constexpr double symmetry = 1e-8;  ///< asymmetry of G, relative to its largest element, that rounding may cause
constexpr std::uint64_t most_problem_bytes = std::uint64_t{2} << 30;
constexpr int most_depth = 16;
const std::vector<std::string> known_keys = {"G",       "g",      "mu",     "dt",   "R",       "rows",
                                             "lambda0", "facets", "weight", "name", "comment", "source"};

[[noreturn]] void refuse(const std::string& path, const std::string& key, const std::string& why) {
  throw InvalidInput(path + ": '" + key + "' " + why);
}

std::string element(std::size_t i) { return std::string("[").append(std::to_string(i)).append("]"); }

double number(const Json& x, const std::string& path, const std::string& key) {
  if (!x.is_number()) refuse(path, key, "holds " + std::string(x.type_name()) + "; must be a number");
  return x.get<double>();
}

/// absent: what null stands for; NaN where null is not allowed.
std::vector<double> list(const Json& x, const std::string& path, const std::string& key,
                         double absent = std::numeric_limits<double>::quiet_NaN()) {
  if (!x.is_array()) refuse(path, key, "is " + std::string(x.type_name()) + "; must be an array of numbers");
  std::vector<double> values;
  values.reserve(x.size());
  for (const Json& item : x) {
    values.push_back(item.is_null() && !std::isnan(absent) ? absent : number(item, path, key));
  }
  return values;
}

std::vector<double> matrix(const Json& x, const std::string& path, const std::string& key) {
  if (!x.is_array()) refuse(path, key, "is " + std::string(x.type_name()) + "; must be an array of rows");
  std::vector<double> values;
  values.reserve(x.size() * x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<double> row = list(x[i], path, key + element(i));
    if (row.size() != x.size()) {
      refuse(
          path, key + element(i),
          "has " + std::to_string(row.size()) + " numbers; G has " + std::to_string(x.size()) + " rows and is square");
    }
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

/// Refuses nesting before the parser can recurse on it.
Json parse_json(const std::string& path) {
  const std::string text = read_text(path, most_problem_bytes);
  const Json::parser_callback_t shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > most_depth) throw InvalidInput(path + ": is nested more than " + std::to_string(most_depth) + " deep");
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::exception& error) {
    throw InvalidInput(path + ": is not JSON (" + error.what() + ")");
  }
}

RawProblem read_json(const std::string& path) {
  const Json json = parse_json(path);
  if (!json.is_object()) throw InvalidInput(path + ": is JSON " + json.type_name() + "; must be an object");
  for (const auto& [key, value] : json.items()) {
    if (std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end()) {
      throw InvalidInput(path + ": " + unknown_name("key", key, known_keys));
    }
  }
  for (const char* key : {"G", "g", "mu"}) {
    if (!json.contains(key)) refuse(path, key, "is missing");
  }
  RawProblem raw;
  raw.G = matrix(json["G"], path, "G");
  raw.g = list(json["g"], path, "g");
  raw.mu = list(json["mu"], path, "mu");
  if (json.contains("R")) raw.R = list(json["R"], path, "R");
  if (json.contains("lambda0")) raw.lambda0 = list(json["lambda0"], path, "lambda0");
  if (json.contains("dt")) raw.dt = number(json["dt"], path, "dt");
  if (json.contains("weight")) raw.weight = number(json["weight"], path, "weight");
  if (json.contains("facets")) raw.facets = number(json["facets"], path, "facets");
  if (!json.contains("rows")) return raw;
  const Json& rows = json["rows"];
  if (!rows.is_object()) refuse(path, "rows", "is " + std::string(rows.type_name()) + "; must be {lower, upper}");
  for (const auto& [key, value] : rows.items()) {
    if (key != "lower" && key != "upper") {
      throw InvalidInput(path + ": rows: " + unknown_name("key", key, {"lower", "upper"}));
    }
  }
  for (const char* key : {"lower", "upper"}) {
    if (!rows.contains(key)) refuse(path, std::string("rows.") + key, "is missing");
  }
  raw.lower = list(rows["lower"], path, "rows.lower", -inf);
  raw.upper = list(rows["upper"], path, "rows.upper", inf);
  return raw;
}

RawProblem read_npz(const std::string& path) {
  const NpzReader npz(path, most_problem_bytes);
  std::vector<std::string> known = known_keys;
  known.insert(known.end(), {"lower", "upper"});
  for (const std::string& name : npz.names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidInput(path + ": " + unknown_name("array", name, known));
    }
  }
  const auto vector = [&](const std::string& name, bool needed) {
    if (!npz.has(name)) {
      if (needed) refuse(path, name, "is missing");
      return std::vector<double>{};
    }
    const NpyArray array = npz.read(name);
    if (array.shape.size() > 1) refuse(path, name, "has shape " + array.shape_text() + "; must be a vector");
    return array.numbers();
  };
  const auto scalar = [&](const std::string& name) {
    const std::vector<double> x = vector(name, false);
    if (x.size() > 1) refuse(path, name, "has " + std::to_string(x.size()) + " numbers; must be one");
    return x.empty() ? 0.0 : x[0];
  };
  RawProblem raw;
  if (!npz.has("G")) refuse(path, "G", "is missing");
  const NpyArray G = npz.read("G");
  if (G.shape.size() != 2 || G.shape[0] != G.shape[1])
    refuse(path, "G", "has shape " + G.shape_text() + "; must be square");
  raw.G = G.numbers();
  raw.g = vector("g", true);
  raw.mu = vector("mu", true);
  raw.R = vector("R", false);
  raw.lower = vector("lower", false);
  raw.upper = vector("upper", false);
  raw.lambda0 = vector("lambda0", false);
  raw.dt = scalar("dt");
  raw.weight = scalar("weight");
  raw.facets = scalar("facets");
  return raw;
}

void require_size(const std::string& path, const std::string& key, std::size_t is, std::size_t must,
                  const std::string& why) {
  if (is == must) return;
  refuse(path, key, "has " + std::to_string(is) + " numbers; must have " + std::to_string(must) + " (" + why + ")");
}

void require_finite(const std::string& path, const std::string& key, const std::vector<double>& x, double least) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) && x[i] >= least) continue;
    refuse(path, key + element(i),
           "is " + shown(x[i]) + "; must be " + (std::isfinite(x[i]) ? ">= " + shown(least) : "finite"));
  }
}

void require_symmetric(const std::string& path, const std::vector<double>& G, std::size_t n) {
  double scale = 0;
  for (double x : G) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < n; ++i) {
    if (G[i * n + i] < 0) {
      refuse(path, "G" + element(i) + element(i), "is " + shown(G[i * n + i]) + "; the diagonal must be >= 0");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(G[i * n + j] - G[j * n + i]) <= symmetry * scale) continue;
      const std::string ij = element(i) + element(j);
      const std::string ji = element(j) + element(i);
      refuse(path, "G" + ij,
             "is " + shown(G[i * n + j]) + " but G" + ji + " is " + shown(G[j * n + i]) +
                 "; G must be symmetric to 1e-8 of its largest element");
    }
  }
}

void validate(const RawProblem& raw, const std::string& path) {
  constexpr double any = -std::numeric_limits<double>::max();
  const std::size_t n = raw.g.size(), nc = raw.mu.size();
  if (n == 0) refuse(path, "g", "is empty");
  if (3 * nc > n)
    refuse(path, "mu", "has " + std::to_string(nc) + " contacts; g has " + std::to_string(n) + " numbers, three each");
  const std::size_t nr = n - 3 * nc;
  require_size(path, "G", raw.G.size(), n * n, "g has " + std::to_string(n));
  if (nr > 0 && raw.lower.empty() && raw.upper.empty()) {
    refuse(path, "rows",
           "is missing: g has " + std::to_string(n) + " numbers, " + std::to_string(nc) + " contacts take " +
               std::to_string(3 * nc));
  }
  const std::string rest = "what the contacts leave of g";
  require_size(path, "rows.lower", raw.lower.size(), nr, rest);
  require_size(path, "rows.upper", raw.upper.size(), nr, rest);
  if (!raw.R.empty()) require_size(path, "R", raw.R.size(), n, "as g");
  if (!raw.lambda0.empty()) require_size(path, "lambda0", raw.lambda0.size(), n, "as g");
  require_finite(path, "G", raw.G, any);
  require_finite(path, "g", raw.g, any);
  require_finite(path, "mu", raw.mu, 0);
  require_finite(path, "R", raw.R, 0);
  require_finite(path, "lambda0", raw.lambda0, any);
  require_finite(path, "dt", {raw.dt}, 0);
  require_finite(path, "weight", {raw.weight}, 0);
  require_finite(path, "facets", {raw.facets}, 0);
  if (raw.facets != std::floor(raw.facets) || raw.facets > 1e6) {
    refuse(path, "facets", "is " + shown(raw.facets) + "; must be a whole number up to 1e6");
  }
  for (std::size_t i = 0; i < nr; ++i) {
    if (raw.lower[i] <= raw.upper[i] && raw.lower[i] < inf && raw.upper[i] > -inf) continue;
    refuse(path, "rows.lower" + element(i),
           "is " + shown(raw.lower[i]) + "; must be <= rows.upper, which is " + shown(raw.upper[i]));
  }
  require_symmetric(path, raw.G, n);
}

ProblemFile build(const RawProblem& raw, const std::string& path) {
  validate(raw, path);
  const auto vec = [](const std::vector<double>& x) {
    return Eigen::Map<const VecX>(x.data(), static_cast<Eigen::Index>(x.size()));
  };
  ProblemFile file;
  file.name = std::filesystem::path(path).stem().string();
  const auto n = static_cast<Eigen::Index>(raw.g.size());
  const int nc = static_cast<int>(raw.mu.size()), nr = static_cast<int>(n) - 3 * nc;
  ContactProblem& p = file.problem;
  p.resize(nc, nr, true);
  const auto G = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(raw.G.data(), n, n);
  p.G() = 0.5 * (G + G.transpose());
  p.g() = vec(raw.g);
  p.mu() = vec(raw.mu);
  if (raw.R.empty()) {
    p.R().setZero();
  } else {
    p.R() = vec(raw.R);
  }
  p.lower() = vec(raw.lower);
  p.upper() = vec(raw.upper);
  p.weight = raw.weight;
  file.lambda0 = vec(raw.lambda0);
  file.dt = raw.dt;
  file.facets = static_cast<int>(raw.facets);
  return file;
}

std::string extension(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<double> values(const double* x, Eigen::Index n) { return {x, x + n}; }

Json bounds(const VectorBuffer::ConstMap& x) {
  Json list = Json::array();
  for (double value : x) list.push_back(std::isfinite(value) ? Json(value) : Json());
  return list;
}

void write_json(const ProblemFile& file, const std::string& path) {
  const ContactProblem& p = file.problem;
  const Eigen::Index n = p.size();
  Json json;
  if (!file.name.empty()) json["name"] = file.name;
  if (file.dt > 0) json["dt"] = file.dt;
  if (file.facets > 0) json["facets"] = file.facets;
  if (p.weight > 0) json["weight"] = p.weight;
  json["mu"] = values(p.mu().data(), p.nc());
  json["g"] = values(p.g().data(), n);
  // G is symmetric: its columns are its rows.
  json["G"] = Json::array();
  for (Eigen::Index i = 0; i < n; ++i) json["G"].push_back(values(p.G().data() + i * n, n));
  if (n > 0 && p.R().maxCoeff() > 0) json["R"] = values(p.R().data(), n);
  if (p.nr() > 0) json["rows"] = {{"lower", bounds(p.lower())}, {"upper", bounds(p.upper())}};
  if (file.lambda0.size() > 0) json["lambda0"] = values(file.lambda0.data(), n);
  write_file(path, json.dump() + "\n");
}

void write_npz(const ProblemFile& file, const std::string& path) {
  const ContactProblem& p = file.problem;
  NpzWriter npz(path);
  const auto vector = [&](const char* name, const double* x, Eigen::Index n) {
    const std::uint64_t shape[] = {static_cast<std::uint64_t>(n)};
    npz.add(name, NpyType::F64, shape, x);
  };
  const auto scalar = [&](const char* name, double x) {
    if (x > 0) npz.add(name, NpyType::F64, {}, &x);
  };
  const Eigen::Index n = p.size();
  const std::uint64_t square[] = {static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(n)};
  npz.add("G", NpyType::F64, square, p.G().data());
  vector("g", p.g().data(), n);
  vector("mu", p.mu().data(), p.nc());
  vector("R", p.R().data(), n);
  if (p.nr() > 0) vector("lower", p.lower().data(), p.nr());
  if (p.nr() > 0) vector("upper", p.upper().data(), p.nr());
  if (file.lambda0.size() > 0) vector("lambda0", file.lambda0.data(), n);
  scalar("dt", file.dt);
  scalar("weight", p.weight);
  scalar("facets", file.facets);
  npz.finish();
}

}  // namespace

bool is_problem_file(const std::string& path) {
  const std::string e = extension(path);
  return e == ".json" || e == ".npz" || e == ".hdf5" || e == ".h5";
}

ProblemFile read_problem(const std::string& path) {
  const std::string e = extension(path);
  if (e == ".json") return build(read_json(path), path);
  if (e == ".npz") return build(read_npz(path), path);
  if (e == ".hdf5" || e == ".h5") return build(read_fclib(path), path);
  throw InvalidInput(path + ": a contact problem has the extension .json, .npz or .hdf5, not '" + e + "'");
}

void write_problem(const ProblemFile& file, const std::string& path) {
  if (!file.problem.dense()) throw InvalidInput(path + ": the problem has no dense G to write; call densify() first");
  const std::string e = extension(path);
  if (e == ".json") return write_json(file, path);
  if (e == ".npz") return write_npz(file, path);
  throw InvalidInput(path + ": a contact problem is written as .json or .npz, not '" + e + "'");
}

}  // namespace tribo
