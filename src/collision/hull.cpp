// Convex hulls by Qhull (through Coal), with the coplanar triangles joined into faces.
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/names.hpp"
#include "tribo/shape.hpp"

namespace tribo {
namespace {

using Triangle = std::array<int, 3>;
using HullEdge = std::pair<int, int>;

constexpr double most_away = 1e5;  // coordinate of a point [m]; Qhull, as it is packaged, crashes where it would warn

struct Soup {
  std::vector<Vec3> points;
  std::vector<Triangle> triangles;  // counter-clockwise seen from outside
};

// Distance of the farthest point from the plane through three far apart ones, over the size of the set.
// Checked beforehand, since the Qhull inside Coal's wheel crashes on flat input instead of saying so.
double thickness(const std::vector<Vec3>& points) {
  auto farthest = [&](auto&& distance) {
    return *std::max_element(points.begin(), points.end(),
                             [&](const Vec3& a, const Vec3& b) { return distance(a) < distance(b); });
  };
  const Vec3 a = points[0];
  const Vec3 b = farthest([&](const Vec3& p) { return (p - a).squaredNorm(); });
  const double size = (b - a).norm();
  if (!(size > 0)) return 0;
  const Vec3 along = (b - a) / size;
  const Vec3 c = farthest([&](const Vec3& p) { return along.cross(p - a).squaredNorm(); });
  const Vec3 normal = along.cross(c - a);
  if (!(normal.norm() > 1e-7 * size)) return 0;
  const Vec3 up = normal.normalized();
  const Vec3 d = farthest([&](const Vec3& p) { return std::abs(up.dot(p - a)); });
  return std::abs(up.dot(d - a)) / size;
}

// Points farthest along directions spread evenly over the sphere (a Fibonacci lattice).
std::vector<Vec3> extremes(const std::vector<Vec3>& points, int directions) {
  std::set<std::size_t> chosen;
  for (int k = 0; k < directions; ++k) {
    const double z = 1 - (2 * k + 1.0) / directions, r = std::sqrt(1 - z * z), a = k * M_PI * (3 - std::sqrt(5.0));
    const Vec3 along(r * std::cos(a), r * std::sin(a), z);
    const auto far = std::max_element(points.begin(), points.end(),
                                      [&](const Vec3& x, const Vec3& y) { return along.dot(x) < along.dot(y); });
    chosen.insert(static_cast<std::size_t>(far - points.begin()));
  }
  std::vector<Vec3> result;
  result.reserve(chosen.size());
  for (std::size_t i : chosen) result.push_back(points[i]);
  return result;
}

std::unique_ptr<coal::ConvexBase> coal_hull(const std::vector<Vec3>& points) {
  auto copy = std::make_shared<std::vector<coal::Vec3s>>(points.begin(), points.end());
  return std::unique_ptr<coal::ConvexBase>(
      coal::ConvexBase::convexHull(copy, static_cast<unsigned>(copy->size()), true));
}

Soup qhull(const std::vector<Vec3>& points, const std::string& owner) {
  std::unique_ptr<coal::ConvexBase> base;
  try {
    base = coal_hull(points);
  } catch (const std::exception&) {
    // Coal counts the neighbours of a vertex in one byte. With fewer directions than that no vertex has too many.
    try {
      base = coal_hull(extremes(points, 250));
    } catch (const std::exception& error) {
      throw InvalidInput(owner + ": no convex hull: " + error.what());
    }
  }
  const auto* convex = dynamic_cast<const coal::Convex<coal::Triangle>*>(base.get());
  if (convex == nullptr) throw InvalidInput(owner + ": no convex hull");
  Soup soup;
  soup.points.assign(convex->points->begin(), convex->points->begin() + convex->num_points);
  Vec3 middle = Vec3::Zero();
  for (const Vec3& p : soup.points) middle += p / static_cast<double>(soup.points.size());
  for (const coal::Triangle& t : *convex->polygons) {
    Triangle x{static_cast<int>(t[0]), static_cast<int>(t[1]), static_cast<int>(t[2])};
    const Vec3 &a = soup.points[at(x[0])], &b = soup.points[at(x[1])], &c = soup.points[at(x[2])];
    if ((b - a).cross(c - a).dot(a - middle) < 0) std::swap(x[1], x[2]);
    soup.triangles.push_back(x);
  }
  return soup;
}

// Which triangle has an edge in this direction: the edges of all triangles, listed by the corner that they leave.
class EdgeOwners {
 public:
  EdgeOwners(const std::vector<Triangle>& triangles, std::size_t corners) : first_(corners + 1, 0) {
    for (const Triangle& x : triangles)
      for (const int v : x) ++first_[at(v) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    edges_.resize(3 * triangles.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k)
        edges_[next[at(triangles[t][k])]++] = {triangles[t][(k + 1) % 3], static_cast<int>(t)};
  }

  /// The last of several; -1: none.
  int operator()(int from, int to) const {
    for (std::size_t i = first_[at(from) + 1]; i-- > first_[at(from)];)
      if (edges_[i].to == to) return edges_[i].triangle;
    return -1;
  }

 private:
  struct Leaving {
    int to, triangle;
  };
  std::vector<std::size_t> first_;
  std::vector<Leaving> edges_;
};

// The loop around a set of triangles from its smallest corner on, or nothing where it is not one simple loop.
std::vector<int> outline(const std::vector<Triangle>& triangles, const std::vector<int>& group) {
  if (group.size() == 1) {
    Triangle x = triangles[at(group[0])];
    if (x[0] == x[1] || x[1] == x[2] || x[2] == x[0]) return {};
    std::rotate(x.begin(), std::min_element(x.begin(), x.end()), x.end());
    return {x.begin(), x.end()};
  }
  std::map<HullEdge, int> edges;
  for (int t : group)
    for (std::size_t k = 0; k < 3; ++k) {
      const HullEdge edge(triangles[at(t)][k], triangles[at(t)][(k + 1) % 3]);
      const auto back = edges.find({edge.second, edge.first});
      if (back != edges.end())
        edges.erase(back);
      else
        edges[edge] = t;
    }
  std::map<int, int> next;
  for (const auto& [edge, t] : edges)
    if (!next.insert(edge).second) return {};
  std::vector<int> loop;
  for (int v = next.begin()->first; loop.size() < next.size(); v = next[v]) loop.push_back(v);
  return next[loop.back()] == loop.front() ? loop : std::vector<int>{};
}

// From the largest triangle down: each takes its neighbours that lie in its plane to within eps.
std::vector<std::vector<int>> faces_of(const Soup& soup, double eps) {
  const std::vector<Triangle>& triangles = soup.triangles;
  const int n = static_cast<int>(triangles.size());
  std::vector<Vec3> normal(at(n));
  const EdgeOwners owner(triangles, soup.points.size());
  for (int t = 0; t < n; ++t) {
    const Triangle& x = triangles[at(t)];
    const Vec3& a = soup.points[at(x[0])];
    normal[at(t)] = (soup.points[at(x[1])] - a).cross(soup.points[at(x[2])] - a);
  }
  std::vector<int> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return normal[at(a)].squaredNorm() > normal[at(b)].squaredNorm(); });
  std::vector<char> taken(at(n), 0);
  std::vector<std::vector<int>> faces;
  for (int seed : order) {
    if (taken[at(seed)]) continue;
    const Vec3 up = normal[at(seed)].normalized();
    const double level = up.dot(soup.points[at(triangles[at(seed)][0])]);
    std::vector<int> group{seed};
    taken[at(seed)] = 1;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Triangle x = triangles[at(group[i])];
      for (std::size_t k = 0; k < 3; ++k) {
        const int next = owner(x[(k + 1) % 3], x[k]);
        if (next < 0 || taken[at(next)]) continue;
        const Triangle& y = triangles[at(next)];
        const bool flat =
            std::all_of(y.begin(), y.end(), [&](int v) { return std::abs(up.dot(soup.points[at(v)]) - level) <= eps; });
        if (!flat || normal[at(next)].dot(up) < 0) continue;
        taken[at(next)] = 1;
        group.push_back(next);
      }
    }
    std::vector<int> loop = outline(triangles, group);
    if (loop.size() >= 3) {
      faces.push_back(std::move(loop));
    } else {
      for (int t : group) faces.emplace_back(triangles[at(t)].begin(), triangles[at(t)].end());
    }
  }
  return faces;
}

}  // namespace

