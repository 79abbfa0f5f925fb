#include "mjcf_export.hpp"

#include <cmath>
#include <cstdio>

#include "tribo/dynamics.hpp"

namespace tribo::bench {
namespace {

std::string text(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}

/// An element with its attributes, as far as written.
class Tag {
 public:
  explicit Tag(const char* name) { xml_.append("<").append(name); }
  Tag& set(const char* key, const std::string& value) {
    xml_.append(" ").append(key).append("=\"").append(value).append("\"");
    return *this;
  }
  template <class... Numbers>
  Tag& put(const char* key, Numbers... x) {
    std::string value;
    ((value.append(text(x)).append(" ")), ...);
    return set(key, value);
  }
  Tag& put(const char* key, const Vec3& x) { return put(key, x.x(), x.y(), x.z()); }
  Tag& place(const Placement& X) {
    const Quat q(X.R);
    return put("pos", X.p).put("quat", q.w(), q.x(), q.y(), q.z());
  }
  std::string open() const { return std::string(xml_).append(">"); }
  std::string whole() const { return std::string(xml_).append("/>"); }

 private:
  std::string xml_;
};

std::string named(const char* prefix, int i) { return std::string(prefix).append(std::to_string(i)); }

class Exporter {
 public:
  Exporter(const Scene& scene, const MjcfOptions& options)
      : scene_(scene), model_(*scene.model), options_(options), dynamics_(model_) {
    dynamics_.compute(scene.start.q, scene.start.v);
    if (!scene.pushes.empty()) throw InvalidInput("scene '" + scene.name + "': pushes have no equal in MJCF");
    check_pairs();
    kd_.setZero(model_.nv);
    for (const ControllerSpec& spec : scene.controllers) {
      const Member& member = model_.members[at(spec.pd->member)];
      kd_.segment(member.iv, member.nv) += spec.pd->kd;
    }
  }

  std::string run() {
    std::string bodies;
    geometries(-1, bodies);
    for (std::size_t i = 0; i < model_.bodies.size(); ++i)
      if (model_.bodies[i].parent < 0) body(static_cast<int>(i), bodies);
    Tag option("option");
    option.put("timestep", options_.dt).put("gravity", model_.gravity);
    option.set("cone", options_.cone).set("integrator", options_.integrator);
    std::string out = "<mujoco>";
    out += Tag("compiler").set("angle", "radian").set("inertiafromgeom", "false").whole();
    out += option.open();
    if (options_.sleep) out += Tag("flag").set("sleep", "enable").whole();
    out.append("</option>");
    if (options_.firm) {
      Tag contact("geom");
      contact.put("solref", 2 * options_.dt, 1.0).put("solimp", 0.99, 0.999, 1e-4);
      out.append("<default>").append(contact.whole()).append("</default>");
    }
    out.append("<asset>").append(meshes_).append("</asset><worldbody>").append(bodies);
    out.append("</worldbody><actuator>").append(servos()).append("</actuator></mujoco>");
    return out;
  }

 private:
  // A robot has a bit of its own and meets all others; what is no robot has bit 0 and meets all.
  std::pair<unsigned, unsigned> bits(const Geometry& g) const {
    if (g.member < 0 || !model_.members[at(g.member)].robot) return {1u, 0x7fffffffu};
    unsigned bit = 1;
    for (int m = 0; m <= g.member; ++m) bit <<= model_.members[at(m)].robot;
    return {bit, 0x7fffffffu & ~bit};
  }

  // The bits must say the same as the model: self-collision and exclusions do not come over.
  void check_pairs() const {
    const int n = static_cast<int>(model_.geometries.size());
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < a; ++b) {
        const Geometry &ga = model_.geometries[at(a)], &gb = model_.geometries[at(b)];
        if (ga.body == gb.body) continue;
        const auto [type_a, affinity_a] = bits(ga);
        const auto [type_b, affinity_b] = bits(gb);
        const bool meet = (type_a & affinity_b) || (type_b & affinity_a);
        if (meet != model_.may_collide(a, b))
          throw InvalidInput("scene '" + scene_.name + "': whether '" + ga.name + "' and '" + gb.name +
                             "' may touch cannot be said in MJCF by contype and conaffinity");
      }
  }

  void body(int i, std::string& out) {
    const Body& b = model_.bodies[at(i)];
    Tag tag("body");
    tag.set("name", named("b", i));
    if (b.joint != JointKind::Free) tag.place(b.X_PJ);  // that of a free joint is part of qpos
    out += tag.open();
    const Mat3& I = b.inertia.about_com;
    out += Tag("inertial")
               .put("pos", b.inertia.com)
               .put("mass", b.inertia.mass)
               .put("fullinertia", I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2))
               .whole();
    joint(b, i, out);
    geometries(i, out);
    for (std::size_t k = at(i) + 1; k < model_.bodies.size(); ++k)
      if (model_.bodies[k].parent == i) body(static_cast<int>(k), out);
    out += "</body>";
  }

