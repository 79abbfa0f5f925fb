// Geoms, what may touch what, and friction of a compiled MJCF file.
//
// Two geoms meet where (type_a & affinity_b) or (type_b & affinity_a), unless they move as one, hang on each other, or
// are excluded; or where they are paired. The friction of a pair is the larger of the two, component by component, or
// that of the geom with the higher priority: every pair of kinds of surface is given as a pair of materials.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "readers/mjcf_parts.hpp"
#include "readers/mjcf_softness.hpp"

namespace tribo::mjcf {
namespace {

struct Surface {
  std::array<double, 3> friction{};
  int condim = 3, priority = 0;
  Softness softness{};  // where the file's is asked for
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is meant
  auto operator<=>(const Surface&) const = default;
};

// Friction as MuJoCo takes it for a contact of so many dimensions.
SurfacePair with_friction(SurfacePair pair, const Surface& s) {
  pair.mu_static = pair.mu_dynamic = s.condim >= 3 ? s.friction[0] : 0;
  pair.torsional = s.condim >= 4 ? s.friction[1] : 0;
  pair.rolling = s.condim >= 6 ? s.friction[2] : 0;
  return pair;
}

Surface mixed(const Surface& a, const Surface& b) {
  if (a.priority != b.priority) {
    Surface higher = a.priority > b.priority ? a : b;
    higher.softness = with_higher(higher.softness, (a.priority > b.priority ? b : a).softness);
    return higher;
  }
  Surface s = a;
  s.softness = mixed(a.softness, b.softness);
  for (std::size_t k = 0; k < 3; ++k) s.friction[k] = std::max(a.friction[k], b.friction[k]);
  s.condim = std::max(a.condim, b.condim);
  return s;
}

// One material for each kind of surface, and the pairs among them.
class Surfaces {
 public:
  explicit Surfaces(Loading& load) : load_(load) {
    const auto& materials = load.builder.model().materials;
    const std::size_t i = at(load.options.material);
    if (i < materials.size()) base_ = materials[i].surface;
  }

  int material(int geom) {
    const mjModel& m = load_.m;
    Surface s;
    for (int k = 0; k < 3; ++k) s.friction[at(k)] = m.geom_friction[3 * geom + k];
    s.condim = m.geom_condim[geom];
    s.priority = m.geom_priority[geom];
    if (soft()) s.softness = softness_of(m, geom);
    const auto known = index_.find(s);
    if (known != index_.end()) return known->second;
    Material material{load_.prefix() + "surface" + std::to_string(index_.size()), made(mixed(s, s))};
    const int added = load_.builder.add_material(material);
    for (const auto& [other, index] : index_)
      load_.builder.set_pair(load_.builder.model().materials[at(index)].name, material.name, made(mixed(s, other)));
    index_[s] = added;
    return added;
  }

  SurfacePair pair(int p) const {
    const double* f = load_.m.pair_friction + 5 * p;
    if (f[0] != f[1] || f[3] != f[4])
      load_.unsupported.add("friction that differs along the two tangents: the first is taken for both",
                            load_.label(mjOBJ_PAIR, p));
    Surface s{{f[0], f[2], f[3]}, load_.m.pair_dim[p], 0};
    if (soft()) {
      const mjModel& m = load_.m;
      s.softness = mixed(softness_of(m, m.pair_geom1[p]), softness_of(m, m.pair_geom2[p]));
      std::copy_n(m.pair_solref + mjNREF * p, mjNREF, s.softness.solref.begin());
      std::copy_n(m.pair_solimp + mjNIMP * p, mjNIMP, s.softness.solimp.begin());
    }
    return made(s);
  }

 private:
  bool soft() const { return load_.softness != FileSoftness::None; }
  // Of a pair of geoms.
  SurfacePair made(const Surface& s) const {
    SurfacePair pair = with_friction(base_, s);
    if (load_.softness == FileSoftness::None) return pair;
    const Yielding soft = yielding_of(load_.m, s.softness, pair.mu_static, s.condim);
    if (load_.softness == FileSoftness::Compliance || !(soft.compliance > 0)) {
      pair.compliance = soft.compliance;
      pair.relaxation_time = soft.compliance > 0 ? soft.relaxation_time : 0;
      return pair;
    }
    if (std::isnan(pair.stiffness_tangential)) pair.stiffness_tangential = pair.stiffness;
    if (std::isnan(pair.damping_tangential)) pair.damping_tangential = pair.damping;
    pair.stiffness = 1 / soft.compliance;  // (soft.3)
    pair.damping = soft.relaxation_time / soft.compliance;
    return pair;
  }

