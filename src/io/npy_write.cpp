// Layout: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html and PKWARE's APPNOTE 6.3 (zip).
#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "io/npy.hpp"

namespace tribo {
namespace {

constexpr std::uint32_t max32 = 0xffffffffu;
constexpr std::size_t prefix = 10, most_digits = 20;

/// Little-endian fields, one after another.
struct Fields {
  std::string bytes;
  template <class T>
  Fields& add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
    return *this;
  }
};

const char* descr(NpyType type) {
  switch (type) {
    case NpyType::F64:
      return "<f8";
    case NpyType::F32:
      return "<f4";
    case NpyType::I64:
      return "<i8";
    case NpyType::I32:
      return "<i4";
    case NpyType::I16:
      return "<i2";
    case NpyType::I8:
      return "|i1";
    case NpyType::U64:
      return "<u8";
    case NpyType::U32:
      return "<u4";
    case NpyType::U16:
      return "<u2";
    case NpyType::U8:
      return "|u1";
  }
  return "";
}

std::uint32_t crc_of(std::uint32_t crc, const void* data, std::size_t n) {
  if (n == 0) return crc;  // of a null pointer zlib would begin anew
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(data), n));
}

}  // namespace

std::size_t size_of(NpyType type) {
  switch (type) {
    case NpyType::F64:
    case NpyType::I64:
    case NpyType::U64:
      return 8;
    case NpyType::F32:
    case NpyType::I32:
    case NpyType::U32:
      return 4;
    case NpyType::I16:
    case NpyType::U16:
      return 2;
    default:
      return 1;
  }
}

void npy_header(NpyType type, std::span<const std::uint64_t> shape, std::string& header) {
  header.assign("\x93NUMPY\x01\x00\x00\x00", prefix);
  header.append("{'descr': '").append(descr(type)).append("', 'fortran_order': False, 'shape': (");
  std::size_t spare = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    char digits[most_digits];
    const char* end = std::to_chars(digits, digits + sizeof digits, shape[i]).ptr;
    if (i == 0) spare = static_cast<std::size_t>(digits + sizeof digits - end);
    header.append(static_cast<const char*>(digits), end).append(i + 1 < shape.size() ? ", " : "");
  }
  header.append(shape.size() == 1 ? ",), }" : "), }");
  // Room for the longest count that there can be, so that it can be rewritten in place.
  const std::size_t total = (header.size() + spare + 1 + 63) / 64 * 64;
  header.resize(total - 1, ' ');
  header.push_back('\n');
  header[8] = static_cast<char>((total - prefix) & 0xff);
  header[9] = static_cast<char>((total - prefix) >> 8);
}

std::string npy_header(NpyType type, std::span<const std::uint64_t> shape) {
  std::string header;
  npy_header(type, shape, header);
  return header;
}

NpyWriter::NpyWriter(const std::string& path, NpyType type, std::vector<std::uint64_t> row)
    : file_(path, File::Mode::Write), type_(type), shape_(std::move(row)) {
  row_bytes_ = size_of(type);
  for (std::uint64_t n : shape_) row_bytes_ *= static_cast<std::size_t>(n);
  shape_.insert(shape_.begin(), 0);
  buffer_.reserve(2 * flush_bytes);
  npy_header(type_, shape_, header_);
  file_.write_at(0, header_.data(), header_.size());
  position_ = header_.size();
}

void NpyWriter::append(const void* data, std::uint64_t rows) {
  const std::size_t n = static_cast<std::size_t>(rows) * row_bytes_;
  rows_ += rows;
  if (n == 0) return;
  if (buffer_.size() + n > buffer_.capacity()) {
    file_.write_at(position_, buffer_.data(), buffer_.size());
    position_ += buffer_.size();
    buffer_.clear();
    if (n > buffer_.capacity()) {
      file_.write_at(position_, data, n);
      position_ += n;
      return;
    }
  }
  const auto* p = static_cast<const char*>(data);
  buffer_.insert(buffer_.end(), p, p + n);
}

void NpyWriter::flush() {
  if (!buffer_.empty()) file_.write_at(position_, buffer_.data(), buffer_.size());
  position_ += buffer_.size();
  buffer_.clear();
  if (shape_[0] == rows_) return;
  shape_[0] = rows_;
  npy_header(type_, shape_, header_);
  file_.write_at(0, header_.data(), header_.size());
}

void NpzWriter::begin(Entry& entry) {
  entry.offset = file_.position();
  const bool wide = entry.size >= wide_from_;
  const std::uint32_t size = wide ? max32 : static_cast<std::uint32_t>(entry.size);
  Fields f;
  f.add(std::uint32_t{0x04034b50}).add(std::uint16_t(wide ? 45 : 20)).add(std::uint16_t{0}).add(std::uint16_t{0});
  f.add(std::uint16_t{0}).add(std::uint16_t{0x21}).add(entry.crc).add(size).add(size);
  f.add(static_cast<std::uint16_t>(entry.name.size())).add(std::uint16_t(wide ? 20 : 0));
  f.bytes += entry.name;
  if (wide) f.add(std::uint16_t{1}).add(std::uint16_t{16}).add(entry.size).add(entry.size);
  file_.write(f.bytes.data(), f.bytes.size());
}

