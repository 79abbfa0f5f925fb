// A controller in one file: torques that carry the robot's own weight, and damp its joints.
#include <algorithm>
#include <tribo/controller.hpp>
#include <tribo/dynamics.hpp>

namespace {

using namespace tribo;

struct WeightlessOptions {
  double share = 1;    // of the weight that is carried [-]
  double damping = 0;  // [N m s/rad]
};

class Weightless final : public Controller {
 public:
  Weightless(const Model& model, int member, const WeightlessOptions& options)
      : member_(model.members[at(member)]), options_(options) {}

  void control(const Model&, const State& state, const Dynamics& dynamics, std::span<double>, Actuation& a) override {
    for (int k = member_.iv; k < member_.iv + member_.nv; ++k)
      a.tau[k] += options_.share * dynamics.gravity_force()[k] - options_.damping * state.v[k];
  }

 private:
  Member member_;
  WeightlessOptions options_;
};

OptionTable keys() {
  FieldTable<WeightlessOptions> table;
  table.add("share", &WeightlessOptions::share, within(0, 2), "", "of the weight that is carried");
  table.add("damping", &WeightlessOptions::damping, at_least(0), "N m s/rad", "of the joints");
  return table;
}

const bool registered =
    (register_controller({"weightless", "carries the weight of the robot, and damps its joints", keys(),
                          [](const Model& model, int member, const Options& options) {
                            return std::make_unique<Weightless>(
                                model, member, options.taken<WeightlessOptions>("controller 'weightless'"));
                          }}),
     true);

}  // namespace