  Loading& load_;
  SurfacePair base_;
  std::map<Surface, int> index_;
};

// The hull that MuJoCo's compiler made: number of vertices and faces, edges of the vertices, then their ids.
std::shared_ptr<const Hull> hull_of(const Loading& load, int geom) {
  const mjModel& m = load.m;
  const int mesh = m.geom_dataid[geom];
  const float* vertices = m.mesh_vert + 3 * m.mesh_vertadr[mesh];
  auto vertex = [&](int v) { return Vec3(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]); };
  std::vector<Vec3> points;
  if (m.mesh_graphadr[mesh] < 0) {
    for (int v = 0; v < m.mesh_vertnum[mesh]; ++v) points.push_back(vertex(v));
    return make_hull(points, load.label(mjOBJ_GEOM, geom));
  }
  const int* graph = m.mesh_graph + m.mesh_graphadr[mesh];
  const int n = graph[0], faces = graph[1];
  const int *ids = graph + 2 + n, *corners = graph + 2 + 3 * n + 3 * faces;
  std::vector<int> local(at(m.mesh_vertnum[mesh]));
  for (int v = 0; v < n; ++v) {
    local[at(ids[v])] = v;
    points.push_back(vertex(ids[v]));
  }
  std::vector<std::array<int, 3>> triangles;
  triangles.reserve(at(faces));
  for (int f = 0; f < faces; ++f)
    triangles.push_back({local[at(corners[3 * f])], local[at(corners[3 * f + 1])], local[at(corners[3 * f + 2])]});
  return make_hull(points, triangles, load.label(mjOBJ_GEOM, geom));
}

std::shared_ptr<const TriangleMesh> triangles_of(const Loading& load, int geom) {
  const mjModel& m = load.m;
  const int mesh = m.geom_dataid[geom];
  std::vector<Vec3> points;
  points.reserve(at(m.mesh_vertnum[mesh]));
  const float* x = m.mesh_vert + 3 * m.mesh_vertadr[mesh];
  for (int v = 0; v < m.mesh_vertnum[mesh]; ++v) points.emplace_back(x[3 * v], x[3 * v + 1], x[3 * v + 2]);
  std::vector<std::array<int, 3>> triangles;
  triangles.reserve(at(m.mesh_facenum[mesh]));
  const int* corner = m.mesh_face + 3 * m.mesh_faceadr[mesh];
  for (int f = 0; f < m.mesh_facenum[mesh]; ++f)
    triangles.push_back({corner[3 * f], corner[3 * f + 1], corner[3 * f + 2]});
  return make_triangle_mesh(points, triangles, load.label(mjOBJ_GEOM, geom));
}

// MuJoCo splits a cell from (x, y) to (x + 1, y + 1), we split it the other way: the grid is turned by a right angle,
// its x along MuJoCo's y and its y along MuJoCo's -x.
std::shared_ptr<const HeightField> terrain_of(const mjModel& m, int field) {
  auto terrain = std::make_shared<HeightField>();
  const double* size = m.hfield_size + 4 * field;
  const int rows = m.hfield_nrow[field], columns = m.hfield_ncol[field];
  terrain->nx = rows;
  terrain->ny = columns;
  terrain->spacing_x = 2 * size[1] / (rows - 1);
  terrain->spacing_y = 2 * size[0] / (columns - 1);
  const float* data = m.hfield_data + m.hfield_adr[field];
  for (int c = columns - 1; c >= 0; --c)
    for (int r = 0; r < rows; ++r) terrain->heights.push_back(size[2] * data[r * columns + c]);
  return terrain;
}

// False where there is no such shape here.
bool set_shape(Loading& load, int g, Geometry& geometry) {
  const mjModel& m = load.m;
  const Vec3 size = vec3(m.geom_size + 3 * g);
  auto round = [&](ShapeKind kind) {
    geometry.kind = kind;
    geometry.size = Vec3(size[0], 0, size[1]);
  };
  switch (m.geom_type[g]) {
    case mjGEOM_PLANE:
      geometry.kind = ShapeKind::HalfSpace;
      return true;
    case mjGEOM_HFIELD:
      if (geometry.body >= 0) {
        load.unsupported.add("height field on a body that moves", load.label(mjOBJ_GEOM, g));
        return false;
      }
      geometry.kind = ShapeKind::HeightField;
      geometry.terrain = terrain_of(m, m.geom_dataid[g]);
      geometry.X_BG.R = geometry.X_BG.R * Eigen::AngleAxisd(M_PI / 2, Vec3::UnitZ()).toRotationMatrix();
      return true;
    case mjGEOM_SPHERE:
      geometry.kind = ShapeKind::Sphere;
      geometry.size = Vec3(size[0], 0, 0);
      return true;
    case mjGEOM_CAPSULE:
      round(ShapeKind::Capsule);
      return true;
    case mjGEOM_CYLINDER:
      round(ShapeKind::Cylinder);
      return true;
    case mjGEOM_ELLIPSOID:
      geometry.kind = ShapeKind::Ellipsoid;
      geometry.size = size;
      return true;
    case mjGEOM_BOX:
      geometry.kind = ShapeKind::Box;
      geometry.size = size;
      return true;
    case mjGEOM_MESH:
      if (load.options.triangle_meshes && geometry.body == -1) {
        geometry.kind = ShapeKind::Mesh;
        geometry.mesh = triangles_of(load, g);
        return true;
      }
      geometry.kind = ShapeKind::Convex;
      geometry.hull = hull_of(load, g);
      return true;
    default:
      load.unsupported.add("geom of type sdf", load.label(mjOBJ_GEOM, g));
      return false;
  }
}

// Pairs that the groups would let meet and MuJoCo does not.
void exclude(Loading& load) {
  const mjModel& m = load.m;
  std::set<int> excluded;
  for (int e = 0; e < m.nexclude; ++e) excluded.insert(m.exclude_signature[e]);
  const bool neighbours = load.enabled(mjDSBL_FILTERPARENT);
  if (!neighbours) load.unsupported.add("flag filterparent: neighbours never touch", "");
  auto apart = [&](int a, int b) {
    const int body_a = m.geom_bodyid[a], body_b = m.geom_bodyid[b];
    if (excluded.count((body_a << 16) + body_b) || excluded.count((body_b << 16) + body_a)) return true;
    const int weld_a = m.body_weldid[body_a], weld_b = m.body_weldid[body_b];
    if (!neighbours || weld_a == 0 || weld_b == 0) return false;
    return m.body_weldid[m.body_parentid[weld_a]] == weld_b || m.body_weldid[m.body_parentid[weld_b]] == weld_a;
  };
  for (int a = 0; a < m.ngeom; ++a)
    for (int b = 0; b < a; ++b) {
      if (load.geometry[at(a)] < 0 || load.geometry[at(b)] < 0) continue;
      if (!((m.geom_contype[a] & m.geom_conaffinity[b]) || (m.geom_contype[b] & m.geom_conaffinity[a]))) continue;
      if (apart(a, b)) load.builder.exclude_geometries(load.geometry[at(a)], load.geometry[at(b)]);
    }
}

}  // namespace

