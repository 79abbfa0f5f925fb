#include "io/png.hpp"

#include <zlib.h>

#include <cstring>

#include "base/file.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::uint32_t most_points = 16384;        // along one side
constexpr std::uint64_t largest_file = 1ull << 30;  // [bytes]
constexpr std::uint64_t few_points = 4'000'000, most_from_byte = 64;
constexpr unsigned char signature[8] = {137, 80, 78, 71, 13, 10, 26, 10};

std::uint32_t word(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

// What the first chunk says.
struct Layout {
  std::uint32_t width = 0, height = 0;
  int bits = 0, colour = 0;

  int channels() const { return colour == 0 ? 1 : colour == 2 ? 3 : colour == 4 ? 2 : 4; }
  std::size_t pixel() const { return static_cast<std::size_t>(channels() * bits / 8); }  // [bytes]
  std::size_t row() const { return pixel() * width; }
};

Layout layout_of(const unsigned char* data, std::uint32_t length, const std::string& path) {
  if (length != 13) throw InvalidInput(path + ": its header is broken");
  Layout layout{word(data), word(data + 4), data[8], data[9]};
  if (layout.width < 2 || layout.height < 2 || layout.width > most_points || layout.height > most_points)
    throw InvalidInput(path + ": has " + std::to_string(layout.width) + " x " + std::to_string(layout.height) +
                       " points, must have from 2 to 16384 along each side");
  if ((layout.bits != 8 && layout.bits != 16) || layout.colour == 3 || layout.colour > 6 || data[12] != 0)
    throw InvalidInput(path + ": is a PNG with a palette, interlaced, or of " + std::to_string(layout.bits) +
                       " bits; save it in shades of grey of 8 or 16 bits, not interlaced");
  return layout;
}

Bytes unpacked(const Bytes& packed, std::size_t size, const std::string& path) {
  Bytes out(size);
  uLongf written = static_cast<uLongf>(size);
  if (uncompress(out.data(), &written, packed.data(), static_cast<uLong>(packed.size())) != Z_OK || written != size)
    throw InvalidInput(path + ": its picture is cut off or broken");
  return out;
}

int paeth(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Each row begins with the number of a filter that was taken over it.
void unfilter(const Layout& layout, Bytes& rows, const std::string& path) {
  const std::size_t n = layout.row(), step = layout.pixel();
  const Bytes nothing(n, 0);
  for (std::size_t j = 0; j < layout.height; ++j) {
    unsigned char* row = rows.data() + j * (n + 1) + 1;
    const unsigned char* above = j == 0 ? nothing.data() : row - (n + 1);
    const int filter = row[-1];
    if (filter > 4) throw InvalidInput(path + ": its picture is broken in row " + std::to_string(j));
    for (std::size_t i = 0; i < n; ++i) {
      const int a = i >= step ? row[i - step] : 0, b = above[i], c = i >= step ? above[i - step] : 0;
      const int add = filter == 1 ? a : filter == 2 ? b : filter == 3 ? (a + b) / 2 : filter == 4 ? paeth(a, b, c) : 0;
      row[i] = static_cast<unsigned char>(row[i] + add);
    }
  }
}

}  // namespace

GreyPicture read_png(const std::string& path) {
  const File file(path, File::Mode::Read);
  if (file.size() > largest_file) throw InvalidInput(path + ": is larger than 1 GB");
  Bytes bytes(static_cast<std::size_t>(file.size()));
  file.read_at(0, bytes.data(), bytes.size());
  if (bytes.size() < 8 || std::memcmp(bytes.data(), signature, 8) != 0) throw InvalidInput(path + ": is no PNG");
  Layout layout;
  Bytes packed;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::uint32_t length = word(bytes.data() + at);
    const unsigned char *kind = bytes.data() + at + 4, *data = kind + 4;
    if (length > bytes.size() - at - 12) break;
    if (std::memcmp(kind, "IHDR", 4) == 0) layout = layout_of(data, length, path);
    if (std::memcmp(kind, "IDAT", 4) == 0) packed.insert(packed.end(), data, data + length);
    at += 12 + std::size_t{length};
  }
  if (layout.width == 0) throw InvalidInput(path + ": is cut off");
  // Deflate makes a thousand bytes of one: a large picture that is made of hardly any is a mistake, or worse.
  const std::uint64_t points = std::uint64_t{layout.width} * layout.height;
  if (points > few_points && points > most_from_byte * packed.size())
    throw InvalidInput(path + ": claims " + std::to_string(points) + " points and stores " +
                       std::to_string(packed.size()) + " bytes of them");
  Bytes rows = unpacked(packed, layout.height * (layout.row() + 1), path);
  unfilter(layout, rows, path);
  GreyPicture picture{static_cast<int>(layout.width), static_cast<int>(layout.height), {}};
  const int shown = layout.colour == 2 || layout.colour == 6 ? 3 : 1;  // opacity is no shade
  const std::size_t wide = layout.bits / 8;
  for (std::size_t j = 0; j < layout.height; ++j)
    for (std::size_t i = 0; i < layout.width; ++i) {
      const unsigned char* p = rows.data() + j * (layout.row() + 1) + 1 + i * layout.pixel();
      double sum = 0;
      for (int c = 0; c < shown; ++c, p += wide) sum += wide == 1 ? p[0] / 255.0 : (256 * p[0] + p[1]) / 65535.0;
      picture.shades.push_back(sum / shown);
    }
  return picture;
}

}  // namespace tribo
