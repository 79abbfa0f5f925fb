// Contacts on terrain and other fixed shapes, for the kernels: each lane has the list that the scalar step would make, by the
// same search, and they stand side by side in the places of a pack.
#pragma once

#include <span>
#include <vector>

#include "collision/collision.hpp"
#include "lanes/buffer.hpp"
#include "lanes/data.hpp"
#include "model/sizes.hpp"
#include "tribo/contact.hpp"
#include "tribo/material.hpp"
#include "tribo/stepper.hpp"

namespace tribo::lanes {

/// Share of an overlap that a step removes, of a shape of this size: Recovery::share.
double recovery_share(const ContactOptions& contact, double gravity, double dt, double size);

/// Of one world: what it remembers of its contacts, its last step, and the surfaces of its model.
struct WorldContacts {
  std::vector<ContactMemory> memory;  ///< sorted by id
  std::vector<ContactReport> reports;
  std::vector<SurfacePair> surfaces;
};

/// The search of one thread.
class LaneContacts {
 public:
  /// model: as long as this lives.
  LaneContacts(const Model& model, const Shape& shape, const ContactOptions& contact, int width);
  LaneContacts(const LaneContacts&) = delete;
  LaneContacts& operator=(const LaneContacts&) = delete;

  /// A step of these worlds begins: the arrays of their pack, with those of contacts that are kept here.
  PackArrays begin(const PackArrays& pack, std::span<WorldContacts> worlds);
  const Finder* finder() const { return &finder_; }
  /// The lane has moved: its world remembers the contacts of the step.
  void remember(int lane);

 private:
  Finder::Listed list(const Motions& now, unsigned lanes);
  unsigned more(const Motions& now, unsigned lanes);
  void read_motions(const Motions& from, int lane);
  void fill(int lane, const Contact& contact, int slot);
  double& entry(double* PackArrays::*array, int i, int lane) { return (arrays_.*array)[i * width_ + lane]; }
  void put(double* PackArrays::*array, int i, int lane, const Vec3& x) {
    for (int k = 0; k < 3; ++k) entry(array, 3 * i + k, lane) = x[k];
  }
  Vec3 get(double* PackArrays::*array, int i, int lane) {
    return {entry(array, 3 * i, lane), entry(array, 3 * i + 1, lane), entry(array, 3 * i + 2, lane)};
  }

  const Model& model_;
  Sizes sizes_;
  ContactOptions options_;
  DetectionRange range_;
  double gravity_;
  int width_, most_, slots_;
  std::vector<double> shares_;  // by geometry
  Collision search_;
  std::vector<BodyMotion> motions_;
  std::vector<std::vector<Contact>> lists_;     // by lane, in the order of ids
  std::vector<int> first_, count_, slot_body_;  // by body: its first place and contacts of a lane; by place
  Vec3 origin_ = Vec3::Zero();                  // of a lane
  Buffer storage_;
  PackArrays arrays_{};
  std::span<WorldContacts> worlds_;
  Finder finder_;
};

}  // namespace tribo::lanes
