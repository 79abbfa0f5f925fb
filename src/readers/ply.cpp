// Layout: http://paulbourke.net/dataformats/ply/. A header of lines, then the elements in its order; only x, y, z of
// `vertex` are kept, and what stands before it is passed over.
#include "readers/ply.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <sstream>

namespace tribo {
namespace {

struct Type {
  std::size_t bytes;
  char kind;  ///< 'f' of a float, 'i' of a signed, 'u' of an unsigned number
};

struct Property {
  std::string name;
  Type type;
  bool list = false;
  Type count{0, 'u'};  ///< of a list
};

struct Elements {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

class Ply {
 public:
  Ply(const std::string& bytes, const std::string& name) : bytes_(bytes), name_(name) { read_header(); }

  std::vector<Vec3> points() {
    for (const Elements& element : elements_) {
      if (element.name == "vertex") return vertices(element);
      for (std::uint64_t i = 0; i < element.count; ++i) row(element, nullptr, {});
    }
    fail("has no element 'vertex'");
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw InvalidInput("mesh '" + name_ + "': " + why); }

  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string::npos) fail("its header does not end");
    std::string text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return text;
  }

  Type type(const std::string& word) const {
    static const std::pair<const char*, Type> known[] = {
        {"char", {1, 'i'}},  {"int8", {1, 'i'}},    {"uchar", {1, 'u'}},  {"uint8", {1, 'u'}},
        {"short", {2, 'i'}}, {"int16", {2, 'i'}},   {"ushort", {2, 'u'}}, {"uint16", {2, 'u'}},
        {"int", {4, 'i'}},   {"int32", {4, 'i'}},   {"uint", {4, 'u'}},   {"uint32", {4, 'u'}},
        {"float", {4, 'f'}}, {"float32", {4, 'f'}}, {"double", {8, 'f'}}, {"float64", {8, 'f'}}};
    for (const auto& [name, type] : known)
      if (word == name) return type;
    fail("has a property of the unknown type '" + word + "'");
  }

  void read_header() {
    if (line() != "ply") fail("does not begin with 'ply'");
    std::string format;
    for (std::string text = line(); text != "end_header"; text = line()) {
      std::istringstream words(text);
      std::string word, first, second;
      words >> word >> first >> second;
      if (word == "format") {
        format = first;
      } else if (word == "element") {
        elements_.push_back({first, 0, {}});
        const auto [end, error] = std::from_chars(second.data(), second.data() + second.size(), elements_.back().count);
        if (error != std::errc{} || end != second.data() + second.size()) fail("element '" + first + "' has no count");
      } else if (word == "property") {
        if (elements_.empty()) fail("has a property of no element");
        Property p;
        if (first == "list") {
          std::string item;
          words >> item >> p.name;
          p.list = true;
          p.count = type(second);
          p.type = type(item);
          if (p.count.kind == 'f') fail("has a list whose length is no whole number");
        } else {
          p.type = type(first);
          p.name = second;
        }
        elements_.back().properties.push_back(p);
      }
    }
    if (format != "ascii" && format != "binary_little_endian" && format != "binary_big_endian")
      fail("has the unknown format '" + format + "'");
    text_ = format == "ascii";
    swapped_ = format == "binary_big_endian";
    for (const Elements& e : elements_) check_room(e);
  }

  // A row takes a byte and its separator for each number of a text.
  void check_room(const Elements& e) const {
    std::uint64_t row = 0;
    for (const Property& p : e.properties) row += text_ ? 2 : p.list ? p.count.bytes : p.type.bytes;
    const std::uint64_t left = bytes_.size() - at_ + 1;
    if (e.count > 0 && (row == 0 || e.count > left / row))
      fail("its header claims " + std::to_string(e.count) + " of '" + e.name + "', the file has room for " +
           std::to_string(row == 0 ? 0 : left / row));
  }

  double number(Type type) {
    if (text_) {
      while (at_ < bytes_.size() && std::isspace(static_cast<unsigned char>(bytes_[at_]))) ++at_;
      double x = 0;
      const auto [end, error] = std::from_chars(bytes_.data() + at_, bytes_.data() + bytes_.size(), x);
      if (error != std::errc{}) fail(at_ >= bytes_.size() ? "ends too early" : "has something that is no number");
      at_ = static_cast<std::size_t>(end - bytes_.data());
      return x;
    }
    if (bytes_.size() - at_ < type.bytes) fail("ends too early");
    std::array<char, 8> raw{};
    std::memcpy(raw.data(), bytes_.data() + at_, type.bytes);
    at_ += type.bytes;
    if (swapped_) std::reverse(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(type.bytes));
    return value(raw, type);
  }

  static double value(const std::array<char, 8>& raw, Type type) {
    const auto as = [&](auto x) {
      std::memcpy(&x, raw.data(), sizeof x);
      return static_cast<double>(x);
    };
    if (type.kind == 'f') return type.bytes == 4 ? as(float{}) : as(double{});
    if (type.bytes == 1) return type.kind == 'i' ? as(std::int8_t{}) : as(std::uint8_t{});
    if (type.bytes == 2) return type.kind == 'i' ? as(std::int16_t{}) : as(std::uint16_t{});
    return type.kind == 'i' ? as(std::int32_t{}) : as(std::uint32_t{});
  }

  /// Numbers of one row; those of the places are kept.
  void row(const Elements& element, Vec3* kept, const std::array<int, 3>& places) {
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Property& p = element.properties[i];
      const double n = p.list ? number(p.count) : 1;
      if (!(n >= 0) || n > static_cast<double>(bytes_.size())) fail("has a list of an impossible length");
      for (double k = 0; k < n; ++k) {
        const double x = number(p.type);
        for (int axis = 0; axis < 3 && kept != nullptr && !p.list; ++axis)
          if (places[at(axis)] == static_cast<int>(i)) (*kept)[axis] = x;
      }
    }
  }

  std::vector<Vec3> vertices(const Elements& element) {
    std::array<int, 3> places{-1, -1, -1};
    for (std::size_t i = 0; i < element.properties.size(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        if (element.properties[i].name == std::string(1, "xyz"[axis])) places[at(axis)] = static_cast<int>(i);
    if (std::count(places.begin(), places.end(), -1) > 0) fail("its vertices have no x, y and z");
    std::vector<Vec3> points;
    points.reserve(static_cast<std::size_t>(element.count));
    for (std::uint64_t i = 0; i < element.count; ++i) {
      Vec3 p = Vec3::Zero();
      row(element, &p, places);
      points.push_back(p);
    }
    return points;
  }

  const std::string& bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  bool text_ = false, swapped_ = false;
  std::vector<Elements> elements_;
};

}  // namespace

std::vector<Vec3> ply_points(const std::string& bytes, const std::string& name) { return Ply(bytes, name).points(); }
void check_ply(const std::string& bytes, const std::string& name) { static_cast<void>(Ply(bytes, name)); }

}  // namespace tribo