namespace {

void check_points(const std::vector<Vec3>& points, const std::string& owner) {
  if (points.size() < 4)
    throw InvalidInput(owner + ": a convex hull needs at least 4 points, got " + std::to_string(points.size()));
  for (const Vec3& p : points) {
    if (!p.allFinite()) throw InvalidInput(owner + ": a point of the hull is not finite");
    if (p.cwiseAbs().maxCoeff() > most_away)
      throw InvalidInput(owner + ": a point of the hull is " + shown(p.cwiseAbs().maxCoeff()) +
                         " m away, must be within " + shown(most_away) + " m (is the scale right?)");
  }
  if (!(thickness(points) > 1e-7))
    throw InvalidInput(owner + ": no convex hull, its " + std::to_string(points.size()) + " points lie in a plane");
}

std::shared_ptr<const Hull> joined(const Soup& soup) {
  double size = 0;
  for (const Vec3& p : soup.points) size = std::max(size, (p - soup.points[0]).norm());
  auto hull = std::make_shared<Hull>();
  // 1e-7 of the size is far below the bend between facets of any mesh and far above the rounding of Qhull.
  hull->faces = faces_of(soup, 1e-7 * size);
  std::vector<int> index(soup.points.size(), -1);
  for (std::vector<int>& face : hull->faces)
    for (int& v : face) {
      if (index[at(v)] < 0) {
        index[at(v)] = static_cast<int>(hull->vertices.size());
        hull->vertices.push_back(soup.points[at(v)]);
        hull->radius = std::max(hull->radius, soup.points[at(v)].norm());
      }
      v = index[at(v)];
    }
  return hull;
}

}  // namespace

std::shared_ptr<const Hull> make_hull(const std::vector<Vec3>& points, const std::string& owner) {
  check_points(points, owner);
  return joined(qhull(points, owner));
}

std::shared_ptr<const Hull> make_hull(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles,
                                      const std::string& owner) {
  check_points(points, owner);
  return joined({points, triangles});
}

}  // namespace tribo
