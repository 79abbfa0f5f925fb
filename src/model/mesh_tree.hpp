// The triangles of a mesh in a tree of boxes, and how they meet.
#pragma once

#include <array>
#include <cmath>

#include "tribo/shape.hpp"

namespace tribo {

struct MeshTriangle {
  std::array<int, 3> corner;            ///< vertices
  std::array<int, 3> beyond;            ///< the triangle beyond side k, which leads from corner k to the next; -1: none
  Vec3 n;                               ///< unit normal, outward
  std::array<bool, 3> ridge{}, peak{};  ///< side k, corner k bulges or ends the mesh, and this triangle tells of it
};

struct MeshTree {
  /// An inner node is followed by its left child; a leaf holds triangles from begin to end.
  struct Node {
    Vec3 lo, hi;
    int right = -1;  ///< other child; -1: a leaf
    int begin = 0, end = 0;
  };
  std::vector<Node> nodes;
  std::vector<MeshTriangle> triangles;
  std::vector<Vec3> points;
  std::vector<Vec3> normals;  ///< of vertices, weighted by angle [Baerentzen2005]: x is outside where n . (x - p) > 0
  bool closed = false;        ///< every side of a triangle is one of another
  double size = 0;            ///< half the diagonal of the bounding box [m]

  const Vec3& point(const MeshTriangle& t, int k) const { return points[at(t.corner[at(k)])]; }
  /// Calls f(index of triangle) for those whose box has points from lo to hi, in one order; f returns false to stop.
  template <class Found>
  void visit(const Vec3& lo, const Vec3& hi, const Found& f) const {
    std::array<int, most_depth> stack;
    int count = 0;
    stack[at(count++)] = 0;
    while (count > 0) {
      const int i = stack[at(--count)];
      const Node& node = nodes[at(i)];
      if ((node.lo.array() > hi.array()).any() || (node.hi.array() < lo.array()).any()) continue;
      if (node.right >= 0) {
        stack[at(count++)] = node.right;
        stack[at(count++)] = i + 1;
        continue;
      }
      for (int t = node.begin; t < node.end; ++t)
        if (!f(t)) return;
    }
  }

  static constexpr int most_depth = 64;
};

/// The nearest point of a triangle to x.
struct TrianglePoint {
  Vec3 p;
  unsigned part;  ///< 0: inside of it; else bits of the corners of the side or of the corner that it lies on
};
TrianglePoint nearest_point(const MeshTree& tree, const MeshTriangle& triangle, const Vec3& x);

/// The nearest point of the mesh to x within a distance; triangle -1: none.
struct MeshPoint {
  int triangle = -1;
  TrianglePoint foot{Vec3::Zero(), 0};
  double distance = HUGE_VAL;  ///< [m]
  bool inside = false;         ///< x is behind the mesh; where the nearest point ends it, never
};
MeshPoint nearest_point(const MeshTree& tree, const Vec3& x, double within);

/// The first triangle that the way from one point to another enters from outside; -1: none.
int entered(const MeshTree& tree, const Vec3& from, const Vec3& to);

}  // namespace tribo
