// tribo matrix: every robot and scene under every stepper, for a short time each.
//
// A cell is sane where the run ends, its scheme adds below 5 % of the energy, no contact is deeper than 5 mm beyond its
// load over its stiffness and what it began with, nothing is thrown, and it takes less than 25 s of CPU time. Explicit
// steppers take the largest of 0.5, 0.1, 0.02 ms and so on, each a fifth, that `tribo check` has nothing against, others the
// dt of the scene, or the largest of those where it has something against that.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include "base/names.hpp"
#include "common.hpp"
#include "diagnosis/advice.hpp"
#include "fate.hpp"
#include "tribo/robot.hpp"
#include "tribo/stepper.hpp"

namespace tribo::app {
namespace {

constexpr double most_gain = 0.05, most_overlap = 5e-3 /* m */, most_time = 25 /* s */;
constexpr double smaller_steps[] = {5e-4, 1e-4, 2e-5, 4e-6, 8e-7};

struct MatrixOptions {
  std::vector<std::string> names, steppers;
  double duration = 0.2;
  bool json = false, page = false;
};

enum class Verdict { Sane, Refused, Failed };

struct Cell {
  Verdict verdict = Verdict::Sane;
  double dt = 0;       // [s]
  std::string reason;  // where it is not sane
};

// The largest overlap beyond load over stiffness, what was there at the start apart.
class Depth final : public Observer {
 public:
  void observe(Simulation& simulation, const StepReport& report) override {
    double now = 0;
    for (const ContactReport& c : simulation.contacts()) {
      const int s = simulation.model().surface_index(c.geometry_a, c.geometry_b);
      now = std::max(now, -c.gap - std::max(c.f.z(), 0.0) / simulation.model().surface(s).stiffness);
    }
    if (first_ < 0) first_ = now;
    worst_ = std::max(worst_, now - first_);
    sum_ += report.energy.integrator;
    gain_ = std::max(gain_, sum_);
  }
  double worst() const { return worst_; }
  double gain() const { return gain_; }  ///< of energy by the scheme [J]

