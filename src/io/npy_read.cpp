#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/names.hpp"
#include "io/npy.hpp"

namespace tribo {
namespace {

constexpr std::size_t most_dimensions = 3;
constexpr std::uint64_t most_entries = 100000;
/// No deflate stream is shorter than 1/1032 of what it unpacks to.
constexpr std::uint64_t deflate_ratio = 1032;

template <class T>
T field(const char* p) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(p[i])) << (8 * i)));
  }
  return value;
}

[[noreturn]] void refuse(const std::string& owner, const std::string& why) { throw InvalidInput(owner + ": " + why); }

/// The Python dictionary of a .npy header, read as strictly as it is written by NumPy.
struct HeaderParser {
  std::string text;
  const std::string& owner;

  std::string value_of(const std::string& key) const {
    const std::size_t at = text.find("'" + key + "':");
    if (at == std::string::npos) refuse(owner, "the .npy header has no '" + key + "'");
    const std::size_t first = text.find_first_not_of(' ', at + key.size() + 3);
    if (first == std::string::npos) refuse(owner, "the .npy header ends inside '" + key + "'");
    const char close = text[first] == '(' ? ')' : text[first] == '\'' ? '\'' : ',';
    const std::size_t last = text.find(close, first + 1);
    if (last == std::string::npos) refuse(owner, "the .npy header ends inside '" + key + "'");
    return text.substr(first, last - first + (close == ',' ? 0 : 1));
  }

  NpyType type() const {
    const std::string d = value_of("descr");
    const std::pair<const char*, NpyType> known[] = {
        {"'<f8'", NpyType::F64}, {"'<f4'", NpyType::F32}, {"'<i8'", NpyType::I64}, {"'<i4'", NpyType::I32},
        {"'<i2'", NpyType::I16}, {"'|i1'", NpyType::I8},  {"'<u8'", NpyType::U64}, {"'<u4'", NpyType::U32},
        {"'<u2'", NpyType::U16}, {"'|u1'", NpyType::U8},  {"'|b1'", NpyType::U8}};
    for (const auto& [name, type] : known) {
      if (d == name) return type;
    }
    refuse(owner, "has element type " + d + "; readable are little-endian float64, float32 and integers");
  }

  bool fortran() const {
    const std::string f = value_of("fortran_order");
    if (f != "True" && f != "False") refuse(owner, "fortran_order is '" + f + "'; must be True or False");
    return f == "True";
  }

  std::vector<std::uint64_t> shape() const {
    const std::string s = value_of("shape");
    std::vector<std::uint64_t> shape;
    for (std::size_t i = 1; i + 1 < s.size();) {
      if (s[i] == ' ' || s[i] == ',') {
        ++i;
        continue;
      }
      std::uint64_t n = 0;
      std::size_t digits = 0;
      for (; s[i] >= '0' && s[i] <= '9'; ++i, ++digits) n = n * 10 + static_cast<std::uint64_t>(s[i] - '0');
      if (digits == 0 || digits > 18) refuse(owner, "shape is " + s + "; not a tuple of sizes");
      shape.push_back(n);
    }
    if (s[0] != '(') refuse(owner, "shape is " + s + "; not a tuple of sizes");
    if (shape.size() > most_dimensions) refuse(owner, "shape is " + s + "; at most 3 dimensions are read");
    return shape;
  }
};

struct HeaderPlace {
  std::size_t at, length;
};

/// Where the dictionary of a .npy header stands.
HeaderPlace find_header(const std::vector<char>& bytes, const std::string& owner) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) refuse(owner, "is not a .npy array");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) refuse(owner, "has .npy version " + std::to_string(version) + "; 1 to 3 are read");
  const std::size_t at = version == 1 ? 10 : 12;
  if (bytes.size() < at) refuse(owner, "is truncated inside the .npy header");
  const std::uint64_t length = version == 1 ? field<std::uint16_t>(&bytes[8]) : field<std::uint32_t>(&bytes[8]);
  if (length > bytes.size() - at) refuse(owner, "is truncated inside the .npy header");
  return {at, static_cast<std::size_t>(length)};
}

