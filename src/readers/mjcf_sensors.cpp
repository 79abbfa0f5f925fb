// Sensors of a compiled MJCF file.
#include <optional>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

using Kind = FileSensorKind;

std::optional<Kind> sensor_kind(int type) {
  switch (type) {
    case mjSENS_JOINTPOS:
      return Kind::JointPosition;
    case mjSENS_JOINTVEL:
      return Kind::JointVelocity;
    case mjSENS_JOINTACTFRC:
      return Kind::JointTorque;
    case mjSENS_BALLQUAT:
      return Kind::BallOrientation;
    case mjSENS_BALLANGVEL:
      return Kind::BallVelocity;
    case mjSENS_TENDONPOS:
      return Kind::TendonPosition;
    case mjSENS_TENDONVEL:
      return Kind::TendonVelocity;
    case mjSENS_ACTUATORPOS:
      return Kind::ActuatorPosition;
    case mjSENS_ACTUATORVEL:
      return Kind::ActuatorVelocity;
    case mjSENS_ACTUATORFRC:
      return Kind::ActuatorForce;
    case mjSENS_VELOCIMETER:
      return Kind::Velocimeter;
    case mjSENS_GYRO:
      return Kind::Gyroscope;
    case mjSENS_ACCELEROMETER:
      return Kind::Accelerometer;
    case mjSENS_MAGNETOMETER:
      return Kind::Magnetometer;
    case mjSENS_FORCE:
      return Kind::Force;
    case mjSENS_TORQUE:
      return Kind::Torque;
    case mjSENS_TOUCH:
      return Kind::Touch;
    case mjSENS_RANGEFINDER:
      return Kind::Rangefinder;
    case mjSENS_FRAMEPOS:
      return Kind::FramePosition;
    case mjSENS_FRAMEQUAT:
      return Kind::FrameOrientation;
    case mjSENS_FRAMEXAXIS:
      return Kind::FrameX;
    case mjSENS_FRAMEYAXIS:
      return Kind::FrameY;
    case mjSENS_FRAMEZAXIS:
      return Kind::FrameZ;
    case mjSENS_FRAMELINVEL:
      return Kind::FrameLinearVelocity;
    case mjSENS_FRAMEANGVEL:
      return Kind::FrameAngularVelocity;
    case mjSENS_FRAMELINACC:
      return Kind::FrameLinearAcceleration;
    case mjSENS_FRAMEANGACC:
      return Kind::FrameAngularAcceleration;
    case mjSENS_SUBTREECOM:
      return Kind::SubtreeCenter;
    case mjSENS_SUBTREELINVEL:
      return Kind::SubtreeVelocity;
    case mjSENS_SUBTREEANGMOM:
      return Kind::SubtreeMomentum;
    case mjSENS_CLOCK:
      return Kind::Clock;
    case mjSENS_TENDONACTFRC:
      return Kind::TendonForce;
    case mjSENS_JOINTLIMITPOS:
      return Kind::JointLimitPosition;
    case mjSENS_JOINTLIMITVEL:
      return Kind::JointLimitVelocity;
    case mjSENS_TENDONLIMITPOS:
      return Kind::TendonLimitPosition;
    case mjSENS_TENDONLIMITVEL:
      return Kind::TendonLimitVelocity;
    case mjSENS_E_POTENTIAL:
      return Kind::PotentialEnergy;
    case mjSENS_E_KINETIC:
      return Kind::KineticEnergy;
    case mjSENS_INSIDESITE:
      return Kind::InsideZone;
    default:
      return {};
  }
}

std::string kind_name(int type) {
  switch (type) {
    case mjSENS_JOINTLIMITFRC:
      return "jointlimitfrc";
    case mjSENS_TENDONLIMITFRC:
      return "tendonlimitfrc";
    case mjSENS_CAMPROJECTION:
      return "camprojection";
    case mjSENS_GEOMDIST:
      return "distance";
    case mjSENS_GEOMNORMAL:
      return "normal";
    case mjSENS_GEOMFROMTO:
      return "fromto";
    case mjSENS_CONTACT:
      return "contact";
    case mjSENS_TACTILE:
      return "tactile";
    case mjSENS_RANGEFINDER:
      return "rangefinder of several rays";
    case mjSENS_USER:
      return "user";
    default:
      return "of another kind";
  }
}

