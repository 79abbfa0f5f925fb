// A table or figure of a paper: what is run, what comes out, and which of the paper's claims it bears out.
// Each experiment is one file and one line in table.cpp; its claims are data, in claims/NAME.json.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tribo::experiments {

using Json = nlohmann::ordered_json;

struct ExperimentOptions {
  bool quick = false;  ///< seconds instead of minutes, with fewer points
  std::string scenes;  ///< folder of the scene files
  std::string out;     ///< folder for files that an experiment writes beside its result; empty: none
};

/// Called with the share that is done, 0 to 1.
using Progress = std::function<void(double)>;

/// One curve of a picture.
struct Series {
  std::string label;
  std::vector<double> x = {}, y = {};
  std::vector<bool> faded = {};  ///< of bars: which are drawn transparent; empty: none
};

/// One set of axes, with units in their labels.
struct Panel {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series = {};
  std::vector<std::string> categories = {};  ///< names of x = 0, 1, 2 …, where it is no number
  bool equal = false;                        ///< one metre is as long along x as along y
  bool bars = false;                         ///< groups of bars, one group a category
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows = {};
};

struct Result {
  Json settings = Json::object();
  std::map<std::string, double> measures;  ///< what the claims refer to
  std::vector<Table> tables;
  std::vector<Panel> panels;
};

struct Experiment {
  std::string name, summary;
  Result (*run)(const ExperimentOptions& options, const Progress& progress);
  bool files = false;  ///< fills the folder itself: no NAME.json there
};

const std::vector<Experiment>& experiments();
/// InvalidInput lists the known names.
const Experiment& find_experiment(const std::string& name);

/// Runs it and judges its claims: the whole result, with machine and version.
Json run_experiment(const Experiment& experiment, const ExperimentOptions& options, const Progress& progress);

/// The claims of a file: each gets what was measured and whether it holds. InvalidInput for an unknown measure.
Json judge_claims(const Json& claims, const std::map<std::string, double>& measures);

/// Text of claims/NAME.json ("full": judged in the full form alone), built into the program; "[]" where there is none.
std::string claims_text(const std::string& name);

/// The tables and the claims as text.
std::string as_text(const Json& result);
std::string as_text(const Table& table);

/// cpu and cores of the machine; version and commit of the program.
Json machine();
Json version();

}  // namespace tribo::experiments
