#include "method.hpp"

#include <algorithm>
#include <sstream>

namespace tribo::experiments {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  if (!text.empty() && text.back() == by) parts.emplace_back();
  return parts;
}

}  // namespace

std::string Method::label() const {
  std::string text = stepper;
  if (!model.empty()) text += ":" + model;
  if (!solver.empty()) text += ":" + solver;
  return text;
}

void Method::apply(Scene& scene) const {
  scene.set_stepper(stepper);
  if (model.empty()) return;
  SolverOptions wanted;
  wanted.model = contact_model_from(model);
  scene.stepper_options.contact.model = model;
  scene.set_solver(solver.empty() ? default_contact_solver(wanted.model).name : solver);
  make_contact_solver(scene.stepper_options.contact.solver, wanted);
}

Method parse_method(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.empty() || parts.size() > 3 || std::find(parts.begin(), parts.end(), "") != parts.end())
    throw InvalidInput("method '" + text + "': must be STEPPER, STEPPER:CONTACT_MODEL or STEPPER:CONTACT_MODEL:SOLVER");
  Method method{parts[0], parts.size() > 1 ? parts[1] : "", parts.size() > 2 ? parts[2] : ""};
  Scene probe;
  try {
    method.apply(probe);
  } catch (const InvalidInput& error) {
    throw InvalidInput("method '" + text + "': " + error.what());
  }
  return method;
}

std::vector<Method> parse_methods(const std::string& text) {
  std::vector<Method> methods;
  for (const std::string& part : split(text, ',')) methods.push_back(parse_method(part));
  if (methods.empty()) throw InvalidInput("no method is given");
  return methods;
}

}  // namespace tribo::experiments