/// Fortran order to C order: element (i, j, k) stands at i + n0 (j + n1 k).
void to_c_order(NpyArray& array) {
  const std::size_t item = size_of(array.type);
  std::uint64_t n[3] = {1, 1, 1};
  for (std::size_t d = 0; d < array.shape.size(); ++d) n[d] = array.shape[d];
  std::vector<char> ordered(array.bytes.size());
  std::size_t to = 0;
  for (std::uint64_t i = 0; i < n[0]; ++i) {
    for (std::uint64_t j = 0; j < n[1]; ++j) {
      for (std::uint64_t k = 0; k < n[2]; ++k, to += item) {
        std::memcpy(&ordered[to], &array.bytes[static_cast<std::size_t>(i + n[0] * (j + n[1] * k)) * item], item);
      }
    }
  }
  array.bytes = std::move(ordered);
}

template <class T>
double as_double(const char* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return static_cast<double>(x);
}

std::vector<char> inflated(const std::vector<char>& packed, std::uint64_t size, const std::string& owner) {
  std::vector<char> bytes(static_cast<std::size_t>(size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) refuse(owner, "cannot be unpacked");
  std::size_t in = 0, out = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    constexpr std::size_t chunk = 1u << 30;
    stream.next_in = reinterpret_cast<const Bytef*>(packed.data() + in);
    stream.avail_in = static_cast<uInt>(std::min(chunk, packed.size() - in));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + out);
    stream.avail_out = static_cast<uInt>(std::min(chunk, bytes.size() - out));
    const std::size_t had_in = stream.avail_in, had_out = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in += had_in - stream.avail_in;
    out += had_out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out != bytes.size()) refuse(owner, "is damaged: it does not unpack to its stated size");
  return bytes;
}

}  // namespace

std::uint64_t NpyArray::size() const {
  std::uint64_t n = 1;
  for (std::uint64_t s : shape) n *= s;
  return n;
}

double NpyArray::number(std::uint64_t i) const {
  const char* p = bytes.data() + static_cast<std::size_t>(i) * size_of(type);
  switch (type) {
    case NpyType::F64:
      return as_double<double>(p);
    case NpyType::F32:
      return as_double<float>(p);
    case NpyType::I64:
      return as_double<std::int64_t>(p);
    case NpyType::I32:
      return as_double<std::int32_t>(p);
    case NpyType::I16:
      return as_double<std::int16_t>(p);
    case NpyType::I8:
      return as_double<std::int8_t>(p);
    case NpyType::U64:
      return as_double<std::uint64_t>(p);
    case NpyType::U32:
      return as_double<std::uint32_t>(p);
    case NpyType::U16:
      return as_double<std::uint16_t>(p);
    case NpyType::U8:
      return as_double<std::uint8_t>(p);
  }
  return 0;
}

std::vector<double> NpyArray::numbers() const {
  std::vector<double> x(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(i);
  return x;
}

std::vector<double> NpyArray::finite_numbers() const {
  std::vector<double> x = numbers();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) refuse(owner, "element " + std::to_string(i) + " is " + shown(x[i]) + "; must be finite");
  }
  return x;
}

std::string NpyArray::shape_text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

std::uint64_t NpyLayout::row_bytes() const {
  std::uint64_t n = size_of(type);
  for (std::size_t i = 1; i < shape.size(); ++i) n *= shape[i];
  return n;
}

