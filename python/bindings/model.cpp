// Model and what it is made of, read only.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "kinematic_commands.hpp"
#include "readers/mesh_file.hpp"
#include "readers/mesh_up.hpp"
#include "readers/robots.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/model.hpp"
#include "tribo/robot_file.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

using Poses = nb::ndarray<nb::numpy, double, nb::ndim<3>, nb::c_contig>;

/// n poses (n x 4 x 4); pose(i) gives the i-th.
template <class Pose>
Poses stacked(std::size_t n, Pose&& pose) {
  auto* data = new double[16 * n];
  for (std::size_t i = 0; i < n; ++i) write_homogeneous(pose(i), data + 16 * i);
  return {data, {n, 4, 4}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<double*>(p); })};
}

Poses poses(const Model& model, const VectorIn& q) {
  Dynamics dynamics(model);
  dynamics.compute(vector(q, model.nq, "q"), VecX::Zero(model.nv));
  return stacked(model.bodies.size(), [&](std::size_t b) { return dynamics.X_WB(static_cast<int>(b)); });
}

Poses kinematic_poses(const Model& model, double t, const KinematicCommands& commands) {
  check_commands(model, commands.list);
  return stacked(model.kinematic.size(), [&](std::size_t k) {
    return kinematic_pose(model, static_cast<int>(k), {t, commands.list});
  });
}

/// The velocity that brings q0 to q1 in one second (nv).
View difference(const Model& model, const VectorIn& from, const VectorIn& to) {
  const VecX q0 = vector(from, model.nq, "q0"), q1 = vector(to, model.nq, "q1");
  VecX v = VecX::Zero(model.nv);
  const auto turn = [&](int iq) {
    const Quat a(q0.data() + iq), b(q1.data() + iq);
    const Eigen::AngleAxisd r(a.conjugate() * b);
    return Vec3(std::remainder(r.angle(), 2 * M_PI) * r.axis());
  };
  for (const Body& b : model.bodies) {
    if (b.joint == JointKind::Free) {
      v.segment<3>(b.iv) = Quat(q0.data() + b.iq + 3).conjugate() * (q1 - q0).segment<3>(b.iq);
      v.segment<3>(b.iv + 3) = turn(b.iq + 3);
    } else if (b.joint == JointKind::Spherical) {
      v.segment<3>(b.iv) = turn(b.iq);
    } else if (b.joint == JointKind::Continuous) {
      const double c = q0[b.iq], s = q0[b.iq + 1], d = q1[b.iq], e = q1[b.iq + 1];
      v[b.iv] = std::atan2(e * c - d * s, d * c + e * s);
    } else {
      v[b.iv] = q1[b.iq] - q0[b.iq];
    }
  }
  return copied(v);
}

template <class Items>
std::vector<std::string> names(const Items& items) {
  std::vector<std::string> list;
  list.reserve(items.size());
  for (const auto& item : items) list.push_back(item.name);
  return list;
}

void bind_enums(nb::module_& m) {
  nb::enum_<JointKind>(m, "JointKind", "How a body moves against its parent.")
      .value("Free", JointKind::Free, "q (p, quaternion xyzw), v (linear, angular) in body axes")
      .value("Spherical", JointKind::Spherical, "q quaternion xyzw, v angular in body axes")
      .value("Revolute", JointKind::Revolute, "q angle [rad]")
      .value("Continuous", JointKind::Continuous, "q (cos, sin)")
      .value("Prismatic", JointKind::Prismatic, "q displacement [m]");
  nb::enum_<ShapeKind>(m, "ShapeKind", "What a geometry is.")
      .value("HalfSpace", ShapeKind::HalfSpace, "z <= 0 of its frame is solid")
      .value("Point", ShapeKind::Point, "a point without size")
      .value("Sphere", ShapeKind::Sphere, "size[0] is the radius [m]")
      .value("Box", ShapeKind::Box, "size is the half extents [m]")
      .value("Capsule", ShapeKind::Capsule, "size[0] radius, size[2] half length along z [m]")
      .value("Convex", ShapeKind::Convex, "the hull of its vertices")
      .value("Cylinder", ShapeKind::Cylinder, "size[0] radius, size[2] half length along z [m]")
      .value("Ellipsoid", ShapeKind::Ellipsoid, "size is the half axes [m]")
      .value("HeightField", ShapeKind::HeightField, "terrain, solid below its surface")
      .value("Mesh", ShapeKind::Mesh, "terrain of triangles, solid behind them");
}

