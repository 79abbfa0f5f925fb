#include "model/mesh_tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tribo {
namespace {

constexpr int leaf = 4;            // triangles
constexpr double bulge = 1e-9;     // sine between two triangles from which on their common side is a ridge
constexpr double no_area = 1e-12;  // of the longest side squared

/// Points at one place get one number; those of the grid cell and of cells beside it are compared.
std::vector<int> joined(const std::vector<Vec3>& points, double apart, std::vector<Vec3>& kept) {
  using Cell = std::array<long long, 3>;
  std::map<Cell, std::vector<int>> cells;
  std::vector<int> number(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3& x = points[i];
    auto cell = [&](double shift_x, double shift_y, double shift_z) {
      return Cell{std::llround(x.x() / (4 * apart) + shift_x), std::llround(x.y() / (4 * apart) + shift_y),
                  std::llround(x.z() / (4 * apart) + shift_z)};
    };
    int found = -1;
    for (int k = 0; k < 8 && found < 0; ++k) {
      const auto near = cells.find(cell(k & 1 ? 0.3 : -0.3, k & 2 ? 0.3 : -0.3, k & 4 ? 0.3 : -0.3));
      if (near == cells.end()) continue;
      for (int other : near->second)
        if ((kept[at(other)] - x).squaredNorm() <= apart * apart) {
          found = other;
          break;
        }
    }
    if (found < 0) {
      found = static_cast<int>(kept.size());
      kept.push_back(x);
      cells[cell(0, 0, 0)].push_back(found);
    }
    number[i] = found;
  }
  return number;
}

class Builder {
 public:
  Builder(const TriangleMesh& mesh, const std::string& owner) : owner_(owner) {
    tree_.points = mesh.vertices;
    for (const auto& corners : mesh.triangles) {
      MeshTriangle t{corners, {-1, -1, -1}, Vec3::Zero()};
      t.n = (tree_.point(t, 1) - tree_.point(t, 0)).cross(tree_.point(t, 2) - tree_.point(t, 0)).normalized();
      tree_.triangles.push_back(t);
    }
    order();
    join_sides();
    set_normals();
    mark();
  }
  std::shared_ptr<const MeshTree> tree() { return std::make_shared<const MeshTree>(std::move(tree_)); }

 private:
  Vec3 middle(const MeshTriangle& t) const { return (tree_.point(t, 0) + tree_.point(t, 1) + tree_.point(t, 2)) / 3; }
  void order() {
    split(0, static_cast<int>(tree_.triangles.size()));
    const MeshTree::Node& root = tree_.nodes[0];
    tree_.size = 0.5 * (root.hi - root.lo).norm();
  }
  // The half of them along the longest way between their middles, in the left child.
  void split(int begin, int end) {
    const std::size_t here = tree_.nodes.size();
    tree_.nodes.push_back({Vec3::Constant(HUGE_VAL), Vec3::Constant(-HUGE_VAL), -1, begin, end});
    MeshTree::Node& node = tree_.nodes.back();
    Vec3 lo = node.lo, hi = node.hi;
    for (int t = begin; t < end; ++t) {
      const MeshTriangle& triangle = tree_.triangles[at(t)];
      for (int k = 0; k < 3; ++k) {
        node.lo = node.lo.cwiseMin(tree_.point(triangle, k));
        node.hi = node.hi.cwiseMax(tree_.point(triangle, k));
      }
      lo = lo.cwiseMin(middle(triangle));
      hi = hi.cwiseMax(middle(triangle));
    }
    if (end - begin <= leaf) return;
    int axis = 0;
    (hi - lo).maxCoeff(&axis);
    const int half = begin + (end - begin) / 2;
    const auto first = tree_.triangles.begin();
    std::nth_element(first + begin, first + half, first + end, [&](const MeshTriangle& a, const MeshTriangle& b) {
      const double x = middle(a)[axis], y = middle(b)[axis];
      return x != y ? x < y : a.corner < b.corner;
    });
    split(begin, half);
    tree_.nodes[here].right = static_cast<int>(tree_.nodes.size());
    split(half, end);
  }
  // A side that more than two triangles have, or two that go the same way, is the end of each.
  void join_sides() {
    std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> sides;
    for (std::size_t t = 0; t < tree_.triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) {
        const auto& c = tree_.triangles[t].corner;
        sides[std::minmax(c[at(k)], c[at((k + 1) % 3)])].emplace_back(static_cast<int>(t), k);
      }
    tree_.closed = true;
    for (const auto& [ends, users] : sides) {
      if (users.size() == 2) {
        MeshTriangle &a = tree_.triangles[at(users[0].first)], &b = tree_.triangles[at(users[1].first)];
        const int ka = users[0].second, kb = users[1].second;
        if (a.corner[at(ka)] == b.corner[at(kb)])
          throw InvalidInput(owner_ + ": two triangles that meet face opposite ways, at (" + text(ends.first) +
                             "); corners must run counter-clockwise seen from outside");
        a.beyond[at(ka)] = users[1].first;
        b.beyond[at(kb)] = users[0].first;
      } else {
        tree_.closed = false;
      }
    }
  }
  std::string text(int vertex) const {
    const Vec3& x = tree_.points[at(vertex)];
    std::string out = std::to_string(x.x());
    return out.append(", ").append(std::to_string(x.y())).append(", ").append(std::to_string(x.z()));
  }
  void set_normals() {
    tree_.normals.assign(tree_.points.size(), Vec3::Zero());
    for (const MeshTriangle& t : tree_.triangles)
      for (int k = 0; k < 3; ++k) {
        const Vec3 a = tree_.point(t, (k + 1) % 3) - tree_.point(t, k),
                   b = tree_.point(t, (k + 2) % 3) - tree_.point(t, k);
        tree_.normals[at(t.corner[at(k)])] += std::atan2(a.cross(b).norm(), a.dot(b)) * t.n;
      }
  }
  // A corner may be touched where a ridge leads to it; the first triangle that has it tells.
  void mark() {
    std::vector<char> told(tree_.points.size(), 0), high(tree_.points.size(), 0);
    for (std::size_t t = 0; t < tree_.triangles.size(); ++t) {
      MeshTriangle& triangle = tree_.triangles[t];
      for (int k = 0; k < 3; ++k) {
        const int other = triangle.beyond[at(k)];
        bool ridge = other < 0;
        if (other >= 0) {
          const Vec3 side = tree_.point(triangle, (k + 1) % 3) - tree_.point(triangle, k);
          const Vec3& m = tree_.triangles[at(other)].n;
          const double sine = triangle.n.cross(m).dot(side.normalized());
          ridge = sine > bulge || (sine > -bulge && triangle.n.dot(m) < 0);
        }
        if (!ridge) continue;
        triangle.ridge[at(k)] = other < static_cast<int>(t);
        high[at(triangle.corner[at(k)])] = high[at(triangle.corner[at((k + 1) % 3)])] = 1;
      }
    }
    for (MeshTriangle& triangle : tree_.triangles)
      for (int k = 0; k < 3; ++k) {
        const std::size_t v = at(triangle.corner[at(k)]);
        triangle.peak[at(k)] = high[v] && !told[v];
        told[v] = 1;
      }
  }

