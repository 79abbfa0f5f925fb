// A model as the lane kernels read it: indices, points that may touch, shapes that are only watched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lanes/data.hpp"
#include "model/sizes.hpp"
#include "tribo/controller.hpp"
#include "tribo/model.hpp"
#include "tribo/stepper.hpp"

namespace tribo::lanes {

/// What lanes do not cover of a scene, in words; "" where they cover it.
std::string uncovered(const Model& model, const std::string& stepper, const StepperOptions& options,
                      std::span<const PdOptions> drives);

/// Owns what a Shape points to.
class ShapeData {
 public:
  ShapeData(const Model& model, const StepperOptions& options, double dt);
  ShapeData(const ShapeData&) = delete;
  ShapeData& operator=(const ShapeData&) = delete;

  const Shape& shape() const { return shape_; }
  /// Of the point i: its contact id, and the geometries.
  std::uint64_t id(int i) const { return ids_[static_cast<std::size_t>(i)]; }
  int ground_geometry(int i) const { return static_cast<int>(id(i) >> 40); }
  int geometry(int i) const { return static_cast<int>(id(i) >> 16 & 0xffffff); }
  /// The point of a contact, or -1.
  int point_of(std::uint64_t id) const;
  /// Are bodies, joints and shapes of another model where those of this one are? Masses, friction and limits may differ.
  bool same_build(const Model& other) const;

 private:
  void add_bodies();
  void add_chains();
  void add_points(const Sizes& sizes, double margin);
  int places() const;
  void add_reach(const ContactOptions& contact);
  void add_geometry(int ground, int geometry, const Sizes& sizes, double margin);
  void add_vertices(const Geometry& g, Watched& w);
  void find_together();

  const Model& model_;
  Shape shape_{};
  std::vector<int> parent_, joint_, iq_, iv_, aligned_, turned_, dof_body_, dof_iq_, depth_, row_, chain_start_, chain_,
      body_depth_, shared_, together_;
  std::vector<double> placement_, axis_, vertices_, reach_, turning_;
  std::vector<Point> points_;
  std::vector<Watched> watched_;
  std::vector<Ground> grounds_;
  std::vector<std::uint64_t> ids_;
};

}  // namespace tribo::lanes