NpyLayout npy_layout(const File& file) {
  const std::string& owner = file.path();
  const std::uint64_t size = file.size();
  std::vector<char> head(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1 << 16)));
  file.read_at(0, head.data(), head.size());
  const HeaderPlace place = find_header(head, owner);
  const HeaderParser header{std::string(&head[place.at], place.length), owner};
  NpyLayout layout;
  layout.type = header.type();
  layout.shape = header.shape();
  if (layout.shape.empty() || header.fortran()) refuse(owner, "is not an array of rows");
  layout.data = place.at + place.length;
  std::uint64_t row = size_of(layout.type);
  for (std::size_t i = 1; i < layout.shape.size(); ++i) {
    if (layout.shape[i] > (std::uint64_t{1} << 32)) refuse(owner, "has rows of an impossible size");
    row *= layout.shape[i];
  }
  layout.rows = row == 0 ? layout.shape[0] : std::min(layout.shape[0], (size - layout.data) / row);
  return layout;
}

NpyArray parse_npy(std::vector<char> bytes, const std::string& owner) {
  const auto [at, length] = find_header(bytes, owner);
  const HeaderParser header{std::string(&bytes[at], length), owner};

  NpyArray array;
  array.owner = owner;
  array.type = header.type();
  array.shape = header.shape();
  const std::uint64_t data = bytes.size() - at - length;
  std::uint64_t need = size_of(array.type);
  const bool empty = std::find(array.shape.begin(), array.shape.end(), 0u) != array.shape.end();
  for (std::uint64_t n : array.shape) {
    // Checked before the product is formed, so that it cannot overflow.
    if (!empty && n > data / need) {
      refuse(owner, "shape " + array.shape_text() + " needs more than the " + std::to_string(data) + " bytes of data");
    }
    need *= n;
  }
  if (empty) need = 0;
  if (data < need) refuse(owner, "is truncated");
  bytes.resize(at + static_cast<std::size_t>(length + need));
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
  array.bytes = std::move(bytes);
  if (header.fortran() && array.shape.size() > 1 && need > 0) to_c_order(array);
  return array;
}

NpzReader::NpzReader(const std::string& path, std::uint64_t most) : file_(path, File::Mode::Read), most_(most) {
  file_size_ = file_.size();
  char magic[6] = {};
  if (file_size_ >= sizeof magic) file_.read_at(0, magic, sizeof magic);
  if (std::memcmp(magic, "\x93NUMPY", 6) == 0) {
    single_ = true;
    add_entry("", {0, 0, file_size_, file_size_, 0});
    return;
  }
  read_directory();
}

void NpzReader::add_entry(const std::string& name, const Entry& entry) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    refuse(file_.path(), "holds the array '" + name + "' twice");
  }
  names_.push_back(name);
  entries_.push_back(entry);
}