void NpzWriter::end(const Entry& entry) {
  Fields f;
  f.add(entry.crc);
  file_.write_at(entry.offset + 14, f.bytes.data(), f.bytes.size());
  entries_.push_back(entry);
}

void NpzWriter::add(const std::string& name, NpyType type, std::span<const std::uint64_t> shape, const void* data) {
  const std::string header = npy_header(type, shape);
  std::size_t n = size_of(type);
  for (std::uint64_t s : shape) n *= static_cast<std::size_t>(s);
  Entry entry{name + ".npy", 0, header.size() + n, 0};
  entry.crc = crc_of(crc_of(0, header.data(), header.size()), data, n);
  begin(entry);
  file_.write(header.data(), header.size());
  file_.write(data, n);
  end(entry);
}

void NpzWriter::add_file(const std::string& name, const std::string& npy) {
  const File source(npy, File::Mode::Read);
  Entry entry{name + ".npy", 0, source.size(), 0};
  begin(entry);
  copy(source, 0, entry.size, entry);
  end(entry);
}

void NpzWriter::add_rows(const std::string& name, const File& npy, const NpyLayout& layout, std::uint64_t rows) {
  std::vector<std::uint64_t> shape = layout.shape;
  shape[0] = rows;
  const std::string header = npy_header(layout.type, shape);
  const std::uint64_t bytes = rows * layout.row_bytes();
  Entry entry{name + ".npy", 0, header.size() + bytes, 0};
  begin(entry);
  entry.crc = crc_of(0, header.data(), header.size());
  file_.write(header.data(), header.size());
  copy(npy, layout.data, layout.data + bytes, entry);
  end(entry);
}

void NpzWriter::copy(const File& source, std::uint64_t at, std::uint64_t end, Entry& entry) {
  std::vector<char> chunk(1 << 20);
  while (at < end) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), end - at));
    source.read_at(at, chunk.data(), n);
    entry.crc = crc_of(entry.crc, chunk.data(), n);
    file_.write(chunk.data(), n);
    at += n;
  }
}

void NpzWriter::finish() {
  const std::uint64_t start = file_.position();
  bool wide_archive = entries_.size() >= 0xffff;
  for (const Entry& e : entries_) {
    Fields extra;
    if (e.size >= wide_from_) extra.add(e.size).add(e.size);
    if (e.offset >= wide_from_) extra.add(e.offset);
    const bool wide = !extra.bytes.empty();
    const std::uint32_t size = e.size >= wide_from_ ? max32 : static_cast<std::uint32_t>(e.size);
    Fields f;
    f.add(std::uint32_t{0x02014b50}).add(std::uint16_t(wide ? 45 : 20)).add(std::uint16_t(wide ? 45 : 20));
    f.add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint16_t{0x21});
    f.add(e.crc).add(size).add(size).add(static_cast<std::uint16_t>(e.name.size()));
    f.add(static_cast<std::uint16_t>(wide ? extra.bytes.size() + 4 : 0)).add(std::uint16_t{0}).add(std::uint16_t{0});
    f.add(std::uint16_t{0}).add(std::uint32_t{0});
    f.add(e.offset >= wide_from_ ? max32 : static_cast<std::uint32_t>(e.offset));
    f.bytes += e.name;
    if (wide) f.add(std::uint16_t{1}).add(static_cast<std::uint16_t>(extra.bytes.size()));
    f.bytes += extra.bytes;
    file_.write(f.bytes.data(), f.bytes.size());
  }
  const std::uint64_t length = file_.position() - start, n = entries_.size();
  wide_archive = wide_archive || start >= wide_from_ || length >= max32;
  Fields f;
  if (wide_archive) {
    f.add(std::uint32_t{0x06064b50}).add(std::uint64_t{44}).add(std::uint16_t{45}).add(std::uint16_t{45});
    f.add(std::uint32_t{0}).add(std::uint32_t{0}).add(n).add(n).add(length).add(start);
    f.add(std::uint32_t{0x07064b50}).add(std::uint32_t{0}).add(start + length).add(std::uint32_t{1});
  }
  const auto count = static_cast<std::uint16_t>(wide_archive ? 0xffff : n);
  f.add(std::uint32_t{0x06054b50}).add(std::uint16_t{0}).add(std::uint16_t{0}).add(count).add(count);
  f.add(wide_archive ? max32 : static_cast<std::uint32_t>(length));
  f.add(wide_archive ? max32 : static_cast<std::uint32_t>(start)).add(std::uint16_t{0});
  file_.write(f.bytes.data(), f.bytes.size());
  file_.commit();
}

}  // namespace tribo
