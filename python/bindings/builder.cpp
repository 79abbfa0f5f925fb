// A model made by hand, or from another library's fields.
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "base/names.hpp"
#include "readers/mesh_triangles.hpp"
#include "tribo/decomposition.hpp"
#include "tribo/scene.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;
using IndicesIn = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

int add_body(ModelBuilder& builder, const std::string& name, int parent, JointKind joint, const MatrixIn& where,
             const VectorIn& axis, double mass, const VectorIn& com, const MatrixIn& inertia) {
  Body body;
  body.name = name;
  body.parent = parent;
  body.joint = joint;
  body.X_PJ = placement(where, "placement of body '" + name + "'");
  body.axis = vec3(axis, "axis of body '" + name + "'");
  if (!(body.axis.norm() > 0)) throw InvalidInput("axis of body '" + name + "' has no length");
  body.axis.normalize();
  body.inertia = {mass, vec3(com, "com of body '" + name + "'"), mat3(inertia, "inertia of body '" + name + "'")};
  return builder.add_body(std::move(body));
}

void set_joint(ModelBuilder& builder, int body, double damping, double armature, double friction, double effort_limit,
               double lower, double upper) {
  const auto& bodies = builder.model().bodies;
  if (body < 0 || body >= static_cast<int>(bodies.size()))
    throw InvalidInput("there is no body " + std::to_string(body));
  const Body& b = bodies[static_cast<std::size_t>(body)];
  JointProperties& p = builder.joint_properties();
  for (int k = b.iv; k < b.iv + nv_of(b.joint); ++k) {
    p.damping[k] = damping;
    p.armature[k] = armature;
    p.friction[k] = friction;
    if (b.joint == JointKind::Free) continue;
    p.effort_limit[k] = effort_limit;
    p.lower[k] = lower;
    p.upper[k] = upper;
  }
}

int add_shape(ModelBuilder& builder, const std::string& name, int body, ShapeKind kind, const VectorIn& size,
              const MatrixIn& where, int material, bool foot) {
  if (kind == ShapeKind::Convex) throw InvalidInput("geometry '" + name + "': use add_hull for a convex shape");
  Geometry g;
  g.name = name;
  g.body = body;
  g.kind = kind;
  g.size = vec3(size, "size of '" + name + "'");
  g.X_BG = placement(where, "placement of '" + name + "'");
  g.material = material;
  if (foot && body < 0) throw InvalidInput("foot '" + name + "': body = " + std::to_string(body) + ", must be >= 0");
  const int index = builder.add_geometry(std::move(g));
  if (foot) builder.member(builder.model().geometries[static_cast<std::size_t>(index)].member).feet.push_back(index);
  return index;
}

int add_hull(ModelBuilder& builder, const std::string& name, int body, const MatrixIn& points, const MatrixIn& where,
             int material) {
  if (points.shape(1) != 3) throw InvalidInput("vertices of '" + name + "' must have three columns [m]");
  std::vector<Vec3> list;
  for (std::size_t i = 0; i < points.shape(0); ++i) list.emplace_back(Eigen::Map<const Vec3>(points.data() + 3 * i));
  Geometry g;
  g.name = name;
  g.body = body;
  g.kind = ShapeKind::Convex;
  g.hull = make_hull(list, "geometry '" + name + "'");
  g.X_BG = placement(where, "placement of '" + name + "'");
  g.material = material;
  return builder.add_geometry(std::move(g));
}

int add_mesh(ModelBuilder& builder, const std::string& name, const MatrixIn& points, const IndicesIn& corners,
             const MatrixIn& where, int material) {
  if (points.shape(1) != 3) throw InvalidInput("vertices of '" + name + "' must have three columns [m]");
  if (corners.shape(1) != 3)
    throw InvalidInput("triangles of '" + name + "' must have three columns, indices of vertices");
  std::vector<Vec3> list;
  for (std::size_t i = 0; i < points.shape(0); ++i) list.emplace_back(Eigen::Map<const Vec3>(points.data() + 3 * i));
  std::vector<std::array<int, 3>> triangles(corners.shape(0));
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t corner = corners.data()[3 * i + k];
      if (corner < 0 || corner >= static_cast<std::int64_t>(list.size()))
        throw InvalidInput("triangles of '" + name + "' name vertex " + std::to_string(corner) + " of " +
                           std::to_string(list.size()));
      triangles[i][k] = static_cast<int>(corner);
    }
  Geometry g;
  g.name = name;
  g.kind = ShapeKind::Mesh;
  g.mesh = make_triangle_mesh(list, triangles, "geometry '" + name + "'");
  g.X_BG = placement(where, "placement of '" + name + "'");
  g.material = material;
  return builder.add_geometry(std::move(g));
}