  const std::string& owner_;
  MeshTree tree_;
};

}  // namespace

std::shared_ptr<const TriangleMesh> make_triangle_mesh(const std::vector<Vec3>& points,
                                                       const std::vector<std::array<int, 3>>& triangles,
                                                       const std::string& owner) {
  Vec3 lo = Vec3::Constant(HUGE_VAL), hi = -lo;
  for (const Vec3& x : points) {
    if (!x.allFinite()) throw InvalidInput(owner + ": a point is not finite");
    lo = lo.cwiseMin(x);
    hi = hi.cwiseMax(x);
  }
  auto mesh = std::make_shared<TriangleMesh>();
  const double apart = points.empty() ? 0 : 1e-9 * (hi - lo).norm();
  if (!(apart > 0)) throw InvalidInput(owner + ": a mesh without extent");
  std::set<std::array<int, 3>> told;
  const std::vector<int> number = joined(points, apart, mesh->vertices);
  for (const auto& t : triangles) {
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (t[k] < 0 || at(t[k]) >= points.size())
        throw InvalidInput(owner + ": a triangle names point " + std::to_string(t[k]) + " of " +
                           std::to_string(points.size()));
      corners[k] = number[at(t[k])];
    }
    const Vec3 &a = mesh->vertices[at(corners[0])], &b = mesh->vertices[at(corners[1])],
               &c = mesh->vertices[at(corners[2])];
    const double longest = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    if (!((b - a).cross(c - a).norm() > no_area * longest)) continue;
    std::array<int, 3> turned = corners;
    std::rotate(turned.begin(), std::min_element(turned.begin(), turned.end()), turned.end());
    if (told.insert(turned).second) mesh->triangles.push_back(corners);
  }
  if (mesh->triangles.empty()) throw InvalidInput(owner + ": a mesh without triangles that have an area");
  mesh->tree = Builder(*mesh, owner).tree();
  return mesh;
}