struct Object {
  int body;  // of MuJoCo
  Placement X_MF;
};

std::optional<Object> object(const mjModel& m, int type, int id) {
  switch (type) {
    case mjOBJ_XBODY:
      return Object{id, {}};
    case mjOBJ_BODY:
      return Object{id, placement(m.body_ipos + 3 * id, m.body_iquat + 4 * id)};
    case mjOBJ_GEOM:
      return Object{m.geom_bodyid[id], placement(m.geom_pos + 3 * id, m.geom_quat + 4 * id)};
    case mjOBJ_SITE:
      return Object{m.site_bodyid[id], placement(m.site_pos + 3 * id, m.site_quat + 4 * id)};
    case mjOBJ_CAMERA:
      if (m.cam_mode[id] != mjCAMLIGHT_FIXED) return {};
      return Object{m.cam_bodyid[id], placement(m.cam_pos + 3 * id, m.cam_quat + 4 * id)};
    default:
      return {};
  }
}

bool below(const mjModel& m, int body, int root) {
  while (body > root) body = m.body_parentid[body];
  return body == root;
}

// The bodies from `root` on, as pieces of ours, and their geometries; those alone of `root` where it is not a subtree.
void add_parts(const Loading& load, int root, bool subtree, FileSensor& sensor) {
  const mjModel& m = load.m;
  for (int b = root; b < m.nbody; ++b) {
    if (subtree ? !below(m, b, root) : b != root) continue;
    const int ours = load.body[at(b)];
    if ((ours >= 0 || sensor.kind == Kind::PotentialEnergy) && subtree)
      sensor.parts.push_back({ours, inertia_of(m, b, load.X_BM[at(b)])});
    for (int g = 0; g < m.ngeom; ++g)
      if (m.geom_bodyid[g] == b && load.geometry[at(g)] >= 0) sensor.geometries.push_back(load.geometry[at(g)]);
  }
}

// The ends of tendons that pull on the bodies from `root` on; pieces of a path are counted as add_tendons makes them.
void add_pulls(const Loading& load, int root, FileSensor& sensor) {
  const mjModel& m = load.m;
  for (int t = 0; t < m.ntendon; ++t) {
    if (load.tendon[at(t)] < 0 || m.tendon_type[t] == mjTENDON_FIXED) continue;
    int segment = -1;
    for (int w = m.tendon_adr[t] + 1; w < m.tendon_adr[t] + m.tendon_num[t]; ++w) {
      if (m.wrap_type[w] != mjWRAP_SITE || m.wrap_type[w - 1] != mjWRAP_SITE) continue;
      ++segment;
      for (const bool at_b : {false, true})
        if (below(m, m.site_bodyid[m.wrap_objid[at_b ? w : w - 1]], root))
          sensor.pulls.push_back({load.tendon[at(t)], segment, at_b});
    }
  }
}

Geometry zone(const mjModel& m, int site) {
  Geometry zone;
  const Vec3 size = vec3(m.site_size + 3 * site);
  zone.size = size;
  switch (m.site_type[site]) {
    case mjGEOM_CAPSULE:
    case mjGEOM_CYLINDER:
      zone.kind = m.site_type[site] == mjGEOM_CAPSULE ? ShapeKind::Capsule : ShapeKind::Cylinder;
      zone.size = Vec3(size[0], 0, size[1]);
      break;
    case mjGEOM_ELLIPSOID:
      zone.kind = ShapeKind::Ellipsoid;
      break;
    case mjGEOM_BOX:
      zone.kind = ShapeKind::Box;
      break;
    default:
      zone.kind = ShapeKind::Sphere;
  }
  return zone;
}

