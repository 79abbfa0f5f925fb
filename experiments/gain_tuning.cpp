// Gains of explicit joint control as [Shepherd2017, IV] finds them: a start by hand, then nonlinear optimisation of the
// summed squared joint error, here by pattern search on the logarithms of the gains [HookeJeeves1961]:
//   each gain in turn is multiplied by s or 1/s, and what helps is kept; where nothing does, s <- sqrt(s) (tuning.1)
// The scenes hold what it found; the experiment starts again by hand and says how far the stored gains are from its
// end.
#include <cmath>

#include "control_study.hpp"
#include "list.hpp"
#include "scenes.hpp"

namespace tribo::experiments {
namespace {

/// Gains that are moved together: kp or kd of the joints whose names end alike.
struct Group {
  std::vector<Eigen::Index> joints;
  std::string name;
};

/// The start by hand: gains, or, of an arm, the frequency of set_hand_gains.
struct Tuned {
  std::string scene;
  double kp, kd;     ///< 0: by the frequency
  double frequency;  ///< [rad/s]
  bool by_ending;    ///< joints of the same kind share their gains: "FL_HFE" and "HR_HFE"
};

std::vector<Group> groups_of(const Scene& scene, bool by_ending) {
  std::vector<Group> groups;
  for (const Body& body : scene.model->bodies) {
    if (nv_of(body.joint) != 1) continue;
    const std::size_t cut = body.name.find_last_of(by_ending ? "_" : "/");
    const std::string name = body.name.substr(cut + 1);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {{}, name});
    found->joints.push_back(body.iv);
  }
  return groups;
}

class Search {
 public:
  Search(const Scene& scene, bool by_ending)
      : scene_(scene), pd_(scene.controllers.at(0).pd.value()), groups_(groups_of(scene, by_ending)) {
    task_ = {pd_.member, pd_.reference, std::nullopt};
  }

  const std::vector<Group>& groups() const { return groups_; }
  int evaluations() const { return evaluations_; }

  /// Sum of all squared joint errors at 1 ms [rad^2]; infinite where unstable. x: logarithms, kp of each group, then
  /// kd.
  double cost(const std::vector<double>& x) {
    ++evaluations_;
    PdOptions pd = pd_;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const Eigen::Index k : groups_[g].joints) {
        pd.kp[k] = std::exp(x[g]);
        pd.kd[k] = std::exp(x[groups_.size() + g]);
      }
    Scene copy = scene_;
    copy.stepper_options.audit = AuditLevel::Off;
    copy.controllers = {pd_spec(pd)};
    const Followed run = follow_task(copy, task_);
    return run.stable ? run.sum_squares : std::numeric_limits<double>::infinity();
  }

  std::vector<double> stored() const {
    std::vector<double> x;
    for (const VecX* gain : {&pd_.kp, &pd_.kd})
      for (const Group& g : groups_) x.push_back(std::log((*gain)[g.joints.front()]));
    return x;
  }

  std::vector<double> by_hand(const Tuned& tuned) const {
    PdOptions pd = pd_;
    if (tuned.frequency > 0) set_hand_gains(scene_, tuned.frequency, pd);
    const std::size_t n = groups_.size();
    std::vector<double> x(2 * n);
    for (std::size_t g = 0; g < n; ++g) {
      const Eigen::Index k = groups_[g].joints.front();
      x[g] = std::log(tuned.frequency > 0 ? pd.kp[k] : tuned.kp);
      x[n + g] = std::log(tuned.frequency > 0 ? pd.kd[k] : tuned.kd);
    }
    return x;
  }

  /// (tuning.1)
  double descend(std::vector<double>& x, double factor, double least, int most) {
    double best = cost(x), step = std::log(factor);
    while (step > std::log(least) && evaluations_ < most) {
      bool helped = false;
      for (double& gain : x)
        for (const double sign : {1.0, -1.0}) {
          if (evaluations_ >= most) return best;
          gain += sign * step;
          const double tried = cost(x);
          if (tried < best) {
            best = tried;
            helped = true;
            break;
          }
          gain -= sign * step;
        }
      if (!helped) step *= 0.5;
    }
    return best;
  }

 private:
  Scene scene_;
  PdOptions pd_;
  std::vector<Group> groups_;
  Task task_;
  int evaluations_ = 0;
};

}  // namespace

Result gain_tuning(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const std::vector<Tuned> all = {
      {"ur10-sinusoid", 0, 0, 30, false}, {"ur10-geared", 0, 0, 30, false}, {"solo-trot-pd", 20, 0.3, 0, true}};
  Table gains{"Gains found", {"scene", "joint", "kp [N m/rad]", "kd [N m s/rad]", "stored kp", "stored kd"}, {}};
  Table costs{"Summed squared joint error at 1 ms over 5 s [rad^2]",
              {"scene", "by hand", "found", "stored in the scene", "evaluations"},
              {}};
  int done = 0;
  for (const Tuned& tuned : all) {
    const Scene scene = scene_of(options, tuned.scene);
    Search search(scene, tuned.by_ending);
    const std::size_t n = search.groups().size();
    std::vector<double> x = search.by_hand(tuned);
    const std::vector<double> kept = search.stored();
    const double by_hand = search.cost(x), stored = search.cost(kept);
    double found = stored;
    if (!options.quick) found = search.descend(x, 4, 1.02, 1500);
    if (options.quick) x = kept;
    costs.rows.push_back({tuned.scene, by_hand, found, stored, search.evaluations()});
    for (std::size_t g = 0; g < n; ++g)
      gains.rows.push_back({tuned.scene, search.groups()[g].name, std::exp(x[g]), std::exp(x[n + g]), std::exp(kept[g]),
                            std::exp(kept[n + g])});
    result.measures[tuned.scene + "_by_hand_over_stored"] = by_hand / stored;
    result.measures[tuned.scene + "_stored_over_found"] = stored / found;
    progress(++done / static_cast<double>(all.size()));
  }
  result.tables = {costs, gains};
  return result;
}

}  // namespace tribo::experiments
