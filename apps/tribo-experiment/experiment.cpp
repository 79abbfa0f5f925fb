// tribo experiment NAME: a table or figure of a paper, its data, its picture, and which claims hold. A program of its own,
// which `tribo` calls: the first build of `tribo` does not wait for the experiments to compile.
#include "experiment.hpp"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/folder_lock.hpp"
#include "common.hpp"
#include "plot.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name, out;
  bool list = false, quick = false, json = false;
};

int list(bool json) {
  Json all = Json::array();
  std::size_t width = 0;
  for (const auto& e : experiments::experiments()) {
    all.push_back({{"name", e.name}, {"summary", e.summary}});
    width = std::max(width, e.name.size());
  }
  if (json) {
    print_json({{"experiments", all}});
    return done;
  }
  for (const auto& e : experiments::experiments())
    std::printf("%-*s  %s\n", static_cast<int>(width), e.name.c_str(), e.summary.c_str());
  return done;
}

std::string scenes_folder() {
  for (const SceneEntry& scene : known_scenes())
    if (scene.name == "cube-slide") return fs::path(scene.path).parent_path().string();
  throw InvalidInput("the scenes folder is not found: set TRIBO_SCENES to it");
}

int experiment(const Options& options) {
  if (options.list) return list(options.json);
  if (options.name.empty()) throw InvalidInput("no experiment is named: see 'tribo experiment --list'");
  const experiments::Experiment& entry = experiments::find_experiment(options.name);
  std::optional<FolderLock> lock;
  if (!options.out.empty()) {
    prepare_out(options.out);
    lock.emplace(options.out);
  }
  Json result;
  {
    Progress progress(1, "");
    result = experiments::run_experiment(entry, {options.quick, scenes_folder(), options.out},
                                         [&](double part) { progress.show(part); });
  }
  std::string picture;
  if (!options.out.empty() && !entry.files) {
    const std::string path = (fs::path(options.out) / (entry.name + ".json")).string();
    write_file(path, dumped(result));
    if (!options.json) std::printf("result      %s\n", path.c_str());
    if (!result["panels"].empty()) picture = draw(path, (fs::path(options.out) / (entry.name + ".png")).string());
    if (!options.json && !picture.empty()) std::printf("picture     %s\n", picture.c_str());
    const std::string page = report(path, (fs::path(options.out) / (entry.name + ".html")).string());
    if (!options.json && !page.empty()) std::printf("report      %s\n", page.c_str());
  }
  if (options.json)
    print_json(result);
  else
    std::printf("\n%s", experiments::as_text(result).c_str());
  return done;
}

void add_options(CommandLine& command, Action& action) {
  auto o = std::make_shared<Options>();
  command.add_option("NAME", o->name, "see 'tribo experiment --list'");
  command.add_flag("--list", o->list, "list the experiments");
  command.add_flag("--quick", o->quick, "fewer points: seconds instead of minutes");
  command.add_option("--out", o->out, "folder for NAME.json, NAME.png and NAME.html");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo experiment cube-slide --quick\n"
      "  tribo experiment solver-timings --out out/experiments");
  command.callback([o, &action] { action = [o] { return experiment(*o); }; });
}

}  // namespace
}  // namespace tribo::app

int main(int argc, char** argv) {
  return tribo::app::run_command(
      {"experiment", "run an experiment of the literature and check its claims", tribo::app::add_options}, argc, argv);
}
