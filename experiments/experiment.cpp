#include "experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/names.hpp"
#include "base/version.hpp"
#include "commit.hpp"
#include "tribo/types.hpp"

namespace tribo::experiments {
namespace {

Json to_json(const Table& table) { return {{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}}; }

Json to_json(const Panel& panel) {
  Json series = Json::array();
  for (const Series& s : panel.series)
    series.push_back({{"label", s.label}, {"x", s.x}, {"y", s.y}, {"faded", s.faded}});
  return {{"title", panel.title}, {"x_label", panel.x_label}, {"y_label", panel.y_label},
          {"log_x", panel.log_x}, {"log_y", panel.log_y},     {"categories", panel.categories},
          {"equal", panel.equal}, {"bars", panel.bars},       {"series", series}};
}

/// Is the measure within what the condition asks?
bool met(const Json& condition, double value) {
  if (!std::isfinite(value)) return false;
  if (condition.contains("at_least") && value < condition["at_least"].get<double>()) return false;
  return !condition.contains("at_most") || value <= condition["at_most"].get<double>();
}

std::string cell(const Json& x) {
  if (x.is_string()) return x.get<std::string>();
  if (x.is_number_float()) return std::isfinite(x.get<double>()) ? shown(x.get<double>()) : "not finite";
  if (x.is_boolean()) return x.get<bool>() ? "yes" : "no";
  return x.is_null() ? "-" : x.dump();
}

/// Characters, not bytes: those that continue a UTF-8 sequence do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string table_text(const Json& table) {
  std::vector<std::vector<std::string>> lines{table["columns"].get<std::vector<std::string>>()};
  for (const Json& row : table["rows"]) {
    lines.emplace_back();
    for (const Json& x : row) lines.back().push_back(cell(x));
  }
  std::vector<std::size_t> width(lines[0].size(), 0);
  for (const auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) width[k] = std::max(width[k], width_of(line[k]));
  std::string text = table["title"].get<std::string>() + "\n";
  for (const auto& line : lines) {
    for (std::size_t k = 0; k < line.size(); ++k)
      text += "  " + line[k] + std::string(k + 1 < line.size() ? width[k] - width_of(line[k]) : 0, ' ');
    text += "\n";
  }
  return text;
}

}  // namespace

Json judge_claims(const Json& claims, const std::map<std::string, double>& measures) {
  Json judged = Json::array();
  for (const Json& claim : claims) {
    Json out = {{"id", claim.at("id")}, {"text", claim.at("text")}, {"source", claim.at("source")}};
    Json measured = Json::object();
    bool holds = true;
    for (const Json& condition : claim.at("conditions")) {
      const std::string key = condition.at("measure");
      const auto found = measures.find(key);
      if (found == measures.end())
        throw InvalidInput("claim '" + claim["id"].get<std::string>() + "': unknown measure '" + key + "'");
      measured[key] = found->second;
      holds = holds && met(condition, found->second);
    }
    out["conditions"] = claim["conditions"];
    out["measured"] = measured;
    out["holds"] = holds;
    out["asserted"] = claim.value("asserted", true);
    if (claim.contains("reason")) out["reason"] = claim["reason"];
    judged.push_back(out);
  }
  return judged;
}

Json run_experiment(const Experiment& experiment, const ExperimentOptions& options, const Progress& progress) {
  Json claims = Json::array();
  for (const Json& claim : Json::parse(claims_text(experiment.name)))
    if (!options.quick || !claim.value("full", false)) claims.push_back(claim);
  const Result result = experiment.run(options, progress);
  Json json;
  json["experiment"] = experiment.name;
  json["summary"] = experiment.summary;
  json["command"] = "tribo experiment " + experiment.name + (options.quick ? " --quick" : "");
  json["settings"] = result.settings;
  json["machine"] = machine();
  json["version"] = version();
  json["claims"] = judge_claims(claims, result.measures);
  json["measures"] = result.measures;
  json["tables"] = Json::array();
  for (const Table& table : result.tables) json["tables"].push_back(to_json(table));
  json["panels"] = Json::array();
  for (const Panel& panel : result.panels) json["panels"].push_back(to_json(panel));
  return json;
}

std::string as_text(const Table& table) { return table_text(to_json(table)); }

std::string as_text(const Json& result) {
  std::string text;
  for (const Json& table : result["tables"]) text += table_text(table) + "\n";
  for (const Json& claim : result["claims"]) {
    text += (claim["holds"].get<bool>() ? "holds      " : "fails      ") + claim["text"].get<std::string>() + " [" +
            claim["source"].get<std::string>() + "]\n           measured:";
    for (const auto& [key, value] : claim["measured"].items()) text += " " + key + " " + cell(value);
    text += "\n";
    if (claim.contains("reason")) text += "           " + claim["reason"].get<std::string>() + "\n";
  }
  return text;
}

Json machine() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, cpu = "unknown";
  while (std::getline(in, line)) {
    if (!line.starts_with("model name")) continue;
    cpu = line.substr(std::min(line.size(), line.find(':') + 2));
    break;
  }
  return {{"cpu", cpu}, {"cores", std::thread::hardware_concurrency()}};
}

Json version() { return {{"version", tribo::version()}, {"commit", tribo_commit}}; }

}  // namespace tribo::experiments