// False where the sensor looks at something that has no meaning here.
bool aim(const Loading& load, int s, FileSensor& sensor) {
  const mjModel& m = load.m;
  const int type = m.sensor_objtype[s], id = m.sensor_objid[s];
  if (sensor.kind == Kind::Clock) return true;
  if (sensor.kind == Kind::PotentialEnergy || sensor.kind == Kind::KineticEnergy) {
    add_parts(load, 0, true, sensor);
    return true;
  }
  if (type == mjOBJ_JOINT) {
    sensor.index = load.joint[at(id)];
    return true;
  }
  if (type == mjOBJ_TENDON) {
    sensor.index = load.tendon[at(id)];
    for (std::size_t a = 0; a < load.actuator.size(); ++a)
      if (m.actuator_trntype[load.actuator[a]] == mjTRN_TENDON && m.actuator_trnid[2 * load.actuator[a]] == id)
        sensor.actuators.push_back(static_cast<int>(a));
    return sensor.index >= 0;
  }
  if (type == mjOBJ_ACTUATOR) {
    for (std::size_t a = 0; a < load.actuator.size(); ++a)
      if (load.actuator[a] == id) sensor.index = static_cast<int>(a);
    return sensor.index >= 0;
  }
  const std::optional<Object> seen = object(m, type, id);
  if (!seen) return false;
  sensor.frame = {load.body[at(seen->body)], load.X_BM[at(seen->body)] * seen->X_MF};
  if (const int reference = m.sensor_refid[s]; reference >= 0) {
    const std::optional<Object> other = object(m, m.sensor_reftype[s], reference);
    if (!other) return false;
    sensor.relative = true;
    sensor.reference = {load.body[at(other->body)], load.X_BM[at(other->body)] * other->X_MF};
  }
  sensor.field = load.options.base.R * vec3(m.opt.magnetic);
  const bool subtree = sensor.kind == Kind::Force || sensor.kind == Kind::Torque ||
                       sensor.kind == Kind::SubtreeCenter || sensor.kind == Kind::SubtreeVelocity ||
                       sensor.kind == Kind::SubtreeMomentum;
  if (subtree || sensor.kind == Kind::Touch || sensor.kind == Kind::Rangefinder)
    add_parts(load, seen->body, subtree, sensor);
  if (sensor.kind == Kind::Force || sensor.kind == Kind::Torque) add_pulls(load, seen->body, sensor);
  if (sensor.kind == Kind::Touch) sensor.zone = zone(m, id);
  if (sensor.kind == Kind::InsideZone) sensor.zone = zone(m, m.sensor_refid[s]);
  return true;
}

}  // namespace

void add_sensors(Loading& load) {
  const mjModel& m = load.m;
  if (!load.enabled(mjDSBL_SENSOR)) return;
  for (int s = 0; s < m.nsensor; ++s) {
    const std::string label = load.label(mjOBJ_SENSOR, s);
    FileSensor sensor;
    sensor.name = load.name(mjOBJ_SENSOR, s);
    if (sensor.name.empty()) sensor.name = "sensor" + std::to_string(s);
    const std::optional<Kind> kind = sensor_kind(m.sensor_type[s]);
    if (kind) sensor.kind = *kind;
    const bool plain = sensor.kind != Kind::Rangefinder || (m.sensor_dim[s] == 1 && m.sensor_objtype[s] == mjOBJ_SITE);
    if (!kind || !plain || !aim(load, s, sensor)) {
      const std::string what = kind ? "what it looks at" : kind_name(m.sensor_type[s]);
      load.unsupported.add("sensor of a kind that is not read (" + (plain ? what : kind_name(mjSENS_RANGEFINDER)) + ")",
                           label);
      continue;
    }
    if (m.sensor_delay[s] != 0 || m.sensor_interval[2 * s] != 0)
      load.unsupported.add("delay and interval of a sensor: it says what is now", label);
    sensor.size = m.sensor_dim[s];
    const int data = m.sensor_datatype[s];
    if (data == mjDATATYPE_REAL || data == mjDATATYPE_POSITIVE) sensor.cutoff = m.sensor_cutoff[s];
    sensor.positive = data == mjDATATYPE_POSITIVE;
    load.extra.sensors.push_back(std::move(sensor));
  }
}

}  // namespace tribo::mjcf
