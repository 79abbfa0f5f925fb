// tribo recover DIR: packs what killed runs left.
#include "io/recovery.hpp"

#include <cstdio>

#include "common.hpp"

namespace tribo::app {
namespace {

struct RecoverOptions {
  std::string folder;
  bool json = false;
};

int recover(const RecoverOptions& options) {
  const std::vector<RecoveredRecording> found = recover_recordings(options.folder);
  if (options.json) {
    Json list = Json::array();
    for (const RecoveredRecording& r : found)
      list.push_back(
          {{"from", r.from}, {"recording", r.to.empty() ? Json(nullptr) : Json(r.to)}, {"records", r.records}});
    print_json({{"folder", options.folder}, {"recovered", list}});
    return done;
  }
  for (const RecoveredRecording& r : found) {
    if (r.to.empty())
      std::printf("%s: held no step, and was removed\n", r.from.c_str());
    else
      std::printf("%s: %llu records\n", r.to.c_str(), static_cast<unsigned long long>(r.records));
  }
  if (found.empty()) std::printf("%s: no run was killed here\n", options.folder.c_str());
  return done;
}

}  // namespace

void add_recover(CommandLine& command, Action& action) {
  auto o = std::make_shared<RecoverOptions>();
  command.add_option("DIR", o->folder, "the --out of the run")->required();
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "A run that is killed leaves recording.partial/ in its --out. This packs it as recording.npz, or as "
      "recording.N.npz\n"
      "where there is one already; so does the next run with the same --out.");
  command.callback([o, &action] { action = [o] { return recover(*o); }; });
}

}  // namespace tribo::app