void bind_parts(nb::module_& m) {
  nb::class_<Body>(m, "Body", "A body and the joint that moves it.")
      .def_ro("name", &Body::name)
      .def_ro("parent", &Body::parent, "index of the parent body; -1: the world")
      .def_ro("joint", &Body::joint)
      .def_ro("iq", &Body::iq, "first coordinate in q")
      .def_ro("iv", &Body::iv, "first coordinate in v")
      .def_prop_ro("nq", [](const Body& b) { return nq_of(b.joint); })
      .def_prop_ro("nv", [](const Body& b) { return nv_of(b.joint); })
      .def_prop_ro(
          "axis", [](const Body& b) { return copied(b.axis); }, "of the joint, in its frame", nb::rv_policy::automatic)
      .def_prop_ro(
          "placement", [](const Body& b) { return homogeneous(b.X_PJ); }, "joint in parent (4 x 4) [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "mass", [](const Body& b) { return b.inertia.mass; }, "[kg]")
      .def_prop_ro(
          "com", [](const Body& b) { return copied(b.inertia.com); }, "centre of mass in the body [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "inertia", [](const Body& b) { return copied(b.inertia.about_com); },
          "about the centre of mass, body axes [kg m^2]", nb::rv_policy::automatic)
      .def("__repr__", [](const Body& b) { return "Body('" + b.name + "')"; });
  nb::class_<Geometry>(m, "Geometry", "A shape that collides.")
      .def_ro("name", &Geometry::name)
      .def_ro("body", &Geometry::body, "index of its body; -1: fixed to the world")
      .def_ro("kind", &Geometry::kind)
      .def_ro("material", &Geometry::material, "index in Model.materials")
      .def_prop_ro(
          "placement", [](const Geometry& g) { return homogeneous(g.X_BG); }, "in the body (4 x 4) [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "size", [](const Geometry& g) { return copied(g.size); }, "see ShapeKind [m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "vertices",
          [](const Geometry& g) {
            std::vector<double> xyz;
            static const std::vector<Vec3> none;
            const std::vector<Vec3>& points = g.hull ? g.hull->vertices : g.mesh ? g.mesh->vertices : none;
            for (const Vec3& p : points) xyz.insert(xyz.end(), p.data(), p.data() + 3);
            return copied_rows(xyz.data(), xyz.size() / 3, 3);
          },
          "of a convex shape or a mesh (n x 3) [m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "heights",
          [](const Geometry& g) {
            const HeightField* f = g.terrain.get();
            return f ? copied_rows(f->heights.data(), static_cast<std::size_t>(f->ny), static_cast<std::size_t>(f->nx))
                     : copied_rows(nullptr, 0, 0);
          },
          "of a height field (ny x nx) [m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "spacing",
          [](const Geometry& g) {
            return g.terrain ? std::pair(g.terrain->spacing_x, g.terrain->spacing_y) : std::pair(0.0, 0.0);
          },
          "of a height field, along x and y [m]")
      .def_prop_ro(
          "faces",
          [](const Geometry& g) {
            std::vector<std::vector<int>> faces;
            if (g.hull) faces = g.hull->faces;
            if (g.mesh)
              for (const auto& t : g.mesh->triangles) faces.push_back({t[0], t[1], t[2]});
            return faces;
          },
          "of a convex shape, vertex indices of each planar face, or of a mesh, of each triangle; counter-clockwise "
          "from "
          "outside")
      .def("__repr__", [](const Geometry& g) { return "Geometry('" + g.name + "')"; });
  nb::class_<Frame>(m, "Frame", "A named place on a body.")
      .def_ro("name", &Frame::name)
      .def_ro("body", &Frame::body)
      .def_prop_ro(
          "placement", [](const Frame& f) { return homogeneous(f.X_BF); }, "in the body (4 x 4) [m]",
          nb::rv_policy::automatic);
  nb::class_<Member>(m, "Member", "A robot or an object, as the scene names it.")
      .def_ro("name", &Member::name)
      .def_ro("robot", &Member::robot)
      .def_ro("source", &Member::source, "file it came from, or the shape of an object")
      .def_ro("first_body", &Member::first_body)
      .def_ro("bodies", &Member::bodies, "number of bodies")
      .def_ro("iq", &Member::iq)
      .def_ro("nq", &Member::nq)
      .def_ro("iv", &Member::iv)
      .def_ro("nv", &Member::nv)
      .def_ro("feet", &Member::feet, "geometries that are its feet")
      .def_prop_ro(
          "actuators", [](const Member& member) { return member.actuators.size(); },
          "number of actuators that its file describes")
      .def(
          "controls",
          [](const Member& member, const std::string& pose) {
            const auto found = member.controls.find(pose);
            return copied(found == member.controls.end() ? VecX() : found->second);
          },
          "pose"_a, "Controls of its actuators that belong to a keyframe; empty where the file gives none.")
      .def(
          "velocities",
          [](const Member& member, const std::string& pose) {
            const VecX still = VecX::Zero(member.nv);
            if (!member.file) return copied(still);
            const auto found = member.file->velocities.find(pose);
            return copied(found == member.file->velocities.end() ? still : found->second);
          },
          "pose"_a, "Velocities that belong to a keyframe (nv).")
      .def_prop_ro(
          "poses",
          [](const Member& member) {
            std::vector<std::string> list;
            for (const auto& [name, q] : member.poses) list.push_back(name);
            return list;
          },
          "named configurations");
  nb::class_<SurfacePair>(m, "Surface", "How two surfaces meet; SI units.")
      .def_ro("mu_static", &SurfacePair::mu_static, "friction while sticking [-]")
      .def_ro("mu_dynamic", &SurfacePair::mu_dynamic, "friction while slipping [-]")
      .def_ro("restitution", &SurfacePair::restitution, "[-]")
      .def_ro("compliance", &SurfacePair::compliance, "[m/N]")
      .def_ro("relaxation_time", &SurfacePair::relaxation_time, "of a compliant surface [s]")
      .def_ro("stiffness", &SurfacePair::stiffness, "[N/m]")
      .def_ro("damping", &SurfacePair::damping, "[N s/m]");
}

void bind_joint_arrays(nb::class_<Model>& c) {
  struct Field {
    const char* name;
    VecX JointProperties::*field;
    const char* doc;
  };
  static const Field fields[] = {
      {"damping", &JointProperties::damping, "viscous, each velocity coordinate (nv) [N m s/rad] or [N s/m]"},
      {"armature", &JointProperties::armature, "reflected rotor inertia (nv) [kg m^2] or [kg]"},
      {"joint_friction", &JointProperties::friction, "dry friction (nv) [N m] or [N]"},
      {"effort_limit", &JointProperties::effort_limit, "largest actuator torque (nv) [N m] or [N]; 0: no motor"},
      {"velocity_limit", &JointProperties::velocity_limit, "(nv) [rad/s] or [m/s]"},
      {"lower", &JointProperties::lower, "joint range (nv) [rad] or [m]"},
      {"upper", &JointProperties::upper, "joint range (nv) [rad] or [m]"}};
  for (const Field& f : fields)
    c.def_prop_ro(
        f.name, [field = f.field](nb::handle self) { return view(nb::cast<const Model&>(self).joints.*field, self); },
        f.doc, nb::rv_policy::automatic);
}

}  // namespace

void bind_model(nb::module_& m) {
  bind_enums(m);
  bind_parts(m);
  // NOLINTNEXTLINE(bugprone-unused-raii): it is made for what its constructor does
  nb::class_<KinematicCommands>(m, "_KinematicCommands");
  auto c = nb::class_<Model>(m, "Model", "The world as it does not change. Shared by simulations and threads.");
  c.def_ro("nq", &Model::nq, "coordinates")
      .def_ro("nv", &Model::nv, "velocities")
      .def_ro("bodies", &Model::bodies)
      .def_ro("geometries", &Model::geometries)
      .def_ro("frames", &Model::frames)
      .def_ro("members", &Model::members)
      .def_prop_ro(
          "equalities", [](const Model& x) { return names(x.equalities); }, "names of the constraints that hold")
      .def_prop_ro(
          "kinematic", [](const Model& x) { return names(x.kinematic); }, "names of the kinematic bodies")
      .def_prop_ro(
          "materials", [](const Model& x) { return names(x.materials); }, "names of the materials")
      .def_prop_ro("mass", &Model::mass, "of all that moves [kg]")
      .def_prop_ro(
          "gravity", [](const Model& x) { return copied(x.gravity); }, "[m/s^2]", nb::rv_policy::automatic)
      .def_prop_ro(
          "hash", [](const Model& x) { return hex(x.hash()); }, "names the model; a State carries it")
      .def_prop_ro(
          "neutral", [](const Model& x) { return copied(x.neutral()); }, "q with every joint at zero (nq)",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "actuated",
          [](const Model& x) {
            std::vector<int> list;
            for (int k = 0; k < x.nv; ++k)
              if (x.actuated(k)) list.push_back(k);
            return list;
          },
          "velocity coordinates that have a motor")
      .def(
          "pose",
          [](const Model& x, const std::string& member, const std::string& name) {
            const Member& who = x.members[static_cast<std::size_t>(x.member(member))];
            const auto found = who.poses.find(name);
            if (found == who.poses.end()) {
              std::string known;
              for (const auto& [pose, q] : who.poses) known += (known.empty() ? "" : ", ") + pose;
              throw InvalidInput("unknown pose '" + name + "' of '" + member + "'; known: " + known);
            }
            return copied(found->second);
          },
          "member"_a, "name"_a, "A named configuration of a member (nq of the member).")
      .def("poses", poses, "q"_a, "Poses of every body in the world at q (bodies x 4 x 4) [m].")
      .def(
          "kinematic_poses", [](const Model& x, double t) { return kinematic_poses(x, t, {}); }, "t"_a,
          "Poses of every kinematic body in the world at a time [s] (kinematic bodies x 4 x 4) [m]; body -2 - k of "
          "geometries. Those that were commanded are where Simulation.pose says.")
      .def("_kinematic_poses", kinematic_poses, "t"_a, "commands"_a)
      .def("difference", difference, "q0"_a, "q1"_a, "The velocity that brings q0 to q1 in one second (nv).")
      .def("body", &Model::body, "name"_a, "Index of a body by name.")
      .def("frame", &Model::frame, "name"_a, "Index of a frame by name.")
      .def("member", &Model::member, "name"_a, "Index of a robot or object by name.")
      .def(
          "surface",
          [](const Model& x, int a, int b) -> const SurfacePair& {
            const int n = static_cast<int>(x.materials.size());
            for (int material : {a, b})
              if (material < 0 || material >= n)
                throw nb::index_error(
                    ("material " + std::to_string(material) + ", must be from 0 to " + std::to_string(n - 1)).c_str());
            return x.surface(a, b);
          },
          "material_a"_a, "material_b"_a, nb::rv_policy::reference_internal,
          "What two materials (indices) make together.")
      .def("__repr__", [](const Model& x) {
        return "Model(nq=" + std::to_string(x.nq) + ", nv=" + std::to_string(x.nv) +
               ", bodies=" + std::to_string(x.bodies.size()) + ", mass=" + std::to_string(x.mass()) + " kg)";
      });
  bind_joint_arrays(c);
  m.def(
      "_find_mesh",
      [](const std::string& name, const std::string& file) {
        return find_mesh(name, mesh_search(file, {}, find_robot(file).packages));
      },
      "name"_a, "file"_a,
      "The file of a mesh that a robot file names; InvalidInput where it is missing or must not be opened.");
  m.def(
      "_visuals_stand_on_y",
      [](const std::string& file) {
        return visuals_stand_on_y(file, mesh_search(file, {}, find_robot(file).packages));
      },
      "file"_a, "Whether the visual meshes of a URDF file that say that y is up have to be turned.");
  m.def("_says_y_up", says_y_up, "path"_a, "Whether a mesh file says that y is up in it.");
  m.def("check_mesh", check_mesh, "path"_a, "InvalidInput where a mesh file must not be handed to any library.");
}

}  // namespace tribo::python