void add_geometries(Loading& load) {
  const mjModel& m = load.m;
  load.geometry.assign(at(static_cast<int>(m.ngeom)), -1);
  if (!load.enabled(mjDSBL_CONTACT)) return;
  std::set<int> paired;
  for (int p = 0; p < m.npair; ++p) paired.insert({m.pair_geom1[p], m.pair_geom2[p]});
  Surfaces surfaces(load);
  std::set<std::string> taken;
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_contype[g] == 0 && m.geom_conaffinity[g] == 0 && !paired.count(g)) continue;
    const int b = m.geom_bodyid[g];
    Geometry geometry;
    std::string name = load.name(mjOBJ_GEOM, g);
    if (name.empty()) name = load.name(mjOBJ_BODY, b) + ".geom" + std::to_string(g);
    geometry.name = load.prefix() + name;
    geometry.body = load.body[at(b)];
    geometry.X_BG = load.X_BM[at(b)] * placement(m.geom_pos + 3 * g, m.geom_quat + 4 * g);
    if (!set_shape(load, g, geometry)) continue;
    geometry.material = surfaces.material(g);
    load.geometry[at(g)] = load.builder.add_geometry(std::move(geometry));
    load.builder.set_contact_class(load.geometry[at(g)], static_cast<std::uint32_t>(m.geom_contype[g]),
                                   static_cast<std::uint32_t>(m.geom_conaffinity[g]));
  }
  exclude(load);
  for (int p = 0; p < m.npair; ++p) {
    const int a = load.geometry[at(m.pair_geom1[p])], b = load.geometry[at(m.pair_geom2[p])];
    if (a >= 0 && b >= 0) load.builder.add_pair({a, b, surfaces.pair(p)});
  }
}

}  // namespace tribo::mjcf