  void joint(const Body& b, int i, std::string& out) const {
    const char* type = b.joint == JointKind::Free        ? "free"
                       : b.joint == JointKind::Spherical ? "ball"
                       : b.joint == JointKind::Prismatic ? "slide"
                                                         : "hinge";
    const JointProperties& p = model_.joints;
    Tag tag("joint");
    tag.set("name", named("j", i)).set("type", type);
    tag.put("damping", p.damping[b.iv] + (options_.kd_in_joint ? kd_[b.iv] : 0.0)).put("armature", p.armature[b.iv]);
    if (b.joint != JointKind::Free) tag.put("frictionloss", p.friction[b.iv]);
    if (nv_of(b.joint) == 1) tag.put("axis", b.axis);
    out += tag.whole();
  }

  void geometries(int body, std::string& out) {
    for (const Geometry& g : model_.geometries) {
      if (g.body != body) continue;
      const auto [type, affinity] = bits(g);
      Tag tag("geom");
      shape(g, tag);
      tag.put("friction", model_.surface(g.material, g.material).mu_static, 0.005, 0.0001).set("condim", "3");
      tag.set("contype", std::to_string(type)).set("conaffinity", std::to_string(affinity));
      out += tag.whole();
    }
  }

  void shape(const Geometry& g, Tag& tag) {
    const Vec3& s = g.size;
    const double r = options_.point_radius;
    switch (g.kind) {
      case ShapeKind::HalfSpace:
        tag.place(g.X_BG).set("type", "plane").set("size", "0 0 1");
        break;
      case ShapeKind::Sphere:
        tag.place(g.X_BG).set("type", "sphere").put("size", s.x());
        break;
      case ShapeKind::Box:
        tag.place(g.X_BG).set("type", "box").put("size", s);
        break;
      case ShapeKind::Capsule:
        tag.place(g.X_BG).set("type", "capsule").put("size", s.x(), s.z());
        break;
      case ShapeKind::Cylinder:
        tag.place(g.X_BG).set("type", "cylinder").put("size", s.x(), s.z());
        break;
      case ShapeKind::Ellipsoid:
        tag.place(g.X_BG).set("type", "ellipsoid").put("size", s);
        break;
      case ShapeKind::HeightField:
      case ShapeKind::Mesh:
        throw InvalidInput("the benchmark does not write height fields and meshes of triangles");
      case ShapeKind::Convex:
        tag.place(g.X_BG).set("type", "mesh").set("mesh", mesh(*g.hull));
        break;
      case ShapeKind::Point: {
        const Vec3 up = g.body < 0 ? Vec3::UnitZ() : Vec3(dynamics_.X_WB(g.body).R.row(2).transpose());
        tag.place({g.X_BG.R, g.X_BG.p + r * up}).set("type", "sphere").put("size", r);
        break;
      }
    }
  }

  std::string mesh(const Hull& hull) {
    const std::string name = named("m", mesh_count_++);
    std::string vertices;
    for (const Vec3& v : hull.vertices)
      for (double x : v) vertices.append(text(x)).append(" ");
    meshes_ += Tag("mesh").set("name", name).set("vertex", vertices).whole();
    return name;
  }

  // force = kp ctrl + tau_ff - kp q - kd v, ctrl = q_ref.
  std::string servos() const {
    std::string out;
    for (const ControllerSpec& spec : scene_.controllers) {
      const Member& member = model_.members[at(spec.pd->member)];
      for (int i = member.first_body; i < member.first_body + member.bodies; ++i) {
        const Body& b = model_.bodies[at(i)];
        if (nv_of(b.joint) != 1) continue;
        const int k = b.iv - member.iv;
        const double kp = spec.pd->kp[k], kd = options_.kd_in_joint ? 0.0 : spec.pd->kd[k];
        const double limit = model_.joints.effort_limit[b.iv];
        Tag tag("general");
        tag.set("name", named("a", i)).set("joint", named("j", i)).set("biastype", "affine");
        tag.put("gainprm", kp).put("biasprm", spec.pd->tau_ff[k], -kp, -kd);
        if (std::isfinite(limit)) tag.set("forcelimited", "true").put("forcerange", -limit, limit);
        out += tag.whole();
      }
    }
    return out;
  }

  const Scene& scene_;
  const Model& model_;
  const MjcfOptions& options_;
  Dynamics dynamics_;
  VecX kd_;
  std::string meshes_;
  int mesh_count_ = 0;
};

}  // namespace

std::string to_mjcf(const Scene& scene, const MjcfOptions& options) { return Exporter(scene, options).run(); }

}  // namespace tribo::bench