 private:
  double first_ = -1, worst_ = 0, sum_ = 0, gain_ = 0;
};

void choose_step(Scene& scene) {
  const double most = advised_step(scene);
  if (!stepper_entry(scene.stepper).explicit_contact && scene.dt <= most) return;
  for (double dt : smaller_steps) {
    scene.dt = dt;
    if (dt <= most) return;
  }
}

Cell run_cell(Scene scene, const std::string& stepper, double duration) {
  Cell cell;
  try {
    scene.set_stepper(stepper);
    choose_step(scene);
    cell.dt = scene.dt;
    Simulation simulation = make_simulation(scene);
    Fate fate(scene);
    Depth depth;
    Run run(simulation, duration);
    run.watch(fate).watch(depth);
    const std::clock_t begin = std::clock();
    double time = 0;
    while (time < most_time && run.step()) time = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const Audit& audit = simulation.audit();
    const double gain = depth.gain() / std::max(audit.energy_scale, 1e-300);
    if (run.failed())
      cell.reason = to_string(run.last().status) + " at " + shown(audit.time) + " s";
    else if (!(time < most_time))
      cell.reason = "takes more than " + shown(most_time) + " s";
    else if (fate.thrown())
      cell.reason = "thrown";
    else if (!(gain < most_gain))
      cell.reason = "the scheme adds " + shown(100 * gain) + " % of the energy";
    else if (!(depth.worst() < most_overlap))
      cell.reason = "overlap of " + shown(1e3 * depth.worst()) + " mm beyond load over stiffness";
    if (!cell.reason.empty()) cell.verdict = Verdict::Failed;
  } catch (const InvalidInput& error) {
    cell = {Verdict::Refused, scene.dt, error.what()};
  }
  return cell;
}

using Table = std::vector<std::pair<std::string, std::vector<Cell>>>;

std::string cell_text(const Cell& cell) {
  if (cell.verdict == Verdict::Refused) return "refused";
  return (cell.verdict == Verdict::Failed ? "FAILED " : "") + shown(1e3 * cell.dt);
}

// Where the reason of a refusal begins: behind the place in a file.
std::string short_reason(const std::string& text) {
  const auto line = text.find(".toml:");
  if (line == std::string::npos) return text;
  const auto end = text.find(": ", line);
  return end == std::string::npos ? text : text.substr(end + 2);
}

void print_table(const Table& table, const MatrixOptions& options) {
  int count[3] = {0, 0, 0};
  for (const auto& [name, cells] : table)
    for (const Cell& c : cells) ++count[static_cast<int>(c.verdict)];
  const int all = count[0] + count[1] + count[2];
  if (options.page)
    std::printf(
        "# Every robot and scene under every stepper\n"
        "This page is printed by `tribo matrix --page`, which runs each for %s s. A number is the dt [ms] at which it "
        "ran "
        "sanely: the scheme\n"
        "adds below 5 %% of the energy, no overlap beyond load over stiffness above 5 mm, nothing thrown, less than 25 "
        "s of "
        "CPU time. Explicit steppers\n"
        "(explicit-euler, runge-kutta, microscopic) take the largest of 0.5, 0.1, 0.02, 0.004 and 0.0008 ms that "
        "`tribo "
        "check` has nothing\n"
        "against, or the last; others the dt of the scene, and the same where `tribo check` has something against it "
        "(gains that act explicitly, a load on a light body).\n\n",
        shown(options.duration).c_str());
  std::printf("%d of %d run sanely (%.1f %%), %d are refused, %d fail.\n\n| |", count[0], all, 100.0 * count[0] / all,
              count[1], count[2]);
  for (const std::string& s : options.steppers) std::printf(" %s |", s.c_str());
  std::printf("\n|---|");
  for (std::size_t i = 0; i < options.steppers.size(); ++i) std::printf("---|");
  for (const auto& [name, cells] : table) {
    std::printf("\n| %s |", name.c_str());
    for (const Cell& c : cells) std::printf(" %s |", cell_text(c).c_str());
  }
  std::printf("\n");
  if (count[1] + count[2] == 0) return;
  std::printf("\n| | stepper | why not |\n|---|---|---|\n");
  for (const auto& [name, cells] : table)
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells[i].verdict != Verdict::Sane)
        std::printf("| %s | %s | %s |\n", name.c_str(), options.steppers[i].c_str(),
                    short_reason(cells[i].reason).c_str());
}

Json to_json(const Table& table, const MatrixOptions& options) {
  Json all = Json::array();
  for (const auto& [name, cells] : table)
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Cell& c = cells[i];
      const char* verdict = c.verdict == Verdict::Sane ? "sane" : c.verdict == Verdict::Refused ? "refused" : "failed";
      all.push_back({{"name", name},
                     {"stepper", options.steppers[i]},
                     {"verdict", verdict},
                     {"dt", c.dt},
                     {"reason", short_reason(c.reason)}});
    }
  return {{"duration", options.duration}, {"cells", all}};
}

int matrix(MatrixOptions options) {
  if (options.names.empty()) {
    for (const RobotEntry& r : robots()) options.names.push_back(r.name);
    for (const SceneEntry& s : known_scenes()) options.names.push_back(s.name);
  }
  if (options.steppers.empty())
    for (const StepperEntry& s : steppers()) options.steppers.push_back(s.name);
  for (const std::string& s : options.steppers) stepper_entry(s);
  Table table;
  Progress progress(static_cast<double>(options.names.size() * options.steppers.size()), "cells");
  double cells_done = 0;
  for (const std::string& name : options.names) {
    const Scene scene = find_scene(SceneRequest{name, "", {}});
    auto& cells = table.emplace_back(name, std::vector<Cell>{}).second;
    for (const std::string& stepper : options.steppers) {
      if (signal_received() != 0) return 128 + signal_received();
      cells.push_back(run_cell(scene, stepper, options.duration));
      progress.show(++cells_done);
    }
  }
  if (options.json)
    print_json(to_json(table, options));
  else
    print_table(table, options);
  for (const auto& [name, cells] : table)
    for (const Cell& c : cells)
      if (c.verdict == Verdict::Failed) return failed;
  return done;
}

}  // namespace

void add_matrix(CommandLine& command, Action& action) {
  auto o = std::make_shared<MatrixOptions>();
  command.add_list("--only", o->names, "NAME", "this robot or scene; may be repeated");
  command.add_list("--stepper", o->steppers, "NAME", "this stepper alone; may be repeated");
  command.add_option("--duration", o->duration, "of each run [s]");
  command.add_flag("--json", o->json, "print one JSON object");
  command.add_flag("--page", o->page, "the page docs/matrix.md");
  command.footer("All of them take minutes. Exit code 1 where a cell fails; a refusal is no failure.");
  command.callback([o, &action] {
    action = [o] {
      catch_signals();
      return matrix(*o);
    };
  });
}

}  // namespace tribo::app