void NpzReader::read_directory() {
  const std::string& path = file_.path();
  // The end record is the last 22 bytes, before a comment of at most 65535.
  const auto tail_size = static_cast<std::size_t>(std::min<std::uint64_t>(file_size_, 22 + 65535 + 20));
  std::vector<char> tail(tail_size);
  file_.read_at(file_size_ - tail_size, tail.data(), tail_size);
  std::ptrdiff_t end = static_cast<std::ptrdiff_t>(tail_size) - 22;
  while (end >= 0 && field<std::uint32_t>(&tail[static_cast<std::size_t>(end)]) != 0x06054b50) --end;
  if (end < 0) refuse(path, "is neither a .npz (zip) nor a .npy, or it is truncated");
  const char* record = &tail[static_cast<std::size_t>(end)];
  std::uint64_t count = field<std::uint16_t>(record + 10), length = field<std::uint32_t>(record + 12),
                start = field<std::uint32_t>(record + 16);
  if (end >= 20 && field<std::uint32_t>(record - 20) == 0x07064b50) {
    const std::uint64_t at = field<std::uint64_t>(record - 12);
    char wide[56];
    if (at > file_size_ || file_size_ - at < sizeof wide) refuse(path, "has a zip64 record outside of the file");
    file_.read_at(at, wide, sizeof wide);
    if (field<std::uint32_t>(wide) != 0x06064b50) refuse(path, "has a broken zip64 record");
    count = field<std::uint64_t>(wide + 32);
    length = field<std::uint64_t>(wide + 40);
    start = field<std::uint64_t>(wide + 48);
  }
  if (start > file_size_ || length > file_size_ - start) refuse(path, "has a directory outside of the file");
  if (count > most_entries || count * 46 > length)
    refuse(path, "states " + std::to_string(count) + " arrays, too many");
  std::vector<char> directory(static_cast<std::size_t>(length));
  file_.read_at(start, directory.data(), directory.size());

  std::size_t at = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (directory.size() - at < 46 || field<std::uint32_t>(&directory[at]) != 0x02014b50) {
      refuse(path, "has a broken directory");
    }
    const char* p = &directory[at];
    const std::size_t name_size = field<std::uint16_t>(p + 28), extra_size = field<std::uint16_t>(p + 30),
                      comment_size = field<std::uint16_t>(p + 32);
    if (directory.size() - at < 46 + name_size + extra_size + comment_size) refuse(path, "has a broken directory");
    std::string name(p + 46, name_size);
    if (name.size() > 4 && name.ends_with(".npy")) name.resize(name.size() - 4);
    Entry entry{field<std::uint16_t>(p + 10), field<std::uint32_t>(p + 16), field<std::uint32_t>(p + 20),
                field<std::uint32_t>(p + 24), field<std::uint32_t>(p + 42)};
    if (field<std::uint16_t>(p + 8) & 1) refuse(path, "array '" + name + "' is encrypted");
    const char *extra = p + 46 + name_size, *extra_end = extra + extra_size;
    while (extra_end - extra >= 4) {
      const std::size_t size = field<std::uint16_t>(extra + 2);
      if (static_cast<std::size_t>(extra_end - extra) < 4 + size) break;
      const char *wide = extra + 4, *wide_end = wide + size;
      if (field<std::uint16_t>(extra) == 1) {
        for (std::uint64_t* x : {&entry.size, &entry.packed, &entry.offset}) {
          if (*x != 0xffffffffu || wide_end - wide < 8) continue;
          *x = field<std::uint64_t>(wide);
          wide += 8;
        }
      }
      extra += 4 + size;
    }
    add_entry(name, entry);
    at += 46 + name_size + extra_size + comment_size;
  }
}

bool NpzReader::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

NpyArray NpzReader::read(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) refuse(file_.path(), unknown_name("array", name, names_));
  const std::string owner = file_.path() + (single_ ? "" : ": array '" + name + "'");
  const Entry& entry = entries_[static_cast<std::size_t>(found - names_.begin())];
  if (entry.size > most_) {
    refuse(owner, "has " + std::to_string(entry.size) + " bytes; at most " + std::to_string(most_) + " are read");
  }
  std::uint64_t at = entry.offset;
  if (!single_) {
    char local[30];
    if (at > file_size_ || file_size_ - at < sizeof local) refuse(owner, "lies outside of the file");
    file_.read_at(at, local, sizeof local);
    if (field<std::uint32_t>(local) != 0x04034b50) refuse(owner, "has a broken header");
    at += 30u + field<std::uint16_t>(local + 26) + field<std::uint16_t>(local + 28);
  }
  if (at > file_size_ || entry.packed > file_size_ - at) refuse(owner, "lies outside of the file");
  if (entry.method != 0 && entry.method != 8) {
    refuse(owner, "is packed by method " + std::to_string(entry.method) + "; stored (0) and deflated (8) are read");
  }
  if (entry.method == 0 && entry.packed != entry.size) refuse(owner, "has two different sizes");
  if (entry.method == 8 && entry.size / deflate_ratio > entry.packed + 1) refuse(owner, "states a size it cannot have");
  std::vector<char> bytes(static_cast<std::size_t>(entry.packed));
  file_.read_at(at, bytes.data(), bytes.size());
  if (entry.method == 8) bytes = inflated(bytes, entry.size, owner);
  if (!single_ && crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != entry.crc) {
    refuse(owner, "is damaged: its checksum differs");
  }
  return parse_npy(std::move(bytes), owner);
}

}  // namespace tribo
