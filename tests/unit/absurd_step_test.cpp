// Steps that are refused rather than taken.
#include <doctest/doctest.h>

#include "stepping/workspace.hpp"
#include "tribo/scene.hpp"
#include "tribo/step.hpp"

using namespace tribo;

namespace {

/// Gives what it is told to.
class Told final : public Scheme {
 public:
  VecX v, v_mean;  // the mean is v where there is none
  StepStatus status = StepStatus::Ok;
  void solve(const Start&, Outcome& out) override {
    out.v_end = v;
    out.v_mean = v_mean.size() > 0 ? v_mean : v;
    out.status = status;
    out.contacts.clear();
  }
  void charge(const Start&, Outcome&) override {}
};

struct Trial {
  Scene scene = parse_scene("[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n", "box");
  Told* told = new Told;
  Stepper stepper{*scene.model, std::unique_ptr<Scheme>(told), {}};
  Workspace work{*scene.model};
  State state = scene.start;

  StepStatus take(double speed, StepStatus status) {
    told->v = VecX::Constant(6, speed);
    told->status = status;
    work.actuation.resize(6);
    return stepper.advance(state, work, 1e-3).status;
  }
};

}  // namespace

TEST_CASE("a step that makes the motion a thousand times faster is taken where it is solved, and not where it is not") {
  Trial trial;
  CHECK(trial.take(2000, StepStatus::Unconverged) == StepStatus::Stopped);
  CHECK(trial.state.q == trial.scene.start.q);
  CHECK(trial.state.v.isZero(0));
  CHECK(trial.state.t == 0);
  CHECK(trial.take(900, StepStatus::Unconverged) == StepStatus::Unconverged);
  CHECK(trial.state.t == 1e-3);
  CHECK(trial.take(1e6, StepStatus::Ok) == StepStatus::Ok);
  CHECK(trial.state.step == 2);
}

TEST_CASE("nothing is faster than light") {
  Trial trial;
  for (double speed : {3.1e8, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK(trial.take(speed, StepStatus::Ok) == StepStatus::NotFinite);
  CHECK(trial.state.v.isZero(0));
  CHECK(trial.take(2.9e8, StepStatus::Ok) == StepStatus::Ok);
}

// A solver that is asked for NaN stops, and a limit of torque turns it into another number.
TEST_CASE("a step that a controller asks no number of is not taken, and its torque says so") {
  Trial trial;
  trial.told->v = VecX::Zero(6);
  for (int which = 0; which < 6; ++which) {
    Actuation& a = trial.work.actuation;
    a.resize(6);
    VecX* asked[] = {&a.tau, &a.kp, &a.kd, &a.error, &a.v_ref, &a.external};
    (*asked[which])[4] = which % 2 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    CHECK(trial.stepper.advance(trial.state, trial.work, 1e-3).status == StepStatus::NotFinite);
    CHECK_FALSE(std::isfinite(trial.stepper.outcome().torque[4]));
    CHECK(trial.state.step == 0);
  }
}

// The largest of numbers, as Eigen finds it, may leave out one that is none.
TEST_CASE("a step to positions that are finite and to one velocity that is not is not taken") {
  Trial trial;
  trial.work.actuation.resize(6);
  trial.told->v_mean = VecX::Zero(6);
  for (int k = 0; k < 6; ++k) {
    trial.told->v = VecX::Constant(6, 1);
    trial.told->v[k] = std::numeric_limits<double>::quiet_NaN();
    CHECK(trial.stepper.advance(trial.state, trial.work, 1e-3).status == StepStatus::NotFinite);
    CHECK(trial.state.v.isZero(0));
  }
}
