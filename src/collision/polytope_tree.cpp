#include "collision/polytope_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tribo {
namespace {

constexpr double wider = 1e-13;  // of the largest coordinate
constexpr int leaf_corners = 8, leaf_faces = 4;

using Key = Eigen::Matrix<double, 6, 1>;

/// What an item occupies.
struct Extent {
  Vec3 lo, hi;            // corners
  Vec3 n = Vec3::Zero();  // normal
  double offset = 0;
  Key key;  // what is near in it is kept together
};

TreeBox box_of(const Vec3& lo, const Vec3& hi) {
  const double most = lo.cwiseAbs().cwiseMax(hi.cwiseAbs()).maxCoeff();
  return {0.5 * (lo + hi), 0.5 * (hi - lo) + Vec3::Constant(wider * most)};
}

class Builder {
 public:
  Builder(const std::vector<Extent>& extents, int leaf, BoxTree& tree) : extents_(extents), leaf_(leaf), tree_(tree) {
    tree.items.resize(extents.size());
    std::iota(tree.items.begin(), tree.items.end(), 0);
    add(0, static_cast<int>(extents.size()));
  }

 private:
  void add(int first, int count) {
    const std::size_t here = tree_.nodes.size();
    tree_.nodes.emplace_back();
    const auto begin = tree_.items.begin() + first, end = begin + count;
    Vec3 lo = Vec3::Constant(HUGE_VAL), hi = -lo, n_lo = lo, n_hi = hi;
    Key k_lo = Key::Constant(HUGE_VAL), k_hi = -k_lo;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (auto i = begin; i != end; ++i) {
      const Extent& x = extents_[at(*i)];
      lo = lo.cwiseMin(x.lo), hi = hi.cwiseMax(x.hi);
      n_lo = n_lo.cwiseMin(x.n), n_hi = n_hi.cwiseMax(x.n);
      k_lo = k_lo.cwiseMin(x.key), k_hi = k_hi.cwiseMax(x.key);
      least = std::min(least, x.offset), most = std::max(most, x.offset);
    }
    const double rounding = wider * std::max(std::abs(least), std::abs(most));
    TreeNode node{box_of(lo, hi), box_of(n_lo, n_hi), least - rounding, most + rounding, first, count, 0};
    if (count > leaf_) {
      node.count = 0;
      int axis = 0;
      (k_hi - k_lo).maxCoeff(&axis);
      const int half = count / 2;
      std::nth_element(begin, begin + half, end,
                       [&](int a, int b) { return extents_[at(a)].key[axis] < extents_[at(b)].key[axis]; });
      add(first, half);
      node.other = static_cast<int>(tree_.nodes.size());
      add(first + half, count - half);
    }
    tree_.nodes[here] = node;
  }

  const std::vector<Extent>& extents_;
  int leaf_;
  BoxTree& tree_;
};

/// The item of the largest value, of equals the first.
struct Best {
  double value = -HUGE_VAL;
  int item = 0;
  double take(double x, int i) {
    if (x > value || (x == value && i < item)) value = x, item = i;
    return value;
  }
};

}  // namespace

PolytopeTree::PolytopeTree(const std::vector<Vec3>& points, const std::vector<PolytopeFace>& all) {
  double size = 0;
  for (const Vec3& x : points) size = std::max(size, (x - points[0]).norm());
  std::vector<Extent> extents;
  for (const Vec3& x : points) extents.push_back({x, x, Vec3::Zero(), 0, (Key() << x, Vec3::Zero()).finished()});
  Builder(extents, leaf_corners, corners);
  extents.clear();
  for (const PolytopeFace& face : all) {
    Extent x{Vec3::Constant(HUGE_VAL), Vec3::Constant(-HUGE_VAL), face.n, face.offset, Key::Zero()};
    Vec3 sum = Vec3::Zero();
    for (int v : face.loop)
      x.lo = x.lo.cwiseMin(points[at(v)]), x.hi = x.hi.cwiseMax(points[at(v)]), sum += points[at(v)];
    x.key << sum / (static_cast<double>(face.loop.size()) * size), face.n;
    extents.push_back(x);
  }
  Builder(extents, leaf_faces, faces);
}

double Polytope::highest(const Vec3& n, int* corner) const {
  Best best;
  const auto take = [&](int i) { return best.take(n.dot(vertices[at(i)]), i); };
  if (tree.empty())
    for (int i = 0; i < static_cast<int>(vertices.size()); ++i) take(i);
  else if (const Climb::Top top = climb.highest(n); take(top.corner), !top.alone)
    tree[0].corners.search(
        best.value, [&](const TreeNode& node) { return node.corners.highest(n); }, take);
  if (corner) *corner = best.item;
  return best.value;
}

std::size_t Polytope::face_along(const Vec3& n) const {
  Best best;
  const auto take = [&](int k) { return best.take(faces[at(k)].n.dot(n), k); };
  if (!tree.empty())
    for (int k : climb.faces_at(climb.highest(n).corner)) take(k);
  each_face(
      best.value, [&](const TreeNode& node) { return node.normals.highest(n); }, take);
  return at(best.item);
}

std::size_t Polytope::outermost_face(const Vec3& x, double& height) const {
  Best best;
  const auto take = [&](int k) { return best.take(faces[at(k)].n.dot(x) - faces[at(k)].offset, k); };
  each_face(
      -HUGE_VAL, [&](const TreeNode& node) { return node.normals.highest(x) - node.least; }, take);
  height = best.value;
  return at(best.item);
}

void Polytope::faces_through(const Vec3& x, double near, const Vec3& n, double cosine, std::vector<int>& out) const {
  out.clear();
  const auto take = [&](int k) {
    const PolytopeFace& face = faces[at(k)];
    if (face.n.dot(n) > cosine && std::abs(face.n.dot(x) - face.offset) < near) out.push_back(k);
    return 0.0;
  };
  each_face(
      0,
      [&](const TreeNode& node) {
        if (node.normals.highest(n) <= cosine) return -HUGE_VAL;
        const double above = node.normals.highest(x) - node.least, below = node.normals.lowest(x) - node.most;
        return std::min(above + near, near - below);
      },
      take);
  std::sort(out.begin(), out.end());
}

void Polytope::faces_near(const Vec3& x, double near, std::vector<int>& out) const {
  out.clear();
  if (tree.empty()) {
    for (int k = 0; k < static_cast<int>(faces.size()); ++k) out.push_back(k);
    return;
  }
  tree[0].faces.search(
      0, [&](const TreeNode& node) { return near - node.corners.distance(x); },
      [&](int k) {
        out.push_back(k);
        return 0.0;
      });
  std::sort(out.begin(), out.end());
}

void Polytope::corners_below(const Vec3& n, double level, std::vector<int>& out) const {
  out.clear();
  const auto take = [&](int i) {
    if (n.dot(vertices[at(i)]) <= level) out.push_back(i);
    return 0.0;
  };
  if (tree.empty()) {
    for (int i = 0; i < static_cast<int>(vertices.size()); ++i) take(i);
    return;
  }
  tree[0].corners.search(
      0, [&](const TreeNode& node) { return level - node.corners.lowest(n); }, take);
  std::sort(out.begin(), out.end());
}

}  // namespace tribo
