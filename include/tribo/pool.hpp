// Elements that are used again from step to step, with the memory that they have grown to.
#pragma once

#include <cstddef>
#include <deque>

namespace tribo {

/// Elements 0 to size() - 1 are in use; clear() keeps the memory of all. References stay good.
template <class T>
class Pool {
 public:
  void clear() { used_ = 0; }
  T& next() {
    if (used_ == elements_.size()) elements_.emplace_back();
    return elements_[used_++];
  }
  std::size_t size() const { return used_; }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }

 private:
  std::deque<T> elements_;
  std::size_t used_ = 0;
};

}  // namespace tribo
