#include "readers/mesh_up.hpp"

#include <cstdint>
#include <limits>

#include "base/file.hpp"
#include "readers/urdf_tree.hpp"
#include "readers/xml_file.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

constexpr std::uint64_t head = 20'000;  // what comes before the numbers of a file [bytes]

struct Box {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  void add(const Vec3& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  double distance(const Vec3& p) const { return (low - p).cwiseMax(p - high).cwiseMax(0).norm(); }
};

struct Misses {
  double as_is = 0, turned = 0;  ///< distance of the joints from the boxes about the meshes [m]
  bool any = false;
};

void add(const ::urdf::Link& link, const ::urdf::Geometry* shape, const ::urdf::Pose& origin, const MeshSearch& search,
         Misses& misses) {
  const auto* mesh = dynamic_cast<const ::urdf::Mesh*>(shape);
  if (mesh == nullptr || link.child_joints.empty()) return;
  const std::string path = find_mesh(mesh->filename, search);
  if (!says_y_up(path)) return;
  const Vec3 scale(mesh->scale.x, mesh->scale.y, mesh->scale.z);
  const ::urdf::Rotation& q = origin.rotation;
  const Placement X{Quat(q.w, q.x, q.y, q.z).toRotationMatrix(),
                    Vec3(origin.position.x, origin.position.y, origin.position.z)};
  Box as_is, turned;
  for (const std::vector<Vec3>& part : mesh_parts(path))
    for (const Vec3& p : part) {
      as_is.add(X * p.cwiseProduct(scale));
      turned.add(X * Vec3(upright() * p.cwiseProduct(scale)));
    }
  for (const ::urdf::JointSharedPtr& joint : link.child_joints) {
    const ::urdf::Vector3& p = joint->parent_to_joint_origin_transform.position;
    misses.as_is += as_is.distance(Vec3(p.x, p.y, p.z));
    misses.turned += turned.distance(Vec3(p.x, p.y, p.z));
  }
  misses.any = true;
}

Misses misses_of(const ::urdf::ModelInterface& robot, const MeshSearch& search, MeshesOf which) {
  Misses misses;
  for (const auto& [name, link] : robot.links_) try {
      if (which == MeshesOf::Collision)
        for (const auto& part : link->collision_array) add(*link, part->geometry.get(), part->origin, search, misses);
      else
        for (const auto& part : link->visual_array) add(*link, part->geometry.get(), part->origin, search, misses);
    } catch (const InvalidInput&) {
      continue;  // a mesh that cannot be read says nothing; who needs it tells so
    }
  return misses;
}

}  // namespace

bool stands_on_y(const ::urdf::ModelInterface& robot, const MeshSearch& search, MeshesOf which) {
  Misses misses = misses_of(robot, search, MeshesOf::Collision);
  if (!misses.any && which == MeshesOf::Visual) misses = misses_of(robot, search, MeshesOf::Visual);
  return misses.turned < 0.7 * misses.as_is;
}

bool visuals_stand_on_y(const std::string& path, const MeshSearch& search) {
  const ::urdf::ModelInterfaceSharedPtr robot = urdf_tree(*read_xml(path));
  return robot && stands_on_y(*robot, search, MeshesOf::Visual);
}

bool says_y_up(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  const std::string kind = path.substr(dot);
  if (kind != ".dae" && kind != ".DAE") return false;
  return read_start(path, head).find("<up_axis>Y_UP") != std::string::npos;
}

Mat3 upright() {
  Mat3 R;
  R << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  return R;
}

}  // namespace tribo