/// Vertices and triangles of a file, as it has them.
nb::tuple mesh_of_file(const std::string& path) {
  const RawTriangles mesh = raw_triangles(path);
  std::vector<double> xyz, corners;
  for (const Vec3& p : mesh.points) xyz.insert(xyz.end(), p.data(), p.data() + 3);
  for (const auto& t : mesh.triangles) corners.insert(corners.end(), t.begin(), t.end());
  return nb::make_tuple(copied_rows(xyz.data(), mesh.points.size(), 3),
                        copied_rows(corners.data(), mesh.triangles.size(), 3));
}

/// Convex parts are made by tribo.decomposition, once a mesh.
void decompose(const std::string& mesh, int most, const std::string& out) {
  nb::gil_scoped_acquire gil;
  try {
    nb::module_::import_("tribo.decomposition").attr("write_parts")(mesh, most, out);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_ValueError)) throw;
    throw InvalidInput(nb::cast<std::string>(nb::str(error.value())));
  }
}

}  // namespace

void bind_builder(nb::module_& m) {
  set_decomposer(decompose);
  m.def("_mesh_of_file", mesh_of_file, "path"_a,
        nb::sig("def _mesh_of_file(path: str) -> tuple[numpy.ndarray, numpy.ndarray]"),
        "Vertices (n x 3) [m] and triangles (m x 3) of a mesh file.");
  nb::class_<ModelBuilder>(m, "ModelBuilder", "Collects bodies, shapes and materials, and makes a Model.")
      .def(nb::init<>())
      .def(
          "add_material",
          [](ModelBuilder& b, const std::string& name, double mu, double restitution, double stiffness,
             double damping) {
            Material material;
            material.name = name;
            material.surface.mu_static = material.surface.mu_dynamic = mu;
            material.surface.restitution = restitution;
            material.surface.stiffness = stiffness;
            material.surface.damping = damping;
            return b.add_material(material);
          },
          "name"_a, "mu"_a = 0.7, "restitution"_a = 0.0, "stiffness"_a = 1e5, "damping"_a = 300.0,
          "A surface: friction [-], restitution [-], stiffness [N/m] and damping [N s/m] of compliant contact.")
      .def("begin_member", &ModelBuilder::begin_member, "name"_a, "robot"_a = true, "source"_a = "",
           "self_collision"_a = false, "Begins a robot or an object; the bodies that follow belong to it.")
      .def("add_body", add_body, "name"_a, "parent"_a, "joint"_a, "placement"_a, "axis"_a, "mass"_a, "com"_a,
           "inertia"_a,
           "A body: joint frame in the parent (4 x 4), axis, mass [kg], centre of mass [m], inertia about it [kg m^2].")
      .def("set_joint", set_joint, "body"_a, "damping"_a = 0.0, "armature"_a = 0.0, "friction"_a = 0.0,
           "effort_limit"_a = std::numeric_limits<double>::infinity(),
           "lower"_a = -std::numeric_limits<double>::infinity(), "upper"_a = std::numeric_limits<double>::infinity(),
           "Properties of the joint of a body; SI units.")
      .def("add_shape", add_shape, "name"_a, "body"_a, "kind"_a, "size"_a, "placement"_a, "material"_a = 0,
           "foot"_a = false, "A shape on a body (-1: on the world); size as ShapeKind says [m].")
      .def("add_hull", add_hull, "name"_a, "body"_a, "vertices"_a, "placement"_a, "material"_a = 0,
           "The convex hull of points (n x 3) [m] on a body.")
      .def("add_mesh", add_mesh, "name"_a, "vertices"_a, "triangles"_a, "placement"_a, "material"_a = 0,
           "Triangles (m x 3 indices of vertices, n x 3 [m]) as fixed terrain, counter-clockwise seen from outside.")
      .def(
          "add_ground", [](ModelBuilder& b, int material) { return b.add_ground({}, material); }, "material"_a = 0,
          "The half-space z <= 0.")
      .def(
          "add_frame",
          [](ModelBuilder& b, const std::string& name, int body, const MatrixIn& where) {
            return b.add_frame({name, body, placement(where, "placement of '" + name + "'")});
          },
          "name"_a, "body"_a, "placement"_a, "A named place on a body.")
      .def(
          "add_robot",
          [](ModelBuilder& b, const std::string& model, const std::string& name, bool floating,
             const std::string& contact) {
            RobotOptions options;
            options.model = model;
            options.name = name;
            options.floating = floating;
            options.contact = contact;
            return add_robot(b, options);
          },
          "model"_a, "name"_a = "", "floating"_a = true, "contact"_a = "default",
          "A robot by name or by the path of its file.")
      .def(
          "build", [](ModelBuilder& b) { return std::make_shared<Model>(b.build()); },
          "The finished model; the builder is empty afterwards.");
}

}  // namespace tribo::python
