// derivative_survey STATES [--stepper NAME] [--seconds S] [--seed N] [ROBOT …]: linearises steps from random states of all
// robots, with random torques, gains and velocity targets. Each must be finite, or say that it is not: exit code 1 for a NaN
// or an exception. A step that has no analytic derivative is refused and counted; its differences, which take as long as some
// thousand linearisations, are taken of quick steps, until they have taken S seconds (default 5) for a robot.
#include <cstdio>
#include <ctime>
#include <map>
#include <random>

#include "derivatives/exponential_derivative.hpp"
#include "derivatives/implicit_derivative.hpp"
#include "derivatives/rigid_derivative.hpp"
#include "scene/find_scene.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/robot.hpp"

using namespace tribo;

namespace {

constexpr double dt = 1e-3;     // [s]
constexpr double quick = 2e-3;  // CPU time of a step whose differences are taken [s]

struct Count {
  long done = 0, analytic = 0, weak = 0, shared = 0, infinite = 0, differences = 0, wrong = 0;
  double difference_time = 0;           // [s]
  std::map<std::string, long> reasons;  // why refused
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Random numbers, one by one.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double normal() { return std::normal_distribution<double>()(engine_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }

 private:
  std::mt19937 engine_;
};

/// Joints anywhere within (and a little beyond) their limits, the base turned at random at heights from under the ground to the
/// air, velocities up to 10 rad/s and 3 m/s.
void draw_state(const Model& model, Draw& draw, State& state) {
  for (const Body& body : model.bodies) {
    const int nq = nq_of(body.joint), nv = nv_of(body.joint);
    if (nq > nv) {  // a quaternion, or (cos, sin)
      const int size = std::min(nq, 4), first = body.iq + nq - size;
      for (int k = 0; k < size; ++k) state.q[first + k] = draw.normal();
      state.q.segment(first, size).normalize();
      if (nv == 6)
        for (int k = 0; k < 3; ++k) state.q[body.iq + k] = k < 2 ? draw.uniform(-1, 1) : draw.uniform(-0.2, 1.2);
    } else {
      for (int k = 0; k < nv; ++k) {
        const double low = std::max(model.joints.lower[body.iv + k], -3.0);
        const double high = std::min(model.joints.upper[body.iv + k], 3.0);
        state.q[body.iq + k] = low < high ? draw.uniform(low - 0.02, high + 0.02) : low;
      }
    }
    const double fast[] = {0, 1, 10}, most = fast[draw.below(3)];
    for (int k = 0; k < nv; ++k) state.v[body.iv + k] = (nv == 6 && k < 3 ? 0.3 : 1) * draw.uniform(-most, most);
  }
  state.memory.clear();
}

/// Torques; in a third of the states gains, in another third velocity targets; half of them limited.
void draw_actuation(const Model& model, Draw& draw, Actuation& a) {
  a.resize(model.nv);
  a.dt = dt;
  const int kind = draw.below(3);
  const bool limited = draw.below(2) == 1;
  for (int k = 0; k < model.nv; ++k) {
    if (!model.actuated(k)) continue;
    a.tau[k] = draw.uniform(-5, 5);
    if (kind == 1) {
      a.kp[k] = draw.uniform(0, 100);
      a.kd[k] = draw.uniform(0, 2);
      a.error[k] = draw.uniform(-1, 1);
    }
    if (kind == 2) a.target[k] = draw.uniform(-5, 5);
    if (limited) a.upper[k] = -(a.lower[k] = draw.uniform(-30, -1));
  }
}

/// The analytic derivative of one stepper.
struct Analytic {
  Analytic(const Model& model, const std::string& stepper, const StepperOptions& options) {
    if (stepper == "rigid") rigid = std::make_unique<RigidDerivative>(model, options);
    if (stepper == "exponential") compliant = std::make_unique<ExponentialDerivative>(model, precise(options));
    if (stepper == "implicit-euler") compliant = std::make_unique<ImplicitDerivative>(model, precise(options));
    if (!rigid && !compliant) throw InvalidInput("stepper '" + stepper + "' has no analytic derivative");
  }
  const char* compute(const StepInput& step, Linearization& out) {
    return rigid ? rigid->compute(step, out) : compliant->compute(step, out);
  }
  std::unique_ptr<RigidDerivative> rigid;
  std::unique_ptr<CompliantDerivative> compliant;
};

bool numbers(const Linearization& lin) { return lin.A.allFinite() && lin.B.allFinite(); }

struct Request {
  long states = 1000;
  double seconds = 5;  // of differences
  unsigned seed = 1;
  std::string stepper = "rigid";
  std::vector<std::string> robots;
};

Count survey(const std::string& robot, const Request& request) {
  Scene scene = find_scene({robot, "none", {}});
  if (scene.stepper != request.stepper) scene.set_stepper(request.stepper);
  scene.stepper_options.audit = AuditLevel::Off;
  const Model& model = *scene.model;
  Analytic analytic(model, request.stepper, scene.stepper_options);
  Linearizer linearizer(model, request.stepper, scene.stepper_options);
  const std::vector<int> inputs = list_inputs(model);
  Draw draw(request.seed);
  State state = scene.start;
  Actuation actuation;
  Linearization lin;
  Count count;
  for (; count.done < request.states; ++count.done) {
    draw_state(model, draw, state);
    draw_actuation(model, draw, actuation);
    const StepInput step{state, actuation, {}, dt};
    const double began = cpu_seconds();
    try {
      reset(model, inputs, lin);
      if (const char* why = analytic.compute(step, lin)) {
        ++count.reasons[why];
        const double refused = cpu_seconds();
        if (refused - began > quick || count.difference_time > request.seconds) continue;
        linearizer.difference(step, lin);
        ++count.differences;
        count.difference_time += cpu_seconds() - refused;
      } else {
        ++count.analytic;
        count.weak += lin.weak > 0;
        count.shared += !lin.unique;
      }
      count.infinite += !lin.finite;
      if (numbers(lin)) continue;
      std::printf("    %s: NaN at state %ld\n", robot.c_str(), count.done);
    } catch (const std::exception& error) {
      std::printf("    %s: %s at state %ld\n", robot.c_str(), error.what(), count.done);
    }
    ++count.wrong;
  }
  return count;
}

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (++i == argc) throw InvalidInput(word + " wants a value");
      return std::string(argv[i]);
    };
    if (word == "--stepper")
      request.stepper = value();
    else if (word == "--seconds")
      request.seconds = std::stod(value());
    else if (word == "--seed")
      request.seed = static_cast<unsigned>(std::stoul(value()));
    else if (i == 1)
      request.states = std::stol(word);
    else
      request.robots.push_back(word);
  }
  if (request.robots.empty())
    for (const RobotEntry& robot : robots()) request.robots.push_back(robot.name);
  return request;
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse(argc, argv);
  std::printf("%-26s %8s %9s %8s %8s %8s %8s %12s %6s %8s\n", "robot", "states", "analytic", "refused", "weak",
              "shared", "infinite", "differences", "wrong", "CPU s");
  long all = 0, wrong = 0;
  std::map<std::string, long> reasons;
  for (const std::string& robot : request.robots) {
    const double began = cpu_seconds();
    const Count c = survey(robot, request);
    std::printf("%-26s %8ld %9ld %8ld %8ld %8ld %8ld %12ld %6ld %8.1f\n", robot.c_str(), c.done, c.analytic,
                c.done - c.analytic, c.weak, c.shared, c.infinite, c.differences, c.wrong, cpu_seconds() - began);
    std::fflush(stdout);
    all += c.done;
    wrong += c.wrong;
    for (const auto& [why, times] : c.reasons) reasons[why] += times;
  }
  std::printf("%ld states, %ld wrong\n", all, wrong);
  for (const auto& [why, times] : reasons) std::printf("    refused %ld times: %s\n", times, why.c_str());
  return wrong > 0 ? 1 : 0;
}
