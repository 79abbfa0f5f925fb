// FNV-1a over the bytes of numbers and names: names a model, compares states.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tribo/types.hpp"

namespace tribo {

class Hash {
 public:
  Hash& bytes(const void* data, std::size_t n) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < n; ++i) value_ = (value_ ^ p[i]) * 0x100000001b3ull;
    return *this;
  }
  Hash& add(double x) { return bytes(&x, sizeof x); }
  Hash& add(int x) { return bytes(&x, sizeof x); }
  Hash& add(std::uint64_t x) { return bytes(&x, sizeof x); }
  Hash& add(const std::string& s) { return add(static_cast<int>(s.size())).bytes(s.data(), s.size()); }
  template <class D>
  Hash& add(const Eigen::PlainObjectBase<D>& m) {
    return add(static_cast<int>(m.size())).bytes(m.data(), sizeof(double) * static_cast<std::size_t>(m.size()));
  }
  /// Eight bytes at once, where there are many numbers to go through.
  Hash& word(double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    value_ = (value_ ^ bits) * 0x9e3779b97f4a7c15ull;
    value_ ^= value_ >> 32;
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

/// Sixteen digits.
inline std::string hex(std::uint64_t x) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

}  // namespace tribo