// The barycentric regions of a triangle, as in [Ericson2005, sec. 5.1.5].
TrianglePoint nearest_point(const MeshTree& tree, const MeshTriangle& triangle, const Vec3& x) {
  const Vec3 &a = tree.point(triangle, 0), &b = tree.point(triangle, 1), &c = tree.point(triangle, 2);
  const Vec3 ab = b - a, ac = c - a, ax = x - a, bx = x - b, cx = x - c;
  const double d1 = ab.dot(ax), d2 = ac.dot(ax), d3 = ab.dot(bx), d4 = ac.dot(bx), d5 = ab.dot(cx), d6 = ac.dot(cx);
  if (d1 <= 0 && d2 <= 0) return {a, 1};
  if (d3 >= 0 && d4 <= d3) return {b, 2};
  if (d6 >= 0 && d5 <= d6) return {c, 4};
  if (d1 * d4 - d3 * d2 <= 0 && d1 >= 0 && d3 <= 0) return {a + d1 / (d1 - d3) * ab, 3};
  if (d5 * d2 - d1 * d6 <= 0 && d2 >= 0 && d6 <= 0) return {a + d2 / (d2 - d6) * ac, 5};
  if (d3 * d6 - d5 * d4 <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return {b + (d4 - d3) / (d4 - d3 + d5 - d6) * (c - b), 6};
  return {x - triangle.n.dot(ax) * triangle.n, 0};
}

namespace {

double distance_to_box(const MeshTree::Node& node, const Vec3& x) {
  return (node.lo - x).cwiseMax(x - node.hi).cwiseMax(0.0).norm();
}

/// Is x, whose nearest point is on a side or corner, behind the mesh?
bool behind(const MeshTree& tree, const MeshTriangle& t, const TrianglePoint& foot, const Vec3& x) {
  const Vec3 d = x - foot.p;
  if (foot.part == 0) return t.n.dot(d) < 0;
  auto ends = [&](int k) { return t.beyond[at(k)] < 0; };
  for (int k = 0; k < 3; ++k) {
    const unsigned side = 1u << k | 1u << (k + 1) % 3;
    if (foot.part == side) return !ends(k) && (t.n + tree.triangles[at(t.beyond[at(k)])].n).dot(d) < 0;
    if (foot.part == 1u << k) return !ends(k) && !ends((k + 2) % 3) && tree.normals[at(t.corner[at(k)])].dot(d) < 0;
  }
  return false;
}

}  // namespace

MeshPoint nearest_point(const MeshTree& tree, const Vec3& x, double within) {
  MeshPoint best;
  best.distance = within;
  std::array<int, MeshTree::most_depth> stack;
  int count = 0;
  stack[at(count++)] = 0;
  while (count > 0) {
    const int i = stack[at(--count)];
    const MeshTree::Node& node = tree.nodes[at(i)];
    if (distance_to_box(node, x) > best.distance) continue;
    if (node.right >= 0) {
      int first = i + 1, second = node.right;
      if (distance_to_box(tree.nodes[at(first)], x) > distance_to_box(tree.nodes[at(second)], x))
        std::swap(first, second);
      stack[at(count++)] = second;
      stack[at(count++)] = first;
      continue;
    }
    for (int t = node.begin; t < node.end; ++t) {
      const TrianglePoint foot = nearest_point(tree, tree.triangles[at(t)], x);
      const double d = (x - foot.p).norm();
      if (d < best.distance || (d == best.distance && best.triangle < 0)) best = {t, foot, d, false};
    }
  }
  if (best.triangle >= 0) best.inside = behind(tree, tree.triangles[at(best.triangle)], best.foot, x);
  return best;
}

namespace {

/// Share of the way from p along d at which it enters the triangle from outside; beyond 1: not.
double entry(const MeshTree& tree, const MeshTriangle& t, const Vec3& p, const Vec3& d) {
  const double speed = t.n.dot(d);
  if (!(speed < 0)) return HUGE_VAL;
  const double s = t.n.dot(tree.point(t, 0) - p) / speed;
  if (!(s >= 0 && s <= 1)) return HUGE_VAL;
  const Vec3 x = p + s * d;
  for (int k = 0; k < 3; ++k) {
    const Vec3 side = tree.point(t, (k + 1) % 3) - tree.point(t, k);
    if (t.n.dot(side.cross(x - tree.point(t, k))) < -1e-12 * side.squaredNorm()) return HUGE_VAL;
  }
  return s;
}

bool passes(const MeshTree::Node& node, const Vec3& p, const Vec3& d, double most) {
  double in = 0, out = most;
  for (int k = 0; k < 3; ++k) {
    if (d[k] == 0) {
      if (p[k] < node.lo[k] || p[k] > node.hi[k]) return false;
      continue;
    }
    const double a = (node.lo[k] - p[k]) / d[k], b = (node.hi[k] - p[k]) / d[k];
    in = std::max(in, std::min(a, b));
    out = std::min(out, std::max(a, b));
  }
  return in <= out + 1e-12;  // a box may be flat
}

}  // namespace

int entered(const MeshTree& tree, const Vec3& from, const Vec3& to) {
  const Vec3 d = to - from;
  double first = 1;
  int found = -1;
  std::array<int, MeshTree::most_depth> stack;
  int count = 0;
  stack[at(count++)] = 0;
  while (count > 0) {
    const int i = stack[at(--count)];
    const MeshTree::Node& node = tree.nodes[at(i)];
    if (!passes(node, from, d, first)) continue;
    if (node.right >= 0) {
      stack[at(count++)] = node.right;
      stack[at(count++)] = i + 1;
      continue;
    }
    for (int t = node.begin; t < node.end; ++t)
      if (const double s = entry(tree, tree.triangles[at(t)], from, d); s <= first) first = s, found = t;
  }
  return found;
}

}  // namespace tribo
