// Questions about worlds at an instant, inverse kinematics, and what may be changed of a model while it runs.
// Functions take the coordinates of n worlds, a row each, and answer for all of them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "dynamics/clearance.hpp"
#include "height_scans.hpp"
#include "kinematic_commands.hpp"
#include "origins.hpp"
#include "tribo/commands.hpp"
#include "tribo/inquiry.hpp"
#include "tribo/inverse_kinematics.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/model_numbers.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

template <int Dimensions>
using Stack = nb::ndarray<nb::numpy, double, nb::ndim<Dimensions>, nb::c_contig>;

/// q (n x nq), v (n x nv), t (n), what kinematic bodies are told (n, or none).
struct Worlds {
  MatrixIn q, v;
  VectorIn t;
  std::vector<KinematicCommands> kinematic;

  std::size_t size() const { return q.shape(0); }
  /// Looks at world i.
  void show(Inquiry& inquiry, std::size_t i) const {
    if (v.shape(0) != size() || t.shape(0) != size())
      throw InvalidInput("q, v and t are of different numbers of worlds");
    const auto row = [i](const MatrixIn& x) {
      return VecX(Eigen::Map<const VecX>(x.data() + i * x.shape(1), static_cast<Eigen::Index>(x.shape(1))));
    };
    if (!kinematic.empty() && kinematic.size() != size())
      throw InvalidInput("q and the commands of kinematic bodies are of different numbers of worlds");
    KinematicTime time{t.data()[i], {}};
    if (!kinematic.empty()) time.commands = kinematic[i].list;
    inquiry.look(row(q), row(v), time);
  }
};

/// An array (n x ...) of so many numbers a world, which write(i, numbers) gives.
template <int Dimensions, class Write>
Stack<Dimensions> stacked(Inquiry& inquiry, const Worlds& worlds, std::array<std::size_t, Dimensions - 1> shape,
                          Write&& write) {
  std::size_t each = 1;
  std::array<std::size_t, Dimensions> all{worlds.size()};
  for (std::size_t k = 0; k < shape.size(); ++k) each *= all[k + 1] = shape[k];
  auto data = std::make_unique<double[]>(each * worlds.size());
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    worlds.show(inquiry, i);
    write(i, data.get() + i * each);
  }
  double* p = data.release();
  return {p, Dimensions, all.data(), nb::capsule(p, [](void* x) noexcept { delete[] static_cast<double*>(x); })};
}

void write_rows(const MatX& x, double* out) {
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out, x.rows(), x.cols()) = x;
}

