// Contact solvers side by side, Tribo's and Pinocchio's: mean time to a true residual, cold and warm.
//
// Problems are recorded from running scenes and given to everybody as a dense G. Every answer is judged by the same
// residual, relative as in docs/theory. Pinocchio's solvers judge themselves by residuals of their own and may stop too
// early: each is asked for 1e-6 first and, while the true residual is above 1e-6, for a tenth of that, down to 1e-12;
// the time is that of the call that was enough. Least CPU time of several blocks of calls.
#include <cstdio>
#include <functional>

#include "pinocchio_peer.hpp"
#include "problems.hpp"
#include "timing.hpp"

using namespace tribo;
using namespace tribo::experiments;
using tribo::bench::PinocchioPeer;

namespace {

struct Set {
  std::string name;
  std::vector<Recorded> problems;  ///< contacts alone, dense
  std::vector<Recorded> whole;     ///< as the stepper has them: with rows, and on bodies where that is cheaper
};

struct Tally {
  double time = 0;
  int reached = 0, tried = 0;

  void add(double seconds, bool good) {
    ++tried;
    reached += good;
    if (good) time += seconds;
  }
  std::string text() const {
    char out[64];
    if (reached == 0) return "none";
    std::snprintf(out, sizeof out, "%.2f%s", 1e6 * time / reached,
                  reached < tried ? (" (" + std::to_string(reached) + "/" + std::to_string(tried) + ")").c_str() : "");
    return out;
  }
};

Tally ours(const std::vector<Recorded>& problems, const std::string& solver, double tolerance, bool warm, int repeats) {
  Tally tally;
  const auto entry = make_contact_solver(solver, {});
  for (const Recorded& r : problems) {
    const VecX guess = warm ? r.guess : VecX::Zero(r.problem.size());
    VecX f = guess;
    const double time = bench::least_time(
        [&] {
          f = guess;
          entry->solve(r.problem, {0, tolerance}, f);
        },
        repeats);
    tally.add(time, judge(r.problem, ContactModel::Ncp, f).relative() <= tolerance);
  }
  return tally;
}

Tally theirs(const Set& set, PinocchioPeer::Method method, bool warm, int repeats) {
  Tally tally;
  for (const Recorded& r : set.problems) {
    PinocchioPeer peer(r.problem);
    const VecX guess = warm ? r.guess : VecX::Zero(r.problem.size());
    double asked = 1e-6;
    auto good = [&] {
      peer.solve(method, asked, guess);
      return peer.forces().allFinite() && judge(r.problem, ContactModel::Ncp, peer.forces()).relative() <= 1e-6;
    };
    bool found = good();
    while (!found && asked > 2e-12) {
      asked *= 0.1;
      found = good();
    }
    tally.add(found ? bench::least_time([&] { peer.solve(method, asked, guess); }, repeats) : 0, found);
  }
  return tally;
}

// Contacts alone, as a dense problem: rows (joint limits, dry friction) keep the forces that they have in the solution.
Recorded contacts_alone(const Recorded& r) {
  const ContactProblem whole = as_dense(r.problem);
  const int n = 3 * whole.nc(), m = whole.nr();
  VecX f = r.guess;
  make_contact_solver("newton", {})->solve(whole, {0, 1e-10}, f);
  Recorded out;
  out.problem.resize(whole.nc(), 0, true);
  out.problem.G() = whole.G().topLeftCorner(n, n);
  out.problem.g() = whole.g().head(n) + whole.G().topRightCorner(n, m) * f.tail(m);
  out.problem.R() = whole.R().head(n);
  out.problem.mu() = whole.mu();
  out.problem.weight = whole.weight;
  out.guess = r.guess.head(n);
  return out;
}

Set prepare(const std::string& name, const std::vector<Recorded>& recorded) {
  Set set{name, {}, {}};
  for (const Recorded& r : recorded) {
    if (r.problem.nc() == 0) continue;
    set.problems.push_back(contacts_alone(r));
    set.whole.push_back(r);
  }
  return set;
}

void print(const Set& set, int repeats) {
  int least = 1 << 30, most = 0;
  for (const Recorded& r : set.problems) {
    least = std::min(least, r.problem.nc());
    most = std::max(most, r.problem.nc());
  }
  std::printf("\n%s: %zu problems, %d to %d contacts\n", set.name.c_str(), set.problems.size(), least, most);
  std::printf("%-28s %18s %18s\n", "", "cold [us]", "warm [us]");
  auto line = [](const char* name, const Tally& cold, const Tally& warm) {
    std::printf("%-28s %18s %18s\n", name, cold.text().c_str(), warm.text().c_str());
    std::fflush(stdout);
  };
  auto tribo = [&](const char* name, const std::vector<Recorded>& problems, const std::string& solver, double tol) {
    line(name, ours(problems, solver, tol, false, repeats), ours(problems, solver, tol, true, repeats));
  };
  tribo("Tribo newton, to 1e-8", set.problems, "newton", 1e-8);
  tribo("  the same, as in the step", set.whole, "newton", 1e-8);
  tribo("Tribo newton, to 1e-6", set.problems, "newton", 1e-6);
  tribo("Tribo pgs, to 1e-6", set.problems, "pgs", 1e-6);
  tribo("Tribo admm, to 1e-6", set.problems, "admm", 1e-6);
  using enum PinocchioPeer::Method;
  line("Pinocchio PGS", theirs(set, Pgs, false, repeats), theirs(set, Pgs, true, repeats));
  line("Pinocchio ADMM", theirs(set, Admm, false, repeats), theirs(set, Admm, true, repeats));
  line("Pinocchio ADMM, spectral", theirs(set, AdmmSpectral, false, repeats), theirs(set, AdmmSpectral, true, repeats));
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = 20;
  ExperimentOptions options;
  options.scenes = TRIBO_SCENES_DIR;
  const std::vector<std::pair<std::string, std::function<Scene()>>> scenes = {
      {"solo", [&] { return solo_pushed(options); }},
      {"talos", [&] { return talos_pushed(options); }},
      {"allegro", [&] { return allegro_drop(options); }},
      {"stack-1e2", [&] { return stack_of_two(options, 1e2); }},
      {"stack-1e3", [&] { return stack_of_two(options, 1e3); }},
      {"stack-1e4", [&] { return stack_of_two(options, 1e4); }},
      {"tower-equal", [] { return pushed_tower(std::vector<double>(8, 1.0)); }},
      {"tower-mixed", [] {
         return pushed_tower({1, 5, 0.2, 3, 10, 0.5, 2, 20});
       }}};
  for (const auto& [name, make] : scenes) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) wanted |= name == argv[i];
    if (!wanted) continue;
    Scene scene = make();
    if (name.starts_with("stack") || name.starts_with("tower")) scene.duration = 0.1;
    print(prepare(name, record(scene, 10)), repeats);
  }
}
