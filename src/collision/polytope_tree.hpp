// Corners and faces of a polytope that has many, found without looking at each.
//
// Trees of boxes: of the corners, and of the faces by their corners, normals and offsets. A node is passed over where nothing
// in it can be what is looked for, so what is found is what a look at each in turn finds, to the bit, and of equals the first.
#pragma once

#include <array>
#include <vector>

#include "collision/climb.hpp"
#include "tribo/types.hpp"

namespace tribo {

struct PolytopeFace {
  Vec3 n = Vec3::Zero();  ///< outward
  double offset = 0;      ///< n . x on the face [m]
  std::vector<int> loop;  ///< counter-clockwise seen from outside
};

/// Middle and half widths of a box, a little wider than what is in it: bounds hold in spite of rounding.
struct TreeBox {
  Vec3 center, half;

  /// The largest n . x of its points.
  double highest(const Vec3& n) const { return n.dot(center) + n.cwiseAbs().dot(half); }
  double lowest(const Vec3& n) const { return n.dot(center) - n.cwiseAbs().dot(half); }
  double distance(const Vec3& x) const { return ((x - center).cwiseAbs() - half).cwiseMax(0).norm(); }
};

/// Nodes in preorder: the first child follows, the second is `other`. A leaf has count items from `first` on.
struct TreeNode {
  TreeBox corners;
  TreeBox normals;             ///< of faces
  double least = 0, most = 0;  ///< offsets of faces
  int first = 0, count = 0, other = 0;
};

class BoxTree {
 public:
  /// Visits items of nodes whose bound is not below the best so far, the better child first. visit(item) gives that best.
  template <class Bound, class Visit>
  void search(double best, Bound&& bound, Visit&& visit) const {
    struct Entry {
      int node;
      double bound;
    };
    std::array<Entry, 64> stack;
    std::size_t n = 0;
    stack[n++] = {0, bound(nodes[0])};
    while (n > 0) {
      const Entry e = stack[--n];
      if (e.bound < best) continue;
      const TreeNode& node = nodes[at(e.node)];
      for (int k = node.first; k < node.first + node.count; ++k) best = visit(items[at(k)]);
      if (node.count > 0) continue;
      const int one = e.node + 1, two = node.other;
      const double b1 = bound(nodes[at(one)]), b2 = bound(nodes[at(two)]);
      stack[n++] = b1 < b2 ? Entry{one, b1} : Entry{two, b2};
      stack[n++] = b1 < b2 ? Entry{two, b2} : Entry{one, b1};
    }
  }

  std::vector<TreeNode> nodes;
  std::vector<int> items;
};

class PolytopeTree {
 public:
  static constexpr std::size_t fewest = 24;  ///< corners from which on it pays

  PolytopeTree(const std::vector<Vec3>& corners, const std::vector<PolytopeFace>& faces);

  BoxTree corners, faces;
};

/// A box or a hull by its vertices and faces, in the frame of the geometry.
struct Polytope {
  std::vector<Vec3> vertices;
  std::vector<PolytopeFace> faces;
  std::vector<PolytopeTree> tree;  ///< none, or one: where there are many corners
  Climb climb;                     ///< of hulls

  /// Once the rest stands.
  void plant() {
    climb = Climb(vertices, faces);
    if (vertices.size() >= PolytopeTree::fewest) tree.emplace_back(vertices, faces);
  }

  /// BoxTree::search of its faces, where it has a tree; else every face.
  template <class Bound, class Visit>
  void each_face(double best, Bound&& bound, Visit&& visit) const {
    if (!tree.empty()) return tree[0].faces.search(best, bound, visit);
    for (int k = 0; k < static_cast<int>(faces.size()); ++k) visit(k);
  }

  /// The largest n . x, and where wanted a corner that has it.
  double highest(const Vec3& n, int* corner = nullptr) const;
  /// Of the face whose normal is most along n.
  std::size_t face_along(const Vec3& n) const;
  /// Of the face whose plane x is farthest outside of, and how far.
  std::size_t outermost_face(const Vec3& x, double& height) const;
  /// Faces whose planes pass x nearer than near, and whose normals have more than this cosine with n; in order.
  void faces_through(const Vec3& x, double near, const Vec3& n, double cosine, std::vector<int>& out) const;
  /// Faces that have a point nearer than near to x, and perhaps others, in order.
  void faces_near(const Vec3& x, double near, std::vector<int>& out) const;
  /// Corners with n . x <= level, in order.
  void corners_below(const Vec3& n, double level, std::vector<int>& out) const;
};

}  // namespace tribo
