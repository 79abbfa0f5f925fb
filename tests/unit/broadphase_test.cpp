// Which pairs are looked at.
#include <algorithm>

#include "collision/broadphase.hpp"
#include "collision/narrowphase.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

TEST_CASE("collision: the sweep finds the pairs that trying all of them finds") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> u(0, 1);
  for (int scene = 0; scene < 20; ++scene) {
    World all;
    all.range = {.margin = 0.02, .dt = 1e-2};
    const ShapeKind kinds[] = {ShapeKind::Box, ShapeKind::Sphere, ShapeKind::Capsule, ShapeKind::Convex,
                               ShapeKind::Point};
    for (int i = 0; i < 40; ++i) {
      const Vec3 size{0.05 + 0.2 * u(rng), 0.05 + 0.2 * u(rng), 0.05 + 0.2 * u(rng)};
      // Fixed ones stand in corners, clear of each other: where they join, contacts are covered.
      const bool fixed = i % 7 == 6;
      const int c = i / 7;
      const Vec3 p = fixed ? Vec3(c & 1, c >> 1 & 1, c >> 2 & 1) : Vec3{u(rng), u(rng), u(rng)};
      all.add(kinds[i % 5], size, {random_rotation(rng), 1.2 * p}, fixed);
    }
    for (BodyMotion& b : all.bodies) {
      b.v = 10 * Vec3{u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5};
      b.w = 10 * Vec3{u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5};
    }
    const auto found = ids(all.detect());
    check_list(all.detect());
    // Each pair alone in a model of two, where the filter of the whole model allows it.
    std::size_t expected = 0;
    Scratch scratch;
    std::vector<Solid> solids;
    std::vector<PlacedSolid> placed;
    for (const Geometry& g : all.model->geometries) solids.emplace_back(g);
    for (std::size_t i = 0; i < solids.size(); ++i) {
      const Geometry& g = all.model->geometries[i];
      const BodyMotion fixed;
      const BodyMotion& b = g.body < 0 ? fixed : all.bodies[static_cast<std::size_t>(g.body)];
      placed.push_back({&solids[i], b.X_WB * g.X_BG, b.v, b.w});
    }
    for (std::size_t i = 0; i < solids.size(); ++i)
      for (std::size_t j = i + 1; j < solids.size(); ++j) {
        if (!all.model->may_collide(static_cast<int>(i), static_cast<int>(j))) continue;
        const bool swap = all.model->geometries[j].body < 0;
        Query query{placed[swap ? j : i], placed[swap ? i : j], all.range.margin, all.range.dt, 0, &scratch};
        query.reach = std::max(query.margin,
                               query.dt * ((query.b.v - query.a.v).norm() + query.a.w.norm() * query.a.solid->radius +
                                           query.b.w.norm() * query.b.solid->radius) +
                                   astray * query.margin);
        for (const PlacedSolid* x : {&query.a, &query.b})  // as far as turning bends the way of a point
          query.bend += 0.5 * std::pow(query.dt * turning(*x), 2) * x->solid->radius;
        Touches touches;
        touch(query, touches);
        look_ahead(query, touches);
        expected += static_cast<std::size_t>(touches.count);
      }
    CHECK(found.size() == expected);
    CHECK(expected > 20);
  }
}

TEST_CASE("collision: grid and sweep agree with trying all pairs of boxes") {
  std::mt19937 rng(13);
  std::uniform_real_distribution<double> u(0, 1);
  for (int scene = 0; scene < 20; ++scene) {
    Broadphase broadphase;
    const double spread = scene % 2 ? 3 : 50;  // dense, and with many empty cells
    for (int i = 0; i < 300; ++i) {
      const Vec3 c = spread * Vec3{u(rng) - 0.5, u(rng) - 0.5, u(rng) - 0.5};
      const double big = i % 100 == 7 ? 10 : 1;
      const Vec3 h = big * Vec3{0.1 + 0.2 * u(rng), 0.1 + 0.2 * u(rng), 0.1 + 0.2 * u(rng)};
      broadphase.boxes.push_back({c - h, c + h, i, i % 5 == 0});
    }
    std::vector<std::pair<int, int>> expected, swept, gridded;
    for (const Bounds& a : broadphase.boxes)
      for (const Bounds& b : broadphase.boxes)
        if (a.index < b.index && !(a.fixed && b.fixed) && (a.lo.array() <= b.hi.array()).all() &&
            (b.lo.array() <= a.hi.array()).all())
          expected.emplace_back(a.index, b.index);
    broadphase.sweep(swept);
    REQUIRE(broadphase.grid(gridded));
    for (auto* pairs : {&swept, &gridded}) {
      for (auto& p : *pairs)
        if (p.first > p.second) std::swap(p.first, p.second);
      std::sort(pairs->begin(), pairs->end());
      CHECK(*pairs == expected);
    }
  }
}

