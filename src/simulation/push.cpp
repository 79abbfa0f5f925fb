#include "tribo/push.hpp"

#include <cmath>

#include "base/names.hpp"

namespace tribo {

Push make_push(const Model& model, const PushRequest& request) {
  const std::string& name = request.where;
  const Place place = model.place(name);
  if (place.body == -1) throw InvalidInput("'" + name + "' is fixed to the world: a push does nothing");
  if (place.body < -1)
    throw InvalidInput("'" + name + "' is a kinematic body, whose motion is given: a push does nothing");
  if (!request.force && !request.torque)
    throw InvalidInput("a push needs 'force' [N] or 'torque' [N m], three numbers");
  Push push;
  push.body = place.body;
  push.point = request.point ? place.X_BP * *request.point
               : place.frame ? place.X_BP.p
                             : model.bodies[at(place.body)].inertia.com;
  push.force = request.force.value_or(Vec3::Zero());
  push.force_end = request.force_end.value_or(push.force);
  push.torque = request.torque.value_or(Vec3::Zero());
  push.torque_end = request.torque_end.value_or(push.torque);
  push.start = request.start;
  push.duration = request.duration;
  for (const auto& [x, what] : {std::pair{&push.point, "point"},
                                {&push.force, "force"},
                                {&push.force_end, "force_end"},
                                {&push.torque, "torque"},
                                {&push.torque_end, "torque_end"}})
    if (!x->allFinite()) throw InvalidInput(std::string("the ") + what + " of a push is not finite");
  if (!std::isfinite(push.start)) throw InvalidInput("a push starts at " + shown(push.start) + " s, must be finite");
  if (!(push.duration > 0) || !std::isfinite(push.duration))
    throw InvalidInput("a push lasts " + shown(push.duration) + " s, must be finite and > 0");
  return push;
}

}  // namespace tribo
