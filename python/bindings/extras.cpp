#include "extras.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

void bind_sensors(nb::module_& m) {
  nb::class_<SensorError>(m, "SensorError", "Errors of one kind of measurement, in its unit.")
      .def(
          "__init__",
          [](SensorError* self, double noise, double bias, double walk) {
            new (self) SensorError{noise, bias, walk};
          },
          nb::kw_only(), "noise"_a = 0.0, "bias"_a = 0.0, "walk"_a = 0.0,
          "Standard deviations: of each sample, of an offset drawn once, of what the offset gains in a second.")
      .def_ro("noise", &SensorError::noise)
      .def_ro("bias", &SensorError::bias)
      .def_ro("walk", &SensorError::walk);
  nb::class_<SensorOptions>(m, "_SensorOptions")
      .def(
          "__init__",
          [](SensorOptions* self, const Model& model, const std::string& robot, const std::string& imu_frame,
             double period, double delay, std::uint64_t seed, SensorError accelerometer, SensorError gyroscope,
             SensorError position, SensorError velocity, SensorError force, double contact_threshold) {
            int member = robot.empty() ? 0 : model.member(robot);
            for (std::size_t i = 0; robot.empty() && i < model.members.size(); ++i)
              if (model.members[i].robot) {
                member = static_cast<int>(i);
                break;
              }
            new (self)
                SensorOptions{member,   imu_frame, period,           delay, seed, accelerometer, gyroscope, position,
                              velocity, force,     contact_threshold};
          },
          "model"_a, nb::kw_only(), "robot"_a = "", "imu_frame"_a = "", "period"_a = 0.0, "delay"_a = 0.0, "seed"_a = 1,
          "accelerometer"_a = SensorError(), "gyroscope"_a = SensorError(), "position"_a = SensorError(),
          "velocity"_a = SensorError(), "force"_a = SensorError(), "contact_threshold"_a = 0.1);
  nb::class_<SensorReading>(m, "SensorReading", "One sample of a robot's sensors.")
      .def_ro("t", &SensorReading::t, "when it was taken [s]")
      .def_prop_ro(
          "acceleration", [](const SensorReading& r) { return copied(r.acceleration); },
          "specific force in the frame of the inertial unit (3): at rest +g upwards [m/s^2]", nb::rv_policy::automatic)
      .def_prop_ro(
          "angular_velocity", [](const SensorReading& r) { return copied(r.angular_velocity); },
          "in the frame of the inertial unit (3) [rad/s]", nb::rv_policy::automatic)
      .def_prop_ro(
          "position", [](const SensorReading& r) { return copied(r.position); }, "of the joints [rad] or [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "velocity", [](const SensorReading& r) { return copied(r.velocity); }, "of the joints [rad/s] or [m/s]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "force", [](const SensorReading& r) { return copied(r.force); }, "normal force of each foot [N]",
          nb::rv_policy::automatic)
      .def_ro("touching", &SensorReading::touching, "of each foot");
}

}  // namespace

void bind_extras(nb::module_& m) {
  nb::class_<Finding>(m, "Finding", "One thing that went wrong, or that would.")
      .def_prop_ro("cause", [](const Finding& f) { return to_string(f.cause); })
      .def_ro("t", &Finding::t, "when it was first seen [s]")
      .def_ro("value", &Finding::value, "the measured number")
      .def_ro("limit", &Finding::limit, "what it should not exceed")
      .def_ro("unit", &Finding::unit)
      .def_ro("evidence", &Finding::evidence)
      .def_ro("advice", &Finding::advice)
      .def("__repr__", [](const Finding& f) { return "Finding(" + to_string(f.cause) + ")"; });
  nb::class_<Explanation>(m, "Explanation", "Why a run went wrong: the likely first cause first. print() shows it.")
      .def_ro("findings", &Explanation::findings)
      .def("__str__", [](const Explanation& e) { return e.text; })
      .def("__len__", [](const Explanation& e) { return e.findings.size(); })
      .def("__bool__", [](const Explanation& e) { return !e.findings.empty(); });
  bind_sensors(m);
}

}  // namespace tribo::python