void bind_inquiry(nb::module_& m) {
  nb::class_<RayHit>(m, "RayHit", "What a ray meets first.")
      .def_ro("distance", &RayHit::distance, "[m]; infinite where it meets nothing")
      .def_ro("geometry", &RayHit::geometry, "index in Model.geometries; -1 where it meets nothing")
      .def_prop_ro(
          "point", [](const RayHit& h) { return copied(h.p); }, "in the world (3) [m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "normal", [](const RayHit& h) { return copied(h.n); }, "outward (3)", nb::rv_policy::automatic);
  nb::class_<Nearest>(m, "Nearest", "The nearest points of two things.")
      .def_ro("distance", &Nearest::distance,
              "negative where they overlap [m]; infinite where they are farther than asked")
      .def_ro("geometry_a", &Nearest::geometry_a, "index in Model.geometries")
      .def_ro("geometry_b", &Nearest::geometry_b, "index in Model.geometries")
      .def_prop_ro(
          "point", [](const Nearest& h) { return copied(h.p); }, "midway between the surfaces (3) [m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "normal", [](const Nearest& h) { return copied(h.n); }, "from a to b (3)", nb::rv_policy::automatic);
  nb::class_<Worlds>(m, "_Worlds")
      .def(
          "__init__",
          [](Worlds* self, const MatrixIn& q, const MatrixIn& v, const VectorIn& t,
             const std::vector<KinematicCommands>& kinematic) {
            new (self) Worlds{q, v, t, kinematic};
          },
          "q"_a, "v"_a, "t"_a, "kinematic"_a = std::vector<KinematicCommands>{});
  const auto automatic = nb::rv_policy::automatic;
  nb::class_<Inquiry>(m, "_Inquiry")
      .def(
          "__init__", [](Inquiry* self, std::shared_ptr<Model> model) { new (self) Inquiry(std::move(model)); },
          "model"_a)
      .def(
          "pose",
          [](Inquiry& x, const Worlds& w, const std::string& name) {
            const Place place = x.model().place(name);
            return stacked<3>(x, w, {4, 4}, [&](std::size_t, double* out) { write_homogeneous(x.pose(place), out); });
          },
          "worlds"_a, "name"_a, automatic)
      .def(
          "velocity",
          [](Inquiry& x, const Worlds& w, const std::string& name) {
            const Place place = x.model().place(name);
            return stacked<2>(x, w, {6}, [&](std::size_t, double* out) {
              const PointVelocity v = x.velocity(place);
              Eigen::Map<Vec3>(out).noalias() = v.linear;
              Eigen::Map<Vec3>(out + 3).noalias() = v.angular;
            });
          },
          "worlds"_a, "name"_a, automatic)
      .def(
          "points",
          [](Inquiry& x, const Worlds& w, const std::vector<int>& bodies, const MatrixIn& points) {
            const std::vector<Place> places = places_of(x.model(), bodies, points);
            return stacked<3>(x, w, {places.size(), 6}, [&](std::size_t, double* out) {
              for (const Place& place : places) {
                Eigen::Map<Vec3>{out} = x.pose(place).p;
                Eigen::Map<Vec3>(out + 3) = x.velocity(place).linear;
                out += 6;
              }
            });
          },
          "worlds"_a, "bodies"_a, "points"_a, automatic)
      .def(
          "jacobian",
          [](Inquiry& x, const Worlds& w, const std::string& name) {
            const Place place = x.model().place(name);
            return stacked<3>(x, w, {6, at(x.model().nv)},
                              [&](std::size_t, double* out) { write_rows(x.jacobian(place), out); });
          },
          "worlds"_a, "name"_a, automatic)
      .def(
          "mass_matrix",
          [](Inquiry& x, const Worlds& w) {
            return stacked<3>(x, w, {at(x.model().nv), at(x.model().nv)},
                              [&](std::size_t, double* out) { write_rows(x.mass_matrix(), out); });
          },
          "worlds"_a, automatic)
      .def(
          "bias",
          [](Inquiry& x, const Worlds& w) {
            return stacked<2>(x, w, {at(x.model().nv)}, [&](std::size_t, double* out) { write_rows(x.bias(), out); });
          },
          "worlds"_a, automatic)
      .def(
          "energy",
          [](Inquiry& x, const Worlds& w) {
            return stacked<2>(x, w, {2}, [&](std::size_t, double* out) {
              out[0] = x.kinetic();
              out[1] = x.potential();
            });
          },
          "worlds"_a, automatic)
      .def(
          "center_of_mass",
          [](Inquiry& x, const Worlds& w, const std::optional<std::string>& name) {
            const int member = name ? x.model().member(*name) : -1;
            return stacked<2>(x, w, {3}, [&](std::size_t, double* out) { write_rows(x.center_of_mass(member), out); });
          },
          "worlds"_a, "name"_a = nb::none(), automatic)
      .def(
          "ray",
          [](Inquiry& x, const Worlds& w, std::size_t world, const VectorIn& p, const VectorIn& d, double most,
             const std::vector<std::string>& ignored) {
            w.show(x, world);
            const std::vector<char> skip = ignored_geometries(x.model(), ignored);
            return x.ray(vec3(p, "origin"), vec3(d, "direction"), most, skip);
          },
          "worlds"_a, "world"_a, "origin"_a, "direction"_a, "most"_a, "ignored"_a)
      .def(
          "rays",
          [](Inquiry& x, const Worlds& w, std::size_t world, const MatrixIn& p, const MatrixIn& d, double most,
             const std::vector<std::string>& ignored) {
            if (p.shape(1) != 3 || d.shape(1) != 3 || p.shape(0) != d.shape(0))
              throw InvalidInput("rays need as many origins (n x 3) as directions (n x 3)");
            w.show(x, world);
            const std::vector<char> skip = ignored_geometries(x.model(), ignored);
            VecX distance(static_cast<Eigen::Index>(p.shape(0)));
            for (std::size_t i = 0; i < p.shape(0); ++i)
              distance[static_cast<Eigen::Index>(i)] =
                  x.ray(Eigen::Map<const Vec3>(p.data() + 3 * i), Eigen::Map<const Vec3>(d.data() + 3 * i), most, skip)
                      .distance;
            return copied(distance);
          },
          "worlds"_a, "world"_a, "origins"_a, "directions"_a, "most"_a, "ignored"_a)
      .def(
          "height_scan",
          [](Inquiry& x, const Worlds& w, const std::string& name, const MatrixIn& points, double above, double most,
             const std::vector<std::string>& ignored) {
            const HeightScan scan = height_scan_of(x.model(), name, points, above, most, ignored);
            return stacked<2>(x, w, {points.shape(0)}, [&](std::size_t, double* out) { scan_heights(x, scan, out); });
          },
          "worlds"_a, "name"_a, "points"_a, "above"_a, "most"_a, "ignored"_a, automatic)
      .def(
          "distance",
          [](Inquiry& x, const Worlds& w, std::size_t world, const std::string& a, const std::string& b, double most) {
            w.show(x, world);
            return x.distance(geometries(x.model(), a), geometries(x.model(), b), most);
          },
          "worlds"_a, "world"_a, "a"_a, "b"_a, "most"_a);
  m.def("_geometries", geometries, "model"_a, "name"_a);
  m.def("_actuator_names", actuator_names, "model"_a);
  m.def(
      "_lowest",
      [](const Model& model, const VectorIn& q, int member, const VectorIn& up) {
        return lowest_points(model, vector(q, model.nq, "q"), member, vec3(up, "up")).moving;
      },
      "model"_a, "q"_a, "member"_a, "up"_a);
}

void bind_inverse_kinematics(nb::module_& m) {
  nb::class_<IkResult>(m, "IkResult", "Joints that bring frames to poses, or that come nearest.")
      .def_prop_ro(
          "q", [](const IkResult& r) { return copied(r.q); }, "all coordinates of the model (nq)",
          nb::rv_policy::automatic)
      .def_ro("converged", &IkResult::converged, "within the tolerance")
      .def_ro("position_error", &IkResult::position_error, "largest [m]")
      .def_ro("orientation_error", &IkResult::orientation_error, "largest [rad]")
      .def_ro("iterations", &IkResult::iterations)
      .def("__repr__", [](const IkResult& r) {
        return std::string("IkResult(converged=") + (r.converged ? "True" : "False") +
               ", position_error=" + std::to_string(r.position_error) +
               " m, orientation_error=" + std::to_string(r.orientation_error) + " rad)";
      });
  using Target = std::tuple<std::string, MatrixIn, bool, bool>;  // name, pose, position, orientation
  m.def(
      "_inverse_kinematics",
      [](const Model& model, const VectorIn& q, const std::vector<Target>& targets, const std::vector<int>& joints,
         double tolerance, int iterations, int starts) {
        std::vector<FrameTarget> list;
        list.reserve(targets.size());
        for (const auto& [name, pose, position, orientation] : targets)
          list.push_back({model.place(name), placement(pose, "pose of '" + name + "'"), position, orientation});
        IkOptions options;
        options.joints = joints;
        options.tolerance = tolerance;
        options.iterations = iterations;
        options.starts = starts;
        return inverse_kinematics(model, vector(q, model.nq, "q"), list, options);
      },
      "model"_a, "q"_a, "targets"_a, "joints"_a, "tolerance"_a, "iterations"_a, "starts"_a);
}

nb::list origins(const std::vector<SceneOrigin>& found) {
  nb::list list;
  for (const SceneOrigin& origin : found) {
    nb::list settings;
    for (const Override& o : origin.settings) settings.append(nb::make_tuple(o.path, o.value));
    list.append(nb::make_tuple(origin.scene, origin.text, origin.controller, settings));
  }
  return list;
}

void bind_changes(nb::module_& m) {
  m.def(
      "_origins_of_model", [](const Model& model) { return origins(origins_of(model)); }, "model"_a,
      nb::sig("def _origins_of_model(model: Model) -> list[tuple[str, str, str, list[tuple[str, str]]]]"));
  m.def(
      "_origins_of_scene", [](const Scene& scene) { return origins(origins_of(scene)); }, "scene"_a,
      nb::sig("def _origins_of_scene(scene: Scene) -> list[tuple[str, str, str, list[tuple[str, str]]]]"));
  m.def(
      "_numbers",
      [](const Model& model) {
        const OwnNumbers n(model);
        nb::dict out;
        for (const auto& [key, x] : std::initializer_list<std::pair<const char*, const std::vector<double>*>>{
                 {"mass", &n.mass},
                 {"com", &n.com},
                 {"mu_static", &n.mu_static},
                 {"mu_dynamic", &n.mu_dynamic},
                 {"damping", &n.damping},
                 {"armature", &n.armature},
                 {"dry_friction", &n.dry_friction}})
          out[key] = copied(x->data(), x->size());
        return out;
      },
      "model"_a, nb::sig("def _numbers(model: Model) -> dict[str, object]"));
  nb::class_<ModelFactors>(m, "_ModelFactors")
      .def(
          "__init__",
          [](ModelFactors* self, double mass, double friction) {
            new (self) ModelFactors{mass, friction};
          },
          "mass"_a = 1.0, "friction"_a = 1.0);
  nb::class_<ModelChanges>(m, "_ModelChanges")
      .def(nb::init<>())
      .def_rw("mass", &ModelChanges::mass)
      .def_rw("friction", &ModelChanges::friction)
      .def_prop_rw(
          "com", [](const ModelChanges& self) { return self.com.size(); },
          [](ModelChanges& self, const std::map<int, VectorIn>& given) {
            for (const auto& [body, x] : given) self.com[body] = vec3(x, "com");
          })
      .def_rw("damping", &ModelChanges::damping)
      .def_rw("armature", &ModelChanges::armature)
      .def_rw("dry_friction", &ModelChanges::dry_friction)
      .def_rw("without", &ModelChanges::without)
      .def(
          "weld",
          [](ModelChanges& self, const Model& model, const std::string& name, const std::string& a,
             const std::string& b, const MatrixIn& X_AB) {
            Equality weld;
            weld.name = name;
            weld.kind = EqualityKind::Weld;
            weld.body_a = model.place(a).body;
            weld.body_b = b == "world" ? -1 : model.place(b).body;
            if (weld.body_a < 0 || weld.body_b < -1)
              throw InvalidInput("a weld joins bodies that forces move, or one of them and the world");
            weld.X_AB = placement(X_AB, "pose of '" + b + "' in '" + a + "'");
            self.equalities.push_back(weld);
          },
          "model"_a, "name"_a, "a"_a, "b"_a, "pose"_a);
}

}  // namespace

void bind_hand(nb::module_& m) {
  bind_inquiry(m);
  bind_inverse_kinematics(m);
  bind_changes(m);
}

}  // namespace tribo::python