// All are asked at once, by fours: with every number of boxes, whatever was asked before, and where they just touch.
TEST_CASE("broadphase: few boxes meet as in trying all pairs, and none that is not finite") {
  std::mt19937 rng(7);
  std::uniform_int_distribution<int> u(0, 6);
  Broadphase broadphase;
  std::size_t met = 0, apart = 0;
  for (int scene = 0; scene < 200; ++scene) {
    const int n = scene * 7 % 41;  // a few above what is asked so
    broadphase.boxes.clear();
    for (int i = 0; i < n; ++i) {
      const Vec3 lo = Vec3(u(rng), u(rng), u(rng)), size = 0.5 * Vec3(u(rng), u(rng), u(rng));
      broadphase.boxes.push_back({lo, lo + size, 3 * i, i % 4 == 1});
    }
    if (n > 9) broadphase.boxes[scene % 9].hi[scene % 3] = scene % 2 ? HUGE_VAL : std::nan("");
    std::vector<std::pair<int, int>> expected, found;
    for (const Bounds& a : broadphase.boxes)
      for (const Bounds& b : broadphase.boxes) {
        if (a.index >= b.index || (a.fixed && b.fixed) || !a.hi.allFinite() || !b.hi.allFinite()) continue;
        const bool meet = (a.lo.array() <= b.hi.array()).all() && (b.lo.array() <= a.hi.array()).all();
        if (meet) expected.emplace_back(a.index, b.index);
        apart += !meet;
      }
    broadphase.find(found);
    for (auto& p : found)
      if (p.first > p.second) std::swap(p.first, p.second);
    std::sort(found.begin(), found.end());
    REQUIRE(found == expected);
    met += found.size();
  }
  CHECK(met > 1000);
  CHECK(apart > 1000);
}

// While boxes stay in grown ones, the pairs that were near are looked at alone: never another answer.
TEST_CASE("broadphase: boxes that rest, drift, jump and change their number meet as in a sweep") {
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> u(-1, 1);
  Broadphase kept, fresh;
  std::vector<Bounds> boxes;
  for (int i = 0; i < 150; ++i) {
    const double x = u(rng), y = u(rng), z = u(rng);
    const Vec3 p = 0.5 * Vec3(x, y, z), half = Vec3::Constant(0.05);
    boxes.push_back({p - half, p + half, i, i % 10 == 0});
  }
  std::size_t changes = 0, before = 0;
  for (int step = 0; step < 300; ++step) {
    const double drift = step < 100 ? 1e-4 : step < 200 ? 2e-2 : 0;
    for (Bounds& b : boxes) {
      const double x = u(rng), y = u(rng), z = u(rng);
      b.lo += drift * Vec3(x, y, z);
      b.hi = b.lo + Vec3::Constant(0.1);
    }
    if (step == 250) boxes.pop_back();
    std::vector<std::pair<int, int>> found, expected;
    kept.boxes = fresh.boxes = boxes;
    kept.find(found);
    fresh.sweep(expected);
    for (auto* pairs : {&found, &expected}) {
      for (auto& [a, b] : *pairs)
        if (a > b) std::swap(a, b);
      std::sort(pairs->begin(), pairs->end());
    }
    REQUIRE(found == expected);
    changes += found.size() != before;
    before = found.size();
  }
  CHECK(changes > 50);
}
